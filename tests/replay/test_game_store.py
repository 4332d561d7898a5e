"""The store: what is played is there again, in shards that any data tool reads."""

import inspect
import itertools
import os
import re
import threading
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores_for_tests import (
    FILLED,
    add_ply,
    filled,
    flip,
    games_in,
    header_of,
    names_in,
    opened,
    play,
    plies_in,
    ply_of,
    record_of,
    same,
    start,
)
from zerosum.base.errors import DataError, RunError
from zerosum.replay import GameRecord, ReplayConfig
from zerosum.replay.game_store import GameStore
from zerosum.replay.journal import SYNC_INTERVAL_S, parse_journal, record_entries
from zerosum.replay.records import packed_ply
from zerosum.replay.shards import FORMAT, decode_shard, encode_shard, read_manifest, read_shard

# ---- shards


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6))
def test_records_survive_a_shard(sizes):
    records = [record_of(game_id, size) for game_id, size in enumerate(sizes)]
    for record, other in zip(records, decode_shard(encode_shard(records), Path("shard")), strict=True):
        same(record, other)


def test_any_tool_reads_the_columns(tmp_path: Path):
    filled(tmp_path)
    first, second = names_in(tmp_path, "*.parquet")
    table = pq.read_table(tmp_path / first)
    assert table.schema.metadata[b"zerosum.format"] == str(FORMAT).encode()
    assert table["game_id"].to_pylist() == [0, 1]
    record = record_of(1)
    row = {name: table[name][1].as_py() for name in table.column_names}
    assert row["actions"] == record.plies["action"].tolist()
    assert row["outcome"] == record.outcome
    assert str(table.schema.field("actions").type.value_type) == "uint16"
    assert str(table.schema.field("target_visits").type.value_type.value_type) == "uint32"
    assert str(table.schema.field("target_probabilities").type.value_type.value_type) == "float"
    bounds = itertools.pairwise(record.target_offsets)
    assert row["target_probabilities"] == [record.targets["probability"][a:b].tolist() for a, b in bounds]
    lists = {
        *("actions", "players", "checkpoint_steps", "search_values", "net_values", "num_simulations", "flags"),
        *("target_actions", "target_probabilities", "target_visits"),
    }
    assert set(row) == {entry.name for entry in fields(GameRecord)} - {"plies", "targets", "target_offsets"} | lists
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
        add_ply(store, 4, 2, ply_of(4, 2))
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


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux counts open files so")
def test_a_store_has_one_file_open(tmp_path: Path):
    def num_open() -> int:
        return len(os.listdir("/proc/self/fd"))

    with opened(tmp_path):
        pass  # imports what it needs
    before = num_open()
    with opened(tmp_path, games_per_shard=2) as (store, _):
        for game_id in range(7):
            play(store, game_id)
            assert num_open() == before + 1
    assert num_open() == before


def test_games_that_a_kill_kept_from_being_sealed_are_sealed_at_once(tmp_path: Path):
    filled(tmp_path)
    with opened(tmp_path, games_per_shard=3) as (store, messages):
        assert [seal.num_games for seal in read_manifest(tmp_path).seals] == [2, 2, 3]
        assert (games_in(store), plies_in(store)) == FILLED
        assert not messages


def test_games_from_a_number_on_are_played_again(tmp_path: Path):
    """Replayed games count at their end without being written again, and a game that differs is refused."""
    with opened(tmp_path, games_per_shard=2) as (store, _):
        for game_id in range(5):
            play(store, game_id)
        start(store, 5, 3)
    before = {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)}
    with opened(tmp_path, games_per_shard=2) as (store, _):
        store.replay_from(3)
        assert games_in(store) == [0, 1, 2]
        assert [record.game_id for record in store.recent(num_games=3)] == [0, 1, 2]
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
                    add_ply(store, game_id, index, ply_of(game_id, index))
                store.finish_game(game_id, outcome=game_id % 3 - 1.0, ending=f"ending {game_id}")

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with opened(tmp_path) as (store, messages):
        assert sorted(games_in(store)) == list(range(40))
        assert not messages


