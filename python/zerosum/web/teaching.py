"""Teaching: a person's move that gives much away is told before the computer answers it, and may be taken back.

    {"event": "doubt", "says": "This loses about 3 points. Take it back?", "loss": 0.14, "points": 3.1, "ply": 17}

Two searches of the same length judge the move: of the position before it, and of the one after it. Where the network
tells the score (`analyses.lead`), the loss is told in points, else in win rate.
"""

from __future__ import annotations

from typing import Any

from zerosum.analysis.reviewed import Thresholds
from zerosum.play.analysis import Analysis, win_rate
from zerosum.play.player import Player
from zerosum.web.analyses import lead
from zerosum.web.searches import Searches
from zerosum.web.table import Table

SIMULATIONS = 200
"""Simulations of each of the two searches."""
LEAST_POINTS = 0.75
"""A smaller loss of points is told as win rate."""


def words(loss: float, points: float | None) -> str:
    """The question to the player about a loss of win rate, in (0, 1], or of points.

    >>> words(0.2, 3.2), words(0.2, None)
    ('This loses about 3 points. Take it back?', 'This gives away 20 % of your chances. Take it back?')
    """
    if points is not None and points >= LEAST_POINTS:
        number = round(points)
        return f"This loses about {number} point{'s' if number != 1 else ''}. Take it back?"
    return f"This gives away {100 * loss:.0f} % of your chances. Take it back?"


def loss_of(before: Analysis, after: Analysis, action: int) -> float:
    """The mover's loss of win rate by a move, in [0, 1], from the searches before and after it; 0 for the best move."""
    if before.best_action == action:
        return 0.0
    rate = win_rate(after.value if after.player == before.player else -after.value)
    return max(0.0, win_rate(before.value) - rate)


async def doubt(table: Table, player: Player, searches: Searches, *, most_simulations: int) -> dict[str, Any] | None:
    """What is to be told of a table's last move, a person's; None if the move is fine.

    Args:
        table: The game, with at least one move.
        player: The player whose searches judge the move.
        searches: The pool that searches.
        most_simulations: The limit of a search.
    """
    game, action = table.game, table.so_far.actions[-1]
    before, after = table.so_far.states[-2:]
    simulations = min(player.visits_for(SIMULATIONS), most_simulations)
    found = await searches.search(player, before, simulations=simulations)
    if found.best_action == action:
        return None
    reply = await searches.search(player, after, simulations=simulations)
    loss = loss_of(found, reply, action)
    if loss < Thresholds().mistake:
        return None
    lines = [one.lines[0].actions if one.lines else () for one in (found, reply)]
    leads = await searches.call(lambda: [lead(player, *one) for one in zip((before, after), lines, strict=True)])
    sign = 1 if game.player(before) == 0 else -1
    points = None if leads[0] is None or leads[1] is None else round(sign * (leads[0] - leads[1]), 1)
    return {"says": words(loss, points), "loss": round(loss, 3), "points": points, "ply": len(table.so_far.actions)}
