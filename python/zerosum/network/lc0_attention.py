"""The layers of attention in Lc0's files: the body, and the policy.

What a layer adds to its input is multiplied by (2 · encoders)^(-1/4) (DeepNorm, arXiv 2203.00555). Here the weights are
multiplied by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from zerosum.network.lc0_config import Activation, Encoder, Smolgen
from zerosum.network.lc0_file import Message, UnreadableError, layer_numbers
from zerosum.network.lc0_layers import LayerReader, dense
from zerosum.network.lc0_moves import NUM_SQUARES, reachable

_NUM_PLANES, _NUM_PIECE_PLANES = 112, 12
_MAP, _DENSE = 1, 2
"""Numbers of the embeddings of squares."""
_ACTIVATIONS: dict[int, tuple[str, Activation | None]] = {
    1: ("ACTIVATION_MISH", "mish"),
    2: ("ACTIVATION_RELU", "relu"),
    3: ("ACTIVATION_NONE", None),
    4: ("ACTIVATION_TANH", None),
    5: ("ACTIVATION_SIGMOID", None),
    6: ("ACTIVATION_SELU", "selu"),
    7: ("ACTIVATION_SWISH", "swish"),
    8: ("ACTIVATION_RELU_2", "squared_relu"),
    9: ("ACTIVATION_SOFTMAX", None),
}


@dataclass(frozen=True)
class _PolicyFields:
    query: tuple[int, int]
    key: tuple[int, int]
    promotion: int
    encoders: int
    heads: int


_OF_ONE = _PolicyFields(query=(17, 18), key=(19, 20), promotion=22, encoders=21, heads=24)
_OF_SEVERAL = _PolicyFields(query=(3, 4), key=(5, 6), promotion=7, encoders=8, heads=9)


def read_body(reader: LayerReader, weights: Message, network_format: Message, filters: int) -> dict[str, Any]:
    """Add the body of attention on a tower of so many filters, or on the planes; returns its sizes."""
    default = _default(network_format)
    feed = _activation(network_format, 9, default)
    encoders = list(weights.messages(27))
    heads, factor = weights.integer(28), (2 * max(len(encoders), 1)) ** -0.25
    sizes: dict[str, Any] = {"feed_forward_activation": feed}
    sizes["smolgen_activation"] = _activation(network_format, 8, default)
    if filters:
        units = reader.linear("embedding", weights, (25, 26), inputs=filters)
    else:
        units, more = _embedding(reader, weights, network_format, factor)
        sizes |= more
    sizes["embedding_units"] = units
    if 33 in weights or 34 in weights:
        sizes["has_gates"] = True
        for part, field, default_number in (("weight", 33, 1.0), ("bias", 34, 0.0)):
            gates = np.full(units * NUM_SQUARES, default_number, np.float32)
            if field in weights:
                gates = layer_numbers("the gates", weights.message(field))
            if len(gates) != units * NUM_SQUARES:
                raise UnreadableError(f"its gates have {len(gates):,} numbers, expected {units} x {NUM_SQUARES}")
            reader.weights[f"gates.{part}"] = gates.reshape(units, NUM_SQUARES).T.copy()
    if not encoders:
        raise UnreadableError("it has no encoders, expected some in a body of attention")
    found = [
        read_encoder(reader, f"encoders.{number}", encoder, weights, heads, units, factor)
        for number, encoder in enumerate(encoders)
    ]
    return sizes | {"encoders": tuple(found)}


def _embedding(
    reader: LayerReader, weights: Message, network_format: Message, factor: float
) -> tuple[int, dict[str, Any]]:
    """Add what makes units of each square of the planes; returns their number, and the other sizes."""
    kind = network_format.integer(10)
    if kind not in (_MAP, _DENSE):
        raise UnreadableError(f"its input embedding is {kind}, expected {_MAP} or {_DENSE} for a body without a tower")
    position = 0
    if kind == _DENSE:
        outputs = reader.linear("position", weights, (37, 38), inputs=_NUM_PIECE_PLANES * NUM_SQUARES)
        position, rest = divmod(outputs, NUM_SQUARES)
        if rest:
            raise UnreadableError(f"its embedding has {outputs:,} numbers, expected a multiple of {NUM_SQUARES}")
    inputs = _NUM_PLANES + (position if kind == _DENSE else NUM_SQUARES)
    weight, bias = dense("embedding", weights, (25, 26), inputs)
    units = len(bias)
    reader.weights["plane_embedding.weight"] = weight[:, :_NUM_PLANES].copy()
    reader.weights["plane_embedding.bias"] = bias
    of_position = weight[:, _NUM_PLANES:]
    if kind == _MAP:
        # What a square can reach is the same in every position.
        reader.weights["square_embedding.weight"] = np.ones((NUM_SQUARES, units), np.float32)
        reader.weights["square_embedding.bias"] = reachable() @ of_position.T
        return units, {}
    reader.weights["position_embedding.weight"] = of_position.copy()
    reader.weights["position_embedding.bias"] = np.zeros(units, np.float32)
    reader.norm("embedding_norm", weights, (39, 40), units=units)
    hidden = _feed_forward(reader, "embedding", weights.message(41), units, factor)
    reader.norm("embedding.feed_norm", weights, (42, 43), units=units)
    return units, {"position_units": position, "position_hidden": hidden}


def read_encoder(
    reader: LayerReader, name: str, layer: Message, weights: Message, heads: int, units: int, factor: float
) -> Encoder:
    """Add an encoder of squares with so many units."""
    attention = layer.message(1)
    sizes = {
        reader.linear(f"{name}.{part}", attention, fields, inputs=units)
        for part, fields in (("query", (1, 2)), ("key", (3, 4)), ("value", (5, 6)))
    }
    if len(sizes) > 1 or heads < 1 or min(sizes) % heads:
        raise UnreadableError(f"{name} has {heads} heads and queries, keys and values of {sorted(sizes)} units")
    if any(field in attention for field in (10, 11, 12)):
        raise UnreadableError(f"{name} has relative positions (RPE), which are not read")
    inner = sizes.pop()
    if reader.linear(f"{name}.out", attention, (7, 8), inputs=inner, factor=factor) != units:
        raise UnreadableError(f"{name} has an attention of other units than the {units} of its input")
    reader.norm(f"{name}.attention_norm", layer, (2, 3), units=units)
    hidden = _feed_forward(reader, name, layer.message(4), units, factor)
    reader.norm(f"{name}.feed_norm", layer, (5, 6), units=units)
    smolgen = _smolgen(reader, name, attention.message(9), weights, heads, units) if 9 in attention else None
    return Encoder(heads, inner, hidden, smolgen)


def _feed_forward(reader: LayerReader, name: str, layer: Message, units: int, factor: float) -> int:
    hidden = reader.linear(f"{name}.feed_first", layer, (1, 2), inputs=units)
    if reader.linear(f"{name}.feed_second", layer, (3, 4), inputs=hidden, factor=factor) != units:
        raise UnreadableError(f"{name} has a layer of other units than the {units} of its input")
    return hidden


def _smolgen(reader: LayerReader, name: str, layer: Message, weights: Message, heads: int, units: int) -> Smolgen:
    squeezed = reader.matrix(f"{name}.smolgen_squeeze", layer.message(1), inputs=units)
    hidden = reader.linear(f"{name}.smolgen_first", layer, (2, 3), inputs=squeezed * NUM_SQUARES)
    reader.norm(f"{name}.smolgen_norm_first", layer, (4, 5), units=hidden)
    outputs = reader.linear(f"{name}.smolgen_second", layer, (6, 7), inputs=hidden)
    reader.norm(f"{name}.smolgen_norm_second", layer, (8, 9), units=outputs)
    if outputs % heads:
        raise UnreadableError(f"{name}'s smolgen has {outputs} units, expected a multiple of {heads} heads")
    generated = outputs // heads
    if reader.matrix("smolgen", weights.message(35), inputs=generated) != NUM_SQUARES**2:
        raise UnreadableError(f"its smolgen has not {NUM_SQUARES**2:,} outputs for {generated} units")
    return Smolgen(squeezed, hidden, generated)


def read_policy(
    reader: LayerReader, weights: Message, network_format: Message, inputs: int, *, is_body: bool
) -> dict[str, Any]:
    """Add a policy of attention; returns its sizes. Without a body of attention its functions are SELU."""
    embedding, embedding_fields, message, fields = weights, (4, 5), weights, _OF_ONE
    if 45 in weights:  # several policies, of which "vanilla" is one; they may share their embedding
        of_all = weights.message(45)
        message, fields = of_all.message(3), _OF_SEVERAL
        own = next((one for one in (message, of_all) if 1 in one), None)
        if own is not None:
            embedding, embedding_fields = own, (1, 2)
    default = _default(network_format)
    activation: Activation = default if is_body else "selu"
    feed: Activation = _activation(network_format, 9, default) if is_body else "selu"
    units = reader.linear("policy_embedding", embedding, embedding_fields, inputs=inputs)
    encoders = [
        read_encoder(reader, f"policy_encoders.{number}", layer, weights, message.integer(fields.heads), units, 1.0)
        for number, layer in enumerate(message.messages(fields.encoders))
    ]
    keys = {
        reader.linear(f"policy_{part}", message, numbers, inputs=units)
        for part, numbers in (("query", fields.query), ("key", fields.key))
    }
    if len(keys) > 1:
        raise UnreadableError(f"its policy has queries and keys of {sorted(keys)} units, expected one size")
    width = keys.pop()
    if reader.matrix("policy_promotion", message.message(fields.promotion), inputs=width) != 4:
        raise UnreadableError("its promotions have not 4 outputs")
    # The last output is added to each of the others, which are for a queen, a rook and a bishop.
    of_pieces = reader.weights["policy_promotion.weight"]
    reader.weights["policy_promotion.weight"] = of_pieces[:3] + of_pieces[3]
    reader.weights["policy_promotion.bias"] = np.zeros(3, np.float32)
    return {
        "policy_units": units,
        "policy_activation": activation,
        "policy_feed_forward_activation": feed,
        "policy_encoders": tuple(encoders),
        "policy_keys": width,
    }


def _default(network_format: Message) -> Literal["relu", "mish"]:
    return "mish" if network_format.integer(7) == 1 else "relu"


def _activation(network_format: Message, field: int, default: Activation) -> Activation:
    """The function that a field names; 0 stands for the default."""
    number = network_format.integer(field)
    if number == 0:
        return default
    name, found = _ACTIVATIONS.get(number, (str(number), None))
    if found is None:
        known = ", ".join(name for name, known in _ACTIVATIONS.values() if known)
        raise UnreadableError(f"an activation is {name}, expected one of {known}")
    return found
