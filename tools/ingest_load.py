"""A thousand simulated actors deliver recorded games to the real ingest, over the real store.

    python tools/ingest_load.py --senders 1000 --seconds 60

Plays some hundred games of Connect Four with random moves once, and delivers copies of them with the numbers that the
ingest leases: each sender seals its block of games in turn, and the ingest opens and checks it, and writes its games to
the journal and to shards, and to a window. Prints a line every ten seconds and a summary: games a minute by the wall
clock and by CPU-minute of the ingest (sealing is the senders' work and not counted), the time of each part, and the
memory of the process.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from zerosum.cluster import ingest as ingest_module
from zerosum.cluster.blocks import Block, seal
from zerosum.cluster.ingest import Ingest
from zerosum.cluster.verification import fault_by_rules
from zerosum.games import make
from zerosum.network.evaluators import UniformEvaluator
from zerosum.replay import GameRecord, ReplayConfig, ReplayWindow
from zerosum.replay.game_store import GameStore
from zerosum.search import SearchConfig
from zerosum.selfplay import MemoryLog, SelfplayConfig, SelfplayTask, SelfplayWorker

GAMES_PER_BLOCK = 8
NUM_RECORDED = 256


def recorded_games(game: str) -> list[GameRecord]:
    """Games of a small search without a network."""
    task = SelfplayTask(
        game=make(game),
        search=SearchConfig(num_simulations=16),
        config=SelfplayConfig(games_per_worker=64, full_search_share=0.25),
        evaluator=UniformEvaluator(),
        log=MemoryLog(),
        seed=0,
        settings_hash="",
    )
    worker, games = SelfplayWorker(task), list[GameRecord]()
    while len(games) < NUM_RECORDED:
        games += worker.play_batch()
    return games


def resident_mib() -> float:
    """Memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


class Parts:
    """CPU-seconds of the ingest's parts."""

    def __init__(self) -> None:
        """No part has run."""
        self.seconds: Counter[str] = Counter()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count this thread's CPU time for a part."""
        started = time.thread_time()
        try:
            yield
        finally:
            self.seconds[name] += time.thread_time() - started  # type: ignore[assignment]

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, counted as a part."""

        def counted(*arguments: Any, **named: Any) -> Any:
            with self.part(name):
                return function(*arguments, **named)

        return counted


def load(game: str, *, senders: int, seconds: float, directory: Path) -> dict[str, float]:
    """Deliver for so many seconds. Returns the figures."""
    games, rules, parts = recorded_games(game), make(game), Parts()
    store = GameStore(directory / "games", report=print)
    window = ReplayWindow(ReplayConfig())
    ingest = Ingest(
        store,
        rules,
        training="load",
        settings_hash="",
        seed=0,
        max_staleness=100,
        learner_step=lambda: 0,
        highest_step=lambda: 0,
        take=parts.timed("window", window.add),
    )
    for owner, name, part in ((ingest_module, "opened", "open and parse"), (store, "take_games", "journal and shards")):
        setattr(owner, name, parts.timed(part, getattr(owner, name)))
    names = [f"host/{number}" for number in range(senders)]
    numbers = dict.fromkeys(names, 0)
    for name in names:
        ingest.register(name)
    generator, memory = np.random.default_rng(0), [resident_mib()]
    started, cpu, sealing, said = time.monotonic(), time.process_time(), 0.0, time.monotonic()
    while time.monotonic() < started + seconds:
        name = names[generator.integers(senders)]
        before = time.thread_time()
        lease = ingest.lease(name, GAMES_PER_BLOCK)
        drawn = [games[number] for number in generator.integers(len(games), size=len(lease))]
        copies = [dataclasses.replace(game, game_id=number) for game, number in zip(drawn, lease, strict=True)]
        numbers[name] += 1
        block = seal(Block(training="load", sender=name, number=numbers[name], games=copies))
        sealing += time.thread_time() - before
        receipt = ingest.offer(name, block)
        assert receipt.num_games == len(copies), receipt
        if time.monotonic() - said >= 10:
            said = time.monotonic()
            memory.append(resident_mib())
            print(f"  {ingest.num_games:,} games, {memory[-1]:.0f} MiB")
    elapsed, used = time.monotonic() - started, time.process_time() - cpu - sealing
    store.close()
    assert store.num_games == ingest.num_games
    before = time.thread_time()
    assert not any(fault_by_rules(rules, record) for record in games)
    by_rules = (time.thread_time() - before) / len(games)
    return {
        "games": ingest.num_games,
        "mean_plies": round(float(np.mean([record.num_plies for record in games])), 1),
        "games_per_minute_wall": round(60 * ingest.num_games / elapsed),
        "games_per_cpu_minute": round(60 * ingest.num_games / used),
        "games_per_cpu_minute_with_rules": round(60 / (used / ingest.num_games + by_rules)),
        **{f"share_of_{name}": round(value / used, 3) for name, value in parts.seconds.items()},
        "mib_after_10_s": round(memory[1] if len(memory) > 1 else memory[0]),
        "mib_at_the_end": round(resident_mib()),
        "mib_on_disk": round(sum(path.stat().st_size for path in (directory / "games").iterdir()) / (1 << 20), 1),
    }


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Measure the ingest of a cluster's games with many senders.")
    parser.add_argument("--game", default="connect4", help="the game (connect4)")
    parser.add_argument("--senders", type=int, default=1000, help="number of simulated actors (1000)")
    parser.add_argument("--seconds", type=float, default=60.0, help="seconds of delivery (60)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ingest-load-") as directory:
        figures = load(arguments.game, senders=arguments.senders, seconds=arguments.seconds, directory=Path(directory))
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
