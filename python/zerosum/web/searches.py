"""Searches of all visitors on this machine's cores, in turns of a fraction of a second; and one reader of their files.

A long analysis does not block other visitors, and a search whose visitor has left ends within its slice. Seconds of a
search count only its own slices.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

from zerosum.games import State
from zerosum.network.evaluators.evaluator import RolloutEvaluator
from zerosum.play.analysis import Analysis
from zerosum.play.player import Player
from zerosum.play.task import Task
from zerosum.play.turns import search_in_turns
from zerosum.search import SearchConfig
from zerosum.web.limits import NICENESS, Limits

SLICE_SECONDS = 0.2

T = TypeVar("T")


class Searches:
    """Runs searches in turns. Its methods are called from one event loop."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._pool = ThreadPoolExecutor(limits.searching, thread_name_prefix="search", initializer=_give_way)
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="read", initializer=_give_way)
        self.num_running = 0
        """Searches in progress, including those that wait for their turn."""

    def close(self) -> None:
        """End the threads after their slices."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._reader.shutdown(wait=True, cancel_futures=True)

    async def call(self, work: Callable[[], T]) -> T:
        """The result of a long call, which runs when its turn comes."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    async def read(self, work: Callable[[], T]) -> T:
        """The result of reading an uploaded text. Texts are read one after the other, with a low priority."""
        return await asyncio.get_running_loop().run_in_executor(self._reader, work)

    async def search(
        self,
        player: Player,
        state: State,
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        num_lines: int = 1,
        is_looking: bool = False,
        times: int = 1,
        on_report: Callable[[Analysis], None] = lambda _: None,
    ) -> Analysis:
        """Search a position from scratch; a cancelled call ends the search.

        Args:
            player: Its evaluator and settings.
            state: A position that is not over.
            simulations: Simulations to make; the player's own number if neither limit is given.
            seconds: Seconds to search. The first limit that is reached ends the search.
            is_looking: Whether it runs while a visitor looks, up to `Limits.looking`.
            times: How many times as many simulations as the limit it may make.
            num_lines: Moves that are reported with the best play after them.
            on_report: Gets the results after each slice, in the event loop.
        """
        if simulations is None and seconds is None:
            simulations = player.config.num_simulations
        config = _sliced(player.config if seconds is None else player.config_by_time())
        limits = self._limits.looking if is_looking else self._limits
        # A search by time alone may make as many positions as take as long as the limit's simulations.
        most = times * limits.simulations
        total = player.visits_for(most) if simulations is None else min(simulations, most)
        task = Task(num_visits=total, seconds=min(seconds or limits.seconds, limits.seconds), num_lines=num_lines)
        turns = search_in_turns(player, state, config, task)
        self.num_running += 1
        try:
            while True:
                found = await self.call(lambda: turns.turn(SLICE_SECONDS))
                if found.stop_reason is not None:
                    return found
                on_report(found)
        finally:
            turns.close()
            self.num_running -= 1


def _give_way() -> None:
    """Lower the priority of the calling thread, where threads have their own, so that clicks are answered sooner."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        niceness = os.getpriority(os.PRIO_PROCESS, thread) + NICENESS
        os.setpriority(os.PRIO_PROCESS, thread, min(niceness, 19))


def _sliced(config: SearchConfig) -> SearchConfig:
    """Settings of an interruptible search, without sequential halving, which has to know its end."""
    return replace(config, root_selection="puct")


def is_random(player: Player) -> bool:
    """Whether a player evaluates by random games."""
    return isinstance(player.evaluator, RolloutEvaluator)
