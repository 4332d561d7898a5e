"""The results of searches as JSON for pages: win rates, lines with the cells of their moves, heat, territory."""

from __future__ import annotations

from typing import Any

from zerosum.games import Rules, State
from zerosum.play.analysis import Analysis, win_rate
from zerosum.play.player import Player
from zerosum.web.boards import move_cells, page_notation

MOST_LINES = 5
LINE_PLIES = 12
OWNERSHIP_GAMES = 32
"""Random games for an estimate of territory."""
LEAST_HEAT = 0.005


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


def has_owners(game: Rules) -> bool:
    """Whether the squares of a game have owners at its end, as the points of Go.

    >>> from zerosum.games import make
    >>> has_owners(make("go9")), has_owners(make("chess"))
    (True, False)
    """
    return game.ownership(game.initial_state(), 0, 0) is not None


def ownership(player: Player, state: State, *, num_games: int = OWNERSHIP_GAMES) -> list[float] | None:
    """Ownership of each cell in [-1, 1] for the first player (`Player.ownership`); None in games without owners."""
    if not has_owners(player.game):
        return None
    found = player.ownership(state, num_games=num_games)
    return None if found is None else [round(float(share), 2) for share in found]
