"""A game of other people's record as one to learn from: its moves by the run's rules, its result, its evaluations.

Each ply is marked `PlyFlag.RECORDED` and has the move that was played as its policy target. Where the record has an
evaluation of the position, it is the search value, and the ply is marked `PlyFlag.EVALUATED` as well:

    PGN  [%eval 0.31], [%eval #-3]   after a move, for White: of the position that the move leads to
    PGN  +0.31/12, -M5/20            after a move, for the mover, as match programs write: of the position before it
    SGF  SBKV[54.2]                  Black's win rate in percent, after a move
    KIF  #評価値=120                 centipawns for Black, after a move
    CSA  '** 120 ...                 centipawns for Black, after a move

`GameHeader.settings_hash` is the place that the game was read from.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import GameError
from zerosum.contest.centipawns import coefficient_of, value_of
from zerosum.games import Rules, start_state
from zerosum.notation import Move, Record
from zerosum.notation.legality import NOTATIONS, options_of, parse_move
from zerosum.notation.sgf import MOVE_OPTIONS
from zerosum.replay.records import PLY, GameRecord, PlyFlag, policy_target

OWN_SCORE = re.compile(r"([+-]?)(?:(\d{1,5}\.\d{1,3})|M(\d{1,4}))/\d{1,4}\b", re.ASCII)
CENTIPAWNS = re.compile(r"(?:#評価値=|\*\* )([+-]?\d{1,7})\b", re.ASCII)
PERCENT = re.compile(r"\d{1,3}(?:\.\d{1,9})?", re.ASCII)

ILLEGAL = "damaged or illegal"
OTHER_GAME = "of another game or other options"
NO_RESULT = "without a result"
NO_MOVES = "without moves"


class RefusedGameError(GameError):
    """A game that is not imported: a sentence, with the kind of reason that it is counted by."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, eq=False)
class ImportedGame:
    """A game by the run's rules. P plies."""

    start: str
    """The position it starts from as text, "" for the initial one."""
    actions: NDArray[np.uint16]
    """[P]."""
    players: NDArray[np.uint8]
    """[P], who moved: 0 (first) or 1."""
    values: NDArray[np.float32]
    """[P], what the record says that the position before the move is worth, for the mover, in [-1, 1]; NaN: nothing."""
    outcome: float
    """The first player's result, in [-1, 1]."""
    ending: str
    """How it ended, in the record's words or the game's; "" if nobody says."""
    opening_plies: int = 0
    """Moves at the beginning that nobody chose, which are not learned from."""

    def record(self, game: Rules, *, game_id: int, origin: str) -> GameRecord:
        """It as the store keeps games."""
        num_plies = len(self.actions)
        is_evaluated = ~np.isnan(self.values)
        plies = np.zeros(num_plies, PLY)
        plies["action"], plies["player"] = self.actions, self.players
        plies["search_value"] = np.where(is_evaluated, self.values, 0)
        plies["flags"] = np.where(is_evaluated, PlyFlag.RECORDED | PlyFlag.EVALUATED, PlyFlag.RECORDED)
        opening = self.opening_plies
        plies["flags"][:opening] = PlyFlag.OPENING
        return GameRecord(
            game_id=game_id,
            game=game.spec.name,
            game_version=game.spec.version,
            options=game.spec.options,
            start=self.start,
            settings_hash=origin,
            seed=0,
            plies=plies,
            targets=policy_target(self.actions[opening:], np.ones(num_plies - opening), np.zeros(num_plies - opening)),
            target_offsets=np.maximum(np.arange(num_plies + 1, dtype=np.int64) - opening, 0),
            outcome=self.outcome,
            ending=self.ending,
        )


def require_same_game(record: Record, game: Rules) -> None:
    """Hold what a record says of its game against the run's game.

    Options that say which moves are legal may differ: the moves are held against the run's rules.

    Raises:
        RefusedGameError: it is another game, or an option that it names has another value.
    """
    name, _, rest = record.game.partition("(")
    if name != game.spec.name:
        raise RefusedGameError(OTHER_GAME, f"a game of {record.game or 'no known kind'}, the run's is {game.spec.name}")
    ours = options_of(game)
    for option, value in re.findall(r"(\w+)=([^,() ]+)", rest):
        if option not in MOVE_OPTIONS and not _is_same(value, ours.get(option, "")):
            raise RefusedGameError(OTHER_GAME, f"{option} is {value}, the run's is {ours.get(option, 'none')}")


def _is_same(value: str, other: str) -> bool:
    try:
        return float(value) == float(other)
    except ValueError:
        return value == other


def imported(record: Record, game: Rules) -> ImportedGame:
    """A record's game, as a parser made it (`read_raw_games`), by the rules of the run's game. Variations do not count.

    Raises:
        RefusedGameError: it cannot be learned from, and why.
    """
    if record.errors:
        raise RefusedGameError(ILLEGAL, record.errors[0])
    require_same_game(record, game)
    if not record.moves:
        raise RefusedGameError(NO_MOVES, "no move was played")
    if record.result is None:
        raise RefusedGameError(NO_RESULT, "who won is not said")
    try:
        state = start_state(game, record.start)
        start = game.position_text(state) or ""
        notation = NOTATIONS[record.format]
        known = notation if notation in game.notations else None
        actions, players = [], []
        for number, move in enumerate(record.moves, start=1):
            action = parse_move(game, state, move, number, known)
            actions.append(action)
            players.append(game.player(state))
            state = game.play(state, action)
    except GameError as error:
        raise RefusedGameError(ILLEGAL, str(error).rstrip(".")) from error
    outcome = game.outcome(state)
    if outcome is not None and not game.is_soft_ending(state) and outcome != record.result:
        by_rules = f"by the rules {outcome:g} ({game.ending(state)})"
        raise RefusedGameError(ILLEGAL, f"the first player's result is {record.result:g}, {by_rules}")
    return ImportedGame(
        start="" if start == game.position_text(game.initial_state()) else start,
        actions=np.array(actions, np.uint16),
        players=np.array(players, np.uint8),
        values=_values(record.moves, players, coefficient_of(game.spec.name)),
        outcome=float(record.result),
        ending=record.ending or (game.ending(state) if outcome is not None else None) or "",
    )


def _values(moves: tuple[Move, ...], players: list[int], coefficient: int) -> NDArray[np.float32]:
    """What the record says of the position before each move, for its mover; NaN where it says nothing."""
    values = np.full(len(moves), np.nan, np.float32)
    for ply, move in enumerate(moves):
        after = _value_after(move, coefficient)
        if after is not None and ply + 1 < len(moves):
            values[ply + 1] = after if players[ply + 1] == 0 else -after
        own = next((found for comment in move.comments if (found := OWN_SCORE.match(comment))), None)
        if own is not None:
            sign = -1.0 if own[1] == "-" else 1.0
            values[ply] = sign if own[3] else sign * value_of(100 * float(own[2]), coefficient)
    return values


def _value_after(move: Move, coefficient: int) -> float | None:
    """What is said of the position after a move, for the first player; None for nothing or a mate on the board."""
    if (score := move.evaluation) is not None:
        if score.mate is not None:
            return None if score.mate == 0 else 1.0 if score.mate > 0 else -1.0
        return value_of(100 * (score.pawns or 0.0), coefficient)
    for comment in move.comments:
        if found := CENTIPAWNS.match(comment):
            return value_of(float(found[1]), coefficient)
    for name, value in move.properties:
        if name == "SBKV" and PERCENT.fullmatch(value.strip()) and float(value) <= 100:
            return float(value) / 50 - 1
    return None
