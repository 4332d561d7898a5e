"""Unrolled batches against a twin that walks each game ply by ply, and the moves that no game has."""

from __future__ import annotations

import contextlib
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from games_recorded import random_game, record_of
from zerosum.base.errors import DataError
from zerosum.games import make
from zerosum.replay import Batch, GameRecord, ReplayConfig, ReplayWindow, Samples, make_unrolled_batch
from zerosum.replay.samples import permuted

GAME = make("connect4")
K = 5


def window_of(records: list[GameRecord]) -> ReplayWindow:
    window = ReplayWindow(ReplayConfig())
    for record in records:
        window.add(record)
    return window


def unrolled(samples: Samples, *, illegal_share: float = 0.0, weight: float = 0.25) -> Batch:
    return make_unrolled_batch(GAME, samples, search_value_weight=weight, illegal_share=illegal_share)


def targets_at(record: GameRecord, ply: int) -> dict[int, float]:
    start, end = record.target_offsets[ply], record.target_offsets[ply + 1]
    return {int(entry["action"]): float(entry["probability"]) for entry in record.targets[start:end]}


@pytest.mark.parametrize("earlier_share", [0.0, 0.6])
def test_rows_are_the_plies_of_the_games(earlier_share: float) -> None:
    draw = random.Random(3)
    records = [random_game(number, draw) for number in range(12)]
    window = window_of(records)
    samples = window.sample(64, seed=1, step=2, num_later=K, earlier_share=earlier_share)
    batch = unrolled(samples)
    planes, policies = batch.planes(), batch.policies.dense(GAME.spec.num_actions)
    values, known, moves, real = (
        batch.targets[name].reshape(64, K + 1) for name in ("value", "has_value", "moves", "is_real")
    )
    starts = np.diff(samples.action_offsets)
    for sample in range(64):
        record = records[samples.game_ids[sample]]
        actions = record.plies["action"].tolist()
        state = GAME.initial_state()
        for action in actions[: starts[sample]]:
            state = GAME.play(state, action)
        first = next(ply for ply in range(record.num_plies) if targets_at(record, ply))
        for step in range(K + 1):
            row, ply = sample * (K + 1) + step, int(starts[sample]) + step
            assert np.array_equal(planes[row], GAME.planes(state))
            assert real[sample, step] == (ply < record.num_plies)
            sign = 1 if ply % 2 == 0 else -1
            result = sign * record.outcome
            assert known[sample, step] == (ply >= first)
            if ply >= record.num_plies:
                assert values[sample, step] == result, "the result stays, seen by players in turn"
                assert not policies[row].any()
                assert 0 <= moves[sample, step] < GAME.spec.num_actions
                continue
            targets = targets_at(record, ply)
            searched = float(record.plies["search_value"][ply]) if targets else result
            if known[sample, step]:
                assert values[sample, step] == pytest.approx(0.75 * result + 0.25 * searched)
            assert {action: share for action, share in enumerate(policies[row]) if share} == {
                action: share for action, share in targets.items() if share
            }
            assert step == K or moves[sample, step] == actions[ply]
            state = GAME.play(state, actions[ply])


def test_some_samples_begin_before_the_first_position() -> None:
    """The random moves that open a game are learned from, but not their values."""
    moves = [0, 1, 2, 3, 4, 5, 6]
    record = record_of(7, moves, targets=[{}, {}, {}, {}, *({move: 1.0} for move in moves[4:])])
    window = window_of([record])
    plain = window.sample(50, seed=1, step=1, num_later=K)
    assert np.diff(plain.action_offsets).min() == 4
    earlier = window.sample(50, seed=1, step=1, num_later=K, earlier_share=1.0)
    starts = np.diff(earlier.action_offsets)
    assert set(starts.tolist()) <= set(range(6))
    assert starts.min() == 0
    batch = unrolled(earlier)
    known = batch.targets["has_value"].reshape(50, K + 1)
    assert np.array_equal(known, (starts[:, None] + np.arange(K + 1) >= 4).astype(np.float32))


def test_after_an_illegal_move_its_side_has_lost() -> None:
    column = [3, 3, 3, 3, 3, 3, 0, 1]  # column 3 is full after six moves
    record = record_of(0, column, targets=[{move: 1.0} for move in column], outcome=0.0)
    samples = window_of([record]).sample(200, seed=2, step=1, num_later=K)
    batch = unrolled(samples, illegal_share=1.0)
    values, real, moves, draws, known = (
        batch.targets[name].reshape(200, K + 1) for name in ("value", "is_real", "moves", "draws", "has_value")
    )
    policies = batch.policies.dense(GAME.spec.num_actions).reshape(200, K + 1, -1)
    starts = np.diff(samples.action_offsets)
    num_illegal = 0
    for sample in range(200):
        plies = starts[sample] + np.arange(K + 1)
        for step in np.flatnonzero(real[sample, :-1] > real[sample, 1:]):
            if plies[step + 1] >= len(column):
                continue  # the end of the game
            num_illegal += 1
            assert moves[sample, step] == 3
            assert plies[step] >= 6
            later = np.arange(K + 1) > step
            assert np.array_equal(values[sample, later], [1.0, -1.0, 1.0, -1.0, 1.0][: later.sum()])
            assert not policies[sample, later].any()
            assert not draws[sample, later].any() and draws[sample, ~later].all(), "only the game itself was drawn"
            assert known[sample, later].all()
    assert num_illegal > 5


