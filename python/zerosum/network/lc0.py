"""Networks of Lc0 (Leela Chess Zero), such as Maia's, read from their files (`.pb.gz`).

A file is a message of protocol buffers (`lc0_file.py`) in gzip. Planes and moves have Lc0's order by the game's option
`planes`. A residual network with ReLU is expressible by ours with squeeze-and-excitation: kernels and dense layers are
turned upside down, because Lc0 counts rows from the mover's side and we from the top. So it is a network like any
other, which is trained, too. Networks with attention (`lc0_attention.py`), Mish or an output of moves left have a
description of their own (`lc0_config.py`). They play and are exported.

Read: inputs 1 to 5; residual towers with and without squeeze-and-excitation; bodies of attention; policies 1 (dense), 2
(convolution) and 3 (attention); values 1 (scalar) and 2 (win, draw, loss); moves left; weights in 16 bits linear,
float16, bfloat16 and float32. Of several policies and values those are read that Lc0 takes, "vanilla" and "winner".
Other formats are refused by their names.
"""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from typing import Any

from zerosum.base.errors import DataError, SettingsError
from zerosum.games import make
from zerosum.network.config import NetworkConfig
from zerosum.network.description import Checkpoint, CheckpointInfo
from zerosum.network.lc0_attention import read_body, read_policy
from zerosum.network.lc0_config import Lc0Config
from zerosum.network.lc0_file import Message, UnreadableError
from zerosum.network.lc0_layers import LayerReader
from zerosum.network.lc0_moves import SIDE
from zerosum.network.packed_file import read_packed

SUFFIXES = (".pb.gz", ".pb")
GAMES = {
    1: "chess(planes=lc0)",
    2: "chess(planes=lc0-castling)",
    3: "chess(planes=lc0-canonical)",
    4: "chess(planes=lc0-hectoplies)",
    5: "chess(planes=lc0-canonical-v2)",
}
"""The rules with the planes and the order of moves of networks, by the number of their input."""

SEARCH = {
    "c_init": 1.745,
    "c_base": 38739.0,
    "c_factor": 3.894,
    "unvisited_reduction": 0.33,
    "prior_temperature": 1.359,
}
"""The settings with which Lc0 0.32 searches, by the names of `SearchConfig`."""

_MAGIC = 0x1C0
_NUM_PLANES = 112

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
_ATTENTION = 3
_VALUES = {1: "VALUE_CLASSICAL", 2: "VALUE_WDL", 3: "VALUE_PARAM"}


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
        return _network(Message(content), hashlib.sha256(content).hexdigest())
    except UnreadableError as error:
        raise DataError(f"{path} cannot be read as a network of Lc0: {error}.") from error
    except SettingsError as error:  # a size that no network of ours may have
        raise DataError(f"{path} cannot be read as a network of Lc0: {error}") from error


@dataclasses.dataclass(frozen=True)
class _Formats:
    """The choices of a file, by the numbers of net.proto."""

    input: int
    is_attention: bool
    """Whether squares attend to one another in the body."""
    policy: int
    value: int
    has_moves_left: bool
    is_mish: bool

    @classmethod
    def of(cls, formats: Message) -> _Formats:
        """The formats of a file, all of which are read. Files without any are of the oldest."""
        network = formats.integer(3, 1)
        _require_read("input", formats.integer(1, 1), _INPUTS, tuple(GAMES))
        _require_read("network", network, _NETWORKS, (1, 2, 3, 4, 6, 7))
        has_heads = network >= 3
        policy, value = (formats.integer(number, 1) if has_heads else 1 for number in (4, 5))
        _require_read("policy", policy, _POLICIES, (3,) if network in (6, 7) else (1, 2, 3))
        _require_read("value", value, _VALUES, (1, 2))
        return cls(
            formats.integer(1, 1), network in (6, 7), policy, value, formats.integer(6) == 1, formats.integer(7) == 1
        )

    @property
    def is_plain(self) -> bool:
        """Whether the network is one that our own could be."""
        return not (self.is_attention or self.policy == _ATTENTION or self.has_moves_left or self.is_mish)


def _require_read(what: str, number: int, names: dict[int, str], read: tuple[int, ...]) -> None:
    if number not in read:
        expected = " or ".join(names[known] for known in read)
        raise UnreadableError(f"its {what} is {names.get(number, number)}, expected {expected}")


