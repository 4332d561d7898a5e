r"""Tables of exact results by retrograde analysis: made in the core, kept in files, for searches and measurements.

A file is a line of JSON (`TableHeader`), then the columns of the table, little-endian:

    {"format": "zerosum table", "version": 1, "game": …, "positions": N, …}\n | keys N * 8 | plies N * 2

Start with `make_table` and `open_tables`. `docs/tables.md` says what a search does with a table.
"""

from __future__ import annotations

import functools
import json
import os
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from zerosum._core import ResultTable as ResultTable
from zerosum.base.errors import DataError, SettingsError
from zerosum.base.files import write_durably
from zerosum.games import Rules

FORMAT = "zerosum table"
VERSION = 1
MOST_HEADER_BYTES = 1 << 16
BYTES_PER_POSITION = 10
MAKE_AGAIN = "Make it again by `zerosum tables`."
MEMORY_MIB = 2048
"""Memory that a table may take while it is made, if nothing else is said."""


@dataclass(frozen=True)
class TableHeader:
    """The first line of a file."""

    game: str
    """The game's full name; for endings its name alone, because its options do not change them."""
    rules: int
    """The version of its rules."""
    endings: list[str]
    """The endings that were asked for; empty for a whole game."""
    positions: int
    crc32: int
    """Checksum of the columns."""
    format: str = FORMAT
    version: int = VERSION


def make_table(game: Rules, *, endings: Sequence[str] = (), memory_mib: int = MEMORY_MIB) -> ResultTable:
    """The exact results of all positions of a game, or of endings and of all endings to which they lead.

    Where a game goes in circles nobody wins, so repetition counts as a draw; counters of moves do not count.

    >>> from zerosum.games import make
    >>> len(make_table(make("tictactoe"), memory_mib=16))
    4520

    Args:
        game: A game of the core.
        endings: Names such as `KQvKR`, of games with the men of chess; none for the whole game.
        memory_mib: Most mebibytes while the table is made.

    Raises:
        SettingsError: more memory would be needed, an ending is unknown, or the game has no such table.
    """
    if game.is_python:
        raise SettingsError(f"{game.spec.full_name} is a game in Python: tables are of games of the core.")
    try:
        return ResultTable.solve(game, endings=list(endings), max_bytes=memory_mib << 20)
    except ValueError as error:
        raise SettingsError(f"No table: {error}.") from error


def write_table(path: Path, game: Rules, table: ResultTable, *, endings: Sequence[str] = ()) -> None:
    """Write a table completely or not at all.

    Raises:
        DataError: the file cannot be written.
    """
    columns = table.keys.astype("<u8").tobytes() + table.plies.astype("<i2").tobytes()
    name = game.spec.name if table.is_of_endings else game.spec.full_name
    header = TableHeader(name, game.spec.version, list(endings), len(table), zlib.crc32(columns))
    try:
        write_durably(path, json.dumps(asdict(header)).encode() + b"\n" + columns)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error


def read_table(path: Path, game: Rules) -> ResultTable:
    """The table of a file, for this game; a file is read once for all searches.

    Raises:
        DataError: the file cannot be read, is damaged, or has another game.
    """
    header, table = _read_file(path)
    name = game.spec.name if header.endings else game.spec.full_name
    if (header.game, header.rules) != (name, game.spec.version):
        raise DataError(
            f"{path} is a table of {header.game}, rules {header.rules}, not of {name}, rules {game.spec.version}."
            f" {MAKE_AGAIN}"
        )
    return table


def open_tables(paths: str, game: Rules) -> list[ResultTable]:
    """The tables of files, separated as in `PATH` (`:`, in Windows `;`).

    Raises:
        DataError: as for `read_table`.
    """
    return [read_table(Path(name).expanduser(), game) for name in paths.split(os.pathsep) if name]


def table_endings(path: Path) -> list[str]:
    """The endings that a file's table was asked for; empty for a whole game. Raises DataError as `read_table` does."""
    return _read_file(path)[0].endings


def _read_file(path: Path) -> tuple[TableHeader, ResultTable]:
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error


@functools.lru_cache(maxsize=8)
def _read(path: Path, changed: int) -> tuple[TableHeader, ResultTable]:
    """A file of this age. Its size is compared with its first line before the rest is read. Raises OSError."""
    with path.open("rb") as file:
        line = file.readline(MOST_HEADER_BYTES)
        header = _header(line)
        if header is None:
            raise DataError(f"{path} is not a table of results, or of another version. {MAKE_AGAIN}")
        found, expected = path.stat().st_size, len(line) + BYTES_PER_POSITION * header.positions
        if found != expected:
            raise DataError(f"{path} has {found:,} bytes, expected {expected:,}. {MAKE_AGAIN}")
        columns = file.read(BYTES_PER_POSITION * header.positions)
    if zlib.crc32(columns) != header.crc32:
        raise DataError(f"{path} is damaged: its checksum is another. {MAKE_AGAIN}")
    keys = np.frombuffer(columns, "<u8", header.positions).astype(np.uint64)
    plies = np.frombuffer(columns, "<i2", header.positions, 8 * header.positions).astype(np.int16)
    try:
        return header, ResultTable(keys, plies, is_of_endings=bool(header.endings))
    except ValueError as error:
        raise DataError(f"{path} is damaged: {error}. {MAKE_AGAIN}") from error


def _header(line: bytes) -> TableHeader | None:
    try:
        header = TableHeader(**json.loads(line))
    except (ValueError, TypeError, RecursionError):
        return None
    numbers = (header.version, header.rules, header.positions, header.crc32)
    has_numbers = all(isinstance(number, int) and number >= 0 for number in numbers)
    has_names = isinstance(header.endings, list) and all(isinstance(name, str) for name in header.endings)
    return header if has_numbers and has_names and (header.format, header.version) == (FORMAT, VERSION) else None
