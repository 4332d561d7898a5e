"""The paper's own runs, beside what its time for a move predicts."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
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


def paper_runs() -> Iterator[dict[str, Any]]:
    """The paper's own runs beside what its time for a move predicts.

    Each has the `game`, its `games`, the `plies` assumed for one, the paper's `hours`, the `predicted_hours` of its
    actors at the paper's time for 800 simulations, and `tops`, 10^12 operations a second that each TPU needs for the
    paper's hours.
    """
    paper = paper_figures()
    for name, run in paper["runs"].items():
        game = make(name)
        config = new_config(game, name, preset="paper")
        plies, operations = run["plies"], num_operations(config.network, NetworkShape.of(game.spec))
        evaluations = run["games"] * plies * SIMULATIONS
        per_second = paper["actors"] * SIMULATIONS / (run["milliseconds"] / 1000)
        yield {
            "game": name,
            "games": run["games"],
            "plies": plies,
            "hours": run["hours"],
            "predicted_hours": evaluations / per_second / 3600,
            "tops": evaluations * operations / (3600 * run["hours"] * paper["actors"]) / 1e12,
        }


def paper_lines() -> Iterator[str]:
    """The table of these runs for people."""
    paper = paper_figures()
    yield f"The paper's own runs: {paper['actors']:,} TPUs play ({paper['source']})"
    yield f"{'game':<7}{'games':>12}{'plies':>7}{'hours':>7}{'predicted':>11}{'needed of a TPU':>24}"
    for run in paper_runs():
        needed = f"{run['tops']:.0f} of {paper['tops']:.0f} T op/s"
        yield (
            f"{run['game']:<7}{run['games']:>12,}{run['plies']:>7.0f}{run['hours']:>7.0f}{run['predicted_hours']:>11.1f}"
            f"{needed:>24}"
        )
