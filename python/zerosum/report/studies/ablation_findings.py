"""What the trainings and matches of the study of ablations say."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence

from zerosum.report.studies.ablation_results import DEFAULTS, Ablated
from zerosum.report.studies.ablation_variants import VARIANTS
from zerosum.report.studies.estimates import NO_DIFFERENCE
from zerosum.report.studies.matches import OPENING_PLIES
from zerosum.report.studies.page import Findings, Table
from zerosum.report.studies.pooled_picture import pooled_picture
from zerosum.report.studies.trainings import POOLED_HEAD, Pooled, elo_words


def ablation_findings(results: Sequence[Ablated], variants: Sequence[str], *, title: str, simulations: int) -> Findings:
    """The findings of the trainings so far, one or more.

    Args:
        results: The trainings, with their matches.
        variants: The names of the variants, in the order of the page.
        title: The page's title.
        simulations: Simulations of each move in matches.
    """
    by_name = {name: [one for one in results if one.variant == name] for name in (DEFAULTS, *variants)}
    groups = {name: found for name, found in by_name.items() if found}
    pooled = {
        name: Pooled(tuple(one.counts for one in found if one.counts is not None))
        for name, found in groups.items()
        if name != DEFAULTS
    }
    tables = [_trainings(groups)]
    if pooled:
        tables.insert(0, _matches(pooled))
    return Findings(
        title,
        _conclusion(pooled, groups),
        tuple(tables),
        (pooled_picture(pooled, "the defaults"),) if pooled else (),
        (
            f"Each variant's last network against that of the defaults of the same seed, {simulations} simulations a"
            f" move, the same search for both; each pair of games begins with {OPENING_PLIES} random plies.",
            "The interval over games is of these networks; that over seeds (Student's) is of trainings like these. A"
            f" difference is shown if both leave out equality: else there is {NO_DIFFERENCE}.",
        ),
    )


def _matches(pooled: Mapping[str, Pooled]) -> Table:
    rows = tuple((f"{name}: {VARIANTS[name].words}", *found.cells) for name, found in pooled.items())
    return Table("Against the defaults, all seeds together", ("variant", *POOLED_HEAD), rows)


def _trainings(groups: Mapping[str, Sequence[Ablated]]) -> Table:
    columns: tuple[tuple[str, Callable[[Ablated], float], str], ...] = (
        ("CPU-minutes", lambda one: one.minutes, ",.1f"),
        ("games", lambda one: one.games, ",.0f"),
        ("positions", lambda one: one.positions, ",.0f"),
        ("steps", lambda one: one.steps, ",.0f"),
        ("evaluations a CPU-second", lambda one: one.evaluations_per_second, ",.0f"),
    )
    rows = tuple(
        (name, str(len(found)), *(format(statistics.fmean(map(of, found)), form) for _, of, form in columns))
        for name, found in groups.items()
    )
    return Table("Trainings, means over seeds", ("variant", "seeds", *(name for name, _, _ in columns)), rows)


def _conclusion(pooled: Mapping[str, Pooled], groups: Mapping[str, Sequence[Ablated]]) -> str:
    if not pooled:
        return "The variants are still to be trained."
    clear = {name: found for name, found in pooled.items() if found.is_clear}
    sentences = []
    for words, sign in (("worse", -1), ("better", 1)):
        named = [f"{name} ({elo_words(found.elo)})" for name, found in clear.items() if sign * found.elo.elo > 0]
        if named:
            sentences.append(f"At equal CPU-minutes {words} than the defaults: {', '.join(named)}.")
    others = [f"{name} ({elo_words(found.elo)})" for name, found in pooled.items() if name not in clear]
    if others:
        sentences.append(f"{NO_DIFFERENCE.capitalize()}: {', '.join(others)}.")
    if max(map(len, groups.values())) == 1:
        sentences.append("There is one seed: the intervals are of these networks, and not of other trainings.")
    return " ".join(sentences)
