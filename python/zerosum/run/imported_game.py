"""A game from a record file as one to learn from: moves by the run's rules, result and evaluations.

Each ply is marked `PlyFlag.RECORDED` and has the played move as its policy target, or the shares of moves that an
engine compared (`generation.py`, `hcpe3.py`). If the record has an evaluation of the position, it becomes the search
value, and the ply is also marked `PlyFlag.EVALUATED`:

    PGN  [%eval 0.31], [%eval #-3]   after a move, for White: the position after the move
    PGN  +0.31/12, -M5/20            after a move, for the mover, as match programs write: the position before it
    SGF  SBKV[54.2]                  Black's win rate in percent, after a move
    KIF  #評価値=120                 centipawns for Black, after a move
    CSA  '** 120 ...                 centipawns for Black, after a move
    HCPE3                            centipawns for the mover, before a move (`hcpe3.py`)

`GameHeader.settings_hash` is the place that the game was read from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import GameError
from zerosum.games import Rules, start_state
from zerosum.games.rules import options_of
from zerosum.notation import Move, Record
from zerosum.notation.centipawns import coefficient_of, value_of
from zerosum.notation.legality import FOULS, NOTATIONS, NullMoveError, explains_foul, parse_move
from zerosum.notation.sgf_root import MOVE_OPTIONS
from zerosum.replay.records import PLY, GameRecord, PlyFlag, policy_target
from zerosum.run import hcpe3

OWN_SCORE = re.compile(r"([+-]?)(?:(\d{1,5}\.\d{1,3})|M(\d{1,4}))/\d{1,4}\b", re.ASCII)
CENTIPAWNS = re.compile(r"(?:#評価値=|\*\* )([+-]?\d{1,7})\b", re.ASCII)
PERCENT = re.compile(r"\d{1,3}(?:\.\d{1,9})?", re.ASCII)

ILLEGAL = "damaged or illegal"
OTHER_GAME = "of another game or other options"
NO_RESULT = "without a result"
NO_MOVES = "without moves"


class RefusedGameError(GameError):
    """The reason to refuse a game, with the kind of reason for the counts."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, eq=False)
class ImportedGame:
    """A game of P plies, legal by the run's rules."""

    start: str
    """The starting position as text, "" for the initial position."""
    actions: NDArray[np.uint16]
    """[P], the moves."""
    players: NDArray[np.uint8]
    """[P], the mover: 0 (first) or 1."""
    values: NDArray[np.float32]
    """[P], the record's evaluation before the move, for the mover, in [-1, 1]; NaN without one."""
    outcome: float
    """The first player's result, in [-1, 1]."""
    ending: str
    """The kind of ending, in the words of the record or the game; "" if unknown."""
    opening_plies: int = 0
    """Random moves at the beginning, which have no policy target."""
    shares: Mapping[int, Mapping[int, float]] = field(default_factory=dict)
    """By ply, the share of each move in the policy target, which is missing if there are none; the other plies have the
    move that was played."""
    warning: str = ""
    """Why the last moves of the record are left out; "" if none are."""

    def record(self, game: Rules, *, game_id: int, origin: str) -> GameRecord:
        """The game as a store keeps it."""
        num_plies = len(self.actions)
        is_evaluated = ~np.isnan(self.values)
        plies = np.zeros(num_plies, PLY)
        plies["action"], plies["player"] = self.actions, self.players
        plies["search_value"] = np.where(is_evaluated, self.values, 0)
        plies["flags"] = np.where(is_evaluated, PlyFlag.RECORDED | PlyFlag.EVALUATED, PlyFlag.RECORDED)
        plies["flags"][: self.opening_plies] = PlyFlag.OPENING
        targets, target_offsets = self._targets()
        return GameRecord(
            game_id=game_id,
            game=game.spec.name,
            game_version=game.spec.version,
            options=game.spec.options,
            start=self.start,
            settings_hash=origin,
            seed=0,
            plies=plies,
            targets=targets,
            target_offsets=target_offsets,
            outcome=self.outcome,
            ending=self.ending,
        )

    def _targets(self) -> tuple[NDArray[np.void], NDArray[np.int64]]:
        """The policy targets of all plies in a row, and where each begins."""
        num_plies = len(self.actions)
        if not self.shares:  # one move a ply: the played one
            actions = self.actions[self.opening_plies :]
            starts = np.maximum(np.arange(num_plies + 1, dtype=np.int64) - self.opening_plies, 0)
            return policy_target(actions, np.ones(len(actions)), np.zeros(len(actions))), starts
        targets = [self._target(ply) for ply in range(num_plies)]
        listed = [action for target in targets for action in target]
        shares = [share for target in targets for share in target.values()]
        starts = np.cumsum([0, *map(len, targets)], dtype=np.int64)
        return policy_target(listed, shares, np.zeros(len(listed))), starts

    def _target(self, ply: int) -> Mapping[int, float]:
        """The policy target of a ply: the share of each move."""
        if ply < self.opening_plies:
            return {}
        return self.shares.get(ply, {int(self.actions[ply]): 1.0})


