"""An alpha-beta search from its beginning to its end, with the tasks and analyses of `driver.SearchDriver`.

A player with an updatable network is searched by it wherever a `SearchDriver` would search a tree: nodes count as
simulations.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass

from zerosum._core import DeepeningSearch, Iteration, Root
from zerosum.games import Rules, State
from zerosum.network.evaluators.updatable import UpdatableEvaluator, value_of
from zerosum.play.analysis import Analysis, AnalysisLine
from zerosum.play.task import Task
from zerosum.search import SearchConfig
from zerosum.search.config import exact_tables

POLL_S = 0.005
"""Seconds between two looks at the clock and at what a client asks for."""
MOST_TABLE_MIB = 256
"""Largest memory of the transposition table."""
ENTRIES_PER_MIB = (1 << 20) // 24
"""Positions of a table in a MiB."""
LINE_NODES = 5000
"""Nodes for each part of a decided line that the table has cut short: a clock may be running."""
MOST_NODES = (1 << 32) - 1
"""Nodes that a report can count."""


@dataclass(frozen=True)
class _Line:
    """A line of the newest depth, or of the one before it."""

    found: Iteration
    value: float
    """For the player to move, in [-1, 1]."""

    @property
    def action(self) -> int:
        """Its first move."""
        return self.found.line[0]


class DeepeningDriver:
    """One search of one position. Another `run` continues it, with the table of the runs before."""

    def __init__(
        self,
        game: Rules,
        state: State,
        evaluator: UpdatableEvaluator,
        config: SearchConfig,
        *,
        by: str,
        on_report: Callable[[Analysis], None] | None,
        report_seconds: float,
        is_stopped: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """The arguments are those of a `SearchDriver`. Of the settings it takes the memory and the tables.

        Raises:
            GameError: Syzygy tables are given, and the game is not chess.
        """
        self._game, self._state, self._evaluator, self._by = game, state, evaluator, by
        self._on_report, self._report_seconds = on_report, report_seconds
        self._is_stopped, self._clock = is_stopped, clock
        tables = exact_tables(game, config)
        self._search = DeepeningSearch(
            game,
            evaluator.network,
            piece_values=evaluator.piece_values,
            table_entries=min(config.memory_mib, MOST_TABLE_MIB) * ENTRIES_PER_MIB,
            syzygy=tables.syzygy,
            results=tables.results,
        )
        self._net_value = float(evaluator.evaluate(game.encode([state])).values[0])
        self._found: list[_Line] = []
        """The best lines so far, ordered by value."""
        self._depth = self._num_nodes = self._nodes_before = 0
        """The depth that was finished, all nodes, and those before the search's count began."""
        self._allowed: list[int] = []
        self._is_behind = False
        """Whether the search begins anew, a ply deep, and is to catch up."""

    def run(self, task: Task, *, started: float | None = None) -> Analysis:
        """Search until a limit is reached, at least a ply deep. Nodes of earlier runs count, seconds do not."""
        self._task, self._started = task, self._clock() if started is None else started
        self._reported, stop_reason = self._started, ""
        legal = self._game.legal_actions(self._state, past_soft_endings=True)
        allowed = [action for action in legal if action in task.allowed] if task.allowed else legal
        if allowed != self._allowed:
            self._allowed, self._found, self._depth, self._num_nodes = allowed, [], 0, 0
            self._search.begin(self._state, allowed)
        self._nodes_before, self._is_behind = self._num_nodes, self._depth > 0
        with ThreadPoolExecutor(1, thread_name_prefix="alpha-beta") as pool:
            while not stop_reason:
                stop_reason = self._deepen(pool, allowed)
                if self._on_report is not None and not stop_reason and self._is_due_to_report():
                    self._reported = self._clock()
                    self._on_report(self._analysis(None))
        return self._analysis(stop_reason)

    def hold(self) -> None:
        """Let a run in another thread stand still, between two positions, until `release`."""
        self._search.hold()

    def release(self) -> None:
        """Let a run that is held go on."""
        self._search.release()

    def _deepen(self, pool: ThreadPoolExecutor, allowed: list[int]) -> str:
        """Search all requested lines a ply deeper. Returns the reason to end the search, or ""."""
        depth, lines, rest, task = self._depth + 1, list[Iteration](), list(allowed), self._task
        num_lines = min(task.num_lines, len(allowed))
        for _ in range(num_lines):
            found, reason = self._one_line(pool, depth, rest if num_lines > 1 else None)
            if found is not None:
                lines.append(found)
                rest.remove(found.line[0])
            if reason:
                self._take(lines)
                return reason
        self._depth = depth
        self._take(lines)
        if all(found.plies_to_end is not None and abs(found.plies_to_end) <= depth for found in lines):
            return "proven"
        if task.is_endless:
            return ""
        if task.depth is not None and depth >= task.depth:
            return "depth"
        if task.num_visits is not None and self._num_nodes >= task.num_visits:
            return "simulations"
        return ""

    def _one_line(self, pool: ThreadPoolExecutor, depth: int, rest: list[int] | None) -> tuple[Iteration | None, str]:
        """The best line `depth` plies deep, and the reason if the search is to end.

        Among several lines it is the best of the moves left, searched from the first ply on: the table has it already.
        """
        task, nodes = self._task, None
        before = self._num_nodes if rest or self._is_behind else self._nodes_before
        if task.num_visits is not None and not task.is_endless and depth > 1:
            nodes = max(1, task.num_visits - before)
        if rest is None and not self._is_behind:
            future = pool.submit(self._search.deepen, nodes=nodes)
        else:
            moves = self._allowed if rest is None else rest
            future = pool.submit(self._search.think, self._state, nodes=nodes, depth=depth, allowed=moves)
        self._is_behind = False
        reason = self._wait(future)
        found = future.result()
        if found is None:
            return None, reason or ("simulations" if nodes is not None else "depth")
        self._num_nodes = found.num_nodes + before
        is_shallow = found.depth < depth and found.plies_to_end is None
        reason = reason or ("simulations" if is_shallow or not found.is_complete else "")
        return (None if is_shallow and self._found else found), reason

    def _wait(self, future: Future[Iteration | None]) -> str:
        """Wait for an iteration, or stop it if a limit is reached. A first iteration is always finished."""
        reason = ""
        while True:
            try:
                future.result(POLL_S)
            except NotYet:
                reason = reason or (self._stop_reason() if self._depth else "")
                if reason:  # again and again: a search that had not begun yet takes a stop back
                    self._search.stop()
            else:
                return reason or (self._stop_reason() if self._depth else "")

    def _stop_reason(self) -> str:
        task, elapsed = self._task, self._clock() - self._started
        if self._is_stopped():
            return "stopped"
        if task.is_endless:
            return ""
        if task.seconds is not None and elapsed >= task.seconds:
            return "time"
        if task.is_enough is not None and self._found:
            return task.is_enough(self._root(evenly=True), elapsed) or ""
        return ""

    def _take(self, lines: list[Iteration]) -> None:
        """Take over the lines of an iteration; those that it did not come to stay, ordered by value with the others.

        The first line of an iteration that was finished is the best of all moves at its depth, so what a shallower
        search has promised above it no longer holds.
        """
        moves = {found.line[0] for found in lines}
        most = value_of(lines[0]) if lines and lines[0].is_complete else 1.0
        others = [
            line if line.found.plies_to_end is not None else _Line(line.found, min(line.value, most))
            for line in self._found
            if line.action not in moves
        ]
        known = [*(_Line(found, value_of(found)) for found in lines), *others]
        self._found = sorted(known, key=lambda line: -line.value)[: max(self._task.num_lines, 1)]

    def _shares(self) -> list[int]:
        """The nodes of each line: most of them are the best one's, because a window leaves little to the others."""
        others = [1] * (len(self._found) - 1)
        return [max(1, min(self._num_nodes, MOST_NODES) - len(others)), *others] if self._found else []

    def _is_due_to_report(self) -> bool:
        seconds = self._report_seconds if self._task.report_seconds is None else self._task.report_seconds
        return self._clock() - self._reported >= seconds

    def _root(self, *, evenly: bool = False) -> Root:
        """The statistics of the position. Nodes are visits; `evenly` shares them with another move.

        A time manager stops a tree search whose best move cannot be overtaken by visits, which here mean nothing.
        """
        searched = [
            (line.action, nodes, line.value, (line.found.plies_to_end or 0) > 0)
            for line, nodes in zip(self._found, self._shares(), strict=True)
        ]
        if evenly and len(searched) == 1:
            action, nodes, value, is_win = searched[0]
            other = next(
                (one for one in self._game.legal_actions(self._state, past_soft_endings=True) if one != action), None
            )
            if other is not None:
                searched = [(action, nodes // 2 + 1, value, is_win), (other, nodes // 2, value, False)]
        return Root.of_moves(self._game, self._state, searched, net_value=self._net_value, depth=self._depth)

    def _analysis(self, stop_reason: str | None) -> Analysis:
        root, num_legal = self._root(), max(1, len(self._game.legal_actions(self._state, past_soft_endings=True)))
        lines = tuple(
            AnalysisLine(
                game=self._game,
                state=self._state,
                actions=self._whole_line(line.found),
                visits=nodes,
                value=line.value,
                prior=1 / num_legal,
                draw_share=None,
                proven=line.found.plies_to_end is not None,
            )
            for line, nodes in zip(self._found, self._shares(), strict=True)
        )
        chosen: tuple[int, ...] = ()
        if stop_reason is not None and (action := self._task.choose(root)) is not None:
            known = next((line.actions for line in lines if line.actions[0] == action), None)
            chosen = known or (action,)
        return Analysis(
            game=self._game,
            state=self._state,
            root=root,
            lines=lines,
            num_simulations=root.num_simulations,
            seconds=self._clock() - self._started,
            stop_reason=stop_reason,
            by=self._by,
            chosen=chosen,
            num_leaves=self._num_nodes,
            num_table_hits=self._search.num_table_hits,
            depth=self._depth,
        )

    def _whole_line(self, found: Iteration) -> tuple[int, ...]:
        """The line of an iteration, to the end of the game if it is decided: the table cuts lines short.

        The game may be over earlier than the iteration promised: each part is the best one of a search of its own.
        """
        line, state = list(found.line), functools.reduce(self._game.play, found.line, self._state)
        while found.plies_to_end is not None and len(line) < abs(found.plies_to_end):
            if self._game.ending(state) is not None:
                break
            more = self._search.think(state, depth=abs(found.plies_to_end) - len(line), nodes=LINE_NODES)
            if more is None or more.plies_to_end is None:
                break
            line += more.line
            state = functools.reduce(self._game.play, more.line, state)
        return tuple(line)
