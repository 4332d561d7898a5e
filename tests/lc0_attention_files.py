"""Files of Lc0 with attention and random weights, and the readable twin that evaluates them from their own layers."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lc0_files import LINEAR16, data, layer, number, varint

Array = NDArray[np.float64]
RELU, MISH, SELU, SWISH, SQUARED_RELU = 2, 1, 6, 7, 8


@dataclass
class AttentionFile:
    """What a file has. Sizes are small, and all of them differ, so that no two can be taken for one another."""

    input: int = 1
    blocks: int = 0
    """Residual blocks; 0 for no tower."""
    squeezes: bool = True
    encoders: int = 2
    is_dense_embedding: bool = False
    has_gates: bool = True
    has_smolgen: bool = True
    policy_encoders: int = 0
    policy: int = 3
    has_several_heads: bool = False
    default: int = 1
    """0 for ReLU, 1 for Mish."""
    smolgen_activation: int = SWISH
    feed_activation: int = SQUARED_RELU
    value: int = 2
    has_moves_left: bool = True
    seed: int = 0
    weights: dict[int, Any] = field(default_factory=dict)
    """The fields of `Weights`: arrays are layers, dictionaries messages, lists repeated ones."""

    def __post_init__(self) -> None:
        """Draw the weights."""
        self._random = np.random.default_rng(self.seed)
        units, filters = 24, 20
        if self.blocks:
            self.weights[1] = self._conv(112, filters, 3)
            self.weights[1][1] = calm(self.weights[1][1])
            self.weights[2] = [self._block(filters) for _ in range(self.blocks)]
        if self.encoders:
            self.weights |= self._body(units, filters)
        inputs = units if self.encoders else filters
        self.weights |= self._policy(inputs, filters)
        value = self._numbers(inputs, (6, 29, 7, 9), width=3 if self.value == 2 else 1)
        if self.has_several_heads:
            value = {44: {1: self._numbers(inputs, (11, 1, 3, 5), width=3 if self.value == 2 else 1)}}
        self.weights |= value
        if self.has_moves_left:
            self.weights |= self._numbers(inputs, (12, 31, 13, 15), width=1)

    def content(self) -> bytes:
        """The file before gzip."""
        network = (7 if self.has_several_heads else 6) if self.encoders else 4
        embedding = 2 if self.is_dense_embedding else 1
        chosen = [self.input, 2, network, self.policy, self.value, int(self.has_moves_left), self.default]
        chosen += [self.smolgen_activation, self.feed_activation, embedding]
        formats = b"".join(number(place, value) for place, value in enumerate(chosen, 1))
        parts = data(4, number(1, 1) + data(2, formats)) + data(5, number(1, 77)) + data(10, message(self.weights))
        return varint(1 << 3 | 5) + struct.pack("<I", 0x1C0) + parts

    def _draw(self, *shape: int, size: float | None = None) -> Array:
        scale = size if size is not None else 1.5 / np.sqrt(shape[-1])
        return rounded(self._random.normal(0, scale, shape))

    def _linear(self, first: int, inputs: int, outputs: int) -> dict[int, Any]:
        return {first: self._draw(outputs, inputs), first + 1: self._draw(outputs, size=0.2)}

    def _norm(self, first: int, units: int) -> dict[int, Any]:
        return {first: rounded(1 + self._draw(units, size=0.2)), first + 1: self._draw(units, size=0.2)}

    def _conv(self, inputs: int, filters: int, kernel: int) -> dict[int, Any]:
        weight = self._draw(filters, inputs, kernel, kernel, size=1 / np.sqrt(inputs * kernel))
        return {1: weight, 2: self._draw(filters, size=0.2)}

    def _block(self, filters: int) -> dict[int, Any]:
        block = {1: self._conv(filters, filters, 3), 2: self._conv(filters, filters, 3)}
        if self.squeezes:
            block[3] = self._linear(1, filters, 6) | self._linear(3, 6, 2 * filters)
        return block

    def _body(self, units: int, filters: int) -> dict[int, Any]:
        inputs, body = filters, dict[int, Any]()
        if not self.blocks:
            inputs = 112 + (5 if self.is_dense_embedding else 64)
        if self.is_dense_embedding:
            body |= self._linear(37, 12 * 64, 64 * 5) | self._norm(39, units) | self._norm(42, units)
            body[41] = self._linear(1, units, 31) | self._linear(3, 31, units)
        body |= self._linear(25, inputs, units)
        if not self.blocks:
            body[25] = calm(body[25])
        if self.has_gates:
            body |= {33: self._draw(units, 64, size=0.7), 34: self._draw(units, 64, size=0.2)}
        body[27] = [self._encoder(units, heads=3) for _ in range(self.encoders)]
        body[28] = 3
        if self.has_smolgen:
            body[35] = self._draw(64 * 64, 7)
        return body

    def _encoder(self, units: int, heads: int, *, has_smolgen: bool | None = None) -> dict[int, Any]:
        inner = 4 * heads
        attention = self._linear(1, units, inner) | self._linear(3, units, inner) | self._linear(5, units, inner)
        attention |= self._linear(7, inner, units)
        if self.has_smolgen if has_smolgen is None else has_smolgen:
            generated = self._linear(2, 64 * 2, 9) | self._norm(4, 9)
            generated |= self._linear(6, 9, 7 * heads) | self._norm(8, 7 * heads)
            attention[9] = {1: self._draw(2, units)} | generated
        feed = self._linear(1, units, 33) | self._linear(3, 33, units)
        return {1: attention, 4: feed} | self._norm(2, units) | self._norm(5, units)

    def _policy(self, inputs: int, filters: int) -> dict[int, Any]:
        if self.policy == 1:
            return {3: self._conv(filters, 2, 1)} | self._linear(4, 2 * 64, 1858)
        if self.policy == 2:
            return {11: self._conv(filters, filters, 3), 3: self._conv(filters, 80, 3)}
        embedding = self._linear(4, inputs, 18)
        encoders = [self._encoder(18, heads=2, has_smolgen=False) for _ in range(self.policy_encoders)]
        if self.has_several_heads:
            chosen = self._linear(3, 18, 10) | self._linear(5, 18, 10) | {7: self._draw(4, 10)}
            if encoders:
                chosen |= {8: encoders, 9: 2}
            return {45: self._linear(1, inputs, 18) | {3: chosen}}
        chosen = self._linear(17, 18, 10) | self._linear(19, 18, 10) | {22: self._draw(4, 10)}
        return embedding | chosen | ({21: encoders, 24: 2} if encoders else {})

    def _numbers(self, inputs: int, fields: tuple[int, int, int, int], *, width: int) -> dict[int, Any]:
        conv, embedding, hidden, out = fields
        first = self._linear(embedding, inputs, 4) if self.encoders else {conv: self._conv(inputs, 4, 1)}
        last = self._linear(out, 128, width)
        if fields[0] == 12:
            last[out + 1] = rounded(last[out + 1] + 5)  # so that the ReLU lets something through
        return first | self._linear(hidden, 4 * 64, 128) | last


def rounded(x: Array) -> Array:
    """The numbers that a file has in 16 bits, which lc0 reads in every version."""
    low, high = np.float32(x.min()), np.float32(x.max())
    return low + np.round((x - low) / (high - low or 1) * 65535) * np.float64((high - low) / 65535)


def calm(weight: Array) -> Array:
    """Weights of planes [F, 112, …], small for the plies of the fifty-move rule, whose plane has their number."""
    weight[:, 109] /= 64
    return rounded(weight)


def message(fields: dict[int, Any]) -> bytes:
    """A message of protocol buffers."""
    content = b""
    for place, value in sorted(fields.items()):
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, int):
                content += number(place, one)
            else:
                inner = message(one) if isinstance(one, dict) else layer(one.astype(np.float32), LINEAR16)
                content += data(place, inner)
    return content


@dataclass
class Twin:
    """The same network in float64, step by step as Lc0's converter to ONNX has it."""

    file: AttentionFile

    def evaluate(self, planes: Array) -> tuple[Array, Array, Array | None]:
        """The policy [1858] or [80 * 64], the value's logits and the moves left, from planes [112, 64] from a1 on."""
        file, weights = self.file, self.file.weights
        default = {0: RELU, 1: MISH}[file.default]
        x = planes.T  # [64, channels]
        if file.blocks:
            x = act(convolved(x, weights[1]), default)
            for block in weights[2]:
                y = convolved(act(convolved(x, block[1]), default), block[2])
                if 3 in block:
                    squeezed = linear(act(linear(y.mean(axis=0), block[3], 1), default), block[3], 3)
                    factors, shifts = np.split(squeezed, 2)
                    y = y / (1 + np.exp(-factors)) + shifts
                x = act(y + x, default)
        if file.encoders:
            x = self._body(x, default)
        policy = self._policy(x, default)
        several = weights.get(44, {}).get(1)
        value = self._numbers(x, several or weights, (11, 1, 3, 5) if several else (6, 29, 7, 9), default)
        moves = self._numbers(x, weights, (12, 31, 13, 15), default) if file.has_moves_left else None
        return policy, value, None if moves is None else np.maximum(moves, 0)

    def _body(self, x: Array, default: int) -> Array:
        file, weights = self.file, self.file.weights
        feed = file.feed_activation or default
        alpha = (2 * file.encoders) ** -0.25
        if not file.blocks:
            if file.is_dense_embedding:
                position = linear(x[:, :12].reshape(-1), weights, 37).reshape(64, -1)
            else:
                position = np.array([[can_reach(start, end) for end in range(64)] for start in range(64)])
            x = np.concatenate([x, position], axis=1)
        x = act(linear(x, weights, 25), default)
        if file.is_dense_embedding:
            x = normed(x, weights, 39, 1e-3)
        if file.has_gates:
            x = x * weights[33].T + weights[34].T
        if file.is_dense_embedding:
            y = linear(act(linear(x, weights[41], 1), feed), weights[41], 3)
            x = normed(y * alpha + x, weights, 42, 1e-3)
        for encoder in weights[27]:
            epsilon = 1e-3 if file.is_dense_embedding else 1e-6
            x = self._encoder(x, encoder, weights[28], feed, alpha, epsilon)
        return x

    def _encoder(self, x: Array, encoder: dict[int, Any], heads: int, feed: int, alpha: float, epsilon: float) -> Array:
        attention = encoder[1]
        parts = [linear(x, attention, first).reshape(64, heads, -1) for first in (1, 3, 5)]
        seen = []
        for head in range(heads):
            query, key, value = (part[:, head] for part in parts)
            logits = query @ key.T / np.sqrt(query.shape[1])
            if 9 in attention:
                logits += self._smolgen(x, attention[9], heads)[head]
            shares = np.exp(logits - logits.max(axis=1, keepdims=True))
            seen.append(shares / shares.sum(axis=1, keepdims=True) @ value)
        y = linear(np.concatenate(seen, axis=1), attention, 7)
        x = normed(y * alpha + x, encoder, 2, epsilon)
        y = linear(act(linear(x, encoder[4], 1), feed), encoder[4], 3)
        return normed(y * alpha + x, encoder, 5, epsilon)

    def _smolgen(self, x: Array, smolgen: dict[int, Any], heads: int) -> Array:
        kind = self.file.smolgen_activation or {0: RELU, 1: MISH}[self.file.default]
        y = (x @ smolgen[1].T).reshape(-1)
        y = normed(act(linear(y, smolgen, 2), kind), smolgen, 4, 1e-3)
        y = normed(act(linear(y, smolgen, 6), kind), smolgen, 8, 1e-3)
        return (y.reshape(heads, -1) @ self.file.weights[35].T).reshape(heads, 64, 64)

    def _policy(self, x: Array, default: int) -> Array:
        file, weights = self.file, self.file.weights
        if file.policy == 1:
            return linear(act(convolved(x, weights[3]), default).T.reshape(-1), weights, 4)
        if file.policy == 2:
            return convolved(act(convolved(x, weights[11]), default), weights[3]).T.reshape(-1)
        kind = default if file.encoders else SELU
        feed = (file.feed_activation or default) if file.encoders else SELU
        if file.has_several_heads:
            x = act(linear(x, weights[45], 1), kind)
            head, (query, key, promotion, encoders) = weights[45][3], (3, 5, 7, 8)
        else:
            x = act(linear(x, weights, 4), kind)
            head, (query, key, promotion, encoders) = weights, (17, 19, 22, 21)
        for encoder in head.get(encoders, []):
            x = self._encoder(x, encoder, 2, feed, 1.0, 1e-6)
        keys = linear(x, head, key)
        products = linear(x, head, query) @ keys.T / np.sqrt(keys.shape[1])
        pieces = keys @ head[promotion].T
        found = [products[start, end] for start in range(64) for end in range(64) if can_reach(start, end) == 1]
        for file_ in range(8):
            for to in (file_ - 1, file_, file_ + 1):
                if 0 <= to < 8:
                    start, end = 48 + file_, 56 + to
                    found += [products[start, end] + pieces[end, piece] + pieces[end, 3] for piece in range(3)]
        return np.array(found)

    def _numbers(self, x: Array, message: dict[int, Any], fields: tuple[int, int, int, int], default: int) -> Array:
        conv, embedding, hidden, out = fields
        if self.file.encoders:
            y = act(linear(x, message, embedding), default).reshape(-1)
        else:
            y = act(convolved(x, message[conv]), default).T.reshape(-1)
        return linear(act(linear(y, message, hidden), default), message, out)


