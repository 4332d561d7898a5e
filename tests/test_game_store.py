"""The store: whatever breaks, no finished game is lost or counted twice, and what cannot be read is named."""

import itertools
import json
import os
import re
import shutil
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerosum.errors import DataError, RunError
from zerosum.game_store import GameStore
from zerosum.journal import GameHeader, GameRecord, PlyFlag, PlyRecord, begin_entry, parse_journal
from zerosum.shards import FORMAT, MANIFEST, decode_shard, encode_shard, read_manifest, read_shard


def ply_of(game_id: int, index: int) -> PlyRecord:
    """A ply that tells which it is; every third has no policy target."""
    generator = np.random.default_rng([game_id, index])
    size = 0 if index % 3 == 2 else int(generator.integers(1, 5))
    visits = generator.integers(1, 100, size)
    return PlyRecord(
        action=(game_id * 10 + index) % 65536,
        player=index // 2 % 2,
        checkpoint_step=game_id,
        search_value=float(np.float32(generator.uniform(-1, 1))),
        net_value=float(np.float32(generator.uniform(-1, 1))),
        num_simulations=int(visits.sum()),
        flags=PlyFlag.FULL_SEARCH,
        target_actions=generator.permutation(4000)[:size].astype(np.uint16),
        target_probabilities=(visits / max(visits.sum(), 1)).astype(np.float16),
        target_visits=visits.astype(np.uint32),
    )


def header_of(game_id: int) -> GameHeader:
    return GameHeader(
        game_id=game_id,
        game="connect4",
        game_version=1,
        options="",
        start="",
        settings_hash="5d41402a",
        seed=2**64 - game_id - 1,
    )


def record_of(game_id: int, num_plies: int | None = None) -> GameRecord:
    count = 1 + game_id % 5 if num_plies is None else num_plies
    plies = [ply_of(game_id, index) for index in range(count)]
    return GameRecord.from_plies(header_of(game_id), plies, outcome=game_id % 3 - 1.0, ending=f"ending {game_id}")


def same(one: GameRecord, other: GameRecord) -> None:
    for entry in fields(GameRecord):
        left, right = getattr(one, entry.name), getattr(other, entry.name)
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype, entry.name
            assert left.tobytes() == right.tobytes(), entry.name
        else:
            assert left == right, entry.name


def start(store: GameStore, game_id: int, num_plies: int) -> None:
    store.start_game(header_of(game_id))
    for index in range(num_plies):
        store.add_ply(game_id, ply_of(game_id, index))


def play(store: GameStore, game_id: int) -> None:
    record = record_of(game_id)
    start(store, game_id, record.num_plies)
    same(store.finish_game(game_id, outcome=record.outcome, ending=record.ending), record)


@contextmanager
def opened(directory: Path, **arguments: int) -> Iterator[tuple[GameStore, list[str]]]:
    messages: list[str] = []
    store = GameStore(directory, report=messages.append, **arguments)
    yield store, messages
    store.close()


def games_in(store: GameStore) -> list[int]:
    """The finished games, each held against what was played."""
    records = list(store.recent(store.num_positions + 1))
    for record in records:
        same(record, record_of(record.game_id))
    assert len(records) == store.num_games
    assert sum(record.num_positions for record in records) == store.num_positions
    return [record.game_id for record in records]


def plies_in(store: GameStore) -> dict[int, int]:
    """The running games and their number of plies, each held against what was played."""
    for game_id, game in store.running.items():
        assert vars(game.header) == vars(header_of(game_id))
        assert [ply.action for ply in game.plies] == [ply_of(game_id, i).action for i in range(len(game.plies))]
    return {game_id: len(game.plies) for game_id, game in store.running.items()}


def filled(directory: Path) -> None:
    """Two shards (games 0 to 3), three finished games in the journal (5, 6, 7) and two running ones (4, 8)."""
    with opened(directory) as (store, messages):
        start(store, 4, 2)
        for games in ((0, 1), (2, 3)):
            for game_id in games:
                play(store, game_id)
            store.seal()
        for game_id in (6, 5, 7):
            play(store, game_id)
        start(store, 8, 3)
    assert not messages


FILLED = ([0, 1, 2, 3, 6, 5, 7], {4: 2, 8: 3})


def names_in(directory: Path, pattern: str = "*") -> list[str]:
    return sorted(path.name for path in directory.glob(pattern))


# ---- shards


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6))
def test_records_survive_a_shard(sizes):
    records = [record_of(game_id, size) for game_id, size in enumerate(sizes)]
    for record, other in zip(records, decode_shard(encode_shard(records)), strict=True):
        same(record, other)


