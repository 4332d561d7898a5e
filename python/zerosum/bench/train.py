"""The whole training loop."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from zerosum.bench.figure import Figure
from zerosum.bench.untrained import network_settings
from zerosum.games import Rules
from zerosum.run.config import new_config
from zerosum.run.metrics import read_metrics
from zerosum.run.training import train


def bench_train(game: Rules, name: str, seconds: float, overrides: Sequence[str]) -> Iterator[Figure]:
    """The whole loop of a new run: evaluations, recorded positions and samples per second."""
    with tempfile.TemporaryDirectory() as directory:
        run = Path(directory) / "run"
        # Measuring the player would take most of this short run.
        early = ["training.min_positions=256", "strength.solved_positions=0", *overrides]
        train(name, run, minutes=seconds / 60, overrides=early, report=lambda _: None)
        last = read_metrics(run / "metrics.csv")[-1]
    config = new_config(game, name, minutes=seconds / 60, overrides=overrides)
    settings = {**network_settings(config), "batch_size": config.learner.batch_size, "seconds": seconds}
    elapsed = 60 * last.minutes
    figures = {
        "evaluations_per_second": last.evaluations / elapsed,
        "positions_per_second": last.positions / elapsed,
        "samples_per_second": last.step * config.learner.batch_size / elapsed,
    }
    for metric, value in figures.items():
        yield Figure("train", name, metric, value, "1/s", settings)
