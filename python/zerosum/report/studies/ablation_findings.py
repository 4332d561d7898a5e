"""What the trainings and matches of the study of ablations say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from zerosum.report.studies.ablation_results import DEFAULTS, Ablated
from zerosum.report.studies.ablation_variants import VARIANTS
from zerosum.report.studies.matches import OPENING_PLIES
from zerosum.report.studies.page import Findings, Table
from zerosum.report.studies.pooled_findings import (
    INTERVALS,
    conclusion,
    pooled_matches,
    pooled_picture,
    trainings_table,
)
from zerosum.report.studies.trainings import POOLED_HEAD, Pooled


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
    pooled = pooled_matches(groups)
    speed = ("evaluations a CPU-second", lambda one: one.evaluations_per_second, ",.0f")
    tables = [trainings_table(groups, "variant", speed)]
    if pooled:
        tables.insert(0, _matches(pooled))
    return Findings(
        title,
        conclusion(
            pooled,
            groups,
            worse="At equal CPU-minutes worse than the defaults",
            better="At equal CPU-minutes better than the defaults",
        )
        if pooled
        else "The variants are still to be trained.",
        tuple(tables),
        (pooled_picture(pooled, "the defaults"),) if pooled else (),
        (
            f"Each variant's last network against that of the defaults of the same seed, {simulations} simulations a"
            f" move, the same search for both; each pair of games begins with {OPENING_PLIES} random plies.",
            INTERVALS,
        ),
    )


def _matches(pooled: Mapping[str, Pooled]) -> Table:
    rows = tuple((f"{name}: {VARIANTS[name].words}", *found.cells) for name, found in pooled.items())
    return Table("Against the defaults, all seeds together", ("variant", *POOLED_HEAD), rows)
