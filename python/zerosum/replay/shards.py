"""Sealed games as Parquet files, and the manifest of commits.

    manifest.jsonl                      one line per commit, each with its checksum; it alone decides what counts
    games-000001-5d41402abc4b.parquet   sealed games; the name ends in the first 12 hex digits of the file's SHA-256

This file converts records and seals to bytes and lines, and back. `zerosum.replay.game_store` decides when to seal, and
recovers after a kill.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import DataError, shown
from zerosum.base.files import MOST_TABLE_BYTES, read_bytes
from zerosum.replay.records import PLY, TARGET, GameRecord

FORMAT = 1
"""Version of the directory: manifest, journal and shards. A newer one is refused."""

MOST_BYTES = 4 << 30
"""Largest shard or journal that is read."""
MOST_ROWS, MOST_VALUES = 1 << 22, 1 << 27
"""Most games of a shard, and most values of a column on average: a small file can hold many equal ones."""

MANIFEST = "manifest.jsonl"
SHARD_NAME = re.compile(r"games-(\d{6,})-([0-9a-f]{12})\.parquet")
JOURNAL_NAME = re.compile(r"journal-(\d{6,})\.bin")


# ---- shards


def _plurals(dtype: np.dtype[np.void], prefix: str = "") -> dict[str, str]:
    """The column of each field of a structured dtype. It is a list, so its name is the plural."""
    plurals = {"probability": "probabilities"}
    return {name: prefix + plurals.get(name, name if name.endswith("s") else f"{name}s") for name in dtype.names or ()}


_PLIES, _TARGETS = _plurals(PLY), _plurals(TARGET, "target_")


def encode_shard(records: Sequence[GameRecord]) -> bytes:
    """A Parquet file (zstd) with one row a game. Its schema's metadata has `zerosum.format`.

    | column | type | what it is |
    |---|---|---|
    | game_id, seed | int64, uint64 | unique in the run; the run's seed |
    | game, game_version, options, start, settings_hash | string, int32, string ... | see `GameHeader` |
    | actions, players, checkpoint_steps, search_values, net_values, num_simulations, flags | list | one a ply, see `PlyRecord` |
    | target_actions, target_probabilities, target_visits | list of lists | the policy target of each ply; the shares are 16-bit floats written as 32-bit ones, which every tool reads |
    | outcome, ending | float, string | for the first player, in [-1, 1]; how it ended |
    """  # noqa: E501 - a table
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    def lists(sizes: NDArray[np.int64], values: Any) -> Any:
        return pa.ListArray.from_arrays(pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int32()), values)

    def array(values: Any) -> Any:
        return pa.array(np.ascontiguousarray(values, np.float32 if values.dtype == np.float16 else None))

    def joined(arrays: Iterable[NDArray[np.void]], dtype: np.dtype[np.void]) -> NDArray[np.void]:
        # NumPy looks for a common dtype of structured arrays, one after the other.
        return np.frombuffer(b"".join(array.tobytes() for array in arrays), dtype)

    plies = np.array([record.num_plies for record in records])
    offsets = np.concatenate([record.target_offsets for record in records])
    is_first = np.zeros(len(offsets), bool)
    is_first[np.cumsum(plies + 1) - plies - 1] = True
    sizes = np.diff(offsets, prepend=0)[~is_first]
    by_ply = joined((record.plies for record in records), PLY)
    by_target = joined((record.targets for record in records), TARGET)
    columns = {name: pa.array([getattr(record, name) for record in records], type) for name, type in _scalars().items()}
    columns |= {column: lists(plies, array(by_ply[name])) for name, column in _PLIES.items()}
    columns |= {column: lists(plies, lists(sizes, array(by_target[name]))) for name, column in _TARGETS.items()}
    table = pa.table(columns).replace_schema_metadata({"zerosum.format": str(FORMAT)})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def decode_shard(data: bytes, path: Path) -> list[GameRecord]:
    """The games of a shard in the order of their ends; `path` is for messages.

    Raises:
        DataError: the content is not what `encode_shard` writes.
    """
    try:
        return _decode_shard(data)
    except Exception as error:  # any error of a library for invalid content
        reason = shown(f"{type(error).__name__}: {error}".splitlines()[0])
        raise DataError(
            f"{path} does not hold games of zerosum ({reason}), although its checksum is right. Restore it from a"
            " copy, or move it away to continue with the other games."
        ) from error


def _decode_shard(data: bytes) -> list[GameRecord]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(pa.BufferReader(data))
    columns = (
        metadata.row_group(group).column(column)
        for group in range(metadata.num_row_groups)
        for column in range(metadata.num_columns)
    )
    most_values = MOST_VALUES * metadata.num_columns
    if metadata.num_rows > MOST_ROWS or sum(column.num_values for column in columns) > most_values:
        raise ValueError(f"{metadata.num_rows:,} games or their plies are too many for one file")
    table = pq.read_table(pa.BufferReader(data))
    scalars = {name: table[name].to_pylist() for name in _scalars()}
    by_ply = {name: table[_PLIES[name]].combine_chunks() for name in _PLIES}
    by_target = {name: table[_TARGETS[name]].combine_chunks().values for name in _TARGETS}
    plies = by_ply["action"].offsets.to_numpy().astype(np.int64)
    targets = by_target["action"].offsets.to_numpy().astype(np.int64)
    all_plies, all_targets = _joined(PLY, by_ply), _joined(TARGET, by_target)
    records = []
    for row, (first, last) in enumerate(itertools.pairwise(plies)):
        start, end = targets[first], targets[last]
        records.append(
            GameRecord(
                **{name: values[row] for name, values in scalars.items()},
                plies=all_plies[first:last],
                targets=all_targets[start:end],
                target_offsets=targets[first : last + 1] - start,
            )
        )
    return records


def _joined(dtype: np.dtype[np.void], columns: dict[str, Any]) -> NDArray[np.void]:
    """One structured array from Arrow lists, by the names of its fields."""
    arrays = {name: column.values.to_numpy() for name, column in columns.items()}
    joined = np.empty(len(arrays["action"]), dtype)
    for name, values in arrays.items():
        joined[name] = values
    return joined


def read_shard(path: Path) -> list[GameRecord]:
    """The games of one shard, for tools.

    Raises:
        DataError: the file cannot be read, or its checksum is not the one in its name.
    """
    try:
        data = read_bytes(path, most_bytes=MOST_BYTES)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}. Check that it exists and may be read.") from error
    if not is_named_by(path.name, data):
        raise DataError(f"{path} is damaged: its checksum is not the one in its name. Restore it from a copy.")
    return decode_shard(data, path)


def is_named_by(name: str, data: bytes) -> bool:
    """Whether `name` has the checksum of this content."""
    match = SHARD_NAME.fullmatch(name)
    return match is not None and match[2] == hashlib.sha256(data).hexdigest()[:12]


def _scalars() -> dict[str, Any]:
    import pyarrow as pa

    text = dict.fromkeys(("game", "options", "start", "settings_hash", "ending"), pa.string())
    numbers = {"game_id": pa.int64(), "game_version": pa.int32(), "seed": pa.uint64(), "outcome": pa.float32()}
    return numbers | text


# ---- the manifest


MOST = 1 << 62
"""Upper bound of the numbers in a manifest or journal, so that sums stay within 64 bits."""


@dataclass(frozen=True, kw_only=True)
class Seal:
    """One commit: the shard it added, and the journal of later games."""

    number: int
    shard: str | None
    """File name, or None if no game was finished (a damaged journal was replaced)."""
    sha256: str
    num_bytes: int
    num_games: int
    num_positions: int
    first_game_id: int
    last_game_id: int
    next_game_id: int
    """The first game_id unused at that time."""
    journal: str
    """File name."""

    @property
    def name(self) -> str:
        """File name of the shard, which must be there."""
        assert self.shard is not None, self.number
        return self.shard

    def __post_init__(self) -> None:
        """Raise ValueError for invalid values; names must be those of the store's files."""
        for entry in fields(self):
            value = getattr(self, entry.name)
            if entry.type == "int" and not (type(value) is int and 0 <= value < MOST):
                raise ValueError(f"{entry.name} is {value!r}")
        match = None if self.shard is None else SHARD_NAME.fullmatch(str(self.shard))
        if self.shard is not None and (match is None or int(match[1]) != self.number):
            raise ValueError(f"shard is {self.shard!r}")
        if not isinstance(self.sha256, str) or not self.sha256.startswith(match[2] if match else ""):
            raise ValueError(f"sha256 is {self.sha256!r}")
        if self.journal != journal_name(self.number + 1):
            raise ValueError(f"journal is {self.journal!r}")


