"""A finished game of a match."""

from __future__ import annotations

from dataclasses import dataclass, field

from zerosum.contest.adjudication import Score
from zerosum.contest.mover import Thought
from zerosum.notation.centipawns import value_of

FAILURES = ("time", "illegal move", "forfeit")
"""Endings that are the loser's fault alone, in the words of `zerosum.notation.record.ENDINGS`."""


def value_of_score(score: Score, coefficient: int) -> float:
    """A score as a value in [-1, 1], for the same player; `coefficient` is that of the game's centipawns."""
    if score.win_rate is not None:
        return 2 * score.win_rate - 1
    if score.mate is not None:
        return 1.0 if score.mate > 0 else -1.0
    return value_of(score.centipawns or 0, coefficient)


@dataclass(frozen=True)
class PlayedGame:
    """One game of a match, from the view of the contestant named first."""

    index: int
    """Its number in the match; 2k and 2k + 1 are a pair, which shares its start and its opening."""
    actions: tuple[int, ...]
    """All moves, the opening included."""
    opening_plies: int
    first_is_player: int
    """Player number of the contestant named first: 0 moved first, 1 second."""
    result: float
    """Result of the contestant named first, in [-1, 1]."""
    ending: str
    """How the game ended, in the words of the rules or of `zerosum.notation.record.ENDINGS`."""
    start: str = ""
    """The first position, as `zerosum.games.start_state` takes it."""
    opening: str = ""
    """Name of the opening; "" if it has none."""
    thoughts: tuple[Thought, ...] = field(default=(), compare=False, repr=False)
    """Thoughts of all moves after the opening."""
    date: str = field(default="", compare=False)
    """Date of its end, `2026-01-31`; "" if the game is not kept in a file."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Sentences about faults, the rule that ended the game, and an engine that counts another score."""

    @property
    def moves(self) -> tuple[int, str, tuple[int, ...]]:
        """What makes it a game of its own: `first_is_player`, `start` and `actions`."""
        return self.first_is_player, self.start, self.actions

    @property
    def has_failure(self) -> bool:
        """Whether a fault decided it: time, an illegal move, a crash."""
        return self.ending in FAILURES