def expected_recent(groups: list[list[int]], is_enough: Callable[[list[int]], bool]) -> list[int]:
    """The newest groups of games that are enough, or all, by a plain loop."""
    taken = groups[-1]
    for group in reversed(groups[:-1]):
        if is_enough(taken):
            break
        taken = [*group, *taken]
    return taken


@pytest.mark.parametrize("first_replayed", [8, 6, 3])
def test_recent_games_are_as_many_as_asked_for_and_no_more_shards(tmp_path: Path, first_replayed: int):
    """Those that are to be played again do not count. The last group is in the journal."""
    groups = [[0, 1, 2], [3, 4, 5], [6, 7]]
    with opened(tmp_path, games_per_shard=3) as (store, _):
        for game_id in range(8):
            play(store, game_id)
        store.replay_from(first_replayed)
        kept = [[game_id for game_id in group if game_id < first_replayed] for group in groups]
        assert store.num_games == first_replayed
        for num_games in range(9):
            found = [record.game_id for record in store.recent(num_games=num_games)]
            assert found == expected_recent(kept, lambda games: len(games) >= num_games)  # noqa: B023
        for num_positions in range(store.num_positions + 3):
            found = [record.game_id for record in store.recent(num_positions)]
            assert found == expected_recent(
                kept,
                lambda games: sum(record_of(game_id).num_positions for game_id in games) >= num_positions,  # noqa: B023
            )


def test_games_again_and_new_ones_take_their_plies_with_one_call(tmp_path: Path):
    with opened(tmp_path, games_per_shard=2) as (store, _):
        for game_id in range(3):
            play(store, game_id)
    with opened(tmp_path, games_per_shard=2) as (store, _):
        store.replay_from(1)
        ids = [3, 1, 4, 2]
        for game_id in ids:
            store.start_game(header_of(game_id))
        for index in range(6):
            going = [game_id for game_id in ids if index < record_of(game_id).num_plies]
            store.add_plies(going, [packed_ply(game_id, index, ply_of(game_id, index)) for game_id in going])
        assert games_in(store) == [0]
        for game_id, games in ((1, [0, 1]), (3, [0, 1, 3]), (2, [0, 1, 2, 3]), (4, [0, 1, 2, 3, 4])):
            record = record_of(game_id)
            same(store.finish_game(game_id, outcome=record.outcome, ending=record.ending), record)
            assert sorted(games_in(store)) == games
    with opened(tmp_path) as (store, messages):
        assert sorted(games_in(store)) == [0, 1, 2, 3, 4]
        assert not messages


def test_openings_are_the_first_plies_on_disk_and_again(tmp_path: Path):
    def opening(game_id: int) -> list[bytes]:
        return [packed_ply(game_id, index, ply_of(game_id, index)) for index in range(2)]

    def go_on(store: GameStore, game_id: int) -> None:
        record = record_of(game_id)
        store.start_game(header_of(game_id), opening(game_id))
        for index in range(2, record.num_plies):
            add_ply(store, game_id, index, ply_of(game_id, index))
        same(store.finish_game(game_id, outcome=record.outcome, ending=record.ending), record)

    with opened(tmp_path) as (store, _):
        go_on(store, 3)
        store.start_game(header_of(4), opening(4))
        assert plies_in(store) == {4: 2}
    with opened(tmp_path) as (store, messages):
        assert (games_in(store), plies_in(store)) == ([3], {4: 2})
        store.replay_from(3)
        assert games_in(store) == []
        go_on(store, 3)
        assert games_in(store) == [3]
        assert not messages