def linear(x: Array, message: dict[int, Any], first: int) -> Array:
    """A dense layer whose weight is in a field and whose bias in the next one."""
    found: Array = x @ message[first].T + message[first + 1]
    return found


def normed(x: Array, message: dict[int, Any], first: int, epsilon: float) -> Array:
    """Mean 0 and variance 1 over the last axis, times a field, plus the next one."""
    x = x - x.mean(axis=-1, keepdims=True)
    found: Array = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + epsilon) * message[first] + message[first + 1]
    return found


def convolved(x: Array, conv: dict[int, Any]) -> Array:
    """[64, F] to [64, G], the board row by row from a1."""
    kernel, reach = conv[1], conv[1].shape[2] // 2
    board = np.pad(x.reshape(8, 8, -1), ((reach, reach), (reach, reach), (0, 0)))
    rows = [
        np.einsum("gfij,ijf->g", kernel, board[row : row + 2 * reach + 1, column : column + 2 * reach + 1])
        for row in range(8)
        for column in range(8)
    ]
    return np.array(rows) + conv[2]


def act(x: Array, kind: int) -> Array:
    """The function of a number of net.proto."""
    functions = {
        RELU: lambda: np.maximum(x, 0),
        MISH: lambda: x * np.tanh(np.logaddexp(x, 0)),
        SELU: lambda: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0))),
        SWISH: lambda: x / (1 + np.exp(-x)),
        SQUARED_RELU: lambda: np.maximum(x, 0) ** 2,
    }
    found: Array = functions[kind]()
    return found


