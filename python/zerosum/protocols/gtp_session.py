"""The state of a GTP session, which the commands change: a board, the player that sits at it, and the output."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from zerosum.base.errors import GameError
from zerosum.protocols.gtp_board import GtpBoard
from zerosum.protocols.gtp_player import GtpPlayer

SYNTAX_ERROR = "syntax error"


@dataclass
class GtpSession:
    """One board, its player, and the streams of answers and warnings."""

    board: GtpBoard
    player: GtpPlayer
    write: Callable[[str], object]
    """Receives answers, and lines of an analysis from another thread; each ends with a newline."""
    warn: Callable[[str], object]
    """Receives warnings for people."""
    clock: Callable[[], float]
    """A monotonic clock in seconds."""
    number: str = ""
    """The number of the current command, which its answer repeats; "" without one."""
    is_analysing: bool = False
    """Whether an analysis runs until the next line."""
    seconds_of_moves: float = 0.0
    """Seconds that all moves have taken."""
    has_quit: bool = False
    """Whether `quit` was received."""
    _has_warned_of_scoring: bool = False

    def begin(self, board: GtpBoard) -> None:
        """Begin a new game on this board."""
        self.board = board
        self.player.new_game()

    def warn_of_komi(self) -> None:
        """Warn if the network learned another komi."""
        komi, learned = self.board.komi, self.player.learned("komi")
        if learned is not None and float(learned) != komi:
            self.warn(f"The network learned Go with komi {learned} and cannot see that it is {komi:g} now.")

    def warn_of_scoring(self) -> None:
        """Warn once whenever the rules begin to score otherwise than the network learned."""
        scoring, learned = self.board.rules.scoring.lower(), self.player.learned("scoring")
        is_other = learned not in (None, scoring)
        if is_other and not self._has_warned_of_scoring:
            self.warn(f"The network learned {learned} scoring and cannot see that {scoring} scoring applies now.")
        self._has_warned_of_scoring = is_other


Command = Callable[[GtpSession, list[str]], str | None]
"""Obeys a command with its arguments and returns the answer; None if it has written the answer itself."""


def whole(words: list[str]) -> int:
    """The first word as an integer. Raises GameError."""
    if not words or not re.fullmatch("[+-]?[0-9]{1,9}", words[0]):
        raise GameError(SYNTAX_ERROR)
    return int(words[0])


def real(words: list[str]) -> float:
    """The first word as a finite number. Raises GameError."""
    try:
        number = float(words[0])
    except (IndexError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise GameError(SYNTAX_ERROR)
    return number
