"""The learner: losses against numpy twins, schedules by hand, one batch learned by heart, and resuming bit by bit."""

from __future__ import annotations

import dataclasses
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from batches_for_tests import legal_mask_of
from learners_for_tests import (
    BATCH,
    GAME,
    OWNERSHIP,
    PLAIN,
    SCORE,
    SHAPE,
    SMALL,
    assert_same,
    make_batch,
    new_learner,
    weights_after,
)
from zerosum.base.errors import SettingsError
from zerosum.games import make
from zerosum.learner import (
    Learner,
    LearnerConfig,
    grown_state,
    learning_rate,
)
from zerosum.network import (
    Checkpoint,
    CheckpointInfo,
    initial_weights,
    load_checkpoint,
    save_checkpoint,
)
from zerosum.network.checkpoint import load_learner_state
from zerosum.network.growing import grown_weights
from zerosum.network.heads import POINTS_SCALE, points_of, policy_loss, value_loss, values_of
from zerosum.network.residual_tower import ResidualTower
from zerosum.replay import ReplayConfig, ReplayWindow
from zerosum.replay.records import GameHeader, GameRecord, PlyFlag, PlyRecord, policy_target
from zerosum.selfplay.worker_process import checkpoint_of, pack_weights

pytestmark = pytest.mark.usefixtures("one_thread")

LEGAL, POLICY = legal_mask_of(BATCH), BATCH.policies.dense(7)


def entropy(probabilities: np.ndarray) -> np.ndarray:
    """[B, N] -> [B], in nats, with 0 log 0 = 0."""
    return -(probabilities * np.log(probabilities, where=probabilities > 0, out=np.zeros_like(probabilities))).sum(
        axis=1
    )


def test_weights_arrive_in_another_process_as_they_are() -> None:
    """Torch keeps kernels in channels-last memory, and their bytes were once sent as they lay."""
    learner = new_learner()
    learner.step(BATCH, progress=0.0)
    weights = learner.weights()
    turned = {name: np.asfortranarray(weight) for name, weight in weights.items()}
    info = CheckpointInfo.describe(GAME.spec, SMALL, step=7)
    for sent in (weights, turned):
        found = checkpoint_of(pack_weights(Checkpoint(info=info, weights=sent)), GAME)
        assert found.info.step == 7
        assert_same(found.weights, weights)


# ---- losses


def policy_twin(logits: np.ndarray, target: np.ndarray, legal: np.ndarray) -> list[float]:
    losses = []
    for row in range(len(logits)):
        actions = np.flatnonzero(legal[row])
        probabilities = np.exp(logits[row, actions]) / np.exp(logits[row, actions]).sum()
        losses.append(-sum(target[row, a] * np.log(p) for a, p in zip(actions, probabilities, strict=True)))
    return losses


@pytest.mark.parametrize("is_masked", [True, False])
def test_policy_loss_equals_its_twin(is_masked: bool) -> None:
    logits = np.random.default_rng(1).standard_normal((16, 7)) * 3
    legal = LEGAL if is_masked else np.ones_like(LEGAL)
    tensors = [torch.from_numpy(array) for array in (logits, POLICY, LEGAL)]
    loss = policy_loss(tensors[0], tensors[1], tensors[2] if is_masked else None)
    np.testing.assert_allclose(loss.numpy(), policy_twin(logits, POLICY, legal), rtol=1e-6)


def test_illegal_moves_get_no_gradient_and_spoil_none() -> None:
    assert not LEGAL.all(), "the batch has illegal moves"
    logits = torch.zeros(16, 7, requires_grad=True)
    legal = torch.from_numpy(LEGAL)
    policy_loss(logits, torch.from_numpy(POLICY), legal).sum().backward()
    assert logits.grad is not None
    expected = POLICY.sum(axis=1, keepdims=True) * LEGAL / LEGAL.sum(axis=1, keepdims=True) - POLICY
    np.testing.assert_allclose(logits.grad.numpy(), np.where(LEGAL, expected, 0), atol=1e-6)


