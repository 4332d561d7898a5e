"""An engine's thinking, whatever protocol asks for it: one position, one search in a thread of its own, reports of it.

    engine = Engine(player, on_report=print, on_answer=print, on_failure=print)
    engine.set_position(moves=[3, 3])
    engine.think(Task(seconds=5.0))
    engine.wait()

`think` returns at once. `on_report` is told what the search has found so far at a steady pace, and `on_answer` once for
each `think`: when a limit is reached, or after `stop`. A `Task` that is endless is answered after `stop` alone, even if
its position is solved. If the search fails, or `on_answer` does, `on_failure` answers instead. What is known of a
position is kept when the next one follows from it by a few moves.

The three functions are called from the search's thread. Values are for the player to move.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from zerosum._core import UNLIMITED_SIMULATIONS, Root
from zerosum.base.errors import GameError
from zerosum.evaluators import answer_all
from zerosum.games import State
from zerosum.play.player import Player
from zerosum.search import SearchConfig, new_search

REPORT_SECONDS = 0.5
"""Between two reports of a search under way."""


@dataclass(frozen=True)
class Task:
    """What to think about, and until when: the first of the limits given ends it."""

    simulations: int | None = None
    """So many, those included that are known from before."""
    seconds: float | None = None
    depth: int | None = None
    """Plies of the best line, or fewer if it ends the game before."""
    is_endless: bool = False
    """No limit counts, and nothing is answered before `Engine.stop`."""
    allowed: tuple[int, ...] = ()
    """Actions to choose from; all legal ones, if there are none."""
    num_lines: int = 1
    """Moves that are reported, the best first. With several the search goes on until all of these are proven."""
    line_share: float = 0.05
    """Of all visits, what each of those moves gets at the least until it is proven."""
    report_seconds: float | None = None
    """Between two reports, instead of what the engine was made with."""
    choose: Callable[[Root], int | None] = lambda root: root.best_action
    """The move to play after the search, of those allowed; None if there is none."""
    is_enough: Callable[[Root, float], str | None] = lambda _root, _seconds: None
    """Asked again and again, with what was found and after how many seconds: why it is enough, or None."""


@dataclass(frozen=True)
class Line:
    """One move and what would follow."""

    actions: tuple[int, ...]
    """The move, and best play from there as far as it was searched."""
    visits: int
    value: float
    """In [-1, 1], the expected result, exact if `proven`."""
    prior: float
    draw: float | None
    """How likely a draw is, if the search knows."""
    proven: bool


LCB_DEVIATIONS = 5.0
"""By how many standard errors `lower_win_rate` is below the win rate, as KataGo's `lcb`."""


def win_rate(value: float) -> float:
    """In [0, 1], of an expected result in [-1, 1]; a draw is half a win."""
    return min(max((1 + value) / 2, 0.0), 1.0)


def lower_win_rate(value: float, visits: int) -> float:
    """The win rate less what it may err by.

    Results in [0, 1] whose mean is p deviate by at most sqrt(p (1 - p)), and the search keeps no closer bound.
    """
    rate = win_rate(value)
    return max(0.0, rate - LCB_DEVIATIONS * math.sqrt(rate * (1 - rate) / max(visits, 1)))


@dataclass(frozen=True)
class Report:
    """What a search has found."""

    lines: tuple[Line, ...]
    """The best first, at most `Task.num_lines`; empty before the first evaluation."""
    simulations: int
    """In the tree, those known from before included."""
    new_simulations: int
    seconds: float
    limit: str | None
    """Why it ended; None before.

    "simulations", "time", "depth", "proven" (what is reported, or the best of the allowed moves), "memory", "stopped"
    or what `Task.is_enough` said.
    """
    chosen: tuple[int, ...]
    """The move to play, and best play from there; empty while the search goes on, and where it found nothing."""
    root: Root
    """All of what was found at the root; its value is the mean of what was backed up, that of a line the move's."""


