"""Time controls, a player's remaining time, and the clocks of a match.

One form covers all time controls: main time, with an increment after each move and renewal after a session of moves;
then overtime in periods, in each of which a number of moves has to be made.

    inf          no limit
    300          sudden death: 300 seconds, or 5:00
    1+0.05       1 second, and 0.05 more after each move (Fischer)
    40/5         40 moves in 5 seconds, then 5 more for the next 40; unused time is kept, and 40/5+0.1 has an increment
    st=5         5 seconds per move
    10+5x3       10 seconds, then 5 periods of 3 (Japanese byoyomi: a period is lost when a move takes longer than that)
    10+1x3       the byoyomi of shogi: 3 seconds per move, once the 10 are used
    10+25/300    10 seconds, then 25 moves in each 300 (Canadian)

The first five follow fastchess and cutechess (`tc=` and `st=`), the periods follow Go servers. Start with
`TimeControl.parse`. Only `Clock` reads the time, by the function that it is given.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from zerosum.base.errors import SettingsError, nearest, shown

RESOLUTION_S = 1e-9
"""A clock runs out once it is this far below 0: sums of seconds round."""

_COUNT, _SECONDS = r"\d{1,9}", r"(?:\d{1,9}:){0,2}\d{0,9}\.?\d{1,9}"
_CONTROL = re.compile(
    rf"(?:(?P<moves>{_COUNT})/)?(?P<main>{_SECONDS})"
    rf"(?:\+(?:(?P<periods>{_COUNT})x(?P<byoyomi>{_SECONDS})|(?P<stones>{_COUNT})/(?P<canadian>{_SECONDS})"
    rf"|(?P<increment>{_SECONDS})))?"
)


@dataclass(frozen=True)
class TimeLeft:
    """A player's time at the beginning of a turn, in seconds. By default there is no limit.

    Raises:
        SettingsError: a number is out of range, or there is more than main time without a limit.
    """

    main_s: float = math.inf
    """Main time, 0 in overtime. Protocols may report clocks below 0."""
    increment_s: float = 0.0
    """Time added after the move."""
    moves_to_go: int | None = None
    """Moves until main time is renewed; None if it never is."""
    period_s: float = 0.0
    """Time left in the current period of overtime; a whole period during main time."""
    period_moves: int = 0
    """Moves to be made in the period; 0 without overtime."""
    num_periods: int = 0
    """Periods left, including the current one."""

    def __post_init__(self) -> None:
        is_sane = (
            -math.inf < self.main_s
            and 0 <= self.increment_s < math.inf
            and (self.moves_to_go is None or self.moves_to_go > 0)
            and math.isfinite(self.period_s)
            and (self.period_moves > 0 < self.num_periods or self.period_moves == 0 == self.num_periods)
        )
        if not is_sane:
            raise SettingsError(
                f"{self}: expected seconds that are finite, an increment of at least 0, at least 1 move to go, and"
                " periods together with their moves."
            )
        if not self.is_limited and (self.increment_s or self.moves_to_go or self.num_periods):
            raise SettingsError(f"{self}: an increment, moves to go or overtime needs a clock: give main_s, too.")

    @classmethod
    def per_move(cls, seconds: float) -> TimeLeft:
        """A time for each move, at least 0. Raises SettingsError if it is out of range."""
        if seconds < 0:
            raise SettingsError(f"The time per move is {seconds:g} seconds, but must be at least 0.")
        return cls(main_s=0.0, period_s=seconds, period_moves=1, num_periods=1)

    @classmethod
    def of_go(cls, words: Mapping[str, int], *, color: str) -> TimeLeft:
        """Parse the clocks of UCI's or USI's `go`: `{"wtime": 1000, "winc": 50, …}`, in milliseconds.

        A clock at or below 0 stays as it is. `movestogo` below 1, and increments and byoyomi below 0, are ignored.

        Args:
            words: Numbers of wtime, btime, winc, binc, movestogo, byoyomi, movetime; others are ignored.
            color: The letter of the player to move: "w" or "b".
        """
        if (move_time := words.get("movetime")) is not None:
            return cls.per_move(max(move_time, 0) / 1000)
        byoyomi, time_left = max(words.get("byoyomi", 0), 0) / 1000, words.get(f"{color}time")
        if time_left is None and not byoyomi:
            return cls()
        moves_to_go, has_byoyomi = words.get("movestogo", 0), int(byoyomi > 0)
        return cls(
            main_s=(time_left or 0) / 1000,
            increment_s=max(words.get(f"{color}inc", 0), 0) / 1000,
            moves_to_go=moves_to_go if moves_to_go > 0 else None,
            period_s=byoyomi,
            period_moves=has_byoyomi,
            num_periods=has_byoyomi,
        )

    @property
    def is_limited(self) -> bool:
        """Whether there is a clock."""
        return self.main_s < math.inf

    @property
    def is_overtime(self) -> bool:
        """Whether main time is used up and overtime runs."""
        return self.num_periods > 0 and self.main_s <= 0

    @property
    def shown_s(self) -> float:
        """The time on the clock: main time, or the rest of the period."""
        return self.period_s if self.is_overtime else self.main_s

    @property
    def answer_s(self) -> float:
        """The time for this turn without losing a period; infinite without a clock."""
        return max(self.main_s, 0.0) + (self.period_s if self.num_periods else 0.0)

    def used_until(self, next_turn: TimeLeft) -> float | None:
        """Seconds that this turn took, from the player's time at its next turn; None if that is ambiguous."""
        if self.is_overtime or next_turn.is_overtime:
            used = self.period_s - next_turn.period_s
            moves, moves_then = (left.period_moves if left.is_overtime else None for left in (self, next_turn))
        else:
            used = self.main_s + self.increment_s - next_turn.main_s
            moves, moves_then = self.moves_to_go, next_turn.moves_to_go
        follows = moves_then == (None if moves is None else moves - 1) and next_turn.increment_s == self.increment_s
        return used if follows and 0 <= used < math.inf else None