def test_value_losses_by_hand() -> None:
    logits = torch.tensor([[0.0], [0.5], [-20.0]])
    scalar = value_loss(logits, torch.tensor([0.5, -1.0, -1.0]))
    np.testing.assert_allclose(scalar.numpy(), [0.25, (1 + np.tanh(0.5)) ** 2, 0.0], atol=1e-6)
    # Win 1/2, draw 1/4, loss 1/4. A target of 0.4 is 40 % win and 60 % draw, -0.5 half a loss and half a draw.
    logits = torch.tensor([[np.log(2.0), 0.0, 0.0]] * 4)
    wdl = value_loss(logits, torch.tensor([1.0, 0.0, 0.4, -0.5]))
    ln2 = np.log(2)
    np.testing.assert_allclose(wdl.numpy(), [ln2, 2 * ln2, 0.4 * ln2 + 0.6 * 2 * ln2, 2 * ln2], rtol=1e-6)
    # Without a draw, 0.4 is 70 % win and 30 % loss, 0 is half and half; with one, 0.4 still is 40 % win.
    targets, draws = torch.tensor([1.0, 0.0, 0.4, 0.4]), torch.tensor([0.0, 0.0, 0.0, 1.0])
    wdl = value_loss(logits, targets, draws)
    np.testing.assert_allclose(wdl.numpy(), [ln2, 1.5 * ln2, 1.3 * ln2, 1.6 * ln2], rtol=1e-6)


def wdl_targets(values: np.ndarray) -> np.ndarray:
    """[B] -> [B, 3]: win, draw, loss, as many draws as there can be."""
    return np.array([[max(v, 0), 1 - abs(v), max(-v, 0)] for v in values])


@given(st.floats(-1, 1, width=32), st.floats(0, 1, width=32))
def test_a_value_target_keeps_its_mean_and_has_no_more_draws_than_said(value: float, draws: float) -> None:
    """The target is the gradient at even logits: a third less what it is."""
    for most in (None, torch.tensor([draws])):
        logits = torch.zeros(1, 3, requires_grad=True)
        value_loss(logits, torch.tensor([value]), most).sum().backward()
        assert logits.grad is not None
        target = 1 / 3 - logits.grad.numpy()[0].astype(np.float64)
        assert target.min() > -1e-6
        assert target.sum() == pytest.approx(1, abs=1e-6)
        assert target[0] - target[2] == pytest.approx(value, abs=1e-6)
        assert target[1] == pytest.approx(min(1 - abs(value), 1 if most is None else draws), abs=1e-6)


def test_value_losses_equal_their_twins() -> None:
    generator = np.random.default_rng(2)
    targets = generator.uniform(-1, 1, 50)
    logits = generator.standard_normal((50, 3))
    log_probs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    loss = value_loss(torch.from_numpy(logits), torch.from_numpy(targets))
    np.testing.assert_allclose(loss.numpy(), -(wdl_targets(targets) * log_probs).sum(axis=1), rtol=1e-6)
    loss = value_loss(torch.from_numpy(logits[:, :1]), torch.from_numpy(targets))
    np.testing.assert_allclose(loss.numpy(), (targets - np.tanh(logits[:, 0])) ** 2, rtol=1e-6)


@pytest.mark.parametrize("value_head", ["scalar", "wdl"])
def test_a_report_says_what_the_step_saw_before_it(value_head: str) -> None:
    """A new network has no opinion: uniform over the legal moves, value 0."""
    report = new_learner(network=replace(SMALL, value_head=value_head)).step(BATCH, progress=0.0)
    z = BATCH.targets["value"]
    assert report.measures["policy_loss"] == pytest.approx(
        (POLICY.sum(axis=1) * np.log(LEGAL.sum(axis=1))).mean(), rel=1e-5
    )
    assert report.measures["policy_entropy"] == pytest.approx(entropy(POLICY).mean(), rel=1e-5)
    assert report.measures["value_error"] == pytest.approx((z**2).mean(), rel=1e-5)
    assert report.measures["value_loss"] == pytest.approx(
        (z**2).mean() if value_head == "scalar" else np.log(3), rel=1e-5
    )
    assert report.learning_rate == PLAIN.learning_rate


