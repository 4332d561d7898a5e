"""The manifest and the shards' limits: what is out of place is damage, and never counts."""

from __future__ import annotations

import contextlib
import hashlib
import json
import zlib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stores_for_tests import filled, games_in, names_in, opened, play, record_of
from zerosum.base.errors import DataError
from zerosum.replay import shards
from zerosum.replay.config import ReplayConfig
from zerosum.replay.record_source import RecordSource
from zerosum.replay.shards import (
    MANIFEST,
    MOST,
    Seal,
    decode_shard,
    encode_shard,
    is_named_by,
    journal_name,
    manifest_line,
    read_manifest,
    seal_of,
)

DATA = b"content"
SHA = hashlib.sha256(DATA).hexdigest()
SHARD = f"games-000003-{SHA[:12]}.parquet"
GOOD: dict[str, Any] = vars(seal_of([record_of(2), record_of(1), record_of(5)], 3, SHARD, DATA, 9))


def test_a_seal_says_what_its_shard_has() -> None:
    games = [record_of(number) for number in (2, 1, 5)]
    seal = Seal(**GOOD)
    assert (seal.first_game_id, seal.last_game_id, seal.next_game_id) == (1, 5, 9)
    assert (seal.num_games, seal.num_positions) == (3, sum(game.num_positions for game in games))
    assert (seal.num_bytes, seal.sha256, seal.journal) == (len(DATA), SHA, journal_name(4))
    empty = seal_of((), 7, None, b"", 9)
    assert (empty.first_game_id, empty.last_game_id, empty.num_games, empty.num_positions) == (9, 9, 0, 0)
    assert empty.journal == journal_name(8)


NUMBERS = [name for name, value in GOOD.items() if type(value) is int and name != "number"]


@pytest.mark.parametrize("name", NUMBERS)
def test_a_seals_numbers_have_their_range(name: str) -> None:
    for good in (0, MOST - 1):
        assert getattr(Seal(**GOOD | {name: good}), name) == good
    for bad in (-1, MOST, True, 1.0, "1", None):
        with pytest.raises(ValueError, match=name):
            Seal(**GOOD | {name: bad})


@pytest.mark.parametrize(
    "changes",
    [
        {"number": -1, "journal": journal_name(0), "shard": None},
        {"number": 4},
        {"number": 4, "journal": journal_name(5)},
        {"journal": journal_name(3)},
        {"journal": "../journal-000004.bin"},
        {"shard": f"../{SHARD}"},
        {"shard": SHARD.replace("parquet", "txt")},
        {"shard": SHARD.replace("000003", "000002")},
        {"shard": 3},
        {"sha256": "0" + SHA},
        {"sha256": 7},
        {"sha256": None, "shard": None},
    ],
    ids=str,
)
def test_a_seals_names_are_those_of_its_files(changes: dict[str, Any]) -> None:
    assert Seal(**GOOD | {"shard": None}).shard is None
    with pytest.raises(ValueError, match="is "):
        Seal(**GOOD | changes)


def line_of(text: bytes) -> bytes:
    """A line with the right checksum."""
    return text[:-1] + b',"crc":"%08x"}\n' % zlib.crc32(text[:-1])


FIRST = manifest_line("format", {"format": shards.FORMAT})


def seal_line(number: int, **changes: Any) -> bytes:
    return manifest_line("seal", vars(seal_of((), number, None, b"", 5)) | changes)


@pytest.mark.parametrize(
    "bad",
    [
        seal_line(2),
        seal_line(1),
        seal_line(3, num_games="3"),
        seal_line(3, more=1),
        manifest_line("seal", {"number": 3}),
        manifest_line("aside", {"shard": "../games-000001-0123456789ab.parquet"}),
        manifest_line("aside", {"shard": 5}),
        manifest_line("aside", {}),
        manifest_line("end", {}),
        manifest_line("format", {"format": True}),
        manifest_line("format", {"format": "2"}),
        manifest_line("format", {}),
        line_of(b'{"format":1}'),
        line_of(b'["kind"]'),
        line_of(b'{"kind":"\xff"}'),
        line_of(b"[" * 100_000 + b"}"),
        seal_line(3)[:-3] + b"}\n",
        seal_line(3).replace(b'"number":3', b'"number":4'),
        b"\n",
    ],
    ids=range(19),
)
def test_a_line_out_of_place_is_damage_and_the_others_count(tmp_path: Path, bad: bytes) -> None:
    (tmp_path / MANIFEST).write_bytes(FIRST + seal_line(2) + bad + seal_line(4) + b"cut off")
    found = read_manifest(tmp_path)
    assert found.damaged_lines == [3]
    assert [seal.number for seal in found.seals] == [2, 4]
    assert found.has_format and found.journal == journal_name(5) and not found.aside
    assert found.whole_size == len(FIRST + seal_line(2) + bad + seal_line(4))


