"""The results of searches as JSON for pages: win rates, lines with the cells of their moves, heat, territory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zerosum.analysis.go_score import expected_points
from zerosum.games import State
from zerosum.games.rules import has_owners, options_of
from zerosum.play.analysis import Analysis, win_rate
from zerosum.play.go_ending import final_score
from zerosum.play.player import Player
from zerosum.web.boards import move_cells, page_notation

MOST_LINES = 5
LINE_PLIES = 12
OWNERSHIP_GAMES = 32
"""Random games for an estimate of territory."""
LEAST_HEAT = 0.005
LEAD_PLIES = 6
"""Most plies of a line whose positions are asked for the lead."""


def analysis_json(found: Analysis) -> dict[str, Any]:
    """An analysis: win rates are those of the player to move."""
    total = max(found.num_visits, 1)
    return {
        "by": found.by,
        "mover": found.player,
        "rate": round(win_rate(found.value), 4),
        "draw": None if found.root.draw_share is None else round(float(found.root.draw_share), 4),
        "proven": found.proven,
        "simulations": found.num_visits,
        "work": found.work,
        "has_policy": not found.depth,
        "seconds": round(found.seconds, 2),
        "stop_reason": found.stop_reason,
        "lines": [
            {
                "moves": list(line.texts(page_notation(found.game))[:LINE_PLIES]),
                "cells": move_cells(found.game, found.state, line.actions[0]),
                "action": line.actions[0],
                "rate": round(line.win_rate, 4),
                "visits": line.visits,
                "share": round(line.visits / total, 4),
                "prior": round(line.prior, 4),
                "proven": line.proven,
            }
            for line in found.lines[:MOST_LINES]
        ],
    }


def point(report: Analysis | None, value: float) -> list[float | None]:
    """(win rate of the first player, share of draws or None) of a position. `value` is for the first player."""
    share = None if report is None or report.root.draw_share is None else round(float(report.root.draw_share), 4)
    if report is None:
        share = float(value == 0)
    return [round(win_rate(value), 4), share]


def heat(found: Analysis) -> dict[str, list[list[float]]]:
    """Shares of the network's policy and of the visits, by the cell where a move ends."""
    shares: dict[str, dict[int, float]] = {"policy": {}, "visits": {}}
    total = max(sum(found.visits), 1)
    for action, prior, visits in zip(found.actions, found.priors, found.visits, strict=True):
        if prior < LEAST_HEAT and visits < LEAST_HEAT * total:
            continue
        if cells := move_cells(found.game, found.state, action):
            shares["policy"][cells[-1]] = shares["policy"].get(cells[-1], 0) + prior
            shares["visits"][cells[-1]] = shares["visits"].get(cells[-1], 0) + visits / total
    return {name: [[cell, round(share, 4)] for cell, share in cells.items()] for name, cells in shares.items()}


def lead(player: Player, state: State, line: Sequence[int] = ()) -> float | None:
    """The first player's lead in points at the end, by the score itself or by the network.

    With a line, such as the best one of a search, it is the mean over the position and those of the line: a network is
    less sure of a single position than of what follows from it.

    None in games without points, and where the network knows neither the score nor the owners of points.
    """
    game = player.game
    if not has_owners(game) or "komi" not in options_of(game):
        return None
    leads: list[float] = []
    for action in (*line[:LEAD_PLIES], None):
        if game.ending(state) is not None:
            final = final_score(game, state, marked=frozenset())
            score = game.score(state) if final is None else final.lead
            return score if not leads else _mean([*leads, score or 0.0])
        if (points := expected_points(player, state)) is None:
            return None
        leads.append(points.lead)
        if action is not None:
            state = game.play(state, action)
    return _mean(leads)


def _mean(numbers: Sequence[float]) -> float:
    return round(sum(numbers) / len(numbers), 1)


def ownership(player: Player, state: State, *, num_games: int = OWNERSHIP_GAMES) -> list[float] | None:
    """Ownership of each cell in [-1, 1] for the first player (`Player.ownership`); None in games without owners."""
    if not has_owners(player.game):
        return None
    found = player.ownership(state, num_games=num_games)
    return None if found is None else [round(float(share), 2) for share in found]
