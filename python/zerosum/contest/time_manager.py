"""Time management: a time budget for each turn, and the decision when a running search stops.

    manager = TimeManager(TimeConfig(), typical_plies=measure_game(game).plies, now=time.monotonic)
    manager.begin(left, num_plies=state.plies)          # the turn has begun, and the clock runs
    while manager.stop_reason(progress) is None:  # asked after each round of the search
        ...

The module knows neither games nor protocols: it receives the clock as a `TimeLeft` and the search's state as a
`Progress`. Start with `TimeManager`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from zerosum.base.errors import SettingsError
from zerosum.base.settings import check, setting
from zerosum.contest.clock import TimeLeft

TIME = "time"
"""Limit: the search reached its optimum time."""
MAXIMUM = "maximum time"
"""Limit: the search was extended, because its best move was not settled, up to its maximum time."""
OVERTAKEN = "overtaken"
"""Limit: no move can overtake the best one in the remaining time."""
ONLY_MOVE = "only move"
"""Limit: there is only one legal move."""

Manager = Literal["adaptive", "paper"]
"""The rules of time management; see `TimeConfig`."""
LAGS_REMEMBERED = 8
"""Number of recent turns from which the lag is estimated."""


@dataclass(frozen=True)
class TimeConfig:
    """Settings of time management.

    `manager` = "paper" thinks for 1/20 of the remaining main time at each move (Science 2018, supplement,
    "Evaluation"), plus the increment, or a move's share in overtime, minus the overhead, whatever the search finds.

    "adaptive" has an optimum: equal parts of main time for the moves expected until the end of the game or session,
    plus the time that each move adds. It stops earlier once the best move by visits would stay the best even if all
    further simulations went to the second (EARLY in Baier and Winands, "Time management for Monte Carlo tree search",
    IEEE TCIAIG 2016). It goes on, up to `maximum_factor` times as long, while the best move by visits is not the one
    with the best value or has changed in the last `settling_share` of the search (UNST, ibid.).
    Both keep back the overhead of this move. For the moves until more time comes they keep back the recent lag of this
    player's turns (`TimeManager.lag_s`; the overhead until it is known), but at least one overhead. If the number of
    moves is unknown, this reserve is at most half of the time.
    """

    manager: Manager = setting(
        "adaptive",
        "'adaptive' (stops early if the best move is certain, extends if it is not), or 'paper' (1/20 of the remaining"
        " time)",
    )
    overhead_s: float = setting(
        0.1,
        "most seconds between the end of the search and of the clock's turn, kept back each turn",
        low=0.0,
        high=60.0,
    )
    stop_early: bool = setting(True, "adaptive: stop once the best move cannot be overtaken, or is the only one")
    maximum_factor: float = setting(
        3.0, "adaptive: longest unsettled search, as a multiple of the optimum (not measured)", low=1.0, high=20.0
    )
    settling_share: float = setting(
        0.25,
        "adaptive: a best move is settled after this share of the search without a change (not measured)",
        low=0.0,
        high=1.0,
    )
    fewest_moves: int = setting(
        10,
        "adaptive: least number of further moves that main time has to last for (not measured)",
        low=1,
    )
    most_moves: int = setting(
        40,
        "adaptive: largest number of further moves that main time has to last for (not measured)",
        low=1,
    )

    def __post_init__(self) -> None:
        check(self, "time")
        if self.fewest_moves > self.most_moves:
            raise SettingsError(
                f"time.fewest_moves is {self.fewest_moves}, more than time.most_moves, {self.most_moves}: change one."
            )

    def moves_expected(self, num_plies: int, typical_plies: float) -> float:
        """Expected moves of one player until the end of a game whose typical length is `typical_plies`."""
        return max(self.fewest_moves, min((typical_plies - num_plies) / 2, self.most_moves))


@dataclass(frozen=True)
class Progress:
    """The state of a running search."""

    best_action: int
    """The best move so far."""
    best_visits: int
    """Visits of the best move, including those of a reused tree; 0 if there is no move yet."""
    second_visits: int
    """Visits of the second move by visits."""
    is_best_by_value: bool
    """Whether the best move also has the best value."""
    num_moves: int
    """Number of legal moves."""
    num_simulations: int
    """Simulations since this search began, pondering included."""


class TimeManager:
    """Decides when the searches of a player end, turn by turn.

    Call `stop_reason` after each round of a search. A round counts as long as the longest one of this search and of the
    previous search; no round begins that could exceed the maximum.

    Args:
        config: The rule and its settings.
        typical_plies: Typical length of a game (`zerosum.games.measure_game`).
        now: Seconds of a clock that never goes back, such as `time.monotonic`.
        num_batches: Rounds in flight at a time, all of which have to finish after a stop.
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
        self.optimum_s = math.inf
        """Seconds of the player's own time for the turn; infinite without a clock, 0 for an immediate answer."""
        self.maximum_s = math.inf
        """At least the optimum; the flag does not fall within this time plus the overhead."""

    def begin(
        self, left: TimeLeft, *, num_plies: int, is_pondering: bool = False, clock_since_s: float | None = None
    ) -> None:
        """Begin a search. Unless it ponders, the player's clock runs, since `clock_since_s` or from now on."""
        if self._left is not None and num_plies > self._num_plies:
            self._learn_lag(self._left, left)
        self._num_plies = num_plies
        self._allot(left)
        self._began_s = self._asked_s = self._changed_s = self._now()
        since = self._began_s if clock_since_s is None else clock_since_s
        self._charged_since_s = None if is_pondering else since
        self._round_before_s, self._round_s = self._round_s, 0.0
        self._num_simulations = 0
        self._best_action: int | None = None

    def ponderhit(self, left: TimeLeft | None = None) -> None:
        """The expected move was played: the clock runs from now on. Its time may only be known now."""
        assert self.is_pondering
        self._charged_since_s = self._now()
        if left is not None:
            self._allot(left)

    @property
    def lag_s(self) -> float | None:
        """The largest lag of the last few turns, at most the overhead; None if unknown.

        The lag is a turn's clock time beyond its search; the whole turn if it had less time than a round takes.
        """
        return max(self._lags_s, default=None)

    @property
    def is_pondering(self) -> bool:
        """Whether the search goes on in the opponent's time."""
        return self._charged_since_s is None

    @property
    def elapsed_s(self) -> float:
        """Seconds of the player's own time that the search has used."""
        return 0.0 if self._charged_since_s is None else self._now() - self._charged_since_s

    def stop_reason(self, progress: Progress) -> str | None:
        """The reason to end the search now: TIME, MAXIMUM, OVERTAKEN or ONLY_MOVE; None to go on.

        The search goes on while it ponders, and until there is a move to play.
        """
        self._watch(progress)
        elapsed, optimum, maximum = self.elapsed_s, self.optimum_s, self.maximum_s
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
        # The rate of the whole search: pondering is as fast as thinking.
        searched = self._asked_s - self._began_s
        lead = progress.best_visits - progress.second_visits
        can_tell = progress.num_simulations > 0
        return OVERTAKEN if can_tell and lead * searched > progress.num_simulations * (ends_s - elapsed) else None

    def _watch(self, progress: Progress) -> None:
        """Record the duration of a round and the time of a changed best move."""
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

    def _allot(self, left: TimeLeft) -> None:
        """Set the optimum and the maximum by the manager's rule, for a clock that may be below 0."""
        self._left = left
        self.optimum_s, self.maximum_s = self._allotted(left) if left.is_limited else (math.inf, math.inf)

    def _allotted(self, left: TimeLeft) -> tuple[float, float]:
        """(optimum, maximum) of a turn with a clock."""
        config, main, overhead = self._config, max(left.main_s, 0.0), self._config.overhead_s
        lag = overhead if self.lag_s is None else min(self.lag_s, overhead)
        expected = config.moves_expected(self._num_plies, self._typical_plies)
        has_overtime = left.num_periods > 0
        increment = 0.0 if has_overtime else left.increment_s
        per_move = left.period_s / left.period_moves if has_overtime else increment

        # The reserve: the overhead for this move, and the lag (or at least one overhead) for later ones.
        num_moves = left.period_moves if has_overtime else left.moves_to_go
        num_others = (num_moves or expected) - 1
        worst, usual = max(0.0, overhead - increment), max(0.0, lag - increment)
        reserve = overhead + max(usual * num_others, worst * min(num_others, 1))
        time = left.answer_s
        available = max(0.0, time - (reserve if num_moves else max(overhead, min(reserve, time / 2))))

        if config.manager == "paper":
            optimum = min(max(0.0, main / 20 + per_move - overhead), available)
            return optimum, optimum
        spread = main if has_overtime else available
        share = 1 / min(left.moves_to_go or math.inf, expected)
        optimum = min(spread * share + max(0.0, per_move - lag), available)
        # At most half for one move, unless it is the last, without the reserve of later moves.
        maximum = min(config.maximum_factor * optimum, available / 2, time - reserve)
        return optimum, max(optimum, maximum)

    def _learn_lag(self, before: TimeLeft, left: TimeLeft) -> None:
        """Learn the previous turn's lag, if this turn's clock reveals it."""
        used = before.used_until(left)
        if used is not None and self._charged_since_s is not None:
            thought = max(self._asked_s - self._charged_since_s, 0.0)
            planned = thought if thought <= self.maximum_s else 0.0
            self._lags_s.append(min(max(used - planned, 0.0), self._config.overhead_s))
