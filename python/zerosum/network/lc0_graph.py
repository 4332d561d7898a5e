"""A network of Lc0 with attention, layer by layer (https://lczero.org/blog/2024/02/transformer-progress).

    planes ── tower ── squares ── embedding ── encoder ── … ── encoder ─┬─ policy: queries · keys, a logit for each move
    [C,8,8]   or none  [64,C]     [64,E]                                ├─ value_embed ── value_hidden ── value_out
                                                                        └─ moves_left_embed ── …_hidden ── …_out

An encoder lets each square look at all others (Vaswani et al. 2017, arXiv 1706.03762, section 3.2), with numbers that
depend on the whole position added to the products of queries and keys ("smolgen"). Squares are counted from the bottom
left as the player to move sees the board. Lc0 counts them so, and most weights are those of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from zerosum.network.config import NetworkShape
from zerosum.network.heads import POLICY, Head
from zerosum.network.layer_protocol import AttentionLayers, NodeT
from zerosum.network.layers import activation, connect_heads, connect_tower
from zerosum.network.lc0_config import MOVES_LEFT, Activation, Encoder, Lc0Config
from zerosum.network.lc0_moves import NUM_SQUARES, attention_places

NUM_PIECE_PLANES = 12
"""Planes of the newest position's pieces, the first ones."""
SMOLGEN_EPSILON = EMBEDDING_EPSILON = 1e-3
POLICY_EPSILON = 1e-6


def connect_lc0(
    layers: AttentionLayers[NodeT], planes: NodeT, config: Lc0Config, shape: NetworkShape, heads: Iterable[Head]
) -> dict[str, NodeT]:
    """As `architectures.connect`."""
    has_tower = config.num_filters > 0
    x = connect_tower(layers, planes, config) if has_tower else planes
    squares = layers.squares(x) if config.is_attention else None
    if config.encoders and squares is not None:
        squares = _body(layers, squares, config)
    found = {}
    for head in heads:
        if head.name == POLICY.name and squares is not None and config.policy_units:
            found[head.name] = _policy(layers, squares, config)
        elif config.encoders and squares is not None:
            found[head.name] = _numbers_of_squares(layers, squares, head, config)
        elif head.name == MOVES_LEFT.name:
            found[head.name] = _numbers_of_filters(layers, x, head, config)
        else:
            found.update(connect_heads(layers, x, config, shape, [head]))
    return found


def _body(layers: AttentionLayers[NodeT], squares: NodeT, config: Lc0Config) -> NodeT:
    """[B, 64, F or C] to [B, 64, E]."""
    act, units = activation(layers, config), config.embedding_units
    x = layers.linear(squares, "embedding" if config.num_filters else "plane_embedding", units)
    if config.position_units:
        pieces = layers.flatten(layers.first_units(squares, NUM_PIECE_PLANES))
        position = layers.linear(pieces, "position", NUM_SQUARES * config.position_units)
        position = layers.reshape(position, (NUM_SQUARES, config.position_units))
        x = layers.add(x, layers.linear(position, "position_embedding", units))
    elif config.num_filters == 0:
        x = layers.each_unit(x, "square_embedding")
    x = act(x)
    if config.position_units:
        x = layers.norm_units(x, "embedding_norm", EMBEDDING_EPSILON)
    if config.has_gates:
        x = layers.each_unit(x, "gates")
    feed = _act(layers, config.feed_forward_activation)
    if config.position_units:
        x = _feed_forward(layers, x, "embedding", feed, (config.position_hidden, units), EMBEDDING_EPSILON)
    for number, encoder in enumerate(config.encoders):
        x = _encoder(layers, x, f"encoders.{number}", encoder, config, feed, units, config.norm_epsilon)
    return x


