"""The journal: games written to disk ply by ply as they are played.

It is an append-only file, so that a crash loses no finished game and no ply. It does not depend on shards:
`zerosum.replay.game_store.GameStore` decides when a journal is replaced. The form of an entry is

    magic 4 | payload length u32 | kind u8 | crc32 u32 of length, kind and payload | payload

little-endian. The magic number serves to find the next entry after a damaged one. Kinds and their payloads:

    BEGIN  version of the format u32, number of the journal u32: the first entry of every journal, and only there
    START  the `GameHeader` as compact JSON; a second one for a game begins it anew
    PLY    game_id u64, index of the ply u32, a row of `PLY`, the target's size u16, its columns of `TARGET`
    END    game_id u64, plies u32, outcome f32, ending in UTF-8; a game is finished when this entry is complete
"""

from __future__ import annotations

import enum
import itertools
import json
import os
import struct
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np

from zerosum._core import ply_entries as packed_entries
from zerosum.base.files import open_binary, write_all
from zerosum.replay.records import (
    PLY,
    PLY_KEY,
    PLY_NAMES,
    PLY_STRUCT,
    TARGET,
    TARGET_NAMES,
    TARGET_SIZE,
    TARGET_START,
    GameHeader,
    GameRecord,
    PackedPly,
    PlyFlag,
    PlyRecord,
    RunningGame,
    unpacked_ply,
)

MAGIC = b"\xf5zj\x01"
SYNC_INTERVAL_S = 1.0


class _Kind(enum.IntEnum):
    START = 1
    PLY = 2
    END = 3
    BEGIN = 4


_MAGIC_SIZE = len(MAGIC)
_HEAD = struct.Struct("<IB")  # payload length, kind
_CRC = struct.Struct("<I")
_ENTRY = struct.Struct("<4sIBI")  # all that is before the payload
_PLY = int(_Kind.PLY)
_PAYLOAD = _MAGIC_SIZE + _HEAD.size + _CRC.size  # where the payload begins
_BEGIN = struct.Struct("<II")  # version of the format, number of the journal
_MOST_FLAGS = 2 * max(PlyFlag) - 1
_TARGET_COLUMNS = [(name, TARGET[name]) for name in TARGET_NAMES]
_END = struct.Struct("<QIf")  # game_id, plies, outcome
_encode = json.JSONEncoder(separators=(",", ":")).encode  # `dumps` makes an encoder each time


@dataclass(frozen=True, kw_only=True)
class BeginEntry:
    """The first entry of a journal."""

    number: int
    """Number of the journal."""
    format_version: int


@dataclass(frozen=True, kw_only=True, eq=False)
class PlyEntry:
    """A move of a running game."""

    game_id: int
    index: int
    """Number of earlier plies."""
    ply: PlyRecord


@dataclass(frozen=True, kw_only=True)
class EndEntry:
    """The end of a game."""

    game_id: int
    index: int
    """Number of plies."""
    outcome: float
    """The first player's result, in [-1, 1]."""
    ending: str


Entry = BeginEntry | GameHeader | PlyEntry | EndEntry
"""The content of an entry; a `GameHeader` is a game's start."""


@dataclass(kw_only=True)
class JournalContents:
    """The contents of a journal, and its damage."""

    number: int | None = None
    """Number of the journal in its first entry; None if that entry is missing, which is a damage."""
    format_version: int | None = None
    """Format version in its first entry."""
    running: dict[int, RunningGame] = field(default_factory=dict)
    """Games in flight by game_id, in the order of their starts."""
    finished: list[GameRecord] = field(default_factory=list)
    """Finished games in the order of their ends."""
    whole_size: int = 0
    """Bytes up to the end of the last complete entry. Later bytes are an interrupted write."""
    holes: list[tuple[int, int]] = field(default_factory=list)
    """(from, to) in bytes: damage before complete entries."""
    lost_games: set[int] = field(default_factory=set)
    """game_ids with a missing entry. They are neither in `running` nor in `finished`."""


