"""MuZero with rewards: heads of a support, n-step values, the search by hand, and an agent that learns a corridor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import corridor
import rewards_training
from corridor import DISCOUNT, JUMP, LEFT, NUM_SQUARES, RIGHT, START
from rewards_search import Bounds, Prediction, RewardNode, back_up, q, scaled_q, search
from rewards_training import NETWORK, NUM_STEPS, WEIGHTS, Game, n_step_value, sample
from support_heads import EPSILON, Support, restored, transformed
from zerosum.learner.inputs import StepInputs
from zerosum.learner.unroll import unrolled_loss
from zerosum.network.heads import policy_loss
from zerosum.network.muzero_module import MuZeroModule

pytestmark = pytest.mark.usefixtures("one_thread")

SUPPORT = Support(largest=10)
NUMBERS = st.floats(-100, 100)
"""h(100) is 9.15, within the support."""


# ---- heads of a support


@given(st.floats(-1e6, 1e6))
def test_the_transform_has_an_inverse(number: float) -> None:
    x = torch.tensor([number], dtype=torch.float64)
    torch.testing.assert_close(restored(transformed(x)), x, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(transformed(restored(x / 1000)), x / 1000, rtol=1e-9, atol=1e-9)


def test_the_transform_by_hand() -> None:
    x = torch.tensor([-8.0, -3.0, 0.0, 3.0, 8.0])
    expected = [-2 - 8 * EPSILON, -1 - 3 * EPSILON, 0, 1 + 3 * EPSILON, 2 + 8 * EPSILON]
    torch.testing.assert_close(transformed(x), torch.tensor(expected))


@given(NUMBERS)
def test_a_target_of_two_shares_means_its_number(number: float) -> None:
    x = torch.tensor([number], dtype=torch.float64)
    shares = SUPPORT.two_hot(x)
    assert shares.shape == (1, 21) and shares.sum().item() == pytest.approx(1) and shares.min() >= 0
    assert 1 <= np.count_nonzero(shares[0]) <= 2
    torch.testing.assert_close(SUPPORT.number(shares.clamp(min=1e-300).log()), x, rtol=1e-6, atol=1e-6)


def test_two_shares_by_hand_and_beyond_the_support() -> None:
    x = restored(torch.tensor([-0.25, 2.0, 7.0, -7.0], dtype=torch.float64))
    expected = torch.tensor(
        [[0, 0.25, 0.75, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 1], [1, 0, 0, 0, 0]], dtype=torch.float64
    )
    torch.testing.assert_close(Support(largest=2).two_hot(x), expected)


@given(NUMBERS)
def test_the_loss_is_least_at_the_target(number: float) -> None:
    target = torch.tensor([number], dtype=torch.float64)
    logits = SUPPORT.two_hot(target).clamp(min=1e-12).log().requires_grad_()
    SUPPORT.loss(logits, target).sum().backward()
    assert logits.grad is not None and logits.grad.abs().max() < 1e-6


# ---- targets and loss


def test_n_step_values_by_hand() -> None:
    rewards, values = [1.0, -2.0, 4.0], [10.0, 20.0, 30.0, 40.0]
    assert n_step_value(rewards, values, 0, num_moves=1) == pytest.approx(1 + DISCOUNT * 20)
    assert n_step_value(rewards, values, 0, num_moves=2) == pytest.approx(1 - 2 * DISCOUNT + DISCOUNT**2 * 30)
    whole = 1 - 2 * DISCOUNT + 4 * DISCOUNT**2 + 40 * DISCOUNT**3
    assert n_step_value(rewards, values, 0, num_moves=3) == pytest.approx(whole)
    assert n_step_value(rewards, values, 0, num_moves=9) == pytest.approx(whole)
    assert n_step_value(rewards, values, 2, num_moves=5) == pytest.approx(4 + DISCOUNT * 40)
    assert n_step_value(rewards, values, 3, num_moves=5) == 40


@pytest.mark.parametrize("is_over", [True, False])
def test_the_rows_of_a_sample(is_over: bool) -> None:
    """Two moves to the end: after it rewards and values are 0, and after a cut they are unknown."""
    shares = [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]
    game = Game([3, 4, 5], [RIGHT, RIGHT], [-0.5, 9.5], shares, [6.0, 7.0, 0.0 if is_over else 2.0], is_over)
    rows = sample(game, 0, np.random.default_rng(1))
    assert len(rows) == NUM_STEPS + 1 == 4
    assert [int(row["planes"].argmax()) for row in rows] == [3, 4, 5, 5]
    assert [row["policy"] for row in rows] == [*shares, [0.0] * 3, [0.0] * 3]
    assert [row["moves"] for row in rows[:2]] == [RIGHT, RIGHT]
    assert [row["reward"] for row in rows] == [0, -0.5, 9.5, 0]
    assert [row["has_reward"] for row in rows] == [False, True, True, is_over]
    assert [row["has_value"] for row in rows] == [True, True, True, is_over]
    last = 0.0 if is_over else 2.0
    expected = [-0.5 + DISCOUNT * 9.5 + DISCOUNT**2 * last, 9.5 + DISCOUNT * last, last, 0]
    assert [row["value"] for row in rows] == pytest.approx(expected)


def network_with_opinions() -> MuZeroModule:
    module, generator = rewards_training.new_module(seed=1), np.random.default_rng(1)
    module.load_weights(
        {name: (w + generator.normal(0, 0.2, w.shape)).astype(np.float32) for name, w in module.weights().items()}
    )
    return module.double()


def test_the_loss_has_the_rewards_of_the_later_steps() -> None:
    """Step by step: policy and value at each, rewards from step 1 on, with weight 1/K each from there."""
    module, generator = network_with_opinions(), torch.Generator().manual_seed(1)
    rows, size, share = NUM_STEPS + 1, 5, 1 / NUM_STEPS

    def draw(low: float, high: float) -> torch.Tensor:
        return low + (high - low) * torch.rand(size * rows, generator=generator).double()

    targets = {
        "policy": torch.rand((size * rows, 3), generator=generator).double().softmax(dim=1),
        "value": draw(-10, 10),
        "has_value": draw(0, 1).round(),
        "reward": draw(-10, 10),
        "has_reward": (torch.arange(size * rows) % rows > 0).double(),
        "moves": draw(-0.5, 2.5).round(),
    }
    squares = torch.randint(0, NUM_SQUARES, (size * rows,), generator=generator)
    planes = torch.eye(NUM_SQUARES).double()[squares][:, None, None]
    loss, _ = unrolled_loss(
        module,
        StepInputs(planes, targets),
        NETWORK.heads,
        {**WEIGHTS, "reward": 0.7},
        num_steps=NUM_STEPS,
        later_weight=1.0,
        consistency_weight=0.0,
    )
    support = rewards_training.SUPPORT
    for number in range(size):
        hidden, expected = module.represent(planes[number * rows : number * rows + 1]), 0.0
        for k in range(rows):
            row = slice(number * rows + k, number * rows + k + 1)
            if k:
                hidden = module.advance(hidden, targets["moves"][row.start - 1 : row.stop - 1].long())
            said = {name: logits.float() for name, logits in module.predict(hidden).items()}
            at = policy_loss(said["policy"], targets["policy"][row], None)
            at = at + targets["has_value"][row] * support.loss(said["value"], targets["value"][row])
            if k:
                at = at + 0.7 * targets["has_value"][row] * support.loss(said["reward"], targets["reward"][row])
            expected += (share if k else 1) * at.item()
        assert loss[number].item() == pytest.approx(expected, rel=1e-5)


def test_rewards_teach_the_dynamics() -> None:
    """The gradient of the reward's loss alone reaches the dynamics, and no reward is learned of step 0."""
    gradients = []
    for has_reward in (1.0, 0.0):
        module = network_with_opinions()
        rows = NUM_STEPS + 1
        targets = {
            "policy": torch.zeros((rows, 3)).double(),
            "value": torch.zeros(rows).double(),
            "has_value": torch.ones(rows).double(),
            "reward": torch.full((rows,), 5.0).double(),
            "has_reward": torch.tensor([0.0, has_reward, 0, 0]).double(),
            "moves": torch.zeros(rows).double(),
        }
        planes = torch.eye(NUM_SQUARES).double()[[START] * rows][:, None, None]
        loss, _ = unrolled_loss(
            module,
            StepInputs(planes, targets),
            NETWORK.heads,
            {"policy": 0.0, "value": 0.0, "reward": 1.0},
            num_steps=NUM_STEPS,
            later_weight=1.0,
            consistency_weight=0.0,
        )
        loss.mean().backward()  # type: ignore[no-untyped-call]
        gradients.append({name: parameter.grad for name, parameter in module.named_parameters()})
    assert gradients[0]["dynamics.stem.weight"].abs().max() > 1e-6
    assert gradients[1]["prediction.reward_out.weight"].abs().max() == 0


