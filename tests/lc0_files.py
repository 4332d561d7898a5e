"""Files of Lc0 from networks of ours: a small writer of net.proto, for the tests of the reader."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from networks_for_tests import with_opinions
from zerosum.games import make
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig, initial_weights
from zerosum.network.lc0 import GAMES
from zerosum.network.lc0_moves import dense_places

GAME = GAMES[1]
LINEAR16, FLOAT16, BFLOAT16, FLOAT32 = 1, 2, 3, 4


PLANES = NetworkConfig(
    num_blocks=2,
    num_filters=8,
    squeeze_units=4,
    policy_head="planes",
    policy_filters=8,
    policy_out_kernel=3,
    value_filters=2,
    value_hidden=8,
)
DENSE = dataclasses.replace(
    PLANES, squeeze_units=0, policy_head="dense", policy_filters=2, policy_out_kernel=1, value_head="scalar"
)


def lc0_network(config: NetworkConfig = PLANES) -> Checkpoint:
    spec = make(GAME).spec
    info = CheckpointInfo.describe(spec, config, step=1234)
    return with_opinions(Checkpoint(info=info, weights=initial_weights(config, info.shape, seed=1)), seed=2)


def number(field: int, value: int) -> bytes:
    """A field with an integer."""
    return varint(field << 3) + varint(value)


def data(field: int, content: bytes) -> bytes:
    """A field with bytes or a message."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def real(field: int, value: float) -> bytes:
    """A field with a 32-bit float."""
    return varint(field << 3 | 5) + struct.pack("<f", value)


def varint(value: int) -> bytes:
    """An integer of 7 bits a byte."""
    content = b""
    while value >= 0x80:
        content, value = content + bytes([value & 0x7F | 0x80]), value >> 7
    return content + bytes([value])


def layer(numbers: NDArray[np.float32], encoding: int) -> bytes:
    """The message of a layer's numbers."""
    flat = np.ascontiguousarray(numbers, np.float32).ravel()
    low, high = (float(flat.min()), float(flat.max())) if len(flat) else (0.0, 0.0)
    if encoding == LINEAR16:
        packed = np.round((flat - low) / (high - low or 1) * 65535).astype("<u2").tobytes()
    elif encoding == BFLOAT16:
        packed = ((flat.view(np.uint32) + 0x8000) >> 16).astype("<u2").tobytes()
    else:
        packed = flat.astype("<f2" if encoding == FLOAT16 else "<f4").tobytes()
    return real(1, low) + real(2, high) + data(3, packed) + number(4, encoding)


class Lc0File:
    """The content of a file, whose parts a test may change before it is written."""

    def __init__(self, checkpoint: Checkpoint, *, encoding: int = FLOAT32) -> None:
        self.checkpoint, self.encoding = checkpoint, encoding
        network = checkpoint.info.network
        self.magic, self.step = 0x1C0, checkpoint.info.step
        is_dense = network.policy_head == "dense"
        self.formats = {
            1: 1,
            2: 2 if network.value_head == "wdl" else 1,
            3: 4 if network.squeeze_units else 3,
            4: 1 if is_dense else 2,
            5: 2 if network.value_head == "wdl" else 1,
        }
        self.layers = dict(checkpoint.weights)

    def content(self) -> bytes:
        """The file before gzip."""
        formats = b"".join(number(field, value) for field, value in self.formats.items())
        parts = (data(4, number(1, 1) + data(2, formats)), data(5, number(1, self.step)), data(10, self._weights()))
        return varint(1 << 3 | 5) + struct.pack("<I", self.magic) + b"".join(parts)

    def _weights(self) -> bytes:
        network = self.checkpoint.info.network
        content = data(1, self._conv_norm("stem"))
        content += b"".join(data(2, self._block(f"blocks.{block}")) for block in range(network.num_blocks))
        if network.policy_head == "dense":
            content += data(3, self._conv_norm("policy_conv"))
            weight, bias = turned(self.layers["policy_out.weight"]), self.layers["policy_out.bias"]
            content += fields((4, 5), [self._layer(numbers[dense_places()]) for numbers in (weight, bias)])
        else:
            kernel, bias = self.layers["policy_out.weight"], self.layers["policy_out.bias"]
            unused = [(0, 80 - len(bias))]
            content += data(11, self._conv_norm("policy_conv"))
            kernel = np.pad(kernel[:, :, ::-1], unused + [(0, 0)] * 3)
            content += data(3, data(1, self._layer(kernel)) + data(2, self._layer(np.pad(bias, unused))))
        content += data(6, self._conv_norm("value_conv"))
        content += data(7, self._layer(turned(self.layers["value_hidden.weight"])))
        others = ((8, "value_hidden.bias"), (9, "value_out.weight"), (10, "value_out.bias"))
        return content + b"".join(data(field, self._layer(self.layers[name])) for field, name in others)

    def _layer(self, numbers: NDArray[np.float32]) -> bytes:
        return layer(numbers, self.encoding)

    def _conv_norm(self, name: str) -> bytes:
        parts = ((3, "running_mean"), (4, "running_var"), (5, "weight"), (6, "bias"))
        content = data(1, self._layer(self.layers[f"{name}.conv.weight"][:, :, ::-1]))
        return content + b"".join(data(field, self._layer(self.layers[f"{name}.norm.{part}"])) for field, part in parts)

    def _block(self, name: str) -> bytes:
        content = data(1, self._conv_norm(f"{name}.first")) + data(2, self._conv_norm(f"{name}.second"))
        if not self.checkpoint.info.network.squeeze_units:
            return content
        squeeze = [self.layers[f"{name}.squeeze.{part}"] for part in ("weight", "bias")]
        excite = [
            np.concatenate([self.layers[f"{name}.{half}_out.{part}"] for half in ("scale", "shift")])
            for part in ("weight", "bias")
        ]
        return content + data(3, fields((1, 2, 3, 4), [self._layer(numbers) for numbers in squeeze + excite]))


def fields(numbers: Iterable[int], contents: Iterable[bytes]) -> bytes:
    """Several fields of bytes."""
    return b"".join(data(field, content) for field, content in zip(numbers, contents, strict=True))


def turned(weight: NDArray[np.float32]) -> NDArray[np.float32]:
    """A dense layer's weight [U, F * 64] with the rows of the board in the other order."""
    return weight.reshape(len(weight), -1, 8, 8)[:, :, ::-1].reshape(weight.shape)