def begin_entry(number: int, *, format_version: int) -> bytes:
    """The first entry of a journal, which distinguishes a new journal from an emptied one."""
    return _entry(_Kind.BEGIN, _BEGIN.pack(format_version, number))


def start_entry(header: GameHeader) -> bytes:
    """The entry of a game's start."""
    return _entry(_Kind.START, _encode(vars(header)).encode())


def ply_entries(plies: Sequence[PackedPly]) -> bytes:
    """The entries of plies."""
    return packed_entries(MAGIC, _Kind.PLY, plies)


def end_entry(game_id: int, num_plies: int, *, outcome: float, ending: str) -> bytes:
    """The entry of a game's end; `outcome` is the first player's result in [-1, 1]."""
    return _entry(_Kind.END, _END.pack(game_id, num_plies, outcome) + ending.encode())


def game_entries(game: RunningGame) -> Iterator[bytes]:
    """All entries of a running game."""
    yield start_entry(game.header)
    if game.plies:
        yield ply_entries(game.plies.packed)


def record_entries(record: GameRecord) -> Iterator[bytes]:
    """All entries of a finished game."""
    yield start_entry(record.header)
    if record.num_plies:
        yield ply_entries(list(_packed_plies(record)))
    yield end_entry(record.game_id, record.num_plies, outcome=record.outcome, ending=record.ending)


def _packed_plies(record: GameRecord) -> Iterator[PackedPly]:
    rows, row_size = record.plies.tobytes(), PLY.itemsize
    columns = [(record.targets[name].tobytes(), dtype.itemsize) for name, dtype in _TARGET_COLUMNS]
    for index, (start, end) in enumerate(itertools.pairwise(record.target_offsets.tolist())):
        key, numbers = PLY_KEY.pack(record.game_id, index), rows[index * row_size : (index + 1) * row_size]
        target = (column[start * width : end * width] for column, width in columns)
        yield b"".join([key, numbers, TARGET_SIZE.pack(end - start), *target])


def _entry(kind: _Kind, payload: bytes) -> bytes:
    head = _HEAD.pack(len(payload), kind)
    return MAGIC + head + _CRC.pack(zlib.crc32(payload, zlib.crc32(head))) + payload


def parse_journal(data: bytes) -> JournalContents:
    """All complete entries of a journal. Damage is part of the result and never raises."""
    contents = JournalContents()
    position = 0
    while True:
        end = _entry_end(data, position)
        if end is None:
            resumed = _next_entry(data, position + 1)
            if resumed is None:
                break
            contents.holes.append((position, resumed))
            position = resumed
            continue
        try:
            entry = _parse_entry(data[position:end])
        except (ValueError, TypeError, RecursionError, struct.error):  # JSON's and UnicodeDecodeError among them
            contents.holes.append((position, end))  # right checksum, but invalid content
        else:
            _take_in(contents, entry)
        contents.whole_size = position = end
    return contents


def _entry_end(data: bytes, start: int) -> int | None:
    """The end of the entry at `start`; None if it is not complete."""
    if data[start : start + _MAGIC_SIZE] != MAGIC or start + _PAYLOAD > len(data):
        return None
    head = data[start + _MAGIC_SIZE : start + _MAGIC_SIZE + _HEAD.size]
    (crc,) = _CRC.unpack_from(data, start + _MAGIC_SIZE + _HEAD.size)
    end: int = start + _PAYLOAD + _HEAD.unpack(head)[0]
    if end > len(data) or zlib.crc32(data[start + _PAYLOAD : end], zlib.crc32(head)) != crc:
        return None
    return end


def _next_entry(data: bytes, start: int) -> int | None:
    while (start := data.find(MAGIC, start)) >= 0:
        if _entry_end(data, start) is not None:
            return start
        start += 1
    return None