@pytest.mark.parametrize("value_head", ["scalar", "wdl"])
@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_one_batch_is_learned_by_heart(value_head: str, optimizer: str) -> None:
    config = replace(PLAIN, optimizer=optimizer, learning_rate={"adamw": 0.01, "sgd": 0.05}[optimizer])
    learner = new_learner(config, replace(SMALL, value_head=value_head))
    first = learner.step(BATCH, progress=0.0)
    for _ in range(200):
        last = learner.step(BATCH, progress=0.0)
    floor = 0.0 if value_head == "scalar" else entropy(wdl_targets(BATCH.targets["value"])).mean()
    assert last.measures["policy_loss"] - last.measures["policy_entropy"] < 0.1 * (
        first.measures["policy_loss"] - first.measures["policy_entropy"]
    )
    assert last.measures["policy_loss"] - last.measures["policy_entropy"] > -1e-4
    assert -1e-4 < last.measures["value_loss"] - floor < 0.1 * (first.measures["value_loss"] - floor)
    assert last.measures["value_error"] < 0.1 * first.measures["value_error"]


def test_a_head_more_leaves_the_first_steps_gradients_of_the_others_as_they_are() -> None:
    """Its last layer begins at 0, so it first learns itself before it says anything to the tower."""
    without, with_it = (weights_after(new_learner(network=network), [BATCH]) for network in (SMALL, OWNERSHIP))
    assert_same({name: with_it[name] for name in without}, without)


def test_the_owners_of_squares_are_learned() -> None:
    """An untrained head gives each square even odds, which is the optimum for a square without an owner."""
    learner = new_learner(network=OWNERSHIP)
    assert learner.targets == {"policy", "value", "owners"}
    first = learner.step(BATCH, progress=0.0)
    assert first.measures["ownership_loss"] == pytest.approx(np.log(2), rel=1e-5)
    for _ in range(300):
        last = learner.step(BATCH, progress=0.0)
    floor = np.log(2) * (BATCH.targets["owners"] == 0).mean()
    assert 0 < last.measures["ownership_loss"] - floor < 0.6 * (np.log(2) - floor)


def test_the_score_is_learned_with_its_uncertainty() -> None:
    """Where equal positions end with two scores, the mean lies between, and the deviation is their distance to it."""
    learner = new_learner(replace(PLAIN, score_weight=1.0), SCORE)
    owners = [np.zeros((16, 42), np.float32) for _ in range(2)]
    owners[0][:, :10] = 1  # 10 points for the player to move
    owners[1][:, :30] = -1  # 30 points for the opponent
    targets = {name: np.concatenate([target] * 2) for name, target in BATCH.targets.items()}
    batch = replace(make_batch(16, seed=0, copies=2), targets=targets | {"owners": np.concatenate(owners)})
    first = learner.step(batch, progress=0.0)
    assert first.measures["points_error"] == pytest.approx(20, abs=1e-3), "an untrained head says 0"
    for _ in range(400):
        last = learner.step(batch, progress=0.0)
    assert last.measures["points_error"] == pytest.approx(20, abs=1)
    network = ResidualTower(SCORE, SHAPE, learner.weights()).train()
    with torch.inference_mode():
        means, deviations = points_of(network(torch.from_numpy(batch.planes())).logits["points"])
    np.testing.assert_allclose(POINTS_SCALE * means, -10, atol=2)
    np.testing.assert_allclose(POINTS_SCALE * deviations, 20, atol=2)


