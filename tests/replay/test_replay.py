"""The window holds the newest positions and draws from them evenly; batches say of each what its mover should learn."""

import dataclasses
import itertools
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from games_recorded import random_game, record_of
from stores_for_tests import add_ply
from zerosum._core import Game
from zerosum.base.errors import DataError, GameError, SettingsError
from zerosum.games import make, start_state
from zerosum.games.random_play import random_leaves
from zerosum.replay import Batch, ReplayConfig, ReplayWindow, Samples, make_batch
from zerosum.replay import window as replay
from zerosum.replay.batch import empty_batch
from zerosum.replay.blocks import returns_of
from zerosum.replay.config import needed, window_size
from zerosum.replay.game_store import GameStore
from zerosum.replay.owners import WholeGames, owners_by_rules
from zerosum.replay.records import GameRecord, require_game
from zerosum.replay.samples import permuted

STARTS = ("", "7/7/7/7/3O3/3X3 X", "7/7/7/7/7/X6 O")


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


def columns_of(samples: Samples) -> dict[str, Any]:
    """Every array of the samples by its name, those of the policies as `policies.COLUMN`."""
    columns = {name: column for name, column in vars(samples).items() if name != "policies"}
    return columns | {f"policies.{column}": values for column, values in vars(samples.policies).items()}


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


# ---- images


def split(values, offsets):
    """The rows of a ragged array."""
    return [part.tolist() for part in np.split(values, offsets[1:-1])]


def rows(samples: Samples):
    """(moves, target's actions) of each sample."""
    moves = split(samples.actions, samples.action_offsets)
    return list(zip(moves, split(samples.policies.actions, samples.policies.offsets), strict=True))


@pytest.mark.parametrize("name", ["connect4", "tictactoe"])
def test_an_image_is_the_same_game_with_its_actions_permuted(name: str):
    game, window, draw = Game(name), ReplayWindow(ReplayConfig()), random.Random(9)
    for game_id in range(6):
        window.add(random_game(game_id, draw, name))
    samples = window.sample(300, seed=1, step=2)
    images = permuted(samples, game.spec.symmetries, seed=1, step=2)
    identity = list(range(game.spec.num_actions))
    num_moved = 0
    for (moves, target), (image_moves, image_target) in zip(rows(samples), rows(images), strict=True):
        # One symmetry takes moves and target along; where a position has few moves, several may fit.
        assert any(
            [symmetry[action] for action in moves] == image_moves
            and [symmetry[action] for action in target] == image_target
            for symmetry in (identity, *game.spec.symmetries)
        )
        state = game.initial_state()
        for action in image_moves:
            state = game.play(state, action)
        assert set(image_target) <= set(game.legal_actions(state))
        num_moved += (moves, target) != (image_moves, image_target)
    assert 0 < num_moved < 300
    images_columns = columns_of(images)
    for column, values in columns_of(samples).items():
        assert (images_columns[column] is values) == (column not in ("actions", "policies.actions")), column


def test_a_sample_and_its_images_have_equal_chances():
    """A first move beside a corner and a second one into it look different in all eight images."""
    window, symmetries = ReplayWindow(ReplayConfig()), Game("tictactoe").spec.symmetries
    window.add(record_of(0, [1, 0, 4], targets=[{}, {}, {4: 1.0}]))
    samples = window.sample(4000, seed=5, step=6)
    seen = Counter((*moves, *target) for moves, target in rows(permuted(samples, symmetries, seed=5, step=6)))
    assert set(seen) == {(symmetry[1], symmetry[0], 4) for symmetry in (list(range(9)), *symmetries)}
    assert sum((count - 500) ** 2 / 500 for count in seen.values()) < 24.3  # 7 degrees of freedom: 0.1 % of seeds fail


def test_which_image_is_shown_does_not_depend_on_which_position_was_drawn():
    """Both are drawn with the same seed and step. With one stream for both, a position would have one image only."""
    window, symmetries = ReplayWindow(ReplayConfig()), Game("tictactoe").spec.symmetries
    for game_id in range(8):
        window.add(record_of(game_id, [1, 0, 4], targets=[{}, {}, {4: 1.0}]))
    samples = window.sample(6400, seed=5, step=6)
    images = [tuple(moves) for moves, _ in rows(permuted(samples, symmetries, seed=5, step=6))]
    pairs = Counter(zip(samples.game_ids.tolist(), images, strict=True))
    assert len(pairs) == 64
    assert sum((count - 100) ** 2 / 100 for count in pairs.values()) < 103.4  # 63 degrees of freedom: 0.1 % fail


