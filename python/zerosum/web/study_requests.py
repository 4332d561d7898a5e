"""Requests of the analysis page: open, move, analyse a position, review the game, export."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from zerosum.analysis.query_fields import Fields, QueryError
from zerosum.analysis.review import LONGER
from zerosum.analysis.reviewed import Review, ReviewedPosition
from zerosum.base.errors import SettingsError
from zerosum.games import State
from zerosum.games.rules import has_owners
from zerosum.play.analysis import Analysis
from zerosum.play.driver import Task
from zerosum.play.player import Player
from zerosum.web.analyses import LEAD_PLIES, analysis_json, heat, lead, ownership, point
from zerosum.web.puzzles import puzzles
from zerosum.web.study import Study, TurnAnalyst

if TYPE_CHECKING:
    from zerosum.web.visit import Visit

DEFAULT_SIMULATIONS = 400
"""Simulations of each position of a review."""
MOST_LINES = 5
MOST_LINES_TRIED = 200
"""Lines tried on a page that are made again when it is opened again."""


async def study_open(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Open a pasted or uploaded text, or a game by its moves."""
    library = visit.house.library
    text, game, moves = fields.text("text"), fields.text("game"), fields.text("moves")
    index, start = fields.integer("index", 0, 10_000) or 0, fields.text("start")
    visit.stop("look", "look2", "review")

    def opened() -> Study:
        if moves or (start and not text):
            return Study.of_moves(library, text=moves, game=game or "connect4", start=start)
        return Study.opened(library, text=text, game=game, index=index)

    ply, branch = fields.integer("ply", 0, visit.house.limits.plies) or 0, fields.text("branch").split()
    tried = fields.get("tried", [])
    if not isinstance(tried, list) or not all(isinstance(line, str) for line in tried):
        raise QueryError("tried", "Must be an array of moves")

    def placed() -> Study:
        study = opened()
        for line in tried[:MOST_LINES_TRIED]:
            study.goto(0)
            study.walk(line.split()[: visit.house.limits.plies])
        study.goto(ply)
        study.walk(branch[: visit.house.limits.plies])
        return study

    study = visit.study = await visit.house.searches.read(placed)
    study.review = visit.house.reviews.get(study.key, study.record)
    study.leads = visit.house.reviews.leads(study.key)
    found = await asyncio.to_thread(_view, visit)
    return found | ({} if study.review is None else {"review": study.review_view()})


