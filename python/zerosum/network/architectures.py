"""Networks of every architecture. What computes one, counts its weights or initialises them calls `connect`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from zerosum.network.config import NetworkConfig, NetworkShape
from zerosum.network.heads import Head
from zerosum.network.katago_config import KatagoConfig
from zerosum.network.katago_graph import connect_katago
from zerosum.network.layer_protocol import AttentionLayers, Layers, NodeT
from zerosum.network.layers import connect_residual
from zerosum.network.lc0_config import Lc0Config
from zerosum.network.lc0_graph import connect_lc0

LAYERS_OF_PLANES = ("stem", "value_rules", "plane_embedding")
"""The layers whose inputs are the planes."""


def connect(
    layers: Layers[NodeT], planes: NodeT, config: NetworkConfig, shape: NetworkShape, heads: Iterable[Head]
) -> dict[str, NodeT]:
    """Connect the input, planes [B, C, H, W], with the logits of each head, [B, width], for the player to move.

    `heads` are all or some of `NetworkConfig.heads`. The logits are returned by their names, in their order.

    Raises:
        SettingsError: the policy head is 'planes', but the game has fewer actions than squares.
    """
    if isinstance(config, KatagoConfig):
        return connect_katago(layers, planes, config, shape, heads)
    if isinstance(config, Lc0Config):
        # Networks of Lc0 are not trained, and all other layers are those of attention, too.
        return connect_lc0(cast(AttentionLayers[NodeT], layers), planes, config, shape, heads)
    return connect_residual(layers, planes, config, shape, heads)