# ---- the search


def test_a_back_up_by_hand() -> None:
    path = [RewardNode(None, sign=1), RewardNode(None, sign=1, reward=2.0), RewardNode(None, sign=1, reward=-1.0)]
    bounds = Bounds()
    back_up(path, 10.0, bounds, discount=0.5)
    assert [node.value_sum for node in path] == [4.0, 4.0, 10.0]  # -1 + 10/2, then 2 + 4/2
    assert [node.visits for node in path] == [1, 1, 1]
    assert [q(node, 0.5) for node in path[1:]] == [4.0, 4.0]
    assert (bounds.low, bounds.high) == (4.0, 4.0) and bounds.scaled(4.0) == 0
    back_up(path[:2], 0.0, bounds, discount=0.5)
    assert (path[0].value_sum, path[1].value_sum) == (6.0, 4.0)
    assert (bounds.low, bounds.high) == (3.0, 4.0)  # the mean of 4 and 0, halved, and the reward
    path[0].children[RIGHT] = path[1]
    path[0].children[LEFT] = RewardNode(None, sign=1, reward=3.75, visits=1)
    assert scaled_q(path[0], RIGHT, bounds, 0.5) == -1
    assert scaled_q(path[0], LEFT, bounds, 0.5) == 0.5
    assert scaled_q(path[0], JUMP, bounds, 0.5) == -1


