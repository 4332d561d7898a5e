"""Every figure of speed that is claimed, measured: `zerosum bench search | evaluator | selfplay | train`.

A bench answers `Figure`s, which print as JSON lines. Machines are shared and their clocks lie: so there are figures per
CPU-second (of all threads of the process), and what is compared is measured in alternating slices of one call.
"""

from __future__ import annotations

import dataclasses
import json
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zerosum._core import Leaves
from zerosum.checkpoint import Checkpoint, CheckpointInfo
from zerosum.config import RunConfig, new_config
from zerosum.errors import SettingsError, nearest
from zerosum.evaluator import Evaluator, UniformEvaluator, answer, make_evaluator
from zerosum.game_store import GameStore
from zerosum.games import Rules, State, make
from zerosum.metrics import read_metrics
from zerosum.network import initial_weights
from zerosum.run import network_shape, num_selfplay_workers, train
from zerosum.search import new_search
from zerosum.selfplay import SelfplayTask, SelfplayWorker
from zerosum.settings import num_cores

BATCH_SIZES = (16, 32, 64, 128, 256)


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
        return f"{self.bench:<10} {self.metric:<32} {self.value:>14,.3f} {self.unit:<4} ({settings})"


def run_bench(name: str, game: str, *, seconds: float = 5.0) -> Iterator[Figure]:
    """Measure for about so many seconds.

    Raises:
        SettingsError: there is no bench of this name.
    """
    benches = {"search": bench_search, "evaluator": bench_evaluator, "selfplay": bench_selfplay, "train": bench_train}
    if name not in benches:
        raise SettingsError(f"unknown bench {name!r}: {nearest(name, benches)}.")
    yield from benches[name](make(game), game, seconds)


def bench_search(game: Rules, name: str, seconds: float) -> Iterator[Figure]:
    """The search alone, with equal priors and values: 256 trees of 11 positions on one thread, 800 simulations each."""
    num_trees, num_simulations = 256, 800
    config = dataclasses.replace(new_config(game, name).search, reuse_tree=False)
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


def bench_evaluator(game: Rules, name: str, seconds: float) -> Iterator[Figure]:
    """The network alone, one thread a core, at several batch sizes; and what all cores give over one."""
    config, slice_s = new_config(game, name), seconds / (2 * len(BATCH_SIZES))
    threads = num_selfplay_workers(config)
    rates: dict[int, tuple[float, float]] = {}
    for batch_size in BATCH_SIZES:
        evaluator, leaves = _evaluator(game, config, threads, batch_size), _leaves(game, batch_size)
        rates[batch_size] = _rate(_evaluate(evaluator, leaves), threads, slice_s)
    best = max(rates, key=lambda batch_size: rates[batch_size][0])
    settings = {**_network_settings(config), "evaluator": evaluator.description, "threads": threads}
    for batch_size, (per_second, per_cpu_second) in rates.items():
        at = {**settings, "batch_size": batch_size, "is_best": batch_size == best}
        yield Figure("evaluator", name, "evaluations_per_second", per_second, "1/s", at)
        yield Figure("evaluator", name, "evaluations_per_cpu_second", per_cpu_second, "1/s", at)
    evaluator, leaves = _evaluator(game, config, threads, best), _leaves(game, best)
    ratios = []
    for _ in range(5):
        one, every = (_rate(_evaluate(evaluator, leaves), count, slice_s)[1] for count in (1, threads))
        ratios.append(every / one)
    yield Figure("evaluator", name, "core_efficiency", statistics.median(ratios), "", {**settings, "batch_size": best})


