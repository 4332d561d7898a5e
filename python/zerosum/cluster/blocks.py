"""Sealed blocks of games, as self-play on a cluster sends them: plain bytes with a checksum, never pickles.

    magic 8 | SHA-256 of all that follows, 32 | header length u32 | header as JSON | journal entries

little-endian. The entries are those of `zerosum.replay.journal`: the finished games, each whole, and then, in an
actor's last block, the games that it leaves unfinished. This file does not know who may send games.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from zerosum.replay import GameRecord
from zerosum.replay.journal import game_entries, parse_games, record_entries
from zerosum.replay.records import RunningGame

MAGIC = b"zsblock\x01"
MOST_BYTES = 1 << 26
"""Largest size of a block."""
FULL_BYTES = MOST_BYTES // 2
"""Size at which a sender seals a block."""
_MOST_HEADER, _MOST_PLY, _MOST_OVERHEAD = 1024, 64, 32
"""Bytes of the first and last entry of a game, of a ply without its target, and of an entry besides its ply."""
_SIZE = struct.Struct("<I")
_CONTENT = len(MAGIC) + hashlib.sha256().digest_size


class DamagedBlockError(ValueError):
    """The bytes are not a whole block."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """Games of one sender."""

    training: str
    """Key of the training process that the games are for."""
    sender: str
    """Name of the actor that played them."""
    number: int
    """Number of the block, from 1 for each sender."""
    games: Sequence[GameRecord]
    """Finished games in the order of their ends."""
    running: Sequence[RunningGame] = ()
    """Games that the sender has begun and does not continue."""
    entries: Sequence[bytes] = ()
    """The journal entries of each finished game; only a block that was `opened` has them."""


def size_of(game: GameRecord | RunningGame) -> int:
    """Bytes that a game takes of a block, at the most."""
    if isinstance(game, GameRecord):
        return _MOST_HEADER + _MOST_PLY * game.num_plies + game.targets.nbytes
    return _MOST_HEADER + sum(_MOST_OVERHEAD + len(ply) for ply in game.plies.packed)


def seal(block: Block) -> bytes:
    """The bytes of a block."""
    about = {"training": block.training, "sender": block.sender, "number": block.number, "games": len(block.games)}
    header = json.dumps(about, separators=(",", ":")).encode()
    entries = b"".join([*_entries_of_games(block.games), *_entries_of_running(block.running)])
    content = _SIZE.pack(len(header)) + header + entries
    return MAGIC + hashlib.sha256(content).digest() + content


def _entries_of_games(games: Iterable[GameRecord]) -> Iterable[bytes]:
    return (entry for record in games for entry in record_entries(record))


def _entries_of_running(games: Iterable[RunningGame]) -> Iterable[bytes]:
    return (entry for game in games for entry in game_entries(game))


def opened(data: bytes) -> Block:
    """The block of these bytes, which may come from anybody.

    Raises:
        DamagedBlockError: the checksum differs, or the content is not what `seal` writes.
    """
    if len(data) > MOST_BYTES:
        raise DamagedBlockError(f"{len(data):,} bytes, and a block has at most {MOST_BYTES:,}")
    if data[: len(MAGIC)] != MAGIC:
        raise DamagedBlockError("the beginning of a block is missing")
    if hashlib.sha256(data[_CONTENT:]).digest() != data[len(MAGIC) : _CONTENT]:
        raise DamagedBlockError("the checksum differs")
    try:
        return _parsed(data[_CONTENT:])
    except (ValueError, TypeError, KeyError, RecursionError, AssertionError, struct.error) as error:
        raise DamagedBlockError(f"the checksum is right and the content is not that of a block ({error})") from error


def _parsed(content: bytes) -> Block:
    (size,) = _SIZE.unpack_from(content)
    about = json.loads(content[_SIZE.size : _SIZE.size + size])
    entries = content[_SIZE.size + size :]
    found = parse_games(entries)
    number = about["number"]
    if type(number) is not int or number < 1 or about["games"] != len(found.finished):
        raise ValueError(f"the header is {about}")
    return Block(
        training=str(about["training"]),
        sender=str(about["sender"]),
        number=number,
        games=found.finished,
        running=found.running,
        entries=found.entries,
    )
