"""A comparison of groups of runs that differ within a group only in their seeds: mean differences with intervals.

Chance alone moves a run's strength, so one run against one says little. Welch's interval (Welch 1947, Biometrika 34)
does not assume that both groups vary alike; with two runs a group it is wide, as it must be.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from zerosum.report.run_data import RunData, differing_settings, families

CONFIDENCE = 0.95
_STEPS = 2000
"""Even number of steps of the integral of the t distribution's density."""


@dataclass(frozen=True)
class Measure:
    """A figure of a run at its end."""

    name: str
    unit: str
    scale: float = 1.0
    """Factor from the figure to the unit."""

    def of(self, run: RunData) -> float | None:
        """The run's figure at its last measured checkpoint; None if it has none."""
        if self.name == "Elo":
            return float(run.elo.values[-1]) if len(run.elo.values) else None
        if self.name == "mistakes":
            return float(run.mistake_rates.values[-1]) if len(run.mistake_rates.values) else None
        line = run.held_out.newest("test") or run.held_out.newest("dev")
        return None if line is None else float(line.cross_entropy)


MEASURES = (
    Measure("Elo", ""),
    Measure("mistakes", " percentage points", 100.0),
    Measure("held-out cross-entropy", " nats"),
)


@dataclass(frozen=True)
class Difference:
    """The difference of two means, the second less the first."""

    mean: float
    error: float
    """Half the width of the interval."""

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return abs(self.mean) > self.error


def difference(first: Sequence[float], second: Sequence[float]) -> Difference | None:
    """Welch's interval of the difference of two means; None unless each group has two values or more.

    >>> found = difference([1.0, 2.0, 3.0], [3.0, 4.0, 5.0])
    >>> found.mean, round(found.error, 3), found.is_clear
    (2.0, 2.267, False)
    """
    if min(len(first), len(second)) < 2:
        return None
    parts = [statistics.variance(values) / len(values) for values in (first, second)]
    mean, total = statistics.fmean(second) - statistics.fmean(first), sum(parts)
    if total == 0:
        return Difference(mean, 0.0)
    freedom = total**2 / sum(part**2 / (len(values) - 1) for part, values in zip(parts, (first, second), strict=True))
    return Difference(mean, t_quantile(freedom) * math.sqrt(total))


def t_quantile(freedom: float, confidence: float = CONFIDENCE) -> float:
    """The t that |T| stays below with this probability, for a Student distribution of `freedom` degrees.

    >>> round(t_quantile(1), 2), round(t_quantile(4), 3), round(t_quantile(1e6), 3)
    (12.71, 2.776, 1.96)
    """
    low, high = 0.0, 1.0
    while _share_within(high, freedom) < confidence:
        high *= 2
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _share_within(middle, freedom) < confidence else (low, middle)
    return high


def _share_within(t: float, freedom: float) -> float:
    """The probability of |T| < t, by Simpson's rule in the angle whose tangent is t / sqrt(freedom)."""
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(math.pi) / 2
    end = math.atan(t / math.sqrt(freedom))
    step = end / _STEPS
    terms: list[float] = [math.cos(index * step) ** (freedom - 1) for index in range(_STEPS + 1)]
    integral: float = terms[0] + terms[-1] + 4 * sum(terms[1:-1:2]) + 2 * sum(terms[2:-1:2])
    return 2 * math.exp(log_scale) * integral * step / 3


def group_lines(runs: Sequence[RunData]) -> Iterator[str]:
    """The text: each group with its means, then the difference of each two groups; none for a single group."""
    groups = families(runs)
    if len(groups) < 2 or max(map(len, groups)) < 2:
        return
    letters = [_letter(number) for number in range(len(groups))]
    yield "Groups of runs that differ only in their seeds (mean ± standard deviation):"
    for letter, group in zip(letters, groups, strict=True):
        yield f"  {letter}: {', '.join(str(run.path) for run in group)}{_settings_of(group[0], groups)}"
        for measure in MEASURES:
            if values := _values(measure, group):
                spread = f" ± {statistics.stdev(values):.3g}" if len(values) > 1 else ""
                yield f"     {measure.name} {statistics.fmean(values):.4g}{spread}{measure.unit} ({len(values)} runs)"
    yield f"Differences of the means, with {CONFIDENCE:.0%} intervals (Welch):"
    for (one, first), (other, second) in itertools.combinations(zip(letters, groups, strict=True), 2):
        for measure in MEASURES:
            before, after = _values(measure, first), _values(measure, second)
            if not before or not after:
                continue
            found = difference(before, after)
            if found is None:
                yield f"  {other} - {one}: {measure.name}: two or more runs of each group are needed for an interval"
                continue
            verdict = "a clear difference" if found.is_clear else "no clear difference"
            yield (f"  {other} - {one}: {measure.name} {found.mean:+.3g} ± {found.error:.3g}{measure.unit}: {verdict}")


def _values(measure: Measure, group: Sequence[RunData]) -> list[float]:
    return [measure.scale * value for run in group if (value := measure.of(run)) is not None]


def _settings_of(run: RunData, groups: Sequence[Sequence[RunData]]) -> str:
    """The settings in which the groups differ, in parentheses."""
    place = [group[0] for group in groups].index(run)
    differing = differing_settings([group[0] for group in groups])
    said = [f"{name}={values[place]}" for name, values in differing if name != "training.seed"]
    return f" ({', '.join(said)})" if said else ""


def _letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else f"group {number + 1}"
