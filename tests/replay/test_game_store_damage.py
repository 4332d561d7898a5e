"""The store, damaged: what cannot be read is named, and everything else goes on."""

import json
import os
import re
import shutil
import zlib
from pathlib import Path

import pytest

from stores_for_tests import FILLED, filled, flip, games_in, names_in, opened, play, plies_in, start
from zerosum.base.errors import DataError, RunError
from zerosum.replay.game_store import GameStore
from zerosum.replay.journal import begin_entry
from zerosum.replay.shards import FORMAT, MANIFEST


@pytest.mark.parametrize("harm", ["flip", "cut"])
def test_a_damaged_shard_is_named_and_set_aside(tmp_path: Path, harm: str):
    filled(tmp_path)
    name = names_in(tmp_path, "games-000001-*.parquet")[0]
    path = tmp_path / name
    if harm == "flip":
        flip(path, path.stat().st_size // 2)
    else:
        path.write_bytes(path.read_bytes()[:-1])
    reason = {"flip": "does not match its checksum", "cut": "bytes instead of"}[harm]
    with opened(tmp_path) as (store, messages):
        games = store.recent(1000)
        assert store.num_positions == sum(record.num_positions for record in games), "known before they are read"
        assert games_in(store) == FILLED[0][2:]
        assert plies_in(store) == FILLED[1]
        assert len(messages) == 1
        assert name in messages[0]
        assert reason in messages[0]
        assert "its 2 games are left out" in messages[0]
    assert names_in(tmp_path, "*.damaged") == [f"{name}.damaged"]
    with opened(tmp_path) as (store, messages):
        assert games_in(store) == FILLED[0][2:]
        play(store, 9)
        store.seal()
    assert not messages


def test_a_missing_shard_counts_again_when_it_is_back(tmp_path: Path):
    filled(tmp_path)
    path = tmp_path / names_in(tmp_path, "games-000001-*.parquet")[0]
    manifest = (tmp_path / MANIFEST).read_bytes()
    away = path.rename(tmp_path / "away")
    for _ in range(2):
        with opened(tmp_path) as (store, messages):
            list(store.recent(1000))
            assert (games_in(store), plies_in(store)) == (FILLED[0][2:], FILLED[1])
            assert len(messages) == 1
            assert re.search(rf"{path.name} is missing: its 2 games are left out.*Put it back", messages[0])
        assert (tmp_path / MANIFEST).read_bytes() == manifest
    with opened(tmp_path) as (store, _):
        away.rename(path)
        assert games_in(store) == FILLED[0], "even while the store is open"
    with opened(tmp_path) as (store, messages):
        assert games_in(store) == FILLED[0]
        assert not messages


@pytest.mark.parametrize(("holder", "call"), [(Path, "stat"), (os, "open")])
def test_a_shard_that_cannot_be_read_now_is_an_error_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holder: object, call: str
):
    filled(tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)}
    original = getattr(holder, call)

    def failing(path: Path, *arguments: object, **named: object) -> object:
        if Path(path).suffix == ".parquet":
            raise OSError(5, "Input/output error")
        return original(path, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(holder, call, failing)
        with pytest.raises(RunError, match=r"parquet cannot be read: Input/output error\. Nothing was changed\. Check"):
            GameStore(tmp_path, report=print).recent(1000)
    assert before == {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)}
    with opened(tmp_path) as (store, messages):
        assert (games_in(store), plies_in(store)) == FILLED
        assert not messages


def test_each_shard_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    filled(tmp_path)
    read, original = [], os.open
    monkeypatch.setattr(os, "open", lambda path, *flags: read.append(Path(path).suffix) or original(path, *flags))
    with opened(tmp_path) as (store, _):
        assert len(list(store.recent(1000))) == 7
    assert read.count(".parquet") == 2


