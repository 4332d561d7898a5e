"""The learning curves of runs as one picture, for a notebook or a file.

zerosum.curves("runs/connect4")
zerosum.curves("runs/one", "runs/two").save("curves.png")
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from zerosum.base.errors import DataError, SettingsError
from zerosum.report.drawings import anchors, draw_curves, draw_levels, ends, figure, widen_axes
from zerosum.report.run_data import RunData, read_run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png", ".pdf")
MARK = "minutes"


@dataclass(frozen=True)
class Curves:
    """Strength, losses, and mistakes in solved positions if the game has them, over the time of training."""

    runs: tuple[RunData, ...]

    def save(self, path: str | Path) -> None:
        """Write the picture as SVG, PNG or PDF, by the ending of the file's name.

        Raises:
            SettingsError: the name has another ending, or matplotlib is not installed.
            DataError: the file cannot be written.
        """
        path = Path(path)
        if path.suffix.lower() not in SUFFIXES:
            raise SettingsError(f"{path} has no ending of a picture: name a file that ends in {', '.join(SUFFIXES)}.")
        content = self.bytes(path.suffix.lower().removeprefix("."))
        try:
            path.write_bytes(content)
        except OSError as error:
            raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error

    def figure(self) -> Figure:
        """The picture as a figure of matplotlib, to be changed.

        Raises:
            SettingsError: matplotlib is not installed.
        """
        by_game = self._by_game()
        columns = 2 + any(run.mistakes.rates for run in self.runs)
        drawn, all_axes = figure(columns, height=3.4 * len(by_game), num_rows=len(by_game))
        for row, runs in enumerate(by_game):
            panels = all_axes[row * columns : (row + 1) * columns]
            if not any(run.mistakes.rates for run in runs):
                for axes in panels[2:]:
                    drawn.delaxes(axes)
                panels = panels[:2]
            _draw_game(panels, runs)
        widen_axes(drawn)
        for row, runs in enumerate(by_game):
            panels = [axes for axes in all_axes[row * columns : (row + 1) * columns] if axes in drawn.axes]
            left, right = ends(min(axes.dataLim.x0 for axes in panels), max(axes.dataLim.x1 for axes in panels))
            margin = 0.05 * (right - left)
            for axes in panels:
                axes.set(xlabel=runs[0].unit, xlim=(left - margin, right + margin))
        if len(by_game) > 1:  # colours begin anew in each row
            for axes in all_axes[::columns]:
                if axes.get_legend_handles_labels()[1]:
                    axes.legend(fontsize=7, loc="lower right")
        elif len(self.runs) > 1:
            drawn.legend(*all_axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=7)
        return drawn

    def _by_game(self) -> list[tuple[RunData, ...]]:
        """The runs of each game: runs of different games share no axis."""
        games = dict.fromkeys(str(run.config.game) for run in self.runs)
        return [tuple(run for run in self.runs if str(run.config.game) == game) for game in games]

    def bytes(self, format: str) -> bytes:
        """The picture in a format of matplotlib, such as "svg"."""
        drawn = self.figure()
        from matplotlib import rc_context

        buffer = io.BytesIO()
        with rc_context({"svg.fonttype": "none", "svg.hashsalt": "zerosum", "font.size": 9}):
            metadata = {"Date": None, "Creator": None} if format == "svg" else None
            drawn.savefig(buffer, format=format, dpi=120, metadata=metadata)
        return buffer.getvalue()

    def _repr_svg_(self) -> str:
        return self.bytes("svg").decode()


def _draw_game(panels: Sequence[Axes], runs: Sequence[RunData]) -> None:
    """The strength, the losses and, if there is a third panel, the mistakes of the runs of a game."""
    from matplotlib.ticker import PercentFormatter

    strength, losses, *more = panels
    draw_curves(strength, runs, lambda run: run.elo, mark=MARK)
    draw_levels(strength, anchors(runs[0]), is_named=True)
    draw_curves(losses, runs, lambda run: run.metric("policy_loss"), mark=MARK)
    draw_curves(losses, runs, lambda run: run.metric("policy_entropy"), mark=MARK, linestyle="--")
    draw_curves(losses, runs, lambda run: run.metric("value_error"), mark=MARK, linestyle=":")
    losses.set(title="policy loss, floor (dashed), value error (dotted)", ylim=(0, None))
    strength.set(title=f"{runs[0].config.game}: Elo, 95 % intervals", ylabel="Elo")
    for axes in more:
        draw_curves(axes, runs, lambda run: run.mistake_rates, mark=MARK)
        rates = next(run.mistakes.rates for run in runs if run.mistakes.rates)
        axes.set(title=f"mistakes at {rates[-1].num_simulations} simulations a move", ylim=(0, None))
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=1, symbol=" %"))


def curves(*runs: str | Path) -> Curves:
    """The learning curves of one or more runs.

    Raises:
        SettingsError: no run is named.
        DataError: a run does not exist or is damaged.
    """
    if not runs:
        raise SettingsError("no run is named: name a run directory.")
    return Curves(tuple(read_run(Path(run)) for run in runs))