def test_a_loss_weight_is_of_its_head() -> None:
    def updates(**changes: float) -> dict[str, np.ndarray]:
        config = replace(PLAIN, optimizer="sgd", weight_decay=0.0, momentum=0.0, **changes)
        before = initial_weights(OWNERSHIP, SHAPE, seed=0)
        after = weights_after(new_learner(config, OWNERSHIP), [BATCH])
        return {name: after[name] - before[name] for name in before if name.endswith("_out.weight")}

    once, changed = updates(), updates(ownership_weight=3.0)
    np.testing.assert_allclose(changed["ownership_out.weight"], 2 * once["ownership_out.weight"], rtol=1e-3, atol=1e-7)
    np.testing.assert_allclose(changed["policy_out.weight"], once["policy_out.weight"], rtol=1e-3, atol=1e-7)


def games_at_random(num_games: int, seed: int) -> ReplayWindow:
    """Tic-tac-toe by chance: from 5 to 9 plies."""
    game, choose, window = make("tictactoe"), random.Random(seed), ReplayWindow(ReplayConfig())
    for game_id in range(num_games):
        state, plies = game.initial_state(), []
        while legal := game.legal_actions(state):
            plies.append(
                PlyRecord(
                    action=choose.choice(legal),
                    player=game.player(state),
                    checkpoint_step=0,
                    search_value=0.0,
                    net_value=0.0,
                    num_simulations=1,
                    flags=PlyFlag.FULL_SEARCH,
                    target=policy_target(
                        legal, np.full(len(legal), 1 / len(legal), np.float16), np.ones(len(legal), np.uint32)
                    ),
                )
            )
            state = game.play(state, plies[-1].action)
        outcome = game.outcome(state)
        assert outcome is not None
        header = GameHeader(
            game_id=game_id, game="tictactoe", game_version=1, options="", start="", settings_hash="", seed=0
        )
        window.add(GameRecord.from_plies(header, plies, outcome=outcome, ending=""))
    return window


@pytest.mark.parametrize("draw_target", ["value", "outcome"])
@pytest.mark.parametrize("search_value_weight", [0.0, 0.5, 1.0])
def test_a_draw_is_told_from_an_even_fight(draw_target: str, search_value_weight: float) -> None:
    """Both have the value 0. One kind of position is always drawn, the other is won as often as it is lost.

    A search finds 0 for both. Where that is part of the target, it counts as a draw unless the outcome says otherwise.
    """
    config = replace(SMALL, value_head="wdl")
    learner = new_learner(replace(PLAIN, learning_rate=0.02, draw_target=draw_target), config)
    is_drawn = np.arange(16) < 8
    results = [np.where(is_drawn, 0, (1 - search_value_weight) * sign).astype(np.float32) for sign in (1, -1)]
    targets = {name: np.concatenate([target] * 2) for name, target in BATCH.targets.items()}
    targets |= {"value": np.concatenate(results), "draws": np.concatenate([is_drawn] * 2).astype(np.float32)}
    both = replace(make_batch(16, seed=0, copies=2), targets=targets)
    for _ in range(150):
        learner.step(both, progress=0.0)
    network = ResidualTower(config, SHAPE, learner.weights()).train()  # on the batch it learned from
    with torch.inference_mode():
        output = network(torch.from_numpy(both.planes()))
    draws = output.logits["value"].softmax(dim=1)[:16, 1].numpy()
    assert draws[is_drawn].min() > 0.9
    np.testing.assert_allclose(draws[~is_drawn], search_value_weight if draw_target == "value" else 0, atol=0.1)
    assert values_of(output.logits["value"]).abs().max() < 0.1


# ---- the learning rate