@pytest.mark.parametrize("size", [0, 5])
@pytest.mark.parametrize("has_manifest", [True, False])
def test_an_emptied_journal_is_told(tmp_path: Path, size: int, has_manifest: bool):
    filled(tmp_path)
    path = tmp_path / "journal-000003.bin"
    path.write_bytes(path.read_bytes()[:size])
    if not has_manifest:
        (tmp_path / MANIFEST).unlink()
    with opened(tmp_path) as (store, messages):
        assert (games_in(store), plies_in(store)) == ([0, 1, 2, 3], {})
        assert "journal-000003.bin is damaged: its first entry" in messages[-1]
        assert "unsealed games may be lost; 0 finished and 0 running ones are left in it" in messages[-1]
        assert len(messages) == (1 if has_manifest else 2)
        play(store, number := store.next_game_id)
    with opened(tmp_path) as (store, messages):
        assert games_in(store) == [0, 1, 2, 3, number]
        assert not messages


def test_what_follows_a_lost_first_entry_counts(tmp_path: Path):
    filled(tmp_path)
    path = tmp_path / "journal-000003.bin"
    path.write_bytes(path.read_bytes()[len(begin_entry(3, format_version=FORMAT)) :])
    with opened(tmp_path) as (store, messages):
        assert (games_in(store), plies_in(store)) == FILLED
        assert "3 finished and 2 running ones are left in it" in messages[0]
    assert len(names_in(tmp_path, "journal-000003.bin.*.damaged")) == 1


def test_another_journal_in_its_place_doubles_no_game(tmp_path: Path):
    with opened(tmp_path) as (store, _):
        play(store, 0)
        other = (tmp_path / "journal-000001.bin").read_bytes()
        store.seal()
    (tmp_path / "journal-000002.bin").write_bytes(other)
    with opened(tmp_path) as (store, messages):
        assert games_in(store) == [0]
        assert "journal-000002.bin is damaged: its first entry" in messages[0]
        assert store.next_game_id == 1


def test_a_journal_of_a_newer_format_is_refused(tmp_path: Path):
    filled(tmp_path)
    path = tmp_path / "journal-000003.bin"
    path.write_bytes(begin_entry(3, format_version=FORMAT + 1))
    before = path.read_bytes()
    with pytest.raises(DataError, match=rf"journal-000003.bin has format {FORMAT + 1}"):
        GameStore(tmp_path, report=print)
    assert path.read_bytes() == before


def test_a_damaged_journal_is_kept_aside_and_the_rest_goes_on(tmp_path: Path):
    origin = tmp_path / "origin"
    filled(origin)
    size = (origin / "journal-000003.bin").stat().st_size
    lost_somewhere = set()
    for place in range(0, size, 29):
        directory = shutil.copytree(origin, tmp_path / f"at-{place}")
        flip(directory / "journal-000003.bin", place)
        with opened(directory) as (store, messages):
            finished, running = games_in(store), plies_in(store)
            assert len(messages) == 1
            if "is damaged" in messages[0]:
                assert len(names_in(directory, "journal-000003.bin.*.damaged")) == 1
            lost = ({5, 6, 7} | set(FILLED[1])) - set(finished) - set(running)
            named = re.search(r"games ([0-9, ]+) have lost an entry", messages[0])
            assert lost == (set(map(int, named[1].split(", "))) if named else set())
            lost_somewhere |= lost
            assert store.next_game_id == 9
        with opened(directory) as (store, messages):
            assert not messages
            assert (games_in(store), plies_in(store)) == (finished, running)
    assert lost_somewhere == {4, 5, 6, 7, 8}


def test_a_journal_without_a_finished_game_can_be_damaged_too(tmp_path: Path):
    with opened(tmp_path) as (store, _):
        start(store, 0, 2)
        start(store, 1, 2)
    flip(tmp_path / "journal-000001.bin", len(begin_entry(1, format_version=FORMAT)) + 30)
    with opened(tmp_path) as (store, messages):
        assert "games 0 have lost an entry and are left out" in messages[0]
        assert plies_in(store) == {1: 2}
        assert store.next_game_id == 2
        play(store, 2)
        store.seal()
    with opened(tmp_path) as (store, messages):
        assert (games_in(store), plies_in(store)) == ([2], {1: 2})
        assert not messages


