"""The metrics of a run: a table (`metrics.csv`), the same rows as TensorBoard events, the newest one for Prometheus.

Rows are appended one at a time. Readers skip rows that a kill cut off or a disk damaged; a training removes and reports
them.
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
from zerosum.run.core_use import SHARES, CoreUse
from zerosum.run.prometheus import write_prometheus


@dataclass(frozen=True)
class MetricsRow:
    """One moment of a run. Numbers that do not exist yet are None, an empty cell in the table."""

    minutes: float
    """Minutes of training so far, over all resumptions."""
    step: int
    """Learner steps."""
    games: int
    """Finished games."""
    positions: int
    """Recorded positions, of finished games."""
    evaluations: int
    """Evaluations of positions by self-play."""
    evaluations_per_second: float
    """Mean rate since the row before, including the time for learning and rating."""
    policy_loss: float | None = None
    """Cross-entropy in nats. This and the next four are means over the learner steps since the row before."""
    policy_entropy: float | None = None
    """Lower bound of the policy loss."""
    value_loss: float | None = None
    value_error: float | None = None
    """Mean squared error of the value against its target."""
    learning_rate: float | None = None
    elo: float | None = None
    """Elo of the newest rated checkpoint; random play is 0."""
    elo_error: float | None = None
    """Half the width of the Elo's 95 % interval."""
    mistakes: float | None = None
    """Mean rate of mistakes of the newest checkpoint over the sets of solved positions, in [0, 1]."""
    mistakes_error: float | None = None
    """Half the width of its 95 % interval."""
    cores: int | None = None
    """Cores that the training may use. This and the next six are as in `core_use.CoreUse`, since the row before."""
    cores_used: float | None = None
    cores_others: float | None = None
    cores_stolen: float | None = None
    cores_learning: float | None = None
    cores_measuring: float | None = None
    selfplay_paused: float | None = None

    @property
    def core_use(self) -> CoreUse | None:
        """The use of the cores since the row before; None if it was not measured, as on a cluster."""
        values = {name: getattr(self, name) for name in CORE_COLUMNS}
        needed = {name: value for name, value in values.items() if name not in ("cores_others", "cores_stolen")}
        return None if None in needed.values() else CoreUse(**values)


CORE_COLUMNS = tuple(field.name for field in fields(CoreUse))
_NAMES = [field.name for field in fields(MetricsRow)]
_COUNTS = {"step", "games", "positions", "evaluations"}
_WHOLE_NUMBERS = _COUNTS | {"cores"}
HEADER = ",".join(_NAMES)
_MOST = 1 << 53


class Metrics:
    """The metrics of a run directory, for the process that trains it."""

    def __init__(self, directory: Path, *, report: Callable[[str], None] = print) -> None:
        """Open the table, or begin it. `report` gets a sentence for each damaged row that is removed.

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
            write_prometheus(self._directory, asdict(row))

    def close(self) -> None:
        """Close the file of events, if it is open. All rows are written before."""
        if self._events is not None:
            self._events.close()


class _EventFile:
    """Rows as TensorBoard reads them.

    Torch's own writer is not used: it writes in a thread, whose errors can only be printed.
    """

    def __init__(self, directory: Path) -> None:
        """Begin a file in the directory, which is made if it does not exist. Raises OSError."""
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
    """The undamaged rows of a `metrics.csv`; none if the file does not exist. This writes nothing.

    Raises:
        DataError: the columns are not those of this version, or the file cannot be read.
    """
    return _read(path).entries


def _read(path: Path) -> Lines[MetricsRow]:
    found = read_lines(path, _parse_row, header=HEADER)
    columns = found.header.rstrip("\r").split(",")
    # A header with several other column names is of another version; with one it is a damaged line.
    is_of_words = any(re.fullmatch("[a-z_]+", column) for column in columns)
    if found.header.isascii() and is_of_words and len(set(columns) - set(_NAMES)) > 1:
        raise DataError(f"{path} has the columns {columns}, expected {_NAMES}: move it away to resume.")
    return found


def _parse_row(line: str) -> MetricsRow:
    """A line as a row. Raises ValueError or TypeError if it is not one."""
    cells = dict(zip(_NAMES, line.split(","), strict=True))
    values = {name: int(cell) if name in _WHOLE_NUMBERS else float(cell) for name, cell in cells.items() if cell}
    row = MetricsRow(**values)  # type: ignore[arg-type]
    if not 0 <= row.minutes < _MOST or not all(0 <= getattr(row, name) < _MOST for name in _COUNTS):
        raise ValueError(line)  # includes minutes that are not finite
    shares = [share for name in SHARES if (share := getattr(row, name)) is not None]
    if (row.cores is not None and not 0 < row.cores < _MOST) or not all(0 <= share <= 1 for share in shares):
        raise ValueError(line)
    return row


def _line(row: MetricsRow) -> str:
    return ",".join(
        "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
        for value in asdict(row).values()
    )
