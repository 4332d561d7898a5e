"""A network of KataGo, layer by layer, by the same `Layers` as our own (arXiv 1902.10565, and KataGo's own docs).

    planes ── stem ── block ── … ── block ── norm ─┬─ policy_conv ── + pooled ── policy_out, policy_rest ── logits
                                                   └─ value_conv ─┬─ means ── value_hidden ─┬─ value_out
                                                                  └─ ownership_out          └─ score_out

Norms come before the activations, so the sums of the trunk are not normalised ("pre-activation"). A norm behind a
convolution is folded into it by the reader. What is pooled are the means and maxima over the board; the reader joins
KataGo's means, and its multiples of them that depend on the board's size, into one factor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from zerosum.network.config import NetworkShape
from zerosum.network.heads import OWNERSHIP, POLICY, Head
from zerosum.network.katago_config import SCORE, Block, KatagoConfig
from zerosum.network.layer_protocol import Layers, NodeT
from zerosum.network.layers import pool


def connect_katago(
    layers: Layers[NodeT], planes: NodeT, config: KatagoConfig, shape: NetworkShape, heads: Iterable[Head]
) -> dict[str, NodeT]:
    """As `architectures.connect`: the logits of each of these heads, by its name, for the player to move."""
    names = [head.name for head in heads]
    act = layers.mish if config.activation == "mish" else layers.relu
    x = layers.conv(planes, "stem", config.num_filters, config.stem_kernel)
    for number, block in enumerate(config.blocks):
        x = _block(layers, x, f"trunk.{number}", block, config.num_filters, act)
    x = act(layers.affine(x, "trunk_end"))
    found = {}
    if POLICY.name in names:
        found[POLICY.name] = _policy(layers, x, config, shape, act)
    if set(names) - {POLICY.name}:
        found.update(_value(layers, x, planes, config, names, act))
    return {name: found[name] for name in names}


def _block(
    layers: Layers[NodeT], x: NodeT, name: str, block: Block, filters: int, act: Callable[[NodeT], NodeT]
) -> NodeT:
    before = act(layers.affine(x, f"{name}.norm_first"))
    y = layers.conv(before, f"{name}.first", block.filters, block.kernels[0])
    if block.inner:
        for number, inner in enumerate(block.inner):
            y = _block(layers, y, f"{name}.inner.{number}", inner, block.filters, act)
        y = layers.affine(y, f"{name}.norm_last")
    if block.pooled_filters:
        pooled = act(layers.conv(before, f"{name}.pooled", block.pooled_filters, block.pooled_kernel))
        y = layers.shift(y, layers.linear(pool(layers, pooled), f"{name}.pool", block.filters))
    return layers.add(layers.conv(act(y), f"{name}.last", filters, block.kernels[1]), x)


def _policy(
    layers: Layers[NodeT], x: NodeT, config: KatagoConfig, shape: NetworkShape, act: Callable[[NodeT], NodeT]
) -> NodeT:
    side, pooled_side, last_side, *_ = config.kernels
    pooled = act(layers.conv(x, "policy_pooled", config.policy_pooled_filters, pooled_side))
    pooled = pool(layers, pooled)
    y = layers.conv(x, "policy_conv", config.policy_filters, side)
    y = act(layers.shift(y, layers.linear(pooled, "policy_pool", config.policy_filters)))
    points = layers.flatten(layers.conv(y, "policy_out", 1, last_side))
    return layers.join(points, layers.linear(pooled, "policy_rest", shape.num_rest_actions))


def _value(
    layers: Layers[NodeT],
    x: NodeT,
    planes: NodeT,
    config: KatagoConfig,
    names: list[str],
    act: Callable[[NodeT], NodeT],
) -> dict[str, NodeT]:
    """The value, the ownership and the score, by the heads' names."""
    *_, side, ownership_side = config.kernels
    y = act(layers.conv(x, "value_conv", config.value_filters, side))
    found = {}
    if OWNERSHIP.name in names:
        found[OWNERSHIP.name] = layers.flatten(layers.conv(y, "ownership_out", 1, ownership_side))
    hidden = act(layers.linear(layers.mean_of_squares(y), "value_hidden", config.value_hidden))
    if "value" in names:
        # With superko and area scoring no game ends without a result.
        always_ends = layers.relu(layers.linear(layers.mean_of_squares(planes), "value_rules", 1))
        found["value"] = layers.add(
            layers.linear(hidden, "value_out", 3), layers.linear(always_ends, "value_no_result", 3)
        )
    if SCORE.name in names:
        found[SCORE.name] = layers.linear(hidden, "score_out", 3)
    return found
