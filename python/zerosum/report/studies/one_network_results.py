"""What a training of the study of one network showed."""

from __future__ import annotations

from dataclasses import dataclass

from zerosum.contest.sprt import MatchCounts

JOINT = "joint"
"""The name of the trainings of one network for all games."""


@dataclass(frozen=True)
class Taught:
    """The result of a training, and of the match in its game."""

    game: str
    """`JOINT`, or the game that the network learned alone."""
    seed: int
    games: int
    positions: int
    """Recorded positions."""
    steps: int
    """Learner steps."""
    minutes: float
    """CPU-minutes of the training."""
    counts: MatchCounts | None
    """The joint network's games against this one, with the same seed, in this game; None for the joint network."""
