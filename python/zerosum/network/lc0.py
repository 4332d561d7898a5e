"""Networks of Lc0 (Leela Chess Zero), such as Maia's, read from their files (`.pb.gz`).

A file is a message of protocol buffers (lczero-common, `net.proto`) in gzip. The residual networks that it may hold are
expressible by ours with squeeze-and-excitation: planes and moves have Lc0's order by the game's option `planes=lc0`,
and kernels and dense layers are turned upside down, because Lc0 counts rows from the mover's side and we from the top.
So what is read is a network like any other: every evaluator, search, export and training takes it.

Read: input 1 (112 classical planes); residual towers with and without squeeze-and-excitation; policies 1 (dense) and 2
(convolution); values 1 (scalar) and 2 (win, draw, loss); weights in 16 bits linear, float16, bfloat16 and float32. The
output of the moves left is not used. Attention networks and canonical inputs are refused by their names.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import DataError, SettingsError
from zerosum.games import make
from zerosum.network.config import NetworkConfig
from zerosum.network.description import Checkpoint, CheckpointInfo
from zerosum.network.packed_file import read_packed
from zerosum.network.weights import NORM_EPSILON

SUFFIXES = (".pb.gz", ".pb")
GAME = "chess(planes=lc0)"
"""The rules with the planes and the order of moves of these networks."""

SEARCH = {
    "c_init": 1.745,
    "c_base": 38739.0,
    "c_factor": 3.894,
    "unvisited_reduction": 0.33,
    "prior_temperature": 1.359,
}
"""The settings with which Lc0 0.32 searches, by the names of `SearchConfig`."""

_MAGIC = 0x1C0
_SIDE, _NUM_PLANES, _NUM_MOVE_PLANES = 8, 112, 73
_NUM_DENSE_MOVES = 1858

_INPUTS = {
    1: "INPUT_CLASSICAL_112_PLANE",
    2: "INPUT_112_WITH_CASTLING_PLANE",
    3: "INPUT_112_WITH_CANONICALIZATION",
    4: "INPUT_112_WITH_CANONICALIZATION_HECTOPLIES",
    5: "INPUT_112_WITH_CANONICALIZATION_V2",
    132: "INPUT_112_WITH_CANONICALIZATION_HECTOPLIES_ARMAGEDDON",
    133: "INPUT_112_WITH_CANONICALIZATION_V2_ARMAGEDDON",
}
_NETWORKS = {
    1: "NETWORK_CLASSICAL",
    2: "NETWORK_SE",
    3: "NETWORK_CLASSICAL_WITH_HEADFORMAT",
    4: "NETWORK_SE_WITH_HEADFORMAT",
    5: "NETWORK_ONNX",
    6: "NETWORK_ATTENTIONBODY_WITH_HEADFORMAT",
    7: "NETWORK_ATTENTIONBODY_WITH_MULTIHEADFORMAT",
    8: "NETWORK_AB_LEGACY_WITH_MULTIHEADFORMAT",
}
_POLICIES = {1: "POLICY_CLASSICAL", 2: "POLICY_CONVOLUTION", 3: "POLICY_ATTENTION"}
_VALUES = {1: "VALUE_CLASSICAL", 2: "VALUE_WDL", 3: "VALUE_PARAM"}
_LINEAR16, _FLOAT16, _BFLOAT16, _FLOAT32 = 1, 2, 3, 4


def is_lc0_file(path: Path) -> bool:
    """Whether a path is named as Lc0's networks are, `.pb.gz` or `.pb`."""
    return path.name.endswith(SUFFIXES) and path.is_file()


def read_lc0(path: Path) -> Checkpoint:
    """The network of a file of Lc0. `CheckpointInfo.step` is its training step, `created_at` the file's checksum.

    Raises:
        DataError: the file cannot be read, is damaged, or has a format that is not read; the message names it.
    """
    content = read_packed(path, may_be_plain=True)
    try:
        return _network(_Message(content), hashlib.sha256(content).hexdigest())
    except _UnreadableError as error:
        raise DataError(f"{path} cannot be read as a network of Lc0: {error}.") from error
    except SettingsError as error:  # a size that no network of ours may have
        raise DataError(f"{path} cannot be read as a network of Lc0: {error}") from error


class _UnreadableError(Exception):
    """What is wrong with a file, without its path and without a full stop."""


