"""The untrained network of a new run, which costs as much as a trained one."""

from __future__ import annotations

from typing import Any

from zerosum.base.settings import num_cores
from zerosum.games import Rules
from zerosum.games.random_play import random_leaves
from zerosum.network import Checkpoint, CheckpointInfo, NetworkShape, initial_weights
from zerosum.network.evaluators import NetworkEvaluator, make_evaluator
from zerosum.run.config import RunConfig
from zerosum.run.workers import num_selfplay_workers
from zerosum.selfplay.calibration import Work, batch_sizes, evaluating, measure_rates


def untrained_checkpoint(game: Rules, config: RunConfig, *, seed: int = 0) -> Checkpoint:
    """The initial network of a run, by its seed."""
    network = config.network
    info = CheckpointInfo.describe(game.spec, network, step=0)
    return Checkpoint(info=info, weights=initial_weights(network, NetworkShape.of(game.spec), seed=seed))


def untrained_evaluator(game: Rules, config: RunConfig, *, batch_size: int, seed: int = 0) -> NetworkEvaluator:
    """The evaluator of this network, as in a run's self-play."""
    return make_evaluator(
        untrained_checkpoint(game, config, seed=seed),
        config.training.evaluator,
        num_threads=num_selfplay_workers(config),
        batch_size=batch_size,
    )


def evaluator_alone(game: Rules, config: RunConfig) -> tuple[int, Work]:
    """The fastest batch size of the evaluator alone, with one thread per worker, and work for `Busy` of that size."""
    work = {
        size: evaluating(untrained_evaluator(game, config, batch_size=size), random_leaves(game, size))
        for size in batch_sizes(on_gpu=on_gpu(config))
    }
    rates = measure_rates(work.__getitem__, num_threads=num_selfplay_workers(config), on_gpu=on_gpu(config))
    best = max(rates, key=rates.__getitem__)
    return best, work[best]


def on_gpu(config: RunConfig) -> bool:
    """Whether a run with these settings would evaluate on a GPU."""
    return config.training.evaluator.on_gpu


def network_settings(config: RunConfig) -> dict[str, Any]:
    """The settings that every figure of a network includes."""
    return {"network": config.network.size, "cores": num_cores()}
