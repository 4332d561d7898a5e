"""Networks of KataGo, read from their files (`.bin.gz`).

A file is a text of words in gzip: names, sizes and options, each array as `@BIN@` and float32 in little endian
(KataGo's `cpp/neuralnet/desc.cpp`). The format has versions; those from 8 to 14 are read: trunks of residual blocks,
with global pooling and with nested bottlenecks, ReLU or Mish. From 15 on networks have other parts, and 17 has
attention.

One file plays on every board. What is read is a network for one of them: planes and moves are those of the game's
option `planes=katago`, and the parts of global pooling that depend on the board's size are joined. The numbers of a
position that are no planes in KataGo are planes of one number here, so their layer is the middle of the first kernel.

Not read: the optimistic policy (version 12 on), the variance of the time left and the errors in the short term.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import DataError, GameError, shown
from zerosum.games import Rules, make
from zerosum.network.description import Checkpoint, CheckpointInfo
from zerosum.network.katago_config import Block, KatagoConfig
from zerosum.network.packed_file import read_packed

SUFFIX = ".bin.gz"
GAME = "go(planes=katago)"
"""The rules with the planes of these networks, on the board that is played if none is named."""

VERSIONS = range(8, 15)
"""The versions of the format that are read."""
NUM_PLANES, NUM_NUMBERS = 22, 19
"""Inputs of a position: planes of points, and numbers."""

SEARCH = {"c_init": 1.0, "c_base": 500.0, "c_factor": 0.45, "unvisited_reduction": 0.2}
"""The settings with which KataGo 1.18 searches, by the names of `SearchConfig`, as far as our search has them."""

_MOST_WORD = 128
_MOST_FILTERS, _MOST_BLOCKS, _MOST_KERNEL = 1 << 14, 1000, 19
_SUPERKO, _TERRITORY = NUM_PLANES + 6, NUM_PLANES + 9
"""The planes that tell whether a game may end without a result."""
_NEVER = np.float32(-1e4)
"""The logit of what never happens, within the range of float16."""
_USUAL_SIDE = 14
"""The side of a board around which KataGo's pooling measures sizes."""
_ACTIVATIONS = {"ACTIVATION_RELU": "relu", "ACTIVATION_MISH": "mish"}
_BLOCKS = ("ordinary_block", "gpool_block", "nested_bottleneck_block")

Array = NDArray[np.float32]


def is_katago_file(path: Path) -> bool:
    """Whether a path is named as KataGo's networks are, `.bin.gz`."""
    return path.name.endswith(SUFFIX) and path.is_file()


def read_katago(path: Path, game: Rules | None = None) -> Checkpoint:
    """The network of a file of KataGo for a board.

    `CheckpointInfo.step` is the number of positions that it learned from, by its name, and `created_at` the file's
    checksum.

    Args:
        path: The file.
        game: Go on the board that is played, with any planes; 19x19 if not given, or if it is another game.

    Raises:
        DataError: the file cannot be read, is damaged or has a version that is not read, or the board is larger than
            19x19; the message names it.
    """
    content = read_packed(path)
    try:
        return _network(_Words(content), katago_game(game), hashlib.sha256(content).hexdigest())
    except _UnreadableError as error:
        raise DataError(f"{path} cannot be read as a network of KataGo: {error}.") from error
    except GameError as error:  # a board that the planes are not for
        raise DataError(f"{path} cannot play {game.spec.full_name if game else GAME}: {error}.") from error


def katago_game(game: Rules | None = None) -> Rules:
    """The rules with KataGo's planes on the board of a game; on 19x19 for none or another game.

    Raises:
        GameError: the board is larger than 19x19.
    """
    usual = make(GAME)
    if game is None or game.spec.name != usual.spec.name:
        return usual
    return make(f"{usual.spec.name}(size={game.spec.board_shape[0]}, {usual.spec.options})")


class _UnreadableError(Exception):
    """What is wrong with a file, without its path and without a full stop."""


