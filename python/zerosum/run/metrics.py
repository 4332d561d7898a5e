"""What a run measures about itself: a plain table (`metrics.csv`) and the same as TensorBoard events.

The table is appended to, a row at a time. Rows that a kill cut short or a disk damaged are left out by who reads, and
taken out by who trains, who says so.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from zerosum.base.errors import DataError
from zerosum.base.files import Lines, append_line, read_lines, repair_lines, replace_durably, writing


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
_MOST = 1 << 53


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
        self._events: _EventFile | None = None
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
        append_line(self._path, _line(row), header=HEADER)
        with writing(self._directory):
            if self._events is None:
                self._events = _EventFile(self._directory / "tensorboard")
            self._events.add(row)

    def close(self) -> None:
        """Close the file of events, if there is one. Everything is written already."""
        if self._events is not None:
            self._events.close()


class _EventFile:
    """Rows as TensorBoard reads them. Torch's writer has a thread of its own, which can only print what fails in it."""

    def __init__(self, directory: Path) -> None:
        """Begin a file of this process in the directory, which is made if need be. Raises OSError."""
        from tensorboard.summary.writer.record_writer import RecordWriter  # type: ignore[import-untyped]

        directory.mkdir(exist_ok=True)
        name = f"events.out.tfevents.{time.time():.0f}.{socket.gethostname()}.{os.getpid()}"
        self._records = RecordWriter((directory / name).open("ab"))
        self._write(file_version="brain.Event:2")

    def add(self, row: MetricsRow) -> None:
        """Write a row's numbers. Raises OSError."""
        values = [{"tag": name, "simple_value": value} for name, value in asdict(row).items() if value is not None]
        self._write(step=row.step, summary={"value": values})

    def close(self) -> None:
        self._records.close()

    def _write(self, **content: Any) -> None:
        from tensorboard.compat.proto.event_pb2 import Event  # type: ignore[import-untyped]

        self._records.write(Event(wall_time=time.time(), **content).SerializeToString())
        self._records.flush()


def read_metrics(path: Path) -> list[MetricsRow]:
    """The whole rows of a `metrics.csv`; none if there is no table. Nothing is written, so anybody may read.

    Raises:
        DataError: the columns are not those of this version, or the file cannot be read.
    """
    return _read(path).entries


def _read(path: Path) -> Lines[MetricsRow]:
    found = read_lines(path, _parse_row, header=HEADER)
    columns = found.header.rstrip("\r").split(",")
    # A first line of other words is another version's; one of which a word is off is damage, and so is a row.
    is_of_words = any(re.fullmatch("[a-z_]+", column) for column in columns)
    if found.header.isascii() and is_of_words and len(set(columns) - set(_NAMES)) > 1:
        raise DataError(f"{path} has the columns {columns}, expected {_NAMES}: move it away to go on.")
    return found


def _parse_row(line: str) -> MetricsRow:
    """A line as a row. Raises ValueError or TypeError if it is none."""
    cells = dict(zip(_NAMES, line.split(","), strict=True))
    values = {name: int(cell) if name in _WHOLE_NUMBERS else float(cell) for name, cell in cells.items() if cell}
    row = MetricsRow(**values)  # type: ignore[arg-type]
    if not 0 <= row.minutes < _MOST or not all(0 <= getattr(row, name) < _MOST for name in _WHOLE_NUMBERS):
        raise ValueError(line)  # minutes that are not finite among them
    return row


def _line(row: MetricsRow) -> str:
    return ",".join(
        "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
        for value in asdict(row).values()
    )
