"""What a training of the study of Nim showed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Moment:
    """The network of a checkpoint without search."""

    step: int
    games: float
    """Games that were finished at this step, about."""
    accuracy: float
    """Share of the positions with a winning move in which its favourite wins, in [0, 1]."""
    signs: float
    """Share of values with the right sign, in [0, 1]: the mean of the shares in won and in lost positions, so that
    always the same sign has a half, and so has a value of 0. Most positions are won."""
    elo: float | None
    """Rating with its search above random play; None if the checkpoint was not rated."""


@dataclass(frozen=True)
class Learned:
    """The result of a training."""

    variant: str
    seed: int
    games: int
    positions: int
    """Recorded positions."""
    minutes: float
    """CPU-minutes of the training."""
    by_chance: float
    """Share of random moves that win, in the positions with a winning move."""
    course: tuple[Moment, ...]
    """Checkpoints, the untrained network first."""
    searched: float
    """As `Moment.accuracy`, for the search of the last checkpoint."""
