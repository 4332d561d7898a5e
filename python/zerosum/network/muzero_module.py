"""The MuZero network in PyTorch. `muzero.py` defines it; this file computes it, for training and for evaluators.

Imports torch, so it is imported only where a tensor is needed. Shape suffixes: B positions or hidden states, C planes,
H height, W width, F filters, P planes of a move, A actions.
"""

from __future__ import annotations

import torch
from torch import Tensor
from typing_extensions import override

from zerosum.network.config import NetworkConfig, NetworkShape
from zerosum.network.muzero import (
    LEAST_RANGE,
    connect_dynamics,
    connect_prediction,
    connect_representation,
    num_move_planes,
)
from zerosum.network.residual_tower import NetworkOutput, ResidualTower
from zerosum.network.weights import Weights


class MuZeroModule(ResidualTower):
    """Representation, dynamics and prediction, holding a copy of `weights`."""

    def __init__(self, config: NetworkConfig, shape: NetworkShape, weights: Weights) -> None:
        super().__init__(config, shape, weights)
        self._num_move_planes = num_move_planes(shape)

    @override
    def forward(self, x_BCHW: Tensor) -> NetworkOutput:
        """Evaluate positions by representation and prediction, without a move."""
        return NetworkOutput(self.predict(self.represent(x_BCHW)))

    def represent(self, x_BCHW: Tensor) -> Tensor:
        """[B, F, H, W] in [0, 1], the hidden states of positions."""
        return scaled(connect_representation(self._layers, x_BCHW, self._config))

    def advance(self, hidden_BFHW: Tensor, moves_B: Tensor) -> Tensor:
        """[B, F, H, W] in [0, 1], the hidden states after moves [B], integers: the places of their logits."""
        moves = self.moves(moves_B, hidden_BFHW.dtype)
        shape = hidden_BFHW.shape
        y_BFHW = connect_dynamics(
            self._layers, hidden_BFHW, moves, self._config, self._shape, on_board=lambda y: y.view(shape)
        )
        return scaled(y_BFHW)

    def predict(self, hidden_BFHW: Tensor) -> dict[str, Tensor]:
        """The logits of each head, [B, A] or [B, width]."""
        return connect_prediction(self._layers, hidden_BFHW, self._config, self._shape)

    def moves(self, moves_B: Tensor, dtype: torch.dtype) -> Tensor:
        """Moves as the dynamics reads them: one-hot, [B, P, H, W] or [B, A]."""
        size, shape = len(moves_B), self._shape
        if not self._num_move_planes:
            return torch.nn.functional.one_hot(moves_B, shape.num_actions).to(dtype)
        squares = shape.height * shape.width
        planes_BPS = torch.zeros((size, self._num_move_planes, squares), dtype=dtype, device=moves_B.device)
        on_squares = shape.num_policy_planes * squares
        first_B = moves_B.clamp(max=on_squares - 1)
        rows_B = torch.arange(size, device=moves_B.device)
        planes_BPS[rows_B, first_B // squares, first_B % squares] = (moves_B < on_squares).to(dtype)
        if shape.num_rest_actions:
            rest_BR = torch.arange(on_squares, shape.num_actions, device=moves_B.device) == moves_B[:, None]
            planes_BPS[:, shape.num_policy_planes :] = rest_BR.to(dtype)[:, :, None]
        return planes_BPS.view(size, self._num_move_planes, shape.height, shape.width)


def scaled(hidden_BFHW: Tensor) -> Tensor:
    """Hidden states, each scaled to [0, 1] by its smallest and its largest number."""
    low_B = hidden_BFHW.amin(dim=(1, 2, 3), keepdim=True)
    high_B = hidden_BFHW.amax(dim=(1, 2, 3), keepdim=True)
    return (hidden_BFHW - low_B) / (high_B - low_B + LEAST_RANGE)
