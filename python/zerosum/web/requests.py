"""The requests of a page, by the name in their `do`."""

from __future__ import annotations

from zerosum.web import (
    blind_spots,
    figures,
    growth_requests,
    lesson_requests,
    match_requests,
    puzzles,
    run_requests,
    study_requests,
    tour_requests,
)
from zerosum.web.visit import Handler, Visit

HANDLERS: dict[str, Handler] = {
    "play.open": Visit.play_open,
    "play.move": Visit.play_move,
    "play.keep": Visit.play_keep,
    "play.undo": Visit.play_undo,
    "play.resign": Visit.play_resign,
    "play.dead": Visit.play_dead,
    "play.view": Visit.play_view,
    "play.save": Visit.play_save,
    "play.address": Visit.play_address,
    "play.hint": Visit.play_hint,
    "games.list": Visit.games_list,
    "games.page": Visit.games_page,
    "games.opponents": Visit.games_opponents,
    **lesson_requests.HANDLERS,
    **study_requests.HANDLERS,
    **puzzles.HANDLERS,
    **growth_requests.HANDLERS,
    **figures.HANDLERS,
    **run_requests.HANDLERS,
    **blind_spots.HANDLERS,
    **match_requests.HANDLERS,
    **tour_requests.HANDLERS,
}
