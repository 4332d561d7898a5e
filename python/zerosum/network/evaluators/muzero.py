"""Evaluations by a network that learns the rules (`network.kind` "muzero"), with hidden states of searches.

A leaf of a search by learned rules is a root, whose planes the representation turns into a hidden state, or a move from
a hidden state, which the dynamics turns into the next. Each state goes into its slot of the search's slab, an array
where the network runs; Python sees slots alone. A search keeps its slab itself (`Leaves.memory`), so both end together.

Leaves of other searches are positions: representation and prediction evaluate them, so the same weights can be searched
by the game's own rules.

`muzero_torch.py` and `muzero_openvino.py` run the networks. Shape suffixes: B leaves, F filters, H height, W width, A
actions, V value logits.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from zerosum.network import Checkpoint
from zerosum.network.evaluators.evaluator import Evaluations, NetworkEvaluator, evaluations_of

if TYPE_CHECKING:
    from zerosum._core import Leaves

_LEAST_SLOTS = 256


@dataclass(frozen=True)
class Logits:
    """Logits of the heads."""

    policy: NDArray[np.float32]
    """[B, A] float32."""
    value: NDArray[np.float32]
    """[B, V] float32."""


class Walk(NamedTuple):
    """Leaves of a search by learned rules: rows of a batch, and what `Leaves.hidden` has of them, [B] each."""

    rows: NDArray[np.int64]
    parents: NDArray[np.uint32]
    """Slots of the hidden states that moves start from; 0 for a root."""
    moves: NDArray[np.uint16]
    slots: NDArray[np.uint32]
    """Slots for the hidden states to come."""

    def taking(self, chosen: NDArray[np.int64]) -> Walk:
        """Some of the leaves, by their places."""
        return Walk(self.rows[chosen], self.parents[chosen], self.moves[chosen], self.slots[chosen])


class Inference(Protocol):
    """The networks of one checkpoint on a device."""

    def evaluate(self, leaves: Leaves) -> Logits:
        """The logits of positions, by representation and prediction."""

    def walk(self, leaves: Leaves, walk: Walk, memory: Memory) -> Logits:
        """The logits of some leaves, in their order; their hidden states are put into their slots."""


@dataclass
class Memory:
    """What an evaluator keeps of one search."""

    owner: MuZeroEvaluator
    """Keeps the key, the evaluator's id, from being another's."""
    slab: Any = None
    """[slots, F, H, W], the hidden state in each slot: an array of the library that runs the network."""
    network_of_tree: dict[int, Inference] = field(default_factory=dict)

    def slab_for(self, most: int, empty: Callable[[int], Any]) -> Any:
        """The slab, with room for a slot of this number. `empty` makes a slab of so many slots."""
        if self.slab is None or len(self.slab) <= most:
            grown = empty(max(_LEAST_SLOTS, 2 * most))
            if self.slab is not None:
                grown[: len(self.slab)] = self.slab
            self.slab = grown
        return self.slab


class MuZeroEvaluator(NetworkEvaluator):
    """Runs representation, dynamics and prediction on one device. Threads may share it.

    A search is answered by the network that evaluated its root, also if `update` comes in between: another network's
    dynamics does not read its hidden states.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.update(checkpoint)

    @abstractmethod
    def _load(self, checkpoint: Checkpoint) -> Inference:
        """The networks of a checkpoint."""

    @override
    def update(self, checkpoint: Checkpoint, *, planes_BCHW: NDArray[np.float32] | None = None) -> None:
        self._network = self._load(checkpoint)

    @override
    def evaluate(self, leaves: Leaves) -> Evaluations:
        hidden = leaves.hidden()
        if hidden is None:
            logits = self._network.evaluate(leaves)
        else:
            logits = self._walk(leaves, Walk(np.arange(len(leaves)), *hidden))
        return evaluations_of(leaves, leaves.select_legal(logits.policy), logits.value)

    def _walk(self, leaves: Leaves, walk: Walk) -> Logits:
        """The logits of leaves of a search by learned rules; keeps their hidden states."""
        assert leaves.memory is not None
        memory: Memory = leaves.memory.setdefault(id(self), Memory(self))
        trees = leaves.trees
        for tree in trees[walk.parents == 0].tolist():
            memory.network_of_tree[tree] = self._network
        networks = [memory.network_of_tree[tree] for tree in trees.tolist()]
        found = list(dict.fromkeys(networks))
        if len(found) == 1:
            return found[0].walk(leaves, walk, memory)
        # The network was replaced meanwhile: searches that had begun before end with the one that they began with.
        parts = [np.flatnonzero([network is one for network in networks]) for one in found]
        answers = [one.walk(leaves, walk.taking(part), memory) for one, part in zip(found, parts, strict=True)]
        order = np.argsort(np.concatenate(parts))
        return Logits(
            np.concatenate([answer.policy for answer in answers])[order],
            np.concatenate([answer.value for answer in answers])[order],
        )