def test_learning_rates_of_the_paper() -> None:
    config = LearnerConfig(optimizer="sgd", schedule="steps", learning_rate=0.2, warmup_steps=0)
    for step, expected in [
        (0, 0.2), (99_999, 0.2), (100_000, 0.02), (299_999, 0.02), (300_000, 0.002), (499_999, 0.002),
        (500_000, 0.0002), (700_000, 0.0002),
    ]:  # fmt: skip
        assert learning_rate(config, step=step, progress=step / 700_000) == pytest.approx(expected)


def test_learning_rates_of_the_cosine() -> None:
    config = LearnerConfig(learning_rate=1.0, warmup_steps=0, final_share=0.2)
    for progress, expected in [(0, 1.0), (1 / 3, 0.8), (0.5, 0.6), (2 / 3, 0.4), (1, 0.2), (1.7, 0.2)]:
        assert learning_rate(config, step=10**6, progress=progress) == pytest.approx(expected)


def test_learning_rates_of_the_warmup() -> None:
    for schedule in ("cosine", "steps"):
        config = LearnerConfig(learning_rate=1.0, warmup_steps=4, schedule=schedule)
        rates = [learning_rate(config, step=step, progress=0.0) for step in range(6)]
        assert rates == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0, 1.0])


def test_a_constant_learning_rate_stays() -> None:
    config = LearnerConfig(learning_rate=0.5, warmup_steps=0, schedule="constant", final_share=0.1)
    assert [learning_rate(config, step=step, progress=step / 4) for step in range(5)] == [0.5] * 5


def test_a_long_gradient_is_shortened_with_adams_decay_in_it() -> None:
    """SGD without momentum moves by the gradient, so the way of a step is the rate times its length."""
    moved = {}
    for clip_norm in (None, 0.25, 100.0):
        config = replace(PLAIN, optimizer="sgd", momentum=0.0, weight_decay=0.0, clip_norm=clip_norm)
        learner = new_learner(config)
        before = [parameter.detach().clone() for parameter in learner._network.parameters()]
        learner.step(BATCH, progress=0.0)
        parts = [(a - b).flatten() for a, b in zip(before, learner._network.parameters(), strict=True)]
        moved[clip_norm] = float(torch.cat(parts).detach().norm()) / config.learning_rate
    assert moved[0.25] == pytest.approx(0.25, rel=1e-3) and moved[100.0] == moved[None] > 0.25
    decays = []
    for decay in (0.0, 3.0):
        learner = new_learner(replace(PLAIN, optimizer="adam", weight_decay=decay))
        parameters = list(learner._network.parameters())
        for parameter in parameters:
            parameter.grad = torch.zeros_like(parameter)
        learner._limit_gradient()
        decays.append([parameter.grad for parameter in parameters])
        assert not any(group["weight_decay"] for group in learner._optimizer.param_groups), "once is enough"
    for none, some, parameter in zip(*decays, parameters, strict=True):
        assert none is not None and some is not None and not none.any()
        assert torch.equal(some, 3.0 * parameter.detach())


# ---- settings

# Limits that the training loop obeys: `zerosum.run.training`.
OBEYED_BY_THE_RUN = {"batch_size", "samples_per_position", "illegal_share", "earlier_share", "reanalysed_share"}
OF_LEARNED_RULES = {"unroll_steps", "later_weight", "consistency_weight"}  # test_unroll.py
ABOUT_SPEED = {"num_threads", "num_devices"}
SETTINGS = [
    ({}, {"optimizer": "sgd"}),
    ({"optimizer": "sgd"}, {"optimizer": "adam"}),
    ({}, {"optimizer": "adam", "weight_decay": 0.0}),
    ({"optimizer": "adam"}, {"weight_decay": 0.1}),
    ({"optimizer": "sgd"}, {"clip_norm": 0.01}),
    ({"final_share": 0.5}, {"schedule": "constant"}),
    ({}, {"learning_rate": 0.02}),
    ({"schedule_steps": (1,)}, {"schedule": "steps"}),
    ({"schedule": "steps"}, {"schedule_steps": (1,)}),
    ({}, {"warmup_steps": 3}),
    ({}, {"final_share": 0.5}),
    ({"optimizer": "sgd"}, {"momentum": 0.5}),
    ({"optimizer": "sgd"}, {"weight_decay": 0.1}),
    ({}, {"weight_decay": 0.1}),
    ({}, {"value_weight": 3.0}),
    ({}, {"importance_limit": 1.0}),
    ({"importance_limit": 1.0}, {"importance_limit": 0.1}),
    ({}, {"draw_target": "outcome"}),
    ({}, {"ownership_weight": 3.0}),
    ({}, {"score_weight": 3.0}),
    ({}, {"mask_illegal": False}),
    ({}, {"precision": "bf16"}),
]