def test_numbers_of_games_are_above_all_there_were(tmp_path: Path):
    """Whatever the order in which they start, end, are taken or added."""
    with opened(tmp_path, games_per_shard=2) as (store, _):
        assert store.next_game_id == 0
        for game_id, following in ((4, 5), (1, 5), (5, 6)):
            start(store, game_id, 1)
            assert store.next_game_id == following
        for numbers, following in (([9, 7], 10), ([8], 10)):
            taken = [record_of(number) for number in numbers]
            store.take_games(taken, [b"".join(record_entries(record)) for record in taken])
            assert store.next_game_id == following
        store.add_game(record_of(10))
        store.add_games([record_of(11), record_of(12)])
        assert store.next_game_id == 13
        assert sorted(games_in(store)) == [7, 8, 9, 10, 11, 12]
    with opened(tmp_path) as (store, messages):
        assert (sorted(games_in(store)), store.next_game_id) == ([7, 8, 9, 10, 11, 12], 13)
        assert plies_in(store) == {1: 1, 4: 1, 5: 1}
        assert not messages


def test_taken_games_end_those_in_flight(tmp_path: Path):
    with opened(tmp_path, games_per_shard=3) as (store, _):
        start(store, 0, 1)
        start(store, 1, 1)
        for number in (1, 2):
            record = record_of(number)
            store.take_games([record], [b"".join(record_entries(record))])
        assert (games_in(store), plies_in(store)) == ([1, 2], {0: 1})
        assert not read_manifest(tmp_path).seals
    with opened(tmp_path) as (store, messages):
        assert (games_in(store), plies_in(store)) == ([1, 2], {0: 1})
        assert not messages


def test_shards_have_their_number_of_games_however_they_come(tmp_path: Path):
    with opened(tmp_path, games_per_shard=2) as (store, _):
        sizes = []
        for number in range(4):
            store.add_game(record_of(number))
            sizes.append([seal.num_games for seal in read_manifest(tmp_path).seals])
        assert sizes == [[], [2], [2], [2, 2]]
        more = [record_of(number) for number in range(4, 9)]
        store.take_games(more[:1], [b"".join(record_entries(more[0]))])
        store.take_games(more[1:], [b"".join(record_entries(record)) for record in more[1:]])
        assert [seal.num_games for seal in read_manifest(tmp_path).seals] == [2, 2, 5]
        store.add_games([record_of(9)])
        assert [seal.num_games for seal in read_manifest(tmp_path).seals] == [2, 2, 5, 1]


def test_forgotten_games_are_gone_with_the_next_seal(tmp_path: Path):
    with opened(tmp_path) as (store, _):
        start(store, 0, 1)
        play(store, 1)
        store.forget_running()
        assert (games_in(store), plies_in(store)) == ([1], {})
        store.seal()
    with opened(tmp_path) as (store, messages):
        assert (games_in(store), plies_in(store), store.next_game_id) == ([1], {}, 2)
        assert not messages


def test_the_running_games_are_copies(tmp_path: Path):
    with opened(tmp_path) as (store, _):
        start(store, 0, 2)
        store.running[0].plies.append(ply_of(0, 2))
        assert plies_in(store) == {0: 2}


def test_the_stores_clock_and_its_callers_say_when_it_is_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Also after a seal, which begins another journal."""
    now, synced = [0.0], list[float]()
    store = GameStore(tmp_path, report=print, games_per_shard=2, clock=lambda: now[0])
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (synced.append(now[0]), fsync(file)))
    for _ in range(2):
        synced.clear()
        first = store.next_game_id
        start(store, first, 1)
        assert not synced
        now[0] += 2 * SYNC_INTERVAL_S
        add_ply(store, first, 1, ply_of(first, 1))
        assert synced == [now[0]]
        add_ply(store, first, 2, ply_of(first, 2))
        store.sync()
        assert len(synced) == 2
        for number in (first + 1, first + 2):
            play(store, number)
        assert len(read_manifest(tmp_path).seals) == first // 3 + 1
    store.close()
    store.close()


def test_a_store_without_settings_seals_as_the_settings_do():
    default = inspect.signature(GameStore).parameters["games_per_shard"].default
    assert default == ReplayConfig().games_per_shard
