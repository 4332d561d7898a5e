"""Every figure of speed that is claimed, measured: `zerosum bench rules | search | evaluator | selfplay | train`.

A bench answers `Figure`s, which print as JSON lines. Machines are shared and their clocks lie: so there are figures per
CPU-second (of all threads of the process), and what is compared is measured in alternating slices of one call.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zerosum.backends import evaluates_on_gpu, make_evaluator
from zerosum.calibration import BATCH_SIZES, Busy, Rate, evaluating, measure_rates
from zerosum.checkpoint import Checkpoint, CheckpointInfo
from zerosum.config import RunConfig, changed, game_name, new_config
from zerosum.errors import SettingsError, nearest
from zerosum.evaluator import Evaluations, Evaluator, NetworkEvaluator, UniformEvaluator, answer
from zerosum.game_store import GameStore
from zerosum.games import Leaves, Rules, make
from zerosum.metrics import read_metrics
from zerosum.network import initial_weights
from zerosum.random_play import random_leaves, random_lines, state_of
from zerosum.run import network_shape, train
from zerosum.search import new_search
from zerosum.selfplay import SelfplayTask
from zerosum.selfplay_processes import SelfplayProcesses
from zerosum.settings import num_cores
from zerosum.workers import choose_games, new_selfplay, num_selfplay_workers, plays_in_processes

ROUNDS = 5
"""Slices of each of the things that are measured in turns."""


@dataclass(frozen=True)
class Figure:
    """One measured number."""

    bench: str
    game: str
    metric: str
    value: float
    unit: str
    settings: dict[str, Any] = field(default_factory=dict)

    def json(self) -> str:
        """One line."""
        return json.dumps(dataclasses.asdict(self))

    def __str__(self) -> str:
        settings = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        value = f"{self.value:,.3f}" if self.value >= 0.001 else f"{self.value:.3g}"
        return f"{self.bench:<10} {self.metric:<32} {value:>14} {self.unit:<4} ({settings})"


def run_bench(name: str, game: str, *, seconds: float = 5.0, overrides: Sequence[str] = ()) -> Iterator[Figure]:
    """Measure for about so many seconds, with settings as a new run has them but for `overrides` (section.name=value).

    Raises:
        SettingsError: there is no bench of this name, or no such setting.
    """
    benches = {
        "rules": bench_rules,
        "search": bench_search,
        "evaluator": bench_evaluator,
        "selfplay": bench_selfplay,
        "train": bench_train,
    }
    if name not in benches:
        raise SettingsError(f"unknown bench {name!r}: {nearest(name, benches)}.")
    yield from benches[name](make(game), game, seconds, overrides)


def bench_rules(game: Rules, name: str, seconds: float, overrides: Sequence[str]) -> Iterator[Figure]:
    """The rules alone, on one thread: random games, lines of play counted from the start, and planes written.

    A ply of a random game costs what it costs a search: a copy of the state, a move, the outcome and the legal moves.
    No setting matters here.
    """
    if overrides:
        raise SettingsError(f"the bench of rules has no settings, and got {', '.join(overrides)}.")
    seeds, states = itertools.count(), [state_of(game, line) for line in random_lines(game, num=256, seed=0)]
    start, depth = game.initial_state(), _perft_depth(game, seconds / (10 * ROUNDS))
    num_nodes = game.perft(start, depth)

    def play(times: int) -> None:
        game.random_plies(1000 * times, next(seeds))

    def count(times: int) -> None:
        for _ in range(times):
            game.perft(start, depth)

    slice_s = seconds / (3 * ROUNDS)
    works = (play, count, lambda times: game.encode_again(states, times))
    repeats = [_repeats(work, slice_s) for work in works]
    rounds = [
        [_cpu_seconds(work, times) / times for work, times in zip(works, repeats, strict=True)] for _ in range(ROUNDS)
    ]
    play_s, count_s, encode_s = (statistics.median(column) for column in zip(*rounds, strict=True))
    yield Figure("rules", name, "plies_per_cpu_second", 1000 / play_s, "1/s")
    about = {"depth": depth, "nodes": num_nodes}
    yield Figure("rules", name, "perft_nodes_per_cpu_second", num_nodes / count_s, "1/s", about)
    about = {"positions": len(states), "planes": len(game.spec.planes)}
    yield Figure("rules", name, "encode_seconds", encode_s / len(states), "s", about)


def _cpu_seconds(work: Callable[[int], None], times: int) -> float:
    started = time.process_time()
    work(times)
    return time.process_time() - started


def _repeats(work: Callable[[int], None], seconds: float) -> int:
    """How often to do some work so that it takes about so long: once, if it takes longer."""
    times = 1
    while (taken := _cpu_seconds(work, times)) < seconds / 4:
        times *= 2
    return max(1, round(times * seconds / taken))


def _perft_depth(game: Rules, seconds: float) -> int:
    """The greatest depth whose lines from the start are counted in about so long; less where all games are over."""
    start, depth, num_nodes = game.initial_state(), 1, game.perft(game.initial_state(), 1)
    while True:
        begun = time.process_time()
        deeper = game.perft(start, depth + 1)
        taken = time.process_time() - begun
        if deeper == 0:
            return depth
        depth, growth, num_nodes = depth + 1, deeper / num_nodes, deeper
        if taken * growth > seconds:
            return depth


def bench_search(game: Rules, name: str, seconds: float, overrides: Sequence[str]) -> Iterator[Figure]:
    """The search alone, with equal priors and values: 256 trees of 11 positions on one thread, 800 simulations each."""
    num_trees, num_simulations = 256, 800
    config = new_config(game, name, overrides=overrides).search
    # Every position is asked about: what is measured is the search, not what it remembers.
    config = dataclasses.replace(config, reuse_tree=False, cache_positions=0)
    search, evaluator = new_search(game, config, num_trees=num_trees), UniformEvaluator()
    lines = [[], *random_lines(game, num=10, seed=0)]
    done = last_round = num_bytes = 0
    cpu_seconds = 0.0
    while cpu_seconds < seconds:
        # Made anew for each tree and round: the states of a game in Python remember what was played from them.
        for tree in range(num_trees):
            search.reset(tree, state_of(game, lines[tree % len(lines)]))
        started = time.process_time()
        for tree in range(num_trees):
            search.begin(tree, num_simulations)
        while answer(search, evaluator, num_trees):
            pass
        cpu_seconds += time.process_time() - started
        last_round = sum(search.root(tree).num_simulations for tree in range(num_trees))
        done, num_bytes = done + last_round, search.num_bytes
    settings = {"trees": num_trees, "num_simulations": num_simulations, "positions": len(lines)}
    yield Figure("search", name, "simulations_per_cpu_second", done / cpu_seconds, "1/s", settings)
    yield Figure("search", name, "bytes_per_simulation", num_bytes / last_round, "B", settings)


def bench_evaluator(game: Rules, name: str, seconds: float, overrides: Sequence[str]) -> Iterator[Figure]:
    """The network alone, one thread a core, at several batch sizes; and what all cores give over one."""
    config = new_config(game, name, overrides=overrides)
    threads, slice_s = num_selfplay_workers(config), seconds / (2 * ROUNDS * len(BATCH_SIZES))
    evaluators = {size: _evaluator(game, config, size) for size in BATCH_SIZES}
    work = {size: evaluating(evaluators[size], random_leaves(game, size)) for size in BATCH_SIZES}
    settings = {**_network_settings(config), "evaluator": evaluators[16].description, "threads": threads}
    with Busy(threads) as all_cores, Busy(1) as one_core:
        for size in BATCH_SIZES:
            all_cores.rate(work[size], seconds=0)  # the first evaluation of a thread makes what it needs
        rounds = [{size: all_cores.rate(work[size], seconds=slice_s) for size in BATCH_SIZES} for _ in range(ROUNDS)]
        per_second = {size: statistics.median(rates[size].per_second for rates in rounds) for size in BATCH_SIZES}
        best = max(per_second, key=per_second.__getitem__)
        for size in BATCH_SIZES:
            at = {**settings, "batch_size": size, "is_best": size == best}
            per_cpu_second = statistics.median(rates[size].per_cpu_second for rates in rounds)
            yield Figure("evaluator", name, "evaluations_per_second", per_second[size], "1/s", at)
            yield Figure("evaluator", name, "evaluations_per_cpu_second", per_cpu_second, "1/s", at)
        slice_s = seconds / (4 * ROUNDS)
        one_core.rate(work[best], seconds=0)
        efficiency = _median_ratio(
            (busy.rate(work[best], seconds=slice_s).per_cpu_second for busy in (all_cores, one_core))
            for _ in range(ROUNDS)
        )
    yield Figure("evaluator", name, "core_efficiency", efficiency, "", {**settings, "batch_size": best})


def bench_selfplay(game: Rules, name: str, seconds: float, overrides: Sequence[str]) -> Iterator[Figure]:
    """Self-play with an untrained network, in turns with the evaluator alone, at its best batch size on the same cores.

    Only positions that the network was asked about count: no empty rows of a batch, no results of the rules.
    """
    config = new_config(game, game_name(name), overrides=overrides)
    workers = num_selfplay_workers(config)
    with tempfile.TemporaryDirectory() as directory:
        num_games, _ = choose_games(Path(directory), game, _checkpoint(game, config, seed=0), config, report=print)
    config = changed(config, {"selfplay": {"games_per_worker": num_games}})
    work = {size: evaluating(_evaluator(game, config, size), random_leaves(game, size)) for size in BATCH_SIZES}
    rates = measure_rates(work.__getitem__, num_threads=workers, on_gpu=_on_gpu(config))
    best = max(rates, key=rates.__getitem__)
    alone = work[best]
    with Busy(workers) as busy, _Playing(game, config) as playing:
        busy.rate(alone, seconds=0)
        playing.warm_up()
        slices = [(busy.rate(alone, seconds=seconds / 20), playing.rates(seconds=seconds / 20)) for _ in range(ROUNDS)]
        stalls = [] if plays_in_processes(config, game) else playing.stalls(seconds=seconds / 4)
    settings = {
        **_network_settings(config),
        "workers": f"{workers} {'processes' if plays_in_processes(config, game) else 'threads'}",
        "games_per_worker": num_games,
        "num_simulations": config.search.num_simulations,
        "full_search_share": config.selfplay.full_search_share,
    }
    for metric, value in (
        ("evaluations_per_second", statistics.median(played.evaluations.per_second for _, played in slices)),
        ("evaluations_per_cpu_second", statistics.median(played.evaluations.per_cpu_second for _, played in slices)),
        ("positions_per_second", statistics.median(played.plies.per_second for _, played in slices)),
    ):
        yield Figure("selfplay", name, metric, value, "1/s", settings)
    about = {
        "evaluator_batch_size": best,
        "per_cpu_second": _median_ratio(
            (played.evaluations.per_cpu_second, rate.per_cpu_second) for rate, played in slices
        ),
    }
    share = _median_ratio((played.evaluations.per_second, rate.per_second) for rate, played in slices)
    yield Figure("selfplay", name, "share_of_evaluator", share, "", settings | about)
    if stalls:
        with_update, without = (sorted(1000 * seconds for seconds in column) for column in zip(*stalls, strict=True))
        about = {"updates": len(stalls), "worst": with_update[-1], "without_an_update": statistics.median(without)}
        yield Figure("selfplay", name, "swap_stall_ms", statistics.median(with_update), "ms", settings | about)


@dataclass(frozen=True)
class _Played:
    """What self-play did in a slice of time."""

    evaluations: Rate
    plies: Rate


class _Timed:
    """An evaluator that notes when each thread had its answers."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self.times: defaultdict[int, list[float]] = defaultdict(list)

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """As the evaluator's own."""
        evaluations = self._evaluator.evaluate(leaves)
        self.times[threading.get_ident()].append(time.perf_counter())
        return evaluations