@dataclass(kw_only=True)
class Manifest:
    """The contents of a manifest, and its damage."""

    has_format: bool = False
    """Whether the first line, with the format's version, is undamaged."""
    seals: list[Seal] = field(default_factory=list)
    """Seals in the order of their numbers."""
    aside: set[str] = field(default_factory=set)
    """Shards that have been set aside."""
    damaged_lines: list[int] = field(default_factory=list)
    """Numbers of damaged lines, from 1."""
    whole_size: int = 0
    """Bytes up to the end of the last complete line. Later bytes are an interrupted write."""

    @property
    def shards(self) -> list[Seal]:
        """The seals whose shards count, oldest first."""
        return [seal for seal in self.seals if seal.shard is not None and seal.shard not in self.aside]

    @property
    def journal(self) -> str:
        """The journal that counts."""
        return self.seals[-1].journal if self.seals else journal_name(1)


def read_manifest(directory: Path) -> Manifest:
    """Read the manifest of a games directory without changes; a missing file is an empty manifest.

    The first line keeps its form in every format, {"kind":"format","format":1,"crc":"..."}.

    Raises:
        DataError: the format is newer than this version of zerosum knows, or the file cannot be read.
    """
    path = directory / MANIFEST
    try:
        data = read_bytes(path, most_bytes=MOST_TABLE_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        data = b""
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}. Check that it is a file and may be read.") from error
    manifest = Manifest(whole_size=data.rfind(b"\n") + 1)
    for number, line in enumerate(data[: manifest.whole_size].split(b"\n")[:-1], start=1):
        try:
            _take_line(manifest, line, directory)
        except DataError:
            raise
        except (ValueError, TypeError, KeyError, RecursionError):  # JSONDecodeError and UnicodeDecodeError among them
            manifest.damaged_lines.append(number)
    manifest.seals.sort(key=lambda seal: seal.number)
    return manifest


