"""Books of games: a Polyglot book of chess by how each move scored, or lines of any game that were played often."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from zerosum.base.errors import DataError, GameError
from zerosum.base.files import write_durably
from zerosum.games import Rules, parse_action
from zerosum.games.rules import plays_chess960
from zerosum.notation import read_games
from zerosum.notation.legality import game_of, states_of
from zerosum.notation.own_files import MOVES_SUFFIX, line_text
from zerosum.notation.polyglot import ENTRY, book_content, position_key
from zerosum.notation.record import Record

MOST_WEIGHT = (1 << 16) - 1
BOOK_PLIES = 24
"""Plies of a game that count in a Polyglot book."""
LINE_PLIES = 8
"""Length of a line of moves."""


def make_book(
    file: Path,
    sources: Iterable[str | Iterable[Record]],
    *,
    num_plies: int | None = None,
    least_games: int,
    game: Rules | None = None,
) -> str:
    """Write the book of games, and return a sentence about it.

    Args:
        file: A Polyglot book of chess; by the suffix .txt lines of moves of any game. `match --openings` reads both.
        sources: Files of games, or the games themselves.
        num_plies: Plies of a game that count, which is a line's length; by default `BOOK_PLIES` or `LINE_PLIES`.
        least_games: Games in which a move, or a line, must have been played.
        game: The game of files that do not name it.

    Raises:
        DataError: a source cannot be read, the file cannot be written, or no move was played often enough.
    """
    is_lines = file.suffix.lower() == MOVES_SUFFIX
    made: BookOfGames | LinesOfGames
    made = LinesOfGames(num_plies or LINE_PLIES) if is_lines else BookOfGames(num_plies or BOOK_PLIES)
    for source in sources:
        made.add_all(read_games(source, game=game) if isinstance(source, str) else source)
    content = made.content(least_games=least_games)
    told = f"{made.num_games:,} games" + (f", {made.num_left_out:,} left out" if made.num_left_out else "")
    if not content and is_lines:
        raise DataError(
            f"No line of {made.num_plies} plies was played in {least_games} games ({told}): lower --least-games or"
            " --plies, or name more games."
        )
    if not content:
        raise DataError(
            f"No move was played in {least_games} games ({told}): lower --least-games, or name more games of chess."
        )
    try:
        write_durably(file, content)
    except OSError as error:
        raise DataError(f"{file} cannot be written: {error.strerror}.") from error
    number = content.count(b"\n") if is_lines else len(content) // ENTRY.itemsize
    return f"{file}: {number:,} {'lines' if is_lines else 'moves'} from {told}."


@dataclass
class LinesOfGames:
    """The first moves of games of one kind, line by line."""

    num_plies: int
    num_games: int = 0
    num_left_out: int = 0
    """Games that ended within a line, that began with moves given to the players, or of another game than the first."""
    _lines: Counter[str] = field(default_factory=Counter)
    _game: str = ""

    def add_all(self, records: Iterable[Record]) -> None:
        """Count the games."""
        for record in records:
            self._game = self._game or record.game
            # A line that is a whole game may end it, and no match can begin at an end.
            if record.game != self._game or len(record.moves) <= self.num_plies or record.opening_plies:
                self.num_left_out += 1
                continue
            self.num_games += 1
            self._lines[line_text(record.start, [move.text for move in record.moves[: self.num_plies]])] += 1

    def content(self, *, least_games: int) -> bytes:
        """The file: the lines that were played at least so often, the most frequent first, then in their alphabet."""
        kept = sorted((-number, line) for line, number in self._lines.items() if number >= least_games)
        return "".join(f"{line}\n" for _, line in kept).encode()


@dataclass
class _Played:
    """What happened after a move of one position."""

    games: int = 0
    half_points: int = 0
    """For its mover: 2 for a win, 1 for a draw."""


@dataclass
class BookOfGames:
    """The moves of games by position, up to a number of plies."""

    num_plies: int
    num_games: int = 0
    num_left_out: int = 0
    """Games of another game, from another start than the usual one, without a result, or with an illegal move."""
    _moves: dict[int, dict[str, _Played]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(_Played)))

    def add_all(self, records: Iterable[Record]) -> None:
        """Count the games."""
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        """Count a game of chess with a result; other ones are left out."""
        try:
            is_chess = game_of(record.game).spec.name == "chess" and not plays_chess960(game_of(record.game))
            states = states_of(record) if is_chess and not record.start and record.result is not None else []
        except GameError:
            states = []
        if not states:
            self.num_left_out += 1
            return
        assert record.result is not None
        self.num_games += 1
        game, last_move = game_of(record.game), ""
        for ply, (state, move) in enumerate(zip(states, record.moves[: self.num_plies], strict=False)):
            fen = game.position_text(state)
            assert fen is not None, "chess has a notation for positions"
            text = game.action_text(state, parse_action(game, state, move.text))
            if ply < record.opening_plies:  # no player chose it
                last_move = text
                continue
            played = self._moves[position_key(fen, last_move=last_move)][_own_rook(fen, text)]
            played.games += 1
            played.half_points += round(1 + (record.result if ply % 2 == 0 else -record.result))
            last_move = text

    def content(self, *, least_games: int) -> bytes:
        """The file of the book: moves that were played at least so often and that scored; a weight is in half points.

        Larger weights than the format has are scaled down, for each position alike.
        """
        weights = dict[int, dict[str, int]]()
        for key, moves in self._moves.items():
            kept = {text: move.half_points for text, move in moves.items() if move.games >= least_games}
            kept = {text: points for text, points in kept.items() if points}
            scale = max(1.0, max(kept.values(), default=0) / MOST_WEIGHT)
            if kept:
                weights[key] = {text: max(1, int(points / scale)) for text, points in kept.items()}
        return book_content(weights)


def _own_rook(fen: str, text: str) -> str:
    """A move as books have it: a castling king goes to the square of its own rook."""
    castling = {"e1g1": "e1h1", "e1c1": "e1a1", "e8g8": "e8h8", "e8c8": "e8a8"}
    if text not in castling:
        return text
    row = fen.split("/")[7 if text[1] == "1" else 0].partition(" ")[0]
    squares = "".join("." * int(sign) if sign.isdigit() else sign for sign in row)
    return castling[text] if squares[4] in "Kk" else text
