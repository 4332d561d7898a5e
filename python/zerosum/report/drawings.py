"""Curves as pictures: matplotlib figures, embedded as SVG images."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import SettingsError
from zerosum.games import Rules
from zerosum.games.picture import svg_uri
from zerosum.play.contestant import ROLLOUTS
from zerosum.report.game_statistics import OPENING, GameBlock, reliability
from zerosum.report.opening_choice import MOST_LINES, human_shares, opening_shares
from zerosum.report.probes import Probe
from zerosum.report.run_data import MARKS, Curve, RunData, families
from zerosum.report.seed_groups import t_quantile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#2f6fb0", "#c8553d", "#3f8f5f", "#8a5fb0", "#b0892f", "#4a9aa8", "#b05f8a", "#6b6b6b")
GRID = 60
"""Points of the mean curve over seeds."""


LABEL_SHARE = 0.045
"""Smallest distance of two named levels, as a share of the axis."""
MOST_TICKS = 6
"""Most intervals between the numbers of a horizontal axis, which have six digits in long runs."""


@dataclass(frozen=True)
class Picture:
    """An image of a page."""

    title: str
    caption: str
    """The content of the image, also for readers who do not see it."""
    data: str
    """The image as a data URI."""


def figure(
    num_axes: int, *, height: float = 3.1, width: float | None = None, num_rows: int = 1
) -> tuple[Figure, list[Axes]]:
    """A figure with axes side by side, each `width` inches wide: by default 4.0, or 5.2 if it is alone.

    With several rows there are `num_axes` in each; the height is that of all, and the axes are in the order of reading.

    Raises:
        SettingsError: matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise SettingsError("pictures need matplotlib: pip install 'zerosum[plot]'.") from None
    style: Any = {"axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.25}
    with rc_context({**style, "font.size": 9, "axes.titlesize": 10}):
        drawn = Figure(figsize=((width or (4.0 if num_axes > 1 else 5.2)) * num_axes, height), layout="constrained")
        axes = drawn.subplots(num_rows, num_axes, squeeze=False).ravel()
        for one in axes:
            one.locator_params(axis="x", nbins=MOST_TICKS)
    return drawn, list(axes)


def ends(low: float, high: float) -> tuple[float, float]:
    """The ends of an axis: those of its values, or for a single value zero and its double (0 and 1 if it is zero).

    Without values, where `low` is above `high`, they are 0 and 1.

    >>> ends(2, 5), ends(4, 4), ends(-4, -4), ends(0, 0), ends(float("inf"), -float("inf"))
    ((2, 5), (0, 8), (-8, 0), (0, 1), (0, 1))
    """
    if low > high:
        return 0, 1
    return (low, high) if low < high else (2 * low, 0) if low < 0 else (0, 2 * low or 1)


def widen_axes(drawn: Figure) -> None:
    """Give each axis with a single value the ends that `ends` names; matplotlib would zoom in on the value."""
    for axes in drawn.axes:
        x, y = (sorted(map(float, interval)) for interval in (axes.dataLim.intervalx, axes.dataLim.intervaly))
        if axes.get_autoscalex_on() and x[0] == x[1]:
            axes.set_xlim(ends(*x))
        if axes.get_autoscaley_on() and y[0] == y[1]:
            axes.set_ylim(ends(*y))


def picture(drawn: Figure, title: str, caption: str) -> Picture:
    """A figure as an image of a page. Text stays text, and equal figures have equal bytes."""
    from matplotlib import rc_context

    widen_axes(drawn)
    buffer = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "zerosum", "font.size": 9}):
        drawn.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    return Picture(title, caption, svg_uri(buffer.getvalue()))


