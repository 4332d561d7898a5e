"""The games of a match in formats for people's programs: PGN for chess, SGF for Go, CSA for shogi."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from zerosum.arena.plan import MatchPlan
from zerosum.arena.played import PlayedGame
from zerosum.base.errors import DataError
from zerosum.contest.adjudication import Score
from zerosum.contest.mover import Thought
from zerosum.games import Rules
from zerosum.games.playthrough import Playthrough
from zerosum.notation import Evaluation, Move, Record, append_game
from zerosum.notation.centipawns import centipawns, coefficient_of, value_of
from zerosum.notation.game_files import GAMES, SUFFIXES
from zerosum.notation.own_files import MATCH_SUFFIX
from zerosum.notation.record import ENDINGS

NOT_SAID = {"sgf": ("spent_s", "evaluation"), "csa": ("clock_s", "evaluation")}
"""Fields that a format cannot represent."""


def require_suffix(path: Path, game: Rules) -> None:
    """Check that a file's suffix fits the game.

    Raises:
        DataError: the game has no format with this suffix.
    """
    suffix = path.suffix.lower()
    formats = [name for name, format in SUFFIXES.items() if format != "kif" and game.spec.name in GAMES[format]]
    if suffix not in (*formats, MATCH_SUFFIX):
        expected = " or ".join((*formats, MATCH_SUFFIX))
        raise DataError(f"{path} cannot contain games of {game.spec.name}: expected a file that ends in {expected}.")


def store_path(path: Path) -> Path:
    """The path of a match's store: beside the file for people, or that file itself."""
    return path if path.suffix.lower() == MATCH_SUFFIX else path.with_suffix(MATCH_SUFFIX)


def require_own(path: Path) -> None:
    """Check that a match may write a file for people anew: the store of its match is beside it.

    Raises:
        DataError: the file has something in it, and there is no store.
    """
    if not store_path(path).exists() and path.exists() and path.stat().st_size:
        raise DataError(
            f"{path} exists, and {store_path(path)}, the match to resume, does not: name another file, or move it away."
        )


@dataclass(frozen=True)
class GameFile:
    """A file of a match's games in a format for people."""

    path: Path
    plan: MatchPlan

    def begin(self, games: Sequence[PlayedGame]) -> None:
        """Write the file anew, with these games. Raises DataError."""
        try:
            self.path.write_bytes(b"")
        except OSError as error:
            raise DataError(f"{self.path} cannot be written: {error.strerror or error}. Name another file.") from error
        for played in games:
            self.add(played)

    def add(self, played: PlayedGame) -> None:
        """Add a game. Raises DataError if it cannot be written."""
        record, format = self.record(played), SUFFIXES[self.path.suffix.lower()]
        append_game(_in_words_of(format, record).without(*NOT_SAID.get(format, ())), self.path)

    def record(self, played: PlayedGame) -> Record:
        """A game as a record."""
        plan, game = self.plan, self.plan.game
        so_far, coefficient, moves = (
            Playthrough.of(game, played.start, played.actions),
            coefficient_of(game.spec.name),
            [],
        )
        for ply, (player, text) in enumerate(zip(so_far.players, so_far.texts, strict=True)):
            number = ply - played.opening_plies
            thought = played.thoughts[number] if 0 <= number < len(played.thoughts) else Thought()
            moves.append(_move(text, thought, player, coefficient))
        names, schedule = plan.names_at(played.index), plan.schedule
        terms = [plan.players[number].terms for number in schedule.sides(played.index)]
        in_round = played.index % (2 * len(schedule.pairings))
        return Record(
            game=game.spec.full_name,
            moves=tuple(moves),
            headers=(
                ("event", plan.event),
                *([("date", played.date)] if played.date else []),
                ("round", f"{schedule.round(played.index) + 1}.{in_round + 1}"),
                ("first player", names[0]),
                ("second player", names[1]),
                *_time_headers([one.time.pgn_text() if one.has_clock else "" for one in terms]),
            ),
            start=played.start,
            comments=played.notes + ((f"Opening: {played.opening}",) if played.opening else ()),
            result=played.result if played.first_is_player == 0 else -played.result,
            ending=played.ending,
        )