@pytest.mark.parametrize(("base", "change"), SETTINGS)
def test_every_setting_acts(base: dict[str, Any], change: dict[str, Any]) -> None:
    weights = []
    for config in (replace(PLAIN, **base), replace(PLAIN, **base | change)):
        learner = new_learner(config, SCORE)
        for progress in (0.0, 0.5, 1.0):
            learner.step(BATCH, progress=progress)
        weights.append(learner.weights())
    assert any((weights[0][name] != weights[1][name]).any() for name in weights[0])


def test_no_setting_is_forgotten() -> None:
    names = {field.name for field in dataclasses.fields(LearnerConfig)}
    assert names == OBEYED_BY_THE_RUN | OF_LEARNED_RULES | ABOUT_SPEED | {
        name for _, change in SETTINGS for name in change
    }


def test_the_learner_takes_as_many_threads_as_set() -> None:
    for num_threads in (2, 1):
        new_learner(replace(PLAIN, num_threads=num_threads))
        assert torch.get_num_threads() == num_threads


@pytest.mark.parametrize(
    "change",
    [
        {"optimizer": "adagrad"},
        {"batch_size": 0},
        {"learning_rate": -1.0},
        {"momentum": 1.0},
        {"clip_norm": math.inf},
        {"clip_norm": math.nan},
        {"schedule_steps": (100, 0)},
    ],
)
def test_settings_are_checked(change: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=f"learner.{next(iter(change))} (is|are)"):
        LearnerConfig(**change)


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_decay_is_what_it_is_called(optimizer: str) -> None:
    """The first step subtracts rate · decay · weight besides the step of the gradient.

    SGD's is of all weights, as in the paper; AdamW's is of kernels, not of biases and norms.
    """
    config = replace(PLAIN, optimizer=optimizer, learning_rate=0.1)
    before = initial_weights(SMALL, SHAPE, seed=0)
    after = {}
    for decay in (0.0, 0.25):
        learner = new_learner(replace(config, weight_decay=decay))
        learner.step(BATCH, progress=0.0)
        after[decay] = learner.weights()
    for name, weight in before.items():
        is_decayed = ".running_" not in name and (optimizer == "sgd" or weight.ndim > 1)
        expected = 0.1 * 0.25 * weight if is_decayed else 0.0
        np.testing.assert_allclose(after[0.0][name] - after[0.25][name], expected, atol=1e-6, err_msg=name)


# ---- going on


