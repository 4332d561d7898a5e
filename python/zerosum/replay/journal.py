"""The record of a game, and the journal it is written to ply by ply as it is played.

The journal is an append-only file, so that a crash costs no finished game and no ply. It knows nothing of shards:
`zerosum.replay.game_store.GameStore` decides when a journal is replaced. An entry is

    magic 4 | payload length u32 | kind u8 | crc32 u32 of length, kind and payload | payload

little-endian. The magic number is there to find the next entry behind a damaged one. Kinds and their payloads:

    BEGIN  version of the format u32, number of the journal u32: the first entry of every journal, and only there
    START  the `GameHeader` as compact JSON; once more for a running game, it begins anew
    PLY    game_id u64, index of the ply u32, then `_PLY`, then the target's actions, probabilities and visits
    END    game_id u64, plies u32, outcome f32, ending in UTF-8; a game is finished once this entry is whole

Letters: P plies of a game, A actions of it, N entries of a sparse policy target. A *position* is a ply with a policy
target: one the learner can learn from.
"""

from __future__ import annotations

import enum
import json
import os
import struct
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerosum.base.files import open_binary, write_all


class PlyFlag(enum.IntFlag):
    """How a ply's search was run, and how its move was chosen."""

    FULL_SEARCH = 1
    """The search had its full number of simulations."""
    NOISE = 2
    """Noise was mixed into the root's priors."""
    PROVEN = 4
    """The search value is exact."""
    SAMPLED = 8
    """The move was drawn at random from the visits, not the best one taken."""
    OPENING = 16
    """The move is one of the random ones that open a game: nothing was searched."""
    RECORDED = 32
    """The move was read from a record: its policy target is that move alone, and nothing was searched."""
    EVALUATED = 64
    """The record of a recorded move has an evaluation, the search value; that is 0 and means nothing without one."""


# Of each column: what `PlyRecord` calls one ply's entry, and the dtype. The journal and the shards keep the same types.
PLY_COLUMNS: dict[str, tuple[str, type[np.generic]]] = {
    "actions": ("action", np.uint16),
    "players": ("player", np.uint8),
    "checkpoint_steps": ("checkpoint_step", np.uint32),
    "search_values": ("search_value", np.float32),
    "net_values": ("net_value", np.float32),
    "num_simulations": ("num_simulations", np.uint32),
    "flags": ("flags", np.uint8),
}
TARGET_COLUMNS: dict[str, type[np.generic]] = {
    "target_actions": np.uint16,
    "target_probabilities": np.float16,
    "target_visits": np.uint32,
}


@dataclass(frozen=True, kw_only=True, eq=False)
class PlyRecord:
    """One move and the search that chose it. A ply that is not to be learned from has an empty target (N = 0)."""

    action: int
    """The move that was played, in [0, A)."""
    player: int
    """Who played it: 0 (first) or 1 (second). One side may move twice in a row."""
    checkpoint_step: int
    """The learner's step of the network that searched."""
    search_value: float
    """The root's value after the search, in [-1, 1], for the mover."""
    net_value: float
    """The network's own value of the position, in [-1, 1], for the mover."""
    num_simulations: int
    """Visits that the root had when the move was chosen; those of a tree kept from the ply before count."""
    flags: PlyFlag
    """How the search was run and the move was chosen."""
    target_actions: NDArray[np.uint16]
    """[N], the legal moves with a share in the policy target, each once."""
    target_probabilities: NDArray[np.float16]
    """[N], their shares; they sum to 1 within the rounding of 16 bits."""
    target_visits: NDArray[np.uint32]
    """[N], their visits in the search."""

    def __post_init__(self) -> None:
        assert self.player in (0, 1), self.player
        assert -1.0 <= self.search_value <= 1.0, self.search_value
        assert -1.0 <= self.net_value <= 1.0, self.net_value
        for name, dtype in TARGET_COLUMNS.items():
            _assert_column(self, name, dtype, len(self.target_actions))
        if self.target_actions.size:  # or else the sum would cost more than all the rest
            total = self.target_probabilities.sum(dtype=np.float32)
            assert abs(total - 1.0) < 0.01, total


