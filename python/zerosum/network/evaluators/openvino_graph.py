"""The network as an OpenVINO graph, in floating point or in 8-bit integers, built without torch.

Imports openvino, so it is imported only by the evaluator that runs it.

In int8 the blocks' convolutions compute in 8-bit integers: their inputs are rounded to 256 numbers from 0 to the
largest measured one, and their kernels to 255 numbers per filter, symmetric about 0 (Jacob et al. 2018, arXiv
1712.05877, sections 2 and 3). OpenVINO's compiler turns these `FakeQuantize` operations into integer arithmetic. The
additions, the stem and the heads stay in floating point, which costs almost no time and makes the outputs more accurate
(figures: `benches/RESULTS.md`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import openvino
from numpy.typing import NDArray
from openvino import Node, opset13

from zerosum.base.errors import DataError
from zerosum.network import NetworkConfig, NetworkShape
from zerosum.network.evaluators.openvino_requests import openvino_core
from zerosum.network.graph import graph
from zerosum.network.layer_protocol import LARGEST
from zerosum.network.muzero import LEAST_RANGE
from zerosum.network.muzero_graph import initial_inference, recurrent_inference
from zerosum.network.weights import Weights

LargestInputs = Mapping[str, float]
"""The largest input of each convolution of the blocks, by its name."""


def build_graph(
    config: NetworkConfig,
    shape: NetworkShape,
    weights: Weights,
    *,
    batch_size: int,
    int8: LargestInputs | None = None,
) -> openvino.Model:
    """The network for batches of exactly `batch_size` positions. Layers named in `int8` compute in int8.

    Input: planes [B, C, H, W] float32. Outputs, float32: the outputs of `architectures.connect`, in their order.
    """
    planes = _planes(shape, batch_size)
    operations = _Operations(batch_size) if int8 is None else _Int8Operations(batch_size, int8)
    return openvino.Model(list(graph(operations, planes, config, shape, weights).values()), [planes], "zerosum")


def build_initial_inference(
    config: NetworkConfig, shape: NetworkShape, weights: Weights, *, batch_size: int
) -> openvino.Model:
    """`muzero_graph.initial_inference` for batches of exactly `batch_size` positions.

    Input: planes [B, C, H, W] float32. Outputs, float32: the hidden states, then the logits of each head.
    """
    planes = _planes(shape, batch_size)
    outputs = initial_inference(_HiddenOperations(batch_size), planes, config, shape, weights)
    return openvino.Model(list(outputs.values()), [planes], "zerosum")


def build_recurrent_inference(
    config: NetworkConfig, shape: NetworkShape, weights: Weights, *, batch_size: int
) -> openvino.Model:
    """`muzero_graph.recurrent_inference` for batches of exactly `batch_size` hidden states.

    Inputs: hidden states [B, F, H, W] float32, and moves [B] int64. Outputs as `build_initial_inference`.
    """
    board = (shape.height, shape.width)
    hidden = opset13.parameter([batch_size, config.num_filters, *board], np.float32, name="hidden")
    moves = opset13.parameter([batch_size], np.int64, name="moves")
    outputs = recurrent_inference(_HiddenOperations(batch_size), hidden, moves, config, shape, weights)
    return openvino.Model(list(outputs.values()), [hidden, moves], "zerosum")


def largest_inputs(
    config: NetworkConfig, shape: NetworkShape, weights: Weights, planes_BCHW: NDArray[np.float32]
) -> dict[str, float]:
    """The largest inputs that `build_graph` needs for int8, measured in float32 on B positions.

    Raises:
        DataError: an input or a weight is not finite, which rounding would hide.
    """
    planes = _planes(shape, len(planes_BCHW))
    operations = _WatchedOperations(len(planes_BCHW))
    graph(operations, planes, config, shape, weights)
    if not operations.largest:
        return {}
    model = openvino.Model(list(operations.largest.values()), [planes], "largest inputs")
    found = openvino_core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(planes_BCHW)
    largest = {name: float(found[number]) for number, name in enumerate(operations.largest)}
    numbers: dict[str, Any] = {**weights, **largest}
    bad = [name for name, number in numbers.items() if not np.isfinite(number).all()]
    if bad:
        raise DataError(
            f"The network's numbers are not finite at {bad[0]}, so it cannot be rounded to int8. The"
            " network's weights have diverged or are damaged: go back to an earlier checkpoint."
        )
    return largest


def _planes(shape: NetworkShape, batch_size: int) -> Node:
    return opset13.parameter([batch_size, shape.num_planes, shape.height, shape.width], np.float32, name="planes")


class _Operations:
    """`network.graph.Operations` in floating point, for batches of one size."""

    def __init__(self, batch_size: int) -> None:
        self._batch_size = batch_size

    def convolve(self, x: Node, name: str, kernel: NDArray[np.float32], shift: NDArray[np.float32]) -> Node:
        pads = [kernel.shape[2] // 2] * 2
        x, weight = self.operands(x, name, kernel)
        y = opset13.convolution(x, weight, strides=[1, 1], pads_begin=pads, pads_end=pads, dilations=[1, 1], name=name)
        return opset13.add(y, opset13.constant(shift.reshape(1, -1, 1, 1)))

    def linear(self, x: Node, name: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> Node:
        x, kernel = self.operands(x, name, weight)
        y = opset13.matmul(x, kernel, transpose_a=False, transpose_b=True, name=name)
        return opset13.add(y, opset13.constant(bias.reshape(1, -1)))

    def operands(self, x: Node, name: str, weight: NDArray[np.float32]) -> tuple[Node, Node]:
        """The factors of a layer's multiplication."""
        return x, opset13.constant(weight)

    def affine(self, x: Node, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> Node:
        scaled = opset13.multiply(x, opset13.constant(weight.reshape(1, -1, 1, 1)))
        return opset13.add(scaled, opset13.constant(bias.reshape(1, -1, 1, 1)))

    def relu(self, x: Node) -> Node:
        return opset13.relu(x)

    def mish(self, x: Node) -> Node:
        # The same as x (1 - 2 / ((1 + e^x)^2 + 1)). OpenVINO 2026.4 fails to compile its own Mish behind a norm in some
        # batch sizes, and x tanh(log(1 + e^x)) too, which it takes for it. This is as fast.
        one, two = (opset13.constant(np.float32(number)) for number in (1, 2))
        sum_ = opset13.add(opset13.exp(x), one)
        return opset13.multiply(
            x, opset13.subtract(one, opset13.divide(two, opset13.add(opset13.multiply(sum_, sum_), one)))
        )

    def add(self, x: Node, y: Node) -> Node:
        return opset13.add(x, y)

    def flatten(self, x: Node) -> Node:
        return opset13.reshape(x, opset13.constant(np.array([self._batch_size, -1])), special_zero=False)

    def mean_of_squares(self, x: Node) -> Node:
        return opset13.reduce_mean(x, opset13.constant(np.array([2, 3])), keep_dims=False)

    def max_of_squares(self, x: Node) -> Node:
        return opset13.reduce_max(x, opset13.constant(np.array([2, 3])), keep_dims=False)

    def first_plane(self, x: Node) -> Node:
        starts, ends = (opset13.constant(np.array([bound])) for bound in (0, 1))
        return opset13.slice(x, starts, ends, opset13.constant(np.array([1])), opset13.constant(np.array([1])))

    def on_board(self, x: Node, board: Node) -> Node:
        return opset13.multiply(x, board)

    def mean_on_board(self, x: Node, board: Node) -> Node:
        squares = opset13.constant(np.array([2, 3]))
        sums = (opset13.reduce_sum(y, squares, keep_dims=False) for y in (opset13.multiply(x, board), board))
        return opset13.divide(*sums)

    def max_on_board(self, x: Node, board: Node) -> Node:
        beside = opset13.multiply(
            opset13.subtract(board, opset13.constant(np.float32(1))), opset13.constant(np.float32(LARGEST))
        )
        return self.max_of_squares(opset13.add(opset13.multiply(x, board), beside))

    def shift(self, x: Node, y: Node) -> Node:
        return opset13.add(x, opset13.unsqueeze(y, opset13.constant(np.array([2, 3]))))

    def scale(self, x: Node, y: Node) -> Node:
        return opset13.multiply(x, opset13.unsqueeze(opset13.sigmoid(y), opset13.constant(np.array([2, 3]))))

    def join(self, x: Node, y: Node) -> Node:
        return opset13.concat([x, y], axis=1)

    def selu(self, x: Node) -> Node:
        alpha, factor = (opset13.constant(np.float32(number)) for number in (1.6732632423543772, 1.0507009873554805))
        return opset13.selu(x, alpha, factor)

    def swish(self, x: Node) -> Node:
        return opset13.swish(x)

    def square(self, x: Node) -> Node:
        return opset13.multiply(x, x)

    def squares(self, x: Node) -> Node:
        rows = opset13.constant(np.arange(x.shape[2])[::-1].copy())
        from_bottom = opset13.gather(x, rows, opset13.constant(2))
        of_filters = opset13.reshape(
            from_bottom, opset13.constant(np.array([self._batch_size, x.shape[1], -1])), special_zero=False
        )
        return opset13.transpose(of_filters, opset13.constant(np.array([0, 2, 1])))

    def first_units(self, x: Node, number: int) -> Node:
        start, stop, step, axis = (opset13.constant(np.array([bound])) for bound in (0, number, 1, 2))
        return opset13.slice(x, start, stop, step, axis)

    def reshape(self, x: Node, shape: tuple[int, ...]) -> Node:
        return opset13.reshape(x, opset13.constant(np.array([self._batch_size, *shape])), special_zero=False)

    def each_unit(self, x: Node, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> Node:
        return opset13.add(opset13.multiply(x, opset13.constant(weight)), opset13.constant(bias))

    def norm_units(self, x: Node, weight: NDArray[np.float32], bias: NDArray[np.float32], epsilon: float) -> Node:
        normed = opset13.mvn(x, opset13.constant(np.array([-1])), True, epsilon, "inside_sqrt")
        return self.each_unit(normed, weight, bias)

    def attend(self, query: Node, key: Node, value: Node, units: int, heads: int, bias: Node | None) -> Node:
        q, k, v = (self._of_heads(x, heads) for x in (query, key, value))
        weights = self._scaled_products(q, k)
        weights = opset13.softmax(weights if bias is None else opset13.add(weights, bias), 3)
        attended = opset13.transpose(opset13.matmul(weights, v, False, False), opset13.constant(np.array([0, 2, 1, 3])))
        return self.reshape(attended, tuple(value.shape[1:]))

    def products(self, query: Node, key: Node, units: int) -> Node:
        return self._scaled_products(query, key)

    def take(self, x: Node, indices: NDArray[np.int64]) -> Node:
        return opset13.gather(x, opset13.constant(indices), opset13.constant(1))

    def _of_heads(self, x: Node, heads: int) -> Node:
        """[B, S, U] as [B, heads, S, U / heads]."""
        return opset13.transpose(
            self.reshape(x, (x.shape[1], heads, x.shape[2] // heads)), opset13.constant(np.array([0, 2, 1, 3]))
        )

    def _scaled_products(self, q: Node, k: Node) -> Node:
        factor = opset13.constant(np.float32(q.shape[-1] ** -0.5))
        return opset13.multiply(opset13.matmul(q, k, False, True), factor)


class _HiddenOperations(_Operations):
    """`network.muzero_graph.HiddenOperations`."""

    def scaled(self, x: Node) -> Node:
        axes = opset13.constant(np.array([1, 2, 3]))
        low, high = opset13.reduce_min(x, axes, keep_dims=True), opset13.reduce_max(x, axes, keep_dims=True)
        size = opset13.add(opset13.subtract(high, low), opset13.constant(np.float32(LEAST_RANGE)))
        return opset13.divide(opset13.subtract(x, low), size)

    def one_hot(self, moves: Node, first: int, number: int) -> Node:
        actions = opset13.constant(np.arange(first, first + number)[None])
        is_move = opset13.equal(opset13.unsqueeze(moves, opset13.constant(1)), actions)
        return opset13.convert(is_move, "f32")


class _Int8Operations(_Operations):
    """Operations with the layers named in `largest` in int8."""

    def __init__(self, batch_size: int, largest: LargestInputs) -> None:
        super().__init__(batch_size)
        self._largest = largest

    def operands(self, x: Node, name: str, weight: NDArray[np.float32]) -> tuple[Node, Node]:
        if name not in self._largest:
            return super().operands(x, name, weight)
        return rounded(x, 0, self._largest[name], levels=256), rounded_weight(weight)


class _WatchedOperations(_Operations):
    """Operations that record the largest input of each layer that will be in int8."""

    def __init__(self, batch_size: int) -> None:
        super().__init__(batch_size)
        self.largest: dict[str, Node] = {}

    def operands(self, x: Node, name: str, weight: NDArray[np.float32]) -> tuple[Node, Node]:
        if name.startswith("blocks.") and weight.ndim == 4:
            self.largest[name] = opset13.reduce_max(x, opset13.constant(np.arange(4)), keep_dims=False)
        return super().operands(x, name, weight)


def rounded_weight(weight: NDArray[np.float32]) -> Node:
    """A weight [out, ...] as an int8 layer has it: 255 levels up to the largest of each filter."""
    largest = np.abs(weight).max(axis=tuple(range(1, weight.ndim)), keepdims=True)
    return rounded(opset13.constant(weight), -largest, largest, levels=255)


def rounded(x: Node, low: float | NDArray[np.float32], high: float | NDArray[np.float32], *, levels: int) -> Node:
    """`x`, cut to the range from `low` to `high` and rounded to so many levels; OpenVINO then computes in int8."""
    bounds = [opset13.constant(np.asarray(bound, np.float32)) for bound in (low, high)]
    return opset13.fake_quantize(x, *bounds, *bounds, levels)
