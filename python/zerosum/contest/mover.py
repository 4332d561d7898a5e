"""Players of a match as something that is asked for moves: limits, answers, and what a player has for its moves.

A `Program` describes such a player (an external engine's command); opened for a game it is a `Mover`, which sits at one
board. Our own search under a clock is a `Mover`, too. `Terms` are what any player of a match has for its moves.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from zerosum.base.errors import SettingsError, ZerosumError
from zerosum.contest.clock import TimeControl, TimeLeft
from zerosum.contest.time_manager import TimeConfig
from zerosum.games import Rules

MARGIN_S = 0.1
"""By which clocks may be overstepped if nothing else is said: the way to a program and back."""
UNKNOWN_MATE = 10_000


class EngineFailure(ZerosumError, RuntimeError):  # noqa: N818 (it is the engine's failure, not our error)
    """An engine crashed, kept silent or cheated. Its process has been ended."""

    def __init__(self, message: str, *, ending: str) -> None:
        super().__init__(message)
        self.ending = ending
        """How the game ends for the engine, in the words of `zerosum.notation.record.ENDINGS`.

        "time" (an answer after the time, or none), "illegal move", or "forfeit".
        """


@dataclass(frozen=True)
class EngineLimits:
    """How long an engine may think about one move: by a clock, by the move, by nodes, by depth, or several of these."""

    remaining_s: tuple[float, float] | None = None
    """What the clocks of player 0 (who moves first) and player 1 show; None without clocks."""
    increment_s: tuple[float, float] = (0.0, 0.0)
    """What either player gets after each move, beside `remaining_s`."""
    moves_to_go: int | None = None
    """Moves that the mover has to make in what its clock shows; None if the rest of the game."""
    byoyomi_s: float = 0.0
    """For each move once the clock of the mover shows nothing."""
    move_time_s: float | None = None
    """For this move."""
    nodes: int | None = None
    depth: int | None = None
    """Plies."""
    flag_falls_s: float | None = None
    """The mover loses by its clock after so long, where that is later than what else is said: further periods."""
    margin_s: float = MARGIN_S
    """That the answer may come after the time without losing by it."""

    @classmethod
    def of_clocks(
        cls,
        left: tuple[TimeLeft, TimeLeft],
        player: int,
        *,
        flag_falls_s: float,
        margin_s: float,
        nodes: int | None,
        depth: int | None,
    ) -> EngineLimits:
        """What a mover under a clock is told, in the words that protocols have.

        Of several periods of overtime an engine hears of one, of Canadian overtime not before it begins. An opponent
        without a clock is said to have the mover's.

        Args:
            left: Of players 0 and 1.
            player: Who moves, with a clock.
            flag_falls_s: Of the mover, as `TimeControl.flag_falls_after_s`.
            margin_s: That its move may be late by.
            nodes: A limit beside the clock.
            depth: Another one.
        """
        own = left[player]
        if own.is_overtime and own.period_moves == 1:
            return cls(move_time_s=own.period_s, nodes=nodes, depth=depth, flag_falls_s=flag_falls_s, margin_s=margin_s)
        first, second = (clock if clock.is_limited else own for clock in left)
        return cls(
            remaining_s=(first.shown_s, second.shown_s),
            increment_s=(first.increment_s, second.increment_s),
            moves_to_go=own.period_moves if own.is_overtime else own.moves_to_go,
            byoyomi_s=own.period_s if own.period_moves == 1 else 0.0,
            nodes=nodes,
            depth=depth,
            flag_falls_s=flag_falls_s,
            margin_s=margin_s,
        )

    def __post_init__(self) -> None:
        if self.remaining_s is None and (any(self.increment_s) or self.moves_to_go is not None or self.byoyomi_s):
            raise SettingsError("An increment, moves to go or byoyomi without a clock: say remaining_s, too.")
        for name, low in (("moves_to_go", 1), ("byoyomi_s", 0), ("move_time_s", 0), ("nodes", 1), ("depth", 1)):
            value = getattr(self, name)
            if value is not None and not low <= value < math.inf:
                raise SettingsError(f"{name} is {value}, allowed is at least {low}.")
        if not all(0 <= seconds < math.inf for seconds in self.increment_s):
            raise SettingsError(f"increment_s is {self.increment_s}, allowed is at least 0.")
        if not all(map(math.isfinite, self.remaining_s or ())):
            raise SettingsError(f"remaining_s is {self.remaining_s}, allowed are finite numbers, or None.")

    def allowed_s(self, player: int) -> float | None:
        """The time in which this player has to answer; None if no limit is a time."""
        if self.flag_falls_s is not None:
            return self.flag_falls_s
        times = [] if self.move_time_s is None else [self.move_time_s]
        if self.remaining_s is not None:
            times.append(max(self.remaining_s[player], 0.0) + self.byoyomi_s)
        return min(times, default=None)


@dataclass(frozen=True)
class EngineAnswer:
    """What an engine answered, read as its protocol has it; whether the move is legal is not known yet."""

    move: str
    """Or another word of the protocol: "resign", "win"."""
    seconds: float
    """From the question to the answer, by our clock."""
    centipawns: int | None = None
    """The last score, for the player to move; None if it was a mate, or there was none."""
    mate: int | None = None
    """The last score, if it was a mate: the player to move mates if it is positive.

    In moves in UCI, in plies in USI, `UNKNOWN_MATE` of either sign where the engine does not say when.
    """
    depth: int | None = None
    """The last that the engine said."""
    nodes: int | None = None
    pv: tuple[str, ...] = ()
    """The principal variation as the engine wrote it."""
    ponder: str = ""
    """The reply that it expects and would ponder on; "" if it named none."""
    win_rate: float | None = None
    """Expected points in [0, 1] for the player to move, where it says that instead of a score."""


@dataclass(frozen=True)
class EngineMove:
    """What an engine decided in a position."""

    action: int | None
    """Its move, which is legal; None if it ended the game."""
    ending: str
    """"" with a move, else "resignation" or "declaration" (USI's `bestmove win`: whether it may is for others to say).

    In the words of `zerosum.notation.record.ENDINGS`.
    """
    answer: EngineAnswer
    """What it said: score, depth, nodes, and how long it took."""


class Mover(Protocol):
    """A program at one board. One thread uses it, but for `close`."""

    def new_game(self, number: int) -> None:
        """Another game begins, of this number in the match, from 0. Raises EngineFailure."""

    def think(self, start: str, actions: Sequence[int], limits: EngineLimits) -> EngineMove:
        """The move in the position after `actions`, from a start as `start_state` takes it.

        Raises:
            EngineFailure: there is no legal one in time; the next `new_game` begins afresh.
            SettingsError: it cannot be limited so.
        """

    def ponder(self, start: str, actions: Sequence[int], limits: EngineLimits, is_over: threading.Event) -> None:
        """Think in the opponent's time, who is to move in the position after `actions`, until the event is set.

        Raises:
            EngineFailure: it fails; the next `new_game` begins afresh.
            SettingsError: it cannot ponder.
        """

    def end_game(self, result: float) -> None:
        """How the game ended for it, in [-1, 1]."""

    def close(self) -> None:
        """Leave, and have nothing behind; called from another thread, it ends what is under way there.

        It may be called again.
        """


class Program(Protocol):
    """Somebody who can be asked for moves, described: a frozen dataclass, whose `repr` says all of it."""

    def open(self, game: Rules) -> Mover:
        """Sit down at a board.

        Raises:
            EngineFailure: it cannot be started.
            SettingsError: it does not play this game, or an option of it is wrong.
        """


@dataclass(frozen=True)
class Terms:
    """What a player has for its moves; several limits hold together, and nothing given is no limit."""

    time: TimeControl = TimeControl()
    """Its clock, which may be another one than the opponent's."""
    nodes: int | None = None
    """For each move; of our own search simulations, instead of the player's own number."""
    depth: int | None = None
    """Plies for each move, of a program."""
    manager: str = TimeConfig().manager
    """How a search of ours uses its clock, as `TimeConfig.manager`."""
    overhead_s: float = TimeConfig().overhead_s
    """What its moves are late by at worst, as `TimeConfig.overhead_s`."""
    margin_s: float = MARGIN_S
    """By how much its clock may be overstepped; it is never charged."""
    ponder: bool = False
    """Whether it thinks in the opponent's time, too, which is never charged."""

    def __post_init__(self) -> None:
        for name in ("nodes", "depth"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SettingsError(f"{name} is {value}, allowed is at least 1.")
        if not 0 <= self.margin_s < math.inf:
            raise SettingsError(f"timemargin is {self.margin_s * 1000:g}, allowed is at least 0 milliseconds.")
        if self.margin_s != MARGIN_S and not self.has_clock:
            raise SettingsError(f"timemargin={self.margin_s * 1000:g} without a clock: say tc or st, too.")
        _ = self.time_config  # which may be out of range

    @property
    def time_config(self) -> TimeConfig:
        """How a search of ours manages its time. Raises SettingsError."""
        return TimeConfig(manager=self.manager, overhead_s=self.overhead_s)

    @property
    def has_clock(self) -> bool:
        """Whether time is limited."""
        return self.time != TimeControl()

    def __str__(self) -> str:
        words = [str(self.time)] if self.has_clock else []
        words += [] if self.nodes is None else [f"{self.nodes:,} nodes"]
        words += [] if self.depth is None else [f"depth {self.depth}"]
        words += [] if self.manager == TimeConfig().manager else [f"manager {self.manager}"]
        words += [] if self.overhead_s == TimeConfig().overhead_s else [f"overhead {self.overhead_s:g} s"]
        words += [] if self.margin_s == MARGIN_S else [f"timemargin {self.margin_s * 1000:g} ms"]
        words += ["ponder"] if self.ponder else []
        return ", ".join(words)
