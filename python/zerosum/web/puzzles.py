"""Puzzles from one's own games: the mistakes of a review are positions to solve.

    {"do": "study.puzzles"}                            ->  {"puzzles": [{"ply": 14, "player": 1, "mark": "??", …}]}
    {"do": "study.solve", "ply": 14, "action": 1203}   ->  {"right": true, "loss": 0.0, "best": ["Qf3", …], …}

A move solves a position if it is the review's best one, or loses less than an inaccuracy by a search of its own.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from zerosum.analysis.query_fields import Fields, QueryError
from zerosum.analysis.review import Review
from zerosum.base.errors import GameError, SettingsError
from zerosum.play.analysis import win_rate
from zerosum.web.boards import move_cells, page_notation

if TYPE_CHECKING:
    from zerosum.web.study import Study
    from zerosum.web.visit import Visit

MISTAKES = ("?", "??")
"""Marks of the moves that become puzzles."""
SIMULATIONS = 400
"""Simulations of the search of a move that the review has not seen."""
LINE_PLIES = 8


def puzzles(review: Review) -> list[dict[str, Any]]:
    """The positions before a player's mistakes, in the order of the game."""
    notation = page_notation(review.game)
    return [
        {
            "ply": ply,
            "player": move.player,
            "mark": move.mark,
            "played": review.game.action_text(before.state, move.action, notation),
        }
        for ply, (move, before, _) in enumerate(review.steps)
        if move.mark in MISTAKES and before.report is not None
    ]


async def study_puzzles(visit: Visit, fields: Fields) -> dict[str, Any]:
    """The puzzles of the open game."""
    study = _reviewed(visit)
    assert study.review is not None
    return {"puzzles": puzzles(study.review), "by": study.review.by}


async def study_solve(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Whether a move solves the position before a mistake, and the best line."""
    study = _reviewed(visit)
    review, game = study.review, study.game
    assert review is not None
    ply, action = fields.integer("ply", 0, len(review.moves) - 1), fields.integer("action", 0, 1 << 16)
    if ply is None or action is None:
        raise QueryError("ply" if ply is None else "action", "Must be an integer")
    move, before, _ = review.steps[ply]
    if before.report is None:
        raise SettingsError(f"the position before move {ply + 1} was not searched: choose one of the puzzles.")
    if action not in game.legal_actions(before.state):
        raise GameError(f"action {action} is not legal here.")
    best, loss = before.report.lines[0], 0.0
    if action == move.action:
        loss = move.loss
    elif action != best.actions[0]:
        loss = await _loss(visit, study, ply, action, fields.text("vs"))
    return {
        "right": action != move.action and loss < review.thresholds.inaccuracy,
        "isBest": action == best.actions[0],
        "isPlayed": action == move.action,
        "loss": round(loss, 4),
        "text": game.action_text(before.state, action, page_notation(game)),
        **_best(study, ply),
    }


async def study_answer(visit: Visit, fields: Fields) -> dict[str, Any]:
    """The best line of the position before a mistake, for who gives up."""
    study = _reviewed(visit)
    assert study.review is not None
    ply = fields.integer("ply", 0, len(study.review.moves) - 1)
    if ply is None:
        raise QueryError("ply", "Must be an integer")
    if study.review.positions[ply].report is None:
        raise SettingsError(f"the position before move {ply + 1} was not searched: choose one of the puzzles.")
    return _best(study, ply)


def _best(study: Study, ply: int) -> dict[str, Any]:
    """The best line of a reviewed position and the cells of its first move."""
    assert study.review is not None
    before, game = study.review.positions[ply], study.game
    assert before.report is not None
    best = before.report.lines[0]
    return {
        "best": list(best.texts(page_notation(game))[:LINE_PLIES]),
        "cells": move_cells(game, before.state, best.actions[0]),
    }


async def _loss(visit: Visit, study: Study, ply: int, action: int, word: str) -> float:
    """The mover's loss of win rate by a move that the review has not seen, in [0, 1]."""
    assert study.review is not None
    before = study.review.positions[ply]
    game, mover = study.game, study.game.player(before.state)
    after = game.play(before.state, action)
    outcome = game.outcome(after)
    if outcome is None:
        player = await asyncio.to_thread(visit.house.library.analyst, word, game)
        simulations = min(player.visits_for(SIMULATIONS), visit.house.limits.simulations)
        found = await visit.house.searches.search(player, after, simulations=simulations)
        outcome = found.value if found.player == 0 else -found.value
    rate_before, rate_after = before.win_rate, win_rate(outcome)
    return max(0.0, (rate_before - rate_after) * (1 if mover == 0 else -1))


def _reviewed(visit: Visit) -> Study:
    if visit.study is None:
        raise SettingsError("no game is open: open one first.")
    if visit.study.review is None:
        raise SettingsError("the game is not reviewed yet: review it in Analyse, then its mistakes can be solved.")
    return visit.study


HANDLERS = {"study.puzzles": study_puzzles, "study.solve": study_solve, "study.answer": study_answer}
