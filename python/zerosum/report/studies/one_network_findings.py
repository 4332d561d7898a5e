"""What the trainings and matches of the study of one network say."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence

from zerosum.report.studies.estimates import NO_DIFFERENCE
from zerosum.report.studies.matches import OPENING_PLIES
from zerosum.report.studies.one_network_results import JOINT, Taught
from zerosum.report.studies.page import Findings, Table
from zerosum.report.studies.pooled_picture import pooled_picture
from zerosum.report.studies.trainings import POOLED_HEAD, Pooled, elo_words


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
    pooled = {
        name: Pooled(tuple(one.counts for one in found if one.counts is not None))
        for name, found in groups.items()
        if name != JOINT
    }
    tables = [_trainings(groups)]
    if pooled:
        tables.insert(0, _matches(pooled))
    return Findings(
        title,
        _conclusion(pooled, groups),
        tuple(tables),
        (pooled_picture(pooled, "the game's own network"),) if pooled else (),
        (
            "One network has learned all games, each of the others one of them. All have the same planes, actions,"
            " layers and settings; the joint network has the CPU-minutes of all the others of its seed together, and"
            " its self-play draws the game of each start.",
            f"Matches are of {simulations} simulations a move, the same search for both; each pair of games begins with"
            f" {OPENING_PLIES} random plies.",
            "The interval over games is of these networks; that over seeds (Student's) is of trainings like these. A"
            f" difference is shown if both leave out equality: else there is {NO_DIFFERENCE}.",
        ),
    )


def _matches(pooled: Mapping[str, Pooled]) -> Table:
    rows = tuple((name, *found.cells) for name, found in pooled.items())
    return Table("The joint network against each game's own, all seeds together", ("game", *POOLED_HEAD), rows)


def _trainings(groups: Mapping[str, Sequence[Taught]]) -> Table:
    columns: tuple[tuple[str, Callable[[Taught], float], str], ...] = (
        ("CPU-minutes", lambda one: one.minutes, ",.1f"),
        ("games", lambda one: one.games, ",.0f"),
        ("positions", lambda one: one.positions, ",.0f"),
        ("steps", lambda one: one.steps, ",.0f"),
    )
    rows = tuple(
        (name, str(len(found)), *(format(statistics.fmean(map(of, found)), form) for _, of, form in columns))
        for name, found in groups.items()
    )
    return Table("Trainings, means over seeds", ("network", "seeds", *(name for name, _, _ in columns)), rows)


def _conclusion(pooled: Mapping[str, Pooled], groups: Mapping[str, Sequence[Taught]]) -> str:
    if not pooled:
        return "The games' own networks are still to be trained."
    clear = {name: found for name, found in pooled.items() if found.is_clear}
    sentences = []
    for words, sign in (("weaker", -1), ("stronger", 1)):
        named = [f"{name} ({elo_words(found.elo)})" for name, found in clear.items() if sign * found.elo.elo > 0]
        if named:
            sentences.append(
                f"At equal compute one network for all games is {words} than a game's own in {', '.join(named)}."
            )
    others = [f"{name} ({elo_words(found.elo)})" for name, found in pooled.items() if name not in clear]
    if others:
        sentences.append(f"{NO_DIFFERENCE.capitalize()} in {', '.join(others)}.")
    if max(map(len, groups.values())) == 1:
        sentences.append("There is one seed: the intervals are of these networks, and not of other trainings.")
    return " ".join(sentences)
