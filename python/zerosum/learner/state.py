"""The state of training as plain arrays, by `PARAMETER/KEY`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerosum.network import NetworkConfig, NetworkShape
from zerosum.network.growing import grown_weights, padded
from zerosum.network.weights import weight_shapes

LAST_WEIGHTS = "last weights"
"""Key of the last weights in the state, for checkpoints with averaged weights."""
NUM_STEPS = "step"
"""Torch's key of the number of steps of a weight in Adam's state."""


def grown_state(
    state: Mapping[str, NDArray[Any]], network: NetworkConfig, shape: NetworkShape, *, seed: int
) -> dict[str, NDArray[Any]]:
    """The `Learner.state` for the larger `network` of `grown_weights`, with the same shape and seed.

    Weights keep their moments and their number of steps; new ones have moments of 0. A new block has no state yet, as
    in a new network.
    """
    shapes = weight_shapes(network, shape)
    grown: dict[str, NDArray[Any]] = {}
    last: dict[str, NDArray[np.float32]] = {}
    for path, value in state.items():
        name, key = path.rsplit("/", 1)
        if key == LAST_WEIGHTS:
            last[name] = value
        else:
            grown[path] = value if key == NUM_STEPS else padded(value, shapes[name])
    if last:
        weights = grown_weights(last, network, shape, seed=seed)
        grown |= {f"{name}/{LAST_WEIGHTS}": weight for name, weight in weights.items()}
    return grown
