"""The search alone, and beside a peer's."""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from zerosum.bench.figure import ROUNDS, Figure, median_ratio
from zerosum.bench.growth import STATM
from zerosum.bench.other_process import OtherProcess, open_module
from zerosum.bench.peers import SearchWork, open_peer
from zerosum.games import Rules
from zerosum.games.random_play import random_lines, state_of
from zerosum.network.evaluators import UniformEvaluator
from zerosum.run.config import new_config
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer
from zerosum.selfplay.calibration import Rate

NUM_TREES = 256
PEER_BATCH_SIZES = {"openspiel": (1,), "mctx": (1, 128)}
"""Numbers of trees that a peer searches at a time."""


def bench_search(
    game: Rules,
    name: str,
    seconds: float,
    overrides: Sequence[str],
    *,
    vs: str | None = None,
    peer_python: str | None = None,
) -> Iterator[Figure]:
    """The search alone, with equal priors and values: 256 trees of 11 positions on one thread, 800 simulations each.

    Then one tree in a process of its own, up to a million simulations: the growth of the process (on Linux). With
    `vs`, a peer does the same work in alternation; `peer_python` is the interpreter that has it.
    """
    config = new_config(game, name, overrides=["search.num_simulations=800", *overrides]).search
    # No cache, because the search itself is measured.
    searching = _Searching(game, dataclasses.replace(config, reuse_tree=False, cache_positions=0))
    work = SearchWork(searching.lines, config.num_simulations, c_init=config.c_init, solve=config.exact_bounds)
    with ExitStack() as stack:
        peers = dict[int, OtherProcess]()

        def open_with(vs: str, size: int) -> None:
            peers[size] = stack.enter_context(open_peer(vs, game, work, batch_size=size, python=peer_python))

        if vs is not None:
            open_with(vs, 1)  # before any measurement, so that a missing peer is reported at once
        rate = searching.rate(seconds=seconds / 2)
        settings = {"trees": NUM_TREES, "num_simulations": config.num_simulations, "positions": len(searching.lines)}
        yield Figure("search", name, "simulations_per_cpu_second", rate.per_cpu_second, "1/s", settings)
        yield Figure("search", name, "bytes_per_simulation", searching.bytes_per_simulation, "B", settings)
        if STATM.exists():
            yield _growth(name, overrides, seconds=seconds / 2)
        if vs is None:
            return
        for size in PEER_BATCH_SIZES[vs]:
            if size not in peers:
                open_with(vs, size)
            about = {**settings, "peer": peers[size].answer["peer"], "peer_trees": size}
            yield from _compare(searching, peers[size], vs, name, about, seconds=seconds)


def _growth(name: str, overrides: Sequence[str], *, seconds: float) -> Figure:
    """The growth of a process that searches one tree."""
    request = {"game": name, "overrides": list(overrides), "seconds": seconds}
    with open_module("zerosum.bench.growth", request) as process:
        grown = process.answer
    settings = {"trees": 1, "num_simulations": grown["simulations"]}
    value = grown["bytes"] / grown["simulations"]
    return Figure("search", name, "process_bytes_per_simulation", value, "B", settings)


def _compare(
    searching: _Searching, peer: OtherProcess, vs: str, name: str, about: dict[str, object], *, seconds: float
) -> Iterator[Figure]:
    """Alternate slices of both; fewer if one search of the peer takes longer than a slice."""
    slices, slice_s = list[tuple[Rate, Rate]](), seconds / (2 * ROUNDS)
    until = time.perf_counter() + 3 * seconds  # slices are CPU-seconds, which take longer on a busy machine
    while not slices or (len(slices) < ROUNDS and time.perf_counter() < until):
        slices.append((searching.rate(seconds=slice_s), peer.rate(seconds=slice_s)))
    about["rounds"] = len(slices)
    theirs = statistics.median(rate.per_cpu_second for _, rate in slices)
    yield Figure("search", name, f"{vs}_simulations_per_cpu_second", theirs, "1/s", about)
    ratio = median_ratio((ours.per_cpu_second, rate.per_cpu_second) for ours, rate in slices)
    yield Figure("search", name, f"ratio_to_{vs}", ratio, "", about)


class _Searching:
    """This program's search of the positions, in slices of time."""

    def __init__(self, game: Rules, config: SearchConfig) -> None:
        self.lines = [[], *random_lines(game, num=10, seed=0)]
        self.bytes_per_simulation = 0.0
        self._game, self._num_simulations = game, config.num_simulations
        self._search, self._evaluator = new_search(game, config, num_trees=NUM_TREES), UniformEvaluator()

    def rate(self, *, seconds: float) -> Rate:
        """Simulations in about `seconds` CPU-seconds: all trees once or more."""
        search, done, elapsed, cpu_s = self._search, 0, 0.0, 0.0
        while cpu_s < seconds:
            # Made anew for each tree and round, because states of a game in Python remember the moves from them.
            for tree in range(NUM_TREES):
                search.reset(tree, state_of(self._game, self.lines[tree % len(self.lines)]))
            started, cpu_started = time.perf_counter(), time.process_time()
            for tree in range(NUM_TREES):
                search.begin(tree, self._num_simulations)
            while answer(search, self._evaluator, NUM_TREES):
                pass
            elapsed, cpu_s = elapsed + time.perf_counter() - started, cpu_s + time.process_time() - cpu_started
            last = sum(search.root(tree).num_simulations for tree in range(NUM_TREES))
            done, self.bytes_per_simulation = done + last, search.num_bytes / last
        return Rate(done / elapsed, done / cpu_s)
