"""Games a minute of self-play in one process, and on a Ray cluster of this machine with 1, 2 and 4 actors.

    python tools/cluster_overhead.py --seconds 30 --rounds 2

Each figure is of a training of Connect Four that has not begun to learn, over some seconds of play: games that reached
the store, by CPU-minute of all its processes, Ray's included, and by minute of the clock. The kinds take turns. The
clock's figures compare only on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from kill_cluster import LONGEST_WAIT_S, nodes_of_this_machine, processes_under
from zerosum.run.metrics import MetricsRow, read_metrics

KINDS = {"one process": 0, "1 actor": 1, "2 actors": 2, "4 actors": 4}
"""Actors of each kind; 0 is self-play without a cluster."""
NUM_THREADS = 2
TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pids: list[int]) -> float:
    """CPU-seconds of these processes and their descendants so far, with those of ended children."""
    total = 0
    for pid in {found for root in pids for found in processes_under(root)}:
        cells = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += sum(map(int, cells[11:15] if pid in pids else cells[11:13]))
    return total / TICK


@dataclass(frozen=True)
class Figures:
    """What one training has done between two rows of its metrics."""

    games_a_cpu_minute: float
    games_a_minute: float
    evaluations_a_game: float


def measure(kind: str, address: str, *, seconds: float, directory: Path) -> Figures:
    """The figures of one training."""
    actors, run = KINDS[kind], directory / kind.replace(" ", "-")
    words = ["train", "connect4", "--run", str(run), "--minutes", "10000"]
    settings = ["training.min_positions=1000000000", "selfplay.games_per_worker=32", "strength.budget_share=0"]
    settings += [f"selfplay.num_workers={NUM_THREADS}"]
    if actors:
        words += ["--cluster", address]
        settings += [f"cluster.num_actors={actors}", f"cluster.cpus_per_actor={max(1, NUM_THREADS // actors)}"]
    words += [word for text in settings for word in ("--set", text)]
    process = subprocess.Popen([sys.executable, "-m", "zerosum", *words], stdout=subprocess.DEVNULL)
    # Ray's own processes are children of this one.
    roots = [process.pid] if not actors else [os.getpid()]
    try:
        first = _next_row(run, 200)
        before, started = cpu_seconds(roots), time.monotonic()
        while time.monotonic() < started + seconds:
            time.sleep(0.05)
        last = _next_row(run, first.games + 1)
        games, passed = last.games - first.games, time.monotonic() - started
        return Figures(
            games_a_cpu_minute=60 * games / (cpu_seconds(roots) - before),
            games_a_minute=60 * games / passed,
            evaluations_a_game=(last.evaluations - first.evaluations) / games,
        )
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def _next_row(run: Path, games: int) -> MetricsRow:
    """The next row that the training writes, once it has so many games."""
    until, known = time.monotonic() + LONGEST_WAIT_S, len(read_metrics(run / "metrics.csv"))
    while time.monotonic() < until:
        rows = read_metrics(run / "metrics.csv")
        if len(rows) > known and rows[-1].games >= games:
            return rows[-1]
        time.sleep(0.02)
    raise TimeoutError(f"no games in {run}")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Compare self-play in one process with actors of a cluster.")
    parser.add_argument("--seconds", type=float, default=30.0, help="seconds of play for each figure (30)")
    parser.add_argument("--rounds", type=int, default=2, help="figures of each kind (2)")
    arguments = parser.parse_args()
    for number in range(arguments.rounds):
        for kind in KINDS:
            with (
                tempfile.TemporaryDirectory(prefix="overhead-") as directory,
                nodes_of_this_machine(num_cpus=4, num_nodes=0) as cluster,
            ):
                found = measure(kind, cluster.address, seconds=arguments.seconds, directory=Path(directory))
            print(
                f"round {number + 1}, {kind}: {found.games_a_cpu_minute:,.0f} games a CPU-minute,"
                f" {found.games_a_minute:,.0f} a minute, {found.evaluations_a_game:.0f} evaluations a game",
                flush=True,
            )


if __name__ == "__main__":
    main()
