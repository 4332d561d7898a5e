"""The cost of self-play itself: plies per second with an evaluator that costs nothing."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from zerosum.base.settings import num_cores
from zerosum.bench.figure import ROUNDS, Figure, median_ratio
from zerosum.evaluators import UniformEvaluator
from zerosum.games import Rules
from zerosum.replay.game_store import GameStore
from zerosum.run.config import game_name, new_config
from zerosum.selfplay import SelfplayTask
from zerosum.selfplay.calibration import Busy, Work
from zerosum.selfplay.worker import SelfplayWorker

SIMULATIONS = (16, 100)
"""Simulations per move, of a fast and of a full search."""
GAMES_A_WORKER = 64


def bench_selfplay_overhead(game: Rules, name: str, seconds: float, overrides: Sequence[str]) -> Iterator[Figure]:
    """Rules, search, choosing and recording moves, and the journal on disk, without a network.

    For 16 and for 100 simulations per move: plies per CPU-second of one thread, and, with several cores, the ratio of
    the plies of two threads to those of one in the same time. All moves are searched in full without a cache, and the
    evaluator gives all moves the same prior and all positions the value 0.
    """
    config = new_config(game, game_name(name), overrides=overrides)
    num_games = config.selfplay.games_per_worker or GAMES_A_WORKER
    num_threads = (1, 2) if num_cores() > 1 else (1,)
    slice_s = seconds / (ROUNDS * len(SIMULATIONS) * len(num_threads))
    for num_simulations in SIMULATIONS:
        search = replace(config.search, num_simulations=num_simulations, cache_positions=0)
        selfplay = replace(config.selfplay, games_per_worker=num_games, full_search_share=1.0)
        settings = {"num_simulations": num_simulations, "games_per_worker": num_games}
        with tempfile.TemporaryDirectory() as directory, Busy(1) as one, Busy(2) as two:
            store = GameStore(Path(directory), report=lambda _: None)
            task = SelfplayTask(
                game=game,
                search=search,
                config=selfplay,
                evaluator=UniformEvaluator(),
                log=store,
                seed=config.training.seed,
                settings_hash="",
            )
            works = {threads: _playing(task, threads) for threads in num_threads}
            busy = {1: one, 2: two}
            for threads, work in works.items():
                busy[threads].rate(work, seconds=0)
            slices = [
                {threads: busy[threads].rate(work, seconds=slice_s) for threads, work in works.items()}
                for _ in range(ROUNDS)
            ]
            store.close()
        rates = sorted(rates[1].per_cpu_second for rates in slices)
        yield Figure("selfplay", name, "plies_per_cpu_second", rates[len(rates) // 2], "1/s", settings)
        if len(num_threads) > 1:
            ratio = median_ratio((rates[2].per_second, rates[1].per_second) for rates in slices)
            yield Figure("selfplay", name, "speed_up_of_two_threads", ratio, "", settings)


def _playing(task: SelfplayTask, num_threads: int) -> Work:
    """A batch of each thread's own worker; returns the number of plies."""
    workers = [SelfplayWorker(task) for _ in range(num_threads)]

    def work(thread: int) -> int:
        before = workers[thread].counts.plies
        workers[thread].play_batch()
        return workers[thread].counts.plies - before

    return work