def _take_in(contents: JournalContents, entry: Entry) -> None:
    if isinstance(entry, BeginEntry):
        contents.format_version, contents.number = entry.format_version, entry.number
        return
    if isinstance(entry, GameHeader):
        contents.lost_games.discard(entry.game_id)
        contents.running[entry.game_id] = RunningGame(header=entry)
        return
    game = contents.running.get(entry.game_id)
    if game is None or len(game.plies) != entry.index:
        contents.running.pop(entry.game_id, None)
        contents.lost_games.add(entry.game_id)
    elif isinstance(entry, PlyEntry):
        game.plies.append(entry.ply)
    else:
        del contents.running[entry.game_id]
        record = GameRecord.from_plies(game.header, game.plies, outcome=entry.outcome, ending=entry.ending)
        contents.finished.append(record)


def read_entries(data: bytes) -> Iterator[Entry]:
    """The contents of consecutive complete entries, as processes send them to each other."""
    position = 0
    while position < len(data):
        end = _entry_end(data, position)
        assert end is not None, "entries from a pipe are complete"
        yield _parse_entry(data[position:end])
        position = end


@dataclass(kw_only=True)
class WholeGames:
    """Games whose entries follow each other, as a sender puts them into a block."""

    finished: list[GameRecord] = field(default_factory=list)
    entries: list[bytes] = field(default_factory=list)
    """The entries of each finished game."""
    running: list[RunningGame] = field(default_factory=list)
    """Games without an end."""


def parse_games(data: bytes) -> WholeGames:
    """The games of these bytes, finished ones first. It checks what `parse_journal` checks, but by columns.

    Raises ValueError, TypeError, RecursionError or struct.error if anything is damaged, missing or out of place.
    """
    found, game, first = WholeGames(), None, 0
    game_id, packed = -1, list[PackedPly]()
    for position, end, kind in _whole_entries(data):
        if kind == _PLY:
            payload = data[position + _PAYLOAD : end]
            if PLY_KEY.unpack_from(payload) != (game_id, len(packed)):
                raise ValueError("a ply is missing")
            packed.append(payload)
        elif kind == _Kind.START:
            if game is not None:
                found.running.append(game)
            game = RunningGame(header=_checked(GameHeader(**json.loads(data[position + _PAYLOAD : end]))))
            game_id, packed, first = game.header.game_id, game.plies.packed, position
        else:
            if game is None:
                raise ValueError(f"an entry of kind {kind} outside a game")
            entry = _parse_entry(data[position:end])
            _require(isinstance(entry, EndEntry), f"an entry of kind {kind} in a game")
            assert isinstance(entry, EndEntry)
            _require(not found.running, "a finished game after one in flight")
            _require((entry.game_id, entry.index) == (game_id, len(packed)), "a ply is missing")
            found.finished.append(_ended(game, entry.outcome, entry.ending))
            found.entries.append(data[first:end])
            game, game_id = None, -1
    if game is not None:
        found.running.append(game)
    _require(len({game.header.game_id for game in found.running}) == len(found.running), "a game twice")
    for game in found.running:
        _ended(game, 0.0, "")
    return found


def _whole_entries(data: bytes) -> Iterator[tuple[int, int, int]]:
    """(start, end, kind) of consecutive entries. Raises ValueError or struct.error at one that is not complete."""
    position, view, crc32 = 0, memoryview(data), zlib.crc32
    while position < len(data):
        magic, size, kind, crc = _ENTRY.unpack_from(data, position)
        start = position + _PAYLOAD
        end = start + size
        head = view[position + _MAGIC_SIZE : position + _MAGIC_SIZE + _HEAD.size]
        if magic != MAGIC or end > len(data) or crc32(view[start:end], crc32(head)) != crc:
            raise ValueError("an entry is incomplete")
        yield position, end, kind
        position = end


def _ended(game: RunningGame, outcome: float, ending: str) -> GameRecord:
    """The record of a game with this end. Raises ValueError if a ply of it is none."""
    record = GameRecord.from_plies(game.header, game.plies, outcome=outcome, ending=ending)
    plies, offsets = record.plies, record.target_offsets
    _require(bool((plies["player"] <= 1).all() and (plies["flags"] <= _MOST_FLAGS).all()), "a number out of range")
    for name in ("search_value", "net_value"):
        _require(bool((np.abs(plies[name]) <= 1.0).all()), f"a {name} out of range")
    starts = offsets[:-1][offsets[1:] != offsets[:-1]]
    if starts.size:
        totals = np.add.reduceat(record.targets["probability"].astype(np.float32), starts)
        _require(bool((np.abs(totals - 1.0) < 0.01).all()), "shares that do not add up to 1")
    return record