@dataclass(frozen=True, kw_only=True, eq=False)
class GameHeader:
    """What is known of a game when it starts."""

    game_id: int
    """Unique in the run and never used again: the counter that keys the game's random draws."""
    game: str
    """Name of the game."""
    game_version: int
    """Version of its rules, action indices and planes."""
    options: str
    """The game's options as text, "" if it has none."""
    start: str
    """The position it starts from as text, "" for the initial one."""
    settings_hash: str
    """Names the settings it is played with."""
    seed: int
    """The run's seed, in [0, 2**64)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GameRecord(GameHeader):
    """A finished game, one array a column. P plies; their sparse policy targets lie one after the other.

    It keeps moves and search statistics, not planes: the core encodes a position faster than a disk reads one, files
    stay small, and old games train new encodings.
    """

    actions: NDArray[np.uint16]
    """[P]; this and the next six are the fields of `PlyRecord`, ply by ply."""
    players: NDArray[np.uint8]
    """[P]. Value targets flip by this, not by the parity of the ply."""
    checkpoint_steps: NDArray[np.uint32]
    """[P]."""
    search_values: NDArray[np.float32]
    """[P], in [-1, 1], each for its ply's mover."""
    net_values: NDArray[np.float32]
    """[P], in [-1, 1], each for its ply's mover."""
    num_simulations: NDArray[np.uint32]
    """[P]."""
    flags: NDArray[np.uint8]
    """[P], of `PlyFlag`."""
    target_offsets: NDArray[np.int64]
    """[P + 1], ply p's target is entries target_offsets[p] to target_offsets[p + 1] of the next three."""
    target_actions: NDArray[np.uint16]
    """[sum N]."""
    target_probabilities: NDArray[np.float16]
    """[sum N]."""
    target_visits: NDArray[np.uint32]
    """[sum N]."""
    outcome: float
    """The first player's result, in [-1, 1]."""
    ending: str
    """How it ended, in the game's own words."""

    def __post_init__(self) -> None:
        for name, (_, dtype) in PLY_COLUMNS.items():
            _assert_column(self, name, dtype, self.num_plies)
        _assert_column(self, "target_offsets", np.int64, self.num_plies + 1)
        assert self.target_offsets[0] == 0, self.target_offsets
        assert (self.target_offsets[1:] >= self.target_offsets[:-1]).all(), self.target_offsets
        for name, dtype in TARGET_COLUMNS.items():
            _assert_column(self, name, dtype, self.target_offsets[-1])
        assert -1.0 <= self.outcome <= 1.0, self.outcome

    @property
    def num_plies(self) -> int:
        """P."""
        return len(self.actions)

    @property
    def header(self) -> GameHeader:
        """What was known when it started."""
        return GameHeader(**{entry.name: getattr(self, entry.name) for entry in fields(GameHeader)})

    @property
    def num_positions(self) -> int:
        """Plies with a policy target."""
        return int(np.count_nonzero(np.diff(self.target_offsets)))

    @staticmethod
    def from_plies(header: GameHeader, plies: Sequence[PlyRecord], *, outcome: float, ending: str) -> GameRecord:
        """The record of a game that has ended; `outcome` is the first player's result in [-1, 1], kept as float32."""
        columns: dict[str, Any] = {
            name: np.array([getattr(ply, entry) for ply in plies], dtype)
            for name, (entry, dtype) in PLY_COLUMNS.items()
        }
        for name, dtype in TARGET_COLUMNS.items():
            columns[name] = np.concatenate([np.empty(0, dtype), *(getattr(ply, name) for ply in plies)])
        sizes = [len(ply.target_actions) for ply in plies]
        return GameRecord(
            **vars(header),
            **columns,
            target_offsets=np.cumsum([0, *sizes], dtype=np.int64),
            outcome=float(np.float32(outcome)),
            ending=ending,
        )

    def ply(self, index: int) -> PlyRecord:
        """One ply of it, `index` in [0, P)."""
        target = slice(self.target_offsets[index], self.target_offsets[index + 1])
        entries: dict[str, Any] = {entry: getattr(self, name)[index].item() for name, (entry, _) in PLY_COLUMNS.items()}
        entries["flags"] = PlyFlag(entries["flags"])
        return PlyRecord(**entries, **{name: getattr(self, name)[target] for name in TARGET_COLUMNS})


def _assert_column(record: object, name: str, dtype: type[np.generic], size: int) -> None:
    column = getattr(record, name)
    assert column.dtype == dtype, (name, column.dtype)
    assert column.shape == (size,), (name, column.shape, size)


