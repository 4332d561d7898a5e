"""Train every game of the core for a minute: a test of a new game, or of a change of the training.

    python tools/train_every_game.py --minutes 1 --runs runs/every-game

Each game trains in its own directory under `--runs`, with the default settings and a small network; an existing run is
resumed. Prints a line per game: games, recorded positions, evaluations a second, learner steps, first and last losses.
Exit status 1 if a game recorded no position or made no step.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from zerosum import _core
from zerosum.run.metrics import MetricsRow, read_metrics
from zerosum.run.training import train

SETTINGS = (
    "network.num_blocks=2",
    "network.num_filters=32",
    "search.num_simulations=32",
    "selfplay.fast_simulations=8",
    "training.min_positions=256",
    "training.steps_per_phase=8",
    "learner.batch_size=64",
    "strength.budget_share=0",
)


def main() -> None:
    """Train the named games, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="*", default=_core.core_game_names(), help="games; all of the core if none")
    parser.add_argument("--minutes", type=float, default=1.0, help="minutes per game")
    parser.add_argument("--runs", type=Path, default=Path("runs/every-game"), help="directory of the runs")
    arguments = parser.parse_args()
    failed = [game for game in arguments.games if not train_one(game, arguments.runs / game, arguments.minutes)]
    if failed:
        sys.exit(f"did not learn: {', '.join(failed)}")


def train_one(game: str, directory: Path, minutes: float) -> bool:
    """Train one game, print its line, and say whether it learned at all."""
    lines: list[str] = []
    train(game, directory, minutes=minutes, overrides=() if directory.exists() else SETTINGS, report=lines.append)
    rows = read_metrics(directory / "metrics.csv")
    if not rows:
        print(f"{game:>14}: nothing was recorded")
        return False
    first, last = next((row for row in rows if row.policy_loss is not None), rows[-1]), rows[-1]
    print(
        f"{game:>14}: {last.games:,} games, {last.positions:,} positions,"
        f" {last.evaluations / (60 * last.minutes):,.0f} evaluations/s, {last.step:,} steps,"
        f" policy loss {told(first)} -> {told(last)}",
        flush=True,
    )
    return last.positions > 0 and last.step > 0


def told(row: MetricsRow) -> str:
    """A row's policy loss as people read it."""
    return "none" if row.policy_loss is None else f"{row.policy_loss:.2f}"


if __name__ == "__main__":
    main()