def test_a_manifest_without_its_first_line_has_no_format(tmp_path: Path) -> None:
    assert not read_manifest(tmp_path).has_format
    assert read_manifest(tmp_path).journal == journal_name(1)
    (tmp_path / MANIFEST).write_bytes(seal_line(1) + manifest_line("aside", {"shard": SHARD}))
    found = read_manifest(tmp_path)
    assert (found.has_format, found.damaged_lines, found.aside) == (False, [], {SHARD})


def test_shards_set_aside_do_not_count(tmp_path: Path) -> None:
    two = manifest_line("seal", vars(seal_of([record_of(0)], 2, SHARD.replace("000003", "000002"), DATA, 9)))
    (tmp_path / MANIFEST).write_bytes(
        FIRST + seal_line(1) + two + manifest_line("seal", GOOD) + manifest_line("aside", {"shard": SHARD})
    )
    found = read_manifest(tmp_path)
    assert [seal.number for seal in found.seals] == [1, 2, 3]
    assert [seal.number for seal in found.shards] == [2]


def test_a_manifest_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).mkdir()
    with pytest.raises(DataError, match=r"manifest.jsonl cannot be read: "):
        read_manifest(tmp_path)
    (tmp_path / "file").write_text("no directory")
    assert not read_manifest(tmp_path / "file").seals


def test_a_name_has_the_checksum_of_its_shard() -> None:
    assert is_named_by(SHARD, DATA)
    for name, data in (
        (SHARD, DATA + b"x"),
        (SHARD.replace(SHA[:12], "0" * 12), DATA),
        (f"{SHARD}.damaged", DATA),
        ("games.parquet", DATA),
    ):
        assert not is_named_by(name, data)


def test_games_and_their_values_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column has a value a game, a ply or an entry of a target."""
    data = encode_shard([record_of(number) for number in range(6)])
    metadata = pq.read_metadata(pa.BufferReader(data))
    columns = [metadata.row_group(0).column(column).num_values for column in range(metadata.num_columns)]
    average = Fraction(sum(columns), len(columns))
    for rows, values, is_too_large in ((6, average, False), (5, average, True), (6, average - Fraction(1, 99), True)):
        monkeypatch.setattr(shards, "MOST_ROWS", rows)
        monkeypatch.setattr(shards, "MOST_VALUES", values)
        with pytest.raises(DataError, match="6 games or") if is_too_large else contextlib.nullcontext():
            assert len(decode_shard(data, Path("shard"))) == 6


def test_only_what_the_store_was_writing_is_removed(tmp_path: Path) -> None:
    filled(tmp_path)
    kept = ["notes.unfinished", ".hidden", "games-1.parquet", "journal-000009.bin.damaged", "xgames-000009-a.parquet"]
    for name in (*kept, ".manifest.jsonl.unfinished", ".games.unfinished"):
        (tmp_path / name).write_bytes(b"")
    with opened(tmp_path) as (store, messages):
        assert games_in(store)
    assert not messages
    assert set(kept) <= {path.name for path in tmp_path.iterdir()}
    assert not list(tmp_path.glob(".*.unfinished"))


def test_a_missing_shard_is_told_once(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / names_in(tmp_path, "*.parquet")[0]).unlink()
    with opened(tmp_path) as (store, messages):
        for _ in range(3):
            assert [record.game_id for record in store.recent(num_games=100)] == [2, 3, 6, 5, 7]
        assert store.num_games == 5
        (told,) = messages
        assert "its 2 games are left out" in told
    source = RecordSource(tmp_path, ReplayConfig(dev_share=0.0, test_share=0.0), report=messages.append)
    assert [len(part.seals) for part in source.parts] == [2]
    assert source.num_games == 5
    assert set(source.window(source.parts[0]).sample(300, seed=0, step=0).game_ids.tolist()) == {2, 3, 6, 5, 7}


@pytest.mark.parametrize("harm", ["first", "last", "all"])
def test_a_rebuilt_manifest_is_as_good_as_new(tmp_path: Path, harm: str) -> None:
    """What is played, sealed and read afterwards is as without the damage, and nothing is told twice."""
    filled(tmp_path)
    lines = (tmp_path / MANIFEST).read_bytes().splitlines(keepends=True)
    cut: dict[str, Callable[[], list[bytes]]] = {
        "first": lambda: lines[1:],
        "last": lambda: [*lines[:-1], lines[-1].replace(b"crc", b"src")],
        "all": lambda: [],
    }
    (tmp_path / MANIFEST).write_bytes(b"".join(cut[harm]()))
    with opened(tmp_path) as (store, messages):
        assert games_in(store) == [0, 1, 2, 3, 6, 5, 7]
        assert store.next_game_id == 9
        assert len(messages) == 1
        play(store, 9)
        store.seal()
    found = read_manifest(tmp_path)
    assert found.has_format and not found.damaged_lines
    assert [seal.number for seal in found.seals] == [1, 2, 3]
    assert [json.loads(line)["kind"] for line in (tmp_path / MANIFEST).read_text().splitlines()] == [
        "format",
        *["seal"] * 3,
    ]
    with opened(tmp_path) as (store, messages):
        assert games_in(store) == [0, 1, 2, 3, 6, 5, 7, 9]
        assert not messages