def _parse_entry(entry: bytes) -> Entry:
    """The content of a complete entry.

    Raises ValueError, TypeError, RecursionError or struct.error if it is invalid.
    """
    kind, payload = entry[_MAGIC_SIZE + _HEAD.size - 1], entry[_PAYLOAD:]
    if kind == _Kind.BEGIN:
        version, number = _BEGIN.unpack(payload)
        return BeginEntry(number=number, format_version=version)
    if kind == _Kind.START:
        return _checked(GameHeader(**json.loads(payload)))
    if kind == _Kind.PLY:
        game_id, index = PLY_KEY.unpack_from(payload)
        return PlyEntry(game_id=game_id, index=index, ply=_parse_ply(payload))
    _require(kind == _Kind.END, f"kind {kind}")
    game_id, index, outcome = _END.unpack_from(payload)
    _require(-1.0 <= outcome <= 1.0, f"outcome {outcome}")
    return EndEntry(game_id=game_id, index=index, outcome=outcome, ending=payload[_END.size :].decode())


def _checked(header: GameHeader) -> GameHeader:
    """The header, after checks of types and ranges."""
    for entry in fields(header):
        value, expected = getattr(header, entry.name), int if entry.type == "int" else str
        _require(type(value) is expected, f"{entry.name} {value!r}")
    _require(0 <= header.game_id < 1 << 62 and 0 <= header.game_version < 1 << 31, "a number out of range")
    _require(0 <= header.seed < 1 << 64, f"seed {header.seed}")
    return header


def _require(is_so: bool, otherwise: str) -> None:
    """Check a file from an untrusted source. Raises ValueError."""
    if not is_so:
        raise ValueError(otherwise)


def _parse_ply(payload: bytes) -> PlyRecord:
    entry = dict(zip(PLY_NAMES, PLY_STRUCT.unpack_from(payload, PLY_KEY.size), strict=True))
    (size,) = TARGET_SIZE.unpack_from(payload, TARGET_START - TARGET_SIZE.size)
    _require(len(payload) == TARGET_START + TARGET.itemsize * size, f"{len(payload)} bytes for {size} actions")
    _require(entry["player"] in (0, 1) and entry["flags"] <= _MOST_FLAGS, str(entry))
    _require(abs(entry["search_value"]) <= 1.0 and abs(entry["net_value"]) <= 1.0, str(entry))
    shares = np.frombuffer(payload, TARGET["probability"], size, TARGET_START + TARGET["action"].itemsize * size)
    total = shares.sum(dtype=np.float32) if size else 1.0
    _require(abs(total - 1.0) < 0.01, f"shares that add up to {total}")
    return unpacked_ply(payload)


class Journal:
    """A journal open for appending, for one thread at a time: `GameStore` holds a lock.

    When `append` returns, the operating system has the entry, so it survives a kill of the process. It is on disk at
    the latest at the first append after `SYNC_INTERVAL_S`, so a power cut loses about that much play.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Open `path`, which begins with a `begin_entry`. `clock` returns seconds. Raises OSError."""
        self._file = open_binary(path, os.O_WRONLY | os.O_APPEND)
        self._clock = clock
        self._synced_at = clock()

    def append(self, entry: bytes) -> None:
        """Write one entry. After an OSError the file's end may be torn: do not append again."""
        write_all(self._file, entry)
        if self._clock() - self._synced_at >= SYNC_INTERVAL_S:
            self.sync()

    def sync(self) -> None:
        """Wait until all entries are on disk. Raises OSError."""
        os.fsync(self._file)
        self._synced_at = self._clock()

    def close(self) -> None:
        """Sync and close. Raises OSError."""
        try:
            self.sync()
        finally:
            os.close(self._file)
