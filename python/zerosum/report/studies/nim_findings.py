"""What the trainings of the study of Nim say, beside the paper's."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from zerosum.report.drawings import COLOURS, Picture, figure, mean_band, picture
from zerosum.report.studies.estimates import NO_DIFFERENCE, Estimate, compared
from zerosum.report.studies.nim_results import Learned, Moment
from zerosum.report.studies.page import Findings, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAPER = {5: (0.130, 0.415, 0.135), 6: (0.097, 0.156, 0.100), 7: (0.075, 0.088, 0.079)}
"""Policy accuracy of the paper by heaps: untrained, trained, and of random play (arXiv 2205.12787)."""
NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight"}

Groups = Mapping[str, list[Learned]]


def nim_findings(results: Sequence[Learned], variants: Mapping[str, str], *, num_heaps: int) -> Findings:
    """The findings of the trainings so far, one or more.

    Args:
        results: The trainings.
        variants: What each variant is, by its name; the first is the one that the others are compared with.
        num_heaps: Heaps of the game.
    """
    groups = {name: found for name in variants if (found := [one for one in results if one.variant == name])}
    chance = statistics.fmean(one.by_chance for one in results)
    tables = [_of_variants(groups, variants, chance)]
    if num_heaps in PAPER:
        tables.append(_beside_the_paper(next(iter(groups.values())), num_heaps, chance))
    return Findings(
        title=f"Nim of {NUMBERS[num_heaps]} heaps",
        conclusion=_conclusion(groups, num_heaps, chance),
        tables=tuple(tables),
        pictures=(_course(groups, variants, chance),),
        notes=(
            "Accuracy: the share of the positions with a winning move in which the network's favourite, or the search's"
            " move, wins. All positions of the game, or 10,000 at random; the search in 300 of them.",
            "Sign of the value: the mean of its share in won and in lost positions, so that a random sign has 50 %.",
            "Intervals are of 95 %, over seeds: Student's for means, Welch's for differences.",
        ),
    )


def _last(found: Sequence[Learned], of: Callable[[Moment], float]) -> list[float]:
    return [of(one.course[-1]) for one in found]


def _accuracy(moment: Moment) -> float:
    return moment.accuracy


def _of_variants(groups: Groups, variants: Mapping[str, str], chance: float) -> Table:
    rows = [("random moves", "", "", "", f"{100 * chance:.1f} %", "", "")]
    for name, found in groups.items():
        rows.append(
            (
                f"{name}: {variants[name]}",
                str(len(found)),
                f"{statistics.fmean(one.games for one in found):,.0f}",
                f"{statistics.fmean(one.minutes for one in found):.1f}",
                Estimate.of(_last(found, _accuracy)).percent,
                Estimate.of(_last(found, lambda moment: moment.signs)).percent,
                Estimate.of([one.searched for one in found]).percent,
            )
        )
    head = ("variant", "seeds", "games", "CPU-minutes", "accuracy, network", "sign of the value", "accuracy, search")
    return Table("After the training", head, tuple(rows))


def _beside_the_paper(found: Sequence[Learned], num_heaps: int, chance: float) -> Table:
    before, after, random = PAPER[num_heaps]
    ours = Estimate.of([one.course[0].accuracy for one in found]), Estimate.of(_last(found, _accuracy))
    rows = (
        ("random moves", f"{100 * random:.1f} %", f"{100 * chance:.1f} %"),
        ("network, untrained", f"{100 * before:.1f} %", ours[0].percent),
        ("network, trained", f"{100 * after:.1f} %", ours[1].percent),
    )
    return Table("Policy accuracy beside the paper's", ("", "paper", f"here ({found[0].variant})"), rows)


def _course(groups: Groups, variants: Mapping[str, str], chance: float) -> Picture:
    drawn, axes = figure(3)
    parts: tuple[tuple[str, Callable[[Moment], float | None]], ...] = (
        ("policy accuracy of the network alone", _accuracy),
        ("values with the right sign", lambda moment: moment.signs),
        ("Elo with search, random play is 0", lambda moment: moment.elo),
    )
    for one, (title, of) in zip(axes, parts, strict=True):
        for number, (name, found) in enumerate(groups.items()):
            _draw(one, found, of, COLOURS[number % len(COLOURS)], name)
        one.set(xlabel="games", title=title)
    axes[0].axhline(chance, color="#888888", linewidth=0.8, linestyle=":")
    axes[0].set_ylim(0, None)
    axes[1].axhline(0.5, color="#888888", linewidth=0.8, linestyle=":")
    axes[1].set_ylim(0, 1)
    axes[0].legend(fontsize=7)
    words = "; ".join(f"{name}: {variants[name]}" for name in groups)
    return picture(
        drawn,
        "Over the course",
        f"Each seed thin, their mean thick, with its 95 % interval. Dotted: random moves, a random sign. {words}.",
    )


def _draw(axes: Axes, found: Sequence[Learned], of: Callable[[Moment], float | None], colour: str, name: str) -> None:
    """A curve of each training, and the mean and the band of several that have as many points."""
    curves = []
    for one in found:
        told = [(moment.games, value) for moment in one.course if (value := of(moment)) is not None]
        if told:
            curves.append(np.array(told))
            axes.plot(
                *np.array(told).T, color=colour, linewidth=0.7, alpha=0.5, label=name if len(found) == 1 else None
            )
    if len(curves) > 1 and len({len(curve) for curve in curves}) == 1:
        low, mean, high = mean_band(np.stack([curve[:, 1] for curve in curves]))
        games = np.mean([curve[:, 0] for curve in curves], axis=0)
        shown = axes.get_ylim()
        axes.fill_between(games, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(games, mean, color=colour, linewidth=2, label=name)
        axes.set_ylim(shown)


def _conclusion(groups: Groups, num_heaps: int, chance: float) -> str:
    name, plain = next(iter(groups.items()))
    after, before = _last(plain, _accuracy), [one.course[0].accuracy for one in plain]
    searched, signs = [one.searched for one in plain], _last(plain, lambda moment: moment.signs)
    games = statistics.fmean(one.games for one in plain)
    sentences = [
        f"With {NUMBERS[num_heaps]} heaps and {games:,.0f} games ({name}) the network alone prefers a winning move in"
        f" {Estimate.of(after).percent} of the positions that have one; untrained in {Estimate.of(before).percent},"
        f" random moves in {100 * chance:.1f} %.",
        _learned(Estimate.of(after), chance),
        f"Its value has the right sign in {Estimate.of(signs).percent} (a random sign: 50 %), and its search finds a"
        f" winning move in {Estimate.of(searched).percent}.",
    ]
    if num_heaps in PAPER:
        sentences.append(f"The paper's network has {100 * PAPER[num_heaps][1]:.1f} % after its training.")
    for other, found in groups.items():
        if other != name:
            sentences.append(f"Accuracy, {compared(other, _last(found, _accuracy), name, after)}")
    return " ".join(sentences)


def _learned(after: Estimate, chance: float) -> str:
    if after.error is None:
        return "One seed gives no interval."
    if after.mean - after.error > chance:
        return "The difference to random moves is clear: the policy has learned something."
    return f"Beside random moves there is {NO_DIFFERENCE}."
