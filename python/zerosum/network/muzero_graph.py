"""The MuZero network as two graphs of operations, for libraries that run it but do not train it.

They are the functions of the paper's pseudocode (Nature 588, 2020, supplementary material):

    initial inference      planes            -> hidden state, policy, value    representation and prediction
    recurrent inference    hidden state, move -> hidden state, policy, value    dynamics and prediction
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from zerosum.network.config import NetworkConfig, NetworkShape
from zerosum.network.graph import Operations, with_weights
from zerosum.network.muzero import connect_dynamics, connect_prediction, connect_representation, num_move_planes
from zerosum.network.weights import Weights


class HiddenOperations(Operations, Protocol):
    """Operations of a library, and what hidden states need besides."""

    def scaled(self, x: Any) -> Any:
        """[B, F, H, W], each [F, H, W] scaled to [0, 1] by its smallest and largest number (`muzero.LEAST_RANGE`)."""

    def one_hot(self, moves: Any, first: int, number: int) -> Any:
        """Moves [B], integers, to [B, number]: a 1 at `move - first`, nothing for a move outside of the range."""


def initial_inference(
    operations: HiddenOperations, planes: Any, config: NetworkConfig, shape: NetworkShape, weights: Weights
) -> dict[str, Any]:
    """From planes [B, C, H, W]: "hidden", [B, F, H, W] in [0, 1], and the logits of each head, by its name."""
    layers = with_weights(operations, weights)
    hidden = operations.scaled(connect_representation(layers, planes, config))
    return {"hidden": hidden} | connect_prediction(layers, hidden, config, shape)


def recurrent_inference(
    operations: HiddenOperations, hidden: Any, moves: Any, config: NetworkConfig, shape: NetworkShape, weights: Weights
) -> dict[str, Any]:
    """From hidden states [B, F, H, W] and moves [B], the places of their logits: as `initial_inference`."""
    layers, board = with_weights(operations, weights), (shape.height, shape.width)
    one_hot = _one_hot_moves(operations, moves, shape)
    after = connect_dynamics(
        layers, hidden, one_hot, config, shape, on_board=lambda x: operations.reshape(x, (config.num_filters, *board))
    )
    after = operations.scaled(after)
    return {"hidden": after} | connect_prediction(layers, after, config, shape)


def _one_hot_moves(operations: HiddenOperations, moves: Any, shape: NetworkShape) -> Any:
    """Moves as the dynamics reads them: [B, P, H, W] or [B, A] (`muzero.py`)."""
    if not num_move_planes(shape):
        return operations.one_hot(moves, 0, shape.num_actions)
    squares = shape.height * shape.width
    on_squares = shape.num_policy_planes * squares
    planes = operations.reshape(
        operations.one_hot(moves, 0, on_squares), (shape.num_policy_planes, shape.height, shape.width)
    )
    rest = shape.num_rest_actions
    if not rest:
        return planes
    # A linear layer repeats the number of each of the other actions on all squares of its plane.
    repeat = np.repeat(np.eye(rest, dtype=np.float32), squares, axis=0)
    filled = operations.linear(
        operations.one_hot(moves, on_squares, rest), "rest", repeat, np.zeros(rest * squares, np.float32)
    )
    return operations.join(planes, operations.reshape(filled, (rest, shape.height, shape.width)))
