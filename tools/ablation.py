"""What each way of learning is worth: the same short training with one thing changed, over several seeds.

    python tools/ablation.py runs/ablation --minutes 4 --seeds 3

trains every variant of `VARIANTS` on Connect Four, counting CPU-minutes of its process, so that all have the same
compute on a machine that does other work as well, and counts its mistakes in solved positions. What is done is not done
again: the command goes on where it stopped. At the end (and with --table at any time) it prints a table in Markdown:
mistakes in percent, mean over the sets and over the seeds, and by how much a variant differs from the first one, seed
by seed, with one standard error.

Sets of solved positions other than those that the package measures by keep tuning and measuring apart:
`tools/solve_positions.py --seed 7` makes them, `--positions FILE` takes them.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from zerosum.metrics import read_metrics
from zerosum.play.player import load_player
from zerosum.solved import SolvedSet, load_solved, mistake_rates, parse_solved

GAME = "connect4"
# One thread of self-play beside the learner's: two trainings share two cores. Rating games would only take time, and
# games in flight that are measured anew each time would be one more difference.
COMMON = [
    "training.clock=cpu",
    "selfplay.num_workers=1",
    "selfplay.games_per_worker=64",
    "strength.budget_share=0",
    "strength.solved_positions=0",
]
POSITIONS = {1: 1000, 600: 500}
"""Of each set, by simulations a move."""

VARIANTS: dict[str, list[str]] = {
    "defaults": [],
    "no random openings": ["selfplay.opening_share=0"],
    "Gumbel root, completed-Q targets": ["search.root_selection=gumbel", "search.policy_target=completed-q"],
    "completed-Q targets": ["search.policy_target=completed-q"],
    "forced playouts": ["search.forced_playouts=2"],
    "averaged weights": ["learner.average_steps=100"],
    "value: lambda 0.9": ["replay.value_lambda=0.9", "replay.search_value_weight=0"],
    "value: the outcome alone": ["replay.search_value_weight=0"],
    "value: the search alone": ["replay.search_value_weight=1"],
    "every move searched in full": ["selfplay.full_search_share=1"],
    "twice the simulations": ["search.num_simulations=190", "selfplay.fast_simulations=38"],
    "half of the simulations": ["search.num_simulations=47", "selfplay.fast_simulations=9"],
    "no evaluation cache": ["search.cache_positions=0"],
    "no symmetries": ["replay.use_symmetries=false"],
    "a fixed window": ["replay.window_growth_factor=0"],
    "no exact bounds": ["search.exact_bounds=false"],
    "64 filters": ["network.num_filters=64"],
}


@dataclass(frozen=True)
class Result:
    """One training and its mistakes."""

    variant: str
    seed: int
    mistakes: dict[str, list[float]]
    """By simulations a move: the rate in each set."""
    games: int
    positions: int
    evaluations: int
    step: int


def main() -> None:
    """Train what is missing, then print the table."""
    parser = argparse.ArgumentParser(description="Ablations on Connect Four.")
    parser.add_argument("directory", type=Path, help="holds the runs and results.jsonl")
    parser.add_argument("--minutes", type=float, default=4.0, help="CPU-minutes a run")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2, help="trainings at a time")
    parser.add_argument("--positions", type=Path, help="solved positions, instead of the package's")
    parser.add_argument("--only", nargs="*", default=list(VARIANTS), choices=list(VARIANTS), metavar="VARIANT")
    parser.add_argument("--set", action="append", default=[], help="section.name=value, for all variants")
    parser.add_argument("--table", action="store_true", help="print what is there, train nothing")
    asked = parser.parse_args()

    asked.directory.mkdir(parents=True, exist_ok=True)
    path = asked.directory / "results.jsonl"
    results = [Result(**json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []
    if not asked.table:
        sets = load_solved(GAME) if asked.positions is None else parse_solved(GAME, asked.positions.read_text())
        done, lock = {(result.variant, result.seed) for result in results}, threading.Lock()

        def train_and_measure(variant: str, seed: int) -> None:
            run = asked.directory / f"{variant.replace(' ', '-').replace(',', '')}-{seed}"
            train(run, minutes=asked.minutes, seed=seed, settings=[*asked.set, *VARIANTS[variant]])
            result = measure(run, variant, seed, list(sets.values()))
            with lock:
                results.append(result)
                with path.open("a") as file:
                    file.write(json.dumps(asdict(result)) + "\n")
                print(f"{variant}, seed {seed}: {mean_percent(result, 600):.2f} %", flush=True)

        with ThreadPoolExecutor(asked.jobs) as pool:
            # Seed by seed, so that a table can be looked at early.
            tasks = [(name, seed) for seed in range(asked.seeds) for name in asked.only if (name, seed) not in done]
            list(pool.map(lambda task: train_and_measure(*task), tasks))
    print(table(results))


def train(run: Path, *, minutes: float, seed: int, settings: Sequence[str]) -> None:
    """Train in a process of its own, or go on where it stopped."""
    command = [sys.executable, "-m", "zerosum", "train", GAME, "--run", str(run), "--minutes", str(minutes)]
    if not run.exists():
        command += ["--seed", str(seed)]
        command += [part for setting in [*COMMON, *settings] for part in ("--set", setting)]
    with (run.parent / f"{run.name}.log").open("a") as log:
        subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=True)


def measure(run: Path, variant: str, seed: int, sets: Sequence[SolvedSet]) -> Result:
    """Count the mistakes of a run's last checkpoint."""
    player, last = load_player(run, batch_size=64), read_metrics(run / "metrics.csv")[-1]
    return Result(
        variant=variant,
        seed=seed,
        mistakes={
            str(count): [rate.value for rate in mistake_rates(player, sets, num_simulations=count, max_positions=num)]
            for count, num in POSITIONS.items()
        },
        games=last.games,
        positions=last.positions,
        evaluations=last.evaluations,
        step=last.step,
    )


def mean_percent(result: Result, num_simulations: int) -> float:
    """Mistakes of all sets, each counting as much."""
    return 100 * statistics.mean(result.mistakes[str(num_simulations)])


def table(results: Sequence[Result]) -> str:
    """Means over the seeds, and differences to the first variant seed by seed."""
    lines = [
        "| variant | seeds | mistakes at 600 | difference | network alone | games | positions | evaluations |",
        "|---|---|---|---|---|---|---|---|",
    ]
    baseline = next(iter(VARIANTS))
    first = {result.seed: result for result in results if result.variant == baseline}
    for variant in sorted({result.variant for result in results}, key=list(VARIANTS).index):
        own = [result for result in results if result.variant == variant]
        gains = [mean_percent(r, 600) - mean_percent(first[r.seed], 600) for r in own if r.seed in first]
        at = {count: with_error([mean_percent(result, count) for result in own]) for count in POSITIONS}
        difference = "" if variant == baseline or not gains else with_error(gains, sign="+")
        counts = [
            statistics.mean(values)
            for values in zip(*((r.games, r.positions, r.evaluations) for r in own), strict=True)
        ]
        lines.append(
            f"| {variant} | {len(own)} | {at[600]} | {difference} | {at[1]} |"
            f" {counts[0]:,.0f} | {counts[1]:,.0f} | {counts[2] / 1e6:.1f} M |"
        )
    return "\n".join(lines)


def with_error(values: Sequence[float], *, sign: str = "") -> str:
    """Mean and its standard error, which takes two values or more."""
    mean = f"{statistics.mean(values):{sign}.2f}"
    return mean if len(values) < 2 else f"{mean} ± {statistics.stdev(values) / math.sqrt(len(values)):.2f}"


if __name__ == "__main__":
    main()
