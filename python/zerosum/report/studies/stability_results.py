"""What a stressed training of the study of stability showed."""

from __future__ import annotations

from dataclasses import dataclass

from zerosum.contest.sprt import MatchCounts


@dataclass(frozen=True)
class Point:
    """A checkpoint after the stress began."""

    steps: int
    """Learner steps since the stress began."""
    counts: MatchCounts
    """Its games against the last checkpoint before the stress."""


@dataclass(frozen=True)
class Course:
    """The result of a training that continued under a stress."""

    stress: str
    seed: int
    steps_before: int
    """Learner steps of the training before the stress."""
    points: tuple[Point, ...]
    """In the order of their steps."""
