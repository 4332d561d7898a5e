"""What a run measures about itself: a plain table (`metrics.csv`) and the same as TensorBoard events.

The table is appended to, a row at a time. Rows that a kill cut short or a disk damaged are left out by who reads, and
taken out by who trains, who says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from zerosum.errors import DataError
from zerosum.files import Lines, append_line, read_lines, repair_lines, replace_durably, writing

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
    mistakes: float | None = None
    """Of the newest checkpoint, in solved positions where the game has them: the mean of the sets' rates, in [0, 1]."""
    mistakes_error: float | None = None
    """Half of its 95 % interval."""


_NAMES = [field.name for field in fields(MetricsRow)]
_WHOLE_NUMBERS = {"step", "games", "positions", "evaluations"}
HEADER = ",".join(_NAMES)


class Metrics:
    """The metrics of a run directory, for the one process that trains it."""

    def __init__(self, directory: Path, *, report: Callable[[str], None] = print) -> None:
        """Open the table, or begin it. `report` gets a sentence for what is damaged in it and is taken out.

        Raises:
            DataError: the table's columns are not those of this version.
            RunError: the directory cannot be written.
        """
        self._path = directory / "metrics.csv"
        self._directory = directory
        self._writer: SummaryWriter | None = None
        found = _read(self._path)
        repair_lines(self._path, found, report=report, header=HEADER)
        if not found.content:
            with writing(directory):
                replace_durably(self._path, HEADER + "\n")
        self.last = found.entries[-1] if found.entries else None
        """The newest row."""

    def add(self, row: MetricsRow) -> None:
        """Append a row.

        Raises:
            RunError: the directory cannot be written.
        """
        self.last = row
        append_line(self._path, _line(row))
        with writing(self._directory):
            if self._writer is None:
                from torch.utils.tensorboard import SummaryWriter

                self._writer = SummaryWriter(str(self._directory / "tensorboard"))
            for name, value in asdict(row).items():
                if value is not None:
                    self._writer.add_scalar(name, value, row.step, walltime=None)

    def close(self) -> None:
        """Write out what is buffered.

        Raises:
            RunError: the directory cannot be written.
        """
        if self._writer is not None:
            with writing(self._directory):
                self._writer.close()


def read_metrics(path: Path) -> list[MetricsRow]:
    """The whole rows of a `metrics.csv`; none if there is no table. Nothing is written, so anybody may read.

    Raises:
        DataError: the columns are not those of this version, or the file cannot be read.
    """
    return _read(path).entries


def _read(path: Path) -> Lines[MetricsRow]:
    found = read_lines(path, _parse_row, header=HEADER)
    columns = found.header.rstrip("\r").split(",")
    # A first line of other words is another version's; one of which a word is off is damage.
    if found.header.isascii() and found.header and len(set(columns) - set(_NAMES)) > 1:
        raise DataError(f"{path} has the columns {columns}, expected {_NAMES}: move it away to go on.")
    return found


def _parse_row(line: str) -> MetricsRow:
    """A line as a row. Raises ValueError or TypeError if it is none."""
    cells = dict(zip(_NAMES, line.split(","), strict=True))
    values = {name: int(cell) if name in _WHOLE_NUMBERS else float(cell) for name, cell in cells.items() if cell}
    return MetricsRow(**values)  # type: ignore[arg-type]


def _line(row: MetricsRow) -> str:
    return ",".join(
        "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
        for value in asdict(row).values()
    )
