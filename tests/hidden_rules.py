"""Learned rules, slow and readable: hidden states as tuples of moves from a root, for the search's twin and for tests.

A state here is what a network knows: the root's planes, and the moves since. `HiddenRules` has the shape of a game's
rules, so that `ReferenceSearch` searches by it as by any game: all actions below the root, players in turn, no end.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search_twin import Estimate, ReferenceSearch
from searches_for_tests import fake_network
from zerosum.games import Rules, State
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations


@dataclass(frozen=True)
class Hidden:
    """A hidden state."""

    root: State
    moves: tuple[int, ...] = ()


class HiddenRules:
    """The rules by which a search walks in hidden states: the game is asked about the root alone."""

    def __init__(self, game: Rules) -> None:
        self.game = game

    def initial_state(self) -> Hidden:
        return Hidden(self.game.initial_state())

    def play(self, state: Hidden, action: int) -> Hidden:
        return Hidden(state.root, (*state.moves, action))

    def player(self, state: Hidden) -> int:
        return (self.game.player(state.root) + len(state.moves)) % 2

    def legal_actions(self, state: Hidden, *, past_soft_endings: bool = False) -> Sequence[int]:
        if state.moves:
            return range(self.game.spec.num_actions)
        return self.game.legal_actions(state.root, past_soft_endings=True)

    def outcome(self, state: Hidden) -> None:
        return None

    def planes(self, state: Hidden) -> NDArray[np.float32]:
        return self.game.planes(state.root)


class FakeHiddenNetwork:
    """An evaluator without meaning for searches by learned rules, which keeps hidden states by slots."""

    def __init__(self, seed: int) -> None:
        self.seed, self.num_leaves, self.slots = seed, 0, set[int]()

    def evaluate(self, leaves: Leaves) -> Evaluations:
        hidden, memory = leaves.hidden(), leaves.memory
        assert hidden is not None and memory is not None
        constant = leaves.constant_planes
        bits = np.unpackbits(leaves.packed_planes, axis=2, bitorder="little")
        offsets, legal = leaves.legal_offsets, leaves.legal_actions.tolist()
        logits: list[float] = []
        said = []
        for leaf, (parent, action, slot) in enumerate(zip(*(array.tolist() for array in hidden), strict=True)):
            if parent == 0:
                state = (bits[leaf].tobytes() + constant[leaf].tobytes(), ())
            else:
                assert not leaves.packed_planes[leaf].any()
                root, moves = memory[parent]
                state = (root, (*moves, action))
            memory[slot] = state
            of_leaf, estimate = fake_network(state_key(*state, self.seed), legal[offsets[leaf] : offsets[leaf + 1]])
            logits += of_leaf
            said.append((estimate.value, estimate.draw))
        self.num_leaves += len(leaves)
        self.slots.update(hidden[2].tolist())
        values, draws = np.float32(said).T.copy()
        wins = (1 + values - draws) / 2
        return Evaluations(leaves, np.float32(logits), values, wdl=np.stack([wins, draws, 1 - wins - draws], axis=1))


def state_key(root: bytes, moves: Sequence[int], seed: int) -> int:
    return zlib.crc32(root + np.uint16(moves).tobytes()) * 1000 + seed


def run_hidden_twin(twin: ReferenceSearch, game: Rules, seed: int, max_leaves: int = 1 << 16) -> None:
    """Answer the twin to its end as `FakeHiddenNetwork` does."""
    while paths := twin.gather(max_leaves):
        for path in paths:
            state: Any = path[-1].state
            leaves = game.encode([state.root])
            bits = np.unpackbits(leaves.packed_planes, axis=2, bitorder="little")
            root = bits[0].tobytes() + leaves.constant_planes[0].tobytes()
            said: tuple[list[float], Estimate] = fake_network(
                state_key(root, state.moves, seed), twin.game.legal_actions(state)
            )
            twin.apply(path, *said)
