"""The rates that a plan is made of: measured here in some seconds, or read from the figures of `zerosum bench`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zerosum.base.errors import DataError
from zerosum.base.files import MOST_NOTE_BYTES, read_text
from zerosum.base.settings import num_cores
from zerosum.games import Rules
from zerosum.run.config import RunConfig
from zerosum.run.dry_run import measured_here

SOURCES = {"evaluations_per_second": ("selfplay",), "samples_per_second": ("learner", "train")}
"""For each rate the benches that measure it, the best one first."""


@dataclass(frozen=True)
class Rates:
    """The speed of a machine with a network."""

    evaluations_per_second: float
    """Evaluations of self-play by all workers together."""
    samples_per_second: float
    """Samples of the learner."""
    cores: int
    """Cores that self-play has while the learner takes one; 1 if both share a GPU."""
    source: str


def measured_rates(config: RunConfig, game: Rules) -> Rates:
    """The rates of this machine, measured with an untrained network."""
    found = measured_here(config, game)
    source = f"measured here, {num_cores()} cores"
    return Rates(found.evaluations_per_second, found.samples_per_second, found.cores, source)


def read_rates(path: Path, config: RunConfig, name: str) -> Rates:
    """The rates in a file of `zerosum bench selfplay --json`, `bench train --json` or `bench gpu --json`.

    Args:
        path: The file, one JSON object per line; several outputs may follow one another in it.
        config: The run's settings: a figure counts if its network has the same size.
        name: The game's name, as the figures have it.

    Raises:
        DataError: the file cannot be read, or has no figure of the game and the network for one of the rates.
    """
    size = config.network.size
    figures = [figure for figure in _figures(path) if figure["game"] == name and figure["settings"]["network"] == size]
    values: dict[str, float] = {}
    for metric, benches in SOURCES.items():
        of_metric = [figure for figure in figures if figure["metric"] == metric]
        found = [figure for bench in benches for figure in of_metric if figure["bench"] == bench]
        if not found:
            raise DataError(
                f"{path} has no {metric} of {name} with a network of {size}: add what `zerosum bench {benches[-1]}"
                f" --game {name} --json` prints."
            )
        values[metric] = float(found[0]["value"])
    on_gpu = any(figure["bench"] == "learner" for figure in figures)
    cores = 1 if on_gpu else int(figures[0]["settings"].get("cores", 1))
    return Rates(**values, cores=cores, source=f"figures of {path}")


def _figures(path: Path) -> list[dict[str, Any]]:
    """The figures of a file that are of a network."""
    try:
        lines = read_text(path, most_bytes=MOST_NOTE_BYTES).splitlines()
        found = [json.loads(line) for line in lines if line.strip()]
        return [one for one in found if isinstance(one["value"], int | float) and "network" in one["settings"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path} has no figures: expected the output of `zerosum bench NAME --json` ({error})."
        ) from error
