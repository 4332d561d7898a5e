"""The unrolled loss against a readable twin, in numbers and gradients, and what the learner does with it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from zerosum.games import make
from zerosum.games.random_play import random_leaves
from zerosum.learner import Learner, LearnerConfig
from zerosum.learner.inputs import StepInputs
from zerosum.learner.unroll import measure_names, unrolled_loss, with_half_gradient
from zerosum.network import NetworkConfig, NetworkShape, initial_weights
from zerosum.network.heads import policy_loss, value_loss
from zerosum.network.muzero_module import MuZeroModule
from zerosum.replay.batch import empty_batch

GAME = make("tictactoe")
SHAPE = NetworkShape.of(GAME.spec)
NETWORK = NetworkConfig(
    kind="muzero",
    num_blocks=1,
    dynamics_blocks=1,
    num_filters=6,
    policy_filters=4,
    value_filters=2,
    value_hidden=8,
)
PLAIN = LearnerConfig(warmup_steps=0, precision="f32", mask_illegal=False, unroll_steps=3, learning_rate=0.01)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def network_with_opinions(seed: int) -> MuZeroModule:
    weights = initial_weights(NETWORK, SHAPE, seed=seed)
    generator = np.random.default_rng(seed)
    return MuZeroModule(
        NETWORK,
        SHAPE,
        {name: (w + generator.normal(0, 0.2, w.shape)).astype(np.float32) for name, w in weights.items()},
    ).double()


def random_inputs(size: int, num_steps: int, seed: int) -> StepInputs:
    generator = torch.Generator().manual_seed(seed)
    rows = size * (num_steps + 1)
    planes = torch.from_numpy(random_leaves(GAME, rows).planes()).double()
    policy = torch.rand((rows, 9), generator=generator).double() + 0.01
    policy = policy / policy.sum(dim=1, keepdim=True)
    policy[torch.rand(rows, generator=generator) < 0.3] = 0
    value = (2 * torch.rand(rows, generator=generator) - 1).double()
    return StepInputs(
        planes,
        {
            "policy": policy,
            "value": value,
            "draws": torch.rand(rows, generator=generator).double(),
            "has_value": (torch.rand(rows, generator=generator) < 0.8).double(),
            "is_real": (torch.rand(rows, generator=generator) < 0.7).double(),
            "moves": torch.randint(0, 9, (rows,), generator=generator).double(),
        },
    )


def twin_loss(
    network: MuZeroModule, inputs: StepInputs, num_steps: int, later_weight: float, consistency_weight: float
) -> Tensor:
    """[B], a sample and a step at a time, with hooks in the place of `with_half_gradient`."""
    losses = []
    for first in range(0, len(inputs), num_steps + 1):
        loss = torch.zeros((), dtype=torch.float64)
        hidden = network.represent(inputs.planes[first : first + 1])
        for step in range(num_steps + 1):
            row = slice(first + step, first + step + 1)
            if step:
                move = inputs.targets["moves"][first + step - 1 : first + step].long()
                entering = hidden.clone()
                entering.register_hook(lambda gradient: gradient / 2)
                hidden = network.advance(entering, move)
                if consistency_weight:
                    with torch.no_grad():
                        real = network.represent(inputs.planes[row])
                    error = ((hidden - real) ** 2).mean() * inputs.targets["is_real"][first + step]
                    loss = loss + consistency_weight * error / num_steps
            logits = network.predict(hidden)
            of_policy = policy_loss(logits["policy"].float(), inputs.targets["policy"][row], None)[0]
            of_value = value_loss(logits["value"].float(), inputs.targets["value"][row], inputs.targets["draws"][row])[
                0
            ]
            share = 1.0 if step == 0 else later_weight / num_steps
            loss = loss + share * (of_policy + 0.7 * inputs.targets["has_value"][first + step] * of_value)
        losses.append(loss)
    return torch.stack(losses)


@pytest.mark.parametrize("num_steps", [1, 3, 5])
@pytest.mark.parametrize(("consistency_weight", "later_weight"), [(0.0, 1.0), (2.0, 1.0), (2.0, 3.0)])
def test_loss_and_gradients_equal_the_twins(num_steps: int, consistency_weight: float, later_weight: float) -> None:
    inputs = random_inputs(4, num_steps, seed=num_steps)
    fast, twin = network_with_opinions(3), network_with_opinions(3)
    heads = NETWORK.heads
    loss, measures = unrolled_loss(
        fast,
        inputs,
        heads,
        {"policy": 1.0, "value": 0.7},
        num_steps=num_steps,
        later_weight=later_weight,
        consistency_weight=consistency_weight,
    )
    expected = twin_loss(twin, inputs, num_steps, later_weight, consistency_weight)
    assert len(measures) == len(measure_names(heads))
    torch.testing.assert_close(loss.double(), expected.double(), rtol=1e-5, atol=1e-6)
    loss.mean().backward()  # type: ignore[no-untyped-call]
    expected.mean().backward()  # type: ignore[no-untyped-call]
    for (name, ours), theirs in zip(fast.named_parameters(), twin.parameters(), strict=True):
        assert ours.grad is not None and theirs.grad is not None, name
        assert theirs.grad.abs().max() > 0, name
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-7, msg=name)


def test_a_whole_gradient_would_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, gradients = random_inputs(4, 3, seed=1), []
    for is_halved in (True, False):
        if not is_halved:
            monkeypatch.setattr("zerosum.learner.unroll.with_half_gradient", lambda x: x)
        network = network_with_opinions(3)
        loss, _ = unrolled_loss(
            network,
            inputs,
            NETWORK.heads,
            {"policy": 1.0, "value": 1.0},
            num_steps=3,
            later_weight=1.0,
            consistency_weight=0.0,
        )
        loss.mean().backward()  # type: ignore[no-untyped-call]
        gradients.append({name: p.grad for name, p in network.named_parameters()})
    head, stem = "prediction.policy_out.weight", "representation.stem.weight"
    torch.testing.assert_close(gradients[0][head], gradients[1][head])
    assert (gradients[0][stem] - gradients[1][stem]).abs().max() > 1e-6


def test_half_a_gradient() -> None:
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    y = with_half_gradient(x)
    assert torch.equal(y, x)
    (3 * y).sum().backward()  # type: ignore[no-untyped-call]
    assert x.grad is not None
    assert x.grad.tolist() == [1.5, 1.5]


def learner_of(config: LearnerConfig = PLAIN) -> Learner:
    return Learner(config, NETWORK, SHAPE, initial_weights(NETWORK, SHAPE, seed=1), device="cpu")


def batch_with_targets(learner: Learner, size: int) -> Any:
    leaves = random_leaves(GAME, size * learner.rows_per_sample)
    batch = empty_batch(leaves, GAME.spec, learner.targets)
    generator = np.random.default_rng(1)
    targets = dict(batch.targets)
    targets["value"] = generator.choice([-1, 0, 1], len(batch)).astype(np.float32)
    targets["draws"] = (targets["value"] == 0).astype(np.float32)
    targets["has_value"] = targets["is_real"] = np.ones(len(batch), np.float32)
    targets["moves"] = generator.integers(0, 9, len(batch)).astype(np.float32)
    # Positions that differ.
    planes = generator.integers(0, 256, batch.packed_planes.shape).astype(np.uint8)
    return replace(batch, targets=targets, packed_planes=planes)


def test_one_batch_is_learned_by_heart() -> None:
    learner = learner_of()
    batch = batch_with_targets(learner, 12)
    first = dict(learner.step(batch, progress=0.0).measures)
    for _ in range(300):
        last = dict(learner.step(batch, progress=0.0).measures)
    assert last["value_loss"] < 0.1 * first["value_loss"]
    assert last["later_value_loss"] < 0.3 * first["later_value_loss"]


def test_every_setting_acts() -> None:
    weights = []
    changes: list[dict[str, Any]] = [{}, {"consistency_weight": 1.0}, {"unroll_steps": 1}, {"later_weight": 3.0}]
    for config in (replace(PLAIN, **change) for change in changes):
        learner = learner_of(config)
        batch = batch_with_targets(learner, 12)
        for _ in range(3):
            learner.step(batch, progress=0.0)
        weights.append(learner.weights()["dynamics.stem.weight"])
    for one, other in itertools.combinations(weights, 2):
        assert np.abs(one - other).max() > 1e-4


def test_slices_of_a_batch_have_the_gradient_of_the_whole() -> None:
    whole, sliced = learner_of(), learner_of()
    batch = batch_with_targets(whole, 12)
    sliced._num_slices = 5
    for learner in (whole, sliced):
        learner.step(batch, progress=0.0)
    for name, weight in whole.weights().items():
        np.testing.assert_allclose(weight, sliced.weights()[name], atol=2e-5, err_msg=name)


def test_a_resumed_learner_goes_on_bit_by_bit() -> None:
    straight = learner_of()
    batch = batch_with_targets(straight, 6)
    for _ in range(3):
        straight.step(batch, progress=0.0)
    weights, state = straight.weights(), straight.state()
    resumed = Learner(PLAIN, NETWORK, SHAPE, weights, device="cpu")
    resumed.load_state(state, step_number=3)
    for learner in (straight, resumed):
        learner.step(batch, progress=0.0)
    for name, weight in straight.weights().items():
        assert np.array_equal(weight, resumed.weights()[name]), name
