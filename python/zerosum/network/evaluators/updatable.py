"""Evaluations by an updatable network, in whole numbers and in the core, as alpha-beta searches have them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from zerosum._core import CENTIPAWNS_PER_LOGIT, Iteration
from zerosum.games import Rules
from zerosum.network import Checkpoint
from zerosum.network.evaluators.evaluator import Evaluations, NetworkEvaluator
from zerosum.network.updatable import core_network, piece_values

if TYPE_CHECKING:
    from zerosum._core import Leaves, UpdatableNetwork


def expected_result(centipawns: NDArray[np.int32]) -> NDArray[np.float32]:
    """The expected result in [-1, 1] of an evaluation; half the logit of (1 + result) / 2 is its inverse tanh."""
    results: NDArray[np.float32] = np.tanh(centipawns / (2 * CENTIPAWNS_PER_LOGIT)).astype(np.float32)
    return results


def value_of(found: Iteration) -> float:
    """The expected result in [-1, 1] for the player to move, by what an alpha-beta search has found."""
    if found.plies_to_end is not None:
        return 1.0 if found.plies_to_end > 0 else -1.0
    return math.tanh(found.value / (2 * CENTIPAWNS_PER_LOGIT))


class UpdatableEvaluator(NetworkEvaluator):
    """Runs the network on the CPU. All moves get the same logit: the network has no policy."""

    def __init__(self, checkpoint: Checkpoint, game: Rules) -> None:
        """Raises GameError if the network is of another encoding than the game."""
        self._game = game
        self.update(checkpoint)

    @property
    @override
    def description(self) -> str:
        return "updatable network, CPU, int16"

    @property
    def network(self) -> UpdatableNetwork:
        """The network of alpha-beta searches."""
        return self._network

    @property
    def piece_values(self) -> list[int]:
        """The value of each kind of piece in centipawns, at least 1, as the network has it."""
        return self._piece_values

    @override
    def update(self, checkpoint: Checkpoint, *, planes_BCHW: NDArray[np.float32] | None = None) -> None:
        values = piece_values(checkpoint, self._game).values()
        self._piece_values = [max(1, round(CENTIPAWNS_PER_LOGIT * value)) for value in values]
        self._network = core_network(checkpoint, self._game)

    @override
    def evaluate(self, leaves: Leaves) -> Evaluations:
        values = expected_result(self._network.evaluations(leaves))
        return Evaluations(leaves, np.zeros(int(leaves.legal_offsets[-1]), np.float32), values)
