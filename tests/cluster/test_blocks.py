"""Blocks of games: whole, or refused."""

from __future__ import annotations

import contextlib
import hashlib
import struct
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster_for_tests import block_of, game_of, header_of
from stores_for_tests import same
from zerosum.cluster.blocks import MAGIC, Block, DamagedBlockError, opened, seal, size_of
from zerosum.replay import GameRecord
from zerosum.replay.journal import MAGIC as JOURNAL_MAGIC
from zerosum.replay.journal import game_entries, parse_games, parse_journal, record_entries
from zerosum.replay.records import RunningGame

GAMES = [game_of(number) for number in range(3)]
DATA = block_of("host/1", 4, GAMES)


def test_a_block_has_the_games_that_were_sealed() -> None:
    left = RunningGame(header=header_of(9), plies=[GAMES[0].ply(0), GAMES[0].ply(1)])
    block = opened(seal(Block(training="t", sender="host/1", number=4, games=GAMES, running=[left])))
    assert (block.training, block.sender, block.number) == ("t", "host/1", 4)
    for one, other in zip(block.games, GAMES, strict=True):
        same(one, other)
    assert [game.header.game_id for game in block.running] == [9]
    assert [ply.action for ply in block.running[0].plies] == [ply.action for ply in left.plies]


@settings(max_examples=200, deadline=None)
@given(st.integers(0, len(DATA) - 1), st.integers(1, 255))
def test_one_changed_byte_is_noticed(place: int, change: int) -> None:
    data = bytearray(DATA)
    data[place] ^= change
    with pytest.raises(DamagedBlockError):
        opened(bytes(data))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(DATA) - 1))
def test_a_block_that_was_cut_off_is_noticed(size: int) -> None:
    with pytest.raises(DamagedBlockError):
        opened(DATA[:size])


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 400), st.integers(0, 255))
def test_any_content_with_a_right_checksum_is_a_block_or_damaged(tail: bytes, place: int, value: int) -> None:
    """A stranger can compute a checksum: the content is not trusted."""
    content = bytearray(DATA[len(MAGIC) + 32 :])
    content[place % len(content)] = value
    content = bytes(content) + tail
    data = MAGIC + hashlib.sha256(content).digest() + content
    with contextlib.suppress(DamagedBlockError):
        assert len(opened(data).games) == len(GAMES)


LEFT = [RunningGame(header=header_of(7 + number), plies=[GAMES[1].ply(0)] * number) for number in range(3)]
ENTRIES = [
    *(entry for game in GAMES for entry in record_entries(game)),
    *(entry for game in LEFT for entry in game_entries(game)),
]


Games = tuple[list[GameRecord], list[RunningGame]]


def parts_of(data: bytes) -> list[bytes]:
    """The entries, cut apart at their marks."""
    return [JOURNAL_MAGIC + part for part in data.split(JOURNAL_MAGIC)[1:]]


def read_slowly(data: bytes) -> Games:
    """What `parse_games` reads, as the journal's reader does. Raises ValueError if anything is damaged."""
    found = parse_journal(data)
    if found.holes or found.lost_games or found.number is not None or found.whole_size != len(data):
        raise ValueError("damaged")
    return found.finished, list(found.running.values())


def read_quickly(data: bytes) -> Games:
    found = parse_games(data)
    assert len(found.entries) == len(found.finished)
    return found.finished, found.running


def same_games(one: Games, other: Games) -> None:
    for left, right in zip(one[0], other[0], strict=True):
        same(left, right)
    for left, right in zip(one[1], other[1], strict=True):
        same(left.header, right.header)
        assert left.plies.packed == right.plies.packed


def test_both_readers_read_the_same() -> None:
    data = b"".join(ENTRIES)
    same_games(read_quickly(data), read_slowly(data))
    found = parse_games(data)
    assert b"".join([*found.entries, *(entry for game in found.running for entry in game_entries(game))]) == data
    assert [len(game.plies) for game in found.running] == [0, 1, 2]


def remade(entry: bytes, place: int, value: int) -> bytes:
    """The entry with another byte in its payload, and the right checksum."""
    head, payload = entry[4:9], bytearray(entry[13:])
    if payload:
        payload[place % len(payload)] = value
    crc = zlib.crc32(bytes(payload), zlib.crc32(head))
    return JOURNAL_MAGIC + head + struct.pack("<I", crc) + bytes(payload)


@settings(max_examples=600, deadline=None)
@given(st.data())
def test_the_quick_reader_takes_nothing_that_the_other_refuses(data: st.DataObject) -> None:
    """Entries are changed, with right checksums, left out, doubled and moved."""
    entries = parts_of(b"".join(ENTRIES))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(entries) - 1))
        what = data.draw(st.sampled_from(["change", "drop", "double", "move"]))
        if what == "change":
            entries[place] = remade(entries[place], data.draw(st.integers(0, 300)), data.draw(st.integers(0, 255)))
        elif what == "move":
            entries.insert(data.draw(st.integers(0, len(entries) - 1)), entries.pop(place))
        elif what == "double":
            entries.insert(place, entries[place])
        else:
            del entries[place]
    changed = b"".join(entries)
    try:
        found = read_quickly(changed)
    except (ValueError, TypeError, RecursionError, struct.error):
        return
    same_games(found, read_slowly(changed))


FEW = [*parts_of(b"".join(record_entries(GAMES[0]))), *parts_of(b"".join(game_entries(LEFT[2])))]
"""A finished game and a running one."""


@pytest.mark.parametrize("place", range(len(FEW)))
def test_every_byte_of_a_ply_and_an_end_is_checked_as_in_a_journal(place: int) -> None:
    entries = FEW
    for byte in range(min(len(entries[place]) - 13, 60)):
        for value in (0, 1, 0x7F, 0x80, 0xFF):
            changed = b"".join([*entries[:place], remade(entries[place], byte, value), *entries[place + 1 :]])
            found = []
            for read in (read_quickly, read_slowly):
                try:
                    found.append(read(changed))
                except (ValueError, TypeError, RecursionError, struct.error):
                    found.append(None)
            if None in found:
                assert found[0] is None, (byte, value)
                # Another game's number in a START makes one game of two in a journal; a block refuses that.
                assert found[1] is None or entries[place][8] != 2, (byte, value)
            else:
                same_games(found[0], found[1])


def test_the_size_of_a_game_is_no_smaller_than_its_entries() -> None:
    for record in GAMES:
        assert size_of(record) >= len(b"".join(record_entries(record)))
    for running in LEFT:
        assert size_of(running) >= len(b"".join(game_entries(running)))
