"""The learner of a run, its steps and its network, for trainings by self-play and from records."""

from __future__ import annotations

import functools
import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import RunError, SettingsError
from zerosum.base.files import writing
from zerosum.games import Rules
from zerosum.games.rules import own_starts
from zerosum.learner import Learner, StepReport, grown_state
from zerosum.learner.parallel import LearnerDevices, ParallelLearner, new_learner
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig, initial_weights, save_checkpoint
from zerosum.network.checkpoint import checkpoint_path, load_learner_state, load_newest
from zerosum.network.description import require_encoder
from zerosum.network.evaluators.faults import device_faults
from zerosum.network.growing import grown_weights, growth_obstacle
from zerosum.replay import Batch, ReplayWindow, make_batch, make_unrolled_batch
from zerosum.replay.owners import owners_by_rules
from zerosum.replay.samples import permuted
from zerosum.run.config import RunConfig
from zerosum.run.config_words import network_words
from zerosum.run.drawing import BatchDrawer, DrawnBatch, batches_ahead
from zerosum.run.initial_network import (
    as_beginning,
    load_initial_network,
    require_allowed_network,
    require_initial_network,
)
from zerosum.run.reanalysis import Reanalysis
from zerosum.run.run_plan import RunPlan
from zerosum.run.saved_state import SavedState
from zerosum.selfplay.alpha_beta import weight_of

DEVICE, STEP = "the learner's device", "a learner step"
"""What failed, and during what, in the words of `device_faults`."""
Report = Callable[[str], None]
AnyLearner = Learner | ParallelLearner


def open_checkpoint(plan: RunPlan, report: Report) -> tuple[Checkpoint, dict[str, Any], SavedState]:
    """The newest whole checkpoint, or a new one of step 0, and the optimiser's state and the run's beside it.

    Raises:
        DataError: `training.initial_network` is missing or damaged, or a network does not fit the game.
        SettingsError: the run cannot begin with that network, or the user has not named it.
    """
    directory = plan.directory / "checkpoints"
    checkpoint, damage = load_newest(directory)
    for message in damage:
        report(message)
    state: dict[str, Any] = {}
    info: dict[str, Any] = {}
    if checkpoint is None:
        require_allowed_network(plan.directory, plan.config.training.initial_network)
        checkpoint = _first_checkpoint(plan)
        with writing(plan.directory):
            save_checkpoint(directory, checkpoint, learner_state={}, learner_info={})
    else:
        require_encoder(checkpoint.info, plan.game.spec)
        state, info = load_learner_state(checkpoint_path(directory, checkpoint.info.step))
    return checkpoint, state, SavedState.of(info)


def _first_checkpoint(plan: RunPlan) -> Checkpoint:
    """The network of step 0: with random weights, or the one that the run is to begin with."""
    game, network, training = plan.game, plan.config.network, plan.config.training
    if name := training.initial_network:
        initial = load_initial_network(name)
        require_initial_network(initial.info, network, game.spec)
        return as_beginning(initial, network, game, seed=training.seed)
    info = CheckpointInfo.describe(game.spec, network, step=0)
    return Checkpoint(info=info, weights=initial_weights(network, info.shape, seed=training.seed))


