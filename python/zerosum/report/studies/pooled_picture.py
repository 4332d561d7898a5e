"""The picture of matches that are pooled over seeds: a mark with its interval for each pair of players."""

from __future__ import annotations

from collections.abc import Mapping

from zerosum.report.drawings import COLOURS, Picture, figure, picture
from zerosum.report.studies.trainings import MOST_ELO, Pooled, drawn


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
