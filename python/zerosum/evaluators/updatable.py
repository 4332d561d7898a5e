"""Evaluations by an updatable network, in whole numbers and in the core, as alpha-beta searches have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from zerosum.evaluators.evaluator import CPU_FULL_BATCH, Evaluations, NetworkEvaluator
from zerosum.games import Rules
from zerosum.network import Checkpoint
from zerosum.network.updatable import core_network, piece_values

if TYPE_CHECKING:
    from zerosum._core import Leaves, UpdatableNetwork

HUNDREDTHS = 200
"""Hundredths of the logit of the expected result in a unit of the network's output, whose tanh is the value."""


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
    @override
    def full_batch(self) -> int:
        return CPU_FULL_BATCH

    @property
    def network(self) -> UpdatableNetwork:
        """The network of alpha-beta searches."""
        return self._network

    @property
    def piece_values(self) -> list[int]:
        """The value of each kind of piece in hundredths, at least 1, as the network has it."""
        return self._piece_values

    @override
    def batch_sizes(self, most: int) -> list[int]:
        return [most]

    @override
    def update(self, checkpoint: Checkpoint, *, planes_BCHW: NDArray[np.float32] | None = None) -> None:
        values = piece_values(checkpoint, self._game).values()
        self._piece_values = [max(1, round(100 * value)) for value in values]
        self._network = core_network(checkpoint, self._game)

    @override
    def evaluate(self, leaves: Leaves) -> Evaluations:
        values = np.tanh(self._network.evaluations(leaves) / HUNDREDTHS).astype(np.float32)
        return Evaluations(leaves, np.zeros(int(leaves.legal_offsets[-1]), np.float32), values)