def draw_curves(
    axes: Axes, runs: Sequence[RunData], curve_of: Callable[[RunData], Curve], *, mark: str, **style: Any
) -> bool:
    """Draw a curve of each run over a mark. Runs that differ only in their seeds get one colour, a mean and a band.

    The band is `mean_band`, as in figure S2 of the paper. Returns whether anything was drawn.
    """
    is_drawn = False
    for number, family in enumerate(families(runs)):
        colour = COLOURS[number % len(COLOURS)]
        curves = [(run, curve_of(run)) for run in family]
        points = [(run.at(curve.steps, mark), curve) for run, curve in curves if len(curve.steps)]
        label = family[0].name if len(family) == 1 else f"{family[0].name} and {len(family) - 1} more seeds"
        for place, curve in points:
            is_alone, is_drawn = len(points) == 1, True
            kind = {"color": colour, "alpha": 1.0 if is_alone else 0.35, "linewidth": 1.6 if is_alone else 0.8, **style}
            if curve.errors is not None:
                axes.errorbar(
                    place, curve.values, yerr=curve.errors, marker="o", markersize=3, capsize=2, **kind,
                    label=label if is_alone else None,
                )  # fmt: skip
            else:
                marker = "o" if len(place) < 20 else ""
                axes.plot(place, curve.values, marker=marker, markersize=3, **kind, label=label if is_alone else None)
        if len(points) > 1:
            low, high = max(place[0] for place, _ in points), min(place[-1] for place, _ in points)
            if high > low:
                grid = np.linspace(low, high, GRID)
                each = np.array([np.interp(grid, place, curve.values) for place, curve in points])
                shown = axes.get_ylim()
                low_edge, mean, high_edge = mean_band(each)
                axes.fill_between(grid, low_edge, high_edge, color=colour, alpha=0.18, linewidth=0)
                axes.plot(grid, mean, color=colour, linewidth=2, label=label)
                axes.set_ylim(shown)  # the band of two seeds may be many times as wide as their difference
    return is_drawn


