"""Blocks of games: whole, or refused."""

from __future__ import annotations

import contextlib
import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster_for_tests import block_of, game_of, header_of
from stores_for_tests import same
from zerosum.cluster.blocks import MAGIC, Block, DamagedBlockError, opened, seal
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