class _Playing:
    """A run's self-play, without the learning, that waits but for the slices of time in which it is measured."""

    def __init__(self, game: Rules, config: RunConfig) -> None:
        self._directory = tempfile.TemporaryDirectory()
        self._store = GameStore(Path(self._directory.name) / "games", report=lambda _: None)
        assert config.selfplay.games_per_worker is not None
        self._evaluator = _evaluator(game, config, config.selfplay.games_per_worker)
        self._timed = _Timed(self._evaluator)
        self._checkpoints = itertools.cycle([_checkpoint(game, config, seed=seed) for seed in range(2)])
        task = SelfplayTask(
            game=game,
            search=config.search,
            config=config.selfplay,
            evaluator=self._timed,
            log=self._store,
            seed=0,
            settings_hash=config.selfplay_hash,
        )
        self._selfplay = new_selfplay(task, next(self._checkpoints), config)
        self._num_games = config.selfplay.games_per_worker * num_selfplay_workers(config)
        self._is_paused, self._is_over = True, threading.Event()
        self._pool = ThreadPoolExecutor(1)
        self._playing = self._pool.submit(
            self._selfplay.play, self._is_over.is_set, lambda _: None, is_paused=lambda: self._is_paused
        )

    def __enter__(self) -> _Playing:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._pool.shutdown()
        self._store.close()
        self._directory.cleanup()

    def warm_up(self) -> None:
        """Let it play until every worker is under way."""
        with self._let_go():
            while self._selfplay.counts.plies < self._num_games:
                self._wait(0.01)

    def rates(self, *, seconds: float) -> _Played:
        """Let it play for so long, and then until it waits again."""
        with self._let_go():
            before, cpu_before, started = self._selfplay.counts, self._cpu_s(), time.perf_counter()
            self._wait(seconds)
            after, cpu_s, elapsed = self._selfplay.counts, self._cpu_s() - cpu_before, time.perf_counter() - started
        evaluations, plies = after.evaluations - before.evaluations, after.plies - before.plies
        return _Played(Rate(evaluations / elapsed, evaluations / cpu_s), Rate(plies / elapsed, plies / cpu_s))

    def stalls(self, *, seconds: float) -> list[tuple[float, float]]:
        """Bring new networks for so long, once or more.

        Returns of each by how many seconds the longest time between two evaluations of a thread was above the usual
        one: around the change, and in an equal time without one.
        """
        spans, until = list[tuple[float, float]](), time.perf_counter() + seconds
        with self._let_go():
            while not spans or time.perf_counter() < until:
                begun = time.perf_counter()
                self._evaluator.update(next(self._checkpoints))
                spans.append((begun, time.perf_counter()))
                self._wait(0.1 + 2 * (spans[-1][1] - begun))
            self._wait(0.1)
        gaps = [gap for times in self._timed.times.values() for gap in itertools.pairwise(times)]
        usual = statistics.median(after - before for before, after in gaps)

        def longest(begin: float, end: float) -> float:
            """Of the times between two evaluations that fall into this time, or overlap it."""
            return (
                max((after - before for before, after in gaps if before < end and after > begin), default=0.0) - usual
            )

        # A thread meets the new network at its next evaluation, after the one under way.
        changes = [(begun, ended + 2 * usual) for begun, ended in spans]
        return [(longest(begin, end), longest(end, 2 * end - begin)) for begin, end in changes]

    @contextlib.contextmanager
    def _let_go(self) -> Iterator[None]:
        before, self._is_paused = self._selfplay.counts, False
        while self._selfplay.counts == before:
            self._wait(0.005)
        self._wait(0.02)  # within which every worker has looked whether it may play
        yield
        self._is_paused = True
        while before != self._selfplay.counts:
            before = self._selfplay.counts
            self._wait(0.2)

    def _wait(self, seconds: float) -> None:
        """Sleep, unless self-play has failed: then its error is raised."""
        with contextlib.suppress(TimeoutError):
            self._playing.result(timeout=seconds)

    def _cpu_s(self) -> float:
        """CPU-seconds of this process and of the workers, if they are others."""
        workers = self._selfplay.cpu_s if isinstance(self._selfplay, SelfplayProcesses) else 0.0
        return time.process_time() + workers


