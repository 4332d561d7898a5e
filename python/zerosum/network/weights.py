"""A network's weights: names and shapes, their number, their cost, and their initial values."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from zerosum.network.architectures import connect
from zerosum.network.board_lines import BoardLines
from zerosum.network.config import NetworkConfig, NetworkShape, parse_shapes
from zerosum.network.heads import Head
from zerosum.network.muzero import connect_all
from zerosum.network.piece_planes import PiecePlanes

Weights = Mapping[str, NDArray[np.float32]]
"""A network's weights by name, float32, with the names and shapes of `weight_shapes`."""

NORM_EPSILON = 1e-5
"""Constant added to the variance in every batch normalisation."""

NORM_PARTS = ("weight", "bias", "running_mean", "running_var")
"""The arrays of a batch normalisation, with a number per filter: scale, shift, running mean and variance."""

LEARNING_OPERATIONS = 3
"""Operations of learning from a sample, forward and backward, in evaluations (`num_operations`)."""


def weight_shapes(config: NetworkConfig, shape: NetworkShape) -> dict[str, tuple[int, ...]]:
    """Name and shape of every weight, in the order of the forward pass.

    Kernels are [filters out, filters in, kernel height, kernel width], linear layers [out, in].

    Raises:
        SettingsError: as `connect`.
    """
    if config.kind == "updatable":
        return updatable_shapes(config, shape)
    if config.kind == "muzero":
        layers = _WeightShapes()
        connect_all(layers, config, shape)
        return layers.shapes
    return parse_shapes(config.module_weights) if config.module else _shapes(config, shape, config.heads)


def updatable_shapes(config: NetworkConfig, shape: NetworkShape) -> dict[str, tuple[int, ...]]:
    """The same of an updatable network. Raises SettingsError if the game has no planes of pieces.

    A piece has weights of its square and weights of its kind (own kinds first), which are added before play: so a
    square that is rarely seen is near the others ("virtual features"). Contents of lines have weights of their own.
    """
    planes, units = PiecePlanes.of(shape.planes), config.updatable_units
    shapes: dict[str, tuple[int, ...]] = {
        "input.weight": (units, planes.num_features(shape.height * shape.width)),
        "kinds.weight": (units, 2 * len(planes.kinds)),
        "input.bias": (units,),
        "output.weight": (1, 2 * units),
        "output.bias": (1,),
    }
    if config.updatable_lines:
        lines = BoardLines.of(config.updatable_lines, (shape.height, shape.width))
        shapes["lines.weight"] = (units, lines.num_features)
    return shapes


def _shapes(config: NetworkConfig, shape: NetworkShape, heads: Iterable[Head]) -> dict[str, tuple[int, ...]]:
    layers = _WeightShapes()
    connect(layers, (shape.num_planes, shape.height, shape.width), config, shape, heads)
    return layers.shapes


def num_parameters(config: NetworkConfig, shape: NetworkShape) -> int:
    """Number of trained parameters (the running statistics of norms are measured, not trained)."""
    return sum(math.prod(s) for name, s in weight_shapes(config, shape).items() if ".running_" not in name)


def policy_remark(config: NetworkConfig, shape: NetworkShape) -> str:
    """Advice if the policy's last layer has most of a network's parameters; "" otherwise."""
    total, weights = num_parameters(config, shape), weight_shapes(config, shape)
    own = sum(math.prod(s) for name, s in weights.items() if name.startswith("policy_out"))
    if config.policy_head != "dense" or 2 * own < total or not shape.num_policy_planes:
        return ""
    less = num_parameters(dataclasses.replace(config, policy_head="planes"), shape)
    squares = shape.height * shape.width
    return (
        f"The policy's last layer, for {shape.num_actions:,} actions, holds {own:,} of the network's {total:,}"
        f" parameters. If action plane * {squares} + square belongs to that square of the planes, set"
        f" has_action_planes = True: the network then has {less:,}."
    )


def num_operations(config: NetworkConfig, shape: NetworkShape) -> int:
    """Floating-point operations of one evaluation. A multiplication and its addition count as 2.

    Only convolutions and linear layers count, because norms are folded into them and the rest costs little.
    """
    squares = shape.height * shape.width
    is_tower = not config.module and config.kind == "residual"
    shapes = _shapes(config, shape, config.search_heads) if is_tower else weight_shapes(config, shape)
    sizes = [s for s in shapes.values() if len(s) > 1]
    return sum(2 * math.prod(s) * (squares if len(s) == 4 else 1) for s in sizes)