@dataclass(frozen=True)
class TimeControl:
    """The time that the players of a game get, in seconds. By default there is no limit.

    Raises:
        SettingsError: a number is out of range, or two kinds of time do not go together.
    """

    main_s: float = math.inf
    """Main time for the game, or for a session."""
    increment_s: float = 0.0
    """Time added after each move."""
    session_moves: int | None = None
    """Moves after which `main_s` is added again; None is never."""
    period_s: float = 0.0
    """Length of a period of overtime."""
    period_moves: int = 0
    """Moves to be made in a period, which then restarts; 0 for no overtime, 1 is byoyomi, more is Canadian overtime."""
    num_periods: int = 0
    """Number of periods; each is lost when it runs out."""

    def __post_init__(self) -> None:
        has_overtime = self.num_periods > 0
        is_sane = (
            self.main_s >= 0
            and 0 <= self.increment_s < math.inf
            and (self.session_moves is None or self.session_moves > 0)
            and self.num_periods >= 0
            and (0 < self.period_s < math.inf and self.period_moves > 0 if has_overtime else not self.period_moves)
        )
        if not is_sane:
            raise SettingsError(
                f"invalid clock: {self.main_s:g} seconds, an increment of {self.increment_s:g}, {self.session_moves}"
                f" moves per session and {self.num_periods} periods of {self.period_s:g} seconds for"
                f" {self.period_moves} moves: seconds are finite and not below 0, periods and moves come together."
            )
        if has_overtime and (self.increment_s or self.session_moves or self.main_s == math.inf):
            raise SettingsError(
                "a time control has either overtime after its main time or an increment and sessions: give one of them."
            )

    @classmethod
    def parse(cls, text: str) -> TimeControl:
        """Parse a time control in the notation of this file's docstring, which `str` writes.

        >>> TimeControl.parse("0+1x5")
        TimeControl(main_s=0.0, increment_s=0.0, session_moves=None, period_s=5.0, period_moves=1, num_periods=1)
        >>> print(TimeControl.parse("1:30+0.5"), TimeControl.parse("0+1x5"))
        90+0.5 st=5

        Raises:
            SettingsError: the text is not a time control, or a number is out of range.
        """
        if text == "inf":
            return cls()
        if fixed := re.fullmatch(rf"st=({_SECONDS})", text):
            return cls(main_s=0.0, period_s=_seconds(fixed[1]), period_moves=1, num_periods=1)
        control = _CONTROL.fullmatch(text)
        has_overtime = control is not None and (control["periods"] or control["stones"]) is not None
        if control is None or (control["moves"] and has_overtime):
            raise SettingsError(
                f"{shown(text)} is not a time control: use seconds as in 300, 1+0.05 with increment, 40/5 for 40 moves,"
                " st=5 for each move, 10+5x3 with 5 periods of 3 seconds, 10+25/300 with 25 moves in 300, or inf."
            )
        main = _seconds(control["main"])
        if not main and not has_overtime:
            raise SettingsError(f"{shown(text)} leaves no time for the first move: give main time above 0.")
        if control["periods"]:
            return cls(main, 0.0, None, _seconds(control["byoyomi"]), 1, int(control["periods"]))
        if control["stones"]:
            return cls(main, 0.0, None, _seconds(control["canadian"]), int(control["stones"]), 1)
        return cls(main, _seconds(control["increment"] or "0"), int(control["moves"]) if control["moves"] else None)

    @classmethod
    def of_gtp(cls, words: Sequence[str]) -> TimeControl:
        """Parse the arguments of GTP's `time_settings`: main time, byoyomi time, byoyomi stones.

        Byoyomi time without stones is no limit (GTP 2, section 4.2); neither stones nor byoyomi time is sudden death.

        Raises:
            SettingsError: the words are not three numbers, or out of range.
        """
        main, period, stones = _numbers(words, KATA_TIME_SYSTEMS["canadian"])
        if stones == 0:
            return cls() if period > 0 else cls(main)
        return cls(main, 0.0, None, period, int(stones), 1)

    @classmethod
    def of_kata(cls, words: Sequence[str]) -> TimeControl:
        """Parse the arguments of `kata-time_settings` or `kgs-time_settings`, such as `["fischer", "60", "1"]`.

        Raises:
            SettingsError: the system is unknown, or its numbers are out of range.
        """
        system, numbers = (words[0].lower(), words[1:]) if words else ("", words)
        if system not in KATA_TIME_SYSTEMS:
            raise SettingsError(f"time system {shown(system)}{nearest(system, KATA_TIME_SYSTEMS)}.")
        values = _numbers(numbers, KATA_TIME_SYSTEMS[system])
        if system == "none":
            return cls()
        if system == "canadian":
            return cls.of_gtp(numbers)
        if system != "byoyomi":
            return cls(main_s=values[0], increment_s=sum(values[1:]))
        main, period, count = values
        return cls(main, 0.0, None, period, 1, int(count)) if count else cls(main)

    def __str__(self) -> str:
        if self.main_s == math.inf:
            return "inf"
        session = f"{self.session_moves}/" if self.session_moves else ""
        main = f"{session}{_number(self.main_s)}"
        if not self.num_periods:
            return f"{main}+{_number(self.increment_s)}" if self.increment_s else main
        period = _number(self.period_s)
        if self.period_moves > 1:
            return f"{main}+{self.period_moves}/{period}"
        return f"{main}+{self.num_periods}x{period}" if self.main_s or self.num_periods > 1 else f"st={period}"

    def pgn_text(self) -> str:
        """The value of PGN's tag TimeControl, where "-" is no limit (section 9.6).

        PGN has no overtime and no time per move: these are written as `str` writes them.
        """
        return "-" if self.main_s == math.inf else str(self)

    def start(self) -> TimeLeft:
        """Each player's time when the game begins."""
        return TimeLeft(
            main_s=self.main_s,
            increment_s=self.increment_s,
            moves_to_go=self.session_moves,
            period_s=self.period_s,
            period_moves=self.period_moves,
            num_periods=self.num_periods,
        )

    def left_of_gtp(self, seconds: float, stones: int) -> TimeLeft:
        """Parse GTP's `time_left`: 0 stones in main time, else the moves to be made in the period.

        With several byoyomi periods the number is that of periods left (kgsGtp, KataGo). Without a limit or overtime
        the
        stones are ignored.
        """
        start = self.start()
        if not start.is_limited:
            return start
        if stones <= 0 or not self.num_periods:
            return replace(start, main_s=seconds)
        if self.num_periods > 1:
            return replace(start, main_s=0.0, period_s=seconds, num_periods=min(stones, self.num_periods))
        return replace(start, main_s=0.0, period_s=seconds, period_moves=min(stones, self.period_moves))

    def flag_falls_after_s(self, left: TimeLeft) -> float:
        """Longest duration of this turn, further periods included."""
        return left.answer_s + max(left.num_periods - 1, 0) * self.period_s

    def after_move(self, left: TimeLeft, elapsed_s: float) -> TimeLeft | None:
        """The time left after a move that took `elapsed_s`; None if the flag fell."""
        if elapsed_s > self.flag_falls_after_s(left) + RESOLUTION_S:
            return None
        rest = left.main_s - elapsed_s
        if not left.is_overtime and (rest >= -RESOLUTION_S or not left.num_periods):
            moves_to_go = None if left.moves_to_go is None else left.moves_to_go - 1
            main = max(rest, 0.0) + left.increment_s
            if moves_to_go == 0:
                main, moves_to_go = main + self.main_s, self.session_moves
            return replace(left, main_s=main, moves_to_go=moves_to_go)
        rest, moves, num_lost = rest + left.period_s, left.period_moves, 0
        if rest < -RESOLUTION_S and left.num_periods > 1:
            num_lost = min(math.ceil((-rest - RESOLUTION_S) / self.period_s), left.num_periods - 1)
            rest, moves = rest + num_lost * self.period_s, self.period_moves
        num_periods = left.num_periods - num_lost
        if moves == 1:
            return replace(self.start(), main_s=0.0, num_periods=num_periods)
        return replace(left, main_s=0.0, period_s=max(rest, 0.0), period_moves=moves - 1, num_periods=num_periods)


