"""Matches that are pooled over seeds: the picture, the table of the trainings, and what can be concluded."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from zerosum.contest.sprt import MatchCounts
from zerosum.report.drawings import COLOURS, Picture, figure, picture
from zerosum.report.studies.estimates import NO_DIFFERENCE
from zerosum.report.studies.page import Table
from zerosum.report.studies.trainings import MOST_ELO, Pooled, drawn, elo_words

INTERVALS = (
    "The interval over games is of these networks; that over seeds (Student's) is of trainings like these. A"
    f" difference is shown if both leave out equality: else there is {NO_DIFFERENCE}."
)
"""What the intervals of pooled matches mean."""


class Training(Protocol):
    """The result of a training, and of the match of its last network."""

    @property
    def games(self) -> int:
        """Games of self-play."""

    @property
    def positions(self) -> int:
        """Recorded positions."""

    @property
    def steps(self) -> int:
        """Learner steps."""

    @property
    def minutes(self) -> float:
        """CPU-minutes of the training."""

    @property
    def counts(self) -> MatchCounts | None:
        """The games of a match of the pair; None for a training that others are compared with."""


T = TypeVar("T", bound=Training)


def pooled_matches(groups: Mapping[str, Sequence[T]]) -> dict[str, Pooled]:
    """The matches of each group of trainings that has any, all seeds together."""
    counts = {name: tuple(one.counts for one in found if one.counts is not None) for name, found in groups.items()}
    return {name: Pooled(found) for name, found in counts.items() if found}


def trainings_table(
    groups: Mapping[str, Sequence[T]], kind: str, *more: tuple[str, Callable[[T], float], str]
) -> Table:
    """The means over the seeds of each group; `more` columns have a head, a number of a training and its format."""
    columns: tuple[tuple[str, Callable[[T], float], str], ...] = (
        ("CPU-minutes", lambda one: one.minutes, ",.1f"),
        ("games", lambda one: one.games, ",.0f"),
        ("positions", lambda one: one.positions, ",.0f"),
        ("steps", lambda one: one.steps, ",.0f"),
        *more,
    )
    rows = tuple(
        (name, str(len(found)), *(format(statistics.fmean(map(of, found)), form) for _, of, form in columns))
        for name, found in groups.items()
    )
    return Table("Trainings, means over seeds", (kind, "seeds", *(name for name, _, _ in columns)), rows)


def conclusion(
    pooled: Mapping[str, Pooled], groups: Mapping[str, Sequence[Training]], *, worse: str, better: str
) -> str:
    """Sentences on pooled matches, one or more.

    Args:
        pooled: The matches, by the name of the first player's kind.
        groups: The trainings by kind.
        worse: The beginning of a sentence with the names of those whose Elo is below 0, as far as that is shown.
        better: The same for those above 0.
    """
    named = {name: f"{name} ({elo_words(found.elo)})" for name, found in pooled.items()}
    clear = {name: found.elo.elo for name, found in pooled.items() if found.is_clear}
    parts = (
        (worse, [named[name] for name, elo in clear.items() if elo < 0]),
        (better, [named[name] for name, elo in clear.items() if elo > 0]),
        (NO_DIFFERENCE.capitalize(), [named[name] for name in pooled if name not in clear]),
    )
    sentences = [f"{words}: {', '.join(names)}." for words, names in parts if names]
    if max(map(len, groups.values())) == 1:
        sentences.append("There is one seed: the intervals are of these networks, and not of other trainings.")
    return " ".join(sentences)


def pooled_picture(pooled: Mapping[str, Pooled], opponent: str) -> Picture:
    """The Elo of one player or more, by name, against the `opponent`, a phrase such as "the defaults"."""
    drawing, (axes,) = figure(1, height=1.0 + 0.42 * len(pooled), width=7.5)
    for place, found in enumerate(reversed(list(pooled.values()))):
        low, elo, high = drawn([found.elo.low, found.elo.elo, found.elo.high])
        colour = COLOURS[0] if found.is_clear else "#8a9099"
        axes.errorbar([elo], [place], xerr=[[elo - low], [high - elo]], color=colour, marker="o", capsize=3)
    axes.axvline(0, color="#888888", linewidth=0.8, linestyle=":")
    axes.set_yticks(range(len(pooled)), list(pooled)[::-1])
    axes.set(xlabel=f"Elo against {opponent}", ylim=(-0.6, len(pooled) - 0.4))
    return picture(
        drawing,
        f"Elo against {opponent}",
        "All seeds together, with 95 % intervals over games; grey where no difference is shown. Ends beyond"
        f" {MOST_ELO:.0f} Elo are drawn there.",
    )
