"""Weights by importance, against a twin that computes them sample by sample."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from learners_for_tests import BATCH, PLAIN, SCORE, new_learner
from zerosum.learner.importance import importance_weights

pytestmark = pytest.mark.usefixtures("one_thread")


def weights_twin(logits: list[list[float]], legal: list[list[bool]], played: list[int], shares: list[float], c: float):
    """min(c, pi(a) / mu(a)) of each sample, by the mean of all."""
    ratios = []
    for row, is_legal, action, share in zip(logits, legal, played, shares, strict=True):
        total = sum(math.exp(logit) for logit, allowed in zip(row, is_legal, strict=True) if allowed)
        ratios.append(min(c, math.exp(row[action]) / total / share) if share else c)
    return [ratio / (sum(ratios) / len(ratios)) for ratio in ratios]


@pytest.mark.parametrize("limit", [0.1, 1.0, 50.0])
@pytest.mark.parametrize("is_masked", [True, False])
def test_weights_equal_their_twin(limit: float, is_masked: bool) -> None:
    generator = np.random.default_rng(5)
    logits = torch.from_numpy(generator.normal(size=(64, 9)).astype(np.float32))
    played, shares = generator.integers(9, size=64), generator.random(64).astype(np.float32)
    shares[::7] = 0
    legal = generator.random((64, 9)) < 0.6
    legal[np.arange(64), played] = True
    targets = {"played": torch.from_numpy(played).float(), "played_share": torch.from_numpy(shares)}
    if is_masked:
        targets["legal"] = torch.from_numpy(legal)
    else:
        legal[:] = True
    found = importance_weights(logits, targets, limit=limit)
    expected = weights_twin(logits.tolist(), legal.tolist(), played.tolist(), shares.tolist(), limit)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert float(found.mean()) == pytest.approx(1)
    assert len(set(found.tolist())) > 1


def test_moves_that_the_network_never_makes_leave_no_number_undefined() -> None:
    logits = torch.tensor([[0.0, -1000.0], [0.0, -1000.0]])
    for share in (0.0, 0.5):
        targets = {"played": torch.ones(2), "played_share": torch.full((2,), share)}
        assert importance_weights(logits, targets, limit=1.0).tolist() == [0, 0]


def test_the_losses_of_what_came_of_the_game_are_weighted_and_the_weights_have_no_gradient() -> None:
    """The gradient is that of losses with constant weights; the policy's has none, and neither has what is reported."""
    learner, plain = (new_learner(replace(PLAIN, importance_limit=limit), SCORE) for limit in (0.7, None))
    inputs = learner.prepare(BATCH)
    learner._gradient(inputs)
    found = {name: parameter.grad for name, parameter in learner._network.named_parameters()}

    output = plain._network.train()(inputs.planes)
    logits = {name: values.float() for name, values in output.logits.items()}
    constant = importance_weights(logits["policy"], inputs.targets, limit=0.7)
    assert float(constant.max() - constant.min()) > 0.1
    loss = sum(
        (
            plain._weight(head)
            * head.loss(logits[head.name], inputs.targets)
            * (1 if head.name == "policy" else constant)
        ).mean()
        for head in SCORE.heads
    )
    assert isinstance(loss, torch.Tensor)
    loss.backward()
    for name, parameter in plain._network.named_parameters():
        torch.testing.assert_close(found[name], parameter.grad, rtol=1e-4, atol=1e-6)

    learner, plain = (new_learner(replace(PLAIN, importance_limit=limit), SCORE) for limit in (0.7, None))
    assert learner.step(BATCH, progress=0.0) == plain.step(BATCH, progress=0.0)


def test_a_batch_has_the_moves_only_where_they_are_asked_for() -> None:
    assert {"played", "played_share"} <= new_learner(replace(PLAIN, importance_limit=1.0)).targets
    assert not {"played", "played_share"} & new_learner().targets
