"""The cost of self-play itself: plies per second with an evaluator that costs nothing.

`python -m zerosum.bench.selfplay_overhead` is the other side of `_other_process`; `OtherProcess` has the protocol.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from zerosum.base.settings import num_cores
from zerosum.bench.figure import ROUNDS, Figure, median_ratio
from zerosum.bench.other_process import OtherProcess, answer_with, open_module
from zerosum.games import Rules
from zerosum.network.evaluators import UniformEvaluator
from zerosum.replay.game_store import GameStore
from zerosum.run.config import RunConfig, configured_game, new_config
from zerosum.selfplay import SelfplayTask
from zerosum.selfplay.calibration import Busy, Rate, Work
from zerosum.selfplay.worker import SelfplayWorker

SIMULATIONS = (16, 100)
"""Simulations per move, of a fast and of a full search."""
GAMES_A_WORKER = 64


def bench_selfplay_overhead(game: Rules, name: str, seconds: float, overrides: Sequence[str]) -> Iterator[Figure]:
    """Rules, search, choosing and recording moves, and the journal on disk, without a network.

    For 16 and for 100 simulations per move: plies per CPU-second of one thread, and, with several cores, the ratio of
    the plies of two threads, and of two processes, to those of one in the same time. Threads share an interpreter lock.
    All moves are searched in full without a cache, and the evaluator gives all moves the same prior and all positions
    the value 0.
    """
    config = new_config(game, name, overrides=overrides)
    game = configured_game(game, config)
    num_games = config.selfplay.games_per_worker or GAMES_A_WORKER
    has_two = num_cores() > 1
    slice_s = seconds / (ROUNDS * len(SIMULATIONS) * (3 if has_two else 1))
    for num_simulations in SIMULATIONS:
        settings = {"num_simulations": num_simulations, "games_per_worker": num_games}
        request = {"game": str(config.game), "overrides": list(overrides), "num_simulations": num_simulations}
        with _playing(game, config, num_simulations, num_games, num_threads=2) as work, Busy(1) as one, Busy(2) as two:
            if not has_two:
                rates = [one.rate(work, seconds=slice_s).per_cpu_second for _ in range(ROUNDS)]
                yield Figure("selfplay", name, "plies_per_cpu_second", statistics.median(rates), "1/s", settings)
                continue
            two.rate(work, seconds=0)
            with _other_process(request) as first, _other_process(request) as second, ThreadPoolExecutor(2) as pool:

                def together() -> float:
                    rates: Iterator[float] = pool.map(
                        lambda process: process.rate(seconds=slice_s).per_second, (first, second)
                    )
                    return float(sum(rates))

                slices = [
                    (one.rate(work, seconds=slice_s), two.rate(work, seconds=slice_s).per_second, together())
                    for _ in range(ROUNDS)
                ]
        per_cpu_second = statistics.median(alone.per_cpu_second for alone, _, _ in slices)
        yield Figure("selfplay", name, "plies_per_cpu_second", per_cpu_second, "1/s", settings)
        threads = median_ratio((both, alone.per_second) for alone, both, _ in slices)
        yield Figure("selfplay", name, "speed_up_of_two_threads", threads, "", settings)
        processes = median_ratio((both, alone.per_second) for alone, _, both in slices)
        yield Figure("selfplay", name, "speed_up_of_two_processes", processes, "", settings)


@contextmanager
def _playing(
    game: Rules, config: RunConfig, num_simulations: int, num_games: int, *, num_threads: int
) -> Iterator[Work]:
    """Batches of each thread's own worker until a ply is played; returns the number of plies."""
    with tempfile.TemporaryDirectory() as directory:
        store = GameStore(Path(directory), report=lambda _: None)
        task = SelfplayTask(
            game=game,
            search=replace(config.search, num_simulations=num_simulations, cache_positions=0),
            config=replace(config.selfplay, games_per_worker=num_games, full_search_share=1.0, alphabeta_depth=0),
            evaluator=UniformEvaluator(),
            log=store,
            seed=config.training.seed,
            settings_hash="",
        )
        workers = [SelfplayWorker(task) for _ in range(num_threads)]

        def work(thread: int) -> int:
            before = workers[thread].counts.plies
            while (plies := workers[thread].counts.plies - before) == 0:
                workers[thread].play_batch()
            return plies

        yield work
        store.close()


def _other_process(request: dict[str, object]) -> AbstractContextManager[OtherProcess]:
    """A process that plays with one thread."""
    return open_module("zerosum.bench.selfplay_overhead", request)


@contextmanager
def _begun(game: Rules, config: RunConfig, request: dict[str, Any]) -> Iterator[Callable[[float], Rate]]:
    """Self-play of one thread, as the other side measures it."""
    num_games = config.selfplay.games_per_worker or GAMES_A_WORKER
    with _playing(game, config, request["num_simulations"], num_games, num_threads=1) as work, Busy(1) as busy:
        busy.rate(work, seconds=0)
        yield lambda seconds: busy.rate(work, seconds=seconds)


if __name__ == "__main__":
    answer_with(_begun)
