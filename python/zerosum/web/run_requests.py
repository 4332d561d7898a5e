"""Requests of the page that watches runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from zerosum.analysis.query_fields import Fields
from zerosum.run.config import load_config
from zerosum.web import runs
from zerosum.web.trainings import MOST_MINUTES, Trainings

if TYPE_CHECKING:
    from zerosum.web.visit import Visit


async def runs_list(visit: Visit, fields: Fields) -> list[dict[str, Any]]:
    """All runs."""
    return await asyncio.to_thread(lambda: runs.overview(visit.house.library.run_directories()))


async def runs_curves(visit: Visit, fields: Fields) -> dict[str, Any]:
    """The figures of a run."""
    label, library = fields.text("run"), visit.house.library
    return await asyncio.to_thread(lambda: runs.curves(label, library.run_directory(label)))


async def runs_games(visit: Visit, fields: Fields) -> dict[str, Any]:
    """The newest games of a run."""
    label, library = fields.text("run"), visit.house.library
    return {"games": await asyncio.to_thread(lambda: runs.newest_games(library.run_directory(label)))}


async def runs_openings(visit: Visit, fields: Fields) -> dict[str, Any]:
    """The first moves of a run's games over time."""
    label, library = fields.text("run"), visit.house.library

    def found() -> dict[str, Any]:
        directory = library.run_directory(label)
        config = load_config(directory / "config.toml")
        is_updatable = config.network.kind == "updatable"
        return runs.openings(library.game(str(config.game)), directory, is_updatable=is_updatable)

    return await asyncio.to_thread(found)


async def runs_game(visit: Visit, fields: Fields) -> dict[str, Any]:
    """A position of one of the newest games."""
    label, library = fields.text("run"), visit.house.library
    number, ply = fields.integer("number", 0, 1 << 50) or 0, fields.integer("ply", 0, 1 << 16) or 0

    def found() -> dict[str, Any]:
        directory = library.run_directory(label)
        game = library.game(str(load_config(directory / "config.toml").game))
        return runs.one_game(game, directory, number, ply)

    return await asyncio.to_thread(found)


async def runs_settings(visit: Visit, fields: Fields) -> dict[str, Any]:
    """The settings of a run."""
    label, library = fields.text("run"), visit.house.library
    found = await asyncio.to_thread(lambda: runs.settings(library.run_directory(label)))
    return {"name": label, "settings": found}


async def runs_csv(visit: Visit, fields: Fields) -> dict[str, Any]:
    """The recorded figures of a run as a file."""
    label, library = fields.text("run"), visit.house.library
    text = await asyncio.to_thread(lambda: runs.figures(library.run_directory(label)))
    return {"name": f"{label.replace('/', '-')}.csv", "text": text}


async def runs_train(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Begin or continue a run."""
    trainings, minutes = _trainings(visit), fields.number("minutes", 0.01, MOST_MINUTES) or 10.0
    name, game = fields.text("run"), fields.text("game") or "connect4"
    return {"command": await asyncio.to_thread(trainings.start, name, game, minutes)}


async def runs_stop(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Stop a training."""
    return {"command": await asyncio.to_thread(_trainings(visit).stop, fields.text("run"))}


async def runs_may_train(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Whether trainings may be started here."""
    trainings = visit.house.trainings
    return {"allowed": trainings is not None and trainings.is_allowed}


def _trainings(visit: Visit) -> Trainings:
    return visit.house.trainings or Trainings(visit.house.library)


HANDLERS = {
    "runs.list": runs_list,
    "runs.curves": runs_curves,
    "runs.games": runs_games,
    "runs.openings": runs_openings,
    "runs.game": runs_game,
    "runs.settings": runs_settings,
    "runs.csv": runs_csv,
    "runs.train": runs_train,
    "runs.stop": runs_stop,
    "runs.may_train": runs_may_train,
}
