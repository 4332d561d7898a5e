"""The learner of a run, its steps and its network, for trainings by self-play and from records."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from zerosum.base.errors import RunError, SettingsError
from zerosum.base.files import writing
from zerosum.data_parallel import LearnerDevices, ParallelLearner, new_learner
from zerosum.games import Rules
from zerosum.learner import Learner, StepReport
from zerosum.network import Checkpoint, CheckpointInfo, NetworkShape, initial_weights, save_checkpoint
from zerosum.network.checkpoint import checkpoint_path, load_learner_state, load_newest, require_encoder
from zerosum.replay import Batch, ReplayWindow, make_batch
from zerosum.replay.window import permuted
from zerosum.run.config import RunConfig

Report = Callable[[str], None]
AnyLearner = Learner | ParallelLearner


def open_checkpoint(
    run: Path, game: Rules, config: RunConfig, report: Report
) -> tuple[Checkpoint, dict[str, Any], dict[str, Any]]:
    """The newest whole checkpoint, or a new one of step 0, and the learner's state and notes beside it."""
    directory = run / "checkpoints"
    checkpoint, damage = load_newest(directory)
    for message in damage:
        report(message)
    shape = NetworkShape.of(game.spec)
    state: dict[str, Any] = {}
    info: dict[str, Any] = {}
    if checkpoint is None:
        description = CheckpointInfo.describe(game.spec, config.network, step=0)
        weights = initial_weights(config.network, shape, seed=config.training.seed)
        checkpoint = Checkpoint(info=description, weights=weights)
        with writing(run):
            save_checkpoint(directory, checkpoint, learner_state={}, learner_info={})
    else:
        require_encoder(checkpoint.info, game.spec)
        state, info = load_learner_state(checkpoint_path(directory, checkpoint.info.step))
    return checkpoint, state, info


def restored_learner(
    config: RunConfig,
    game: Rules,
    checkpoint: Checkpoint,
    state: dict[str, Any],
    info: dict[str, Any],
    report: Report,
    *,
    devices: LearnerDevices | None = None,
) -> AnyLearner:
    """A learner that continues from a checkpoint and from the state and notes of `open_checkpoint`.

    It learns in this process and its children, or on the `devices` of a cluster.

    Raises:
        SettingsError: the machine has fewer devices than `learner.num_devices`, or a deterministic run asks for
            several, whose sums may be made in another order the next time.
    """
    if config.training.deterministic and config.learner.num_devices > 1:
        raise SettingsError(
            f"learner.num_devices is {config.learner.num_devices}, but a deterministic run learns on one device:"
            " several do not promise to add up gradients in the same order again. Leave out one of the two."
        )
    shape = NetworkShape.of(game.spec)
    learner = new_learner(
        config.learner, config.network, shape, checkpoint.weights, device=config.training.device, devices=devices
    )
    if info.get("optimizer", config.learner.optimizer) != config.learner.optimizer:
        report(f"The optimiser begins afresh: it was {info['optimizer']}, now it is {config.learner.optimizer}.")
        state = {}
    learner.load_state(state, step_number=checkpoint.info.step)
    return learner


def learn_step(
    learner: AnyLearner, window: ReplayWindow, game: Rules, config: RunConfig, *, progress: float
) -> tuple[StepReport, Batch]:
    """Make one step on a batch that is drawn by the run's seed and the step's number.

    Raises:
        RunError: the loss is not finite.
        DataError: a game in the window does not fit the game's rules.
    """
    step, seed, replay = learner.step_number, config.training.seed, config.replay
    samples = window.sample(config.learner.batch_size, seed=seed, step=step, targets=learner.targets)
    if replay.use_symmetries:
        samples = permuted(samples, game.spec.symmetries, seed=seed, step=step)
    batch = make_batch(game, samples, search_value_weight=replay.search_value_weight)
    report = learner.step(batch, progress=progress)
    if not all(map(math.isfinite, report.measures.values())):
        said = ", ".join(f"{name} {value}" for name, value in report.measures.items())
        raise RunError(
            f"the loss is not finite at learner step {step} ({said}). The step was not saved: go on from the last"
            " checkpoint with a lower learner.learning_rate."
        )
    return report, batch


def network_now(learner: AnyLearner, game: Rules, config: RunConfig, *, training: dict[str, Any]) -> Checkpoint:
    """The current network. Its weights are checked, because a step's loss is that of the weights before the step.

    Raises:
        RunError: a weight is not finite.
    """
    step, weights = learner.step_number, learner.weights()
    if broken := [name for name, weight in weights.items() if not np.isfinite(weight).all()]:
        raise RunError(
            f"the weights are not finite after learner step {step} ({broken[0]}). They were not saved: go on from"
            " the last checkpoint with a lower learner.learning_rate."
        )
    info = CheckpointInfo.describe(game.spec, config.network, step=step, training=training)
    return Checkpoint(info=info, weights=weights)