def require_same_game(record: Record, game: Rules) -> None:
    """Compare the game of a record with the run's game.

    Options that decide which moves are legal may differ, because the moves are checked against the run's rules.

    Raises:
        RefusedGameError: the game is another one, or one of its options has another value.
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
    """A record from a parser (`read_raw_games`) as a game by the run's rules, without variations.

    Raises:
        RefusedGameError: the game cannot be learned from.
    """
    if record.errors:
        raise RefusedGameError(ILLEGAL, record.errors[0])
    require_same_game(record, game)
    if not record.moves:
        raise RefusedGameError(NO_MOVES, "no move was played")
    warning = ""
    try:
        state = start_state(game, record.start)
        start = game.position_text(state) or ""
        notation = NOTATIONS.get(record.format)
        known = notation if notation in game.notations else None
        actions, players, shares = [], [], {}
        for number, move in enumerate(record.moves, start=1):
            try:
                action = parse_move(game, state, move, number, known)
            except NullMoveError as error:
                warning = f"{error}; the moves end before it"
                record = replace(record, moves=record.moves[: number - 1])
                break
            except GameError as error:
                if explains_foul(record, num_legal=number - 1, is_first=game.player(state) == 0):
                    warning = f"{error}; the game was lost by it"
                    record = replace(record, moves=record.moves[: number - 1], ending=FOULS[0])
                    break
                raise
            if record.format == hcpe3.FORMAT:
                shares[number - 1] = hcpe3.shares_of(dict(move.properties)[hcpe3.VISITS], state, game)
            actions.append(action)
            players.append(game.player(state))
            state = game.play(state, action)
    except GameError as error:
        raise RefusedGameError(ILLEGAL, str(error).rstrip(".")) from error
    if not actions:
        raise RefusedGameError(NO_MOVES, "no move was played")
    outcome = None if game.is_soft_ending(state) else game.outcome(state)
    result = outcome if record.result is None else record.result
    if result is None:
        raise RefusedGameError(NO_RESULT, "the record has no result, and the game is not over by the rules")
    if outcome is not None and outcome != result:
        by_rules = f"by the rules {outcome:g} ({game.ending(state)})"
        raise RefusedGameError(ILLEGAL, f"the first player's result is {result:g}, {by_rules}")
    return ImportedGame(
        start="" if start == game.position_text(game.initial_state()) else start,
        actions=np.array(actions, np.uint16),
        players=np.array(players, np.uint8),
        values=_values(record.moves, players, coefficient_of(game.spec.name)),
        outcome=float(result),
        ending=record.ending or game.ending(state) or "",
        opening_plies=record.opening_plies,
        shares=shares,
        warning=warning,
    )


def _values(moves: tuple[Move, ...], players: list[int], coefficient: int) -> NDArray[np.float32]:
    """The record's evaluations before each move, for its mover; NaN without one."""
    values = np.full(len(moves), np.nan, np.float32)
    for ply, move in enumerate(moves):
        if move.is_bare:
            continue
        after = _value_after(move, coefficient)
        if after is not None and ply + 1 < len(moves):
            values[ply + 1] = after if players[ply + 1] == 0 else -after
        own = next((found for comment in move.comments if (found := OWN_SCORE.match(comment))), None)
        if own is not None:
            sign = -1.0 if own[1] == "-" else 1.0
            values[ply] = sign if own[3] else sign * value_of(100 * float(own[2]), coefficient)
        searched = dict(move.properties)
        if searched.get(hcpe3.VISITS):
            values[ply] = value_of(float(searched[hcpe3.EVALUATION]), coefficient)
    return values


def _value_after(move: Move, coefficient: int) -> float | None:
    """The evaluation after a move, for the first player; None without one, or if the move mates."""
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
