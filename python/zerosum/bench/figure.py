"""The result of a bench, and the summary of measurements as one number."""

from __future__ import annotations

import dataclasses
import json
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

ROUNDS = 5
"""Slices of time of each alternating measurement."""


@dataclass(frozen=True)
class Figure:
    """One measured number."""

    bench: str
    game: str
    metric: str
    value: float
    unit: str
    settings: dict[str, Any] = field(default_factory=dict)

    def json(self) -> str:
        """The figure as one line of JSON."""
        return json.dumps(dataclasses.asdict(self))

    def __str__(self) -> str:
        settings = ", ".join(f"{name} {_text(value)}" for name, value in self.settings.items())
        return f"{self.bench:<10} {self.metric:<32} {_text(self.value):>14} {self.unit:<4} ({settings})"


def _text(value: Any) -> str:
    """A number for people; any other value unchanged."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.3f}" if value == 0 or abs(value) >= 0.001 else f"{value:.3g}"


def median_ratio(pairs: Iterable[Iterable[float]]) -> float:
    """The median of the ratios of pairs, each measured in direct succession."""
    return statistics.median(one / other for one, other in pairs)
