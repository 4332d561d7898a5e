"""Games to learn from without playing: the split, parts that fit into memory, and damaged shards."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from games_recorded import random_game
from stores_for_tests import filled, flip, names_in
from zerosum.games import make
from zerosum.replay import record_source
from zerosum.replay.batch import make_batch
from zerosum.replay.config import ReplayConfig
from zerosum.replay.game_store import GameStore
from zerosum.replay.record_source import RecordSource, as_played, split_of
from zerosum.replay.records import PLY, GameRecord, PlyFlag, policy_target
from zerosum.replay.shards import read_shard
from zerosum.replay.window import ReplayWindow

GAME = "connect4"
CONFIG = ReplayConfig(dev_share=0.2, test_share=0.1)


@functools.cache
def all_games() -> list[GameRecord]:
    """Random games. Not made when this file is imported: each process of the tests does that."""
    return [random_game(number, random.Random(number)) for number in range(300)]


@functools.cache
def splits() -> list[str]:
    return [split_of(game, CONFIG) for game in all_games()]


def stored(directory: Path, games: Sequence[GameRecord], *, games_per_shard: int) -> None:
    """A store with these games."""
    store = GameStore(directory, report=print)
    for start in range(0, len(games), games_per_shard):
        store.add_games(games[start : start + games_per_shard])
    store.close()


def games_in(window: ReplayWindow) -> set[int]:
    """The numbers of the games with positions in a window."""
    return set(window.sample(30_000, seed=1, step=1).game_ids.tolist())


# ---- the split


def test_the_split_is_by_start_and_moves_alone() -> None:
    shares = {name: splits().count(name) / len(splits()) for name in ("train", "dev", "test")}
    assert shares == pytest.approx({"train": 0.7, "dev": 0.2, "test": 0.1}, abs=0.07)
    again = [dataclasses.replace(game, game_id=game.game_id + 5, outcome=-game.outcome) for game in all_games()]
    assert [split_of(game, CONFIG) for game in again] == splits()
    elsewhere = [dataclasses.replace(game, start="7/7/7/7/3O3/3X3 X") for game in all_games()]
    assert [split_of(game, CONFIG) for game in elsewhere] != splits()


def test_windows_hold_the_games_of_their_split(tmp_path: Path) -> None:
    stored(tmp_path, all_games(), games_per_shard=100)
    source = RecordSource(tmp_path, CONFIG, report=print)
    (part,) = source.parts
    for name, window in {"train": source.window(part), **source.held_out()}.items():
        expected = [game for game, split in zip(all_games(), splits(), strict=True) if split == name]
        assert games_in(window) == {game.game_id for game in expected if game.num_positions}
        assert window.num_positions == sum(game.num_positions for game in expected)


def test_the_first_games_are_held_out_if_there_are_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_source, "MOST_HELD_OUT_GAMES", 10)
    stored(tmp_path, all_games(), games_per_shard=100)
    for name, window in RecordSource(tmp_path, CONFIG, report=print).held_out().items():
        expected = [game for game, split in zip(all_games(), splits(), strict=True) if split == name][:10]
        assert games_in(window) == {game.game_id for game in expected if game.num_positions}


def test_a_held_out_set_is_the_first_games_with_so_many_positions(tmp_path: Path) -> None:
    stored(tmp_path, all_games(), games_per_shard=100)
    config = dataclasses.replace(CONFIG, held_out_set_positions=200)
    source = RecordSource(tmp_path, config, report=print)
    for name, window in source.held_out().items():
        of_split = [game for game, split in zip(all_games(), splits(), strict=True) if split == name]
        sums = list(itertools.accumulate(game.num_positions for game in of_split))
        num_games = next(number for number, positions in enumerate(sums, 1) if positions >= 200)
        assert num_games < len(of_split) and window.num_positions == sums[num_games - 1]
    (part,) = source.parts
    expected = {game.game_id for game, split in zip(all_games(), splits(), strict=True) if split == "train"}
    assert games_in(source.window(part)) <= expected, "no held-out game is learned from, whether it is measured or not"


# ---- parts


@pytest.mark.parametrize(
    ("games_in_memory", "sizes"),
    [(1, [1, 1, 1, 1, 1]), (59, [1, 1, 1, 1, 1]), (119, [1, 1, 1, 1, 1]), (120, [2, 2, 1]), (500, [5])],
)
def test_parts_are_as_large_as_fits(tmp_path: Path, games_in_memory: int, sizes: list[int]) -> None:
    """Shards of 60 games, of which each part has at least one."""
    stored(tmp_path, all_games(), games_per_shard=60)
    config = dataclasses.replace(CONFIG, games_in_memory=games_in_memory)
    source = RecordSource(tmp_path, config, report=print)
    assert [len(part.seals) for part in source.parts] == sizes
    assert [seal.number for part in source.parts for seal in part.seals] == [1, 2, 3, 4, 5]
    for part in source.parts:
        # It is estimated by the split's share.
        assert source.window(part).num_positions == pytest.approx(part.num_positions, rel=0.2)
    assert sum(part.num_positions for part in source.parts) == pytest.approx(0.7 * source.num_positions, abs=5)
    assert source.num_games == 300 and source.num_positions == sum(game.num_positions for game in all_games())


def test_the_first_game_tells_which_game_it_is(tmp_path: Path) -> None:
    assert RecordSource(tmp_path / "empty", CONFIG, report=print).first_game() is None
    stored(tmp_path / "some", all_games()[:3], games_per_shard=2)
    game = RecordSource(tmp_path / "some", CONFIG, report=print).first_game()
    assert game is not None and game.game_id == 0


def test_a_damaged_shard_is_left_out_and_reported_once(tmp_path: Path) -> None:
    filled(tmp_path)
    reports: list[str] = []
    source = RecordSource(tmp_path, ReplayConfig(dev_share=0.0, test_share=0.0), report=reports.append)
    first, *others = names_in(tmp_path, "*.parquet")
    whole = sum(record.num_positions for name in others for record in read_shard(tmp_path / name))
    flip(tmp_path / first, 100)
    for _ in range(2):
        (part,) = source.parts
        assert source.window(part).num_positions == whole
    (said,) = reports
    assert first in said and said.endswith("Its 2 games are left out.")


def test_games_of_the_journal_are_learned_from_too(tmp_path: Path) -> None:
    """They are sealed; a running game is none."""
    filled(tmp_path)
    source = RecordSource(tmp_path, ReplayConfig(dev_share=0.0, test_share=0.0), report=print)
    assert sum(len(part.seals) for part in source.parts) == len(names_in(tmp_path, "*.parquet")) == 3
    (part,) = source.parts
    assert games_in(source.window(part)) == {0, 1, 2, 3, 5, 6, 7}
    assert part.num_positions == source.num_positions == source.window(part).num_positions


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux counts open files so")
def test_a_source_keeps_no_file_open(tmp_path: Path) -> None:
    filled(tmp_path)
    before = len(list(Path("/proc/self/fd").iterdir()))
    sources = [RecordSource(tmp_path, CONFIG, report=print) for _ in range(3)]
    assert len(list(Path("/proc/self/fd").iterdir())) == before and len(sources) == 3


def test_a_window_of_records_holds_them_all_whatever_the_settings_of_play(tmp_path: Path) -> None:
    stored(tmp_path, all_games(), games_per_shard=100)
    small = dataclasses.replace(CONFIG, window_min_positions=10, window_growth_factor=0.0, window_games=3)
    whole = RecordSource(tmp_path, CONFIG, report=print)
    source = RecordSource(tmp_path, small, report=print)
    assert source.window(source.parts[0]).num_positions == whole.window(whole.parts[0]).num_positions
    assert source.held_out()["dev"].num_positions == whole.held_out()["dev"].num_positions


def test_no_more_shards_are_read_than_hold_the_first_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored(tmp_path, all_games(), games_per_shard=30)
    monkeypatch.setattr(record_source, "MOST_HELD_OUT_GAMES", 2)
    read = list[Path]()
    source = RecordSource(tmp_path, CONFIG, report=print)
    monkeypatch.setattr(record_source, "read_shard", lambda path: (read.append(path), read_shard(path))[1])
    source.held_out()
    needed = max([number for number, split in enumerate(splits()) if split == name][2] for name in ("dev", "test"))
    assert len(read) <= needed // 30 + 1 < 10
    read.clear()
    source.first_game()
    assert len(read) == 1


# ---- targets


def record(values: list[float | None], outcome: float) -> GameRecord:
    plies = np.zeros(len(values), PLY)
    plies["action"] = range(len(values))
    plies["player"] = np.arange(len(values)) % 2
    plies["search_value"] = [value or 0.0 for value in values]
    evaluated = PlyFlag.RECORDED | PlyFlag.EVALUATED
    plies["flags"] = [PlyFlag.RECORDED if value is None else evaluated for value in values]
    spec = make(GAME).spec
    targets = policy_target([1, 2] * len(values), [0.25, 0.75] * len(values), [0] * 2 * len(values))
    return GameRecord(
        game_id=0,
        game=spec.name,
        game_version=spec.version,
        options=spec.options,
        start="",
        settings_hash="",
        seed=0,
        plies=plies,
        targets=targets,
        target_offsets=np.arange(0, 2 * len(values) + 1, 2, dtype=np.int64),
        outcome=outcome,
        ending="",
    )


def test_a_position_without_an_evaluation_learns_the_result_alone() -> None:
    window = ReplayWindow(ReplayConfig())
    window.add(record([0.5, None, -0.5, None], outcome=1.0))
    samples = window.sample(200, seed=1, step=1)
    batch = make_batch(make(GAME), samples, search_value_weight=0.5)
    plies = np.diff(samples.action_offsets)
    expected = np.array([(1 + 0.5) / 2, -1, (1 - 0.5) / 2, -1], np.float32)
    assert batch.targets["value"] == pytest.approx(expected[plies])


def test_returns_pass_over_positions_without_an_evaluation() -> None:
    window = ReplayWindow(ReplayConfig())
    window.add(record([None, 0.25, None], outcome=-1.0))
    samples = window.sample(100, seed=0, step=0)
    expected = np.array([-1, 1, -1], np.float32)
    assert samples.returns == pytest.approx(expected[np.diff(samples.action_offsets)])


def test_moves_that_were_played_replace_shares() -> None:
    shares = record([None, 0.1], outcome=0.0)
    played = as_played(shares)
    assert played.targets["action"].tolist() == [0, 1] and played.targets["probability"].tolist() == [1, 1]
    opening = dataclasses.replace(
        shares, targets=shares.targets[2:], target_offsets=np.array([0, 0, 2], dtype=np.int64)
    )
    played = as_played(opening)
    assert played.targets["action"].tolist() == [1] and played.target_offsets.tolist() == [0, 0, 1]


def test_a_source_of_moves_has_no_shares(tmp_path: Path) -> None:
    stored(tmp_path, all_games()[:20], games_per_shard=20)
    for target, largest in (("recorded", False), ("move", True)):
        source = RecordSource(tmp_path, ReplayConfig(policy_target=target), report=print)  # type: ignore[arg-type]
        samples = source.window(source.parts[0]).sample(100, seed=1, step=1)
        assert bool((samples.policies.probabilities == 1).all()) == largest