class RunLearner:
    """The learner of a run, which gives way to one with a larger network when the settings ask for it."""

    def __init__(
        self,
        plan: RunPlan,
        report: Report,
        checkpoint: Checkpoint,
        state: dict[str, Any],
        saved: SavedState,
        *,
        devices: Callable[[], LearnerDevices | None] = lambda: None,
    ) -> None:
        """Begin at what `open_checkpoint` returned. `devices` are asked for when those of an earlier learner are free.

        Raises:
            SettingsError: the machine has fewer devices than `learner.num_devices`, or a deterministic run asks for
                several, whose sums may be made in another order the next time.
        """
        config = plan.config
        if config.training.deterministic and config.learner.num_devices > 1:
            raise SettingsError(
                f"learner.num_devices is {config.learner.num_devices}, but a deterministic run learns on one device:"
                " several do not promise to add up gradients in the same order again. Leave out one of the two."
            )
        self._plan, self._config, self._report, self._devices = plan, config, report, devices
        self._ended_cpu_s = 0.0
        self._learner = self._learner_at(checkpoint, state, saved)
        self._reanalysis = Reanalysis(plan.game, config, checkpoint) if config.learner.reanalysed_share else None
        is_ahead = self._learner.is_on_gpu and not config.training.deterministic
        self._drawer = BatchDrawer(self._draw, ahead=batches_ahead() if is_ahead else 0)
        self._unchecked: deque[tuple[int, StepReport]] = deque()

    def restore(self, checkpoint: Checkpoint, state: dict[str, Any], saved: SavedState) -> None:
        """Begin again at what `open_checkpoint` returned, after the learner was lost."""
        self._drawer.forget()
        self._unchecked.clear()
        self._reanalyse_by(checkpoint)
        self._go_on_with(self._learner_at(checkpoint, state, saved))

    @property
    def step_number(self) -> int:
        """Steps since the run began."""
        return self._learner.step_number

    @property
    def cpu_s(self) -> float:
        """CPU-seconds of the learner's own processes so far, those of earlier learners included."""
        return self._ended_cpu_s + self._learner.cpu_s

    @property
    def clock_s(self) -> float:
        """CPU-seconds of the thread that asks, and of the learner's own processes and threads."""
        return time.thread_time() + self.cpu_s + self._drawer.cpu_s

    def step(self, window: ReplayWindow, *, progress: float) -> tuple[StepReport, Batch]:
        """One learner step at `progress`, the used share of the budget; by a larger network if one is asked for.

        A GPU may still be at work on it, so the error of a step may come with a later one, or with `network`.

        Raises:
            RunError: the loss of this step, or of one before, is not finite; or the device has failed.
            DataError: a game in the window does not fit the game's rules.
        """
        with device_faults(DEVICE, work=STEP):
            if self._is_due_to_grow():
                self._grow()
            step = self._learner.step_number
            drawn = self._drawer.batch(window, step)
            report = self._learner.step(drawn.inputs, progress=progress)
            self._unchecked.append((step, report))
            self._check_reports(is_waiting=False)
        return report, drawn.batch

    def forget_window(self) -> None:
        """Let go of the window that batches were drawn from, before another one takes its memory."""
        self._drawer.forget()

    def _draw(self, window: ReplayWindow, step: int) -> DrawnBatch:
        batch = draw_batch(
            window,
            self._plan.game,
            self._config,
            targets=self._learner.targets,
            step=step,
            reanalysis=self._reanalysis,
        )
        return DrawnBatch(batch, self._learner.prepare(batch))

    def _check_reports(self, *, is_waiting: bool) -> None:
        """Check the losses of the steps that are done, or of all. Raises RunError for one that is not finite."""
        while self._unchecked and (is_waiting or self._unchecked[0][1].is_known):
            require_finite(*self._unchecked.popleft())

    def network(self, *, training: dict[str, Any]) -> Checkpoint:
        """The current network, checked to be finite, as the losses before. Old positions are searched by it then."""
        with device_faults(DEVICE, work=STEP):
            self._check_reports(is_waiting=True)
            checkpoint = network_now(self._learner, self._plan.game, training=training)
        self._reanalyse_by(checkpoint)
        return checkpoint

    def _reanalyse_by(self, checkpoint: Checkpoint) -> None:
        if self._reanalysis is not None:
            self._reanalysis.take(checkpoint)

    def state(self) -> dict[str, Any]:
        """The optimiser's state, as a checkpoint has it."""
        with device_faults(DEVICE, work=STEP):
            return self._learner.state()

    def close(self) -> None:
        """End the learner's own processes and threads."""
        self._drawer.close()
        self._learner.close()

    def _learner_at(self, checkpoint: Checkpoint, state: dict[str, Any], saved: SavedState) -> AnyLearner:
        """A learner at a checkpoint."""
        optimizer = self._config.learner.optimizer
        if saved.optimizer not in ("", optimizer):
            self._report(f"The optimiser begins afresh: it was {saved.optimizer}, now it is {optimizer}.")
            state = {}
        weights, step = checkpoint.weights, checkpoint.info.step
        with device_faults(DEVICE, work=STEP):
            return self._new_learner(checkpoint.info.network, weights, state, step_number=step)

    def _go_on_with(self, learner: AnyLearner) -> None:
        """Learn by another learner. The one before has ended, and its CPU time still counts."""
        self._ended_cpu_s += self._learner.cpu_s
        self._learner = learner

    def _new_learner(
        self,
        network: NetworkConfig,
        weights: dict[str, NDArray[np.float32]],
        state: dict[str, NDArray[Any]],
        *,
        step_number: int,
    ) -> AnyLearner:
        """A learner of a network in this process and its children, or on the devices of a cluster."""
        learner = new_learner(
            self._config.learner,
            network,
            self._plan.shape,
            weights,
            device=self._config.training.device,
            devices=self._devices(),
        )
        try:
            learner.load_state(state, step_number=step_number)
        except BaseException:
            learner.close()
            raise
        return learner

    def _is_due_to_grow(self) -> bool:
        """Whether the settings ask for a larger network since the run was resumed."""
        asked, network = self._config.network, self._learner.network
        return asked != network and not growth_obstacle(network, asked)

    def _grow(self) -> None:
        """Go on with a larger network. The new weights are drawn by the run's seed."""
        config, smaller = self._config, self._learner
        network, shape = config.network, self._plan.shape
        self._drawer.forget()
        weights = grown_weights(smaller.weights(), network, shape, seed=config.training.seed)
        state, step = grown_state(smaller.state(), network, shape), smaller.step_number
        smaller.close()
        self._go_on_with(self._new_learner(network, weights, state, step_number=step))
        self._report(f"      At step {step:,} the network has grown to {network_words(network, shape)}.")


