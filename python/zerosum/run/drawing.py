"""Batches that are drawn, encoded and sent to the learner's device beside its steps.

A batch is a pure function of the run's seed, the step and the positions in the window when it is drawn, so nothing of
it is saved: a run that goes on draws the batches of the next steps again. One that was drawn ahead has not seen the
games of the last few steps. Deterministic runs draw each batch when its step is due.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from zerosum.base.settings import num_cores
from zerosum.replay import Batch, ReplayWindow

MOST_AHEAD = 8
"""Most batches that are drawn beside a step of a GPU, each by a thread. On an H200 with 16 cores a thread draws one of
512 positions of 9x9 Go in 18 ms, in which the GPU could make six steps with 6x96."""


def batches_ahead() -> int:
    """The number of batches that are drawn beside a step of a GPU: half as many as there are cores, at most eight."""
    return min(max(num_cores() // 2, 1), MOST_AHEAD)


@dataclass(frozen=True, eq=False)
class DrawnBatch:
    """The batch of one step."""

    batch: Batch
    inputs: Any
    """As `Learner.prepare` or `ParallelLearner.prepare` returns them."""


Draw = Callable[[ReplayWindow, int], DrawnBatch]
"""Draws the batch of a step from a window."""


class BatchDrawer:
    """The batches of steps that follow one another, drawn ahead if it is made so. One thread asks for them."""

    def __init__(self, draw: Draw, *, ahead: int) -> None:
        """`ahead` batches after the one that is asked for are drawn by as many threads; 0 for no threads."""
        self._draw, self._ahead = draw, ahead
        self._pool = ThreadPoolExecutor(ahead, thread_name_prefix="batches") if ahead else None
        self._window: ReplayWindow | None = None
        self._coming: deque[tuple[int, Future[DrawnBatch]]] = deque()  # steps that follow one another
        self._lock = threading.Lock()
        self._cpu_s = 0.0

    @property
    def cpu_s(self) -> float:
        """CPU-seconds of the threads so far."""
        return self._cpu_s

    def batch(self, window: ReplayWindow, step: int) -> DrawnBatch:
        """The batch of a step, drawn from this window.

        Raises:
            DataError: as `draw_batch`.
        """
        if self._pool is None:
            return self._draw(window, step)
        if window is not self._window or (self._coming and self._coming[0][0] != step):
            self.forget()
            self._window = window
        next_step = self._coming[-1][0] + 1 if self._coming else step
        for number in range(next_step, step + self._ahead + 1):
            self._coming.append((number, self._pool.submit(self._drawn, window, number)))
        return self._coming.popleft()[1].result()

    def forget(self) -> None:
        """Let go of all batches that were drawn ahead, when none is being drawn any more."""
        for _, future in self._coming:
            if not future.cancel():
                future.exception()  # waits
        self._coming.clear()
        self._window = None

    def close(self) -> None:
        """End the threads."""
        self.forget()
        if self._pool is not None:
            self._pool.shutdown()

    def _drawn(self, window: ReplayWindow, step: int) -> DrawnBatch:
        started = time.thread_time()
        try:
            return self._draw(window, step)
        finally:
            with self._lock:
                self._cpu_s += time.thread_time() - started
