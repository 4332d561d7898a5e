"""What a training of the study of ablations showed."""

from __future__ import annotations

from dataclasses import dataclass

from zerosum.contest.sprt import MatchCounts

DEFAULTS = "defaults"
"""The name of the trainings that the variants are compared with."""


@dataclass(frozen=True)
class Ablated:
    """The result of a training, and of the match of its last network."""

    variant: str
    """`DEFAULTS`, or a variant."""
    seed: int
    games: int
    positions: int
    """Recorded positions."""
    steps: int
    """Learner steps."""
    minutes: float
    """CPU-minutes of the training."""
    evaluations_per_second: float
    """Evaluations of self-play a CPU-second of the training."""
    counts: MatchCounts | None
    """Its network's games against that of the defaults of the same seed; None for the defaults."""