def test_any_tool_reads_the_columns(tmp_path: Path):
    filled(tmp_path)
    first, second = names_in(tmp_path, "*.parquet")
    table = pq.read_table(tmp_path / first)
    assert table.schema.metadata[b"zerosum.format"] == str(FORMAT).encode()
    assert table["game_id"].to_pylist() == [0, 1]
    record = record_of(1)
    row = {name: table[name][1].as_py() for name in table.column_names}
    assert row["actions"] == record.actions.tolist()
    assert row["outcome"] == record.outcome
    bounds = itertools.pairwise(record.target_offsets)
    assert row["target_probabilities"] == [record.target_probabilities[a:b].tolist() for a, b in bounds]
    assert set(row) == {entry.name for entry in fields(GameRecord)} - {"target_offsets"}
    documented = re.findall(r"^\s+\| ([a-z_, ]+) \|", encode_shard.__doc__, re.MULTILINE)
    assert {name for cell in documented[1:] for name in cell.split(", ")} == set(row)
    assert [record.game_id for record in read_shard(tmp_path / second)] == [2, 3]


def test_a_tool_is_told_of_damage(tmp_path: Path):
    filled(tmp_path)
    path = tmp_path / names_in(tmp_path, "*.parquet")[0]
    flip(path, 100)
    with pytest.raises(DataError, match=r"games-000001-.*is damaged: its checksum"):
        read_shard(path)
    with pytest.raises(DataError, match=r"nowhere.parquet cannot be read: No such file"):
        read_shard(tmp_path / "nowhere.parquet")


# ---- a run without accidents


def test_a_store_goes_on_where_it_stopped(tmp_path: Path):
    filled(tmp_path)
    with opened(tmp_path) as (store, messages):
        assert (games_in(store), plies_in(store)) == FILLED
        assert store.next_game_id == 9
        store.add_ply(4, ply_of(4, 2))
        store.start_game(header_of(8))
        play(store, 9)
    with opened(tmp_path) as (store, messages):
        assert games_in(store) == [*FILLED[0], 9]
        assert plies_in(store) == {4: 3, 8: 0}
        assert store.next_game_id == 10
        assert not messages


def test_it_seals_by_itself_and_empties_the_journal(tmp_path: Path):
    with opened(tmp_path, games_per_shard=3) as (store, _):
        for game_id in range(7):
            play(store, game_id)
        store.seal()
        store.seal()
        assert [(seal.first_game_id, seal.last_game_id) for seal in read_manifest(tmp_path).seals] == [
            (0, 2),
            (3, 5),
            (6, 6),
        ]
        assert names_in(tmp_path, "*.bin") == ["journal-000004.bin"]
        journal = parse_journal((tmp_path / "journal-000004.bin").read_bytes())
        assert (journal.number, journal.running, journal.finished) == (4, {}, [])
        assert games_in(store) == list(range(7))


def test_games_that_a_kill_kept_from_being_sealed_are_sealed_at_once(tmp_path: Path):
    filled(tmp_path)
    with opened(tmp_path, games_per_shard=3) as (store, messages):
        assert [seal.num_games for seal in read_manifest(tmp_path).seals] == [2, 2, 3]
        assert (games_in(store), plies_in(store)) == FILLED
        assert not messages


def test_games_from_a_number_on_are_played_again(tmp_path: Path):
    """They count when they have ended again, nothing is written for them, and one that differs is refused."""
    with opened(tmp_path, games_per_shard=2) as (store, _):
        for game_id in range(5):
            play(store, game_id)
        start(store, 5, 3)
    before = {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)}
    with opened(tmp_path, games_per_shard=2) as (store, _):
        store.replay_from(3)
        assert games_in(store) == [0, 1, 2]
        for game_id in (4, 3):
            play(store, game_id)
        assert games_in(store) == [0, 1, 2, 3, 4]
        assert before == {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)}
        assert plies_in(store) == {5: 3}
        play(store, 5)
    with opened(tmp_path) as (store, _):
        assert (games_in(store), plies_in(store)) == ([0, 1, 2, 3, 4, 5], {})
        store.replay_from(2)
        start(store, 2, record_of(2).num_plies)
        with pytest.raises(RunError, match="Game 2 was played again and is not the game recorded in"):
            store.finish_game(2, outcome=0.5, ending="ending 2")


