"""What one H100 should reach: a goal for each figure of `zerosum bench gpu` that has one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from zerosum.bench.figure import Figure


@dataclass(frozen=True)
class Goal:
    """A bound for one figure."""

    section: str
    game: str
    """"" for all games."""
    metric: str
    value: float
    is_at_most: bool = False
    """Whether the figure should be at most the value, not at least."""
    only: tuple[tuple[str, Any], ...] = ()
    """Settings of the figure; the goal is for no other."""

    def is_for(self, figure: Figure) -> bool:
        """Whether it is this figure's goal."""
        of_figure = (self.section, self.metric) == (figure.bench, figure.metric) and self.game in ("", figure.game)
        return of_figure and all(figure.settings.get(name) == value for name, value in self.only)

    def is_reached(self, value: float) -> bool:
        """Whether a value is on the right side of the bound."""
        return value <= self.value if self.is_at_most else value >= self.value

    def __str__(self) -> str:
        return f"{'≤' if self.is_at_most else '≥'} {number_text(self.value)}"


DEFAULT = (("workers_are", "default"),)

GOALS = (
    Goal("evaluator", "chess", "share_of_roofline", 0.75),
    Goal("evaluator", "shogi", "share_of_roofline", 0.75),
    Goal("evaluator", "go19", "share_of_roofline", 0.75),
    Goal("evaluator", "", "least_share_from_512_on", 0.9),
    Goal("evaluator", "go9", "best_evaluations_per_second", 1_500_000),
    Goal("selfplay", "chess", "share_of_evaluator", 0.9, only=DEFAULT),
    Goal("selfplay", "go9", "share_of_evaluator", 0.85, only=DEFAULT),
    Goal("selfplay", "go9", "evaluations_per_second", 800_000, only=DEFAULT),
    Goal("selfplay", "go9", "evaluations_per_cpu_second", 250_000, only=DEFAULT),
    Goal("selfplay", "", "swap_stall_ms", 20, is_at_most=True),
    Goal("learner", "", "idle_share", 0.05, is_at_most=True),
    Goal("learner", "go9", "steps_per_second", 200, only=(("batch_size", 512),)),
    Goal("analyse", "chess", "simulations_per_second", 100_000),
)


@dataclass(frozen=True)
class Row:
    """A figure and its goal, None if it has none here."""

    figure: Figure
    goal: Goal | None

    @classmethod
    def of(cls, figure: Figure, *, has_goals: bool) -> Row:
        """The row of a figure; without goals if the device is not the one that they are for."""
        found = [goal for goal in GOALS if goal.is_for(figure)] if has_goals else []
        return cls(figure, found[0] if found else None)

    @property
    def is_short(self) -> bool:
        """Whether the figure has a goal and misses it."""
        return self.goal is not None and not self.goal.is_reached(self.figure.value)

    def values(self) -> Mapping[str, Any]:
        """The row as JSON has it."""
        goal = {} if self.goal is None else {"goal": str(self.goal), "is_reached": not self.is_short}
        return {**asdict(self.figure), **goal}

    def text(self) -> str:
        """One line for people."""
        return f"{self.figure}{'' if self.goal is None else f'  goal {self.goal}'}{', not reached' * self.is_short}"


def number_text(value: float) -> str:
    """A number for a table: thousands with k, millions with M, three figures.

    >>> [number_text(value) for value in (0.5512, 20, 41.26, 134_312, 4_150_000)]
    ['0.551', '20', '41.3', '134 k', '4.15 M']
    """
    for unit, size in ((" M", 1e6), (" k", 1e3)):
        if abs(value) >= size:
            return f"{_three(value / size)}{unit}"
    return _three(value)


def _three(value: float) -> str:
    """Three significant figures, without an exponent up to 1,000."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
