"""Who moves without being searched for: any program that answers a move, and what it is given to think with.

A `Program` is the description of one (an external engine's command, a search under a clock); opened for a game it is a
`Mover`, which sits at one board. `Terms` are what a player of a match has for its moves, whoever it is.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from zerosum.base.errors import SettingsError
from zerosum.contest.clock import TimeControl
from zerosum.contest.time_manager import TimeConfig
from zerosum.external.engine import EngineMove
from zerosum.external.search import MARGIN_S, EngineLimits
from zerosum.games import Rules


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
