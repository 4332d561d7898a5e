"""Self-play that a teacher begins: an alpha-beta search with an updatable network that another run has learned."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from typing_extensions import override

from zerosum.replay.records import GameRecord, RunningGame
from zerosum.selfplay.alpha_beta_worker import AlphaBetaWorker
from zerosum.selfplay.worker import SelfplayCounts, SelfplayTask, SelfplayWorker, Worker


class TaughtWorker(Worker):
    """Plays the teacher's games until `alphabeta_share` of the budget, one at a time, then those of the network.

    The teacher's games all begin with random moves (`opening_plies`): its search has no randomness of its own. For one
    thread at a time.
    """

    def __init__(self, task: SelfplayTask, *, running: Iterable[RunningGame] = ()) -> None:
        """Games in flight continue first."""
        assert task.teacher is not None, "the run has learned it"
        self._task, self._running = task, list(running)
        openings = replace(task.config, opening_share=1.0)
        self._teacher = AlphaBetaWorker(
            replace(task, evaluator=task.teacher, teacher=None, config=openings),
            running=self._running if self._is_taught() else (),
        )
        self._own: SelfplayWorker | None = None

    @property
    def counts(self) -> SelfplayCounts:
        """The work so far; evaluations of the teacher count as the network's."""
        return self._teacher.counts + (self._own.counts if self._own is not None else SelfplayCounts())

    @override
    def play_batch(self) -> list[GameRecord]:
        """Play a move of the teacher, or evaluate a batch of the network's searches. Returns the games that ended."""
        if self._own is None:
            if self._is_taught() or self._teacher.is_playing:
                self._running = []
                return self._teacher.play_batch()
            self._own = SelfplayWorker(self._task, running=self._running)
        return self._own.play_batch()

    @override
    def play_out(self, is_enough: Callable[[], bool], take: Callable[[GameRecord], None]) -> None:
        """Play the games in flight to their ends and begin no others; the worker has then ended."""
        self._teacher.play_out(is_enough, take)
        if self._own is not None:
            self._own.play_out(is_enough, take)

    def _is_taught(self) -> bool:
        return self._task.config.is_taught(self._task.network().progress)