def test_recent_games_come_oldest_first_from_as_few_shards_as_needed(tmp_path: Path):
    with opened(tmp_path, games_per_shard=2) as (store, _):
        for game_id in range(7):
            play(store, game_id)
        unsealed = record_of(6).num_positions
        assert [record.game_id for record in store.recent(0)] == [6]
        assert [record.game_id for record in store.recent(unsealed)] == [6]
        assert [record.game_id for record in store.recent(unsealed + 1)] == [4, 5, 6]


def test_many_threads_write_at_once(tmp_path: Path):
    with opened(tmp_path, games_per_shard=5) as (store, _):
        lock, ids = threading.Lock(), iter(range(40))

        def work() -> None:
            while True:
                with lock:
                    game_id = next(ids, None)
                if game_id is None:
                    return
                store.start_game(header_of(game_id))
                for index in range(record_of(game_id).num_plies):
                    store.add_ply(game_id, ply_of(game_id, index))
                store.finish_game(game_id, outcome=game_id % 3 - 1.0, ending=f"ending {game_id}")

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with opened(tmp_path) as (store, messages):
        assert sorted(games_in(store)) == list(range(40))
        assert not messages


# ---- kills


class Killed(BaseException):
    """Ends the process as far as the store can tell: no handler of ours catches it."""


CALLS = ("open", "write", "fsync", "unlink", "replace", "ftruncate")


def fail_at(monkeypatch: pytest.MonkeyPatch, place: int, error: BaseException, *, after: bool) -> list[str]:
    """Let the `place`-th call that changes the disk fail, before or after it did its work (half of it, for a write)."""
    calls: list[str] = []
    failed = []

    def failing(name: str, original: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object) -> object:
            if failed:  # the process is gone: nothing more reaches the disk, whatever handlers try
                return original(*arguments) if name == "open" else len(arguments[-1:])
            calls.append(name)
            if len(calls) - 1 != place:
                return original(*arguments)
            if after:
                half = (arguments[0], arguments[1][: len(arguments[1]) // 2]) if name == "write" else arguments
                original(*half)
            failed.append(name)
            raise error

        return call

    for name in CALLS:
        monkeypatch.setattr(os, name, failing(name, getattr(os, name)))
    return calls


def acts(store: GameStore) -> None:
    """A ply, a game's end and a seal, and after it a ply more."""
    store.add_ply(4, ply_of(4, 2))
    store.finish_game(8, outcome=1.0, ending="ending 8")
    store.seal()
    store.add_ply(4, ply_of(4, 3))


def count_calls(directory: Path, act: Callable[[Path], None]) -> int:
    with pytest.MonkeyPatch.context() as patch:
        calls = fail_at(patch, -1, Killed(), after=False)
        act(directory)
    return len(calls)


def prepared(tmp_path: Path) -> Path:
    """As `filled`, but game 8 has all its plies."""
    origin = tmp_path / "origin"
    filled(origin)
    with opened(origin) as (store, _):
        store.add_ply(8, ply_of(8, 3))
    return origin


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("error", [Killed(), OSError(28, "No space left on device")])
def test_a_seal_that_fails_anywhere_loses_and_doubles_nothing(tmp_path: Path, error: BaseException, after: bool):
    origin = prepared(tmp_path)

    def act(directory: Path) -> None:
        acts(GameStore(directory, report=print))

    num_calls = count_calls(shutil.copytree(origin, tmp_path / "counted"), act)
    assert num_calls > 15
    expected = {"ended": False, "plies": 2}
    for place in range(num_calls):
        directory = shutil.copytree(origin, tmp_path / f"at-{place}")
        with pytest.MonkeyPatch.context() as patch:
            fail_at(patch, place, error, after=after)
            with pytest.raises((Killed, RunError)) as raised:
                act(directory)
        if isinstance(error, OSError):
            assert raised.match(rf"at-{place} cannot be written: No space left on device.*start the run again")
        with opened(directory) as (store, _):
            assert store.next_game_id == 9
            finished, running = games_in(store), plies_in(store)
            # Recovered, it works on, and is as whole when it is opened once more.
            play(store, 9)
            store.seal()
        with opened(directory) as (store, messages):
            assert not messages
            assert games_in(store) == [*finished, 9]
            assert plies_in(store) == running
        ended = 8 not in running
        assert finished == [*FILLED[0], 8] if ended else FILLED[0]
        assert ended or running[8] == 4
        assert ended >= expected["ended"], "a game that had ended runs again"
        assert running[4] >= expected["plies"], "a ply that was written is gone"
        expected = {"ended": ended, "plies": running[4]}


def test_after_a_failed_write_nothing_more_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    filled(tmp_path)
    with opened(tmp_path) as (store, _):
        with monkeypatch.context() as patch:
            fail_at(patch, 0, OSError(30, "Read-only file system"), after=False)
            with pytest.raises(RunError, match="Read-only file system"):
                store.add_ply(4, ply_of(4, 2))
        with pytest.raises(RunError, match="Read-only file system"):
            store.add_ply(4, ply_of(4, 2))
    with opened(tmp_path) as (store, _):
        assert (games_in(store), plies_in(store)) == FILLED


def test_a_closed_store_takes_nothing_more(tmp_path: Path):
    with opened(tmp_path) as (store, _):
        play(store, 0)
    with pytest.raises(RunError, match="is closed"):
        play(store, 1)


@pytest.mark.parametrize("after", [False, True])
def test_the_making_of_a_store_can_be_cut_off_anywhere(tmp_path: Path, after: bool):
    def act(directory: Path) -> None:
        GameStore(directory, report=print)

    for place in range(count_calls(tmp_path / "counted", act)):
        directory = tmp_path / f"at-{place}"
        with pytest.MonkeyPatch.context() as patch:
            fail_at(patch, place, Killed(), after=after)
            with pytest.raises(Killed):
                act(directory)
        with opened(directory) as (store, messages):
            play(store, 0)
        with opened(directory) as (store, messages):
            assert games_in(store) == [0]
            assert not messages


def test_a_journal_cut_off_anywhere_in_its_last_entry_is_cut_back_and_told(tmp_path: Path):
    origin = prepared(tmp_path)
    journal = origin / "journal-000003.bin"
    whole = journal.stat().st_size
    with opened(origin) as (store, _):
        store.finish_game(8, outcome=1.0, ending="ending 8")
    data = journal.read_bytes()
    for size in range(whole, len(data) + 1):
        journal.write_bytes(data[:size])
        with opened(origin) as (store, messages):
            ended = size == len(data)
            assert games_in(store) == FILLED[0] + [8] * ended
            assert plies_in(store) == {4: 2} | ({} if ended else {8: 4})
        assert len(messages) == (whole < size < len(data))
        for message in messages:
            assert f"journal-000003.bin was cut off while it was written: {size - whole} bytes are removed" in message


# ---- damage


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 0x10
    path.write_bytes(data)


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


@pytest.mark.parametrize("call", ["stat", "read_bytes"])
def test_a_shard_that_cannot_be_read_now_is_an_error_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
):
    filled(tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)}
    original = getattr(Path, call)

    def failing(path: Path, **arguments: object) -> object:
        if path.suffix == ".parquet":
            raise OSError(5, "Input/output error")
        return original(path, **arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Path, call, failing)
        with pytest.raises(RunError, match=r"parquet cannot be read: Input/output error\. Nothing was changed\. See"):
            GameStore(tmp_path, report=print).recent(1000)
    assert before == {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)}
    with opened(tmp_path) as (store, messages):
        assert (games_in(store), plies_in(store)) == FILLED
        assert not messages


