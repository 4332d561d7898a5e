"""What stands behind any protocol: one position, one search in a thread of its own, and its reports.

    search = BackgroundSearch(player, on_report=print, on_answer=print, on_failure=print)
    search.set_position(moves=[3, 3])
    search.think(Task(seconds=5.0))
    search.wait()

`think` returns at once. `on_report` gets the analysis so far at regular intervals, `on_answer` the final analysis once
for each `think`: when a limit is reached, or after `stop`. An endless `Task` is answered only after `stop`, even if
its position is solved. If the search or `on_answer` fails, `on_failure` is called instead. The tree is kept when the
next position follows by a few moves.

The three functions are called in the search's thread. Values are for the player to move.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from zerosum.base.errors import GameError
from zerosum.games import State
from zerosum.play.analysis import Analysis
from zerosum.play.driver import REPORT_SECONDS, SearchDriver, Task
from zerosum.play.followed_search import FollowedSearch
from zerosum.play.player import Player
from zerosum.search import SearchConfig


class BackgroundSearch:
    """One position at a time, searched with a `Player`'s evaluator and settings."""

    def __init__(
        self,
        player: Player,
        *,
        on_report: Callable[[Analysis], None],
        on_answer: Callable[[Analysis], None],
        on_failure: Callable[[Exception], None],
        report_seconds: float = REPORT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.player, self.game = player, player.game
        self._on_report, self._on_answer, self._on_failure = on_report, on_answer, on_failure
        self._report_seconds, self._clock = report_seconds, clock
        self._config = player.config_by_time()
        self._followed = FollowedSearch(self.game, self._config)
        self._initial = self._followed.state
        self._allowed: tuple[int, ...] = ()
        self._thread: threading.Thread | None = None
        self._following: threading.Thread | None = None
        self._stopped = threading.Event()

    def set_position(self, start: State | None = None, *, moves: Sequence[int] = ()) -> None:
        """Set the position: the one after `moves` from `start`, by default the initial one.

        The tree is kept if `start` is the same object as before and the game goes on.

        Raises:
            GameError: a move is illegal; the position is as before.
        """
        self._require_idle()
        self._followed.set_position(self._initial if start is None else start, moves)

    @property
    def state(self) -> State:
        """The current position."""
        return self._followed.state

    def new_game(self) -> None:
        """Forget the tree; the position stays."""
        self._require_idle()
        self._followed.change(self._config)

    def change(self, config: SearchConfig) -> None:
        """Search with other settings from now on, and forget the tree."""
        self._config = config
        self.new_game()

    def follow(self, action: int) -> None:
        """Advance by the answered move, in a thread of its own, because a large tree takes a second.

        `on_answer` may call this as its last action.
        """
        self._following = threading.Thread(target=self._followed.advance, args=(action,), name="advance")
        self._following.start()

    def think(self, task: Task) -> None:
        """Begin a search in a thread of its own.

        Raises:
            GameError: the game is over.
        """
        self._require_idle()
        if not self.game.legal_actions(self.state, past_soft_endings=True):
            raise GameError(f"The game is over ({self.game.ending(self.state)}), there is nothing to search.")
        if task.allowed != self._allowed:
            # Visits that other allowed moves received would distort the choice.
            self._followed.forget()
            self._allowed = task.allowed
        self._stopped.clear()
        self._thread = threading.Thread(target=self._think, args=(task, self._clock()), name="search")
        self._thread.start()

    def stop(self) -> None:
        """End the running search, if any, and return when it has been answered."""
        self._stopped.set()
        self.wait()

    def wait(self) -> None:
        """Return when the running search, if any, has been answered."""
        if self._thread is not None:
            self._thread.join()

    @property
    def is_thinking(self) -> bool:
        """Whether a search is running, or waits to be stopped."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def memory_used(self) -> float:
        """The used share of the memory that the settings allow, in [0, 1]."""
        return min(self._followed.search.num_bytes / (self._config.memory_mib << 20), 1.0)

    @property
    def has_tables(self) -> bool:
        """Whether the search has tables of exact results."""
        return bool(self._config.syzygy_path or self._config.table_files)

    def _require_idle(self) -> None:
        if self.is_thinking:
            raise RuntimeError("a search is running: stop it first")
        following, self._following = self._following, None
        if following is not None:
            following.join()

    def _think(self, task: Task, started: float) -> None:
        try:
            driver = SearchDriver(
                self._followed.search,
                self.player.evaluator,
                self._config,
                by=self.player.own_name,
                on_report=self._on_report,
                report_seconds=self._report_seconds,
                is_stopped=self._stopped.is_set,
                clock=self._clock,
            )
            found = driver.run(task, started=started)
            if task.is_endless:
                if not self._stopped.is_set():
                    self._on_report(found)  # the search is over; the answer waits for `stop`
                self._stopped.wait()
            self._on_answer(found)
        except BaseException as error:  # the client waits for an answer
            self._followed.change(self._config)
            # A panic of the core is not an Exception.
            self._on_failure(error if isinstance(error, Exception) else RuntimeError(repr(error)))