# ---- the journal

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
_PAYLOAD = _MAGIC_SIZE + _HEAD.size + _CRC.size  # where the payload begins
_BEGIN = struct.Struct("<II")  # version of the format, number of the journal
_PLY_KEY = struct.Struct("<QI")  # game_id, index
_PLY = struct.Struct("<HBIffIBH")  # the columns of PLY_COLUMNS in their order, then the target's size
_END = struct.Struct("<QIf")  # game_id, plies, outcome


@dataclass(kw_only=True)
class RunningGame:
    """A game that has started and not ended: its header and the plies played so far."""

    header: GameHeader
    plies: list[PlyRecord] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class BeginEntry:
    """The first entry of a journal."""

    number: int
    """Of the journal."""
    format_version: int


@dataclass(frozen=True, kw_only=True, eq=False)
class PlyEntry:
    """A move of a running game."""

    game_id: int
    index: int
    """How many plies came before it."""
    ply: PlyRecord


@dataclass(frozen=True, kw_only=True)
class EndEntry:
    """A game is over."""

    game_id: int
    index: int
    """How many plies it had."""
    outcome: float
    """The first player's result, in [-1, 1]."""
    ending: str


Entry = BeginEntry | GameHeader | PlyEntry | EndEntry
"""What one entry says; a `GameHeader` is a game's start."""


@dataclass(kw_only=True)
class JournalContents:
    """What a journal holds, and what is wrong with it."""

    number: int | None = None
    """Of the journal, as its first entry says; None if that entry is missing: a journal is never written without it."""
    format_version: int | None = None
    """As its first entry says."""
    running: dict[int, RunningGame] = field(default_factory=dict)
    """By game_id, in the order they started."""
    finished: list[GameRecord] = field(default_factory=list)
    """In the order they ended."""
    whole_size: int = 0
    """Bytes up to the end of the last whole entry. What lies behind it is a write that was cut off."""
    holes: list[tuple[int, int]] = field(default_factory=list)
    """(from, to) in bytes: damage with whole entries behind it."""
    lost_games: set[int] = field(default_factory=set)
    """game_ids of which an entry is missing. They are neither running nor finished."""


def begin_entry(number: int, *, format_version: int) -> bytes:
    """The first entry of a journal, so that one which was emptied is told from one in which nothing happened yet."""
    return _entry(_Kind.BEGIN, _BEGIN.pack(format_version, number))


def start_entry(header: GameHeader) -> bytes:
    """The entry of a game's start."""
    return _entry(_Kind.START, json.dumps(vars(header), separators=(",", ":")).encode())


def ply_entry(game_id: int, index: int, ply: PlyRecord) -> bytes:
    """The entry of the game's ply number `index`, counted from 0."""
    size = len(ply.target_actions)
    numbers = (ply.action, ply.player, ply.checkpoint_step, ply.search_value, ply.net_value, ply.num_simulations)
    packed = _PLY_KEY.pack(game_id, index) + _PLY.pack(*numbers, ply.flags, size)
    target = ply.target_actions.tobytes() + ply.target_probabilities.tobytes() + ply.target_visits.tobytes()
    return _entry(_Kind.PLY, packed + target)


def end_entry(game_id: int, num_plies: int, *, outcome: float, ending: str) -> bytes:
    """The entry of a game's end; `outcome` is the first player's result in [-1, 1]."""
    return _entry(_Kind.END, _END.pack(game_id, num_plies, outcome) + ending.encode())


def game_entries(game: RunningGame) -> Iterator[bytes]:
    """All entries of a running game."""
    yield start_entry(game.header)
    for index, ply in enumerate(game.plies):
        yield ply_entry(game.header.game_id, index, ply)


def _entry(kind: _Kind, payload: bytes) -> bytes:
    head = _HEAD.pack(len(payload), kind)
    return MAGIC + head + _CRC.pack(zlib.crc32(payload, zlib.crc32(head))) + payload


def parse_journal(data: bytes) -> JournalContents:
    """Everything that is whole in a journal. Damage is told in the result, never an exception."""
    contents = JournalContents()
    position = 0
    while position < len(data):
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
            contents.holes.append((position, end))  # a right checksum, and nonsense
        else:
            _take_in(contents, entry)
        contents.whole_size = position = end
    return contents