def test_a_game_without_illegal_moves_has_none() -> None:
    record = record_of(0, [0, 1, 2, 3], targets=[{move: 1.0} for move in range(4)])
    samples = window_of([record]).sample(40, seed=2, step=1, num_later=K)
    with_illegal, without = unrolled(samples, illegal_share=1.0), unrolled(samples)
    for name, target in without.targets.items():
        assert np.array_equal(target, with_illegal.targets[name]), name


def test_turned_samples_are_turned_games() -> None:
    draw = random.Random(5)
    records = [random_game(number, draw) for number in range(6)]
    mirrored = [_mirrored(record) for record in records]
    samples = window_of(records).sample(80, seed=4, step=0, num_later=K, earlier_share=0.5)
    expected = window_of(mirrored).sample(80, seed=4, step=0, num_later=K, earlier_share=0.5)
    symmetry = [6, 5, 4, 3, 2, 1, 0]
    turned = permuted(samples, [symmetry], seed=4, step=0)
    before, after, mirror = (unrolled(one, illegal_share=0.3) for one in (samples, turned, expected))
    rows = K + 1
    num_turned = 0
    for sample in range(80):
        part = slice(sample * rows, (sample + 1) * rows)
        same = np.array_equal(after.planes()[part], before.planes()[part])
        other = mirror if not same else before
        num_turned += not same
        assert np.array_equal(after.planes()[part], other.planes()[part])
        assert np.array_equal(after.policies.dense(7)[part], other.policies.dense(7)[part])
        is_real = after.targets["is_real"][part] > 0
        real_moves = is_real[:-1] & is_real[1:]
        assert np.array_equal(
            after.targets["moves"][part][:-1][real_moves], other.targets["moves"][part][:-1][real_moves]
        )
    assert 20 < num_turned < 60


def _mirrored(record: GameRecord) -> GameRecord:
    moves = [6 - int(action) for action in record.plies["action"]]
    targets = [
        {6 - action: share for action, share in targets_at(record, ply).items()} for ply in range(record.num_plies)
    ]
    values: Any = record.plies["search_value"].tolist()
    return record_of(record.game_id, moves, outcome=record.outcome, targets=targets, values=values)


def test_places_of_logits_stand_for_moves() -> None:
    game = make("chess(planes=lc0)")
    texts = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5", "e1g1"]
    state, moves, places = game.initial_state(), [], []
    for text in texts:
        moves.append(game.parse_action(state, text))
        leaves = game.encode([state])
        places.append(dict(zip(leaves.legal_actions.tolist(), leaves.logit_actions.tolist(), strict=True))[moves[-1]])
        state = game.play(state, moves[-1])
    assert places != moves
    record = record_of(0, moves, targets=[{move: 1.0} for move in moves])
    samples = window_of([record]).sample(20, seed=1, step=1, num_later=2)
    batch = make_unrolled_batch(game, samples, search_value_weight=0.0, illegal_share=0.0)
    starts = np.diff(samples.action_offsets)
    for sample, start in enumerate(starts.tolist()):
        made = batch.targets["moves"].reshape(20, 3)[sample, :2].tolist()
        assert made[: len(texts) - start] == places[start : start + 2]
        policies = batch.policies.dense(game.spec.num_actions).reshape(20, 3, -1)[sample]
        wanted = places[start : start + 3]
        assert [int(row.argmax()) for row in policies[: len(wanted)]] == wanted


def evenly(found: Counter[Any], expected: dict[Any, float]) -> bool:
    """Whether counts fit their expectations: chi-square within four standard deviations of its mean."""
    assert set(found) <= set(expected), set(found) - set(expected)
    freedom = len(expected) - 1
    chi_square = sum((found[one] - number) ** 2 / number for one, number in expected.items())
    return chi_square < freedom + 4 * (2 * freedom) ** 0.5


