"""Searches in turns: many share a few cores, and each continues where its last turn ended.

A tree search stands still between two batches. An alpha-beta search cannot end within an iteration and go on with it,
so a thread of its own searches, and is held between two positions while it is not its turn. What either finds does not
depend on the lengths of its turns.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import Protocol

from zerosum.games import State
from zerosum.network.evaluators.updatable import UpdatableEvaluator
from zerosum.play.analysis import Analysis
from zerosum.play.deepening_driver import DeepeningDriver
from zerosum.play.driver import SearchDriver
from zerosum.play.player import Player
from zerosum.play.task import Task
from zerosum.search import SearchConfig, new_search


class SearchTurns(Protocol):
    """One search of one position. A task's seconds are those of its turns."""

    def turn(self, seconds: float) -> Analysis:
        """Search on for so long; the analysis so far, which has a stop reason if the search has ended."""

    def close(self) -> None:
        """End the search, from any thread, without waiting for it."""


def search_in_turns(player: Player, state: State, config: SearchConfig, task: Task) -> SearchTurns:
    """A search of a position that is not over, by a player with these settings; nothing is searched before a turn."""
    if isinstance(player.evaluator, UpdatableEvaluator):
        return _AlphaBetaTurns(player, player.evaluator, state, config, task)
    return _TreeTurns(player, state, config, task)


class _TreeTurns:
    def __init__(self, player: Player, state: State, config: SearchConfig, task: Task) -> None:
        search = new_search(player.game, config)
        search.reset(0, state)
        self._driver, self._task = SearchDriver(search, player.evaluator, config, by=player.own_name), task
        self._spent = 0.0

    def turn(self, seconds: float) -> Analysis:
        left = None if self._task.seconds is None else max(self._task.seconds - self._spent, 0.0)
        is_last = left is not None and left <= seconds
        found = self._driver.run(replace(self._task, seconds=left if is_last else seconds))
        self._spent += found.seconds
        ended = found.stop_reason if is_last or found.stop_reason != "time" else None
        return replace(found, seconds=self._spent, stop_reason=ended)

    def close(self) -> None:
        pass


class _AlphaBetaTurns:
    def __init__(
        self, player: Player, evaluator: UpdatableEvaluator, state: State, config: SearchConfig, task: Task
    ) -> None:
        self._driver = DeepeningDriver(
            player.game,
            state,
            evaluator,
            config,
            by=player.own_name,
            on_report=self._report,
            report_seconds=0.0,
            is_stopped=self._is_stopped,
            clock=self._clock,
        )
        self._task = task
        self._spent = 0.0
        self._turn_began: float | None = None
        self._is_closed = False
        self._changed = threading.Condition(threading.RLock())
        """Guards all that the thread of the search and those of its turns share."""
        self._newest: Analysis | None = None
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None

    def turn(self, seconds: float) -> Analysis:
        with self._changed:
            self._turn_began = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(target=self._search, name="search in turns", daemon=True)
                self._thread.start()
            self._driver.release()
            self._changed.notify_all()
            self._changed.wait_for(self._has_ended, seconds)
            self._changed.wait_for(lambda: self._newest is not None or self._failure is not None)
            self._spent, self._turn_began = self._clock(), None
            if not self._is_closed and not self._has_ended():
                self._driver.hold()
            if self._failure is not None:
                raise self._failure
            assert self._newest is not None
            return replace(self._newest, seconds=self._spent)

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._driver.release()
            self._changed.notify_all()

    def _search(self) -> None:
        """The whole search, in a thread of its own."""
        try:
            self._report(self._driver.run(self._task))
        except BaseException as error:  # the turn that waits for it raises it
            with self._changed:
                self._failure = error
                self._changed.notify_all()

    def _report(self, found: Analysis) -> None:
        with self._changed:
            self._newest = found
            self._changed.notify_all()

    def _has_ended(self) -> bool:
        return self._failure is not None or (self._newest is not None and self._newest.stop_reason is not None)

    def _is_stopped(self) -> bool:
        """Whether to end the search. Between turns the answer waits for the next one."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._turn_began is not None)
            return self._is_closed

    def _clock(self) -> float:
        """Seconds of all turns so far."""
        began = self._turn_began
        return self._spent + (0.0 if began is None else time.monotonic() - began)