def tower_weights(config: NetworkConfig, shape: NetworkShape, *, seed: int) -> dict[str, NDArray[np.float32]]:
    """Initial weights of a residual tower, a pure function of the arguments. The paper does not state its own.

    - Convolutions and hidden layers: normal, standard deviation sqrt(2 / inputs), bias 0 (He et al. 2015,
      arXiv 1502.01852, eq. 10).
    - The last norm of each block, or its last convolution where there are no norms: scale 0, so that a block begins as
      the identity (Goyal et al. 2017, arXiv 1706.02677, section 5.1). A norm that ends a head: scale 0. The other
      norms: scale 1. All: shift 0.
    - The layers of global pooling, and the last ones of squeeze-and-excitation: 0, so that they add nothing to begin
      with, and scale all filters alike.
    - The last layer of each head, `*_out` and `*_rest`: 0 (as the classification layer in Fixup, Zhang et
      al. 2019, arXiv 1901.09321), so a new network gives all actions the same probability, and all positions the value
      0.
    """
    random = np.random.default_rng(seed)

    def begin(name: str, weight_shape: tuple[int, ...]) -> NDArray[np.float32]:
        if name.endswith(
            (
                "second.norm.weight",
                "second.weight",
                "_out.norm.weight",
                "bias",
                "running_mean",
                "_out.weight",
                "_rest.weight",
            )
        ):
            return np.zeros(weight_shape, np.float32)
        if name.endswith(("norm.weight", "running_var")):
            return np.ones(weight_shape, np.float32)
        deviation = math.sqrt(2 / math.prod(weight_shape[1:]))
        return (random.standard_normal(weight_shape) * deviation).astype(np.float32)

    return {name: begin(name, weight_shape) for name, weight_shape in weight_shapes(config, shape).items()}


class _WeightShapes:
    """`Layers` that record the shape of every weight. A node is its shape without B."""

    def __init__(self) -> None:
        self.shapes: dict[str, tuple[int, ...]] = {}

    def conv_norm(self, x: tuple[int, ...], name: str, filters: int, kernel: int) -> tuple[int, ...]:
        """Note a kernel and the parts of a norm."""
        self.shapes[f"{name}.conv.weight"] = (filters, x[0], kernel, kernel)
        self.shapes.update({f"{name}.norm.{part}": (filters,) for part in NORM_PARTS})
        return (filters, *x[1:])

    def conv(self, x: tuple[int, ...], name: str, filters: int, kernel: int) -> tuple[int, ...]:
        """Note a kernel and a bias."""
        self.shapes[f"{name}.weight"], self.shapes[f"{name}.bias"] = (filters, x[0], kernel, kernel), (filters,)
        return (filters, *x[1:])

    def linear(self, x: tuple[int, ...], name: str, units: int) -> tuple[int, ...]:
        """Note a weight and a bias."""
        self.shapes[f"{name}.weight"], self.shapes[f"{name}.bias"] = (units, x[-1]), (units,)
        return (*x[:-1], units)

    def affine(self, x: tuple[int, ...], name: str) -> tuple[int, ...]:
        """Note a weight and a bias for each filter."""
        self.shapes[f"{name}.weight"], self.shapes[f"{name}.bias"] = (x[0],), (x[0],)
        return x

    def relu(self, x: tuple[int, ...]) -> tuple[int, ...]:
        """The same shape."""
        return x

    mish = relu

    def add(self, x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
        """The same shape."""
        assert x == y, (x, y)
        return x

    def flatten(self, x: tuple[int, ...]) -> tuple[int, ...]:
        """One number."""
        return (math.prod(x),)

    def mean_of_squares(self, x: tuple[int, ...]) -> tuple[int, ...]:
        """The filters."""
        return x[:1]

    max_of_squares = mean_of_squares

    def first_plane(self, x: tuple[int, ...]) -> tuple[int, ...]:
        """One plane."""
        return (1, *x[1:])

    def on_board(self, x: tuple[int, ...], board: tuple[int, ...]) -> tuple[int, ...]:
        """The same shape."""
        return x

    def mean_on_board(self, x: tuple[int, ...], board: tuple[int, ...]) -> tuple[int, ...]:
        """The filters."""
        return x[:1]

    max_on_board = mean_on_board

    def shift(self, x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of `x`."""
        assert x[:1] == y, (x, y)
        return x

    scale = shift

    def join(self, x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
        """The sum of the units."""
        return (x[0] + y[0],)

    selu = swish = square = relu

    def squares(self, x: tuple[int, ...]) -> tuple[int, ...]:
        """The squares, then the filters."""
        return (math.prod(x[1:]), x[0])

    def first_units(self, x: tuple[int, ...], number: int) -> tuple[int, ...]:
        """The shape with `number` units."""
        return (*x[:-1], number)

    def reshape(self, x: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
        """The new shape."""
        assert math.prod(x) == math.prod(shape), (x, shape)
        return shape

    def each_unit(self, x: tuple[int, ...], name: str) -> tuple[int, ...]:
        """Note a weight and a bias for each number."""
        self.shapes[f"{name}.weight"], self.shapes[f"{name}.bias"] = x, x
        return x

    def norm_units(self, x: tuple[int, ...], name: str, epsilon: float) -> tuple[int, ...]:
        """Note a weight and a bias for each unit."""
        self.shapes[f"{name}.weight"], self.shapes[f"{name}.bias"] = x[-1:], x[-1:]
        return x

    def attend(
        self,
        query: tuple[int, ...],
        key: tuple[int, ...],
        value: tuple[int, ...],
        units: int,
        heads: int,
        bias: tuple[int, ...] | None,
    ) -> tuple[int, ...]:
        """The shape of the values."""
        assert query == key == value and bias in (None, (heads, query[0], query[0])), (query, key, value, bias)
        return value

    def products(self, query: tuple[int, ...], key: tuple[int, ...], units: int) -> tuple[int, ...]:
        """A number for each pair of squares."""
        assert query == key, (query, key)
        return (query[0], query[0])

    def take(self, x: tuple[int, ...], indices: NDArray[np.int64]) -> tuple[int, ...]:
        """A number for each index."""
        return (len(indices),)