KATA_TIME_SYSTEMS: dict[str, tuple[str, ...]] = {
    "none": (),
    "absolute": ("main time",),
    "byoyomi": ("main time", "period time", "periods"),
    "canadian": ("main time", "period time", "stones"),
    "fischer": ("main time", "increment"),
}
"""The systems of `kata-time_settings` (all but "fischer" are those of `kgs-time_settings`) and their numbers."""
_IN_SECONDS = ("main time", "period time", "increment")


class Clock:
    """The clocks of two players; at most one of them runs.

    Args:
        first: The first player's time control.
        second: The second player's, for time odds; by default the same.
        now: Seconds of a clock that never goes back, such as `time.monotonic`.
        margins_s: How late a move of each player may be, for the way to a program and back; never charged.
    """

    def __init__(
        self,
        first: TimeControl,
        second: TimeControl | None = None,
        *,
        now: Callable[[], float],
        margins_s: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        self._controls = (first, first if second is None else second)
        self._now, self._margins_s = now, margins_s
        self._left = [control.start() for control in self._controls]
        self._running: int | None = None
        self._started_s = 0.0
        self.flag_fallen: int | None = None
        """The player, 0 or 1, that has lost on time; None so far."""

    def start(self, player: int) -> TimeLeft:
        """Begin the turn of a player, 0 or 1, and return its time."""
        assert self._running is None and self.flag_fallen is None
        self._running, self._started_s = player, self._now()
        return self._left[player]

    def stop(self) -> float:
        """End the running turn, by a move or a fallen flag, and return its duration in seconds."""
        assert self._running is not None
        player, elapsed = self._running, self._now() - self._started_s
        self._running = None
        self.charge(player, elapsed)
        return elapsed

    def charge(self, player: int, elapsed_s: float) -> None:
        """Charge a turn that was measured elsewhere, while neither clock was running."""
        assert self._running is None and self.flag_fallen is None
        if self._is_late(player, elapsed_s):
            self.flag_fallen = player
            return
        control, before = self._controls[player], self._left[player]
        after = control.after_move(before, min(elapsed_s, control.flag_falls_after_s(before)))
        assert after is not None
        self._left[player] = after

    def left(self, player: int) -> TimeLeft:
        """A player's time at the beginning of its running or next turn."""
        return self._left[player]

    def go_back(self, left: Sequence[TimeLeft]) -> None:
        """Stop both clocks, with the players' times of an earlier turn: moves were taken back."""
        self._left, self._running, self.flag_fallen = list(left), None, None

    def _is_late(self, player: int, elapsed_s: float) -> bool:
        limit = self._controls[player].flag_falls_after_s(self._left[player])
        return elapsed_s > max(limit, 0.0) + self._margins_s[player] + RESOLUTION_S


def _seconds(text: str) -> float:
    """The seconds of "5", "0.05", "1:30" or "1:30:00"."""
    total = 0.0
    for part in text.split(":"):
        total = total * 60 + float(part)
    return total


def _number(value: float) -> str:
    """A number with at most microseconds: 300, 0.05."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _numbers(words: Sequence[str], names: tuple[str, ...]) -> list[float]:
    """One number of at least 0 for each name; integers for stones and periods."""
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if len(values) != len(names) or not all(
        0 <= value < math.inf and (name in _IN_SECONDS or value.is_integer())
        for name, value in zip(names, values, strict=True)
    ):
        expected = ", ".join(names) or "nothing"
        raise SettingsError(f"{shown(' '.join(words))} are not time settings: expected {expected}, each at least 0.")
    return values