def test_a_missing_journal_is_told(tmp_path: Path):
    filled(tmp_path)
    (tmp_path / "journal-000003.bin").unlink()
    with opened(tmp_path) as (store, messages):
        assert games_in(store) == [0, 1, 2, 3]
        assert any("games that were not sealed are lost" in message for message in messages)


def test_any_flipped_byte_of_the_manifest_loses_nothing(tmp_path: Path):
    origin = tmp_path / "origin"
    filled(origin)
    data = (origin / MANIFEST).read_bytes()
    newlines = [place for place, byte in enumerate(data) if byte == 10]
    for place in sorted({*newlines, *range(0, len(data), 9)}):
        directory = shutil.copytree(origin, tmp_path / f"at-{place}")
        flip(directory / MANIFEST, place)
        with opened(directory) as (store, messages):
            assert (games_in(store), plies_in(store)) == FILLED
            assert re.search(rf"{MANIFEST} (is damaged in line|does not fit)", messages[0])
            assert store.next_game_id == 9
            assert len(names_in(directory, f"{MANIFEST}.*.damaged")) == 1
        with opened(directory) as (store, messages):
            assert (games_in(store), plies_in(store)) == FILLED
            assert not messages
        shutil.rmtree(directory)


def test_a_lost_manifest_is_made_anew(tmp_path: Path):
    filled(tmp_path)
    (tmp_path / MANIFEST).unlink()
    flip(tmp_path / names_in(tmp_path, "games-000001-*")[0], 50)
    with opened(tmp_path) as (store, messages):
        assert games_in(store) == FILLED[0][2:]
        assert plies_in(store) == FILLED[1]
        assert "manifest.jsonl is missing" in messages[0]
        assert "set aside as games-000001-" in messages[1]


def test_a_newer_format_is_refused_and_nothing_touched(tmp_path: Path):
    filled(tmp_path)
    path = tmp_path / MANIFEST
    text = b'{"kind":"format","format":%d' % (FORMAT + 1)
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([text + b',"crc":"%08x"}' % zlib.crc32(text), *lines[1:]]) + b"of another kind")
    (tmp_path / "games-000099-000000000000.parquet").write_bytes(b"a stray")
    before = {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)}
    with pytest.raises(DataError, match=rf"has format {FORMAT + 1}, .* reads up to {FORMAT}. Nothing was changed"):
        GameStore(tmp_path, report=print)
    assert before == {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)}


def test_strays_are_removed_and_told(tmp_path: Path):
    filled(tmp_path)
    for name in ("games-000003-0123456789ab.parquet", "journal-000004.bin", "notes.txt"):
        (tmp_path / name).write_bytes(b"left behind")
    with opened(tmp_path) as (store, messages):
        assert (games_in(store), plies_in(store)) == FILLED
    assert [re.search(r"([^/\\]+) is left over from an interrupted seal", message)[1] for message in messages] == [
        "games-000003-0123456789ab.parquet",
        "journal-000004.bin",
    ]
    assert not (tmp_path / "journal-000004.bin").exists()
    assert (tmp_path / "notes.txt").exists()


def test_a_directory_that_cannot_be_made_is_an_error(tmp_path: Path):
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises(RunError, match=r"games cannot be written"):
        GameStore(tmp_path / "file" / "games", report=print)


def test_the_manifest_is_lines_of_json(tmp_path: Path):
    filled(tmp_path)
    lines = [json.loads(line) for line in (tmp_path / MANIFEST).read_text().splitlines()]
    assert [line["kind"] for line in lines] == ["format", "seal", "seal"]
    assert lines[2]["shard"] == names_in(tmp_path, "games-000002-*.parquet")[0]
    assert lines[2]["journal"] == "journal-000003.bin"