def _network(net: Message, checksum: str) -> Checkpoint:
    if net.integer(1) != _MAGIC:
        raise UnreadableError(f"its magic number is {net.integer(1):#x}, expected {_MAGIC:#x}")
    network_format, weights = net.message(4).message(2), net.message(10)
    formats = _Formats.of(network_format)
    reader = LayerReader()
    sizes: dict[str, Any] = _tower(reader, weights, is_optional=formats.is_attention)
    if formats.is_attention:
        sizes |= read_body(reader, weights, network_format, sizes["num_filters"])
    inputs = sizes.get("embedding_units") or sizes["num_filters"]
    sizes |= _policy(reader, weights, network_format, formats, inputs)
    sizes |= _value(reader, weights, formats, inputs)
    if not formats.is_plain:
        sizes["activation"] = "mish" if formats.is_mish else "relu"
    if formats.has_moves_left:
        fields = _NumberFields(conv=12, embedding=(31, 32), hidden=(13, 14), out=(15, 16))
        sizes["moves_left"] = _number(reader, "moves_left", weights, fields, formats, inputs, width=1)
    config = (NetworkConfig if formats.is_plain else Lc0Config)(**sizes)
    training = {"source": "a file of Lc0"}
    step = net.message(5).integer(1)
    info = CheckpointInfo.describe(make(GAMES[formats.input]).spec, config, step=step, training=training)
    info = dataclasses.replace(info, created_at=f"sha256 {checksum[:16]}")
    return Checkpoint(info=info, weights=reader.weights)


def _tower(reader: LayerReader, weights: Message, *, is_optional: bool) -> dict[str, Any]:
    """The sizes of the residual tower; it has no filters if there is none."""
    blocks = list(weights.messages(2))
    if is_optional and not blocks:
        return {"num_blocks": 0, "num_filters": 0}
    filters = reader.conv_norm("stem", weights.message(1), inputs=_NUM_PLANES, kernel=3)
    units = {reader.block(f"blocks.{number}", block, filters) for number, block in enumerate(blocks)} or {0}
    if len(units) > 1:
        raise UnreadableError(f"its blocks have squeeze layers of {sorted(units)} units, expected one size")
    return {"num_blocks": len(blocks), "num_filters": filters, "squeeze_units": units.pop()}


def _policy(
    reader: LayerReader, weights: Message, network_format: Message, formats: _Formats, inputs: int
) -> dict[str, Any]:
    if formats.policy == _ATTENTION:
        is_body = formats.is_attention
        return {"policy_head": "dense"} | read_policy(reader, weights, network_format, inputs, is_body=is_body)
    is_dense = formats.policy == 1
    return {
        "policy_head": "dense" if is_dense else "planes",
        "policy_filters": reader.dense_policy(weights, inputs) if is_dense else reader.planes_policy(weights, inputs),
        "policy_out_kernel": 1 if is_dense else 3,
    }


@dataclasses.dataclass(frozen=True)
class _NumberFields:
    """The fields of a head of some numbers: its convolution in a tower, or its embedding of squares; two layers."""

    conv: int
    embedding: tuple[int, int]
    hidden: tuple[int, int]
    out: tuple[int, int]


def _value(reader: LayerReader, weights: Message, formats: _Formats, inputs: int) -> dict[str, Any]:
    fields = _NumberFields(conv=6, embedding=(29, 30), hidden=(7, 8), out=(9, 10))
    message = weights
    if 44 in weights:  # several values, of which "winner" is the first one
        fields = _NumberFields(conv=11, embedding=(1, 2), hidden=(3, 4), out=(5, 6))
        message = weights.message(44).message(1)
    is_scalar = formats.value == 1
    filters, hidden = _number(reader, "value", message, fields, formats, inputs, width=1 if is_scalar else 3)
    return {"value_filters": filters, "value_hidden": hidden, "value_head": "scalar" if is_scalar else "wdl"}


def _number(
    reader: LayerReader,
    name: str,
    message: Message,
    fields: _NumberFields,
    formats: _Formats,
    inputs: int,
    *,
    width: int,
) -> tuple[int, int]:
    """Add a head of some numbers; returns its filters, or units of each square, and its hidden units."""
    if formats.is_attention:
        units = reader.linear(f"{name}_embedding", message, fields.embedding, inputs=inputs)
    else:
        units = reader.conv_norm(f"{name}_conv", message.message(fields.conv), inputs=inputs, kernel=1)
    of_squares = not formats.is_attention
    hidden = reader.linear(f"{name}_hidden", message, fields.hidden, inputs=units * SIDE**2, of_squares=of_squares)
    found = reader.linear(f"{name}_out", message, fields.out, inputs=hidden)
    if found != width:
        raise UnreadableError(f"its {name} has {found} outputs, expected {width}")
    return units, hidden
