"""The state of training as plain arrays, by `PARAMETER/KEY`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from zerosum.network import NetworkConfig, NetworkShape
from zerosum.network.growing import padded
from zerosum.network.weights import weight_shapes

NUM_STEPS = "step"
"""Torch's key of the number of steps of a weight in Adam's state."""


def grown_state(
    state: Mapping[str, NDArray[Any]], network: NetworkConfig, shape: NetworkShape
) -> dict[str, NDArray[Any]]:
    """The `Learner.state` for the larger `network` of `grown_weights`, with the same shape.

    Weights keep their moments and their number of steps; new ones have moments of 0. A new block has no state yet, as
    in a new network.
    """
    shapes = weight_shapes(network, shape)
    grown: dict[str, NDArray[Any]] = {}
    for path, value in state.items():
        name, key = path.rsplit("/", 1)
        grown[path] = value if key == NUM_STEPS else padded(value, shapes[name])
    return grown
