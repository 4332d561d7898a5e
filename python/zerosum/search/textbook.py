"""AlphaZero's search, as a textbook prints it: select, expand and evaluate, back up; noise, and the move to play.

    root = search(game, evaluator, game.initial_state(), num_simulations=100)
    action = best_action(root)

For any game and any evaluator, one position at a time: slow, and short enough to be read at one go. Selection is PUCT
(`select`, `q` and `u`). With preset `paper` (Science 2018, supplement, "MCTS") the search of the core makes the same
visits in the same order; a test holds that. For that, both compute scores in float32 and round priors below the root.

Values are in [-1, 1]. A `Node` keeps those of the first player; `sign` turns them into those of the player to move.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from zerosum._core import round_prior
from zerosum.games import Rules, State
from zerosum.network.evaluators import Evaluator

C_INIT, C_BASE, C_FACTOR = np.float32(2.5), 19652.0, 2.0
"""Constants of c(s): those of preset `paper`, whose 1.25 and 1 are for values in [0, 1]; runs have `SearchConfig`'s."""
UNVISITED_Q = np.float32(-1)
"""Q of a move without visits: a loss."""
NOISE_FRACTION = np.float32(0.25)


@dataclass
class Node:
    """A position that was visited."""

    state: State
    sign: int
    """+1 if the first player is to move, else -1."""
    priors: dict[int, np.float32] = field(default_factory=dict)
    """P(s, a) of each legal action, ascending. Empty before the evaluation, and where the game is over."""
    children: dict[int, Node] = field(default_factory=dict)
    """By action, those that were visited."""
    visits: int = 0
    """N(s): of a child N(s, a)."""
    value_sum: float = 0.0
    """The sum of the values backed up, for the first player."""


def search(
    game: Rules, evaluator: Evaluator, state: State, *, num_simulations: int, noise: NDArray[np.float32] | None = None
) -> Node:
    """Search from `state` and return the root of the tree. The game must not be over in `state`.

    `noise` is mixed into the root's priors: a draw of Dir(alpha), one number for each legal action.
    """
    root = node_of(game, state)
    priors, value = evaluate(game, evaluator, root)
    if noise is not None:
        priors = (1 - NOISE_FRACTION) * priors + NOISE_FRACTION * noise
    expand(game, root, priors)
    back_up([root], value)
    for _ in range(num_simulations):
        path = select(game, root)
        back_up(path, visit(game, evaluator, path[-1]))
    return root


def node_of(game: Rules, state: State) -> Node:
    """A node without visits."""
    return Node(state, sign=1 if game.player(state) == 0 else -1)


def select(
    game: Rules, root: Node, *, c_init: np.float32 = C_INIT, unvisited_q: np.float32 = UNVISITED_Q
) -> list[Node]:
    """The path from the root along the moves that maximise Q + U, to a new position or the end of the game."""
    path = [root]
    while path[-1].priors:
        node = path[-1]
        scores = {action: q(node, action, unvisited_q) + u(node, action, c_init) for action in node.priors}
        # Ties go to the higher prior, then to the lower action.
        action = max(node.priors, key=lambda action: (scores[action], node.priors[action], -action))
        if action not in node.children:
            node.children[action] = node_of(game, game.play(node.state, action))
        path.append(node.children[action])
    return path


def q(node: Node, action: int, unvisited_q: np.float32 = UNVISITED_Q) -> np.float32:
    """Q(s, a): the mean value of a move, for the player to move."""
    child = node.children.get(action)
    return np.float32(node.sign * child.value_sum / child.visits) if child and child.visits else unvisited_q


def u(node: Node, action: int, c_init: np.float32 = C_INIT) -> np.float32:
    """U(s, a) = c(s) * P(s, a) * sqrt(N(s)) / (1 + N(s, a)): large for moves that are likely and were tried seldom."""
    c = np.float32(float(c_init) + C_FACTOR * math.log((1 + node.visits + C_BASE) / C_BASE))
    visits = node.children[action].visits if action in node.children else 0
    return np.float32(c * np.sqrt(np.float32(node.visits)) * node.priors[action] / np.float32(1 + visits))


def visit(game: Rules, evaluator: Evaluator, leaf: Node) -> float:
    """The value of a leaf for the first player: the outcome of a game that is over, else what the evaluator expects."""
    outcome = game.outcome(leaf.state)
    if outcome is not None:
        return outcome
    priors, value = evaluate(game, evaluator, leaf)
    expand(game, leaf, round_prior(priors))
    return value


def evaluate(game: Rules, evaluator: Evaluator, node: Node) -> tuple[NDArray[np.float32], float]:
    """The priors of the legal actions, softmax(logits), and the value for the first player."""
    answer = evaluator.evaluate(game.encode([node.state]))
    weights = np.exp(answer.logits.astype(float) - float(answer.logits.max()))
    return (weights / weights.sum()).astype(np.float32), node.sign * float(answer.values[0])


def expand(game: Rules, leaf: Node, priors: NDArray[np.float32]) -> None:
    """Give a leaf its legal actions."""
    leaf.priors = dict(zip(game.legal_actions(leaf.state, past_soft_endings=True), priors, strict=True))


def back_up(path: list[Node], value: float) -> None:
    """Count a visit of each position on the path, and the value for the first player."""
    for node in path:
        node.visits += 1
        node.value_sum += value


def policy_target(root: Node) -> dict[int, float]:
    """What the policy learns: the share of the visits that each move had. Early in a game, moves are drawn by it."""
    visits = {action: root.children[action].visits if action in root.children else 0 for action in root.priors}
    return {action: count / sum(visits.values()) for action, count in visits.items()}


def best_action(root: Node) -> int:
    """The move to play later on: the most visited; of equals the one with the higher Q, then with the higher prior."""
    return max(root.children, key=lambda action: (root.children[action].visits, q(root, action), root.priors[action]))