def _entry_end(data: bytes, start: int) -> int | None:
    """Where the entry at `start` ends, or None if there is no whole one."""
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
    """What entries say that lie one after the other, all of them whole: how games travel between processes."""
    position = 0
    while position < len(data):
        end = _entry_end(data, position)
        assert end is not None, "what comes through a pipe is whole"
        yield _parse_entry(data[position:end])
        position = end


def _parse_entry(entry: bytes) -> Entry:
    """What a whole entry says. Raises ValueError, TypeError, RecursionError or struct.error if that is nothing."""
    kind, payload = entry[_MAGIC_SIZE + _HEAD.size - 1], entry[_PAYLOAD:]
    if kind == _Kind.BEGIN:
        version, number = _BEGIN.unpack(payload)
        return BeginEntry(number=number, format_version=version)
    if kind == _Kind.START:
        return _checked(GameHeader(**json.loads(payload)))
    if kind == _Kind.PLY:
        game_id, index = _PLY_KEY.unpack_from(payload)
        return PlyEntry(game_id=game_id, index=index, ply=_parse_ply(payload))
    _require(kind == _Kind.END, f"kind {kind}")
    game_id, index, outcome = _END.unpack_from(payload)
    _require(-1.0 <= outcome <= 1.0, f"outcome {outcome}")
    return EndEntry(game_id=game_id, index=index, outcome=outcome, ending=payload[_END.size :].decode())


def _checked(header: GameHeader) -> GameHeader:
    """The same, if its values are of their types and ranges."""
    for entry in fields(header):
        value, expected = getattr(header, entry.name), int if entry.type == "int" else str
        _require(type(value) is expected, f"{entry.name} {value!r}")
    _require(0 <= header.game_id < 1 << 62 and 0 <= header.game_version < 1 << 31, "a number out of range")
    _require(0 <= header.seed < 1 << 64, f"seed {header.seed}")
    return header


def _require(is_so: bool, otherwise: str) -> None:
    """An assertion about a file, which anybody may have written. Raises ValueError."""
    if not is_so:
        raise ValueError(otherwise)


def _parse_ply(payload: bytes) -> PlyRecord:
    action, player, step, search_value, net_value, simulations, flags, size = _PLY.unpack_from(payload, _PLY_KEY.size)
    start = _PLY_KEY.size + _PLY.size
    _require(player in (0, 1) and flags < 2 * max(PlyFlag), f"player {player}, flags {flags}")
    _require(abs(search_value) <= 1.0 and abs(net_value) <= 1.0, f"values {search_value}, {net_value}")
    _require(len(payload) == start + 8 * size, f"{len(payload)} bytes for {size} actions")
    shares = np.frombuffer(payload, np.float16, size, start + 2 * size)
    _require(not size or abs(shares.sum(dtype=np.float32) - 1.0) < 0.01, "shares that do not add up to 1")
    return PlyRecord(
        action=action,
        player=player,
        checkpoint_step=step,
        search_value=search_value,
        net_value=net_value,
        num_simulations=simulations,
        flags=PlyFlag(flags),
        target_actions=np.frombuffer(payload, np.uint16, size, start),
        target_probabilities=shares,
        target_visits=np.frombuffer(payload, np.uint32, size, start + 4 * size),
    )


class Journal:
    """A journal open for appending. One thread at a time: `GameStore` holds a lock.

    An entry is with the operating system when `append` returns, so it survives a kill of the process; it is on the disk
    at the first append after `SYNC_INTERVAL_S` at the latest, so a power cut costs about that much play.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Open `path`, which begins with a `begin_entry`. `clock` tells seconds. Raises OSError."""
        self._file = open_binary(path, os.O_WRONLY | os.O_APPEND)
        self._clock = clock
        self._synced_at = clock()

    def append(self, entry: bytes) -> None:
        """Write one entry. After an OSError the file's end may be torn: do not append again."""
        write_all(self._file, entry)
        if self._clock() - self._synced_at >= SYNC_INTERVAL_S:
            self.sync()

    def sync(self) -> None:
        """Wait until everything written is on the disk. Raises OSError."""
        os.fsync(self._file)
        self._synced_at = self._clock()

    def close(self) -> None:
        """Sync and close. Raises OSError."""
        try:
            self.sync()
        finally:
            os.close(self._file)
