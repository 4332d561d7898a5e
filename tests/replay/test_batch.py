"""Batches say of each position what its mover should learn."""

import dataclasses
import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from games_recorded import random_game, record_of
from zerosum._core import Game
from zerosum.base.errors import DataError, GameError
from zerosum.games import make, start_state
from zerosum.games.random_play import random_leaves, state_of
from zerosum.replay import Batch, ReplayConfig, ReplayWindow, Samples, make_batch
from zerosum.replay import window as replay
from zerosum.replay.batch import empty_batch
from zerosum.replay.blocks import returns_of
from zerosum.replay.owners import WholeGames, owners_by_rules
from zerosum.replay.records import GameRecord, require_game
from zerosum.replay.samples import permuted

STARTS = ("", "7/7/7/7/3O3/3X3 X", "7/7/7/7/7/X6 O")


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


@pytest.mark.parametrize("is_turned", [False, True])
def test_the_moves_of_the_game_are_there_if_they_are_asked_for(monkeypatch: pytest.MonkeyPatch, is_turned: bool):
    """Their shares are those that were recorded, also in a sample's image: the twin reads both from the record."""
    monkeypatch.setattr(replay, "_BLOCK_POSITIONS", 30)
    game, window, draw = Game("connect4"), ReplayWindow(ReplayConfig()), random.Random(8)
    records = {game_id: random_game(game_id, draw) for game_id in range(8)}
    for record in records.values():
        window.add(record)
    samples = window.sample(128, seed=5, step=9, has_played=True)
    plain = window.sample(128, seed=5, step=9)
    assert plain.played is None and (plain.actions == samples.actions).all(), "the draw is the same"
    before = samples
    if is_turned:
        samples = permuted(samples, game.spec.symmetries, seed=1, step=2)
    targets = make_batch(game, samples, search_value_weight=0.5).targets
    expected_moves, expected_shares = [], []
    plies = np.diff(samples.action_offsets).tolist()
    for number, (game_id, ply) in enumerate(zip(samples.game_ids.tolist(), plies, strict=True)):
        recorded = records[game_id].ply(ply)
        shares = dict(zip(recorded.target["action"].tolist(), recorded.target["probability"].tolist(), strict=True))
        at = slice(samples.action_offsets[number], samples.action_offsets[number + 1])
        is_image = (samples.actions[at] != before.actions[at]).any()
        is_symmetric = (before.actions[at] == 3).all()  # the sample does not show whether it was turned
        expected_moves.append(
            {recorded.action, 6 - recorded.action}
            if is_symmetric and is_turned
            else {6 - recorded.action if is_image else recorded.action}
        )
        expected_shares.append(shares.get(recorded.action, 0.0))
    assert all(move in moves for move, moves in zip(targets["played"].tolist(), expected_moves, strict=True))
    assert targets["played_share"].tolist() == pytest.approx(expected_shares, abs=1e-3)
    assert min(expected_shares) < max(expected_shares)
    assert "played" not in make_batch(game, plain, search_value_weight=0.5).targets


def test_the_place_of_a_move_is_that_of_its_logit_and_an_illegal_move_is_told():
    window = ReplayWindow(ReplayConfig())
    game, draw = make("chess"), random.Random(3)
    record = random_game(0, draw, name="chess")
    window.add(record)
    samples = window.sample(32, seed=1, step=2, has_played=True)
    targets = make_batch(game, samples, search_value_weight=0.5).targets
    for number, ply in enumerate(np.diff(samples.action_offsets).tolist()):
        moves = record.plies["action"][: ply + 1].tolist()
        state = state_of(game, moves[:-1])
        leaf = game.encode([state])
        place = dict(zip(leaf.legal_actions.tolist(), leaf.logit_actions.tolist(), strict=True))[moves[-1]]
        assert targets["played"][number] == place
    assert samples.played is not None
    wrong = samples.played.actions.copy()
    wrong[3] = 65535
    with pytest.raises(DataError, match=r"Game 0 has move 65535 at ply \d+, where it is illegal"):
        make_batch(
            game,
            dataclasses.replace(samples, played=dataclasses.replace(samples.played, actions=wrong)),
            search_value_weight=0.5,
        )


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
