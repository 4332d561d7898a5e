"""The batches of one tree: how full they are, and how fast the core makes them."""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from zerosum._core import Leaves
from zerosum.base.settings import num_cores
from zerosum.bench.figure import ROUNDS, Figure, median_ratio
from zerosum.bench.trained_like import TOP_PRIORS, VALUE_SPREAD, TrainedLikeEvaluator
from zerosum.games import Rules, State
from zerosum.games.random_play import random_lines, state_of
from zerosum.run.config import new_config
from zerosum.search import SearchConfig, new_search

NUM_BATCHES, LEAVES_A_BATCH = 2, 128
"""Batches in flight, and leaves of each."""
NUM_SIMULATIONS = 20_000


def bench_batches(game: Rules, name: str, seconds: float, overrides: Sequence[str]) -> Iterator[Figure]:
    """One tree with two batches of 128 leaves in flight, judged by `TrainedLikeEvaluator`, whose time does not count.

    20,000 simulations of the start position and of four of random games, once or more as the time allows, with 1, 2, 4
    and so on threads in turns, up to one a core. Speed is that of `gather` and `apply`; per CPU-second those of all
    threads count.
    """
    leaves = NUM_BATCHES * LEAVES_A_BATCH
    ours = [f"search.leaves_in_flight={leaves}", f"search.batches_in_flight={NUM_BATCHES}"]
    ours += [f"search.num_simulations={NUM_SIMULATIONS}"]
    config = new_config(game, name, overrides=[*ours, *overrides]).search
    config = dataclasses.replace(config, cache_positions=0, root_selection="puct")
    states = [state_of(game, line) for line in ([], *random_lines(game, num=ROUNDS - 1, seed=0))]
    num_threads = [1 << power for power in range(num_cores().bit_length())]
    started, grown = time.perf_counter(), list[list[_Grown]]()
    while not grown or time.perf_counter() - started < seconds:
        grown += [[_grow(game, config, state, threads=threads) for threads in num_threads] for state in states]
    settings: dict[str, Any] = {"batches_in_flight": config.num_batches, "leaves_a_batch": config.leaves_a_batch}
    settings |= {"num_simulations": config.num_simulations, "positions": len(states)}
    settings |= {"top_priors": "-".join(map(str, TOP_PRIORS)), "value_spread": VALUE_SPREAD}
    alone = [of_state[0] for of_state in grown]
    yield Figure("batches", name, "batch_fill", statistics.median(each.fill for each in alone), "", settings)
    yield Figure("batches", name, "least_batch_fill", min(each.fill for each in alone), "", settings)
    collisions = statistics.median(each.collisions_per_leaf for each in alone)
    yield Figure("batches", name, "collisions_per_leaf", collisions, "", settings)
    for threads, found in zip(num_threads, zip(*grown, strict=True), strict=True):
        about = {"threads": threads, **settings}
        per_second = statistics.median(each.leaves_per_second for each in found)
        per_cpu_second = statistics.median(each.leaves_per_cpu_second for each in found)
        yield Figure("batches", name, "leaves_per_second", per_second, "1/s", about)
        yield Figure("batches", name, "leaves_per_cpu_second", per_cpu_second, "1/s", about)
        per_caller_second = statistics.median(each.leaves_per_caller_cpu_second for each in found)
        yield Figure("batches", name, "leaves_per_caller_cpu_second", per_caller_second, "1/s", about)
        if threads > 1:
            pairs = zip(found, alone, strict=True)
            speed_up = median_ratio((several.leaves_per_second, one.leaves_per_second) for several, one in pairs)
            yield Figure("batches", name, "speed_up", speed_up, "", about)


@dataclass(frozen=True)
class _Grown:
    """The measurements of the search of one position."""

    fill: float
    """Mean fill of a batch, without the root's batch of one."""
    collisions_per_leaf: float
    leaves_per_second: float
    leaves_per_cpu_second: float
    leaves_per_caller_cpu_second: float
    """By the CPU time of the calling thread alone: its speed where each thread has a core of its own."""


class _Stopwatch:
    """Time spent in its context: by the clock, of all threads of the process, and of the calling thread."""

    def __init__(self) -> None:
        self.seconds, self.cpu_s, self.caller_cpu_s = 0.0, 0.0, 0.0

    def __enter__(self) -> None:
        self._started = time.perf_counter(), time.process_time(), time.thread_time()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._started[0]
        self.cpu_s += time.process_time() - self._started[1]
        self.caller_cpu_s += time.thread_time() - self._started[2]


def _grow(game: Rules, config: SearchConfig, state: State, *, threads: int) -> _Grown:
    """One search of a position."""
    search = new_search(game, dataclasses.replace(config, threads=threads))
    evaluator, watch = TrainedLikeEvaluator(), _Stopwatch()
    search.reset(0, state)
    search.begin(0, config.num_simulations)
    under_way, sizes = deque[Leaves](), list[int]()
    while True:
        while len(under_way) < config.num_batches:
            with watch:
                leaves = search.gather(config.leaves_a_batch)
            if len(leaves):
                under_way.append(leaves)
                sizes.append(len(leaves))
            elif under_way or not leaves.budget_spent:
                break
        if not under_way:
            break
        evaluations = evaluator.evaluate(leaves := under_way.popleft())
        assert leaves.ticket is not None
        with watch:
            search.apply(leaves.ticket, evaluations.logits, evaluations.values)
    return _Grown(
        fill=statistics.fmean(sizes[1:] or sizes) / config.leaves_a_batch,
        collisions_per_leaf=search.num_collisions / search.num_leaves,
        leaves_per_second=search.num_leaves / watch.seconds,
        leaves_per_cpu_second=search.num_leaves / watch.cpu_s,
        leaves_per_caller_cpu_second=search.num_leaves / watch.caller_cpu_s,
    )
