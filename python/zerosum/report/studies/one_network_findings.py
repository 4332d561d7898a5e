"""What the trainings and matches of the study of one network say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from zerosum.report.studies.matches import OPENING_PLIES
from zerosum.report.studies.one_network_results import JOINT, Taught
from zerosum.report.studies.page import Findings, Table
from zerosum.report.studies.pooled_findings import (
    INTERVALS,
    conclusion,
    pooled_matches,
    pooled_picture,
    trainings_table,
)
from zerosum.report.studies.trainings import POOLED_HEAD, Pooled


def one_network_findings(results: Sequence[Taught], parts: Sequence[str], *, title: str, simulations: int) -> Findings:
    """The findings of the trainings so far, one or more.

    Args:
        results: The trainings, with their matches.
        parts: The names of the games, in the order of the page.
        title: The page's title.
        simulations: Simulations of each move in matches.
    """
    by_name = {name: [one for one in results if one.game == name] for name in (JOINT, *parts)}
    groups = {name: found for name, found in by_name.items() if found}
    pooled = pooled_matches(groups)
    tables = [trainings_table(groups, "network")]
    if pooled:
        tables.insert(0, _matches(pooled))
    return Findings(
        title,
        conclusion(
            pooled,
            groups,
            worse="At equal compute one network for all games is weaker than a game's own",
            better="At equal compute one network for all games is stronger than a game's own",
        )
        if pooled
        else "The games' own networks are still to be trained.",
        tuple(tables),
        (pooled_picture(pooled, "the game's own network"),) if pooled else (),
        (
            "One network has learned all games, each of the others one of them. All have the same planes, actions,"
            " layers and settings; the joint network has the CPU-minutes of all the others of its seed together, and"
            " its self-play draws the game of each start.",
            f"Matches are of {simulations} simulations a move, the same search for both; each pair of games begins with"
            f" {OPENING_PLIES} random plies.",
            INTERVALS,
        ),
    )


def _matches(pooled: Mapping[str, Pooled]) -> Table:
    rows = tuple((name, *found.cells) for name, found in pooled.items())
    return Table("The joint network against each game's own, all seeds together", ("game", *POOLED_HEAD), rows)
