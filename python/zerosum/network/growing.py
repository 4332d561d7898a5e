"""A larger network that computes the same function as a smaller one, from which training goes on.

After Net2Net (Chen et al. 2016, arXiv 1511.05641), except for how filters are added. Net2Net copies filters and divides
the weights that read them; copies get nearly equal gradients. Here new filters are as those of a new network, and old
filters and heads read them with weights of 0:

                      from old filters   from new filters
    to old filters    as they were       0
    to new filters    new                new

So the output does not change, and the weights of 0 get gradients from the first step on, the new filters from the
second. A new block begins as the identity, as in a new network: the scale of its last norm is 0 (`weights.py`). Global
pooling that is new begins with weights of 0.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from zerosum.network.beginning import initial_weights
from zerosum.network.config import NetworkConfig, NetworkShape
from zerosum.network.weights import Weights

SIZES = ("num_blocks", "num_filters")
"""The settings that may grow."""


def growth_obstacle(network: NetworkConfig, larger: NetworkConfig) -> str:
    """The first setting for which a network cannot grow into another one; "" if it can, also if they are equal.

    >>> growth_obstacle(NetworkConfig(num_blocks=2), NetworkConfig(num_blocks=3, pooling_interval=1))
    ''
    >>> growth_obstacle(NetworkConfig(num_filters=32), NetworkConfig(num_filters=16))
    'num_filters'

    New filters of a network that learns the rules would change the scale of its hidden states, and so its answers.
    """
    for field in dataclasses.fields(NetworkConfig):
        before, after = getattr(network, field.name), getattr(larger, field.name)
        is_more = after >= before if field.name in SIZES else not before and field.name == "pooling_interval"
        if field.name == "num_filters" and network.kind == "muzero":
            is_more = False
        if before != after and not is_more:
            return field.name
    return ""


def grown_weights(
    weights: Weights, network: NetworkConfig, shape: NetworkShape, *, seed: int
) -> dict[str, NDArray[np.float32]]:
    """The weights of a larger network, `network`, with the outputs of a smaller one, a pure function of the arguments.

    Args:
        weights: Those of the smaller network, which can grow into `network` (`growth_obstacle`).
        network: The larger network.
        shape: The planes and the actions of both.
        seed: Key of the new weights.
    """
    grown = initial_weights(network, shape, seed=seed)
    for name, old in weights.items():
        new = grown[name]
        new[: len(old)] = 0
        new[_corner(old)] = old
    return grown


def padded(array: NDArray[np.float32], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Numbers of a smaller network's weights in the shape of a larger one's, with 0 for the new weights."""
    larger = np.zeros(shape, array.dtype)
    larger[_corner(array)] = array
    return larger


def _corner(array: NDArray[np.float32]) -> tuple[slice, ...]:
    """Index of a smaller array within a larger one: old filters come first."""
    return tuple(map(slice, array.shape))
