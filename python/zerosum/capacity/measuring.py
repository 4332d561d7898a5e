"""Short measurements of a plan's numbers on this machine, by the benches.

On a CPU every rate is per CPU-second, which other programs disturb less than the clock. An untrained network has no
opinion, so the games that are measured are played by an evaluator without one, which costs nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace

import numpy as np

from zerosum.base.settings import num_cores, to_mapping
from zerosum.bench.selfplay_overhead import SIMULATIONS, bench_selfplay_overhead
from zerosum.bench.untrained import evaluator_alone, on_gpu, untrained_checkpoint, untrained_evaluator
from zerosum.capacity.assumptions import RANDOM_LENGTH, Sourced
from zerosum.capacity.work import searched_plies
from zerosum.cluster.blocks import Block, opened, seal
from zerosum.evaluators import UniformEvaluator
from zerosum.evaluators.device import num_devices
from zerosum.games import Rules
from zerosum.games.random_play import random_leaves
from zerosum.learner import Learner
from zerosum.network import NetworkShape
from zerosum.network.weights import LEARNING_OPERATIONS, num_operations
from zerosum.replay import Batch, GameRecord, ReplayConfig, ReplayWindow
from zerosum.replay.records import PlyFlag, RunningGame
from zerosum.replay.shards import encode_shard
from zerosum.run.config import RunConfig
from zerosum.run.learning import draw_batch
from zerosum.run.workers import num_selfplay_workers
from zerosum.selfplay import SelfplayTask
from zerosum.selfplay.calibration import Busy, evaluating
from zerosum.selfplay.worker import MemoryLog, SelfplayCounts, SelfplayWorker

GAMES = 64
"""Games that are played, at most; all of a worker's games are in flight at a time."""
LARGEST_CPU_BATCH = 256
"""Samples of a batch in the measurement of a learner on a CPU, at most."""


def measured(base: Sourced, config: RunConfig, game: Rules, *, seconds: float) -> Sourced:
    """The assumptions with those that can be measured here, in about `seconds` seconds and some more to start.

    Args:
        base: The other assumptions.
        config: The run's settings, with this machine's devices.
        game: The game.
        seconds: The duration, of which each of the four measurements takes a part.
    """
    played = _play(config, game, seconds=seconds / 6)
    values = {
        **played.numbers(),
        **_overhead(config, game, seconds=seconds / 2),
        **_evaluator(config, game, seconds=seconds / 6),
        **_learner(config, game, played.records, seconds=seconds / 6),
    }
    here = base.changed(values, f"measured here, {num_cores()} cores")
    return here.changed({"plies": searched_plies(config, game)}, RANDOM_LENGTH)


@dataclass(frozen=True)
class _Played:
    """Games of self-play, finished or cut off, and the work that they took."""

    records: list[GameRecord]
    counts: SelfplayCounts
    """The work after the first search of every game."""
    asked: float
    """Simulations that the settings ask for in the plies of `counts`."""

    def numbers(self) -> dict[str, float]:
        plies = sum(int((record.plies["flags"] & PlyFlag.OPENING == 0).sum()) for record in self.records)
        # A run seals many games at a time, so a part of few takes too long by what a file costs.
        seal_s = _seconds_each(lambda _: encode_shard(self.records), seconds=0.1, clock=time.process_time)
        data, counts = encode_shard(self.records), self.counts
        ingest_s = _seconds_each(_ingest_of(self.records), seconds=0.1, clock=time.process_time)
        return {
            "evaluations_per_simulation": counts.evaluations / counts.simulations,
            "new_simulations": min(counts.simulations / self.asked, 1.0),
            "ply_bytes": len(data) / plies,
            "seal_us": 1e6 * seal_s / plies,
            "ingest_us": 1e6 * ingest_s / plies,
        }


def _ingest_of(records: list[GameRecord]) -> Callable[[int], None]:
    """An act that takes in a block of these games as a cluster's ingest does, but for its one write to the journal."""
    data, replay = seal(Block(training="", sender="", number=1, games=records)), ReplayConfig()

    def take(_: int) -> None:
        window = ReplayWindow(replay)
        for record in opened(data).games:
            window.add(record)

    return take