def test_each_shard_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    filled(tmp_path)
    read, original = [], Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path.suffix) or original(path))
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
        assert "games may be lost that were not sealed; 0 finished and 0 running ones are left in it" in messages[-1]
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
            named = re.search(r"of games ([0-9, ]+) an entry is lost", messages[0])
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
        assert "of games 0 an entry is lost, they are left out" in messages[0]
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


def test_a_damaged_line_brings_back_no_shard_that_was_not_committed(tmp_path: Path):
    origin = prepared(tmp_path)
    num_calls = count_calls(shutil.copytree(origin, tmp_path / "counted"), lambda d: acts(GameStore(d, report=print)))
    for place in range(num_calls):
        directory = shutil.copytree(origin, tmp_path / f"at-{place}")
        with pytest.MonkeyPatch.context() as patch:
            fail_at(patch, place, Killed(), after=True)
            with pytest.raises(Killed):
                acts(GameStore(directory, report=print))
        flip(directory / MANIFEST, (directory / MANIFEST).stat().st_size - 20)
        with opened(directory) as (store, _):
            finished, running = games_in(store), plies_in(store)
        assert finished in (FILLED[0], [*FILLED[0], 8])
        assert running[4] >= 2
        assert set(running) == ({4} if 8 in finished else {4, 8})


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
    assert [re.search(r"([^/\\]+) was left behind by a seal", message)[1] for message in messages] == [
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
