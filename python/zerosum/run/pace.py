"""How many learner steps the recorded positions allow, and when they are made: `learner.samples_per_position` each."""

from __future__ import annotations

import math

from zerosum.replay import ReplayWindow
from zerosum.run.budget import Budget
from zerosum.run.config import RunConfig
from zerosum.run.saved_state import SavedState

LATEST_START = 0.1
"""Share of the budget after which learning begins with fewer positions than `training.min_positions`."""
LONGEST_PHASE = 0.02
"""Share of a budget in minutes after which the due learner steps are made, even if they are fewer than a phase has."""


class Pace:
    """The count of the samples that the learner owes to the positions of self-play, and has learned from."""

    def __init__(self, config: RunConfig, window: ReplayWindow, budget: Budget, saved: SavedState) -> None:
        """Continue at a checkpoint."""
        self._config, self._window, self._budget = config, window, budget
        self.restore(saved)
        self._learned_progress = budget.progress

    def restore(self, saved: SavedState) -> None:
        """Continue the count of samples at a checkpoint."""
        # Earlier positions leave no steps owed or made in advance if the number of samples per position has changed.
        is_same = saved.samples_per_position == self._config.learner.samples_per_position
        owed = self._owed_samples()
        self.num_samples = min(saved.samples, owed) if is_same else 0.0 if saved.is_new else owed

    def count_step(self) -> None:
        """Count the samples of a learner step."""
        self.num_samples += self._config.learner.batch_size

    def end_phase(self) -> None:
        """Count the time to the next phase from now."""
        self._learned_progress = self._budget.progress

    def _owed_samples(self) -> float:
        """Samples to be learned from since the beginning of the run."""
        return self._window.total_weight * self._config.learner.samples_per_position

    @property
    def num_steps_due(self) -> int:
        """Learner steps that the recorded positions allow and that have not been made yet."""
        if self._window.total_positions < self.num_first_positions:
            return 0
        return int((self._owed_samples() - self.num_samples) / self._config.learner.batch_size)

    @property
    def num_first_positions(self) -> int:
        """Recorded positions at which learning begins: the setting, or fewer if the budget is small."""
        training, learner = self._config.training, self._config.learner
        if training.steps is not None:
            needed_positions = training.steps * learner.batch_size / learner.samples_per_position
            return min(training.min_positions, math.ceil(LATEST_START * needed_positions))
        # Learning needs the positions of at least one step.
        least = math.ceil(learner.batch_size / learner.samples_per_position)
        return training.min_positions if self._budget.progress < LATEST_START else min(training.min_positions, least)

    @property
    def is_phase_due(self) -> bool:
        """Whether a phase's steps are due, or fewer steps if positions come slowly and the last phase is long ago."""
        num_steps = self.num_steps_due
        is_long_ago = (
            self._config.training.minutes is not None
            and self._budget.progress - self._learned_progress >= LONGEST_PHASE
        )
        return num_steps >= (1 if is_long_ago else self._config.training.steps_per_phase)

    def is_behind(self) -> bool:
        """Whether the learner cannot keep up. Self-play then waits and leaves the machine to the learner."""
        return self.num_steps_due > 4 * self._config.training.steps_per_phase