class PerfectModel:
    """Knows the corridor and, if `knows_values`, what its squares are worth. After an end nothing more is paid."""

    def __init__(self, factor: float, *, knows_values: bool) -> None:
        self._factor, best = factor, corridor.optimal_values()
        self._values = [factor * value * knows_values for value in best]

    def represent(self, planes: Any) -> Prediction:
        square = int(planes.argmax())
        return Prediction(square, [0.0] * 3, self._values[square], 0.0)

    def advance(self, hidden: int, action: int) -> Prediction:
        if hidden in (0, NUM_SQUARES - 1):
            return Prediction(hidden, [0.0] * 3, 0.0, 0.0)
        made = corridor.step(hidden, action)
        return Prediction(made.square, [0.0] * 3, self._values[made.square], self._factor * made.reward)


def visits_of(model: PerfectModel, square: int) -> list[int]:
    root = search(model, corridor.planes(square), num_simulations=60, discount=DISCOUNT)
    assert root.visits == 61
    return [root.children[move].visits if move in root.children else 0 for move in (LEFT, RIGHT, JUMP)]


@pytest.mark.parametrize(("square", "best"), [(2, JUMP), (3, RIGHT), (4, RIGHT)])
def test_a_search_finds_the_best_move_however_rewards_are_counted(square: int, best: int) -> None:
    """Rewards 1024 times as large have the same search, since Q is scaled by what the tree has seen."""
    visits = visits_of(PerfectModel(1.0, knows_values=True), square)
    assert int(np.argmax(visits)) == best
    assert visits == visits_of(PerfectModel(1024.0, knows_values=True), square)


def test_without_values_the_search_takes_what_is_near() -> None:
    assert int(np.argmax(visits_of(PerfectModel(1.0, knows_values=False), START))) == LEFT


# ---- the whole


def test_the_corridor_is_a_trap() -> None:
    assert corridor.optimal_moves() == [RIGHT, JUMP, RIGHT]
    expected = -0.5 - 4 * DISCOUNT + 9.5 * DISCOUNT**2
    assert corridor.optimal_values()[START] == pytest.approx(expected)
    assert max(range(3), key=lambda move: corridor.step(START, move).reward) == LEFT  # the nearest reward
    assert corridor.step(START, LEFT).reward < expected


def test_an_agent_learns_the_corridor() -> None:
    module = rewards_training.new_module(seed=1)
    best, moves = corridor.optimal_values()[START], corridor.optimal_moves()
    assert rewards_training.greedy_game(module)[1] < best - 1
    assert rewards_training.predicted_rewards(module, moves) == [0.0] * 3
    rewards_training.train(module, num_games=160, seed=1)
    assert rewards_training.greedy_game(module) == (moves, pytest.approx(best))
    assert rewards_training.predicted_rewards(module, moves) == pytest.approx([-0.5, -4, 9.5], abs=0.5)
