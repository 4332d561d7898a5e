"""All workers of a run, each a thread of this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Protocol

from zerosum.network import Checkpoint
from zerosum.network.evaluators.updatable import UpdatableEvaluator
from zerosum.replay.records import GameRecord, RunningGame
from zerosum.selfplay.alpha_beta_worker import AlphaBetaWorker
from zerosum.selfplay.worker import SelfplayCounts, SelfplayTask, SelfplayWorker


class Selfplay(Protocol):
    """The workers of a run: `SelfplayThreads` or `zerosum.selfplay.processes.SelfplayProcesses`."""

    @property
    def counts(self) -> SelfplayCounts:
        """The work of all workers so far."""

    @property
    def cpu_s(self) -> float:
        """CPU-seconds of workers in other processes so far."""

    def play(
        self,
        is_enough: Callable[[], bool],
        take: Callable[[GameRecord], None],
        *,
        is_paused: Callable[[], bool] = lambda: False,
    ) -> None:
        """Play until `is_enough`; `take` gets each finished game. While `is_paused` the workers wait without a core."""

    def update(self, checkpoint: Checkpoint) -> None:
        """Give workers in other processes the weights of `checkpoint`; threads share this process's evaluator."""


class SelfplayThreads:
    """All workers of a run, a thread each."""

    def __init__(self, task: SelfplayTask, *, num_workers: int, running: Iterable[RunningGame] = ()) -> None:
        """Games in flight are distributed among the workers when they begin to play."""
        self._task, self._num_workers, self._running = task, num_workers, list(running)
        self._workers: list[SelfplayWorker | AlphaBetaWorker] = []
        self._counted = SelfplayCounts()  # of workers that have ended

    @property
    def counts(self) -> SelfplayCounts:
        """The work of all workers so far."""
        return sum((worker.counts for worker in self._workers), self._counted)

    @property
    def cpu_s(self) -> float:
        """0, since all workers are threads of this process."""
        return 0.0

    def update(self, checkpoint: Checkpoint) -> None:
        """Do nothing: the workers share the evaluator of this process."""

    def play(
        self,
        is_enough: Callable[[], bool],
        take: Callable[[GameRecord], None],
        *,
        is_paused: Callable[[], bool] = lambda: False,
    ) -> None:
        """Play until `is_enough`, which every worker asks before each batch; `take` gets each finished game.

        While `is_paused` the workers wait, without using a core.

        Raises:
            The first error of a worker, once all have stopped. KeyboardInterrupt stops them, too.
        """
        if not self._workers:
            games, self._running = self._running, []
            shares = (games[index :: self._num_workers] for index in range(self._num_workers))
            kind = AlphaBetaWorker if isinstance(self._task.evaluator, UpdatableEvaluator) else SelfplayWorker
            self._workers = [kind(self._task, running=share) for share in shares]
        failures: list[BaseException] = []
        stop = threading.Event()

        def run(worker: SelfplayWorker | AlphaBetaWorker) -> None:
            try:
                worker.play_until(lambda: stop.is_set() or is_enough(), take, is_paused=is_paused)
            except BaseException as failure:  # handed to the caller's thread below
                failures.append(failure)
                stop.set()

        threads = [threading.Thread(target=run, args=(worker,), name="selfplay") for worker in self._workers]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        finally:
            # Ctrl-C arrives here: every worker ends its batch, then the exception goes on.
            stop.set()
            for thread in threads:
                thread.join()
        if failures:
            raise failures[0]

    def play_out(self, is_enough: Callable[[], bool], take: Callable[[GameRecord], None]) -> None:
        """Play the games in flight to their ends, one worker after the other, and begin no others until `play`.

        Self-play then has no state except its games: `play` continues as in a new process.
        """
        for worker in self._workers:
            worker.play_out(is_enough, take)
        self._counted, self._workers = self.counts, []
