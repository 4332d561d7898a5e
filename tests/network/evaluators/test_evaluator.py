"""The evaluators against each other, against the plain network, and under several threads."""

from __future__ import annotations

import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from networks_for_tests import (
    BF16_TOLERANCE,
    EVERY_ARCHITECTURE,
    F32_TOLERANCE,
    SMALL,
    FakeLeaves,
    assert_close,
    make_checkpoint,
    make_info,
    make_leaves,
    plain_answer,
)
from zerosum._core import Game
from zerosum.base.errors import DataError, SettingsError
from zerosum.network import Checkpoint, CheckpointInfo
from zerosum.network.evaluators import Evaluations, RolloutEvaluator, UniformEvaluator
from zerosum.network.evaluators.evaluator import evaluations_of
from zerosum.network.evaluators.openvino import OpenVinoEvaluator
from zerosum.network.evaluators.torch import TorchEvaluator

openvino = pytest.importorskip("openvino")

HAS_BF16 = "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
PRECISIONS = ["f32", pytest.param("bf16", marks=pytest.mark.skipif(not HAS_BF16, reason="a CPU without bfloat16"))]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("info", EVERY_ARCHITECTURE.values(), ids=EVERY_ARCHITECTURE)
def test_torch_and_openvino_say_what_the_plain_network_says(info, precision):
    checkpoint = make_checkpoint(info)
    tolerance = F32_TOLERANCE if precision == "f32" else BF16_TOLERANCE
    for evaluator in (
        TorchEvaluator(checkpoint, device="cpu", precision=precision),
        OpenVinoEvaluator(checkpoint, batch_size=8, precision=precision),
    ):
        # Full, partly filled over what was there before, empty, and more than a batch.
        for size in (8, 3, 1, 0, 8, 9, 21):
            leaves = make_leaves(info, size, seed=size)
            assert_close(evaluator.evaluate(leaves), plain_answer(checkpoint, leaves), tolerance)


@pytest.mark.parametrize("name", ["tictactoe", "connect4"])
def test_the_cores_positions_are_evaluated_as_the_plain_network_does(name):
    game = Game(name)
    random = np.random.default_rng(0)
    states, state = [], game.initial_state()
    while len(states) < 40:
        actions = game.legal_actions(state)
        states += [state] if actions else []
        state = game.play(state, int(random.choice(actions))) if actions else game.initial_state()
    leaves = game.encode(states)
    checkpoint = make_checkpoint(CheckpointInfo.describe(game.spec, SMALL, step=0))
    expected = plain_answer(checkpoint, leaves)
    for evaluator in (
        TorchEvaluator(checkpoint, device="cpu", precision="f32"),
        OpenVinoEvaluator(checkpoint, batch_size=64, precision="f32"),
        OpenVinoEvaluator(checkpoint, batch_size=16, precision="f32"),
    ):
        assert_close(evaluator.evaluate(leaves), expected, F32_TOLERANCE)
    assert np.abs(RolloutEvaluator(8).evaluate(leaves).values).max() <= 1
    assert len(UniformEvaluator().evaluate(leaves).logits) == len(leaves.legal_actions)


def test_the_answers_tell_positions_apart():
    """Guards the tolerances above: what they compare differs by much more than they allow."""
    info = make_info(dataclasses.replace(SMALL, value_head="scalar"))
    logits, values, _ = plain_answer(make_checkpoint(info), make_leaves(info, 64))
    assert logits.std() > 10 * BF16_TOLERANCE
    assert values.std() > 4 * BF16_TOLERANCE


@pytest.mark.parametrize("make", [TorchEvaluator, lambda c: OpenVinoEvaluator(c, num_streams=2, batch_size=16)])
def test_four_threads_get_what_one_gets(make):
    # Torch keeps this number for each thread, and new ones begin with what any thread, as a learner's, set last.
    torch.set_num_threads(torch.get_num_threads())
    info = make_info(SMALL)
    evaluator = make(make_checkpoint(info))
    batches = [make_leaves(info, size, seed=size) for size in range(1, 17)] * 4
    alone = [evaluator.evaluate(leaves) for leaves in batches]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(evaluator.evaluate, batches))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.logits, other.logits)
        np.testing.assert_array_equal(one.values, other.values)


@pytest.mark.parametrize("make", [TorchEvaluator, lambda c: OpenVinoEvaluator(c, batch_size=4, precision="f32")])
def test_a_network_is_replaced_under_way(make):
    """Every answer of a running thread is wholly one network's, and the last is the new one's."""
    info = make_info(SMALL)
    old, new = make_checkpoint(info, seed=1), make_checkpoint(info, seed=2)
    leaves = make_leaves(info, 4)
    evaluator, answers, is_over = make(old), [], threading.Event()

    def work():
        while not is_over.is_set():
            answers.append(evaluator.evaluate(leaves).logits)
        answers.append(evaluator.evaluate(leaves).logits)

    worker = threading.Thread(target=work)
    worker.start()
    for checkpoint in (new, old, new):
        evaluator.update(checkpoint)
    is_over.set()
    worker.join()
    expected = [plain_answer(checkpoint, leaves)[0] for checkpoint in (old, new)]
    assert not np.allclose(*expected, atol=0.01)
    for logits in answers:
        assert any(np.allclose(logits, either, atol=F32_TOLERANCE, rtol=F32_TOLERANCE) for either in expected)
    np.testing.assert_allclose(answers[-1], expected[1], atol=F32_TOLERANCE, rtol=F32_TOLERANCE)


