"""Layers on a board that may be smaller than the planes: what lies beside it is as if it were beyond the planes' edge.

The first plane of such a game has the points of the board (`mixedgo`). Every convolution sees 0 beside the board, as it
does beyond the edge, and pooling leaves what is beside it out. So a network gives the same logits on a board of 7x7 in
planes of 13x13 as in planes of 7x7 (tests/network/test_any_size.py).
"""

from __future__ import annotations

from typing import Generic, cast

from zerosum.network.config import NetworkShape
from zerosum.network.layer_protocol import BoardLayers, Layers, NodeT

BOARD_PLANE = "points of the board"
"""The name of the plane with the points of the board, in games whose networks fit boards of all sizes."""


def has_part(shape: NetworkShape) -> bool:
    """Whether the board may be smaller than the planes."""
    return shape.planes[:1] == ((BOARD_PLANE, False),)


def on_part(layers: Layers[NodeT], planes: NodeT) -> Layers[NodeT]:
    """The layers on the board that the first of the planes [B, C, H, W] has."""
    return _OnPart(cast(BoardLayers[NodeT], layers), planes)  # every library's layers are also those of boards


class _OnPart(Generic[NodeT]):
    def __init__(self, layers: BoardLayers[NodeT], planes: NodeT) -> None:
        self._layers, self._board = layers, layers.first_plane(planes)
        self._last: tuple[NodeT, NodeT] | None = None
        self.linear, self.affine = layers.linear, layers.affine
        self.relu, self.mish, self.add = layers.relu, layers.mish, layers.add
        self.join, self.flatten = layers.join, layers.flatten
        self.shift, self.scale = layers.shift, layers.scale

    def conv_norm(self, x: NodeT, name: str, filters: int, kernel: int) -> NodeT:
        return self._layers.conv_norm(self._inside(x), name, filters, kernel)

    def conv(self, x: NodeT, name: str, filters: int, kernel: int) -> NodeT:
        return self._layers.conv(self._inside(x), name, filters, kernel)

    def mean_of_squares(self, x: NodeT) -> NodeT:
        return self._layers.mean_on_board(x, self._board)

    def max_of_squares(self, x: NodeT) -> NodeT:
        return self._layers.max_on_board(x, self._board)

    def _inside(self, x: NodeT) -> NodeT:
        """`x` with 0 beside the board; that of the last `x` is kept, because all heads begin with the same."""
        if self._last is None or self._last[0] is not x:
            self._last = x, self._layers.on_board(x, self._board)
        return self._last[1]
