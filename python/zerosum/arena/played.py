"""A game of a match, when it is over."""

from __future__ import annotations

from dataclasses import dataclass, field

from zerosum.contest.adjudication import Score

FAILURES = ("time", "illegal move", "forfeit")
"""Endings that are the loser's fault alone, in the words of `zerosum.notation.record.ENDINGS`."""


@dataclass(frozen=True)
class Thought:
    """What is known of how a player came to its move."""

    score: Score | None = None
    """Of the position, seen from the player; None if it did not say."""
    seconds: float | None = None
    """That the move took; None where games of a match share the time, as those of our own searches do."""
    clock_s: float | None = None
    """What its clock shows after the move; None without a clock."""
    depth: int | None = None
    """Plies that an engine says it has searched."""
    nodes: int | None = None
    """That an engine says it has searched; of our own search, simulations."""


@dataclass(frozen=True)
class PlayedGame:
    """One game of a match, from the view of the contestant named first."""

    index: int
    """Its number in the match; 2k and 2k + 1 are a pair, which shares its start and its opening."""
    actions: tuple[int, ...]
    """All moves, the opening included."""
    opening_plies: int
    first_is_player: int
    """Which player the contestant named first was: 0 moved first, 1 second."""
    result: float
    """Of the contestant named first, in [-1, 1]."""
    ending: str
    """How the game ended, in words: the rules', or those of `zerosum.notation.record.ENDINGS`."""
    start: str = ""
    """The position it began with, as `zerosum.games.start_state` takes it."""
    opening: str = ""
    """What the opening is called; "" if it has no name."""
    thoughts: tuple[Thought, ...] = field(default=(), compare=False, repr=False)
    """Of each move after the opening."""
    date: str = field(default="", compare=False)
    """Of its end, `2026-01-31`; "" where nobody keeps it."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Sentences: which player failed and how, which rule ended the game, whose count of it is another one."""

    @property
    def has_failure(self) -> bool:
        """Whether a player lost it by a fault: its time, an illegal move, a crash."""
        return self.ending in FAILURES
