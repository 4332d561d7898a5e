"""The MuZero network, layer by layer: representation, dynamics and prediction (Nature 588, 2020, figure 1).

    planes ── representation: stem, blocks ── scaled ── hidden state [F, H, W] in [0, 1]
    hidden state, move ── dynamics: two convolutions and the state itself added, blocks ── scaled ── next hidden state
    hidden state ── prediction: the heads of `layers.py` ── policy over all actions, value for the player to move

No layer has a norm: one function is applied at every depth, and running statistics would mix the depths. In place of
norms each hidden state is scaled to [0, 1] by its smallest and largest number (paper, appendix G), over the whole
state. Rewards are not predicted: a game's only reward is its result, which is the value.

A move is one-hot. If there are at least as many actions as squares, move a is a 1 at square a % (H * W) of plane
a // (H * W), so turned boards have turned moves; actions beyond the whole planes fill a plane each. With fewer actions
than squares (a column to drop a disc into), a linear layer learns what each move adds to the squares.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic

from zerosum.network.config import NetworkConfig, NetworkShape
from zerosum.network.layer_protocol import Layers, NodeT
from zerosum.network.layers import connect_blocks, connect_heads

LEAST_RANGE = 1e-5
"""Added to the range of a hidden state that is scaled: a constant one stays finite."""


def num_move_planes(shape: NetworkShape) -> int:
    """Planes of a move; 0 if moves are one number each, for the linear layer."""
    return shape.num_policy_planes + shape.num_rest_actions if shape.num_policy_planes else 0


def connect_representation(layers: Layers[NodeT], planes: NodeT, config: NetworkConfig) -> NodeT:
    """Planes [B, C, H, W] to a hidden state [B, F, H, W], not yet scaled."""
    inner = _Part(layers, "representation")
    x = inner.relu(inner.conv_norm(planes, "stem", config.num_filters, 3))
    return connect_blocks(inner, x, config, config.num_blocks)


def connect_dynamics(
    layers: Layers[NodeT],
    hidden: NodeT,
    moves: NodeT,
    config: NetworkConfig,
    shape: NetworkShape,
    *,
    on_board: Callable[[NodeT], NodeT],
) -> NodeT:
    """Hidden states [B, F, H, W] and moves to the next hidden states, not yet scaled.

    Moves are [B, P, H, W] with P of `num_move_planes`, or [B, A]. `on_board` shapes [B, F * H * W] to [B, F, H, W].
    """
    inner = _Part(layers, "dynamics")
    if num_move_planes(shape):
        of_moves = inner.conv(moves, "move", config.num_filters, 3)
    else:
        of_moves = on_board(inner.linear(moves, "move", config.num_filters * shape.height * shape.width))
    x = inner.add(inner.conv(hidden, "stem", config.num_filters, 3), of_moves)
    return connect_blocks(inner, inner.relu(inner.add(x, hidden)), config, config.dynamics_blocks)


def connect_prediction(
    layers: Layers[NodeT], hidden: NodeT, config: NetworkConfig, shape: NetworkShape
) -> dict[str, NodeT]:
    """Hidden states [B, F, H, W] to the logits of each head. Raises SettingsError as `architectures.connect`."""
    return connect_heads(_Part(layers, "prediction"), hidden, config, shape, config.heads)


def connect_all(
    layers: Layers[tuple[int, ...]], config: NetworkConfig, shape: NetworkShape
) -> dict[str, tuple[int, ...]]:
    """Connect all three for layers that only record shapes, whose nodes are shapes without B."""
    board = (shape.height, shape.width)
    hidden = connect_representation(layers, (shape.num_planes, *board), config)
    num_planes = num_move_planes(shape)
    moves = (num_planes, *board) if num_planes else (shape.num_actions,)
    hidden = connect_dynamics(layers, hidden, moves, config, shape, on_board=lambda _: (config.num_filters, *board))
    return connect_prediction(layers, hidden, config, shape)


class _Part(Generic[NodeT]):
    """Layers whose names begin with the network's name, and whose convolutions have a bias in the place of a norm."""

    def __init__(self, layers: Layers[NodeT], name: str) -> None:
        self._layers, self._name = layers, name
        self.relu, self.mish, self.add = layers.relu, layers.mish, layers.add
        self.join, self.flatten = layers.join, layers.flatten
        self.shift, self.scale = layers.shift, layers.scale
        self.mean_of_squares, self.max_of_squares = layers.mean_of_squares, layers.max_of_squares

    def conv_norm(self, x: NodeT, name: str, filters: int, kernel: int) -> NodeT:
        return self.conv(x, name, filters, kernel)

    def conv(self, x: NodeT, name: str, filters: int, kernel: int) -> NodeT:
        return self._layers.conv(x, f"{self._name}.{name}", filters, kernel)

    def linear(self, x: NodeT, name: str, units: int) -> NodeT:
        return self._layers.linear(x, f"{self._name}.{name}", units)

    def affine(self, x: NodeT, name: str) -> NodeT:
        return self._layers.affine(x, f"{self._name}.{name}")