def test_an_update_may_change_the_size_of_the_network():
    small = make_checkpoint(make_info(SMALL))
    larger = make_checkpoint(make_info(dataclasses.replace(SMALL, num_blocks=3, value_head="scalar")))
    leaves = make_leaves(small.info, 5)
    for evaluator in (TorchEvaluator(small, device="cpu"), OpenVinoEvaluator(small, batch_size=8, precision="f32")):
        evaluator.evaluate(leaves)
        evaluator.update(larger)
        assert_close(evaluator.evaluate(leaves), plain_answer(larger, leaves), F32_TOLERANCE)
        evaluator.update(small)
        assert_close(evaluator.evaluate(leaves), plain_answer(small, leaves), F32_TOLERANCE)


@given(st.lists(st.lists(st.floats(-30, 30, width=32), min_size=3, max_size=3), min_size=1, max_size=8))
def test_the_value_is_win_minus_loss(rows):
    value_logits = np.array(rows, np.float32)
    leaves = make_leaves(make_info(SMALL), len(rows))
    found = evaluations_of(leaves, np.zeros(leaves.legal_offsets[-1], np.float32), value_logits)
    wdl = torch.from_numpy(value_logits).double().softmax(dim=1).numpy()
    np.testing.assert_allclose(found.wdl, wdl, atol=1e-6)
    np.testing.assert_allclose(found.values, wdl[:, 0] - wdl[:, 2], atol=1e-6)


def test_a_value_by_hand():
    leaves = make_leaves(make_info(SMALL), 1)
    logits = np.zeros(leaves.legal_offsets[-1], np.float32)
    found = evaluations_of(leaves, logits, np.log(np.array([[0.5, 0.3, 0.2]], np.float32)))
    np.testing.assert_allclose(found.values, [0.3], atol=1e-6)
    np.testing.assert_allclose(found.wdl, [[0.5, 0.3, 0.2]], atol=1e-6)
    found = evaluations_of(leaves, logits, np.array([[0.5]], np.float32))
    np.testing.assert_allclose(found.values, [0.46211716], atol=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_refused_naming_the_leaf(bad):
    leaves = FakeLeaves(np.zeros((3, 1, 2, 2), np.float32), [False], [[0, 2], [1], [0, 1, 3]])
    logits, values, wdl = np.zeros(6, np.float32), np.zeros(3, np.float32), np.full((3, 3), 1 / 3, np.float32)
    Evaluations(leaves, logits, values, wdl)
    for index, leaf, action in [(0, 0, 0), (1, 0, 2), (2, 1, 1), (5, 2, 3)]:
        damaged = logits.copy()
        damaged[index] = bad
        with pytest.raises(DataError, match=f"Leaf {leaf} of 3 .* a logit of {bad} for action {action},"):
            Evaluations(leaves, damaged, values, wdl)
    with pytest.raises(DataError, match=f"Leaf 1 of 3 .* a value of {bad},"):
        Evaluations(leaves, logits, np.array([0, bad, 0], np.float32), wdl)
    damaged = wdl.copy()
    damaged[2, 1] = bad
    with pytest.raises(DataError, match=r"Leaf 2 of 3 .* win, draw and loss of"):
        Evaluations(leaves, logits, values, damaged)


def test_a_value_beyond_one_is_refused():
    leaves = make_leaves(make_info(SMALL), 2)
    logits = np.zeros(leaves.legal_offsets[-1], np.float32)
    with pytest.raises(DataError, match=r"Leaf 1 of 2 .* a value of 1.5,"):
        Evaluations(leaves, logits, np.array([-1, 1.5], np.float32))


def test_wrong_shapes_are_refused():
    leaves = make_leaves(make_info(SMALL), 2)
    logits, values = np.zeros(leaves.legal_offsets[-1], np.float32), np.zeros(2, np.float32)
    with pytest.raises(ValueError, match="logits are float32"):
        Evaluations(leaves, logits[1:], values)
    with pytest.raises(ValueError, match=r"values are float64 \[2\], expected float32 \[2\]"):
        Evaluations(leaves, logits, values.astype(np.float64))
    with pytest.raises(ValueError, match=r"wdl are float32 \[3, 2\], expected float32 \[2, 3\]"):
        Evaluations(leaves, logits, values, np.zeros((3, 2), np.float32))


@pytest.mark.parametrize("value_head", ["wdl", "scalar"])
@pytest.mark.parametrize("make", [TorchEvaluator, lambda c: OpenVinoEvaluator(c, batch_size=4, precision="f32")])
def test_a_network_that_has_diverged_is_refused(make, value_head):
    info = make_info(dataclasses.replace(SMALL, value_head=value_head))
    checkpoint = make_checkpoint(info)
    weights = {**checkpoint.weights, "value_out.bias": np.full_like(checkpoint.weights["value_out.bias"], np.nan)}
    with pytest.raises(DataError, match=r"Leaf 0 of 3 .* a value of nan"):
        make(Checkpoint(info, weights)).evaluate(make_leaves(info, 3))


def test_uniform_has_no_opinion():
    leaves = make_leaves(make_info(SMALL), 4)
    found = UniformEvaluator().evaluate(leaves)
    assert len(found.logits) == leaves.legal_offsets[-1]
    assert not found.logits.any()
    assert not found.values.any()
    assert found.wdl is None


def test_rollouts_repeat_with_their_seed_and_differ_from_call_to_call():
    leaves = make_leaves(make_info(SMALL), 64)
    first, again, other = (RolloutEvaluator(4, seed=seed) for seed in (1, 1, 2))
    sequence = [first.evaluate(leaves).values for _ in range(3)]
    for values in sequence:
        np.testing.assert_array_equal(values, again.evaluate(leaves).values)
    assert (sequence[0] != sequence[1]).any()
    assert (sequence[0] != other.evaluate(leaves).values).any()
    assert not first.evaluate(leaves).logits.any()
    with pytest.raises(SettingsError, match="num_rollouts is 0"):
        RolloutEvaluator(0)
