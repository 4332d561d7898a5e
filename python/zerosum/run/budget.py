"""A training's budget in minutes or learner steps: its used share, and when a checkpoint or a report is due."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from zerosum.run.config import RunConfig
from zerosum.run.training_config import TrainingConfig

REPORT_SECONDS = 10.0
"""Seconds between two reports."""
REPORTS = 100
"""Reports of a deterministic run over its budget."""
USED_UP = "The budget is used up: give a larger one, with --minutes or --steps, to resume."


def clock_s(training: TrainingConfig) -> float:
    """Seconds on the clock that a budget is counted by: this process's CPU time, or the time of day."""
    return time.process_time() if training.clock == "cpu" else time.monotonic()


class Budget:
    """The budget of a run, counted by one process from the moment this is made."""

    def __init__(
        self,
        config: RunConfig,
        *,
        elapsed_s: float,
        num_steps: Callable[[], int],
        others_cpu_s: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """Begin to count.

        Args:
            config: The run's settings.
            elapsed_s: Seconds that earlier processes have used.
            num_steps: Returns the learner steps made so far.
            others_cpu_s: Returns the CPU-seconds that processes which work for this one have used so far.
        """
        self._config, self._num_steps, self._others_cpu_s = config, num_steps, others_cpu_s
        self._elapsed_before, self._started = elapsed_s, self._clock()
        self._reported = time.monotonic()
        self._saved_progress = self._reported_progress = self.progress

    def _clock(self) -> float:
        training = self._config.training
        return self.cpu_s() if training.clock == "cpu" else clock_s(training)

    def cpu_s(self) -> float:
        """CPU-seconds of this process and of those that work for it."""
        return time.process_time() + self._others_cpu_s()

    @property
    def elapsed_s(self) -> float:
        """Seconds of training so far, including those of earlier processes."""
        return self._elapsed_before + self._clock() - self._started

    @property
    def progress(self) -> float:
        """The used share of the budget for learning, in [0, 1]."""
        if (seconds := self._config.learning_seconds) is not None:
            return min(self.elapsed_s / seconds, 1.0)
        return min(self._num_steps() / (self._config.training.steps or 1), 1.0)

    @property
    def seconds_left(self) -> float:
        """The rest of a budget in minutes, the last checkpoint's measurement included; infinite for one in steps."""
        minutes = self._config.training.minutes
        return math.inf if minutes is None else 60 * minutes - self.elapsed_s

    @property
    def minutes_left(self) -> float:
        """The rest of the budget in minutes; for one in steps what it takes at the pace so far."""
        if self._config.training.minutes is not None:
            return max(self.seconds_left, 0.0) / 60
        return self.elapsed_s / 60 * (1 / self.progress - 1) if self.progress else math.inf

    @property
    def unit(self) -> str:
        """The unit of a budget in minutes, short."""
        return "CPU-min" if self._config.training.clock == "cpu" else "min"

    @property
    def is_due_to_save(self) -> bool:
        """Whether the next checkpoint is due."""
        num = self._config.training.num_checkpoints
        return int(self.progress * num) > int(self._saved_progress * num)

    @property
    def is_due_to_report(self) -> bool:
        """Whether the next report is due. In a deterministic run this depends on counts alone."""
        if self._config.training.deterministic:
            return int(self.progress * REPORTS) > int(self._reported_progress * REPORTS)
        return time.monotonic() - self._reported >= REPORT_SECONDS

    def note_saved(self) -> None:
        """Count the time to the next checkpoint from now."""
        self._saved_progress = self.progress

    def note_reported(self) -> float:
        """Count the time to the next report from now. Returns the seconds since the last one, above 0."""
        before, self._reported = self._reported, time.monotonic()
        self._reported_progress = self.progress
        return max(self._reported - before, 1e-9)


def time_text(minutes: float, *, progress: float, minutes_left: float, unit: str = "min") -> str:
    """The time used and left, for a terminal.

    >>> time_text(6, progress=0.25, minutes_left=18)
    '  6.0 min (25%), 18.0 left'
    """
    left = f", {minutes_left:.1f} left" if progress < 1 and math.isfinite(minutes_left) else ""
    return f"{minutes:5.1f} {unit} ({progress:.0%}){left}"
