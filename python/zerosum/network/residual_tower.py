"""The network in PyTorch, for training and for GPUs. `network.py` says what it is; this file says how to compute it.

Imports torch, so it is imported only where a tensor is needed. Shape suffixes: B positions, C planes, H height,
W width, F filters, A actions, U hidden units, V value logits (1 or 3).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from zerosum.network.config import MOVES_LEFT_SCALE, NORM_EPSILON, NetworkConfig, NetworkShape, Weights


class NetworkOutput(NamedTuple):
    """What the network says of B positions, always for the player to move."""

    policy_logits_BA: Tensor  # noqa: N815
    """[B, A], unnormalised; illegal actions are masked by whoever takes the softmax."""
    value_logits_BV: Tensor  # noqa: N815
    """[B, 1], the value before its tanh, or [B, 3], logits of win, draw and loss in this order."""
    moves_left_logits_B1: Tensor | None = None  # noqa: N815
    """[B, 1], before its softplus, if the network has such a head."""

    @property
    def values_B(self) -> Tensor:  # noqa: N802
        """[B] float32 in [-1, 1]: tanh, or P(win) - P(loss)."""
        logits_BV = self.value_logits_BV.float()
        if logits_BV.shape[1] == 1:
            return logits_BV[:, 0].tanh()
        probs_B3 = logits_BV.softmax(dim=1)
        return probs_B3[:, 0] - probs_B3[:, 2]

    @property
    def moves_left_B(self) -> Tensor | None:  # noqa: N802
        """[B] float32, plies until the game ends, above 0."""
        logits_B1 = self.moves_left_logits_B1
        return None if logits_B1 is None else MOVES_LEFT_SCALE * F.softplus(logits_B1[:, 0].float())


class ResidualTower(nn.Module):
    """AlphaZero's residual network with its heads, holding a copy of `weights`.

    In training mode the norms use the statistics of the batch and update the running ones; in evaluation mode
    (`eval()`) they use the running ones. Works in any memory format and under autocast.
    """

    def __init__(self, config: NetworkConfig, shape: NetworkShape, weights: Weights) -> None:
        super().__init__()
        squares, filters = shape.height * shape.width, config.num_filters
        # On the meta device the layers draw no initial weights, so the global random generator stays as it is.
        with torch.device("meta"):
            self.stem = _ConvNorm(shape.num_planes, filters, 3)
            self.blocks = nn.Sequential(*(_Block(filters) for _ in range(config.num_blocks)))
            self.policy_rest: nn.Module | None = None
            self.policy_out: nn.Module
            if config.policy_head == "dense":
                self.policy_conv = _ConvNorm(filters, config.policy_filters, 1)
                self.policy_out = nn.Linear(config.policy_filters * squares, shape.num_actions)
            else:
                self.policy_conv = _ConvNorm(filters, config.policy_filters, 3)
                self.policy_out = nn.Conv2d(config.policy_filters, shape.num_policy_planes, 1)
                if shape.num_rest_actions:
                    self.policy_rest = nn.Linear(config.policy_filters, shape.num_rest_actions)
            self.value_conv = _ConvNorm(filters, config.value_filters, 1)
            self.value_hidden = nn.Linear(config.value_filters * squares, config.value_hidden)
            self.value_out = nn.Linear(config.value_hidden, config.num_value_logits)
            self.moves_left_out: nn.Linear | None = None
            if config.moves_left_head:
                self.moves_left_conv = _ConvNorm(filters, config.value_filters, 1)
                self.moves_left_hidden = nn.Linear(config.value_filters * squares, config.value_hidden)
                self.moves_left_out = nn.Linear(config.value_hidden, 1)
        self.to_empty(device="cpu")
        self.load_weights(weights)

    def forward(self, x_BCHW: Tensor) -> NetworkOutput:
        """Evaluate planes [B, C, H, W] (float, seen from the player to move)."""
        x_BFHW = self.blocks(F.relu(self.stem(x_BCHW)))
        value_logits_BV = self.value_out(_hidden(x_BFHW, self.value_conv, self.value_hidden))
        moves_left_logits_B1 = None
        if self.moves_left_out is not None:
            moves_left_logits_B1 = self.moves_left_out(_hidden(x_BFHW, self.moves_left_conv, self.moves_left_hidden))
        return NetworkOutput(self._policy_logits(x_BFHW), value_logits_BV, moves_left_logits_B1)

    def _policy_logits(self, x_BFHW: Tensor) -> Tensor:
        y_BFHW = F.relu(self.policy_conv(x_BFHW))
        is_dense = isinstance(self.policy_out, nn.Linear)
        logits_BA: Tensor = self.policy_out(y_BFHW.flatten(1) if is_dense else y_BFHW).flatten(1)
        if self.policy_rest is None:
            return logits_BA
        return torch.cat([logits_BA, self.policy_rest(y_BFHW.mean(dim=(2, 3)))], dim=1)

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """A float32 copy of the weights, on the CPU, as checkpoints hold them."""
        return {name: np.array(tensor.float().cpu().numpy()) for name, tensor in self.state_dict().items()}

    def load_weights(self, weights: Weights) -> None:
        """Replace every weight. Raises KeyError for a missing name and RuntimeError for a shape that differs."""
        with torch.no_grad():
            for name, tensor in self.state_dict().items():
                tensor.copy_(torch.tensor(weights[name]))

    def fold_norms(self) -> None:
        """Merge every norm into the convolution before it: the same function in evaluation mode, in fewer steps.

        A folded tower is for evaluation only: its weights no longer have the names of a checkpoint.
        """
        self.eval()
        for layer in self.modules():
            if isinstance(layer, _ConvNorm):
                layer.fold()


def _hidden(x_BFHW: Tensor, conv: _ConvNorm, linear: nn.Linear) -> Tensor:
    """[B, U], the hidden layer of a small head."""
    hidden_BU: Tensor = linear(F.relu(conv(x_BFHW)).flatten(1))
    return F.relu(hidden_BU)


class _ConvNorm(nn.Module):
    """A convolution without bias that keeps height and width, and its batch normalisation."""

    def __init__(self, filters_in: int, filters_out: int, kernel: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(filters_in, filters_out, kernel, padding=kernel // 2, bias=False)
        self.norm: nn.Module = nn.BatchNorm2d(filters_out, eps=NORM_EPSILON)
        # Torch's count of batches serves only norms without a momentum; as None it is no part of the weights.
        self.norm.num_batches_tracked = None

    def forward(self, x_BFHW: Tensor) -> Tensor:
        y_BFHW: Tensor = self.norm(self.conv(x_BFHW))
        return y_BFHW

    def fold(self) -> None:
        if isinstance(self.norm, nn.BatchNorm2d):
            self.conv = nn.utils.fuse_conv_bn_eval(self.conv, self.norm)
            self.norm = nn.Identity()


class _Block(nn.Module):
    """x + two convolutions of it, ReLU after each."""

    def __init__(self, filters: int) -> None:
        super().__init__()
        self.first = _ConvNorm(filters, filters, 3)
        self.second = _ConvNorm(filters, filters, 3)

    def forward(self, x_BFHW: Tensor) -> Tensor:
        return F.relu(x_BFHW + self.second(F.relu(self.first(x_BFHW))))