class _Message:
    """A message of protocol buffers: the values of each field by number, in their order."""

    def __init__(self, content: bytes) -> None:
        """Raises _UnreadableError if it is none."""
        self._values: dict[int, list[int | bytes]] = {}
        at = 0
        while at < len(content):
            key, at = _varint(content, at)
            number, kind = key >> 3, key & 7
            if kind == 0:
                value: int | bytes
                value, at = _varint(content, at)
            elif kind in (1, 2, 5):
                size = {1: 8, 5: 4}.get(kind)
                if size is None:
                    size, at = _varint(content, at)
                if size > len(content) - at:
                    raise _UnreadableError(f"field {number} has {size:,} bytes, but {len(content) - at:,} are left")
                value, at = content[at : at + size], at + size
            else:
                raise _UnreadableError(f"byte {at} begins a field of kind {kind}, expected a file of net.proto")
            self._values.setdefault(number, []).append(value)

    def __contains__(self, number: int) -> bool:
        return number in self._values

    def integer(self, number: int, default: int = 0) -> int:
        """The value of a field of integers; fixed ones are little endian."""
        value = self._values.get(number, [default])[-1]
        return value if isinstance(value, int) else int.from_bytes(value[:8], "little")

    def real(self, number: int) -> float:
        """The value of a 32-bit float; 0 without one."""
        value = self._values.get(number, [bytes(4)])[-1]
        if not isinstance(value, bytes) or len(value) != 4:
            raise _UnreadableError(f"field {number} is not a 32-bit float")
        return float(np.frombuffer(value, "<f4")[0])

    def data(self, number: int) -> bytes:
        """The bytes of a field; empty without one."""
        value = self._values.get(number, [b""])[-1]
        if not isinstance(value, bytes):
            raise _UnreadableError(f"field {number} is a number, expected bytes")
        return value

    def message(self, number: int) -> _Message:
        """The message in a field; an empty one without it."""
        return _Message(self.data(number))

    def messages(self, number: int) -> Iterator[_Message]:
        """The messages of a repeated field."""
        for value in self._values.get(number, []):
            if not isinstance(value, bytes):
                raise _UnreadableError(f"field {number} is a number, expected a message")
            yield _Message(value)


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """An integer of 7 bits a byte, and the index behind it."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(content):
            raise _UnreadableError("it ends within a number")
        byte = content[at]
        value, at = value | (byte & 0x7F) << shift, at + 1
        if byte < 0x80:
            return value, at
    raise _UnreadableError(f"byte {at} continues a number of more than 64 bits")


@dataclasses.dataclass(frozen=True)
class _Formats:
    """The choices of a file, by the numbers of net.proto."""

    policy: int
    value: int

    @classmethod
    def of(cls, net: _Message) -> _Formats:
        """The formats of a file, all of which are read. Files without any are of the oldest."""
        formats = net.message(4).message(2)
        network = formats.integer(3, 1)
        _require_read("input", formats.integer(1, 1), _INPUTS, (1,))
        _require_read("network", network, _NETWORKS, (1, 2, 3, 4))
        has_heads = network in (3, 4)
        policy, value = (formats.integer(number, 1) if has_heads else 1 for number in (4, 5))
        _require_read("policy", policy, _POLICIES, (1, 2))
        _require_read("value", value, _VALUES, (1, 2))
        return cls(policy, value)


def _require_read(what: str, number: int, names: dict[int, str], read: tuple[int, ...]) -> None:
    if number not in read:
        expected = " or ".join(names[known] for known in read)
        raise _UnreadableError(f"its {what} is {names.get(number, number)}, expected {expected}")


def _network(net: _Message, checksum: str) -> Checkpoint:
    if net.integer(1) != _MAGIC:
        raise _UnreadableError(f"its magic number is {net.integer(1):#x}, expected {_MAGIC:#x}")
    formats, weights = _Formats.of(net), net.message(10)
    reader = _Reader()
    filters = reader.conv_norm("stem", weights.message(1), inputs=_NUM_PLANES, kernel=3)
    blocks = list(weights.messages(2))
    units = {reader.block(f"blocks.{number}", block, filters) for number, block in enumerate(blocks)} or {0}
    if len(units) > 1:
        raise _UnreadableError(f"its blocks have squeeze layers of {sorted(units)} units, expected one size")
    policy = reader.dense_policy(weights, filters) if formats.policy == 1 else reader.planes_policy(weights, filters)
    value_filters = reader.conv_norm("value_conv", weights.message(6), inputs=filters, kernel=1)
    hidden = reader.linear("value_hidden", weights, (7, 8), inputs=value_filters * _SIDE**2, of_squares=True)
    width = reader.linear("value_out", weights, (9, 10), inputs=hidden)
    if width != (expected := 1 if formats.value == 1 else 3):
        raise _UnreadableError(f"its value has {width} outputs, expected {expected}")
    config = NetworkConfig(
        num_blocks=len(blocks),
        num_filters=filters,
        squeeze_units=units.pop(),
        policy_head="dense" if formats.policy == 1 else "planes",
        policy_filters=policy,
        policy_out_kernel=1 if formats.policy == 1 else 3,
        value_filters=value_filters,
        value_hidden=hidden,
        value_head="scalar" if formats.value == 1 else "wdl",
    )
    training = {"source": "a file of Lc0"}
    step = net.message(5).integer(1)
    info = CheckpointInfo.describe(make(GAME).spec, config, step=step, training=training)
    info = dataclasses.replace(info, created_at=f"sha256 {checksum[:16]}")
    return Checkpoint(info=info, weights=reader.weights)


class _Reader:
    """Converts layers of a file to weights of ours, by their names."""

    def __init__(self) -> None:
        self.weights: dict[str, NDArray[np.float32]] = {}

    def conv_norm(self, name: str, block: _Message, *, inputs: int, kernel: int) -> int:
        """Add a convolution with its norm; returns the number of its filters."""
        weight, filters = _kernel(name, block, inputs, kernel)
        shift, mean, variance, factor, bias = _norm(name, block, filters)
        self.weights[f"{name}.conv.weight"] = weight
        parts = {"weight": factor, "bias": bias, "running_mean": mean - shift, "running_var": variance}
        self.weights.update({f"{name}.norm.{part}": array for part, array in parts.items()})
        return filters

    def conv(self, name: str, block: _Message, *, inputs: int, kernel: int, num_kept: int) -> None:
        """Add the first filters of a convolution with a bias, its norm folded into it."""
        weight, filters = _kernel(name, block, inputs, kernel)
        shift, mean, variance, factor, bias = _norm(name, block, filters)
        if filters < num_kept:
            raise _UnreadableError(f"{name} has {filters} filters, expected at least {num_kept}")
        scale = factor / np.sqrt(variance + np.float32(NORM_EPSILON))
        self.weights[f"{name}.weight"] = (weight * scale[:, None, None, None])[:num_kept]
        self.weights[f"{name}.bias"] = (bias + scale * (shift - mean))[:num_kept]

    def block(self, name: str, block: _Message, filters: int) -> int:
        """Add a residual block; returns the units of its squeeze layer, 0 without one."""
        for number, part in ((1, "first"), (2, "second")):
            if self.conv_norm(f"{name}.{part}", block.message(number), inputs=filters, kernel=3) != filters:
                raise _UnreadableError(f"{name} has other numbers of filters than the {filters} of the stem")
        if 3 not in block:
            return 0
        excitation = block.message(3)
        units = self.linear(f"{name}.squeeze", excitation, (1, 2), inputs=filters)
        weight, bias = _dense(f"{name}.scale_out", excitation, (3, 4), units)
        if len(bias) != 2 * filters:
            raise _UnreadableError(f"{name} has {len(bias)} excitations, expected {2 * filters}")
        for part, rows in (("scale_out", slice(filters)), ("shift_out", slice(filters, None))):
            self.weights[f"{name}.{part}.weight"] = weight[rows].copy()
            self.weights[f"{name}.{part}.bias"] = bias[rows].copy()
        return units

    def linear(
        self, name: str, message: _Message, fields: tuple[int, int], *, inputs: int, of_squares: bool = False
    ) -> int:
        """Add a dense layer; returns the number of its outputs."""
        weight, bias = _dense(name, message, fields, inputs)
        self.weights[f"{name}.weight"] = _turned(weight) if of_squares else weight
        self.weights[f"{name}.bias"] = bias
        return len(bias)

    def planes_policy(self, weights: _Message, filters: int) -> int:
        """Add a policy of planes; returns the number of its hidden filters."""
        hidden = self.conv_norm("policy_conv", weights.message(11), inputs=filters, kernel=3)
        self.conv("policy_out", weights.message(3), inputs=hidden, kernel=3, num_kept=_NUM_MOVE_PLANES)
        return hidden

    def dense_policy(self, weights: _Message, filters: int) -> int:
        """Add a dense policy, whose moves get their places among the planes; returns the number of its filters."""
        hidden = self.conv_norm("policy_conv", weights.message(3), inputs=filters, kernel=1)
        weight, bias = _dense("policy_out", weights, (4, 5), hidden * _SIDE**2)
        if len(bias) != _NUM_DENSE_MOVES:
            raise _UnreadableError(f"its policy has {len(bias)} moves, expected {_NUM_DENSE_MOVES}")
        num_places, places = _NUM_MOVE_PLANES * _SIDE**2, dense_places()
        self.weights["policy_out.weight"] = np.zeros((num_places, weight.shape[1]), np.float32)
        self.weights["policy_out.bias"] = np.zeros(num_places, np.float32)
        self.weights["policy_out.weight"][places] = _turned(weight)
        self.weights["policy_out.bias"][places] = bias
        return hidden


def _kernel(name: str, block: _Message, inputs: int, kernel: int) -> tuple[NDArray[np.float32], int]:
    """A kernel [F, inputs, k, k] for boards that are counted from the top, and F."""
    weight = _numbers(f"{name}'s kernel", block.message(1))
    filters, rest = divmod(len(weight), inputs * kernel**2)
    if rest or not filters:
        raise _UnreadableError(f"{name} has {len(weight):,} weights, expected a multiple of {inputs}x{kernel}x{kernel}")
    return weight.reshape(filters, inputs, kernel, kernel)[:, :, ::-1].copy(), filters


def _norm(name: str, block: _Message, filters: int) -> tuple[NDArray[np.float32], ...]:
    """The bias of a convolution, and the mean, variance, scale and shift of its norm, [F] each.

    The field `bn_stddivs` has variances. Files in which the norms are folded lack all four.
    """
    folded = {2: 0.0, 3: 0.0, 4: 1 - NORM_EPSILON, 5: 1.0, 6: 0.0}
    parts = []
    for number, default in folded.items():
        part = _numbers(f"{name}'s field {number}", block.message(number)) if number in block else None
        part = np.full(filters, default, np.float32) if part is None or not len(part) else part
        if len(part) != filters:
            raise _UnreadableError(f"{name}'s field {number} has {len(part)} numbers, expected {filters}")
        parts.append(part)
    if (parts[2] < 0).any():
        raise _UnreadableError(f"{name} has a variance below 0")
    return tuple(parts)


def _dense(
    name: str, message: _Message, fields: tuple[int, int], inputs: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A weight [U, inputs] and a bias [U]."""
    weight, bias = (_numbers(name, message.message(number)) for number in fields)
    if not len(bias) or len(weight) != len(bias) * inputs:
        raise _UnreadableError(f"{name} has {len(weight):,} weights, expected {len(bias)} x {inputs:,}")
    return weight.reshape(len(bias), inputs), bias