def new_window(config: RunConfig) -> ReplayWindow:
    """An empty window of a run's games, in which the positions of an alpha-beta search's games weigh less."""
    rate = config.alpha_beta_samples
    return ReplayWindow(config.replay, weight_of=functools.partial(weight_of, samples_per_position=rate))


def learn_step(
    learner: AnyLearner, window: ReplayWindow, game: Rules, config: RunConfig, *, progress: float
) -> tuple[StepReport, Batch]:
    """Make one step on a batch that is drawn by the run's seed and the step's number.

    Raises:
        RunError: the loss is not finite.
        DataError: a game in the window does not fit the game's rules.
    """
    step = learner.step_number
    batch = draw_batch(window, game, config, targets=learner.targets, step=step)
    report = learner.step(batch, progress=progress)
    require_finite(step, report)
    return report, batch


def require_finite(step: int, report: StepReport) -> None:
    """Check the losses of a step. Raises RunError if one is not finite."""
    if not all(map(math.isfinite, report.measures.values())):
        said = ", ".join(f"{name} {value}" for name, value in report.measures.items())
        raise RunError(
            f"the loss is not finite at learner step {step} ({said}). The step was not saved: resume from the last"
            " checkpoint with a lower learner.learning_rate."
        )


def draw_batch(
    window: ReplayWindow,
    game: Rules,
    config: RunConfig,
    *,
    targets: frozenset[str],
    step: int,
    reanalysis: Reanalysis | None = None,
) -> Batch:
    """Draw and encode the batch of a step: a pure function of the run's seed, the step and the window's positions.

    With `reanalysis` a share of the samples is searched anew, so it is one of the newest network, too.

    Raises:
        DataError: a game in the window does not fit the game's rules.
    """
    seed, replay = config.training.seed, config.replay
    num_later = config.learner.unroll_steps if config.network.kind == "muzero" else 0
    samples = window.sample(
        config.learner.batch_size,
        seed=seed,
        step=step,
        owners_of=owners_by_rules(game) if "owners" in targets else None,
        num_later=num_later,
        earlier_share=config.learner.earlier_share,
        has_played="played" in targets,
    )
    if reanalysis is not None:
        samples = reanalysis.renewed(samples)
    if replay.use_symmetries and game.spec.symmetries:
        samples = permuted(samples, game.spec.symmetries, starts=own_starts(game), seed=seed, step=step)
    if num_later:
        share = config.learner.illegal_share
        return make_unrolled_batch(game, samples, search_value_weight=replay.search_value_weight, illegal_share=share)
    return make_batch(game, samples, search_value_weight=replay.search_value_weight)


def network_now(learner: AnyLearner, game: Rules, *, training: dict[str, Any]) -> Checkpoint:
    """The current network. Its weights are checked, because a step's loss is that of the weights before the step.

    Raises:
        RunError: a weight is not finite.
    """
    step, weights = learner.step_number, learner.weights()
    if broken := [name for name, weight in weights.items() if not np.isfinite(weight).all()]:
        raise RunError(
            f"the weights are not finite after learner step {step} ({broken[0]}). They were not saved: resume from"
            " the last checkpoint with a lower learner.learning_rate."
        )
    info = CheckpointInfo.describe(game.spec, learner.network, step=step, training=training)
    return Checkpoint(info=info, weights=weights)
