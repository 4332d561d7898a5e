"""The network as a graph of operations, for every library that runs it but does not train it.

`layers.py` defines the network. Here a checkpoint's weights are inserted, with each norm folded into the convolution
before it, by the `Operations` of a library: `evaluators/openvino_graph.py`, `evaluators/onnx_graph.py` and, in NumPy,
`evaluators/ownership.py`. `evaluators/torch_graph.py` takes the folded weights alone. `muzero_graph.py` has the graphs
of a MuZero network.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from zerosum.network.architectures import connect
from zerosum.network.config import NetworkConfig, NetworkShape
from zerosum.network.heads import Head
from zerosum.network.layer_protocol import Layers
from zerosum.network.weights import NORM_EPSILON, NORM_PARTS, Weights


class Operations(Protocol):
    """Operations of a library. A node is a value of its graph, [B, ...]; `name` is the layer's name in the weights."""

    def convolve(self, x: Any, name: str, kernel: NDArray[np.float32], shift: NDArray[np.float32]) -> Any:
        """Convolve [B, F, H, W] by [G, F, k, k], height and width kept, and add a number [G] to each filter."""

    def linear(self, x: Any, name: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> Any:
        """[B, …, U] to [B, …, G] by a weight [G, U] and a bias [G]."""

    def affine(self, x: Any, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> Any:
        """[B, F, H, W] times a weight [F], plus a bias [F], numbers for each filter."""

    def relu(self, x: Any) -> Any:
        """max(x, 0)."""

    def mish(self, x: Any) -> Any:
        """The function x tanh(log(1 + e^x))."""

    def add(self, x: Any, y: Any) -> Any:
        """The sum of two nodes of the same shape."""

    def flatten(self, x: Any) -> Any:
        """[B, F, H, W] to [B, F * H * W]."""

    def mean_of_squares(self, x: Any) -> Any:
        """[B, F, H, W] to [B, F]."""

    def max_of_squares(self, x: Any) -> Any:
        """[B, F, H, W] to [B, F]."""

    # What networks need besides on boards smaller than the planes, as in `layer_protocol.BoardLayers`.

    def first_plane(self, x: Any) -> Any:
        """[B, C, H, W] to [B, 1, H, W]."""

    def on_board(self, x: Any, board: Any) -> Any:
        """[B, F, H, W] times [B, 1, H, W], which is 0 or 1."""

    def mean_on_board(self, x: Any, board: Any) -> Any:
        """[B, F, H, W] to [B, F], where `board` is 1."""

    def max_on_board(self, x: Any, board: Any) -> Any:
        """[B, F, H, W] to [B, F], where `board` is 1."""

    def shift(self, x: Any, y: Any) -> Any:
        """[B, F, H, W] plus [B, F], a number for each filter."""

    def scale(self, x: Any, y: Any) -> Any:
        """[B, F, H, W] times the sigmoid of [B, F], a number for each filter."""

    def join(self, x: Any, y: Any) -> Any:
        """[B, U] and [B, G] to [B, U + G]."""

    # What networks with attention need besides, as in `layer_protocol.AttentionLayers`.

    def selu(self, x: Any) -> Any:
        """SELU."""

    def swish(self, x: Any) -> Any:
        """The product of x and its sigmoid."""

    def square(self, x: Any) -> Any:
        """The square of each number."""

    def squares(self, x: Any) -> Any:
        """[B, F, H, W] to [B, H * W, F], row by row from the bottom left."""

    def first_units(self, x: Any, number: int) -> Any:
        """[B, S, U] to [B, S, number]."""

    def reshape(self, x: Any, shape: tuple[int, ...]) -> Any:
        """[B, …] to [B, *shape]."""

    def each_unit(self, x: Any, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> Any:
        """[B, …, U] times a weight, plus a bias, for each unit or each number."""

    def norm_units(self, x: Any, weight: NDArray[np.float32], bias: NDArray[np.float32], epsilon: float) -> Any:
        """[B, …, U], normalised over U, times a weight [U], plus a bias [U]."""

    def attend(self, query: Any, key: Any, value: Any, units: int, heads: int, bias: Any | None) -> Any:
        """[B, S, units] each, to [B, S, units]: the values, weighted by the products of queries and keys."""

    def products(self, query: Any, key: Any, units: int) -> Any:
        """[B, S, units] twice, to [B, S, S], divided by the root of `units`."""

    def take(self, x: Any, indices: NDArray[np.int64]) -> Any:
        """[B, U] to [B, len(indices)]."""


def graph(
    operations: Operations,
    planes: Any,
    config: NetworkConfig,
    shape: NetworkShape,
    weights: Weights,
    *,
    heads: Iterable[Head] | None = None,
) -> dict[str, Any]:
    """The network of `architectures.connect` with these weights: the logits of each head, by its name.

    The heads are `search_heads` if not given.
    """
    return connect(_Folded(operations, weights), planes, config, shape, config.search_heads if heads is None else heads)


def with_weights(operations: Operations, weights: Weights) -> Layers[Any]:
    """Layers with these weights, each norm folded into the convolution before it, by a library's operations."""
    return _Folded(operations, weights)


class _Folded:
    """`layers.Layers` with weights, by a library's operations."""

    def __init__(self, operations: Operations, weights: Weights) -> None:
        self._operations, self._weights = operations, weights
        self.relu, self.mish, self.add, self.join = operations.relu, operations.mish, operations.add, operations.join
        self.flatten, self.shift, self.scale = operations.flatten, operations.shift, operations.scale
        self.mean_of_squares, self.max_of_squares = operations.mean_of_squares, operations.max_of_squares
        self.first_plane, self.on_board = operations.first_plane, operations.on_board
        self.mean_on_board, self.max_on_board = operations.mean_on_board, operations.max_on_board
        self.selu, self.swish, self.square = operations.selu, operations.swish, operations.square
        self.squares, self.first_units, self.reshape = operations.squares, operations.first_units, operations.reshape
        self.attend, self.products, self.take = operations.attend, operations.products, operations.take

    def conv_norm(self, x: Any, name: str, filters: int, kernel: int) -> Any:
        return self._operations.convolve(x, name, *_fold_norm(self._weights, name))

    def conv(self, x: Any, name: str, filters: int, kernel: int) -> Any:
        return self._operations.convolve(x, name, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def affine(self, x: Any, name: str) -> Any:
        return self._operations.affine(x, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def linear(self, x: Any, name: str, units: int) -> Any:
        return self._operations.linear(x, name, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def each_unit(self, x: Any, name: str) -> Any:
        return self._operations.each_unit(x, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def norm_units(self, x: Any, name: str, epsilon: float) -> Any:
        return self._operations.norm_units(x, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"], epsilon)


def folded_layers(weights: Weights) -> dict[str, tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """The kernel or weight, and the bias, of every layer by its name, with each norm in the convolution before it."""
    layers = {}
    for name in weights:
        if name.endswith(".conv.weight"):
            layer = name.removesuffix(".conv.weight")
            layers[layer] = _fold_norm(weights, layer)
        elif name.endswith(".weight") and ".norm." not in name:
            layer = name.removesuffix(".weight")
            layers[layer] = weights[name], weights[f"{layer}.bias"]
    return layers


def _fold_norm(weights: Weights, name: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Kernel [F, F, k, k] and shift [F] of a convolution and its norm in one: norm(conv(x)) = conv'(x) + shift."""
    scale, bias, mean, variance = (weights[f"{name}.norm.{part}"].astype(np.float64) for part in NORM_PARTS)
    factor = scale / np.sqrt(variance + NORM_EPSILON)
    kernel = weights[f"{name}.conv.weight"] * factor[:, None, None, None]
    return kernel.astype(np.float32), (bias - mean * factor).astype(np.float32)