def _turned(weight: NDArray[np.float32]) -> NDArray[np.float32]:
    """A weight [U, F * 64] for boards that are counted from the top."""
    return weight.reshape(len(weight), -1, _SIDE, _SIDE)[:, :, ::-1].reshape(weight.shape).copy()


def _numbers(name: str, layer: _Message) -> NDArray[np.float32]:
    """The numbers of a layer in any of the four encodings."""
    data, encoding = layer.data(3), layer.integer(4, _LINEAR16) or _LINEAR16
    if encoding not in (_LINEAR16, _FLOAT16, _BFLOAT16, _FLOAT32):
        raise _UnreadableError(f"{name} has the encoding {encoding}, expected {_LINEAR16} to {_FLOAT32}")
    if len(data) % (4 if encoding == _FLOAT32 else 2):
        raise _UnreadableError(f"{name} has {len(data):,} bytes, expected a multiple of a weight's size")
    if encoding == _LINEAR16:
        low, high = layer.real(1), layer.real(2)
        numbers = np.frombuffer(data, "<u2").astype(np.float32) * np.float32((high - low) / 65535) + np.float32(low)
    elif encoding == _BFLOAT16:
        numbers = (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
    else:
        numbers = np.frombuffer(data, "<f2" if encoding == _FLOAT16 else "<f4").astype(np.float32)
    if not np.isfinite(numbers).all():
        raise _UnreadableError(f"{name} has the weight {numbers[~np.isfinite(numbers)][0]}")
    return numbers


def dense_places() -> NDArray[np.int64]:
    """[1858], the place among 73 planes of 64 squares of each move of a dense policy.

    The moves of a queen or knight come first, by the square that they leave and the square that they reach, from a1 to
    h8. Then come the promotions by the file of the pawn, by the file that it reaches, and to queen, rook and bishop.
    """
    places = []
    for start in range(_SIDE**2):
        for end in range(_SIDE**2):
            plane = _plane(end // _SIDE - start // _SIDE, end % _SIDE - start % _SIDE)
            if plane is not None:
                places.append(plane * _SIDE**2 + _from_top(start))
    for file in range(_SIDE):
        for side in (-1, 0, 1):
            if 0 <= file + side < _SIDE:
                planes = (64 + 3 * (side + 1) + piece for piece in (2, 0, 1))
                places += [plane * _SIDE**2 + _from_top(6 * _SIDE + file) for plane in planes]
    return np.array(places)


def _from_top(square: int) -> int:
    """A square that is counted from a1, counted from the top."""
    return (_SIDE - 1 - square // _SIDE) * _SIDE + square % _SIDE


def _plane(up: int, right: int) -> int | None:
    """The plane of a queen's or knight's move; None for no such move."""
    knights = [(2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1)]
    if (up, right) in knights:
        return 56 + knights.index((up, right))
    distance = max(abs(up), abs(right))
    if not distance or {abs(up), abs(right)} - {0, distance}:
        return None
    directions = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]
    return 7 * directions.index((up // distance, right // distance)) + distance - 1
