"""The weights that a new network begins with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerosum.network.config import NetworkConfig, NetworkShape
from zerosum.network.updatable import updatable_weights
from zerosum.network.weights import tower_weights


def initial_weights(config: NetworkConfig, shape: NetworkShape, *, seed: int) -> dict[str, NDArray[np.float32]]:
    """The initial weights of a network of any kind: `tower_weights`, `updatable_weights` or `own_weights`.

    Raises:
        SettingsError: as `zerosum.network.own_network.own_weights`.
    """
    if config.kind == "updatable":
        return updatable_weights(config, shape, seed=seed)
    if not config.module:
        return tower_weights(config, shape, seed=seed)
    from zerosum.network.own_network import own_weights  # imports torch

    return own_weights(config, shape, seed=seed)
