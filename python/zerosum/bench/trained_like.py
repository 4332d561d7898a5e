"""An evaluator that is as sure of itself as a trained network, and as cheap as arithmetic: for what depends on it.

How well leaves of one tree fill a batch does: with equal priors and values each simulation goes elsewhere by itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerosum._core import Leaves
from zerosum.evaluators import Evaluations

TOP_PRIORS = (0.2, 0.4)
"""The best move's prior is between these, at 30 legal moves or more: what trained networks give on average."""
VALUE_SPREAD = 0.3
"""Standard deviation of the values."""


class TrainedLikeEvaluator:
    """Priors and values from a hash of what a network would be asked: the same position has the same, always.

    Moves are ranked at random. Each has the same share of what those before it leave, a share that is drawn between
    `TOP_PRIORS` for each position; values are normal with `VALUE_SPREAD` around 0.
    """

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """As `Evaluator.evaluate`."""
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
    """[B], of planes."""
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
    """In (0, 1)."""
    return ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def _normal(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Of the standard normal distribution, by Box and Muller."""
    one, other = _uniform(_mix(words + np.uint64(2))), _uniform(_mix(words + np.uint64(3)))
    normal: NDArray[np.float64] = np.sqrt(-2 * np.log(one)) * np.cos(2 * np.pi * other)
    return normal
