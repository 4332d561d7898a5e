"""The store: what is played is there again, in shards that any data tool reads."""

import itertools
import os
import re
import threading
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
from zerosum.replay import GameRecord
from zerosum.replay.journal import parse_journal
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
