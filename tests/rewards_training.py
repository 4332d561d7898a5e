"""MuZero with rewards, whole and small: the corridor's network, self-play, samples and steps.

    module = new_module(seed=1)
    train(module, num_games=160, seed=1)
    moves, total = greedy_game(module)

The network, its loss and the halved gradient are the product's (`muzero_module.py`, `learner/unroll.py`); heads are
data there, so rewards are one more head. The search is `rewards_search.py`.

Suffixes: B samples, K steps, T moves of a game, C planes of H x W squares, A actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from typing_extensions import override

import corridor
from corridor import DISCOUNT, NUM_MOVES, NUM_SQUARES, START
from rewards_search import Prediction, RewardNode, policy_target, search
from support_heads import Support, reward_head, value_head
from zerosum.learner.inputs import StepInputs
from zerosum.learner.unroll import unrolled_loss
from zerosum.network import NetworkConfig, NetworkShape, initial_weights
from zerosum.network.heads import POLICY, Head
from zerosum.network.muzero_module import MuZeroModule

SUPPORT = Support(largest=3)
"""h(9.5) is 2.25, and h(-10) is -2.33: the largest and the smallest reward."""
SHAPE = NetworkShape(num_planes=1, height=1, width=NUM_SQUARES, num_actions=NUM_MOVES)
NUM_STEPS, NUM_BOOTSTRAP_MOVES, NUM_SIMULATIONS, MOST_MOVES = 3, 3, 30, 20
NOISE_ALPHA, BATCH_SIZE, STEPS_PER_GAME, LEARNING_RATE = 0.3, 32, 4, 5e-3
WINDOW, RANDOM_SHARE = 80, 0.25
"""The newest games, from which samples are drawn, and the share of the first games whose moves are random."""
WEIGHTS = {"policy": 1.0, "value": 1.0, "reward": 1.0}


class RewardNetwork(NetworkConfig):
    """A MuZero network whose value is a return, with a reward head."""

    @property
    @override
    def heads(self) -> tuple[Head, ...]:
        return (POLICY, value_head(SUPPORT), reward_head(SUPPORT))


NETWORK = RewardNetwork(
    kind="muzero", num_blocks=1, dynamics_blocks=1, num_filters=24, policy_filters=4, value_filters=8, value_hidden=32
)


def new_module(seed: int) -> MuZeroModule:
    """A network of random weights, whose predictions are equal policies, values of 0 and rewards of 0."""
    return MuZeroModule(NETWORK, SHAPE, initial_weights(NETWORK, SHAPE, seed=seed))


class CorridorModel:
    """A `rewards_search.Model`."""

    def __init__(self, module: MuZeroModule) -> None:
        self._module = module

    def represent(self, planes: NDArray[np.float32]) -> Prediction:
        """What a position is."""
        with torch.inference_mode():
            return self._said(self._module.represent(torch.from_numpy(planes)[None]), is_after_move=False)

    def advance(self, hidden: Any, action: int) -> Prediction:
        """What a move leads to."""
        with torch.inference_mode():
            return self._said(self._module.advance(hidden, torch.tensor([action])), is_after_move=True)

    def _said(self, hidden: Any, *, is_after_move: bool) -> Prediction:
        logits = self._module.predict(hidden)
        value, reward = SUPPORT.number(torch.cat([logits["value"], logits["reward"]])).tolist()
        return Prediction(hidden, logits["policy"][0].tolist(), value, reward if is_after_move else 0.0)


@dataclass(frozen=True)
class Game:
    """A game of T moves."""

    squares: list[int]
    """T + 1, from the first to the last."""
    moves: list[int]
    """T."""
    rewards: list[float]
    """T."""
    policies: list[list[float]]
    """T rows of A shares of visits."""
    values: list[float]
    """T values of searches, and one of the last position: 0 at the end of a game, else what the network says."""
    is_over: bool
    """Whether it was ended by the rules."""


def n_step_value(rewards: Sequence[float], values: Sequence[float], first: int, *, num_moves: int) -> float:
    """z_t = u_{t+1} + gamma u_{t+2} + … + gamma^{n-1} u_{t+n} + gamma^n v_{t+n} (paper, section "MuZero algorithm").

    `rewards` are of T moves and `values` of T + 1 positions; t is `first`, n is `num_moves`, or T - t if it is less.
    """
    last = min(first + num_moves, len(rewards))
    discounted = sum(DISCOUNT**i * reward for i, reward in enumerate(rewards[first:last]))
    return discounted + DISCOUNT ** (last - first) * values[last]


def play(model: CorridorModel, generator: np.random.Generator, *, is_random: bool = False) -> Game:
    """A game of self-play: noise at the roots, and moves drawn by their visits, or at random.

    It begins on any square between the ends, as many games of zerosum's self-play begin with random moves: else most
    would end at the coin, and nobody would see the treasure.
    """
    squares = [int(generator.integers(1, NUM_SQUARES - 1))]
    moves, rewards, policies, values, is_over = list[int](), list[float](), list[list[float]](), list[float](), False
    while not is_over and len(moves) < MOST_MOVES:
        root = _searched(model, squares[-1], generator.dirichlet([NOISE_ALPHA] * NUM_MOVES))
        policies.append(list(policy_target(root).values()))
        values.append(root.value_sum / root.visits)
        moves.append(int(generator.choice(NUM_MOVES, p=None if is_random else policies[-1])))
        made = corridor.step(squares[-1], moves[-1])
        squares.append(made.square)
        rewards.append(made.reward)
        is_over = made.is_over
    values.append(0.0 if is_over else model.represent(corridor.planes(squares[-1])).value)
    return Game(squares, moves, rewards, policies, values, is_over)


def greedy_game(module: MuZeroModule) -> tuple[list[int], float]:
    """The moves of a game by the most visited ones, without noise, and its discounted return."""
    model, square, moves, total, is_over = CorridorModel(module), START, list[int](), 0.0, False
    while not is_over and len(moves) < MOST_MOVES:
        shares = policy_target(_searched(model, square, None))
        best = max(shares, key=lambda move: shares[move])
        made = corridor.step(square, best)
        total += DISCOUNT ** len(moves) * made.reward
        moves.append(best)
        square, is_over = made.square, made.is_over
    return moves, total


def predicted_rewards(module: MuZeroModule, moves: Sequence[int]) -> list[float]:
    """The rewards that the model expects of moves from the start, without a look at the corridor after it."""
    model = CorridorModel(module)
    hidden, rewards = model.represent(corridor.planes(START)).hidden, []
    for move in moves:
        said = model.advance(hidden, move)
        hidden = said.hidden
        rewards.append(said.reward)
    return rewards


def train(module: MuZeroModule, *, num_games: int, seed: int) -> None:
    """Play games, and learn from positions of the newest after each, at a rate that falls to 0."""
    generator, games, model = np.random.default_rng(seed), list[Game](), CorridorModel(module)
    optimizer = torch.optim.Adam(module.parameters(), lr=LEARNING_RATE)
    rate = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=1, end_factor=0, total_iters=num_games)
    for number in range(num_games):
        games.append(play(model, generator, is_random=number < RANDOM_SHARE * num_games))
        for _ in range(STEPS_PER_GAME):
            inputs = make_inputs(games[-WINDOW:], generator)
            loss_B, _ = unrolled_loss(
                module,
                inputs,
                NETWORK.heads,
                WEIGHTS,
                num_steps=NUM_STEPS,
                later_weight=1.0,
                consistency_weight=0.0,
            )
            optimizer.zero_grad()
            loss_B.mean().backward()
            optimizer.step()
        rate.step()


def make_inputs(games: Sequence[Game], generator: np.random.Generator) -> StepInputs:
    """`BATCH_SIZE` samples of positions drawn from all, in rows as `replay/unrolled.py` has them."""
    rows = list[dict[str, Any]]()
    for index in generator.integers(len(games), size=BATCH_SIZE):
        game = games[index]
        rows += sample(game, int(generator.integers(len(game.moves))), generator)
    targets = {name: torch.from_numpy(np.array([row[name] for row in rows], np.float32)) for name in rows[0]}
    return StepInputs(targets.pop("planes"), targets)


def sample(game: Game, first: int, generator: np.random.Generator) -> list[dict[str, Any]]:
    """K + 1 rows from a position on.

    After the end of a game moves are random, and values and rewards are 0; after a cut they are unknown.
    """
    rows, num_moves = [], len(game.moves)
    for at in range(first, first + NUM_STEPS + 1):
        is_played = at < num_moves
        value = n_step_value(game.rewards, game.values, at, num_moves=NUM_BOOTSTRAP_MOVES) if at <= num_moves else 0.0
        rows.append(
            {
                "planes": corridor.planes(game.squares[min(at, num_moves)]),
                "policy": game.policies[at] if is_played else [0.0] * NUM_MOVES,
                "value": value,
                "has_value": at <= num_moves or game.is_over,
                "reward": game.rewards[at - 1] if first < at <= num_moves else 0.0,
                "has_reward": at > first and (at <= num_moves or game.is_over),
                "moves": game.moves[at] if is_played else int(generator.integers(NUM_MOVES)),
            }
        )
    return rows


def _searched(model: CorridorModel, square: int, noise: NDArray[np.float64] | None) -> RewardNode:
    return search(
        model,
        corridor.planes(square),
        num_simulations=NUM_SIMULATIONS,
        discount=DISCOUNT,
        noise=None if noise is None else noise.astype(np.float32),
    )
