"""How long to think: a budget for the turn, and while the search runs, whether it may stop.

    manager = TimeManager(TimeConfig(), typical_plies=measure_game(game).plies, now=time.monotonic)
    manager.begin(left, num_plies=state.plies)          # the turn has begun, and the clock runs
    while manager.limit(Progress.of(root)) is None:  # asked after each round of the search
        ...

It knows neither games nor protocols: what the clock says comes as a `TimeLeft`, what the search has found
as a `Progress`. Start with `Budget.of`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from zerosum._core import Root
from zerosum.base.errors import SettingsError
from zerosum.base.settings import check, setting
from zerosum.contest.clock import TimeLeft

TIME = "time"
"""The search has lasted as long as it should."""
MAXIMUM = "maximum time"
"""It has lasted longer, because its best move was not settled, and may not go on."""
OVERTAKEN = "overtaken"
"""The best move cannot be overtaken in the time that is left."""
ONLY_MOVE = "only move"
"""There is one legal move."""

LAGS_REMEMBERED = 8
"""Turns that say how late the next ones may be."""


@dataclass(frozen=True)
class TimeConfig:
    """How time is managed.

    `manager` = "paper" thinks for 1/20 of the remaining main time at each move (Science 2018, supplement,
    "Evaluation"), plus the increment, or what a move has in overtime, less the overhead; nothing changes that during
    the search.

    "adaptive" has an optimum: main time in equal parts for the moves that are expected until the game or the session
    ends, plus what each move brings. It stops before that as soon as the best move by visits would stay the best if all
    further simulations went to the second (EARLY in Baier and Winands, "Time management for Monte Carlo tree search",
    IEEE TCIAIG 2016), and goes on beyond, at most until `maximum_factor` times as much, while the best move by visits
    is not the one with the best value or has changed in the last `settling_share` of the search (UNST, ibid.).

    Both keep the overhead for this move. For those that have to be made before more time comes they keep what turns of
    this player were late by lately (`TimeManager.lag_s`; the overhead until that is known), but once the overhead at
    least. Where the number of moves is unknown, all this is at most half of the time; so the less is left, the less is
    thought.
    """

    manager: str = setting(
        "adaptive",
        "'adaptive' (stops early where the best move is sure, goes on where it is not), or 'paper', 1/20 of the"
        " remaining time",
        choices=("adaptive", "paper"),
    )
    overhead_s: float = setting(
        0.1, "seconds between the search's end and the clock's, at worst; each turn keeps them", low=0.0, high=60.0
    )
    stop_early: bool = setting(True, "adaptive: stop once the best move cannot be overtaken, or is the only one")
    maximum_factor: float = setting(
        3.0, "adaptive: how many times the optimum an unsettled search may last (not measured)", low=1.0, high=20.0
    )
    settling_share: float = setting(
        0.25,
        "adaptive: a best move is settled if it has been for this share of the search (not measured)",
        low=0.0,
        high=1.0,
    )
    fewest_moves: int = setting(
        10,
        "adaptive: main time is for at least so many more moves, however near its end the game seems (not measured)",
        low=1,
    )
    most_moves: int = setting(
        40,
        "adaptive: main time is for at most so many more moves, however long the game may last (not measured)",
        low=1,
    )

    def __post_init__(self) -> None:
        check(self, "time")
        if self.fewest_moves > self.most_moves:
            raise SettingsError(
                f"time.fewest_moves is {self.fewest_moves}, more than time.most_moves, {self.most_moves}: change one."
            )

    def moves_expected(self, num_plies: int, typical_plies: float) -> float:
        """Moves of one player until the end of a game that usually lasts `typical_plies`."""
        return max(self.fewest_moves, min((typical_plies - num_plies) / 2, self.most_moves))


@dataclass(frozen=True)
class Progress:
    """What a search has found up to now."""

    best_action: int
    """The move that would be played now."""
    best_visits: int
    """Its visits, with those of a reused tree; 0 if there is no move to play yet."""
    second_visits: int
    """The most visits of any other move."""
    is_best_by_value: bool
    """Whether no other move has a better value."""
    num_moves: int
    """Legal moves."""
    num_simulations: int
    """Since this search began, pondering included."""

    @classmethod
    def of(cls, root: Root) -> Progress:
        """What a search under way has found; its root has been evaluated."""
        assert root.best_action is not None
        best = int(np.searchsorted(root.actions, root.best_action))
        return cls(
            best_action=root.best_action,
            best_visits=int(root.visits[best]),
            second_visits=int(np.delete(root.visits, best).max(initial=0)),
            is_best_by_value=bool(root.q[best] >= np.fmax.reduce(root.q, initial=-1.0)),
            num_moves=len(root.actions),
            num_simulations=root.num_simulations - root.num_reused,
        )


@dataclass(frozen=True)
class Budget:
    """Seconds of a turn, of the player's own time; both are infinite without a clock, and 0 says: answer at once."""

    optimum_s: float
    maximum_s: float
    """At least the optimum; the flag does not fall as long as it and the overhead take."""

    @classmethod
    def of(
        cls, config: TimeConfig, left: TimeLeft, *, num_plies: int, typical_plies: float, lag_s: float | None = None
    ) -> Budget:
        """What may be thought in a turn, by a manager's rule.

        Args:
            config: The rule and the overhead.
            left: What the clock says; it may be below 0.
            num_plies: How many were played in the game.
            typical_plies: How many plies a game lasts (`zerosum.games.measure_game`).
            lag_s: What a turn is usually late by, the overhead if it is not known.
        """
        if not left.is_limited:
            return cls(math.inf, math.inf)
        main, overhead = max(left.main_s, 0.0), config.overhead_s
        lag = overhead if lag_s is None else min(lag_s, overhead)
        expected = config.moves_expected(num_plies, typical_plies)
        has_overtime = left.num_periods > 0
        increment = 0.0 if has_overtime else left.increment_s
        per_move = left.period_s / left.period_moves if has_overtime else increment

        # Moves that this time has to last for: this one late by the overhead, the others by the lag, or one at worst.
        num_moves = left.period_moves if has_overtime else left.moves_to_go
        time = main + left.period_s if has_overtime else main
        num_others = (num_moves or expected) - 1
        worst, usual = max(0.0, overhead - increment), max(0.0, lag - increment)
        reserve = overhead + max(usual * num_others, worst * min(num_others, 1))
        available = max(0.0, time - (reserve if num_moves else max(overhead, min(reserve, time / 2))))

        if config.manager == "paper":
            optimum = min(max(0.0, main / 20 + per_move - overhead), available)
            return cls(optimum, optimum)
        spread = main if has_overtime else available
        share = 1 / min(left.moves_to_go or math.inf, expected)
        optimum = min(spread * share + max(0.0, per_move - lag), available)
        # Half at most for one move, unless it is the last; nothing of what later moves are late by.
        maximum = min(config.maximum_factor * optimum, available / 2, time - reserve)
        return cls(optimum, max(optimum, maximum))


