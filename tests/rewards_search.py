"""MuZero's search for one player with rewards, a sibling of `zerosum.search.textbook_muzero` (appendix B of the paper).

    root = search(model, planes, num_simulations=12)
    shares = policy_target(root)

What differs from two players:

    back up       G = r_1 + gamma r_2 + … + gamma^l v, from the leaf up; the sign never changes
    Q(s, a)       r + gamma V(child), scaled to [0, 1] by the smallest and the largest Q of the tree (equation 5), since
                  nobody knows beforehand how large a return can be; a move without visits has the smallest

The node, U and the policy target are the textbook's. U is made for values in [-1, 1], so scaled ones are put there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from zerosum.search.textbook import UNVISITED_Q, Node, u
from zerosum.search.textbook import policy_target as policy_target
from zerosum.search.textbook_muzero import UNKNOWN, softmax

NOISE_FRACTION = 0.5
"""Twice the textbook's: a move without visits counts as the worst, and needs a prior to be tried."""


@dataclass(frozen=True)
class Prediction:
    """What a model says of a position, or of the hidden state after a move."""

    hidden: Any
    logits: list[float]
    """Logits of the policy, one for each action."""
    value: float
    """The expected discounted return from here."""
    reward: float
    """Reward of the last move; 0 for a position."""


class Model(Protocol):
    """A learned model of a game with rewards."""

    def represent(self, planes: NDArray[np.float32]) -> Prediction:
        """What a position [C, H, W] is."""
        ...

    def advance(self, hidden: Any, action: int) -> Prediction:
        """What a move leads to."""
        ...


@dataclass
class RewardNode(Node):
    """A hidden state, with the sum of the returns from it. `sign` is always 1."""

    reward: float = 0.0
    """Reward of the last move."""


@dataclass
class Bounds:
    """The smallest and the largest Q of a tree."""

    low: float = math.inf
    high: float = -math.inf

    def widen(self, number: float) -> None:
        """Take in a Q."""
        self.low, self.high = min(self.low, number), max(self.high, number)

    def scaled(self, number: float) -> float:
        """A Q scaled to [0, 1]; 0 as long as all are equal."""
        return (number - self.low) / (self.high - self.low) if self.high > self.low else 0.0


def search(
    model: Model,
    planes: NDArray[np.float32],
    *,
    num_simulations: int,
    discount: float,
    noise: NDArray[np.float32] | None = None,
) -> RewardNode:
    """Search from a position and return the root of the tree; `noise` as in `textbook.search`."""
    root, bounds = RewardNode(UNKNOWN, sign=1), Bounds()
    answer = model.represent(planes)
    expand(root, answer)
    back_up([root], answer.value, bounds, discount)
    if noise is not None:
        for action, draw in enumerate(noise):
            root.priors[action] = (1 - NOISE_FRACTION) * root.priors[action] + NOISE_FRACTION * draw
    for _ in range(num_simulations):
        path, action = select(root, bounds, discount)
        answer = model.advance(path[-2].state, action)
        expand(path[-1], answer)
        back_up(path, answer.value, bounds, discount)
    return root


def select(root: RewardNode, bounds: Bounds, discount: float) -> tuple[list[RewardNode], int]:
    """The path from the root along the moves that maximise Q + U, to a new node, and the move that leads there."""
    path, action = [root], -1
    while path[-1].priors:
        node = path[-1]
        action = max(node.priors, key=lambda a: (scaled_q(node, a, bounds, discount) + u(node, a), -a))
        if action not in node.children:
            node.children[action] = RewardNode(UNKNOWN, sign=1)
        path.append(node.children[action])
    return path, action


def q(child: RewardNode, discount: float) -> float:
    """Q(s, a) of the move to a child that was visited."""
    return child.reward + discount * child.value_sum / child.visits


def scaled_q(node: RewardNode, action: int, bounds: Bounds, discount: float) -> float:
    """Q in [-1, 1], as `u` expects it."""
    child = node.children.get(action)
    return 2 * bounds.scaled(q(child, discount)) - 1 if child else float(UNVISITED_Q)


def expand(node: RewardNode, answer: Prediction) -> None:
    """Give a node what the model says, but for the value, which is backed up."""
    node.state, node.reward = answer.hidden, answer.reward
    node.priors = dict(enumerate(softmax(answer.logits)))


def back_up(path: list[RewardNode], value: float, bounds: Bounds, discount: float) -> None:
    """Count a visit of each node on the path, with the discounted return from it."""
    for node in reversed(path):
        node.visits += 1
        node.value_sum += value
        value = node.reward + discount * value
    for child in path[1:]:
        bounds.widen(q(child, discount))