def _encoder(
    layers: AttentionLayers[NodeT],
    x: NodeT,
    name: str,
    encoder: Encoder,
    config: Lc0Config,
    feed: Callable[[NodeT], NodeT],
    units: int,
    epsilon: float,
) -> NodeT:
    query, key, value = (layers.linear(x, f"{name}.{part}", encoder.units) for part in ("query", "key", "value"))
    bias = None
    if encoder.smolgen is not None:
        act, smolgen = _act(layers, config.smolgen_activation), encoder.smolgen
        y = layers.flatten(layers.linear(x, f"{name}.smolgen_squeeze", smolgen.squeezed))
        y = act(layers.linear(y, f"{name}.smolgen_first", smolgen.hidden))
        y = layers.norm_units(y, f"{name}.smolgen_norm_first", SMOLGEN_EPSILON)
        y = act(layers.linear(y, f"{name}.smolgen_second", encoder.heads * smolgen.generated))
        y = layers.norm_units(y, f"{name}.smolgen_norm_second", SMOLGEN_EPSILON)
        y = layers.reshape(y, (encoder.heads, smolgen.generated))
        y = layers.linear(y, "smolgen", NUM_SQUARES**2)
        bias = layers.reshape(y, (encoder.heads, NUM_SQUARES, NUM_SQUARES))
    y = layers.attend(query, key, value, encoder.units, encoder.heads, bias)
    x = layers.add(layers.linear(y, f"{name}.out", units), x)
    x = layers.norm_units(x, f"{name}.attention_norm", epsilon)
    return _feed_forward(layers, x, name, feed, (encoder.hidden, units), epsilon)


def _feed_forward(
    layers: AttentionLayers[NodeT],
    x: NodeT,
    name: str,
    act: Callable[[NodeT], NodeT],
    sizes: tuple[int, int],
    epsilon: float,
) -> NodeT:
    y = act(layers.linear(x, f"{name}.feed_first", sizes[0]))
    y = layers.add(layers.linear(y, f"{name}.feed_second", sizes[1]), x)
    return layers.norm_units(y, f"{name}.feed_norm", epsilon)


def _policy(layers: AttentionLayers[NodeT], squares: NodeT, config: Lc0Config) -> NodeT:
    """A logit for each place of a move, [B, 73 * 64].

    A move's logit is the product of its first square's query and its last square's key. A promotion to another piece
    than a knight adds a number of the piece and the last square.
    """
    x = _act(layers, config.policy_activation)(layers.linear(squares, "policy_embedding", config.policy_units))
    feed = _act(layers, config.policy_feed_forward_activation)
    for number, encoder in enumerate(config.policy_encoders):
        x = _encoder(layers, x, f"policy_encoders.{number}", encoder, config, feed, config.policy_units, POLICY_EPSILON)
    query, key = (layers.linear(x, f"policy_{part}", config.policy_keys) for part in ("query", "key"))
    moves = layers.flatten(layers.products(query, key, config.policy_keys))
    pieces = layers.flatten(layers.linear(key, "policy_promotion", 3))
    places = attention_places()
    promotions = layers.add(layers.take(moves, places.promotions), layers.take(pieces, places.pieces))
    return layers.join(layers.take(moves, places.moves), promotions)


def _numbers_of_squares(layers: AttentionLayers[NodeT], squares: NodeT, head: Head, config: Lc0Config) -> NodeT:
    units, hidden = _sizes(head, config)
    act = activation(layers, config)
    y = layers.flatten(act(layers.linear(squares, f"{head.name}_embedding", units)))
    return layers.linear(act(layers.linear(y, f"{head.name}_hidden", hidden)), f"{head.name}_out", _width(head))


def _numbers_of_filters(layers: AttentionLayers[NodeT], x: NodeT, head: Head, config: Lc0Config) -> NodeT:
    filters, hidden = _sizes(head, config)
    act = activation(layers, config)
    y = layers.flatten(act(layers.conv_norm(x, f"{head.name}_conv", filters, 1)))
    return layers.linear(act(layers.linear(y, f"{head.name}_hidden", hidden)), f"{head.name}_out", _width(head))


def _sizes(head: Head, config: Lc0Config) -> tuple[int, int]:
    if head.name == MOVES_LEFT.name:
        assert config.moves_left is not None
        return config.moves_left
    return config.value_filters, config.value_hidden


def _width(head: Head) -> int:
    assert isinstance(head.width, int)
    return head.width


def _act(layers: AttentionLayers[NodeT], name: Activation) -> Callable[[NodeT], NodeT]:
    if name == "squared_relu":
        return lambda x: layers.square(layers.relu(x))
    found: Callable[[NodeT], NodeT] = getattr(layers, name)
    return found
