"""The interface of a library that computes a network, or of what only looks at its layers."""

from __future__ import annotations

from typing import Protocol, TypeVar

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