def mean_band(each: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The mean of seeds and its 95 % interval by Student's distribution, at each point.

    Args:
        each: [seeds, points], at least two seeds.

    Returns:
        The lower edge, the mean and the upper edge, [points] each.
    """
    mean, count = each.mean(axis=0), len(each)
    half = t_quantile(count - 1) * each.std(axis=0, ddof=1) / np.sqrt(count)
    return mean - half, mean, mean + half


def axis_name(runs: Sequence[RunData], mark: str) -> str:
    """The name of the axis of a mark."""
    return {"step": "learner steps", "games": "games", "minutes": runs[0].unit}[mark]


def far_apart(levels: Mapping[str, float], least: float) -> dict[str, float]:
    """The levels whose names do not overlap: each is at least so far from those before it."""
    chosen: dict[str, float] = {}
    for name, level in levels.items():
        if all(abs(level - other) >= least for other in chosen.values()):
            chosen[name] = level
    return chosen


def draw_levels(axes: Axes, levels: Mapping[str, float], *, dashed: Collection[str] = (), is_named: bool) -> None:
    """Draw lines of other players at their ratings, dotted or dashed.

    With `is_named` names stand on the right, outside of the axes, where no curve is.
    """
    for name, elo in levels.items():
        axes.axhline(elo, color="#888888", linewidth=0.8, linestyle="--" if name in dashed else ":")
    if not is_named:
        return
    place, (low, high) = axes.get_yaxis_transform(), axes.get_ylim()
    for name, elo in far_apart(levels, LABEL_SHARE * (high - low)).items():
        axes.annotate(name, (1.01, elo), xycoords=place, va="center", fontsize=7, annotation_clip=False)


def anchors(run: RunData) -> dict[str, float]:
    """The ratings of random play and of the rollouts that a run's rating games had, the strongest first after it."""
    rated = {name: rating.elo for name, rating in run.strength.ratings.items() if name.startswith(ROLLOUTS)}
    return {"random play": 0.0} | dict(sorted(rated.items(), key=lambda item: -item[1]))


def strength_picture(runs: Sequence[RunData]) -> Picture | None:
    """Elo over steps, time and games (over steps as in figure 1 of the paper)."""
    if not any(len(run.elo.steps) for run in runs):
        return None
    drawn, all_axes = figure(len(MARKS))
    for axes, mark in zip(all_axes, MARKS, strict=True):
        draw_curves(axes, runs, lambda run: run.elo, mark=mark)
        draw_levels(axes, anchors(runs[0]), is_named=axes is all_axes[-1])
        axes.set(xlabel=axis_name(runs, mark), ylabel="Elo" if axes is all_axes[0] else "")
    if len(runs) > 1:
        all_axes[0].legend(fontsize=7)
    return picture(
        drawn,
        "Strength",
        "Elo of the checkpoints from rating games, with 95 % intervals; random play is 0, dotted lines are pure Monte"
        " Carlo tree search with the given number of random games per move.",
    )


def loss_picture(runs: Sequence[RunData]) -> Picture | None:
    """The losses of the policy and the value."""
    if not any(len(run.metric("policy_loss").steps) for run in runs):
        return None
    drawn, (left, middle, right) = figure(3)
    draw_curves(left, runs, lambda run: run.metric("policy_loss"), mark="step")
    draw_curves(left, runs, lambda run: run.metric("policy_entropy"), mark="step", linestyle="--")
    left.set(xlabel="learner steps", ylabel="nats", title="policy: loss, and its lower bound (dashed)")
    draw_curves(middle, runs, lambda run: run.metric("value_error"), mark="step")
    middle.set(xlabel="learner steps", ylabel="mean squared error", title="value")
    draw_curves(right, runs, lambda run: run.metric("learning_rate"), mark="step")
    right.set(xlabel="learner steps", title="learning rate")
    if len(runs) > 1:
        left.legend(fontsize=7)
    return picture(drawn, "Losses", "Losses of the learner, means between two rows of the metrics.")


def held_out_picture(runs: Sequence[RunData]) -> Picture | None:
    """The figures on held-out games."""
    measured = [run for run in runs if len(run.held_out_curve("top1").steps)]
    if not measured:
        return None
    drawn, all_axes = figure(3)
    panels = (("top1", "uniform_top1", "likeliest move is the record's"),
              ("cross_entropy", "uniform_cross_entropy", "cross-entropy, nats"),
              ("value_error", "constant_value_error", "squared error of the value"))  # fmt: skip
    for axes, (own, none, title) in zip(all_axes, panels, strict=True):
        draw_curves(axes, measured, lambda run, own=own: run.held_out_curve(own), mark="step")  # type: ignore[misc]
        draw_curves(axes, measured, lambda run, none=none: run.held_out_curve(none), mark="step", linestyle=":")  # type: ignore[misc]
        axes.set(xlabel="learner steps", title=title)
    return picture(
        drawn,
        "Held-out games",
        "Figures on games that were not learned from (dev). Dotted: equal probabilities for all legal moves, and the"
        " best constant value.",
    )


def mistakes_picture(runs: Sequence[RunData]) -> Picture | None:
    """Mistakes in solved positions, by set."""
    measured = [run for run in runs if run.mistakes.rates]
    if not measured:
        return None
    drawn, (left, right) = figure(2)
    draw_curves(left, measured, lambda run: run.mistake_rates, mark="step")
    left.set(xlabel="learner steps", ylabel="share of mistakes", title="mean of the sets", ylim=(0, None))
    run = measured[0]
    sets = dict.fromkeys(rate.set for rate in run.mistakes.rates)
    for number, name in enumerate(sets):
        found = {rate.step: rate.value for rate in run.mistakes.rates if rate.set == name}
        right.plot(*zip(*sorted(found.items()), strict=True), marker="o", markersize=3, label=name,
                   color=COLOURS[number % len(COLOURS)])  # fmt: skip
    right.set(xlabel="learner steps", title="each set", ylim=(0, None))
    right.legend(fontsize=7)
    return picture(
        drawn, "Solved positions", "Moves that give away a win or a draw, in positions whose true value is known."
    )


def games_picture(run: RunData, blocks: Sequence[GameBlock]) -> Picture | None:
    """Results, endings and lengths of the games over the run."""
    if not blocks:
        return None
    drawn, (left, middle, right) = figure(3)
    place = [block.first_game + block.num_games / 2 for block in blocks]
    first, draws = [block.first_wins for block in blocks], [block.draws for block in blocks]
    _stack(left, place, {"first player won": first, "drawn": draws,
           "second player won": [1 - one - other for one, other in zip(first, draws, strict=True)]})  # fmt: skip
    left.set(xlabel="games", ylabel="share", title="results")
    counted: Counter[str] = sum((block.endings for block in blocks), start=Counter())
    endings = [name for name, _ in counted.most_common(6)]
    _stack(middle, place, {name: [block.endings[name] / block.num_games for block in blocks] for name in endings})
    middle.set(xlabel="games", title="how games ended")
    middle_plies, low, high = (
        [float(np.quantile(block.plies, share)) for block in blocks] for share in (0.5, 0.1, 0.9)
    )
    band = "80 % of the games"
    if len(place) == 1:
        right.vlines(place, low, high, color=COLOURS[0], alpha=0.2, linewidth=8, label=band)
    else:
        right.fill_between(place, low, high, color=COLOURS[0], alpha=0.2, linewidth=0, label=band)
    right.plot(place, middle_plies, color=COLOURS[0], marker="o", markersize=3, label="median")
    right.set(xlabel="games", ylabel="plies", title="length", ylim=(0, None))
    right.legend(fontsize=7)
    return picture(drawn, f"Games of {run.name}", "Games of self-play in the order of play.")


def _stack(axes: Axes, place: list[float], shares: dict[str, list[float]]) -> None:
    """Draw stacked shares; as bars if there is only one block."""
    colours = list(COLOURS[: len(shares)])
    if len(place) == 1:
        bottom = 0.0
        for colour, (name, values) in zip(colours, shares.items(), strict=True):
            axes.bar([0], values, bottom=bottom, color=colour, label=name, width=0.5)
            bottom += values[0]
        axes.set_xticks([0], [f"{place[0]:.0f}"])
        axes.set_xlim(-1, 1)
    else:
        axes.stackplot(place, *shares.values(), labels=list(shares), colors=colours, alpha=0.85)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, reverse=True)
    axes.set_ylim(0, 1)