def _move(text: str, thought: Thought, player: int, coefficient: int) -> Move:
    return Move(
        text,
        clock_s=None if thought.clock_s is None else max(thought.clock_s, 0.0),
        spent_s=thought.seconds,
        evaluation=_evaluation(thought.score, player, thought.depth, coefficient),
    )


def _evaluation(score: Score | None, player: int, depth: int | None, coefficient: int) -> Evaluation | None:
    """An evaluation from the first player's perspective; a win rate becomes centipawns."""
    if score is None:
        return None
    sign = 1 if player == 0 else -1
    if score.mate is not None:
        return Evaluation(mate=sign * score.mate, depth=depth)
    if score.win_rate is not None:
        of_mover = centipawns(2 * score.win_rate - 1, coefficient)
    else:
        assert score.centipawns is not None
        of_mover = score.centipawns
    return Evaluation(pawns=sign * of_mover / 100, depth=depth)


def _time_headers(controls: Sequence[str]) -> list[tuple[str, str]]:
    if not any(controls):
        return []
    if controls[0] == controls[1]:
        return [("TimeControl", controls[0])]
    return [("WhiteTimeControl", controls[0] or "-"), ("BlackTimeControl", controls[1] or "-")]


def _in_words_of(format: str, record: Record) -> Record:
    """The record with the endings and headers that the format can represent."""
    separator = {"pgn": ".", "sgf": "-", "csa": "/"}[format]
    headers = tuple((name, text.replace("-", separator) if name == "date" else text) for name, text in record.headers)
    if format == "pgn":
        return replace(record, headers=headers)
    headers = tuple(header for header in headers if "TimeControl" not in header[0])
    if format == "sgf":
        # A result without a reason is a result by score.
        ending = record.ending if record.ending in ENDINGS and record.result else ""
        moves = _commented(record.moves, lambda evaluation: f"Black {_black_win_rate(evaluation):.1%}.")
        return replace(record, headers=headers, moves=moves, ending=ending)
    moves = _commented(record.moves, lambda evaluation: f"** {_black_centipawns(evaluation)}")
    is_black_to_move = _is_first_to_move(record)
    loser_moves = record.result == (-1 if is_black_to_move else 1)
    ending = {"no legal move": "checkmate", "perpetual check": "illegal move", "forfeit": "illegal move"}.get(
        record.ending, record.ending
    )
    if ending == "illegal move" and not loser_moves:
        ending = "opponent's illegal move"
    comments = record.comments + (() if ending == record.ending else (f"Ended by {record.ending}.",))
    return replace(record, headers=headers, moves=moves, comments=comments, ending=ending)


def _commented(moves: Sequence[Move], words: Callable[[Evaluation], str]) -> tuple[Move, ...]:
    """The moves with the words of their evaluations as comments."""
    return tuple(replace(move, comments=(words(move.evaluation),)) if move.evaluation else move for move in moves)


def _black_win_rate(evaluation: Evaluation) -> float:
    """Black's win rate in a game of Go."""
    if evaluation.mate is not None:
        return 1.0 if evaluation.mate > 0 else 0.0
    return (1 + value_of(100 * (evaluation.pawns or 0.0), coefficient_of("go"))) / 2


def _black_centipawns(evaluation: Evaluation) -> int:
    """The score in shogi programs' comments: a mate is a score that no evaluation has."""
    if evaluation.mate is not None:
        return 32000 if evaluation.mate > 0 else -32000
    return round((evaluation.pawns or 0) * 100)


def _is_first_to_move(record: Record) -> bool:
    starts_black = " w " not in record.start
    return starts_black == (len(record.moves) % 2 == 0)
