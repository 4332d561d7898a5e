"""Puzzles from one's own games: the mistakes of a review are positions to solve.

    {"do": "study.puzzles"}  ->  {"puzzles": [{"ply": 14, "player": 1, "mark": "??", "best": ["Qf3", …], …}]}
    {"do": "study.solve", "action": 1203, "played": 88, "best": 1203, "rate": 0.61, "loss": 0.2}
                             ->  {"right": true, "loss": 0.0, "isBest": true, …}

The page keeps the puzzles of all reviewed games, so a puzzle has all that its solution needs: it is solved in the open
position, whether the program still knows the review or not. A move solves a puzzle if it is the review's best one, or
loses less than an inaccuracy by a search of its own.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from zerosum.analysis.query_fields import Fields, QueryError
from zerosum.analysis.reviewed import Review, Thresholds
from zerosum.base.errors import DataError, GameError, SettingsError
from zerosum.games import Rules
from zerosum.play.analysis import win_rate
from zerosum.play.player import Player
from zerosum.web.boards import move_cells, page_notation

if TYPE_CHECKING:
    from zerosum.web.study import Study
    from zerosum.web.visit import Visit

MISTAKES = ("?", "??")
"""Marks of the moves that become puzzles."""
SIMULATIONS = 400
"""Simulations of the search of a move that the review has not seen."""
LINE_PLIES = 8
MOST_ACTION = 1 << 16


def puzzles(review: Review) -> list[dict[str, Any]]:
    """The positions before a player's mistakes, in the order of the game: win rates are those of the mover."""
    game, notation = review.game, page_notation(review.game)
    found = []
    for ply, (move, before, _) in enumerate(review.steps):
        if move.mark in MISTAKES and before.report is not None:
            best = before.report.lines[0]
            puzzle = {
                "ply": ply,
                "player": move.player,
                "mark": move.mark,
                "text": game.action_text(before.state, move.action, notation),
                "played": move.action,
                "loss": round(move.loss, 4),
                "rate": round(before.win_rate if move.player == 0 else 1 - before.win_rate, 4),
                "best": best.actions[0],
                "line": list(best.texts(notation)[:LINE_PLIES]),
                "cells": move_cells(game, before.state, best.actions[0]),
            }
            found.append(puzzle)
    return found


async def study_puzzles(visit: Visit, fields: Fields) -> dict[str, Any]:
    """The puzzles of the open game."""
    study = _open(visit)
    if study.review is None:
        raise SettingsError("the game is not reviewed yet: review it in Analyse, then its mistakes can be solved.")
    return {"puzzles": puzzles(study.review), "by": study.review.by}


async def study_solve(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Whether a move solves the puzzle of the open position."""
    study = _open(visit)
    game, state = study.game, study.state
    action, played, best = (_action(fields, name) for name in ("action", "played", "best"))
    rate, loss = fields.number("rate", 0, 1), fields.number("loss", 0, 1)
    if rate is None or loss is None:
        raise QueryError("rate" if rate is None else "loss", "Must be a number")
    if action not in game.legal_actions(state):
        raise GameError(f"action {action} is not legal here.")
    if action != played:
        loss = 0.0 if action == best else await _loss(visit, study, action, rate, fields.text("vs"))
    return {
        "right": action != played and loss < Thresholds().inaccuracy,
        "isBest": action == best,
        "isPlayed": action == played,
        "loss": round(loss, 4),
        "text": game.action_text(state, action, page_notation(game)),
    }


async def _loss(visit: Visit, study: Study, action: int, rate: float, word: str) -> float:
    """The mover's loss of win rate by a move that the review has not seen, in [0, 1], from a win rate before it."""
    game, state = study.game, study.state
    after = game.play(state, action)
    outcome = game.outcome(after)
    if outcome is None:
        player = await asyncio.to_thread(_judge, visit, word, game)
        simulations = min(player.visits_for(SIMULATIONS), visit.house.limits.simulations)
        found = await visit.house.searches.search(player, after, simulations=simulations)
        outcome = found.value if found.player == 0 else -found.value
    left = win_rate(outcome if game.player(state) == 0 else -outcome)
    return max(0.0, rate - left)


def _judge(visit: Visit, word: str, game: Rules) -> Player:
    """The player that has reviewed the game, or the usual one if it is gone."""
    try:
        return visit.house.library.analyst(word, game)
    except (SettingsError, DataError):
        return visit.house.library.analyst("", game)


def _open(visit: Visit) -> Study:
    if visit.study is None:
        raise SettingsError("no game is open: open one first.")
    return visit.study


def _action(fields: Fields, name: str) -> int:
    if (action := fields.integer(name, 0, MOST_ACTION)) is None:
        raise QueryError(name, "Must be an integer")
    return action


HANDLERS = {"study.puzzles": study_puzzles, "study.solve": study_solve}
