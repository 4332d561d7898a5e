"""The paper's own runs: the lengths of games that its figures imply, and the time of one GPU for them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

from zerosum.games import make
from zerosum.network import NetworkShape
from zerosum.network.weights import num_operations
from zerosum.run.config import new_config

SIMULATIONS = 800
"""Simulations of a move in the paper's self-play."""


def paper_figures() -> dict[str, Any]:
    """The content of `data/capacity.toml`."""
    text = resources.files("zerosum").joinpath("data", "capacity.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@dataclass(frozen=True)
class PaperTraining:
    """A row of table S3: the training of a game in the paper."""

    steps: int
    batch: int
    games: int
    hours: float
    simulations: int
    milliseconds: float
    """Time of a move's simulations on one TPU."""
    actors: int
    """TPUs that played."""
    preprint_games: int
    preprint_hours: float


def paper_training(game: str) -> PaperTraining | None:
    """The training of *Science* 362 (2018) for the game of this name; None if the paper has none."""
    paper = paper_figures()
    if game not in paper["runs"]:
        return None
    preprint = paper["runs"][game]
    final = {**preprint, **paper["science"].get(game, {})}
    return PaperTraining(
        steps=paper["steps"],
        batch=paper["batch"],
        games=final["games"],
        hours=final["hours"],
        simulations=SIMULATIONS,
        milliseconds=final["milliseconds"],
        actors=paper["actors"],
        preprint_games=preprint["games"],
        preprint_hours=preprint["hours"],
    )


def paper_runs() -> Iterator[dict[str, Any]]:
    """The paper's own runs.

    Each has the `game`, its `games` and `hours`; the mean `plies` of a game, which follow from these and from the
    paper's time for 800 simulations if all actors played all the time; `tops`, 10^12 operations a second of each TPU;
    and `h100_hours`, the time in which one NVIDIA H100 makes as many evaluations.
    """
    paper = paper_figures()
    for name, run in paper["runs"].items():
        game = make(name)
        config = new_config(game, name, preset="paper")
        operations = num_operations(config.network, NetworkShape.of(game.spec))
        moves = paper["actors"] * 3600 * run["hours"] / (run["milliseconds"] / 1000)
        evaluations = moves * SIMULATIONS
        yield {
            "game": name,
            "games": run["games"],
            "plies": moves / run["games"],
            "hours": run["hours"],
            "tops": evaluations * operations / (3600 * run["hours"] * paper["actors"]) / 1e12,
            "h100_hours": evaluations / paper["h100_evaluations_per_second"][name] / 3600,
        }


def paper_lines() -> Iterator[str]:
    """The table of these runs for people."""
    paper = paper_figures()
    yield f"The paper's own runs: {paper['actors']:,} TPUs play ({paper['source']})"
    yield f"{'game':<7}{'games':>12}{'plies':>7}{'hours':>7}{'needed of a TPU':>24}{'one H100, hours':>18}"
    for run in paper_runs():
        needed = f"{run['tops']:.0f} of {paper['tops']:.0f} T op/s"
        yield (
            f"{run['game']:<7}{run['games']:>12,}{run['plies']:>7.0f}{run['hours']:>7.0f}"
            f"{needed:>24}{run['h100_hours']:>18,.0f}"
        )
