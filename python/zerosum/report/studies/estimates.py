"""Means over seeds with their intervals, and sentences that compare them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from zerosum.report.seed_groups import difference, t_quantile

NO_DIFFERENCE = "no difference shown"
"""Words for two figures whose intervals do not tell them apart."""


@dataclass(frozen=True)
class Estimate:
    """A mean, and half the width of its 95 % interval by Student's distribution; None for a single value."""

    mean: float
    error: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Estimate:
        """The estimate of one value or more.

        >>> Estimate.of([0.4, 0.5, 0.6]).percent, Estimate.of([0.5]).percent
        ('50.0 ± 24.8 %', '50.0 %')
        """
        if len(values) < 2:
            return cls(values[0], None)
        spread = statistics.stdev(values) / math.sqrt(len(values))
        return cls(statistics.fmean(values), t_quantile(len(values) - 1) * spread)

    @property
    def percent(self) -> str:
        """The estimate of a share, in percent."""
        error = "" if self.error is None else f" ± {100 * self.error:.1f}"
        return f"{100 * self.mean:.1f}{error} %"


def compared(name: str, values: Sequence[float], other: str, others: Sequence[float]) -> str:
    """A sentence on shares of two groups of trainings, with Welch's interval of the difference in percentage points.

    >>> compared("bounds", [0.5, 0.5], "plain", [0.3, 0.3])
    'bounds against plain: +20.0 ± 0.0 percentage points.'
    """
    found = difference(others, values)
    if found is None:
        points = 100 * (statistics.fmean(values) - statistics.fmean(others))
        return f"{name} against {other}: {points:+.1f} percentage points, without an interval (one seed)."
    verdict = "" if found.is_clear else f": {NO_DIFFERENCE}"
    return f"{name} against {other}: {100 * found.mean:+.1f} ± {100 * found.error:.1f} percentage points{verdict}."