def bench_train(game: Rules, name: str, seconds: float, overrides: Sequence[str]) -> Iterator[Figure]:
    """The whole loop, from nothing: what it evaluates, records and learns a second."""
    with tempfile.TemporaryDirectory() as directory:
        run = Path(directory) / "run"
        # Measuring the player would take the longer part of so short a run.
        early = ["training.min_positions=256", "strength.solved_positions=0", *overrides]
        train(name, run, minutes=seconds / 60, overrides=early, report=lambda _: None)
        last = read_metrics(run / "metrics.csv")[-1]
    config = new_config(game, name, minutes=seconds / 60, overrides=overrides)
    settings = {**_network_settings(config), "batch_size": config.learner.batch_size, "seconds": seconds}
    elapsed = 60 * last.minutes
    figures = {
        "evaluations_per_second": last.evaluations / elapsed,
        "positions_per_second": last.positions / elapsed,
        "samples_per_second": last.step * config.learner.batch_size / elapsed,
    }
    for metric, value in figures.items():
        yield Figure("train", name, metric, value, "1/s", settings)


def _checkpoint(game: Rules, config: RunConfig, *, seed: int) -> Checkpoint:
    info = CheckpointInfo.describe(game.spec, config.network, step=0)
    return Checkpoint(info=info, weights=initial_weights(config.network, network_shape(game), seed=seed))


def _evaluator(game: Rules, config: RunConfig, batch_size: int) -> NetworkEvaluator:
    return make_evaluator(
        _checkpoint(game, config, seed=0),
        backend=config.training.backend,
        device=config.training.device,
        precision=config.training.precision,
        num_threads=num_selfplay_workers(config),
        batch_size=batch_size,
    )


def _median_ratio(pairs: Iterable[Iterable[float]]) -> float:
    """Of each pair, measured one after the other, the first over the second; the median of all."""
    return statistics.median(one / other for one, other in pairs)


def _on_gpu(config: RunConfig) -> bool:
    return evaluates_on_gpu(config.training.backend, config.training.device)


def _network_settings(config: RunConfig) -> dict[str, Any]:
    return {"network": f"{config.network.num_blocks}x{config.network.num_filters}", "cores": num_cores()}
