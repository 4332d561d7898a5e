"""What a run measures about itself: a plain table (`metrics.csv`) and the same as TensorBoard events.

The table is appended to, a row at a time; a row that a kill cut short is dropped when the table is opened again.
"""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from zerosum.errors import DataError

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


@dataclass(frozen=True)
class MetricsRow:
    """One moment of a run. Numbers that do not exist yet are None, an empty cell in the table."""

    minutes: float
    """Of training so far, resumed ones counted together."""
    step: int
    """Learner steps."""
    games: int
    """Finished games."""
    positions: int
    """Recorded positions, of finished games."""
    evaluations: int
    """Positions that self-play had evaluated."""
    evaluations_per_second: float
    """Since the row before, learning and rating included."""
    policy_loss: float | None = None
    """Cross-entropy in nats, mean since the row before; so are the next three."""
    policy_entropy: float | None = None
    """The least that the policy loss could be."""
    value_loss: float | None = None
    value_error: float | None = None
    """Mean squared error of the value against its target."""
    learning_rate: float | None = None
    elo: float | None = None
    """Of the newest rated checkpoint; random play is 0."""
    elo_error: float | None = None
    """Half of its 95 % interval."""


class Metrics:
    """The metrics of a run directory."""

    def __init__(self, directory: Path) -> None:
        """Open the table, or begin it.

        Raises:
            DataError: the table's columns are not those of this version.
        """
        self._path = directory / "metrics.csv"
        self._directory = directory
        self._writer: SummaryWriter | None = None
        self.rows = read_metrics(self._path)
        header = ",".join(field.name for field in fields(MetricsRow)) + "\n"
        whole = header + "".join(_line(row) for row in self.rows)
        if not self._path.exists() or self._path.read_text(encoding="utf-8") != whole:
            self._path.write_text(whole, encoding="utf-8")

    def add(self, row: MetricsRow) -> None:
        """Append a row."""
        self.rows.append(row)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(_line(row))
        if self._writer is None:
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(str(self._directory / "tensorboard"))
        for name, value in asdict(row).items():
            if value is not None:
                self._writer.add_scalar(name, value, row.step, walltime=None)

    def close(self) -> None:
        """Write out what is buffered."""
        if self._writer is not None:
            self._writer.close()


def read_metrics(path: Path) -> list[MetricsRow]:
    """The rows of a `metrics.csv`, without one that was cut short; none if there is no table.

    Raises:
        DataError: the columns are not those of this version.
    """
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    reader = csv.DictReader(io.StringIO(whole))
    names = [field.name for field in fields(MetricsRow)]
    if whole and reader.fieldnames != names:
        raise DataError(f"{path} has the columns {reader.fieldnames}, expected {names}: move it away to go on.")
    integers = {"step", "games", "positions", "evaluations"}
    rows = []
    for number, cells in enumerate(reader, start=2):
        try:
            values = {
                name: int(cells[name]) if name in integers else float(cells[name]) for name in names if cells[name]
            }
            rows.append(MetricsRow(**values))  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            raise DataError(f"{path}, line {number} is damaged ({error}): take the line out to go on.") from error
    return rows


def _line(row: MetricsRow) -> str:
    cells = (
        "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
        for value in asdict(row).values()
    )
    return ",".join(cells) + "\n"
