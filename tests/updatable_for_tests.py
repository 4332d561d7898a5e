"""Updatable networks for tests: random ones, one that counts pieces, and a run that has learned a little."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import zerosum
from zerosum.games import Rules, make
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig, initial_weights, save_checkpoint
from zerosum.network.piece_planes import PiecePlanes
from zerosum.network.updatable import opponent_view

SETTINGS = (
    "training.steps=4",
    "training.min_positions=20",
    "training.steps_per_phase=1",
    "network.updatable_units=16",
    "learner.batch_size=32",
    "selfplay.num_workers=1",
    "selfplay.alphabeta_nodes=20",
    "selfplay.alphabeta_learning_nodes=3000",
    "strength.rollout_simulations=1",
    "strength.num_simulations=20",
)


def random_updatable(game: Rules, *, seed: int = 0, units: int = 32, lines: int = 0) -> Checkpoint:
    """A network whose outputs differ widely."""
    view = opponent_view(game)
    config = NetworkConfig(kind="updatable", updatable_units=units, updatable_lines=lines, opponent_view=view)
    info = CheckpointInfo.describe(game.spec, config, step=0)
    weights, random = initial_weights(config, info.shape, seed=seed), np.random.default_rng(seed)
    weights["output.weight"][:] = random.normal(size=weights["output.weight"].shape) * 0.3
    weights["kinds.weight"][:] = random.normal(size=weights["kinds.weight"].shape) * 0.05
    if lines:
        weights["lines.weight"][:] = random.normal(size=weights["lines.weight"].shape) * 0.1
    return Checkpoint(info, weights)


def counting_updatable(game: Rules, values: dict[str, float]) -> Checkpoint:
    """A network that counts pieces by these values of their kinds: own ones less the opponent's, as a logit."""
    checkpoint = random_updatable(game, units=16)
    weights = {name: np.zeros_like(weight) for name, weight in checkpoint.weights.items()}
    planes = PiecePlanes.of(checkpoint.info.planes)
    # The activation is the square of a sum from 1/4 to 3/4: nearly linear, with a slope of 1 around 1/2.
    weights["input.bias"][:] = 0.5
    for index, kind in enumerate(planes.kinds):
        weights["kinds.weight"][:, index] = values.get(kind.name, 0.0) / 50
    weights["output.weight"][0, :16], weights["output.weight"][0, 16:] = 100 / 64, -100 / 64
    return Checkpoint(checkpoint.info, weights)


def saved(checkpoint: Checkpoint, directory: Path) -> Path:
    """The directory with this checkpoint in it."""
    save_checkpoint(directory, checkpoint, learner_state={}, learner_info={})
    return directory


def train_updatable(game: str, run: Path, *overrides: str) -> None:
    """A few steps of the preset nnue."""
    zerosum.train(game, run, preset="nnue", overrides=[*SETTINGS, *overrides], report=lambda _: None)


def chess() -> Rules:
    """Chess with the planes of one position."""
    return make("chess(history=1)")
