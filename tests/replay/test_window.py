"""The window holds the newest positions and draws from them evenly."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from games_recorded import random_game, record_of
from samples_for_tests import columns_of, rows
from stores_for_tests import add_ply
from zerosum.base.errors import SettingsError
from zerosum.replay import ReplayConfig, ReplayWindow
from zerosum.replay import window as replay
from zerosum.replay.config import needed, window_size
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import GameRecord

# ---- the window's size


def test_the_growth_curve_by_hand():
    config = ReplayConfig(window_min_positions=100, window_growth_exponent=0.5, window_growth_factor=0.4)
    # 100 * (1 + 0.4 * ((n / 100) ** 0.5 - 1) / 0.5): for n = 400 the root is 2, so 100 * (1 + 0.8) = 180
    assert [window_size(n, config) for n in (0, 1, 100, 400, 900, 10_000)] == [0, 1, 100, 180, 260, 820]


def test_a_fixed_window_and_one_of_everything():
    fixed = ReplayConfig(window_min_positions=50, window_growth_factor=0.0)
    everything = ReplayConfig(window_min_positions=50, window_growth_exponent=1.0, window_growth_factor=1.0)
    for total in (1, 49, 50, 51, 333, 10**7, 123_456_789):
        assert window_size(total, fixed) == min(total, 50)
        assert window_size(total, everything) == total


@given(st.integers(1, 10**6), st.floats(0.1, 1), st.floats(0, 1), st.integers(0, 10**9), st.integers(0, 10**6))
def test_a_position_that_left_never_comes_back(smallest, exponent, factor, total, more):
    config = ReplayConfig(window_min_positions=smallest, window_growth_exponent=exponent, window_growth_factor=factor)
    before, after = window_size(total, config), window_size(total + more, config)
    assert before <= after <= before + more


def test_settings_are_checked():
    with pytest.raises(SettingsError, match=r"replay.search_value_weight is 1.5, but must be between 0.0 and 1.0"):
        ReplayConfig(search_value_weight=1.5)
    with pytest.raises(SettingsError, match=r"replay.window_growth_factor is -0.1"):
        ReplayConfig(window_growth_factor=-0.1)


# ---- the window's content


SMALL = ReplayConfig(window_min_positions=20, window_growth_exponent=0.5, window_growth_factor=0.5)


def content(window: ReplayWindow):
    """The positions in the window as (game_id, ply), found by drawing until all have come up."""
    samples = window.sample(60 * window.num_positions, seed=3, step=4)
    found = set(zip(samples.game_ids.tolist(), np.diff(samples.action_offsets).tolist(), strict=True))
    assert len(found) == window.num_positions
    return found


def positions(records):
    """The same by a plain loop, oldest first."""
    return [
        (record.game_id, ply)
        for record in records
        for ply in range(record.num_plies)
        if record.target_offsets[ply + 1] > record.target_offsets[ply]
    ]


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_it_holds_the_newest_positions(monkeypatch: pytest.MonkeyPatch, block: int):
    monkeypatch.setattr(replay, "_BLOCK_POSITIONS", block)
    window, records, draw = ReplayWindow(SMALL), [], random.Random(5)
    for game_id in range(12):
        records.append(random_game(game_id, draw))
        window.add(records[-1])
        known = positions(records)
        assert window.total_positions == len(known)
        assert window.num_positions == window_size(len(known), SMALL)
        assert content(window) == set(known[-window.num_positions :])


def test_a_window_of_games_holds_the_newest_games():
    window, records, draw = ReplayWindow(ReplayConfig(window_games=3)), [], random.Random(5)
    for game_id in range(8):
        records.append(random_game(game_id, draw))
        window.add(records[-1])
        assert content(window) == set(positions(records[-3:]))
        assert window.total_positions == len(positions(records))


def weight_of(record: GameRecord) -> float:
    """A quarter for every third game."""
    return 0.25 if record.game_id % 3 == 0 else 1.0


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_light_positions_take_less_room(monkeypatch: pytest.MonkeyPatch, block: int):
    """The twin adds up weights from the newest position on."""
    monkeypatch.setattr(replay, "_BLOCK_POSITIONS", block)
    window, records, draw = ReplayWindow(SMALL, weight_of=weight_of), [], random.Random(5)
    for game_id in range(30):
        records.append(random_game(game_id, draw))
        window.add(records[-1])
        known = [(position, weight_of(record)) for record in records for position in positions([record])]
        total = sum(weight for _, weight in known)
        assert window.total_positions == len(known)
        assert (window.total_weight, window.missing_weight) == (total, len(known) - total)
        room, held = window_size(total, SMALL), []
        for position, weight in reversed(known):
            room -= weight
            if room < 0:
                break
            held.append(position)
        assert window.num_positions == len(held)
        assert content(window) == set(held)


def test_positions_are_drawn_by_weight():
    """Also where all are light; the draws of a window of full weights are those of the time before weights."""
    games = [random_game(game_id, random.Random(game_id)) for game_id in range(4)]
    for kept, shares in ((games, [0.25, 1, 1, 0.25]), (games[:1], [1])):
        window = ReplayWindow(ReplayConfig(), weight_of=weight_of)
        for game in kept:
            window.add(game)
        num_draws = 20_000
        drawn = np.bincount(window.sample(num_draws, seed=3, step=1).game_ids, minlength=len(kept))
        weights = [share * game.num_positions for share, game in zip(shares, kept, strict=True)]
        expected = num_draws * np.array(weights) / sum(weights)
        assert (np.abs(drawn - expected) < 5 * np.sqrt(expected)).all(), (drawn, expected)
    assert weight_of(games[0]) == 0.25


@pytest.mark.parametrize("block", [1, 40, 1000])
def test_what_has_left_the_window_leaves_no_trace(monkeypatch: pytest.MonkeyPatch, block: int):
    """Neither light games nor full ones: the draws are those of a window that never had them."""
    monkeypatch.setattr(replay, "_BLOCK_POSITIONS", block)
    draw, config = random.Random(4), ReplayConfig(window_games=3)
    records = [random_game(game_id, draw) for game_id in range(12)]
    for lights in ((0, 1, 4), (6, 9, 11), range(8, 12)):
        window = ReplayWindow(config, weight_of=lambda record: 0.25 if record.game_id in lights else 1.0)  # noqa: B023
        for record in records:
            window.add(record)
            newest = records[max(0, record.game_id - 2) : record.game_id + 1]
            fresh = ReplayWindow(config, weight_of=lambda record: 0.25 if record.game_id in lights else 1.0)  # noqa: B023
            fresh.load(newest, total_positions=window.total_positions, missing_weight=window.missing_weight)
            assert (fresh.num_positions, fresh.total_weight) == (window.num_positions, window.total_weight)
            assert rows(fresh.sample(40, seed=1, step=2)) == rows(window.sample(40, seed=1, step=2))


def test_games_without_positions_take_their_place_among_games():
    config = ReplayConfig(window_games=2)
    window, empty = ReplayWindow(config), [{}] * 3
    for game_id, targets in enumerate((None, empty, None, empty, None)):
        window.add(record_of(game_id, [0, 1, 2], targets=targets))
        held = {number for number in (game_id - 1, game_id) if number in (0, 2, 4)}
        assert set(window.sample(50, seed=1, step=1).game_ids.tolist()) == held
        assert window.num_positions == 3 * len(held)


def test_different_light_weights_differ():
    games = [random_game(game_id, random.Random(game_id)) for game_id in range(2)]
    window = ReplayWindow(ReplayConfig(), weight_of=lambda record: (0.25, 0.5)[record.game_id])
    for game in games:
        window.add(game)
    first, second = np.bincount(window.sample(20_000, seed=3, step=1).game_ids)
    assert second / first == pytest.approx(2 * games[1].num_positions / games[0].num_positions, rel=0.1)


def test_each_position_gets_its_share_while_it_passes_through():
    """As in a run: so many draws as the weights of the new positions, times three, and first the light ones."""
    config = ReplayConfig(window_min_positions=600, window_growth_factor=0.0)
    window = ReplayWindow(config, weight_of=lambda record: 0.25 if record.game_id < 1600 else 1.0)
    draws, step, num_drawn = np.zeros(2000), 0, 0
    for game_id in range(2000):
        window.add(record_of(game_id, [0, 1, 2, 3, 4]))
        while num_drawn + 5 <= 3 * window.total_weight:
            draws += np.bincount(window.sample(5, seed=1, step=step).game_ids, minlength=2000)
            step, num_drawn = step + 1, num_drawn + 5
    positions_a_game = record_of(0, [0, 1, 2, 3, 4]).num_positions
    # Games that came when the window was full and have left it; the light ones in the middle leave when others play.
    early, late, full = draws[500:1000], draws[1100:1600], draws[1600:1800]
    assert early.mean() / positions_a_game == pytest.approx(3 * 0.25, rel=0.1)
    assert late.mean() / positions_a_game == pytest.approx(3 * 0.25, rel=0.1)
    assert full.mean() / positions_a_game == pytest.approx(3, rel=0.1)


def test_its_memory_stays_flat(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(replay, "_BLOCK_POSITIONS", 64)
    window = ReplayWindow(ReplayConfig(window_min_positions=200, window_growth_factor=0.0))
    for game_id in range(300):
        window.add(record_of(game_id, [0, 1, 2, 3, 4]))
        assert sum(len(block) for block in window._blocks) < 200 + 2 * (64 + 5)
    closed = window._blocks[:-1]
    assert all(len(block.rows._buffer) == len(block) for block in closed)


@pytest.mark.parametrize("least_weight", [1.0, 0.25], ids=["equal weights", "weights"])
@pytest.mark.parametrize("config", [SMALL, ReplayConfig(window_games=6)], ids=["positions", "games"])
def test_a_restored_window_draws_the_same(tmp_path: Path, config: ReplayConfig, least_weight: float):
    draw = random.Random(6)
    records = [random_game(game_id, draw) for game_id in range(14 if least_weight == 1 else 60)]
    weights = {} if least_weight == 1 else {"weight_of": weight_of}
    window = ReplayWindow(config, **weights)
    with_store = GameStore(tmp_path, report=print, games_per_shard=4)
    for record in records:
        window.add(record)
        with_store.start_game(record.header)
        for index in range(record.num_plies):
            add_ply(with_store, record.game_id, index, record.ply(index))
        with_store.finish_game(record.game_id, outcome=record.outcome, ending=record.ending)
    with_store.close()

    store, restored = GameStore(tmp_path, report=print), ReplayWindow(config, **weights)
    total = store.num_positions
    recent = list(store.recent(**needed(total, config, least_weight=least_weight)))
    assert len(recent) < len(records), "older games need not be read"
    restored.load(recent, total_positions=total, missing_weight=window.missing_weight)
    for step in range(3):
        assert (restored.num_positions, restored.total_positions) == (window.num_positions, window.total_positions)
        one, other = window.sample(50, seed=1, step=step), restored.sample(50, seed=1, step=step)
        assert columns_of(one).keys() == columns_of(other).keys()
        for name, column in columns_of(one).items():
            assert np.array_equal(column, columns_of(other)[name]), name
        record = random_game(100 + step, draw)
        window.add(record)
        restored.add(record)


# ---- drawing


def test_every_position_is_as_likely():
    window, draw = ReplayWindow(SMALL), random.Random(7)
    for game_id in range(4):
        window.add(random_game(game_id, draw))
    num_draws = 400 * window.num_positions
    samples = window.sample(num_draws, seed=11, step=0)
    drawn = samples.game_ids * 100 + np.diff(samples.action_offsets)
    _, counts = np.unique(drawn, return_counts=True)
    assert len(counts) == window.num_positions
    freedom = window.num_positions - 1
    chi_square = ((counts - 400) ** 2 / 400).sum()
    assert abs(chi_square - freedom) < 3 * (2 * freedom) ** 0.5


def test_a_draw_is_a_function_of_seed_and_step():
    window = ReplayWindow(SMALL)
    for game_id in range(4):
        window.add(record_of(game_id, [3] * 6))

    def drawn(seed, step):
        samples = window.sample(64, seed=seed, step=step)
        return (samples.game_ids * 100 + np.diff(samples.action_offsets)).tolist()

    assert drawn(1, 2) == drawn(1, 2)
    assert len({tuple(drawn(*key)) for key in [(1, 2), (2, 1), (1, 3), (2**64 - 1, 0)]}) == 4