def can_reach(start: int, end: int) -> float:
    """1 for a move of a queen or a knight on an empty board, -1 for no move at all, else 0."""
    up, right = abs(end // 8 - start // 8), abs(end % 8 - start % 8)
    if start == end:
        return -1
    return float(up == 0 or right == 0 or up == right or {up, right} == {1, 2})


BODIES = {
    "map": AttentionFile(),
    "dense": AttentionFile(is_dense_embedding=True, has_several_heads=True, default=1, feed_activation=0),
    "plain": AttentionFile(has_gates=False, has_smolgen=False, default=0, value=1, has_moves_left=False),
    "tower": AttentionFile(blocks=1, squeezes=False, encoders=1),
}
"""Files with bodies of attention."""
TOWERS = {
    "policy": AttentionFile(blocks=2, encoders=0, default=1),
    "policy-encoder": AttentionFile(blocks=1, encoders=0, policy_encoders=1, default=0),
    "mish": AttentionFile(blocks=2, encoders=0, policy=2, default=1),
    "moves-left": AttentionFile(blocks=1, encoders=0, policy=1, default=0),
}
"""Files with residual towers that need a description of their own."""


def of_input(file: AttentionFile, number: int) -> AttentionFile:
    """The same with another input."""
    return replace(file, input=number, weights={})