def test_what_is_drawn_for_a_sample_is_drawn_evenly_and_apart() -> None:
    """How much earlier it begins, which move is replaced, and by what: of the numbers of a sample each has its use."""
    game, num_steps, size, earlier, illegal = make("tictactoe"), 3, 12_000, 0.5, 0.4
    moves = [0, 1, 2, 4, 3, 5, 7, 6, 8]  # nobody wins
    record = record_of(0, moves, outcome=0.0, targets=[*[{}] * 6, {7: 1.0}, {}, {}])
    samples = window_of([record]).sample(size, seed=3, step=1, num_later=num_steps, earlier_share=earlier)
    batch = make_unrolled_batch(game, samples, search_value_weight=0.0, illegal_share=illegal)
    starts = np.diff(samples.action_offsets)
    made, real = (batch.targets[name].reshape(size, num_steps + 1).astype(int) for name in ("moves", "is_real"))
    is_illegal = np.zeros((size, num_steps), bool)
    for step in range(num_steps):
        was_real = real[:, step] > 0
        is_illegal[:, step] = was_real & (made[:, step] != np.array(moves)[starts + step])
        is_within = starts + step + 1 < 9
        assert np.array_equal(is_illegal[is_within, step], (was_real & (real[:, step + 1] == 0))[is_within])
    at = np.where(is_illegal.any(axis=1), is_illegal.argmax(axis=1), -1)
    both = Counter(zip((6 - starts).tolist(), at.tolist(), strict=True))
    begins = {0: 1 - earlier, **dict.fromkeys(range(1, num_steps + 1), earlier / num_steps)}
    replaced = {-1: 1 - illegal, **dict.fromkeys(range(num_steps), illegal / num_steps)}
    assert evenly(both, {(a, b): size * begins[a] * replaced[b] for a in begins for b in replaced})
    for ply in range(3, 9):  # any square that is taken
        taken = Counter(
            int(made[sample, step]) for sample, step in np.argwhere(is_illegal) if starts[sample] + step == ply
        )
        assert evenly(taken, dict.fromkeys(moves[:ply], sum(taken.values()) / ply))


def test_moves_past_the_end_are_drawn_evenly_and_apart() -> None:
    record = record_of(0, [0], targets=[{0: 1.0}])
    samples = window_of([record]).sample(6000, seed=2, step=3, num_later=3)
    made = unrolled(samples).targets["moves"].reshape(6000, 4).astype(int)
    assert not made[:, 0].any()
    pairs = Counter(zip(made[:, 1].tolist(), made[:, 2].tolist(), strict=True))
    assert evenly(pairs, {(one, other): 6000 / 49 for one in range(7) for other in range(7)})


def test_no_sample_begins_before_its_game() -> None:
    record = record_of(0, [0, 1], targets=[{}, {1: 1.0}])
    samples = window_of([record]).sample(2000, seed=1, step=1, num_later=K, earlier_share=0.5)
    starts = Counter(np.diff(samples.action_offsets).tolist())
    assert evenly(starts, {0: 1000, 1: 1000})
    assert samples.following is not None
    assert np.array_equal(np.diff(samples.following.offsets), 2 - np.diff(samples.action_offsets))


def test_positions_of_other_games_are_no_later_plies() -> None:
    """Neighbours in the table, of games with one position each, in either direction."""
    records = [
        record_of(number, [0, 1, 2, 3], targets=[{}, {number: 1.0}, {}, {}], values=[number / 8] * 4, outcome=0.0)
        for number in range(7)
    ]
    samples = window_of(records).sample(300, seed=1, step=1, num_later=2, earlier_share=0.5)
    batch = unrolled(samples, weight=1.0)
    values, policies = batch.targets["value"].reshape(300, 3), batch.policies.dense(7).reshape(300, 3, 7)
    plies = np.diff(samples.action_offsets)[:, None] + np.arange(3)
    expected = np.where(plies == 1, samples.game_ids[:, None] / 8, 0)
    assert np.array_equal(values, expected.astype(np.float32))
    assert np.array_equal(policies.argmax(axis=2) * (plies == 1), samples.game_ids[:, None] * (plies == 1))
    assert np.array_equal(policies.sum(axis=2), (plies == 1).astype(np.float32))


@pytest.mark.parametrize(("action", "ply"), [(3, 6), (3, 7), (7, 6), (65535, 6)])
def test_a_target_against_the_rules_is_refused_at_any_step(action: int, ply: int) -> None:
    """Whichever step of its sample the ply is; column 3 is full after six moves."""
    targets: list[dict[int, float]] = [{move: 1.0} for move in [3] * 6 + [0, 1]]
    targets[ply] = {action: 1.0}
    window = window_of([record_of(31, [3] * 6 + [0, 1], targets=targets, outcome=0.0)])
    for step in range(20):
        samples = window.sample(1, seed=step, step=0, num_later=2)
        has_ply = 0 <= ply - len(samples.actions) <= 2
        with (
            pytest.raises(DataError, match=f"Game 31 has action {action} in the policy target of ply {ply},")
            if has_ply
            else contextlib.nullcontext()
        ):
            unrolled(samples)