def learning_picture(run: RunData, blocks: Sequence[GameBlock]) -> Picture | None:
    """The entropy of policies, the difference of network and search, openings, and the value's reliability."""
    if not blocks or not len(blocks[-1].results):
        return None
    drawn, (first, second, third) = figure(3)
    place = [block.first_game + block.num_games / 2 for block in blocks]
    first.plot(place, [block.policy_entropy for block in blocks], color=COLOURS[0], marker="o", markersize=3,
               label="entropy of the policy targets, nats")  # fmt: skip
    first.plot(place, [block.opening_bits for block in blocks], color=COLOURS[1], marker="o", markersize=3,
               label=f"diversity of the first {OPENING} moves, bits")  # fmt: skip
    first.set(xlabel="games", ylim=(0, None), title="certainty and diversity")
    first.legend(fontsize=7)
    second.plot(place, [block.value_gap for block in blocks], color=COLOURS[0], marker="o", markersize=3)
    second.set(xlabel="games", ylim=(0, None), title="value: network's distance from search")
    newest = blocks[-1]
    third.plot([-1, 1], [-1, 1], color="#888888", linewidth=0.8, linestyle=":")
    for values, colour, name in (
        (newest.net_values, COLOURS[0], "network"),
        (newest.search_values, COLOURS[1], "search"),
    ):
        curve = reliability(values, newest.results)
        third.plot(curve.predicted, curve.observed, color=colour, marker="o", markersize=3, label=name)
    third.set(xlabel="predicted value", ylabel="mean result", title="newest games: reliability")
    third.legend(fontsize=7)
    return picture(
        drawn,
        f"Network and search of {run.name}",
        "On the right a reliable value lies on the dotted line: positions with a predicted value of 0.5 end with 0.5 on"
        " average.",
    )


def openings_picture(run: RunData, blocks: Sequence[GameBlock], game: Rules) -> Picture | None:
    """First moves and openings over the run as stacked bands, as in figure S1 of the paper."""
    first, lines = opening_shares(blocks, game, plies=1), opening_shares(blocks, game, plies=OPENING)
    if first is None or lines is None:
        return None
    drawn, (left, right) = figure(2, width=6.2)
    for axes, found, title in ((left, first, "first moves"), (right, lines, f"first {OPENING} moves")):
        _stack(axes, list(found.games), found.shares)
        axes.set(xlabel="games", title=title)
    left.set(ylabel="share of games")
    return picture(
        drawn,
        f"Openings of {run.name}",
        "Shares of the games whose moves the player chose from the initial position on; games that began with random"
        " moves or were played by another search are not counted.",
    )


