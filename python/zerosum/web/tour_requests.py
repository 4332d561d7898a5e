"""Requests of the tour: its run, a position searched by two checkpoints, and what each checkpoint has learned."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any

from zerosum.analysis.query_fields import Fields
from zerosum.base.errors import GameError, SettingsError
from zerosum.base.holding import is_held
from zerosum.games import Rules, state_after
from zerosum.games.playthrough import Playthrough
from zerosum.games.short_names import short_name
from zerosum.play.player import Player
from zerosum.web.analyses import analysis_json, heat
from zerosum.web.boards import draw_board, page_notation, place_moves
from zerosum.web.tour import Question, answered, ask_questions, by_chance

if TYPE_CHECKING:
    from zerosum.web.visit import Visit

GAME, RUN = "connect4", "tour"
MINUTES = 2.0
QUESTIONS = 40
"""Questions of each kind."""
MOST_CHECKPOINTS = 8
"""Checkpoints that are asked, evenly spread from the first to the last."""
MOST_SIMULATIONS = 2000


async def tour_open(visit: Visit, fields: Fields) -> dict[str, Any]:
    """The run of the tour, with the labels of its checkpoints, the oldest first, and whether one may be begun."""
    house = visit.house
    label = fields.text("run") or RUN

    def found() -> dict[str, Any]:
        directory = house.library.run_directories().get(label)
        names = [one for one in house.library.networks() if one.label.startswith(f"{label} step ")]
        steps = sorted((one.info.step, one.label) for one in names)
        game = short_name(house.library.game(names[0].info.full_name)) if names else GAME
        trainings = house.trainings
        is_live = directory is not None and (
            is_held(directory) or (trainings is not None and trainings.is_running(directory))
        )
        return {
            "run": label,
            "exists": directory is not None,
            "live": is_live,
            "allowed": trainings is not None and trainings.is_allowed,
            "game": game,
            "minutes": MINUTES,
            "checkpoints": [{"step": step, "name": name} for step, name in steps],
        }

    return await asyncio.to_thread(found)


async def tour_learn(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Begin the run of the tour."""
    if (trainings := visit.house.trainings) is None:
        raise SettingsError("this page may not start trainings: start it with `zerosum web --tour`.")
    return {"command": await asyncio.to_thread(trainings.start, RUN, GAME, MINUTES)}


async def tour_compare(visit: Visit, fields: Fields) -> dict[str, Any]:
    """A position, and what two players find there with a number of simulations."""
    house = visit.house
    game = await asyncio.to_thread(house.library.game, fields.text("game") or GAME)
    moves = fields.text("moves")
    if len(moves.split()) > house.limits.plies:
        raise SettingsError(f"the game has more than {house.limits.plies:,} moves.")
    state = state_after(game, moves)
    if game.outcome(state) is not None:
        raise GameError(f"the game is over ({game.ending(state)}): take a move back.")
    simulations = fields.integer("simulations", 1, min(MOST_SIMULATIONS, house.limits.simulations)) or 1
    sides = []
    for name in (fields.text("first"), fields.text("second")):
        player = await asyncio.to_thread(house.library.analyst, name, game)
        found = await house.searches.search(player, state, simulations=simulations, num_lines=3)
        sides.append({"name": name, "heat": heat(found)["policy"], **analysis_json(found)})
    legal = game.legal_actions(state)
    return {
        "board": draw_board(game, state),
        "moves": [move.json() for move in place_moves(game, state, legal)],
        "mover": game.player(state),
        "simulations": simulations,
        "sides": sides,
    }


async def tour_learned(visit: Visit, fields: Fields) -> dict[str, Any]:
    """How well the checkpoints of a run answer questions of the rules, without a search."""
    house, label = visit.house, fields.text("run") or RUN

    def prepared() -> tuple[Rules, list[Question], list[tuple[int, str]]]:
        named = [one for one in house.library.networks() if one.label.startswith(f"{label} step ")]
        if not named:
            raise SettingsError(f"the run {label} has no checkpoints yet: let it learn first.")
        game = house.library.game(short_name(house.library.game(named[0].info.full_name)))
        steps = sorted((one.info.step, one.label) for one in named)
        last = len(steps) - 1
        chosen = sorted({round(index * last / (MOST_CHECKPOINTS - 1)) for index in range(MOST_CHECKPOINTS)})
        return game, _questions(game), [steps[index] for index in chosen]

    game, questions, checkpoints = await house.searches.call(prepared)
    points = []
    for step, name in checkpoints:
        player: Player = await asyncio.to_thread(house.library.analyst, name, game)
        shares = await house.searches.call(functools.partial(answered, player, questions))
        points.append({"step": step, "name": name, "shares": {kind: round(one, 4) for kind, one in shares.items()}})
    return {
        "points": points,
        "chance": {kind: round(share, 4) for kind, share in by_chance(game, questions).items()},
        "counts": {kind: sum(one.kind == kind for one in questions) for kind in {one.kind for one in questions}},
        "examples": [_example(game, questions, kind) for kind in sorted({one.kind for one in questions})],
    }


@functools.lru_cache(maxsize=8)
def _questions(game: Rules) -> list[Question]:
    return ask_questions(game, number=QUESTIONS)


def _example(game: Rules, questions: list[Question], kind: str) -> dict[str, Any]:
    """The first question of a kind: its board, the moves to it, and the right ones."""
    question = next(one for one in questions if one.kind == kind)
    so_far = Playthrough.of(game, "", question.moves)
    state, texts = so_far.state, so_far.texts
    notation = page_notation(game)
    return {
        "kind": kind,
        "svg": draw_board(game, state)["svg"],
        "moves": " ".join(texts),
        "right": [game.action_text(state, action, notation) for action in sorted(question.right)],
    }


HANDLERS = {
    "tour.open": tour_open,
    "tour.learn": tour_learn,
    "tour.compare": tour_compare,
    "tour.learned": tour_learned,
}
