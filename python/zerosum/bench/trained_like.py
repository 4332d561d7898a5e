"""An evaluator with the certainty of a trained network and the cost of simple arithmetic.

The fill of one tree's batches depends on certainty: with equal priors and values simulations spread by themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from zerosum._core import Leaves
from zerosum.network.evaluators import Evaluations, Evaluator

TOP_PRIORS = (0.2, 0.4)
"""Range of the best move's prior with 30 or more legal moves, as in trained networks."""
VALUE_SPREAD = 0.3
"""Standard deviation of the values."""


class TrainedLikeEvaluator(Evaluator):
    """Priors and values from a hash of the network's input, always the same for a position.

    Moves are ranked at random. Each gets the same share of the rest that earlier moves leave; the share is drawn
    between `TOP_PRIORS` for each position. Values are normal around 0 with `VALUE_SPREAD`.
    """

    @override
    def evaluate(self, leaves: Leaves) -> Evaluations:
        hashes_B = _hashes(leaves)
        uniform_B, normal_B = _uniform(_mix(hashes_B + np.uint64(1))), _normal(hashes_B)
        share_B = TOP_PRIORS[0] + (TOP_PRIORS[1] - TOP_PRIORS[0]) * uniform_B
        values_B = np.clip(VALUE_SPREAD * normal_B, -1, 1).astype(np.float32)
        offsets, actions = leaves.legal_offsets, leaves.legal_actions
        leaf_of = np.repeat(np.arange(len(leaves)), np.diff(offsets))
        order = np.lexsort((_mix(hashes_B[leaf_of] ^ _mix(actions.astype(np.uint64))), leaf_of))
        ranks = np.empty(len(actions))
        ranks[order] = np.arange(len(actions)) - offsets[leaf_of]
        return Evaluations(leaves, (ranks * np.log1p(-share_B)[leaf_of]).astype(np.float32), values_B)


def _hashes(leaves: Leaves) -> NDArray[np.uint64]:
    """[B], hashes of planes."""
    size = len(leaves)
    bits, numbers = leaves.packed_planes.reshape(size, -1), leaves.constant_planes.view(np.uint8).reshape(size, -1)
    columns = np.concatenate([bits, numbers], axis=1).astype(np.uint64)
    weights = _mix(np.arange(1, columns.shape[1] + 1, dtype=np.uint64))
    return _mix(columns @ weights)


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014), element by element."""
    words = words * np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ words >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ words >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return words ^ words >> np.uint64(31)


def _uniform(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Uniform numbers in (0, 1)."""
    return ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def _normal(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Numbers of the standard normal distribution, by Box and Muller."""
    one, other = _uniform(_mix(words + np.uint64(2))), _uniform(_mix(words + np.uint64(3)))
    normal: NDArray[np.float64] = np.sqrt(-2 * np.log(one)) * np.cos(2 * np.pi * other)
    return normal