def _play(config: RunConfig, game: Rules, *, seconds: float) -> _Played:
    running, ended = dict[int, RunningGame](), list[GameRecord]()
    log = MemoryLog(running)
    games = min(GAMES, config.selfplay.games_per_worker or GAMES)
    task = SelfplayTask(
        game=game,
        search=config.search,
        config=replace(config.selfplay, games_per_worker=games, alphabeta=""),
        evaluator=UniformEvaluator(),
        log=log,
        seed=config.training.seed,
        settings_hash="",
    )
    worker, until = SelfplayWorker(task), time.process_time() + seconds
    while worker.counts.plies < games:
        ended += worker.play_batch()
    first = replace(worker.counts)
    while (len(ended) < GAMES and time.process_time() < until) or worker.counts.plies < first.plies + games:
        ended += worker.play_batch()
    counts = SelfplayCounts(
        *(after - before for after, before in zip(astuple(worker.counts), astuple(first), strict=True))
    )
    in_flight = [log.finish_game(number, outcome=0.0, ending="cut off") for number in list(running)]
    records = [record for record in (*ended, *in_flight) if record.num_plies]
    flags = np.concatenate([record.plies["flags"] for record in records])
    share = (flags & PlyFlag.FULL_SEARCH != 0).sum() / (flags & PlyFlag.OPENING == 0).sum()
    a_ply = share * config.search.num_simulations + (1 - share) * config.selfplay.fast_simulations
    return _Played(records, counts, float(a_ply * counts.plies))


def _overhead(config: RunConfig, game: Rules, *, seconds: float) -> dict[str, float]:
    """The costs of a ply and of a simulation, from plies with few and with many simulations."""
    search = [f"search.{name}={value}" for name, value in to_mapping(config.search).items() if value is not None]
    figures = bench_selfplay_overhead(game, config.game, seconds, search)
    ply_us = {
        figure.settings["num_simulations"]: 1e6 / figure.value
        for figure in figures
        if figure.metric == "plies_per_cpu_second"
    }
    few, many = SIMULATIONS
    simulation_us = max((ply_us[many] - ply_us[few]) / (many - few), 0.0)
    return {"simulation_us": simulation_us, "ply_us": max(ply_us[few] - few * simulation_us, 0.0)}


def _evaluator(config: RunConfig, game: Rules, *, seconds: float) -> dict[str, float]:
    """Operations a second of the evaluator alone, of one core or of one GPU, and the cost of changing its network.

    A batch has the games of a worker, or the best size for the evaluator if the run measures that itself.
    """
    operations, num_threads = num_operations(config.network, NetworkShape.of(game.spec)), num_selfplay_workers(config)
    size = config.selfplay.games_per_worker or evaluator_alone(game, config)[0]
    evaluator = untrained_evaluator(game, config, batch_size=size)
    work = evaluating(evaluator, random_leaves(game, size))
    with Busy(num_threads) as busy:
        busy.rate(work, seconds=0)
        rate = busy.rate(work, seconds=seconds)
    checkpoint = untrained_checkpoint(game, config)
    update_s = _seconds_each(lambda _: evaluator.update(checkpoint), seconds=0.1, clock=time.process_time)
    if on_gpu(config):
        speed = {"gpu_evaluation_tflops": rate.per_second * operations / num_devices() / 1e12}
    else:
        speed = {"cpu_evaluation_gflops": rate.per_cpu_second * operations / 1e9}
    return {**speed, "update_ms": 1000 * update_s}


def _learner(config: RunConfig, game: Rules, records: list[GameRecord], *, seconds: float) -> dict[str, float]:
    """The costs of a sample: drawing and encoding it, and learning from it on one device."""
    operations = LEARNING_OPERATIONS * num_operations(config.network, NetworkShape.of(game.spec))
    is_gpu, size = on_gpu(config), config.learner.batch_size
    size = size if is_gpu else min(size, LARGEST_CPU_BATCH)
    window = ReplayWindow(config.replay)
    for record in records:
        window.add(record)
    checkpoint = untrained_checkpoint(game, config)
    one = replace(config.learner, batch_size=size, num_devices=1)
    learner = Learner(
        one, config.network, NetworkShape.of(game.spec), checkpoint.weights, device=config.training.device
    )

    def draw(step: int) -> Batch:
        return draw_batch(window, game, replace(config, learner=one), targets=learner.targets, step=step)

    draw_s, batch = _seconds_each(draw, seconds=seconds / 4, clock=time.process_time), draw(0)
    inputs = learner.prepare(batch)  # a GPU's are made beside the steps
    for _ in range(learner.num_first_steps - 1):
        learner.step(inputs, progress=0.0)
    step_s = _seconds_each(
        lambda _: learner.step(inputs, progress=0.0),
        seconds=seconds / 2,
        clock=time.perf_counter if is_gpu else time.process_time,
    )
    rate = size * operations / step_s
    name, unit = ("gpu_learning_tflops", 1e12) if is_gpu else ("cpu_learning_gflops", 1e9)
    return {"sample_us": 1e6 * draw_s / size, name: rate / unit}


def _seconds_each(act: Callable[[int], object], *, seconds: float, clock: Callable[[], float]) -> float:
    """The mean duration of an act by a clock, after one that is not counted."""
    act(0)
    started, number = clock(), 0
    while number == 0 or clock() - started < seconds:
        number += 1
        act(number)
    return (clock() - started) / number