def human_openings_picture(run: RunData, blocks: Sequence[GameBlock], game: Rules) -> Picture | None:
    """How often the player chose the human openings of figure 3 over the run."""
    found = human_shares(blocks, game)
    if found is None:
        return None
    drawn, (axes,) = figure(1, width=7.5)
    for number, (name, shares) in enumerate(found.shares.items()):
        axes.plot(
            found.games, shares, color=COLOURS[number % len(COLOURS)], marker="o", markersize=3, label=name,
            linestyle="-" if number < len(COLOURS) else "--",
        )  # fmt: skip
    axes.set(xlabel="games", ylabel="share of games", ylim=(0, None))
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return picture(
        drawn,
        f"Human openings in the games of {run.name}",
        "Shares of the player's own games that reach each of the paper's human openings, by any order of moves.",
    )


def probe_picture(run: RunData, probes: Sequence[Probe]) -> Picture | None:
    """The network without search, by checkpoint: first moves, their value, the values of pieces."""
    if len(probes) < 2:
        return _single_probe_picture(run, probes[0]) if probes else None
    has_pieces = any(one.pieces for one in probes)
    drawn, all_axes = figure(3 if has_pieces else 2)
    steps = [one.step for one in probes]
    last = probes[-1].first_moves
    for number, move in enumerate(sorted(last, key=lambda name: -last[name])[:MOST_LINES]):
        all_axes[0].plot(steps, [one.first_moves[move] for one in probes], marker="o", markersize=3, label=move,
                         color=COLOURS[number % len(COLOURS)])  # fmt: skip
    all_axes[0].axhline(1 / len(last), color="#888888", linewidth=0.8, linestyle=":")
    all_axes[0].set(xlabel="learner steps", ylabel="probability", ylim=(0, None), title="network alone: first moves")
    all_axes[0].legend(fontsize=7)
    all_axes[1].plot(steps, [one.value for one in probes], marker="o", markersize=3, color=COLOURS[0])
    all_axes[1].set(xlabel="learner steps", ylim=(-1, 1), title="value of the initial position")
    if has_pieces:
        kinds = dict.fromkeys(kind for one in probes for kind in one.pieces)
        for number, kind in enumerate(kinds):
            told = [(one.step, one.pieces[kind]) for one in probes if kind in one.pieces]
            all_axes[2].plot(*zip(*told, strict=True), marker="o", markersize=3, label=kind,
                             color=COLOURS[number % len(COLOURS)])  # fmt: skip
        all_axes[2].set(xlabel="learner steps", title="value of one more piece")
        all_axes[2].legend(fontsize=7)
    return picture(
        drawn,
        f"The network of {run.name} without search",
        "The dotted line marks equal probabilities of all first moves."
        + (" The values of pieces are fitted to its values of positions from games." if has_pieces else ""),
    )


def _single_probe_picture(run: RunData, one: Probe) -> Picture:
    """The network of the only checkpoint without search, as bars: curves would be single points."""
    drawn, all_axes = figure(2 if one.pieces else 1)
    moves = sorted(one.first_moves, key=lambda name: -one.first_moves[name])[:MOST_LINES]
    charts = [(moves, [one.first_moves[move] for move in moves], "network alone: first moves")]
    if one.pieces:
        charts.append((list(one.pieces), list(one.pieces.values()), "value of one more piece"))
    for axes, (names, values, title) in zip(all_axes, charts, strict=True):
        axes.barh(range(len(names)), values, color=COLOURS[0], height=0.6)
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.set(title=title)
    all_axes[0].axvline(1 / len(one.first_moves), color="#888888", linewidth=0.8, linestyle=":")
    all_axes[0].set(xlabel="probability", xlim=(0, 1))
    return picture(
        drawn,
        f"The network of {run.name}, step {one.step:,}, without search",
        f"Its value of the initial position is {one.value:+.2f} for the player to move. The dotted line marks equal"
        " probabilities of all first moves."
        + (" The values of pieces are fitted to its values of positions from games." if one.pieces else ""),
    )
