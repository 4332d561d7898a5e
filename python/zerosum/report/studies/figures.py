"""Named figures as the result of a job, for studies whose figures depend on the game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Figures:
    """Some figures of one source."""

    source: str
    """What they are of, such as "checkpoint"."""
    at: float
    """The learner step, the number of games or the seed that they are of."""
    names: tuple[str, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        """Raises ValueError if a figure has no name."""
        if len(self.names) != len(self.values):
            raise ValueError(f"{len(self.names)} names of {len(self.values)} figures")

    @classmethod
    def of(cls, source: str, at: float, figures: Mapping[str, float]) -> Figures:
        """The figures of a mapping."""
        return cls(source, at, tuple(figures), tuple(map(float, figures.values())))

    @property
    def by_name(self) -> dict[str, float]:
        """The figures by their names."""
        return dict(zip(self.names, self.values, strict=True))
