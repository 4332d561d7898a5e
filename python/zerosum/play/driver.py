"""A search from its beginning to its end: `SearchDriver` answers it, watches the clock, and reports.

`Player.analyse`, the engine behind the protocols and our player in a match all search by it. A `Task` says what to
search and for how long. With an updatable network the search is alpha-beta (`deepening_driver.py`).
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

import numpy as np

from zerosum._core import UNLIMITED_SIMULATIONS, Root, Search
from zerosum.contest.time_manager import Progress
from zerosum.network.evaluators import Evaluator
from zerosum.network.evaluators.evaluator import CPU_FULL_BATCH
from zerosum.network.evaluators.updatable import UpdatableEvaluator
from zerosum.play.analysis import Analysis, AnalysisLine
from zerosum.play.deepening_driver import DeepeningDriver
from zerosum.play.task import Task as Task
from zerosum.search import SearchConfig
from zerosum.search.answering import answer_all

REPORT_SECONDS = 0.5
"""The interval between two reports."""
FIRST_LEAVES = 100
"""The search for forced results begins with the positions of so many simulations."""
LEAST_NODES = 512
"""Positions of that search between two batches, at least."""
MOST_NODES = 1000
"""Positions of that search between two looks at the clock."""
EDGES_PER_NODE = 100
"""Moves between the positions of a table for each position of that search; a search by time takes a fifth."""
TABLE_SHARE = 0.5
"""The share of the time for that search while it builds a table, whose end makes all other work needless."""
LAST_LEAVES = 1000
"""A win that ended the search is shortened with the positions of so many simulations, unless fewer were asked for."""
LAST_NODES = 100_000
"""Positions of that search after the end of the simulations, at most."""
LAST_PART = 250
"""Positions of it between two looks at the clock: 8 to 23 CPU-milliseconds in minichess."""
IN_FLIGHT_SHARE = 1 / 16
"""Largest share of a tree's visits that is in flight, for batches of more than `CPU_FULL_BATCH` (docs/search.md)."""


def batch_size(config: SearchConfig, num_visits: int) -> int:
    """The largest batch of a tree with so many visits: the settings' own, or fewer leaves as long as the tree is small.

    All batches in flight have at most `IN_FLIGHT_SHARE` of the visits, or `CPU_FULL_BATCH` leaves each. Beyond these it
    is a power of 2, so that a device has few sizes to prepare.

    >>> config = SearchConfig(leaves_in_flight=2048, batches_in_flight=2)
    >>> [batch_size(config, visits) for visits in (0, 1023, 1024, 20_000, 32_768, 1_000_000)]
    [16, 16, 32, 512, 1024, 1024]
    """
    share = int(num_visits * IN_FLIGHT_SHARE / config.num_batches)
    power = 1 << max(share.bit_length() - 1, 0)
    return min(max(power, CPU_FULL_BATCH), config.leaves_a_batch)


def progress_of(root: Root) -> Progress:
    """The state of a search whose root has been evaluated, for the time manager."""
    assert root.best_action is not None
    best = int(np.searchsorted(root.actions, root.best_action))
    return Progress(
        best_action=root.best_action,
        best_visits=int(root.visits[best]),
        second_visits=int(np.delete(root.visits, best).max(initial=0)),
        is_best_by_value=bool(root.q[best] >= np.fmax.reduce(root.q, initial=-1.0)),
        num_moves=len(root.actions),
        num_simulations=root.num_simulations - root.num_reused,
    )


