"""The interface of players that a match asks for moves: limits, answers and terms.

A `Program` describes such a player (an external engine's command); opened for a game it is a `Mover` at one board.
Our own search under a clock is a `Mover`, too. `Terms` are the time and limits of any player of a match.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Protocol

from zerosum.base.errors import SettingsError, ZerosumError
from zerosum.contest.adjudication import Score
from zerosum.contest.clock import TimeControl, TimeLeft
from zerosum.contest.time_manager import TimeConfig
from zerosum.games import Rules

MARGIN_S = 0.1
"""Default time by which a clock may be overstepped: the way to a program and back."""


class EngineFailure(ZerosumError, RuntimeError):  # noqa: N818 (it is the engine's failure, not our error)
    """An engine crashed, did not answer or made an illegal move. Its process has been ended."""

    def __init__(self, message: str, *, ending: str) -> None:
        super().__init__(message)
        self.ending = ending
        """The ending of the engine's game, one of `zerosum.notation.record.ENDINGS`.

        "time" (an answer after the time, or none), "illegal move", or "forfeit".
        """


@dataclass(frozen=True)
class MoveLimits:
    """Limits of one move: clocks, nodes, a depth, or several of these."""

    clocks: tuple[TimeLeft, TimeLeft] = (TimeLeft(), TimeLeft())
    """Time left of player 0 (which moves first) and of player 1. The mover's is a limit, the other's is told to it."""
    nodes: int | None = None
    depth: int | None = None
    """Plies."""
    flag_falls_s: float | None = None
    """Time after which the mover loses, if later than its clock says, as with further periods."""
    margin_s: float = MARGIN_S
    """Time by which an answer may be late without losing."""

    def __post_init__(self) -> None:
        for name in ("nodes", "depth"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SettingsError(f"{name} is {value}, but must be at least 1.")

    def allowed_s(self, player: int) -> float | None:
        """Time in which this player has to answer; None without a clock."""
        clock = self.clocks[player]
        if not clock.is_limited:
            return None
        return clock.answer_s if self.flag_falls_s is None else self.flag_falls_s


@dataclass(frozen=True)
class Thought:
    """What a player reported about a move."""

    score: Score | None = None
    """Score of the position for the player; None if it reported none."""
    seconds: float | None = None
    """Time of the move; None where games share the time, as our own searches without clocks do."""
    clock_s: float | None = None
    """Time on its clock after the move; None without a clock."""
    depth: int | None = None
    """Plies that an engine reports."""
    nodes: int | None = None
    """Nodes that an engine reports; simulations of our own search."""
    lines: tuple[tuple[int, Score], ...] = ()
    """The moves that an engine compared (`MultiPV`) with their scores, the best first; not kept in match files."""
    shares: tuple[tuple[int, float], ...] = ()
    """The moves of a search of ours with their shares of the visits, if `MatchSettings.keeps_shares`; not kept."""


@dataclass(frozen=True)
class Answer:
    """A mover's answer in a position."""

    action: int | None
    """A legal move; None if the mover ended the game."""
    thought: Thought
    ending: str = ""
    """"" with a move, else "resignation" or "declaration" (USI's `bestmove win`, whose validity others check).

    One of `zerosum.notation.record.ENDINGS`.
    """


class Mover(Protocol):
    """A program at one board. Only `close` may be called from another thread."""

    def new_game(self, number: int) -> None:
        """Begin the game with this number in the match, from 0. Raises EngineFailure."""

    def think(self, start: str, actions: Sequence[int], limits: MoveLimits) -> Answer:
        """The move in the position after `actions` from `start`, a text as `start_state` takes it.

        Raises:
            EngineFailure: no legal move came in time; the next `new_game` restarts the program.
            SettingsError: the program cannot obey the limits.
        """

    def ponder(self, start: str, actions: Sequence[int], limits: MoveLimits, is_over: threading.Event) -> None:
        """Think in the opponent's time, in the position after `actions`, until the event is set.

        Raises:
            EngineFailure: the program failed; the next `new_game` restarts it.
            SettingsError: the program cannot ponder.
        """

    def end_game(self, result: float) -> None:
        """Report the end of the game and the program's result in [-1, 1]."""

    def close(self) -> None:
        """Stop and release everything. Another thread may call it to end a search; repeated calls are allowed."""


class Program(Protocol):
    """What movers are opened from, one for each board: a frozen dataclass with a complete `repr`."""

    def open(self, game: Rules) -> Mover:
        """A mover for one board.

        Raises:
            EngineFailure: the program cannot be started.
            SettingsError: the program does not play this game, or an option is wrong.
        """


@dataclass(frozen=True)
class Terms:
    """Limits of a player's moves; several hold together, and by default there are none."""

    time: TimeControl = TimeControl()
    """Its clock, which may differ from the opponent's."""
    nodes: int | None = None
    """Nodes of each move; for our own search simulations, instead of the player's own number."""
    depth: int | None = None
    """Plies of each move, for a program."""
    time_config: TimeConfig = TimeConfig()
    """How our search uses its clock."""
    margin_s: float = MARGIN_S
    """Time by which its clock may be overstepped; it is never charged."""
    ponder: bool = False
    """Whether it also thinks in the opponent's time, which is never charged."""

    def __post_init__(self) -> None:
        for name in ("nodes", "depth"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SettingsError(f"{name} is {value}, but must be at least 1.")
        if not 0 <= self.margin_s < math.inf:
            raise SettingsError(f"timemargin is {self.margin_s * 1000:g}, but must be at least 0 milliseconds.")
        if self.margin_s != MARGIN_S and not self.has_clock:
            raise SettingsError(f"timemargin={self.margin_s * 1000:g} without a clock: add tc or st.")

    @property
    def has_clock(self) -> bool:
        """Whether time is limited."""
        return self.time != TimeControl()

    def __str__(self) -> str:
        words = [str(self.time)] if self.has_clock else []
        words += [] if self.nodes is None else [f"{self.nodes:,} nodes"]
        words += [] if self.depth is None else [f"depth {self.depth}"]
        for setting in fields(TimeConfig):
            value, name = getattr(self.time_config, setting.name), setting.name.removesuffix("_s")
            if value != setting.default:
                words.append(f"{name} {value}".removesuffix(".0") + (" s" if name != setting.name else ""))
        words += [] if self.margin_s == MARGIN_S else [f"timemargin {self.margin_s * 1000:g} ms"]
        words += ["ponder"] if self.ponder else []
        return ", ".join(words)