@pytest.mark.parametrize("value_head", ["scalar", "wdl"])
@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_resuming_from_a_checkpoint_changes_no_bit(tmp_path: Path, optimizer: str, value_head: str) -> None:
    network = replace(SMALL, value_head=value_head, num_filters=12)
    config = replace(
        PLAIN,
        optimizer=optimizer,
        warmup_steps=5,
        schedule="steps",
        schedule_steps=(6,),
    )
    learner = new_learner(config, network)
    for seed in range(4):
        learner.step(make_batch(9, seed), progress=0.1)
    info = CheckpointInfo.describe(GAME.spec, network, step=learner.step_number, training={})
    path = save_checkpoint(
        tmp_path, Checkpoint(info=info, weights=learner.weights()), learner_state=learner.state(), learner_info={}
    )
    checkpoint = load_checkpoint(path)
    resumed = Learner(config, checkpoint.info.network, checkpoint.info.shape, dict(checkpoint.weights), device="cpu")
    resumed.load_state(load_learner_state(path)[0], step_number=checkpoint.info.step)
    for seed in range(4, 8):
        batch = make_batch(9, seed)
        assert resumed.step(batch, progress=0.2) == learner.step(batch, progress=0.2)
    assert resumed.step_number == learner.step_number == 8
    assert_same(resumed.weights(), learner.weights())
    assert_same(resumed.state(), learner.state())


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_the_state_matters(optimizer: str) -> None:
    config = replace(PLAIN, optimizer=optimizer)
    learner = new_learner(config)
    weights_after(learner, [BATCH] * 3)
    forgetful = Learner(config, SMALL, SHAPE, learner.weights(), device="cpu")
    assert any((learner.state()[name] != 0).any() for name in learner.state())
    ours, theirs = weights_after(learner, [BATCH]), weights_after(forgetful, [BATCH])
    assert any((ours[name] != theirs[name]).any() for name in ours)


def corner_of(grown: np.ndarray, old: np.ndarray) -> np.ndarray:
    """The old numbers in an array of a grown network."""
    return grown[tuple(map(slice, old.shape))]


@pytest.mark.parametrize("optimizer", ["adamw", "adam", "sgd"])
def test_a_grown_network_goes_on_and_its_new_weights_learn(optimizer: str) -> None:
    rate = 0.2 if optimizer == "sgd" else 0.01
    config = replace(PLAIN, optimizer=optimizer, learning_rate=rate, weight_decay=0.0)
    small = OWNERSHIP
    large = replace(small, num_blocks=2, num_filters=13)
    learner = new_learner(config, small)
    weights_after(learner, [make_batch(16, seed) for seed in range(5)])
    weights, state = learner.weights(), learner.state()
    grown = Learner(config, large, SHAPE, grown_weights(weights, large, SHAPE, seed=1), device="cpu")
    new_state = grown_state(state, large, SHAPE)
    grown.load_state(new_state, step_number=5)
    assert state.keys() <= new_state.keys() == grown.state().keys()
    assert_same(grown.state(), new_state)
    for name, value in state.items():
        np.testing.assert_array_equal(corner_of(new_state[name], value), value, err_msg=name)
        if value.ndim:
            assert np.count_nonzero(new_state[name]) == np.count_nonzero(value), name
    before = grown.weights()
    for name, weight in weights.items():
        np.testing.assert_array_equal(corner_of(before[name], weight), weight, err_msg=name)
    # The first step sees the same network, so it makes the same change to old weights.
    ours, theirs = grown.step(BATCH, progress=0.5), learner.step(BATCH, progress=0.5)
    assert ours.measures == pytest.approx(theirs.measures, abs=1e-5)
    for name, weight in learner.weights().items():
        np.testing.assert_allclose(corner_of(grown.weights()[name], weight), weight, atol=1e-4, err_msg=name)
    after = weights_after(grown, [make_batch(16, seed) for seed in range(6, 16)])
    for name, weight in after.items():
        moved = weight != before[name]
        if name in weights:
            moved[tuple(map(slice, weights[name].shape))] = False
        assert moved.any() == (name not in weights or weight.shape != weights[name].shape), name


def test_what_a_learner_gives_away_is_a_copy() -> None:
    learner = new_learner()
    weights_after(learner, [BATCH])
    weights, state = learner.weights(), learner.state()
    kept = {name: array.copy() for name, array in (weights | state).items()}
    weights_after(learner, [BATCH])
    assert_same(weights | state, kept)


def test_equal_steps_are_equal() -> None:
    assert_same(weights_after(new_learner(), [BATCH] * 3), weights_after(new_learner(), [BATCH] * 3))