def _take_line(manifest: Manifest, line: bytes, directory: Path) -> None:
    """Add the content of a line. Raises DataError for a newer format, and other errors for a damaged line."""
    entry = _parse_line(line)
    kind = entry.pop("kind")
    if kind == "format":
        if type(entry["format"]) is not int:
            raise ValueError(entry["format"])
        manifest.has_format = True
        if entry["format"] > FORMAT:
            raise DataError(
                f"{directory} has format {entry['format']}, and this version of zerosum reads up to {FORMAT}. "
                "Nothing was changed. Install a newer zerosum to resume this run."
            )
    elif kind == "seal":
        seal = Seal(**entry)
        if manifest.seals and seal.number <= manifest.seals[-1].number:
            raise ValueError(f"seal {seal.number} does not follow the one before")
        manifest.seals.append(seal)
    elif kind == "aside" and SHARD_NAME.fullmatch(entry["shard"]):
        manifest.aside.add(entry["shard"])
    else:
        raise ValueError(kind)


def manifest_line(kind: str, entry: dict[str, Any]) -> bytes:
    """A line of the manifest, with its checksum and its end."""
    text = json.dumps({"kind": kind, **entry}, separators=(",", ":"))[:-1].encode()
    return text + b',"crc":"%08x"}\n' % zlib.crc32(text)


def _parse_line(line: bytes) -> dict[str, Any]:
    """The entry of a line without its newline. Raises ValueError or RecursionError if it is damaged."""
    text, _, crc = line.rpartition(b',"crc":"')
    if not text or crc != b'%08x"}' % zlib.crc32(text):
        raise ValueError("the checksum is another")
    entry: dict[str, Any] = json.loads(text + b"}")
    return entry


def seal_of(records: Sequence[GameRecord], number: int, shard: str | None, data: bytes, next_game_id: int) -> Seal:
    """The commit of a shard with these games, or of no shard (`shard` is None, `data` empty)."""
    ids = [record.game_id for record in records]
    return Seal(
        number=number,
        shard=shard,
        sha256=hashlib.sha256(data).hexdigest(),
        num_bytes=len(data),
        num_games=len(records),
        num_positions=sum(record.num_positions for record in records),
        first_game_id=min(ids, default=next_game_id),
        last_game_id=max(ids, default=next_game_id),
        next_game_id=next_game_id,
        journal=journal_name(number + 1),
    )


def journal_name(number: int) -> str:
    """File name of a journal."""
    return f"journal-{number:06d}.bin"
