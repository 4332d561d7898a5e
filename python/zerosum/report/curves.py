"""The learning curves of runs as one picture, for a notebook or a file.

zerosum.curves("runs/connect4")
zerosum.curves("runs/one", "runs/two").save("curves.png")
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from zerosum.base.errors import DataError, SettingsError
from zerosum.report.drawings import draw_curves, ends, figure, widen_axes
from zerosum.report.run_data import RunData, read_run

if TYPE_CHECKING:
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
        has_mistakes = any(run.mistakes.rates for run in self.runs)
        drawn, (strength, losses, *more) = figure(2 + has_mistakes, height=3.4)
        from matplotlib.ticker import PercentFormatter

        draw_curves(strength, self.runs, lambda run: run.elo, mark=MARK)
        anchors = {"random play": 0.0} | {
            name: rating.elo for name, rating in self.runs[0].strength.ratings.items() if name.startswith("rollouts")
        }
        for name, elo in anchors.items():
            strength.axhline(elo, color="#888888", linewidth=0.8, linestyle=":")
            # Outside the axes, where no curve is.
            place = strength.get_yaxis_transform()
            strength.annotate(name, (1.01, elo), xycoords=place, va="center", fontsize=7, annotation_clip=False)
        draw_curves(losses, self.runs, lambda run: run.metric("policy_loss"), mark=MARK)
        draw_curves(losses, self.runs, lambda run: run.metric("policy_entropy"), mark=MARK, linestyle="--")
        draw_curves(losses, self.runs, lambda run: run.metric("value_error"), mark=MARK, linestyle=":")
        losses.set(title="policy loss, floor (dashed), value error (dotted)", ylim=(0, None))
        games = ", ".join(dict.fromkeys(str(run.config.game) for run in self.runs))
        strength.set(title=f"{games}: Elo, 95 % intervals", ylabel="Elo")
        for axes in more:
            draw_curves(axes, self.runs, lambda run: run.mistake_rates, mark=MARK)
            rates = next(run.mistakes.rates for run in self.runs if run.mistakes.rates)
            axes.set(title=f"mistakes at {rates[-1].num_simulations} simulations a move", ylim=(0, None))
            axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=1, symbol=" %"))
        widen_axes(drawn)
        panels = (strength, losses, *more)
        left, right = ends(min(axes.dataLim.x0 for axes in panels), max(axes.dataLim.x1 for axes in panels))
        margin = 0.05 * (right - left)
        for axes in panels:
            axes.set(xlabel=self.runs[0].unit, xlim=(left - margin, right + margin))
        if len(self.runs) > 1:
            drawn.legend(*strength.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=7)
        return drawn

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


def curves(*runs: str | Path) -> Curves:
    """The learning curves of one or more runs.

    Raises:
        SettingsError: no run is named.
        DataError: a run does not exist or is damaged.
    """
    if not runs:
        raise SettingsError("no run is named: name a run directory.")
    return Curves(tuple(read_run(Path(run)) for run in runs))
