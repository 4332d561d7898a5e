"""What the stressed trainings of the study of stability say: the dips, their ends, and a gate's verdicts."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zerosum.report.drawings import COLOURS, Picture, figure, picture
from zerosum.report.studies.matches import OPENING_PLIES
from zerosum.report.studies.page import Findings, Table
from zerosum.report.studies.stability_results import Course
from zerosum.report.studies.stresses import STRESSES
from zerosum.report.studies.trainings import MOST_ELO, Pooled, drawn, elo_words

GATE_SCORE = 0.55
"""Share of the points above which AlphaGo Zero's gate let a network play."""
APART = 0.012
"""Distance of the intervals of two stresses in the figure, as a share of all steps: they have the same steps."""


@dataclass(frozen=True)
class Moment:
    """A point of all seeds."""

    steps: float
    """Mean learner steps since the stress began."""
    match: Pooled

    @property
    def is_below(self) -> bool:
        """Whether it is shown to be weaker than before the stress."""
        return self.match.elo.elo < 0 and self.match.is_clear


@dataclass(frozen=True)
class Dip:
    """The course of a stress, all seeds together."""

    moments: tuple[Moment, ...]
    num_refused: int
    """Checkpoints that the gate would have refused, of `num_checkpoints`."""
    num_checkpoints: int
    num_seeds: int

    @property
    def deepest(self) -> Moment | None:
        """The weakest of the moments that are shown to be weaker than before; None if there is none."""
        below = [moment for moment in self.moments if moment.is_below]
        return min(below, key=lambda moment: moment.match.elo.elo, default=None)

    @property
    def gone(self) -> Moment | None:
        """The first moment from which on no weakness is shown any more; None if the last moment shows one."""
        last = max((number for number, moment in enumerate(self.moments) if moment.is_below), default=-1)
        return self.moments[last + 1] if last + 1 < len(self.moments) else None

    @property
    def words(self) -> str:
        """How deep, and how long."""
        if self.deepest is None:
            return "no dip shown"
        found = f"{elo_words(self.deepest.match.elo)} after {self.deepest.steps:,.0f} steps"
        if self.gone is None:
            return f"{found}, not gone after {self.moments[-1].steps:,.0f}"
        return f"{found}, gone after {self.gone.steps:,.0f}"


def dip_of(courses: Sequence[Course]) -> Dip:
    """The course of one stress from those of its seeds, one or more."""
    moments = []
    for number in range(max(len(course.points) for course in courses)):
        points = [course.points[number] for course in courses if number < len(course.points)]
        steps = statistics.fmean(point.steps for point in points)
        moments.append(Moment(steps, Pooled(tuple(point.counts for point in points))))
    scores = [Pooled((point.counts,)).points.mean for course in courses for point in course.points]
    refused = sum(score <= GATE_SCORE for score in scores)
    return Dip(tuple(moments), refused, len(scores), len(courses))


def stability_findings(results: Sequence[Course], stresses: Sequence[str], *, title: str, simulations: int) -> Findings:
    """The findings of the courses so far, one or more.

    Args:
        results: The courses.
        stresses: The names of the stresses, in the order of the page.
        title: The page's title.
        simulations: Simulations of each move in matches.
    """
    by_name = {name: [one for one in results if one.stress == name] for name in stresses}
    dips = {name: dip_of(found) for name, found in by_name.items() if found}
    return Findings(
        title,
        _conclusion(dips),
        (_summary(dips), _courses(dips)),
        (_picture(dips),),
        (
            f"Checkpoints against the last one before the stress, {simulations} simulations a move; each pair of games"
            f" begins with {OPENING_PLIES} random plies. A dip is a checkpoint that is shown to be weaker, by the"
            " interval over games and that over seeds; it is gone at the first one from which on none is.",
            f"The gate lets a checkpoint play above {100 * GATE_SCORE:.0f} % of the points against the network before"
            " the stress. With a gate the games after it would have been other ones.",
        ),
    )


def _summary(dips: Mapping[str, Dip]) -> Table:
    rows = tuple(
        (
            f"{name}: {STRESSES[name]}",
            str(dip.num_seeds),
            dip.words,
            elo_words(dip.moments[-1].match.elo),
            f"{dip.num_refused} of {dip.num_checkpoints}",
        )
        for name, dip in dips.items()
    )
    return Table("Dips", ("stress", "seeds", "deepest, steps", "at the end", "refused by a gate"), rows)


def _courses(dips: Mapping[str, Dip]) -> Table:
    rows = tuple(
        (name, f"{moment.steps:,.0f}", elo_words(moment.match.elo), moment.match.points.percent)
        for name, dip in dips.items()
        for moment in dip.moments
    )
    head = ("stress", "steps since", "against the checkpoint before (95 % over games)", "points (95 % over seeds)")
    return Table("Courses, all seeds together", head, rows)


def _picture(dips: Mapping[str, Dip]) -> Picture:
    drawing, (axes,) = figure(1, height=3.6, width=7.5)
    width = max(dip.moments[-1].steps for dip in dips.values())
    for number, (name, dip) in enumerate(dips.items()):
        colour, aside = COLOURS[number], APART * width * (number - (len(dips) - 1) / 2)
        steps = [moment.steps + aside for moment in dip.moments]
        elos = [drawn([found.low, found.elo, found.high]) for found in (moment.match.elo for moment in dip.moments)]
        errors = [[elo - low for low, elo, _ in elos], [high - elo for _, elo, high in elos]]
        middle = [elo for _, elo, _ in elos]
        axes.errorbar(steps, middle, yerr=errors, color=colour, marker="o", markersize=3, capsize=2, label=name)
    axes.axhline(0, color="#888888", linewidth=0.8, linestyle=":")
    axes.set_xlim(0, None)
    axes.set(xlabel="learner steps since the stress began", ylabel="Elo, before the stress is 0")
    axes.legend(fontsize=7)
    return picture(
        drawing,
        "Strength after the stress",
        "All seeds together, with 95 % intervals over games, which are drawn a little apart."
        f" Ends beyond {MOST_ELO:.0f} Elo are drawn there.",
    )


def _conclusion(dips: Mapping[str, Dip]) -> str:
    sentences = [
        f"{name.capitalize()}: {dip.words}; at the end {elo_words(dip.moments[-1].match.elo)}; a gate would have"
        f" refused {dip.num_refused} of {dip.num_checkpoints} checkpoints."
        for name, dip in dips.items()
    ]
    if max(dip.num_seeds for dip in dips.values()) == 1:
        sentences.append("There is one seed: the intervals are of these networks, and not of other trainings.")
    return " ".join(sentences)
