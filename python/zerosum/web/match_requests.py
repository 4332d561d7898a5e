"""Requests of the page that lets two players meet in a match."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from zerosum.analysis.query_fields import Fields
from zerosum.base.errors import SettingsError
from zerosum.web.match import WatchedMatch

if TYPE_CHECKING:
    from zerosum.web.visit import Visit

VIEW_SECONDS = 0.25
"""Least time between two views of a game in progress."""


async def match_open(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Begin a match of two players by their names."""
    library = visit.house.library
    game = await asyncio.to_thread(library.game, fields.text("game") or "connect4")
    usual = library.usual_opponent(game)
    names = fields.text("first") or usual, fields.text("second") or "rollouts"
    for name in names:
        await asyncio.to_thread(library.player, name, game)
    number = fields.integer("games", 0, 1 << 16)
    limits, seed = visit.house.limits, visit.house.seed
    visit.stop("match")
    match = visit.match = WatchedMatch(
        game, names, num_games=10 if number is None else number, seed=seed, most_plies=limits.plies
    )
    visit.begin("match", lambda: _play(visit, match))
    return match.view()


async def match_stop(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Stop the match after the move in progress; finished games stay."""
    if visit.match is None:
        raise SettingsError("no match is open: begin one first.")
    visit.stop("match")
    return visit.match.view()


async def _play(visit: Visit, match: WatchedMatch) -> None:
    shown = time.monotonic()
    while not match.is_over and visit.match is match:
        table = match.table
        if table.is_over:
            match.finish()
            visit.tell("match", **match.view())
            continue
        action, _ = await visit.chosen_move(table)
        table.play(action)
        if time.monotonic() >= shown + VIEW_SECONDS:
            shown = time.monotonic()
            visit.tell("match", **match.view())


HANDLERS = {"match.open": match_open, "match.stop": match_stop}
