"""The network, layer by layer.

    planes ── stem ── block ── … ── block ─┬─ policy_conv ── policy_out ─────────────────── a logit for each action
    [C,H,W]   3x3     2 x 3x3, + its input ├─ value_conv 1x1 ── value_hidden ── value_out ── who will win
                                           └─ ownership_conv 1x1, _out 1x1 ─ whose each square will be, if asked for

It is AlphaZero's network (arXiv 1712.01815, which refers to AlphaGo Zero, Nature 550, 2017, Methods, "Neural network
architecture"). `architectures.py` has the ways to connect others.

Every convolution of the diagram is followed by batch normalisation ("norm") and has no bias of its own; ReLU follows
every norm (in a block the second ReLU comes after the addition) and the hidden layers. A block with global pooling adds
to each filter of its first convolution, before the ReLU, a linear function of the means and the maxima of all its
filters over the board, which a 3x3 convolution cannot see (KataGo, arXiv 1902.10565, section 3.3, where a part of the
filters is pooled). Squeeze-and-excitation scales and shifts the filters of a block's second convolution, before the
addition, by factors and numbers that depend on their means (Hu et al. 2018, arXiv 1709.01507; the shifts are Lc0's).
`heads.py` has the heads. One with a logit for each action is built in one of two ways:

    dense    policy_conv 1x1, policy_out a linear layer from all squares to all actions (in the paper for Go)
    planes   policy_conv 3x3, policy_out a 1x1 convolution with a bias to K = A // (H * W) planes, whose squares are the
             first K * H * W actions (in the paper for chess and shogi); further actions, such as a pass, come from the
             mean over all squares by the linear layer policy_rest. Nothing depends on the board's size. Settings
             can make policy_conv 1x1 and policy_out 3x3, and give policy_out a norm instead of a bias.

`Layers` (`layer_protocol.py`) is the interface of a library: PyTorch in `residual_tower.py`, OpenVINO and ONNX through
`graph.py`. In `weights.py` it only records the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from zerosum.base.errors import SettingsError
from zerosum.network.config import NetworkConfig, NetworkShape
from zerosum.network.heads import KOMI_PLANE, POINTS, Head
from zerosum.network.layer_protocol import Layers, NodeT
from zerosum.network.lc0_config import Lc0Config
from zerosum.network.part_of_planes import has_part, on_part


def connect_residual(
    layers: Layers[NodeT], planes: NodeT, config: NetworkConfig, shape: NetworkShape, heads: Iterable[Head]
) -> dict[str, NodeT]:
    """As `architectures.connect`, for the tower of the diagram."""
    if has_part(shape):
        layers = on_part(layers, planes)
    x = connect_tower(layers, planes, config)
    return connect_heads(layers, x, config, shape, heads)


def connect_tower(layers: Layers[NodeT], planes: NodeT, config: NetworkConfig) -> NodeT:
    """Planes [B, C, H, W] to [B, F, H, W], what the heads begin with."""
    x = activation(layers, config)(layers.conv_norm(planes, "stem", config.num_filters, 3))
    return connect_blocks(layers, x, config, config.num_blocks)


def activation(layers: Layers[NodeT], config: NetworkConfig) -> Callable[[NodeT], NodeT]:
    """The function after each layer: ReLU, but for some networks of Lc0."""
    return layers.mish if isinstance(config, Lc0Config) and config.activation == "mish" else layers.relu


def connect_blocks(layers: Layers[NodeT], x: NodeT, config: NetworkConfig, num_blocks: int) -> NodeT:
    """[B, F, H, W] through residual blocks, to the same shape."""
    act = activation(layers, config)
    for block in range(num_blocks):
        y = layers.conv_norm(x, f"blocks.{block}.first", config.num_filters, 3)
        if config.pools(block):
            y = _pooled(layers, y, f"blocks.{block}", config.num_filters)
        y = layers.conv_norm(act(y), f"blocks.{block}.second", config.num_filters, 3)
        if config.squeeze_units:
            y = _excited(layers, y, f"blocks.{block}", config)
        x = act(layers.add(y, x))
    return x


def connect_heads(
    layers: Layers[NodeT], x: NodeT, config: NetworkConfig, shape: NetworkShape, heads: Iterable[Head]
) -> dict[str, NodeT]:
    """The logits of each head from [B, F, H, W], by their names. Raises SettingsError as `architectures.connect`."""
    return {head.name: _logits(layers, x, head, config, shape) for head in heads}


def _pooled(layers: Layers[NodeT], y: NodeT, block: str, filters: int) -> NodeT:
    """`y` [B, F, H, W] with global pooling. Two linear layers, not one of both, so that filters can be added."""
    means = layers.linear(layers.mean_of_squares(y), f"{block}.mean_out", filters)
    maxima = layers.linear(layers.max_of_squares(y), f"{block}.max_out", filters)
    return layers.shift(y, layers.add(means, maxima))


def pool(layers: Layers[NodeT], y: NodeT) -> NodeT:
    """[B, F, H, W] to its means and maxima over the board, [B, 2 F]."""
    return layers.join(layers.mean_of_squares(y), layers.max_of_squares(y))


def _excited(layers: Layers[NodeT], y: NodeT, block: str, config: NetworkConfig) -> NodeT:
    """`y` [B, F, H, W] with squeeze-and-excitation. Two linear layers, as in `_pooled`."""
    squeezed = activation(layers, config)(
        layers.linear(layers.mean_of_squares(y), f"{block}.squeeze", config.squeeze_units)
    )
    factors = layers.linear(squeezed, f"{block}.scale_out", config.num_filters)
    shifts = layers.linear(squeezed, f"{block}.shift_out", config.num_filters)
    return layers.shift(layers.scale(y, factors), shifts)


def _logits(layers: Layers[NodeT], x: NodeT, head: Head, config: NetworkConfig, shape: NetworkShape) -> NodeT:
    if head.width == "actions":
        return _each_action(layers, x, head.name, config, shape)
    if head == POINTS and KOMI_PLANE not in [name for name, _ in shape.planes]:
        raise SettingsError(
            "network.score_head is true, but the network does not see the komi: set it to false, or learn 'mixedgo' or"
            " 'go(planes=sized)'."
        )
    if head.width == "squares":
        y = activation(layers, config)(layers.conv_norm(x, f"{head.name}_conv", config.value_filters, 1))
        return layers.flatten(layers.conv(y, f"{head.name}_out", 1, 1))
    return _numbers(layers, x, head.name, head.width, config)


def _numbers(layers: Layers[NodeT], x: NodeT, name: str, width: int, config: NetworkConfig) -> NodeT:
    y = activation(layers, config)(layers.conv_norm(x, f"{name}_conv", config.value_filters, 1))
    y = pool(layers, y) if config.value_pooling else layers.flatten(y)
    if config.value_hidden:
        y = activation(layers, config)(layers.linear(y, f"{name}_hidden", config.value_hidden))
    return layers.linear(y, f"{name}_out", width)


def _each_action(layers: Layers[NodeT], x: NodeT, name: str, config: NetworkConfig, shape: NetworkShape) -> NodeT:
    if config.policy_head == "dense":
        y = activation(layers, config)(layers.conv_norm(x, f"{name}_conv", config.policy_filters, 1))
        return layers.linear(layers.flatten(y), f"{name}_out", shape.num_actions)
    if not shape.num_policy_planes:
        raise SettingsError(
            f"network.policy_head is 'planes', but the game has {shape.num_actions} actions and"
            f" {shape.height * shape.width} squares: set it to 'dense'."
        )
    y = activation(layers, config)(layers.conv_norm(x, f"{name}_conv", config.policy_filters, config.policy_kernel))
    points = layers.flatten(
        layers.conv_norm(y, f"{name}_out", shape.num_policy_planes, config.policy_out_kernel)
        if config.policy_out_norm
        else layers.conv(y, f"{name}_out", shape.num_policy_planes, config.policy_out_kernel)
    )
    if not shape.num_rest_actions:
        return points
    return layers.join(points, layers.linear(layers.mean_of_squares(y), f"{name}_rest", shape.num_rest_actions))
