"""Memory test: as many games as an hour of training plays, in a few minutes.

    python tools/soak.py --games 72000

An hour of Connect Four on two cores is some 72,000 games. Here a whole training (self-play, journal, shards, window,
learner, new networks, metrics, ratings) plays as many games of a very small game. The window, its blocks and the shards
are small, too, so that they turn over as often as in an hour. The memory of the process is read at each row of metrics.
After a warm-up (`WARM_UP` of the games) it may rise by `ALLOWED_MB` for every 20,000 games.

Prints progress, and the slope of the best-fitting line; exit status 1 if it is too steep.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np

from zerosum.games import make
from zerosum.run.config import configured_game, new_config
from zerosum.run.metrics import Metrics, MetricsRow
from zerosum.run.run_plan import RunPlan
from zerosum.run.selfplay_training import SelfplayTraining

GAME = "tictactoe"
SETTINGS = (
    "training.steps=100000",
    "training.num_checkpoints=250",
    "training.min_positions=100",
    "network.num_blocks=1",
    "network.num_filters=8",
    "search.num_simulations=4",
    "selfplay.fast_simulations=2",
    "learner.batch_size=32",
    "learner.samples_per_position=6",
    "replay.games_per_shard=50",
    "replay.window_min_positions=3000",
    "replay.window_growth_factor=0",
    "strength.rollout_simulations=2",
)
BLOCK_POSITIONS = 1000
REPORT_SECONDS = 0.25
WARM_UP = 0.3
ALLOWED_MB = 4.0

Sample = tuple[int, int]
"""Games so far, bytes held."""


def resident_bytes() -> int:
    """Resident memory of the process, in bytes. Linux only."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def soak(
    run: Path,
    *overrides: str,
    num_games: int,
    measure: Callable[[], int] = resident_bytes,
    report: Callable[[str], None] = print,
) -> list[Sample]:
    """Train until this many games are played, or the steps of `overrides`. Measures at each row of metrics."""
    stop, samples = threading.Event(), list[Sample]()

    class MeasuredMetrics(Metrics):
        def add(self, row: MetricsRow) -> None:
            super().add(row)
            samples.append((row.games, measure()))
            if row.games >= num_games:
                stop.set()

    game = make(GAME)
    config = new_config(game, GAME, overrides=[*SETTINGS, *overrides])
    run.mkdir()
    with (
        patch("zerosum.run.measures.Metrics", MeasuredMetrics),
        patch("zerosum.run.budget.REPORT_SECONDS", REPORT_SECONDS),
        patch("zerosum.replay.window._BLOCK_POSITIONS", BLOCK_POSITIONS),
    ):
        SelfplayTraining(RunPlan(run, configured_game(game, config), config), report, stop).run()
    return samples


def bytes_per_game(samples: list[Sample]) -> float:
    """The slope of the best-fitting line after the warm-up."""
    last = samples[-1][0]
    warm = np.array([sample for sample in samples if sample[0] >= WARM_UP * last], np.float64)
    return float(np.polyfit(warm[:, 0], warm[:, 1], 1)[0])


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Train in fast motion and see whether the memory grows.")
    parser.add_argument("--games", type=int, default=72_000, help="number of games (72,000)")
    num_games = parser.parse_args().games
    lines = 0

    def report(line: str) -> None:
        nonlocal lines
        lines += 1
        if lines % 20 == 0:
            print(f"{line.splitlines()[0]} | {resident_bytes() / 1e6:.1f} MB", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        samples = soak(Path(folder, "run"), num_games=num_games, report=report)
    slope = bytes_per_game(samples) * 20_000 / 1e6
    first, last = (samples[index] for index in (int(WARM_UP * len(samples)), -1))
    print(
        f"{last[0]:,} games: {first[1] / 1e6:.1f} MB after {first[0]:,}, {last[1] / 1e6:.1f} MB at the end,"
        f" {slope:+.2f} MB for every 20,000 games (allowed: {ALLOWED_MB:g})"
    )
    sys.exit(slope > ALLOWED_MB)


if __name__ == "__main__":
    main()
