"""The check of received games: every move, mover, policy target and result by the rules."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from zerosum.base.errors import GameError
from zerosum.games import Rules, State, start_state
from zerosum.replay import GameRecord
from zerosum.replay.records import PlyRecord, RunningGame
from zerosum.selfplay.resignation import RESIGNATION


class _FaultError(Exception):
    """Moves are against the rules; the message says how."""


def fault_by_rules(game: Rules, record: GameRecord, *, can_resign: bool = False) -> str:
    """What a game has against the rules, in words; "" if nothing.

    Checks the start, every move and its mover, the actions of every policy target, the result and the kind of ending;
    with `can_resign` the side to move may have resigned.
    """
    try:
        state = _state_after(game, record.start, (record.ply(index) for index in range(record.num_plies)))
    except _FaultError as fault:
        return str(fault)
    if can_resign and record.ending == RESIGNATION and game.outcome(state) is None:
        is_lost_by_mover = record.outcome == (-1.0 if game.player(state) == 0 else 1.0)
        return "" if is_lost_by_mover else "was resigned by a side that was not to move"
    if (record.outcome, record.ending) != (_float32(game.outcome(state)), game.ending(state)):
        return "has another end than its moves"
    return ""


def fault_in_flight(game: Rules, running: RunningGame) -> str:
    """What a game without an end has against the rules, in words; "" if nothing."""
    try:
        _state_after(game, running.header.start, running.plies)
    except _FaultError as fault:
        return str(fault)
    return ""


def _state_after(game: Rules, start: str, plies: Iterable[PlyRecord]) -> State:
    """The state after all moves of a game, each of them checked. Raises _FaultError."""
    try:
        state = start_state(game, start)
    except GameError as error:
        raise _FaultError(f"has a start that is none: {error}") from error
    for index, ply in enumerate(plies):
        if game.outcome(state) is not None:
            raise _FaultError(f"goes on at ply {index}, after its end")
        legal = set(game.legal_actions(state))
        if ply.action not in legal:
            raise _FaultError(f"has an illegal move at ply {index}")
        if ply.player != game.player(state):
            raise _FaultError(f"names the wrong side at ply {index}")
        actions = ply.target["action"].tolist()
        if len(set(actions)) != len(actions) or not legal.issuperset(actions):
            raise _FaultError(f"has a policy target with an illegal move at ply {index}")
        state = game.play(state, ply.action)
    return state


def _float32(value: float | None) -> float | None:
    return None if value is None else float(np.float32(value))
