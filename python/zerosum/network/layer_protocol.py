"""The interface of a library that computes a network, or of what only looks at its layers."""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

NodeT = TypeVar("NodeT")


class Layers(Protocol[NodeT]):
    """Layers with named weights, and operations without weights. A node is a value, [B, ...]."""

    def conv_norm(self, x: NodeT, name: str, filters: int, kernel: int) -> NodeT:
        """Convolve [B, F, H, W] to [B, filters, H, W] without a bias, and normalise each filter."""

    def conv(self, x: NodeT, name: str, filters: int, kernel: int) -> NodeT:
        """Convolve [B, F, H, W] to [B, filters, H, W] with a bias."""

    def linear(self, x: NodeT, name: str, units: int) -> NodeT:
        """[B, U] to [B, units], with a bias."""

    def affine(self, x: NodeT, name: str) -> NodeT:
        """[B, F, H, W] with each filter times a weight, plus a bias: a norm of its own, folded."""

    def relu(self, x: NodeT) -> NodeT:
        """max(x, 0)."""

    def mish(self, x: NodeT) -> NodeT:
        """The function x tanh(log(1 + e^x)) (Misra 2019, arXiv 1908.08681)."""

    def add(self, x: NodeT, y: NodeT) -> NodeT:
        """The sum of two nodes of the same shape."""

    def flatten(self, x: NodeT) -> NodeT:
        """[B, F, H, W] to [B, F * H * W]."""

    def mean_of_squares(self, x: NodeT) -> NodeT:
        """[B, F, H, W] to [B, F]."""

    def max_of_squares(self, x: NodeT) -> NodeT:
        """[B, F, H, W] to [B, F]."""

    def shift(self, x: NodeT, y: NodeT) -> NodeT:
        """[B, F, H, W], to each of whose filters a number of [B, F] is added."""

    def scale(self, x: NodeT, y: NodeT) -> NodeT:
        """[B, F, H, W], each of whose filters is multiplied by the sigmoid of a number of [B, F]."""

    def join(self, x: NodeT, y: NodeT) -> NodeT:
        """[B, U] and [B, G] to [B, U + G]."""


class BoardLayers(Layers[NodeT], Protocol[NodeT]):
    """What networks need besides where the board may be smaller than the planes (`part_of_planes.py`)."""

    def first_plane(self, x: NodeT) -> NodeT:
        """[B, C, H, W] to [B, 1, H, W]."""

    def on_board(self, x: NodeT, board: NodeT) -> NodeT:
        """[B, F, H, W] with 0 where `board` [B, 1, H, W] is 0; elsewhere `board` is 1."""

    def mean_on_board(self, x: NodeT, board: NodeT) -> NodeT:
        """[B, F, H, W] to [B, F], the means where `board` [B, 1, H, W] is 1."""

    def max_on_board(self, x: NodeT, board: NodeT) -> NodeT:
        """[B, F, H, W] to [B, F], the maxima where `board` [B, 1, H, W] is 1, at least `-LARGEST`."""


LARGEST = 1e4
"""Outputs of layers are above the negative of this number, within the range of float16."""


class AttentionLayers(Layers[NodeT], Protocol[NodeT]):
    """What networks with attention need besides. `linear` takes [B, …, U] to [B, …, units]."""

    def selu(self, x: NodeT) -> NodeT:
        """The function 1.0507 x above 0 and 1.7581 (e^x - 1) below (Klambauer et al. 2017, arXiv 1706.02515)."""

    def swish(self, x: NodeT) -> NodeT:
        """The product of x and its sigmoid."""

    def square(self, x: NodeT) -> NodeT:
        """The square of each number."""

    def squares(self, x: NodeT) -> NodeT:
        """[B, F, H, W] to [B, H * W, F], the squares row by row from the bottom left."""

    def first_units(self, x: NodeT, number: int) -> NodeT:
        """[B, S, U] to [B, S, number]."""

    def reshape(self, x: NodeT, shape: tuple[int, ...]) -> NodeT:
        """[B, …] to [B, *shape]."""

    def each_unit(self, x: NodeT, name: str) -> NodeT:
        """[B, S, U], each number times a weight, plus a bias."""

    def norm_units(self, x: NodeT, name: str, epsilon: float) -> NodeT:
        """[B, …, U] with mean 0 and variance 1 over U, times a weight, plus a bias (arXiv 1607.06450)."""

    def attend(self, query: NodeT, key: NodeT, value: NodeT, units: int, heads: int, bias: NodeT | None) -> NodeT:
        """[B, S, units] each, to [B, S, units]: the values, weighted by the products of queries and keys.

        The weights are the softmax of the products, divided by the root of a head's units, plus `bias`
        [B, heads, S, S].
        """

    def products(self, query: NodeT, key: NodeT, units: int) -> NodeT:
        """[B, S, units] twice, to [B, S, S]: the products of queries and keys, divided by the root of `units`."""

    def take(self, x: NodeT, indices: NDArray[np.int64]) -> NodeT:
        """[B, U] to [B, len(indices)]."""