class _Words:
    """The words of a file, one after the other, and its arrays."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def word(self, what: str) -> str:
        """The next word."""
        content, start = self._content, self._at
        while start < len(content) and content[start : start + 1].isspace():
            start += 1
        end = start
        while end < len(content) and end - start <= _MOST_WORD and not content[end : end + 1].isspace():
            end += 1
        self._at, word = end, content[start:end]
        if not word:
            raise _UnreadableError(f"it ends before {what}")
        if len(word) > _MOST_WORD or not (word.isascii() and word.decode("latin-1").isprintable()):
            raise _UnreadableError(f"byte {start:,} begins no word, expected {what}")
        return word.decode("ascii")

    def integer(self, what: str, least: int, most: int) -> int:
        """The next word, a whole number."""
        word = self.word(what)
        if not re.fullmatch(r"-?[0-9]{1,18}", word):
            raise _UnreadableError(f"{what} is {shown(word)}, expected a whole number")
        if not least <= int(word) <= most:
            raise _UnreadableError(f"{what} is {int(word):,}, expected {least:,} to {most:,}")
        return int(word)

    def real(self, what: str) -> float:
        """The next word, a number above 0."""
        word = self.word(what)
        try:
            number = float(word)
        except ValueError:
            number = math.nan
        if not 0 < number < math.inf:
            raise _UnreadableError(f"{what} is {shown(word)}, expected a number above 0")
        return number

    def array(self, what: str, *shape: int) -> Array:
        """The next array, which has this shape."""
        mark = self._content.find(b"@BIN@", self._at, self._at + _MOST_WORD)
        if mark < 0 or self._content[self._at : mark].strip():
            raise _UnreadableError(f"{what} has no @BIN@ before its numbers")
        start, num_bytes = mark + 5, 4 * math.prod(shape)
        if num_bytes > len(self._content) - start:
            sizes = "x".join(map(str, shape))
            raise _UnreadableError(
                f"{what} has {sizes} numbers, {num_bytes:,} bytes, but {len(self._content) - start:,} are left"
            )
        self._at = start + num_bytes
        numbers = np.frombuffer(self._content, "<f4", num_bytes // 4, start).astype(np.float32).reshape(shape)
        if not np.isfinite(numbers).all():
            raise _UnreadableError(f"{what} has the weight {numbers[~np.isfinite(numbers)][0]}")
        return numbers

    def require_end(self) -> None:
        """Raise unless only space is left."""
        if left := self._content[self._at :].strip():
            raise _UnreadableError(f"{len(left):,} bytes are left behind its last layer")


def _network(words: _Words, game: Rules, checksum: str) -> Checkpoint:
    name = words.word("the network's name")
    version = words.integer("its version", 0, 1_000_000)
    if version not in VERSIONS:
        raise _UnreadableError(
            f"its version is {version}, expected {VERSIONS[0]} to {VERSIONS[-1]}"
            f"{', which have no attention and no profiles of people' if version > VERSIONS[-1] else ''}"
        )
    for what, expected in (("planes", NUM_PLANES), ("numbers of a position", NUM_NUMBERS)):
        words.integer(f"its number of {what}", expected, expected)
    units = [words.real("a unit of its outputs") for _ in range(7)] if version >= 13 else []
    reader = _Reader(words, version, math.sqrt(math.prod(game.spec.board_shape)))
    trunk = reader.trunk()
    policy = reader.policy(trunk["num_filters"])
    value = reader.value(trunk["num_filters"])
    words.require_end()
    config = KatagoConfig(
        version=version,
        activation="mish" if reader.activation == "mish" else "relu",
        num_blocks=len(trunk["blocks"]),
        policy_head="planes",
        value_head="wdl",
        ownership_head=True,
        points=(units[1], units[2], units[3]) if units else (20.0, 20.0, 20.0),
        kernels=(*policy.pop("kernels"), *value.pop("kernels")),
        **trunk,
        **policy,
        **value,
    )
    samples = re.search(r"-s(\d{1,15})(-|$)", name)
    training = {"source": "a file of KataGo", "name": name, "version": version}
    info = CheckpointInfo.describe(game.spec, config, step=int(samples[1]) if samples else 0, training=training)
    info = dataclasses.replace(info, created_at=f"sha256 {checksum[:16]}")
    return Checkpoint(info=info, weights=reader.weights)


class _Reader:
    """Converts layers of a file, in their order, to weights of ours, by their names."""

    def __init__(self, words: _Words, version: int, side: float) -> None:
        """`side` is the root of the board's number of points."""
        self.weights: dict[str, Array] = {}
        self.activation = ""
        self._words, self._version = words, version
        self._size = np.float32((side - _USUAL_SIDE) * 0.1)

    def trunk(self) -> dict[str, Any]:
        """Add the trunk; returns the settings that describe it."""
        self._words.word("the trunk's name")
        num_blocks = self._words.integer("the number of blocks", 1, _MOST_BLOCKS)
        filters = self._filters("the number of the trunk's filters")
        for what in ("middle", "regular", "dilated", "pooled"):
            self._words.integer(f"the number of {what} filters", 0, _MOST_FILTERS)
        kernel, stem_kernel = self._kernel("stem", NUM_PLANES, outputs=filters)
        of_numbers = self._matrix("the layer of a position's numbers", NUM_NUMBERS, filters)
        numbers = np.zeros((filters, NUM_NUMBERS, stem_kernel, stem_kernel), np.float32)
        numbers[:, :, stem_kernel // 2, stem_kernel // 2] = of_numbers.T
        self._add("stem", np.concatenate([kernel, numbers], axis=1))
        blocks = self._blocks("trunk", num_blocks, filters)
        self._norm("trunk_end", filters)
        return {"num_filters": filters, "stem_kernel": stem_kernel, "blocks": blocks}

    def policy(self, filters: int) -> dict[str, Any]:
        """Add the policy; returns the settings that describe it."""
        self._words.word("the policy's name")
        kernel, side = self._kernel("policy_conv", filters)
        pooled, pooled_side = self._conv_norm("policy_pooled", filters)
        pool = self._matrix("policy_pool", 3 * pooled, len(kernel))
        scale, shift = self._scale_and_shift("policy_conv", len(kernel))
        self._add("policy_conv", kernel * scale[:, None, None, None], shift)
        self._add_pool("policy_pool", pool * scale)
        outputs = 1 if self._version < 12 else 2  # the second one is the optimistic policy
        kernel, out_side = self._kernel("policy_out", len(scale), outputs=outputs)
        self._add("policy_out", kernel[:1])
        self._add_pool("policy_rest", self._matrix("policy_rest", 3 * pooled, outputs)[:, :1])
        kernels = (side, pooled_side, out_side)
        return {"policy_filters": len(scale), "policy_pooled_filters": pooled, "kernels": kernels}

    def value(self, filters: int) -> dict[str, Any]:
        """Add the value, the score and the ownership; returns the settings that describe them."""
        self._words.word("the value's name")
        value_filters, side = self._conv_norm("value_conv", filters)
        # The mean and two multiples of it that depend on the board's size.
        means = self._matrix("value_hidden", 3 * value_filters).reshape(3, value_filters, -1)
        multiples = np.array([1, self._size, self._size**2 - 0.1], np.float32)
        units = means.shape[2]
        hidden = np.tensordot(multiples, means, axes=1).T
        self._add("value_hidden", hidden.astype(np.float32), self._bias("value_hidden", units))
        self._act("value_hidden")
        matrix, bias = self._matrix("value_out", units, 3), self._bias("value_out", 3)
        win_draw_loss = [0, 2, 1]
        self._add("value_out", matrix.T[win_draw_loss], bias[win_draw_loss])
        outputs = 4 if self._version < 9 else 6
        matrix, bias = self._matrix("score_out", units, outputs), self._bias("score_out", outputs)
        self._add("score_out", matrix.T[:3], bias[:3])
        kernel, ownership_side = self._kernel("ownership_out", value_filters, outputs=1)
        self._add("ownership_out", 2 * kernel)  # our logits are those of a sigmoid, KataGo's of a tanh
        rules = np.zeros((1, NUM_PLANES + NUM_NUMBERS), np.float32)
        rules[0, [_SUPERKO, _TERRITORY]] = 1, -1
        self._add("value_rules", rules)
        self._add("value_no_result", np.array([[0], [_NEVER], [0]], np.float32))
        return {"value_filters": value_filters, "value_hidden": units, "kernels": (side, ownership_side)}

    def _blocks(self, name: str, number: int, filters: int, *, depth: int = 0) -> tuple[Block, ...]:
        return tuple(self._block(f"{name}.{index}", filters, depth) for index in range(number))

    def _block(self, name: str, filters: int, depth: int) -> Block:
        kind = self._words.word(f"the kind of the block {name}")
        if kind not in _BLOCKS:
            raise _UnreadableError(f"{name} is of the kind {shown(kind)}, expected {', '.join(_BLOCKS)}")
        self._words.word(f"the name of the block {name}")
        number = 0
        if kind == "nested_bottleneck_block":
            if depth:
                raise _UnreadableError(f"{name} is a nested bottleneck in another one, which is not read")
            number = self._words.integer(f"the number of blocks in {name}", 1, _MOST_BLOCKS)
        self._norm(f"{name}.norm_first", filters)
        kernel, side = self._kernel(f"{name}.first", filters)
        middle, pooled, pooled_side = len(kernel), 0, 0
        inner: tuple[Block, ...] = ()
        if number:
            self._add(f"{name}.first", kernel)
            inner = self._blocks(f"{name}.inner", number, middle, depth=depth + 1)
            self._norm(f"{name}.norm_last", middle)
        else:
            if kind == "gpool_block":
                pooled, pooled_side = self._conv_norm(f"{name}.pooled", filters)
                pool = self._matrix(f"{name}.pool", 3 * pooled, middle)
            scale, shift = self._scale_and_shift(name, middle)
            self._add(f"{name}.first", kernel * scale[:, None, None, None], shift)
            if pooled:
                self._add_pool(f"{name}.pool", pool * scale)
        last, last_side = self._kernel(f"{name}.last", middle, outputs=filters)
        self._add(f"{name}.last", last)
        return Block(middle, (side, last_side), pooled, pooled_side, inner)

    def _conv_norm(self, name: str, inputs: int) -> tuple[int, int]:
        """Add a convolution, its norm and the activation behind it; returns the numbers of filters and the side."""
        kernel, side = self._kernel(name, inputs)
        scale, shift = self._scale_and_shift(name, len(kernel))
        self._add(name, kernel * scale[:, None, None, None], shift)
        return len(kernel), side

    def _norm(self, name: str, filters: int) -> None:
        """Add a norm of its own, with the activation behind it."""
        self._add(name, *self._scale_and_shift(name, filters))

    def _scale_and_shift(self, name: str, filters: int) -> tuple[Array, Array]:
        """A norm with the activation behind it, [F] each: norm(x) = scale * x + shift."""
        words, what = self._words, f"{name}'s norm"
        words.word(f"the name of {what}")
        words.integer(f"{what}'s number of filters", filters, filters)
        epsilon = words.real(f"{what}'s epsilon")
        has_scale, has_bias = (words.integer(f"{what}'s option", 0, 1) for _ in range(2))
        mean, variance = (words.array(part, filters).astype(np.float64) for part in (what, f"{what}'s variance"))
        if (variance < 0).any():
            raise _UnreadableError(f"{what} has a variance below 0")
        scale = 1 / np.sqrt(variance + epsilon)
        if has_scale:
            scale *= words.array(f"{what}'s scale", filters)
        shift = -mean * scale
        if has_bias:
            shift += words.array(f"{what}'s bias", filters)
        self._act(name)
        return scale.astype(np.float32), shift.astype(np.float32)

    def _act(self, name: str) -> None:
        """Read an activation, which is the same everywhere."""
        self._words.word(f"the name of {name}'s activation")
        kind = self._words.word(f"{name}'s activation") if self._version >= 11 else "ACTIVATION_RELU"
        if kind not in _ACTIVATIONS:
            raise _UnreadableError(f"{name}'s activation is {shown(kind)}, expected {' or '.join(_ACTIVATIONS)}")
        self.activation = self.activation or _ACTIVATIONS[kind]
        if _ACTIVATIONS[kind] != self.activation:
            raise _UnreadableError(f"{name} has {kind}, and layers before have another activation: expected one")

    def _kernel(self, name: str, inputs: int, *, outputs: int | None = None) -> tuple[Array, int]:
        """A kernel [F, inputs, k, k], and k."""
        words = self._words
        words.word(f"the name of {name}")
        height, width = (words.integer(f"the side of {name}'s kernels", 1, _MOST_KERNEL) for _ in range(2))
        if height != width or height % 2 == 0:
            raise _UnreadableError(f"{name} has kernels of {height}x{width}, expected a square with a middle")
        words.integer(f"{name}'s number of inputs", inputs, inputs)
        filters = self._filters(f"{name}'s number of filters", outputs)
        for _ in range(2):
            words.integer(f"{name}'s dilation", 1, 1)
        kernel = words.array(name, height, width, inputs, filters)
        return np.ascontiguousarray(kernel.transpose(3, 2, 0, 1)), height

    def _matrix(self, name: str, inputs: int, outputs: int | None = None) -> Array:
        """The weight [inputs, U] of a dense layer."""
        self._words.word(f"the name of {name}")
        self._words.integer(f"{name}'s number of inputs", inputs, inputs)
        return self._words.array(name, inputs, self._filters(f"{name}'s number of outputs", outputs))

    def _bias(self, name: str, units: int) -> Array:
        self._words.word(f"the name of {name}'s bias")
        self._words.integer(f"{name}'s number of biases", units, units)
        return self._words.array(f"{name}'s bias", units)

    def _filters(self, what: str, expected: int | None = None) -> int:
        return self._words.integer(what, 1 if expected is None else expected, expected or _MOST_FILTERS)

    def _add_pool(self, name: str, matrix: Array) -> None:
        """Add a dense layer of pooled filters: their means, multiples of these by the board's size, and maxima."""
        means, multiples, maxima = np.split(matrix, 3)
        self._add(name, np.concatenate([means + self._size * multiples, maxima]).T)

    def _add(self, name: str, weight: Array, bias: Array | None = None) -> None:
        self.weights[f"{name}.weight"] = np.ascontiguousarray(weight, np.float32)
        self.weights[f"{name}.bias"] = np.zeros(len(weight), np.float32) if bias is None else bias
