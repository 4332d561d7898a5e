"""Requests of the page that watches a search grow."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from zerosum.analysis.query_fields import Fields
from zerosum.base.errors import SettingsError
from zerosum.games import start_state
from zerosum.games.short_names import short_name
from zerosum.games.written_moves import read_moves
from zerosum.web.boards import draw_board, page_notation, place_moves
from zerosum.web.growth import MOST_SIMULATIONS, Growth, Settings

if TYPE_CHECKING:
    from zerosum.web.visit import Visit

T = TypeVar("T")

SLICE_SECONDS = 0.2
MOST_STEPS = 10_000
"""Simulations that one request may ask for."""


async def growth_open(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Open a position with an evaluator; only the root is evaluated."""
    library = visit.house.library
    game = await asyncio.to_thread(library.game, fields.text("game") or "connect4")
    moves = fields.text("moves")
    if len(moves.split()) > visit.house.limits.plies:
        raise SettingsError(f"the game has more than {visit.house.limits.plies:,} moves.")
    state, shown = start_state(game, fields.text("start")), []
    for action, after in read_moves(game, state, moves.split()):
        shown.append(game.action_text(state, action, page_notation(game)))
        state = after
    vs = fields.text("vs") or await asyncio.to_thread(library.usual_opponent, game, has_tree=True)
    player = await asyncio.to_thread(library.analyst, vs, game)
    visit.stop("growth", "figure")
    settings, seed = _settings(fields, Settings()), visit.house.seed
    visit.growth = await visit.house.searches.call(lambda: Growth(player, state, settings, seed=seed))
    board = draw_board(game, state)
    legal = game.legal_actions(state)
    return _view(visit) | {
        "board": board,
        "moves": [move.json() for move in place_moves(game, state, legal)],
        "line": " ".join(shown),
        "vs": vs,
        "link": {"game": short_name(game), "moves": moves, "vs": fields.text("vs"), "start": fields.text("start")},
    }


async def growth_step(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Make simulations. Those that do not fit into a slice of time are made in the background and sent as events."""
    growth, number = _growth(visit), fields.integer("number", 1, MOST_STEPS) or 1
    visit.stop("growth")
    number -= await _alone(visit, lambda growth: _steps(growth, number))
    if number:
        visit.begin("growth", lambda: _grow(visit, growth, number))
    return _view(visit)


async def growth_phase(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Make the next phase of a simulation."""
    visit.stop("growth")
    await _alone(visit, Growth.advance)
    return _view(visit)


async def growth_settings(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Change the settings. The tree stays unless the noise changes."""
    settings = _settings(fields, _growth(visit).settings)
    await _alone(visit, lambda growth: growth.change(settings))
    return _view(visit)


async def growth_rewind(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Go back to an earlier simulation."""
    visit.stop("growth")
    number = fields.integer("number", 0, MOST_SIMULATIONS) or 0
    await _alone(visit, lambda growth: growth.rewind(number))
    return _view(visit)


async def growth_reset(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Begin a new tree."""
    visit.stop("growth")
    await _alone(visit, Growth.reset)
    return _view(visit)


async def growth_stop(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Stop simulations in the background."""
    visit.stop("growth")
    await _alone(visit, lambda _: None)  # the slice of time under way has ended
    return _view(visit)


async def growth_whole(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Everything, for a page that has missed changes."""
    return await _alone(visit, Growth.whole_view)


async def growth_moment(visit: Visit, fields: Fields) -> dict[str, Any]:
    """The most visited positions, now or after an earlier simulation."""
    growth, moment = _growth(visit), fields.integer("number", 0, MOST_SIMULATIONS) or 0
    nodes = growth.moments.get(moment)
    return {"nodes": nodes if nodes is not None else await _alone(visit, Growth.most_visited)}


def _growth(visit: Visit) -> Growth:
    if visit.growth is None:
        raise SettingsError("no search is open: open one first.")
    return visit.growth


def _settings(fields: Fields, before: Settings) -> Settings:
    c, fpu = fields.number("c", 0.0, 100.0), fields.number("fpu", -1.0, 1.0)
    noise = fields.number("noise", 0.0, 1.0)
    return Settings(
        before.c if c is None else c,
        before.unvisited_q if fpu is None else fpu,
        before.noise if noise is None else noise,
    )


async def _alone(visit: Visit, work: Callable[[Growth], T]) -> T:
    """The result of work on the tree while no other request works on it: a stopped one first ends its slice of time."""
    growth = _growth(visit)

    def locked() -> T:
        with growth.lock:
            return work(growth)

    return await visit.house.searches.call(locked)


def _view(visit: Visit) -> dict[str, Any]:
    growth = _growth(visit)
    with growth.lock:
        return growth.changes()


def _steps(growth: Growth, number: int) -> int:
    """Make at least one simulation and at most `number` in a slice of time; return their number."""
    until = time.monotonic() + SLICE_SECONDS
    done = 0
    while done < number and (done == 0 or time.monotonic() < until):
        growth.step()
        done += 1
    return done


async def _grow(visit: Visit, growth: Growth, number: int) -> None:
    while number > 0 and visit.growth is growth:
        number -= await _alone(visit, functools.partial(_steps, number=number))
        visit.tell("growth", **_view(visit))


HANDLERS = {
    "growth.open": growth_open,
    "growth.step": growth_step,
    "growth.phase": growth_phase,
    "growth.settings": growth_settings,
    "growth.rewind": growth_rewind,
    "growth.reset": growth_reset,
    "growth.stop": growth_stop,
    "growth.whole": growth_whole,
    "growth.moment": growth_moment,
}
