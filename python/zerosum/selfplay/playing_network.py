"""The network that plays, as self-play tells of it."""

from __future__ import annotations

from dataclasses import dataclass

from zerosum.network import CheckpointInfo

PROGRESS = "progress"
"""Key of a checkpoint's `info.training`: the share of the run's budget that was used when it was made."""


@dataclass(frozen=True)
class PlayingNetwork:
    """The network that plays."""

    step: int = 0
    """Its learner step."""
    progress: float = 0.0
    """Share of the run's budget that was used when it was made, in [0, 1]."""

    @classmethod
    def of(cls, info: CheckpointInfo) -> PlayingNetwork:
        """The network of a checkpoint; one without a run's progress counts as made at the beginning."""
        return cls(info.step, float(info.training.get(PROGRESS, 0.0)))