class SearchDriver:
    """One search of the position at the root of a tree."""

    def __init__(
        self,
        search: Search,
        evaluator: Evaluator,
        config: SearchConfig,
        *,
        by: str = "",
        on_report: Callable[[Analysis], None] | None = None,
        report_seconds: float = REPORT_SECONDS,
        is_stopped: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set up a search, without beginning it.

        Args:
            search: The search; its tree 0 has the position and no leaves in flight.
            evaluator: The evaluator of its leaves.
            config: The settings of the search.
            by: The name of the player, for the analyses.
            on_report: Called with the analysis so far, every `report_seconds`.
            report_seconds: The interval between two reports.
            is_stopped: Called between two batches; True ends the search.
            clock: A monotonic clock in seconds.
        """
        self._search, self._evaluator, self._config, self._by = search, evaluator, config, by
        self._on_report, self._report_seconds = on_report, report_seconds
        self._is_stopped, self._clock = is_stopped, clock
        self._state = search.state(0)
        self._deepening: DeepeningDriver | None = None

    def run(self, task: Task, *, started: float | None = None) -> Analysis:
        """Search until a limit is reached, with at least one simulation. Another `run` continues it.

        Args:
            task: The limits.
            started: The time on the clock from which seconds count; now if not given.
        """
        search, config = self._search, self._config
        if isinstance(self._evaluator, UpdatableEvaluator):
            if self._deepening is None:
                self._deepening = DeepeningDriver(
                    search.game,
                    self._state,
                    self._evaluator,
                    config,
                    by=self._by,
                    on_report=self._on_report,
                    report_seconds=self._report_seconds,
                    is_stopped=self._is_stopped,
                    clock=self._clock,
                )
            return self._deepening.run(task, started=started)
        self._task, self._started, self._stop_reason = task, self._clock() if started is None else started, ""
        self._reported, self._num_leaves, self._num_collisions = self._started, 0, search.num_collisions
        self._leaves_before, self._proof_nodes, self._proof_seconds = search.num_leaves, 0, 0.0
        if task.report_seconds is not None:
            self._report_seconds = task.report_seconds
        search.restrict(0, task.allowed)
        search.favour(0, ())
        num_visits = None if task.is_endless else task.num_visits
        search.begin(0, min(num_visits or UNLIMITED_SIMULATIONS, UNLIMITED_SIMULATIONS))
        self._num_kept = search.root(0).num_simulations
        while True:
            self._num_leaves += answer_all(
                search,
                self._evaluator,
                max_leaves=self._batch_size,
                num_batches=config.num_batches,
                is_over=self._is_over,
            )
            self._finish_proof()
            root = search.root(0)
            if self._stop_reason or root.stop_reason != "proven" or not (favoured := self._favoured(root)):
                return self._analysis(root, stop_reason=root.stop_reason or self._stop_reason)
            search.favour(0, favoured)  # the search goes on

    def _batch_size(self, answered: int) -> int:
        """The largest batch after so many leaves of `answer_all`; visits without a leaf do not count."""
        return batch_size(self._config, self._num_kept + self._num_leaves + answered)

    def _prove(self) -> None:
        """Search on for forced results, as far as the simulations made so far allow, or the time."""
        num_leaves = self._search.num_leaves - self._leaves_before
        num_nodes = self._config.proof_nodes * max(num_leaves, FIRST_LEAVES) - self._proof_nodes
        if num_nodes <= 0 or (num_nodes < LEAST_NODES and self._proof_nodes) or self._is_stopped() or self._is_late():
            return
        started, edges_per_node = self._clock(), EDGES_PER_NODE
        if self._task.num_visits is None or self._task.is_endless:
            share = self._task.proof_share
            if self._search.builds_table(0):
                share = max(share, TABLE_SHARE)
            if self._proof_seconds > share * (started - self._started):
                return
            num_nodes, edges_per_node = min(num_nodes, MOST_NODES), EDGES_PER_NODE // 5
        self._search.prove(0, num_nodes, max_edges=edges_per_node * num_nodes)
        self._proof_nodes += num_nodes
        self._proof_seconds += self._clock() - started

    def _finish_proof(self) -> None:
        """At the end of a search use the positions that are left, and look for a shorter win if one is known.

        A stop and the end of the time end this, too, as does `Task.is_enough`, behind which a clock may run.
        """
        num_leaves = self._search.num_leaves - self._leaves_before
        if self._stop_reason:
            return  # a clock may be running
        if self._search.forced(0) is not None:
            num_leaves = max(num_leaves, min(self._task.num_visits or LAST_LEAVES, LAST_LEAVES))
        elif self._task.num_visits is None:
            return
        num_nodes = min(self._config.proof_nodes * num_leaves - self._proof_nodes, LAST_NODES)
        while num_nodes > 0 and not self._is_stopped() and not self._is_late():
            if self._reason_enough(self._search.root(0)):
                return
            part = min(num_nodes, LAST_PART)
            self._search.prove(0, part, max_edges=EDGES_PER_NODE * part)
            self._proof_nodes += part
            num_nodes -= part

    def _is_late(self) -> bool:
        task = self._task
        return task.seconds is not None and not task.is_endless and self._clock() - self._started >= task.seconds

    def _reason_enough(self, root: Root) -> str | None:
        task = self._task
        if task.is_enough is None or task.is_endless or root.num_simulations == 0:
            return None
        return task.is_enough(root, self._clock() - self._started)

    def _is_over(self) -> bool:
        """Whether to end the search; also reports, and sets the moves to search first."""
        self._prove()
        task, now = self._task, self._clock()
        stop_reason = "stopped" if self._is_stopped() else "time" if self._is_late() else ""
        has_limits = not stop_reason and not task.is_endless
        is_due = self._on_report is not None and now - self._reported >= self._report_seconds
        # The statistics of a large root take time: they are fetched only if something needs them.
        if not (
            stop_reason or is_due or task.num_lines > 1 or (has_limits and (task.is_enough or task.depth is not None))
        ):
            return False
        root = self._search.root(0)
        if root.num_simulations == 0:
            return False
        if has_limits:
            stop_reason = self._reason_enough(root) or ("depth" if self._is_deep() else "")
        self._stop_reason = stop_reason
        if stop_reason:
            return True
        if task.num_lines > 1:
            self._search.favour(0, self._favoured(root))
        if is_due and self._on_report is not None:
            self._reported = now
            self._on_report(self._analysis(root, stop_reason=None))
        return False

    def _is_deep(self) -> bool:
        if self._task.depth is None:
            return False
        line, game, state = self._search.best_line(0), self._search.game, self._state
        if not line or len(line) >= self._task.depth:
            return bool(line)
        return game.outcome(functools.reduce(game.play, line, state)) is not None

    def _favoured(self, root: Root) -> list[int]:
        """The moves to search first: those reported with less than their share of the visits.

        If the best move is proven, these are all moves that are not proven.
        """
        lower, upper, order = root.lower.tolist(), root.upper.tolist(), self._order(root)
        reported = order[: self._task.num_lines]
        is_open = [low < up for low, up in zip(lower, upper, strict=True)]
        if self._task.num_lines == 1 or not any(is_open[index] for index in reported):
            return []
        least = self._task.line_share * root.num_simulations
        favoured = [index for index in reported if is_open[index] and root.visits[index] < least]
        if not favoured and max(lower[index] for index in order) == max(upper[index] for index in order):
            favoured = [index for index in order if is_open[index]]
        return [int(root.actions[index]) for index in favoured]

    def _order(self, root: Root) -> list[int]:
        """The indices of the allowed moves, the best first.

        The order: the move to play, proven wins, the others by visits and priors, proven losses.
        """
        allowed = set(self._task.allowed)
        actions, visits, priors = root.actions.tolist(), root.visits.tolist(), root.priors.tolist()
        # A bound on the right side of 0 proves who wins.
        wins = [(low > 0) - (up < 0) for low, up in zip(root.lower.tolist(), root.upper.tolist(), strict=True)]
        indices = [index for index, action in enumerate(actions) if not allowed or action in allowed]
        best = root.best_action
        return sorted(indices, key=lambda index: (actions[index] != best, -wins[index], -visits[index], -priors[index]))

    def _analysis(self, root: Root, *, stop_reason: str | None) -> Analysis:
        lines: list[AnalysisLine] = []
        for index in self._order(root)[: self._task.num_lines]:
            if root.visits[index] == 0 and lines and not self._task.line_share:
                break  # moves without visits are left out if no share is kept for them
            lines.append(self._line(root, index))
        chosen: tuple[int, ...] = ()
        if stop_reason is not None and (action := self._task.choose(root)) is not None:
            chosen = tuple(self._search.best_line(0, action)) or (action,)
        return Analysis(
            game=self._search.game,
            state=self._state,
            root=root,
            lines=tuple(lines),
            num_simulations=root.num_simulations - root.num_reused,
            seconds=self._clock() - self._started,
            stop_reason=stop_reason,
            by=self._by,
            chosen=chosen,
            num_leaves=self._num_leaves,
            num_collisions=self._search.num_collisions - self._num_collisions,
            num_table_hits=self._search.num_table_hits,
        )

    def _line(self, root: Root, index: int) -> AnalysisLine:
        action, visits, draw_shares = int(root.actions[index]), int(root.visits[index]), root.draw_shares
        exact = float(root.lower[index]) if root.lower[index] == root.upper[index] else self._ending(root, action)
        # A move without visits gets the network's value of the position.
        value = float(root.q[index]) if visits else root.net_value
        return AnalysisLine(
            game=self._search.game,
            state=self._state,
            actions=tuple(self._search.best_line(0, action)) or (action,),
            visits=visits,
            value=value if exact is None else exact,
            prior=float(root.priors[index]),
            draw_share=float(draw_shares[index]) if draw_shares is not None and visits else None,
            proven=exact is not None,
        )

    def _ending(self, root: Root, action: int) -> float | None:
        """The result if a move ends the game; a search with exact bounds knows it by itself."""
        if self._config.exact_bounds:
            return None
        game = self._search.game
        result = game.outcome(game.play(self._state, action))
        return None if result is None else result * (1 if root.player == 0 else -1)