async def study_goto(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Go to a position of the game by its ply, or of the tree by its number."""
    study, number = _study(visit), fields.integer("node", 0, 1 << 20)
    if number is None:
        study.goto(fields.integer("ply", 0, visit.house.limits.plies) or 0)
    else:
        study.goto_node(number)
    return _moved(visit)


async def study_move(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Try a move."""
    action = fields.integer("action", 0, 1 << 16)
    if action is None:
        raise QueryError("action", "Must be an integer")
    study = _study(visit)
    known = len(study.tree.nodes) - 1
    study.try_move(action)
    return _moved(visit, known)


async def study_back(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Take one move back."""
    _study(visit).back()
    return _moved(visit)


async def study_view(visit: Visit, fields: Fields) -> dict[str, Any]:
    """The same position with other options of the view."""
    for name in ("flipped", "western", "numbered"):
        if fields.has(name):
            visit.study_shown[name] = fields.flag(name)
    return _view(visit, None)


async def study_look(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Send the territory, then search the current position and send results meanwhile; `on` false ends the search."""
    study = _study(visit)
    visit.stop("look", "look2")
    is_over = study.game.outcome(study.state) is not None
    if not fields.flag("on") or (is_over and not has_owners(study.game)):
        return {"by": ""}
    lines = fields.integer("lines", 1, MOST_LINES) or 3
    player = await asyncio.to_thread(_analyst, visit, fields.text("vs"), study)
    visit.begin("look", lambda: _look(visit, study, player, lines))
    if not fields.text("vs2") or is_over:
        return {"by": player.own_name}
    second = await asyncio.to_thread(_analyst, visit, fields.text("vs2"), study)
    visit.begin("look2", lambda: _look(visit, study, second, lines, event="look2"))
    return {"by": player.own_name, "by2": second.own_name}


async def study_review(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Search every position of the game. Events send the progress, and the last one the review."""
    study, limits = _study(visit), visit.house.limits
    asked = fields.integer("simulations", 1, limits.simulations)
    player = await asyncio.to_thread(_analyst, visit, fields.text("vs"), study)
    simulations = asked or min(player.visits_for(DEFAULT_SIMULATIONS), limits.simulations)
    visit.stop("look", "look2")
    visit.begin("review", lambda: _review(visit, study, player, simulations))
    return {"by": player.own_name, "positions": len(study.states)}


async def study_stop(visit: Visit, fields: Fields) -> dict[str, Any]:
    """End searches."""
    visit.stop("look", "look2", "review")
    return {}


async def study_export(visit: Visit, fields: Fields) -> dict[str, Any]:
    """The text of a file with the game and its review."""
    study, format = _study(visit), fields.text("format") or "json"
    if format not in (formats := study.view(known=None)["formats"]):
        raise SettingsError(f"{study.game.spec.full_name} is exported as {' or '.join(formats)}.")
    text = await asyncio.to_thread(study.export, format)
    return {"name": f"{study.game.spec.name}-analysed.{format}", "text": text}


def _study(visit: Visit) -> Study:
    if visit.study is None:
        raise SettingsError("no game is open: open one first.")
    return visit.study


def _view(visit: Visit, known: int | None = 0) -> dict[str, Any]:
    return _study(visit).view(**visit.study_shown, known=known)


def _moved(visit: Visit, known: int | None = None) -> dict[str, Any]:
    """The view after a move; the page knows the tree up to the position number `known`, or all of it."""
    visit.stop("look", "look2")
    return _view(visit, known)


def _analyst(visit: Visit, word: str, study: Study) -> Player:
    player = visit.house.library.analyst(word, study.game)
    return player.judged_by(player.evaluator, replace(player.config, keep_draws=True))


async def _look(visit: Visit, study: Study, player: Player, lines: int, *, event: str = "look") -> None:
    """Search the position. The first engine also tells the territory, and the second one's events are `look2`."""
    state, here = study.state, {"depth": len(study.path), "here": study.here.number}
    leads: dict[tuple[int, ...], float | None] = {}
    """The lead by the best line, each asked of the network once: a hundredth of a second."""

    def tell(found: Analysis) -> None:
        best = found.lines[0].actions[:LEAD_PLIES] if found.lines else ()
        if best not in leads:
            leads[best] = lead(player, state, best)
        visit.tell(event, **here, heat=heat(found), lead=leads[best], **analysis_json(found))

    # The search does not change the territory, which takes a hundredth of a second, too.
    if event == "look" and (owned := await visit.house.searches.call(lambda: ownership(player, state))) is not None:
        visit.tell("owned", **here, ownership=owned)
    if study.game.outcome(state) is not None:
        return
    seconds = visit.house.limits.looking.seconds
    found = await visit.house.searches.search(
        player, state, seconds=seconds, num_lines=lines, is_looking=True, on_report=tell
    )
    tell(found)


def _leads(player: Player, found: Review) -> list[float | None]:
    """The first player's lead in points at each position of a review; empty where one is not known."""

    def of(position: ReviewedPosition) -> float | None:
        if position.count is not None:
            return position.count.score
        best = position.report.lines[0].actions if position.report is not None and position.report.lines else ()
        return lead(player, position.state, best)

    leads = list(map(of, found.positions))
    return [] if None in leads else leads


async def _review(visit: Visit, study: Study, player: Player, simulations: int) -> None:
    """Review in a thread. Its searches run here in turns and end with this task."""
    loop, is_stopped = asyncio.get_running_loop(), False
    points: list[Any] = []

    def search(state: State, task: Task) -> Analysis:
        if is_stopped:
            raise SettingsError("the review was stopped.")
        asked = asyncio.run_coroutine_threadsafe(
            visit.house.searches.search(player, state, simulations=task.num_visits, num_lines=2, times=LONGER), loop
        )
        pending.append(asked)
        found = asked.result()
        points.append(point(found, found.value if found.player == 0 else -found.value))
        return found

    def progress(done: int, total: int) -> None:
        loop.call_soon_threadsafe(lambda: visit.tell("progress", done=done, of=total, points=points[-1:]))

    pending: list[Any] = []
    analyst = TurnAnalyst(player, search)
    try:
        found = await asyncio.to_thread(study.reviewed, analyst, Task(num_visits=simulations, num_lines=2), progress)
    finally:
        is_stopped = True
        for asked in pending[-1:]:
            asked.cancel()
    study.review = found
    study.leads = await visit.house.searches.call(lambda: _leads(player, found))
    visit.house.reviews.put(study.key, found, study.leads)
    visit.tell("reviewed", **study.review_view(), puzzles=await asyncio.to_thread(puzzles, found))


HANDLERS = {
    "study.open": study_open,
    "study.goto": study_goto,
    "study.move": study_move,
    "study.back": study_back,
    "study.view": study_view,
    "study.look": study_look,
    "study.review": study_review,
    "study.stop": study_stop,
    "study.export": study_export,
}