class TimeManager:
    """When the searches of a player end, turn by turn.

    `limit` is asked after each round of a search. A round is taken to last as long as the longest of this search and of
    the one before, and none begins that could outlast the maximum.

    Args:
        config: The rule and its settings.
        typical_plies: How long a game is (`zerosum.games.measure_game`).
        now: Seconds of a clock that never goes back, such as `time.monotonic`.
        num_batches: Rounds under way at a time, which have all to come in once the search is told to stop.
    """

    def __init__(
        self, config: TimeConfig, *, typical_plies: float, now: Callable[[], float], num_batches: int = 1
    ) -> None:
        self._config, self._typical_plies = config, typical_plies
        self._now, self._num_batches = now, num_batches
        self._round_s = 0.0
        self._num_plies = 0
        self._left: TimeLeft | None = None
        self._lags_s = deque[float](maxlen=LAGS_REMEMBERED)

    def begin(
        self, left: TimeLeft, *, num_plies: int, is_pondering: bool = False, clock_since_s: float | None = None
    ) -> None:
        """A search begins; unless it ponders, the player's clock has been running since then, by default from now."""
        if self._left is not None and num_plies > self._num_plies:
            self._learn_lag(self._left, left)
        self._num_plies = num_plies
        self._left, self.budget = left, self._budget_of(left)
        self._began_s = self._asked_s = self._changed_s = self._now()
        since = self._began_s if clock_since_s is None else clock_since_s
        self._charged_since_s = None if is_pondering else since
        self._round_before_s, self._round_s = self._round_s, 0.0
        self._num_simulations = 0
        self._best_action: int | None = None

    def ponderhit(self, left: TimeLeft | None = None) -> None:
        """The expected move was played: the clock runs from now on. What it has may be known only now."""
        assert self.is_pondering
        self._charged_since_s = self._now()
        if left is not None:
            self._left, self.budget = left, self._budget_of(left)

    @property
    def lag_s(self) -> float | None:
        """The most that one of the last few turns was late by, up to the overhead; None if no clock has told yet.

        That is what a turn took of the clock beyond its search, and of one with less time than a round takes, all.
        """
        return max(self._lags_s, default=None)

    @property
    def is_pondering(self) -> bool:
        """Whether the search goes on in the opponent's time."""
        return self._charged_since_s is None

    @property
    def elapsed_s(self) -> float:
        """What the search has used of the player's own time."""
        return 0.0 if self._charged_since_s is None else self._now() - self._charged_since_s

    def limit(self, progress: Progress) -> str | None:
        """Why the search has to end now: TIME, MAXIMUM, OVERTAKEN or ONLY_MOVE; None if it goes on.

        It goes on while it ponders, and until there is a move to play.
        """
        self._watch(progress)
        elapsed, optimum, maximum = self.elapsed_s, self.budget.optimum_s, self.budget.maximum_s
        if self.is_pondering or not progress.best_visits or maximum == math.inf:
            return None
        round_s = max(self._round_s, self._round_before_s)
        if elapsed >= maximum or elapsed + self._num_batches * round_s > maximum:
            return MAXIMUM if elapsed >= optimum < maximum else TIME
        if self._config.manager == "paper":
            return None
        ends_s = optimum if self._is_settled(progress) else maximum
        if elapsed >= ends_s:
            return TIME
        if not self._config.stop_early:
            return None
        if progress.num_moves == 1:
            return ONLY_MOVE
        # Of the whole search: pondering is as fast as thinking.
        searched = self._asked_s - self._began_s
        lead = progress.best_visits - progress.second_visits
        can_tell = progress.num_simulations > 0
        return OVERTAKEN if can_tell and lead * searched > progress.num_simulations * (ends_s - elapsed) else None

    def _watch(self, progress: Progress) -> None:
        """Take the time of a round, and of a change of mind."""
        now = self._now()
        if progress.num_simulations > self._num_simulations:
            self._round_s = max(self._round_s, now - self._asked_s)
        if self._best_action not in (None, progress.best_action):
            self._changed_s = now
        self._best_action = progress.best_action if progress.best_visits else None
        self._asked_s, self._num_simulations = now, progress.num_simulations

    def _is_settled(self, progress: Progress) -> bool:
        since_change, searched = self._asked_s - self._changed_s, self._asked_s - self._began_s
        return progress.is_best_by_value and since_change >= self._config.settling_share * searched

    def _budget_of(self, left: TimeLeft) -> Budget:
        return Budget.of(
            self._config, left, num_plies=self._num_plies, typical_plies=self._typical_plies, lag_s=self.lag_s
        )

    def _learn_lag(self, before: TimeLeft, left: TimeLeft) -> None:
        """What the turn before was late by, if the clock of this one tells."""
        used = before.used_until(left)
        if used is not None and self._charged_since_s is not None:
            thought = max(self._asked_s - self._charged_since_s, 0.0)
            planned = thought if thought <= self.budget.maximum_s else 0.0
            self._lags_s.append(min(max(used - planned, 0.0), self._config.overhead_s))
