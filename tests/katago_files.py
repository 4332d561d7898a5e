"""Files of KataGo: a small writer of the format, and what the network in one says by KataGo's own formulas.

The formulas are written as KataGo describes them, with norms and pooling unfolded, so they are a twin of the reader and
the graph (`zerosum.network.katago`, `katago_graph`).
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ORDINARY, POOLED, NESTED = "ordinary_block", "gpool_block", "nested_bottleneck_block"


@dataclass
class Layer:
    """What the file has of a layer: words, then arrays."""

    kind: str
    name: str
    words: list[str] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)


@dataclass
class KatagoFile:
    """A network with random weights: its layers in the file's order, drawn as they are first asked for."""

    version: int = 8
    activation: str = "ACTIVATION_RELU"
    kinds: tuple[str, ...] = (ORDINARY, POOLED)
    filters: int = 6
    middle: int = 4
    pooled: int = 3
    seed: int = 1
    name: str = "tiny-b2c6-s1234-d5"
    header: str | None = None
    """The words before the trunk, in place of those of the version."""

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)
        self._layers: dict[str, Layer] = {}
        self.content()  # draw all layers, in the file's order

    @property
    def policy_outputs(self) -> int:
        return 2 if self.version >= 12 else 1

    @property
    def score_outputs(self) -> int:
        return 6 if self.version >= 9 else 4

    def layer(self, name: str) -> Layer:
        return self._layers[name]

    def _drawn(self, kind: str, name: str, words: list[object], *shapes: tuple[int, ...]) -> Layer:
        if name not in self._layers:
            arrays = [self._random.standard_normal(shape) * 0.5 for shape in shapes]
            self._layers[name] = Layer(kind, name, [str(word) for word in words], arrays)
        return self._layers[name]

    def conv(self, name: str, inputs: int, outputs: int, side: int) -> Layer:
        words: list[object] = [side, side, inputs, outputs, 1, 1]
        return self._drawn("conv", name, words, (side, side, inputs, outputs))

    def matrix(self, name: str, inputs: int, outputs: int) -> Layer:
        return self._drawn("matrix", name, [inputs, outputs], (inputs, outputs))

    def bias(self, name: str, units: int) -> Layer:
        return self._drawn("bias", name, [units], (units,))

    def norm(self, name: str, filters: int, *, has_scale: bool = True, has_bias: bool = True) -> Layer:
        known = name in self._layers
        words: list[object] = [filters, 0.001, int(has_scale), int(has_bias)]
        layer = self._drawn("norm", name, words, *[(filters,)] * (2 + has_scale + has_bias))
        if not known:
            layer.arrays[1] = np.abs(layer.arrays[1]) + 0.5
        return layer

    def act(self, name: str) -> Layer:
        return self._drawn("act", name, [self.activation] if self.version >= 11 else [])

    def block(self, kind: str, name: str, filters: int, middle: int) -> list[Layer]:
        first = [
            Layer("words", kind),
            Layer("words", name),
            *([Layer("words", "2")] if kind == NESTED else []),
            self.norm(f"{name}/n1", filters, has_scale=False),
            self.act(f"{name}/a1"),
            self.conv(f"{name}/c1", filters, middle, 1 if kind == NESTED else 3),
        ]
        if kind == NESTED:
            inner = [self.block(inner, f"{name}/{inner}", middle, 3) for inner in (POOLED, ORDINARY)]
            first += [layer for layers in inner for layer in layers]
        elif kind == POOLED:
            first += [
                self.conv(f"{name}/cg", filters, self.pooled, 3),
                self.norm(f"{name}/ng", self.pooled),
                self.act(f"{name}/ag"),
                self.matrix(f"{name}/mg", 3 * self.pooled, middle),
            ]
        return [
            *first,
            self.norm(f"{name}/n2", middle),
            self.act(f"{name}/a2"),
            self.conv(f"{name}/c2", middle, filters, 1 if kind == NESTED else 3),
        ]

    def content(self) -> bytes:
        """The unpacked file."""
        blocks = [self.block(kind, f"b{number}", self.filters, self.middle) for number, kind in enumerate(self.kinds)]
        sizes = [len(self.kinds), self.filters, self.middle, self.middle, 0, self.pooled]
        units = ["20 25 15 30 40 0.25 30"] if self.version >= 13 else []
        header = " ".join([self.name, str(self.version), "22", "19", *units]) if self.header is None else self.header
        layers = [
            Layer("words", header),
            Layer("words", " ".join(["trunk", *map(str, sizes)])),
            self.conv("conv1", 22, self.filters, 5),
            self.matrix("ginputw", 19, self.filters),
            *(layer for block in blocks for layer in block),
            self.norm("tip", self.filters),
            self.act("tipact"),
            Layer("words", "policyhead"),
            self.conv("p1", self.filters, 5, 1),
            self.conv("g1", self.filters, 4, 1),
            self.norm("g1n", 4),
            self.act("g1a"),
            self.matrix("g2p", 12, 5),
            self.norm("p1n", 5, has_bias=False),
            self.act("p1a"),
            self.conv("p2", 5, self.policy_outputs, 1),
            self.matrix("pass", 12, self.policy_outputs),
            Layer("words", "valuehead"),
            self.conv("v1", self.filters, 4, 1),
            self.norm("v1n", 4),
            self.act("v1a"),
            self.matrix("v2", 12, 7),
            self.bias("v2b", 7),
            self.act("v2a"),
            self.matrix("v3", 7, 3),
            self.bias("v3b", 3),
            self.matrix("sv3", 7, self.score_outputs),
            self.bias("sv3b", self.score_outputs),
            self.conv("own", 4, 1, 1),
        ]
        return b"".join(map(_written, layers))

    def write(self, path: Path) -> Path:
        path.write_bytes(gzip.compress(self.content()))
        return path

    def evaluate(self, planes_BCHW: NDArray[np.float32]) -> dict[str, Array]:
        """The outputs of the heads as KataGo has them, for the planes of `planes=katago`, [B, 41, H, W]."""
        planes, numbers = planes_BCHW[:, :22].astype(np.float64), planes_BCHW[:, 22:, 0, 0].astype(np.float64)
        x = self._conv("conv1", planes) + (numbers @ self.layer("ginputw").arrays[0])[:, :, None, None]
        for number, kind in enumerate(self.kinds):
            x = x + self._block(kind, f"b{number}", x)
        x = self._act(self._norm("tip", x))
        pooled = _pooled(self._act(self._norm("g1n", self._conv("g1", x))))
        y = self._conv("p1", x) + (pooled @ self.layer("g2p").arrays[0])[:, :, None, None]
        points = self._conv("p2", self._act(self._norm("p1n", y)))[:, 0].reshape(len(x), -1)
        passes = (pooled @ self.layer("pass").arrays[0])[:, :1]
        v = self._act(self._norm("v1n", self._conv("v1", x)))
        hidden = self._act(_value_pooled(v) @ self.layer("v2").arrays[0] + self.layer("v2b").arrays[0])
        win_loss_none = hidden @ self.layer("v3").arrays[0] + self.layer("v3b").arrays[0]
        never = (numbers[:, 6] == 1) & (numbers[:, 9] == 0)
        win_loss_none[never, 2] = -np.inf
        shares = np.exp(win_loss_none - win_loss_none.max(axis=1, keepdims=True))
        return {
            "policy": np.concatenate([points, passes], axis=1),
            "shares": shares / shares.sum(axis=1, keepdims=True),
            "score": (hidden @ self.layer("sv3").arrays[0] + self.layer("sv3b").arrays[0])[:, :3],
            "owners": np.tanh(self._conv("own", v)[:, 0].reshape(len(x), -1)),
        }

    def _block(self, kind: str, name: str, x: Array) -> Array:
        before = self._act(self._norm(f"{name}/n1", x))
        y = self._conv(f"{name}/c1", before)
        if kind == NESTED:
            for inner in (POOLED, ORDINARY):
                y = y + self._block(inner, f"{name}/{inner}", y)
        elif kind == POOLED:
            pooled = _pooled(self._act(self._norm(f"{name}/ng", self._conv(f"{name}/cg", before))))
            y = y + (pooled @ self.layer(f"{name}/mg").arrays[0])[:, :, None, None]
        return self._conv(f"{name}/c2", self._act(self._norm(f"{name}/n2", y)))

    def _conv(self, name: str, x: Array) -> Array:
        kernel = self.layer(name).arrays[0]
        side, (height, width) = len(kernel), x.shape[2:]
        padded = np.pad(x, ((0, 0), (0, 0), (side // 2, side // 2), (side // 2, side // 2)))
        return sum(
            np.einsum("bchw,co->bohw", padded[:, :, i : i + height, j : j + width], kernel[i, j])
            for i in range(side)
            for j in range(side)
        )

    def _norm(self, name: str, x: Array) -> Array:
        layer = self.layer(name)
        rest = iter(layer.arrays[2:])
        has_scale, has_bias = (word == "1" for word in layer.words[2:])
        y = (x - layer.arrays[0][:, None, None]) / np.sqrt(layer.arrays[1] + 0.001)[:, None, None]
        y = y * next(rest)[:, None, None] if has_scale else y
        return y + next(rest)[:, None, None] if has_bias else y

    def _act(self, x: Array) -> Array:
        is_mish = self.version >= 11 and self.activation == "ACTIVATION_MISH"
        return x * np.tanh(np.log1p(np.exp(x))) if is_mish else np.maximum(x, 0)


def _pooled(x: Array) -> Array:
    means = x.mean(axis=(2, 3))
    return np.concatenate([means, means * _size(x) * 0.1, x.max(axis=(2, 3))], axis=1)


def _value_pooled(x: Array) -> Array:
    means = x.mean(axis=(2, 3))
    return np.concatenate([means, means * _size(x) * 0.1, means * (_size(x) ** 2 * 0.01 - 0.1)], axis=1)


def _size(x: Array) -> float:
    return float(np.sqrt(x.shape[2] * x.shape[3]) - 14)


def _written(layer: Layer) -> bytes:
    words = " ".join([layer.name, *layer.words])
    arrays = [b"@BIN@" + array.astype("<f4").tobytes() + b"\n" for array in layer.arrays]
    return (words + "\n").encode() + b"".join(arrays)