def bench_selfplay(game: Rules, name: str, seconds: float) -> Iterator[Figure]:
    """Self-play with an untrained network, in slices that alternate with the evaluator alone on the same cores."""
    config = new_config(game, name)
    threads, batch_size = num_selfplay_workers(config), config.selfplay.games_per_worker
    evaluator = _evaluator(game, config, threads, batch_size)
    alone = _evaluate(evaluator, _leaves(game, batch_size))
    slice_s = seconds / 10
    with tempfile.TemporaryDirectory() as directory:
        store = GameStore(Path(directory) / "games", report=lambda _: None)
        task = SelfplayTask(
            game=game,
            search=config.search,
            config=config.selfplay,
            evaluator=evaluator,
            log=store,
            seed=0,
            settings_hash=config.selfplay_hash,
        )
        workers = [SelfplayWorker(task) for _ in range(threads)]

        def play(worker: int) -> int:
            before = workers[worker].counts.evaluations
            workers[worker].play_batch()
            return workers[worker].counts.evaluations - before

        slices = [(_rate(alone, threads, slice_s), _rate(play, threads, slice_s)) for _ in range(5)]
        plies = sum(worker.counts.plies for worker in workers)
        store.close()
    settings = {**_network_settings(config), "threads": threads, "games_per_worker": batch_size}
    settings |= {
        "num_simulations": config.search.num_simulations,
        "full_search_share": config.selfplay.full_search_share,
    }
    playing = [rates for _, rates in slices]
    figures = {
        "evaluations_per_second": statistics.median(rate for rate, _ in playing),
        "evaluations_per_cpu_second": statistics.median(rate for _, rate in playing),
        "positions_per_second": plies / (5 * slice_s),
    }
    for metric, value in figures.items():
        yield Figure("selfplay", name, metric, value, "1/s", settings)
    share = statistics.median(playing[0] / alone[0] for alone, playing in slices)
    yield Figure("selfplay", name, "share_of_evaluator", share, "", settings)


def bench_train(game: Rules, name: str, seconds: float) -> Iterator[Figure]:
    """The whole loop, from nothing: what it evaluates, records and learns a second."""
    with tempfile.TemporaryDirectory() as directory:
        run = Path(directory) / "run"
        train(name, run, minutes=seconds / 60, overrides=["training.min_positions=256"], report=lambda _: None)
        last = read_metrics(run / "metrics.csv")[-1]
    config = new_config(game, name, minutes=seconds / 60)
    settings = {**_network_settings(config), "batch_size": config.learner.batch_size, "seconds": seconds}
    elapsed = 60 * last.minutes
    figures = {
        "evaluations_per_second": last.evaluations / elapsed,
        "positions_per_second": last.positions / elapsed,
        "samples_per_second": last.step * config.learner.batch_size / elapsed,
    }
    for metric, value in figures.items():
        yield Figure("train", name, metric, value, "1/s", settings)


def random_lines(game: Rules, *, num: int, seed: int) -> list[list[int]]:
    """Moves that lead to positions that are not over: random numbers of moves of random games."""
    generator, lines = random.Random(seed), list[list[int]]()
    while len(lines) < num:
        state, line = game.initial_state(), list[int]()
        while legal := game.legal_actions(state):
            line.append(generator.choice(legal))
            state = game.play(state, line[-1])
        lines.append(line[: generator.randrange(len(line))])
    return lines


def state_of(game: Rules, line: list[int]) -> State:
    """The position after these moves."""
    state = game.initial_state()
    for action in line:
        state = game.play(state, action)
    return state


def _rate(work: Callable[[int], int], num_threads: int, seconds: float) -> tuple[float, float]:
    """How much work threads get done: a wall second, and a CPU-second. `work(thread)` answers how much it did."""
    done = [0] * num_threads
    started, cpu_started = time.perf_counter(), time.process_time()

    def loop(index: int) -> None:
        while time.perf_counter() - started < seconds:
            done[index] += work(index)

    threads = [threading.Thread(target=loop, args=(index,)) for index in range(num_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.perf_counter() - started), sum(done) / (time.process_time() - cpu_started)


def _evaluate(evaluator: Evaluator, leaves: Leaves) -> Callable[[int], int]:
    def work(_: int) -> int:
        evaluator.evaluate(leaves)
        return len(leaves)

    return work


def _leaves(game: Rules, num: int) -> Leaves:
    return game.encode([state_of(game, line) for line in random_lines(game, num=num, seed=1)])


def _evaluator(game: Rules, config: RunConfig, threads: int, batch_size: int) -> Any:
    info = CheckpointInfo.describe(game.spec, config.network, step=0)
    checkpoint = Checkpoint(info=info, weights=initial_weights(config.network, network_shape(game), seed=0))
    return make_evaluator(checkpoint, num_threads=threads, batch_size=batch_size)


def _network_settings(config: RunConfig) -> dict[str, Any]:
    return {"network": f"{config.network.num_blocks}x{config.network.num_filters}", "cores": num_cores()}
