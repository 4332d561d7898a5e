"""MuZero's search, as a textbook prints it: the tree of `textbook.py`, over a model that was learned.

    model = NetworkModel(game, load_checkpoint(run))
    root = search(model, game.initial_state(), num_simulations=25)
    action = best_action(root)

What differs from AlphaZero's search (Nature 588, 2020, appendix B and figure 1a) can be seen from what is not here: no
rules. The game says which moves are legal at the root. Below it a node is a hidden state; every action of the game may
be tried there, no node is the end of the game, and players take turns. Each simulation asks the network once:

    represent    a position -> hidden state                      at the root
    advance      a hidden state and a move -> hidden state       at each leaf
                 with each hidden state come the logits of the policy, and the value for the player to move

Selection (PUCT), backing up, the policy to learn and the move to play are those of `textbook.py`. With root_selection
"puct" and the numbers of preset `paper` the search of the core makes the same visits in the same order; a test holds
that. A `Node` keeps values for the player to move at the root, whose `sign` is 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from zerosum._core import round_prior
from zerosum.games import Rules, State
from zerosum.network import Checkpoint
from zerosum.search.textbook import NOISE_FRACTION, Node, back_up, q, u
from zerosum.search.textbook import best_action as best_action
from zerosum.search.textbook import policy_target as policy_target

UNKNOWN: Any = None
"""The hidden state of a node that was not evaluated yet."""


@dataclass(frozen=True)
class Answer:
    """What a model says of a position, or of the hidden state after a move."""

    hidden: Any
    logits: dict[int, float]
    """Logits of the policy by action: the legal actions of a position, all actions of a hidden state."""
    value: float
    """For the player to move, in [-1, 1]."""


class Model(Protocol):
    """A learned model of a game."""

    def represent(self, state: State) -> Answer:
        """The hidden state of a position. Here alone the rules are asked, for the legal moves."""
        ...

    def advance(self, hidden: Any, action: int) -> Answer:
        """The hidden state after a move, which may be one that the game does not have."""
        ...


def search(model: Model, state: State, *, num_simulations: int, noise: NDArray[np.float32] | None = None) -> Node:
    """Search from `state` and return the root of the tree. The game must not be over in `state`.

    `noise` is mixed into the root's priors: a draw of Dir(alpha), one number for each legal action.
    """
    answer = model.represent(state)
    priors = softmax(answer.logits.values())
    if noise is not None:
        priors = (1 - NOISE_FRACTION) * priors + NOISE_FRACTION * noise
    root = Node(answer.hidden, sign=1, priors=dict(zip(answer.logits, priors, strict=True)))
    back_up([root], answer.value)
    for _ in range(num_simulations):
        simulate(model, root)
    return root


def simulate(model: Model, root: Node) -> None:
    """One simulation: select, ask the model about the move at the end of the path, expand and back up."""
    path, action = select(root)
    leaf, parent = path[-1], path[-2]
    answer = model.advance(parent.state, action)
    leaf.state = answer.hidden
    leaf.priors = dict(zip(answer.logits, round_prior(softmax(answer.logits.values())), strict=True))
    back_up(path, leaf.sign * answer.value)


def select(root: Node) -> tuple[list[Node], int]:
    """The path from the root along the moves that maximise Q + U, to a new node, and the move that leads there."""
    path, best = [root], -1
    while path[-1].priors:
        node = path[-1]
        scores = {action: q(node, action) + u(node, action) for action in node.priors}
        # Ties go to the higher prior, then to the lower action.
        best = max(node.priors, key=lambda action: (scores[action], node.priors[action], -action))
        if best not in node.children:
            node.children[best] = Node(UNKNOWN, sign=-node.sign)
        path.append(node.children[best])
    return path, best


def softmax(logits: Iterable[float]) -> NDArray[np.float32]:
    """Probabilities from logits."""
    given = np.array(list(logits), np.float64)
    weights = np.exp(given - given.max())
    shares: NDArray[np.float32] = (weights / weights.sum()).astype(np.float32)
    return shares


class NetworkModel:
    """A network of kind "muzero". Actions are the places of their logits: in chess with planes=lc0 other numbers."""

    def __init__(self, game: Rules, checkpoint: Checkpoint) -> None:
        """Run the checkpoint's three networks on the CPU."""
        from zerosum.network.muzero_module import MuZeroModule

        self._game, info = game, checkpoint.info
        self._module = MuZeroModule(info.network, info.shape, checkpoint.weights).eval()

    def represent(self, state: State) -> Answer:
        """The hidden state of a position, with the logits of its legal moves."""
        import torch

        leaves = self._game.encode([state])
        with torch.inference_mode():
            answer = self._answer(self._module.represent(torch.from_numpy(leaves.planes())))
        legal = leaves.logit_actions.tolist()
        return Answer(answer.hidden, {action: answer.logits[action] for action in legal}, answer.value)

    def advance(self, hidden: Any, action: int) -> Answer:
        """The hidden state after a move, with the logits of all actions."""
        import torch

        with torch.inference_mode():
            return self._answer(self._module.advance(hidden, torch.tensor([action])))

    def _answer(self, hidden: Any) -> Answer:
        from zerosum.network.heads import values_of

        logits = self._module.predict(hidden)
        return Answer(hidden, dict(enumerate(logits["policy"][0].tolist())), float(values_of(logits["value"])[0]))