class Engine:
    """One position at a time, thought about by a `Player`'s evaluator and settings."""

    def __init__(
        self,
        player: Player,
        *,
        on_report: Callable[[Report], None],
        on_answer: Callable[[Report], None],
        on_failure: Callable[[Exception], None],
        report_seconds: float = REPORT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.player, self.game = player, player.game
        self._on_report, self._on_answer, self._on_failure = on_report, on_answer, on_failure
        self._report_seconds, self._clock = report_seconds, clock
        self._config = player.config_by_time()
        self._search = new_search(self.game, self._config)
        self._initial = self._start = self.state = self.game.initial_state()
        self._moves: tuple[int, ...] = ()
        self._allowed: tuple[int, ...] = ()
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()

    def set_position(self, start: State | None = None, *, moves: Sequence[int] = ()) -> None:
        """Think about the position after `moves` from `start`, the initial one if not given.

        `start` is the same object as before where the game goes on: then what is known of the position is kept.

        Raises:
            GameError: a move is illegal; the position is as before.
        """
        self._require_idle()
        moves = tuple(moves)
        start = self._initial if start is None else start
        goes_on = start is self._start and moves[: len(self._moves)] == self._moves
        state = self.state if goes_on else start
        states = [state]
        for action in moves[len(self._moves) if goes_on else 0 :]:
            if action not in self.game.legal_actions(states[-1], past_soft_endings=True):
                raise GameError(f"Action {action} is illegal in\n{self.game.draw(states[-1])}")
            states.append(self.game.play(states[-1], action))
        if goes_on:
            for action in moves[len(self._moves) :]:
                self._search.advance(0, action, keep=True)
        else:
            self._search.reset(0, states[-1])
        self._start, self._moves, self.state = start, moves, states[-1]

    def new_game(self) -> None:
        """Forget what is known; the position stays."""
        self._require_idle()
        self._search = new_search(self.game, self._config)
        self._search.reset(0, self.state)

    def change(self, config: SearchConfig) -> None:
        """Search with other settings from now on, and forget what is known."""
        self._config = config
        self.new_game()

    def think(self, task: Task) -> None:
        """Begin, in a thread of its own.

        Raises:
            GameError: the rules leave no move here.
        """
        self._require_idle()
        if not self.game.legal_actions(self.state, past_soft_endings=True):
            raise GameError(f"The game is over ({self.game.ending(self.state)}), there is nothing to search.")
        if task.allowed != self._allowed:
            # Visits that were steered elsewhere would speak for moves that are no better.
            self._search.reset(0, self.state)
            self._allowed = task.allowed
        self._stopped.clear()
        self._thread = threading.Thread(target=self._think, args=(task, self._clock()), name="search")
        self._thread.start()

    def stop(self) -> None:
        """End the search under way, if there is one, and return when it has been answered."""
        self._stopped.set()
        self.wait()

    def wait(self) -> None:
        """Return when the search under way, if there is one, has been answered."""
        if self._thread is not None:
            self._thread.join()

    @property
    def is_thinking(self) -> bool:
        """A search is under way, or waits to be stopped."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def memory_used(self) -> float:
        """In [0, 1], how much of what the settings allow for."""
        return min(self._search.num_bytes / (self._config.memory_mib << 20), 1.0)

    def _require_idle(self) -> None:
        if self.is_thinking:
            raise RuntimeError("a search is under way: stop it first")

    def _think(self, task: Task, started: float) -> None:
        try:
            report = _Thought(self, task, started).run()
            if task.is_endless:
                if not self._stopped.is_set():
                    self._on_report(report)  # the search is over, and nothing is said until somebody stops it
                self._stopped.wait()
            self._on_answer(report)
        except BaseException as error:  # whatever it is: whoever waits for an answer has to hear of it
            self._search = new_search(self.game, self._config)
            self._search.reset(0, self.state)
            # A panic of the core is no Exception.
            self._on_failure(error if isinstance(error, Exception) else RuntimeError(repr(error)))


class _Thought:
    """One `think`."""

    def __init__(self, engine: Engine, task: Task, started: float) -> None:
        self._engine, self._task, self._started = engine, task, started
        self._search, self._config = engine._search, engine._config
        self._reported, self._limit = started, ""
        self._report_seconds = engine._report_seconds if task.report_seconds is None else task.report_seconds

    def run(self) -> Report:
        task, config = self._task, self._config
        num_simulations = None if task.is_endless else task.simulations
        self._search.restrict(0, task.allowed)
        self._search.favour(0, ())
        self._search.begin(0, min(num_simulations or UNLIMITED_SIMULATIONS, UNLIMITED_SIMULATIONS))
        self._reused = self._search.root(0).num_simulations
        while True:
            answer_all(
                self._search,
                self._engine.player.evaluator,
                max_leaves=config.leaves_a_batch,
                num_batches=config.num_batches,
                is_over=self._look,
            )
            root = self._search.root(0)
            if self._limit or root.limit != "proven" or not (favoured := self._favoured(root)):
                return self._report(root, limit=root.limit or self._limit)
            self._search.favour(0, favoured)  # so the search goes on

    def _look(self) -> bool:
        """Whether it is enough; reports and shares of visits are seen to on the way."""
        task, root = self._task, self._search.root(0)
        now = self._engine._clock()
        elapsed = now - self._started
        if root.num_simulations == 0:
            return False
        if self._engine._stopped.is_set():
            self._limit = "stopped"
        elif not task.is_endless:
            is_late = task.seconds is not None and elapsed >= task.seconds
            self._limit = "time" if is_late else task.is_enough(root, elapsed) or ("depth" if self._is_deep() else "")
        if self._limit:
            return True
        if task.num_lines > 1:
            self._search.favour(0, self._favoured(root))
        if now - self._reported >= self._report_seconds:
            self._reported = now
            self._engine._on_report(self._report(root, limit=None))
        return False

    def _is_deep(self) -> bool:
        if self._task.depth is None:
            return False
        line, game, state = self._search.best_line(0), self._engine.game, self._engine.state
        if not line or len(line) >= self._task.depth:
            return bool(line)
        for action in line:
            state = game.play(state, action)
        return game.outcome(state) is not None

    def _favoured(self, root: Root) -> list[int]:
        """The moves that are to be searched first: those reported that have had less than their share of the visits.

        Where the best move is proven, any that are not, for these are all that is left to find out.
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
        """The moves that may be reported, the best first, by index.

        The one to play, then wins, then by visits and priors, and losses last, as far as these are proven.
        """
        allowed = set(self._task.allowed)
        actions, visits, priors = root.actions.tolist(), root.visits.tolist(), root.priors.tolist()
        # A bound on the right side of 0 proves who wins.
        wins = [(low > 0) - (up < 0) for low, up in zip(root.lower.tolist(), root.upper.tolist(), strict=True)]
        indices = [index for index, action in enumerate(actions) if not allowed or action in allowed]
        best = root.best_action
        return sorted(indices, key=lambda index: (actions[index] != best, -wins[index], -visits[index], -priors[index]))

    def _report(self, root: Root, *, limit: str | None) -> Report:
        lines: list[Line] = []
        for index in self._order(root)[: self._task.num_lines]:
            if root.visits[index] == 0 and lines and not self._task.line_share:
                break  # nobody asked for moves that the search does not care for
            lines.append(self._line(root, index))
        chosen: tuple[int, ...] = ()
        if limit is not None and (action_chosen := self._task.choose(root)) is not None:
            chosen = tuple(self._search.best_line(0, action_chosen)) or (action_chosen,)
        return Report(
            lines=tuple(lines),
            simulations=root.num_simulations,
            new_simulations=root.num_simulations - self._reused,
            seconds=self._engine._clock() - self._started,
            limit=limit,
            chosen=chosen,
            root=root,
        )

    def _line(self, root: Root, index: int) -> Line:
        action, visits, draws = int(root.actions[index]), int(root.visits[index]), root.draws
        exact = float(root.lower[index]) if root.lower[index] == root.upper[index] else self._ending(root, action)
        # Of a move that was not tried nothing is known but what the network says of the position.
        value = float(root.q[index]) if visits else root.net_value
        return Line(
            actions=tuple(self._search.best_line(0, action)) or (action,),
            visits=visits,
            value=value if exact is None else exact,
            prior=float(root.priors[index]),
            draw=float(draws[index]) if draws is not None and visits else None,
            proven=exact is not None,
        )

    def _ending(self, root: Root, action: int) -> float | None:
        """The result if a move ends the game: a search without bounds does not keep that it is certain."""
        if self._config.exact_bounds:
            return None
        game = self._engine.game
        result = game.outcome(game.play(self._engine.state, action))
        return None if result is None else result * (1 if root.player == 0 else -1)