def test_images_are_a_function_of_seed_and_step():
    window, symmetries = ReplayWindow(ReplayConfig()), Game("connect4").spec.symmetries
    window.add(record_of(0, [0, 1, 2]))
    samples = window.sample(64, seed=0, step=0)
    first, again = (permuted(samples, symmetries, seed=1, step=2).actions.tolist() for _ in range(2))
    assert first == again
    assert len({tuple(permuted(samples, symmetries, seed=1, step=step).actions.tolist()) for step in range(5)}) == 5
    assert permuted(samples, [], seed=1, step=2) is samples


# ---- batches


def batch_twin(game: Game, records, samples: Samples, q: float):
    """The batch of `make_batch`, computed position by position from the records."""
    by_id = {record.game_id: record for record in records}
    rows = []
    for game_id, ply in zip(samples.game_ids.tolist(), np.diff(samples.action_offsets).tolist(), strict=True):
        record = by_id[game_id]
        state = game.parse_position(record.start) if record.start else game.initial_state()
        for action in record.plies["action"][:ply].tolist():
            state = game.play(state, action)
        outcome = record.outcome if game.player(state) == 0 else -record.outcome
        policy, legal = np.zeros(game.spec.num_actions), np.zeros(game.spec.num_actions, bool)
        legal[game.legal_actions(state)] = True
        ply_record = record.ply(ply)
        for action, share in zip(ply_record.target["action"], ply_record.target["probability"], strict=True):
            policy[action] = share
        value = (1 - q) * outcome + q * ply_record.search_value
        rows.append((game.planes(state), legal, policy, value, float(outcome == 0)))
    return [np.array(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("q", [0.0, 0.5, 1.0])
def test_a_batch_equals_its_twin(monkeypatch: pytest.MonkeyPatch, q: float):
    monkeypatch.setattr(replay, "_BLOCK_POSITIONS", 30)
    game, window, draw = Game("connect4"), ReplayWindow(ReplayConfig()), random.Random(8)
    records = [random_game(game_id, draw, start=STARTS[game_id // 2 % 3]) for game_id in range(8)]
    for record in records:
        window.add(record)
    samples = window.sample(128, seed=5, step=9)
    assert set(samples.starts) == set(STARTS)
    batch = make_batch(game, samples, search_value_weight=q)
    planes, legal_mask, policy, *targets = batch_twin(game, records, samples, q)
    assert (batch.planes() == planes).all()
    assert (np.flatnonzero(legal_mask) == batch.legal_indices()).all()
    policy_BA = batch.policies.dense(game.spec.num_actions)
    assert (policy_BA == policy).all() and (np.flatnonzero(policy) == np.sort(batch.policy_indices())).all()
    for name, expected in zip(("value", "draws"), targets, strict=True):
        assert (batch.targets[name] == expected).all(), name
    assert policy_BA.sum(axis=1) == pytest.approx(1.0, abs=0.003)
    assert not policy_BA[~legal_mask].any()


def test_a_part_of_a_batch_has_its_samples():
    game, window, draw = Game("connect4"), ReplayWindow(ReplayConfig()), random.Random(8)
    for game_id in range(8):
        window.add(random_game(game_id, draw))
    batch = make_batch(game, window.sample(20, seed=5, step=9), search_value_weight=0.5)
    parts = [batch.part(start, stop) for start, stop in ((0, 7), (7, 8), (8, 20))]
    assert [len(part) for part in parts] == [7, 1, 12]

    def legal(one: Batch):
        mask = np.zeros(len(one) * one.num_actions, bool)
        mask[one.legal_indices()] = True
        return mask.reshape(len(one), -1)

    for rows in (Batch.planes, lambda one: one.policies.dense(one.num_actions), legal):
        assert (np.concatenate([rows(part) for part in parts]) == rows(batch)).all()
    for name, target in batch.targets.items():
        assert (np.concatenate([part.targets[name] for part in parts]) == target).all()


def test_an_empty_batch_has_positions_and_nothing_to_learn():
    game = make("go(size=5)")
    leaves = random_leaves(game, 6)
    batch = empty_batch(leaves, game.spec, ["policy", "value", "draws", "owners"])
    assert (batch.planes() == leaves.planes()).all()
    assert len(batch.policies.actions) == len(batch.policies.probabilities) == len(batch.policy_indices()) == 0
    assert {name: target.shape for name, target in batch.targets.items()} == {
        "value": (6,),
        "draws": (6,),
        "owners": (6, 25),
    }
    assert not any(target.any() for target in batch.targets.values())


def go_record(game: Game, game_id: int, *, start: str = "") -> GameRecord:
    """A game of moves by chance, most of them on the board."""
    choose, state, moves, players = random.Random(game_id), start_state(game, start), [], []
    while game.outcome(state) is None:
        *points, no_move = game.legal_actions(state)
        players.append(game.player(state))
        moves.append(choose.choice(points) if points and choose.random() < 0.95 else no_move)
        state = game.play(state, moves[-1])
    record = record_of(game_id, moves, players=players, outcome=game.outcome(state))
    return dataclasses.replace(record, start=start)


def owners_twin(game: Game, record: GameRecord, ply: int) -> list[int]:
    """Tromp and Taylor's area at the end, point by point, from the picture of the board; for the mover at the ply."""
    state = start_state(game, record.start)
    for action in record.plies["action"].tolist():
        state = game.play(state, action)
    size = game.spec.board_shape[0]
    planes, mover = game.planes(state), game.player(state)
    stones = np.select([planes[0] > 0, planes[1] > 0], [1 if mover == 0 else -1, -1 if mover == 0 else 1], 0)

    def reached(row: int, column: int) -> set[int]:
        colours, seen, todo = set(), {(row, column)}, [(row, column)]
        while todo:
            y, x = todo.pop()
            for near in ((y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)):
                if near in seen or not all(0 <= part < size for part in near):
                    continue
                seen.add(near)
                if stones[near]:
                    colours.add(int(stones[near]))
                else:
                    todo.append(near)
        return colours

    owners = []
    for row, column in itertools.product(range(size), repeat=2):
        colours = {int(stones[row, column])} if stones[row, column] else reached(row, column)
        owners.append(colours.pop() if len(colours) == 1 else 0)
    return [owner if record.plies["player"][ply] == 0 else -owner for owner in owners]


@pytest.mark.parametrize("image", [False, True])
def test_the_owners_at_the_end_are_a_target_where_they_are_asked_for(image: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(replay, "_BLOCK_POSITIONS", 60)  # about two games
    game, window = make("go(size=5)"), ReplayWindow(ReplayConfig())
    records = [go_record(game, game_id) for game_id in range(6)]
    for record in records:
        window.add(record)
    assert window.sample(8, seed=1, step=1).owners is None
    samples = window.sample(200, seed=1, step=1, owners_of=owners_by_rules(game))
    owners_BS = make_batch(game, samples, search_value_weight=0).targets["owners"]
    plies = np.diff(samples.action_offsets).tolist()
    twins = [owners_twin(game, records[i], ply) for i, ply in zip(samples.game_ids.tolist(), plies, strict=True)]
    if image:  # of the board turned: its points go where the moves on them go
        points = game.spec.symmetries[0][:-1]
        turned = permuted(samples, game.spec.symmetries[:1], seed=2, step=3)
        images_BS = make_batch(game, turned, search_value_weight=0).targets["owners"]
        is_turned = ~(images_BS == owners_BS).all(axis=1)
        assert 60 < is_turned.sum() < 140
        owners_BS[is_turned] = images_BS[is_turned][:, points]
    assert owners_BS.tolist() == twins
    assert {-1, 0, 1} == set(owners_BS.ravel().tolist())


def test_the_owners_of_a_game_are_found_once(monkeypatch: pytest.MonkeyPatch):
    """Whatever batches, blocks and games come between, also where White is to move at the start."""
    monkeypatch.setattr(replay, "_BLOCK_POSITIONS", 60)
    game, window, records, asked = make("go(size=5)"), ReplayWindow(ReplayConfig()), [], []
    by_rules = owners_by_rules(game)

    def counted(games: WholeGames) -> NDArray[np.int8]:
        asked.extend(games.game_ids.tolist())
        return by_rules(games)

    for step in range(8):
        for game_id in range(step, step + 3 if step < 3 else step + 1):
            records.append(go_record(game, len(records), start="5/2X2/5/5/5 O" if game_id % 2 else ""))
            window.add(records[-1])
        samples = window.sample(30, seed=2, step=step, owners_of=counted)
        assert samples.owners is not None
        for game_id, owners in zip(samples.game_ids.tolist(), samples.owners.tolist(), strict=True):
            twin = owners_twin(game, records[game_id], 0)
            first = -1 if records[game_id].start else 1
            assert owners == [first * owner for owner in twin]
    assert len(asked) == len(set(asked)) > 6


def test_owners_of_a_game_against_the_rules_are_refused():
    game = make("go(size=5)")
    good, illegal = go_record(game, 40), record_of(41, [3, 3])
    start = dataclasses.replace(record_of(42, [3]), start="5/5 X")
    for bad, error in ((illegal, "ply 1: action 3 is illegal"), (start, "5/5. has 2 rows")):
        window = ReplayWindow(ReplayConfig())
        window.add(good)
        window.add(bad)
        with pytest.raises(DataError, match=rf"Game {bad.game_id} does not fit the rules of go.*{error}.*Set its file"):
            window.sample(400, seed=0, step=0, owners_of=owners_by_rules(game))


def test_following_moves_that_are_illegal_are_an_error():
    game = make("go(size=5)")
    leaves = game.encode([game.initial_state()])
    for actions, offsets, error in (
        ([3, 3], [0, 2], "position 0, ply 1: action 3 is illegal"),
        ([3], [0, 2], "beyond the last of 1"),
        ([3], [0], "1 offsets for 1 positions"),
        ([3], [-1, 1], "beyond the last"),
    ):
        with pytest.raises(GameError, match=error):
            leaves.owners_after(np.array(actions, np.uint16), np.array(offsets, np.int64))
    chess = Game("chess")
    assert chess.encode([chess.initial_state()]).owners_after(np.empty(0, np.uint16), np.zeros(2, np.int64)) is None


def test_a_game_from_elsewhere_keeps_its_side():
    """The image of a position that was set up is not known."""
    game, window, draw = Game("connect4"), ReplayWindow(ReplayConfig()), random.Random(9)
    for game_id in range(6):
        window.add(random_game(game_id, draw, start=STARTS[game_id % 3]))
    samples = window.sample(200, seed=1, step=2)
    turned = permuted(samples, game.spec.symmetries, seed=1, step=2)
    has_moved = dict.fromkeys(STARTS, False)
    for index, start in enumerate(samples.starts):
        moves = slice(*samples.action_offsets[index : index + 2])
        has_moved[start] |= samples.actions[moves].tolist() != turned.actions[moves].tolist()
    assert has_moved == {STARTS[0]: True, STARTS[1]: False, STARTS[2]: False}
    make_batch(game, turned, search_value_weight=0.0)


def test_a_start_that_is_no_position_is_refused():
    window = ReplayWindow(ReplayConfig())
    window.add(record_of(33, [0], start="3x1"))
    with pytest.raises(
        DataError, match=r"Game 33 begins with '3x1', which is not a position of connect4: .* Set its file"
    ):
        make_batch(Game("connect4"), window.sample(4, seed=0, step=0), search_value_weight=0.0)


def test_games_by_other_rules_are_refused():
    spec, header = Game("connect4").spec, record_of(34, [0]).header
    require_game(header, spec)
    for changes, name in (
        ({"options": "max_plies=20"}, r"connect4\(max_plies=20\), version 1"),
        ({"game": "tictactoe"}, "tictactoe, version 1"),
        ({"game_version": 2}, "connect4, version 2"),
    ):
        with pytest.raises(DataError, match=f"Game 34 was recorded as {name}, and this run plays connect4, version 1"):
            require_game(dataclasses.replace(header, **changes), spec)


def test_values_flip_by_who_moves_not_by_ply():
    # The first player moves twice, then the second three times; the second wins.
    players, values = [0, 0, 1, 1, 1], [-0.5, -0.25, 0.25, 0.5, 0.75]
    window = ReplayWindow(ReplayConfig())
    window.add(record_of(0, [0, 1, 2, 3, 4], outcome=-1.0, players=players, values=values))
    samples = window.sample(200, seed=0, step=0)
    plies = np.diff(samples.action_offsets)
    for ply in range(5):
        assert (samples.returns[plies == ply] == [-1, -1, 1, 1, 1][ply]).all()
        assert (samples.search_values[plies == ply] == values[ply]).all()


@given(
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from([-1.0, 0.0, 1.0]), st.booleans()), min_size=1, max_size=12),
    st.sampled_from([-1.0, 0.0, 1.0]),
)
def test_a_return_is_the_outcome_or_what_was_proven_next(moves: list[tuple[int, float, bool]], outcome: float):
    players, values, proven = (list(column) for column in zip(*moves, strict=True))
    record = record_of(
        0,
        list(range(len(moves))),
        outcome=outcome,
        players=players,
        values=values,
        proven=[ply for ply, is_proven in enumerate(proven) if is_proven],
    )
    signed = [value if player == 0 else -value for player, value in zip(players, values, strict=True)]
    for ply, found in enumerate(returns_of(record)):
        assert found == next((signed[later] for later in range(ply, len(moves)) if proven[later]), outcome)


def test_games_are_whole_whoever_moves_and_whatever_is_learned_from():
    window, found = ReplayWindow(ReplayConfig()), list[WholeGames]()

    def owners_of(games: WholeGames) -> NDArray[np.int8]:
        found.append(games)
        return np.zeros((len(games.starts), 1), np.int8)

    window.add(record_of(7, [4, 4]))
    window.add(record_of(8, [0, 1, 2, 3, 4], players=[0, 0, 1, 1, 1], targets=[{0: 1.0}, {}, {2: 1.0}, {}, {4: 1.0}]))
    samples = window.sample(100, seed=0, step=0, num_later=1, owners_of=owners_of)
    (games,) = found
    assert games.game_ids.tolist() == [7, 8] and games.offsets.tolist() == [0, 2, 7]
    assert games.actions.tolist() == [4, 4, 0, 1, 2, 3, 4]
    plies, following = np.diff(samples.action_offsets)[samples.game_ids == 8], samples.following
    assert following is not None
    left = np.diff(following.offsets)[samples.game_ids == 8]
    assert dict(zip(plies.tolist(), left.tolist(), strict=True)) == {0: 5, 2: 3, 4: 1}


@pytest.mark.parametrize(
    ("outcome", "value", "draws"), [(1.0, 0.0, [1, 1, 0]), (0.0, -1.0, [0, 0, 1]), (0.0, 0.0, [1] * 3)]
)
def test_a_draw_is_what_was_proven_or_else_the_outcome(outcome: float, value: float, draws: list[int]):
    window = ReplayWindow(ReplayConfig())
    window.add(record_of(0, [0, 1, 2], outcome=outcome, values=[0.25, value, 0.5], proven=[1]))
    samples = window.sample(60, seed=0, step=0)
    plies = np.diff(samples.action_offsets).tolist()
    assert dict(zip(plies, samples.draws.tolist(), strict=True)) == dict(enumerate(draws))


@pytest.mark.parametrize("action", [7, 8, 13, 65535])
def test_a_number_that_is_no_action_of_the_game_is_refused_wherever_it_stands(action: int):
    """Beyond the last action of a sample lie the legal ones of the next."""
    window, good = ReplayWindow(ReplayConfig()), ReplayWindow(ReplayConfig())
    window.add(record_of(31, [0, 1], targets=[{6: 0.5, action: 0.5}, {6: 1.0}]))
    good.add(record_of(31, [0, 1], targets=[{6: 0.5, 5: 0.5}, {6: 1.0}]))
    for size in (1, 20):
        samples = [one.sample(size, seed=2, step=0) for one in (window, good)]
        make_batch(Game("connect4"), samples[1], search_value_weight=0.0)
        assert (samples[0].policies.actions == action).any()
        with pytest.raises(DataError, match=rf"Game 31 has action {action} in the policy target of ply 0,"):
            make_batch(Game("connect4"), samples[0], search_value_weight=0.0)


def test_the_last_action_may_be_the_only_one_beside_full_columns():
    window = ReplayWindow(ReplayConfig())
    window.add(record_of(31, [5] * 6 + [6], targets=[{}] * 6 + [{6: 1.0}]))
    batch = make_batch(Game("connect4"), window.sample(3, seed=0, step=0), search_value_weight=0.0)
    assert batch.policy_indices().tolist() == [6, 13, 20]


def test_a_target_or_a_move_against_the_rules_is_refused():
    game = Game("connect4")
    for targets, action in (([{}, {9: 1.0}], 9), ([{}] * 6 + [{0: 1.0}], 0)):
        window = ReplayWindow(ReplayConfig())
        window.add(record_of(31, [0] * len(targets), targets=targets))
        ply = len(targets) - 1
        with pytest.raises(
            DataError, match=rf"Game 31 has action {action} in the policy target of ply {ply}, where it"
        ):
            make_batch(game, window.sample(4, seed=0, step=0), search_value_weight=0.0)
    window = ReplayWindow(ReplayConfig())
    window.add(record_of(32, [0] * 8, targets=[{}] * 7 + [{1: 1.0}]))
    with pytest.raises(ValueError, match="action 0 is illegal"):
        make_batch(game, window.sample(4, seed=0, step=0), search_value_weight=0.0)
