"""A decoder that draws the planes of the position from a hidden state (Guei et al., arXiv 2411.04580, on MuZero).

So a hidden state keeps what the position is, also after moves that the dynamics made. Players have no use for it: its
weights are a part of the training's state, beside the optimiser's, and of no network.

    hidden state ── first: 3x3, ReLU ── out: 3x3 ── planes
    [F, H, W]                                       [C, H, W]

Imports torch. Suffixes: N hidden states, F filters, C planes of H x W squares.
"""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from typing_extensions import override

from zerosum.network.config import NetworkConfig, NetworkShape


class Decoder(nn.Module):
    """The decoder of a MuZero network."""

    def __init__(self, config: NetworkConfig, shape: NetworkShape) -> None:
        """Begin with weights that depend on the arguments alone, and draw planes of 0."""
        super().__init__()
        filters, num_planes = config.num_filters, shape.num_planes
        # As `tower_weights`: normal inner kernels, a last layer of 0.
        kernel = np.random.default_rng(0).standard_normal((filters, filters, 3, 3)) * math.sqrt(2 / (9 * filters))
        self.first_weight = nn.Parameter(torch.from_numpy(kernel.astype(np.float32)))
        self.first_bias = nn.Parameter(torch.zeros(filters))
        self.out_weight = nn.Parameter(torch.zeros(num_planes, filters, 3, 3))
        self.out_bias = nn.Parameter(torch.zeros(num_planes))

    @override
    def forward(self, hidden_NFHW: Tensor) -> Tensor:
        """[N, C, H, W], the planes."""
        y_NFHW = F.conv2d(hidden_NFHW, self.first_weight, self.first_bias, padding=1).relu()
        planes_NCHW: Tensor = F.conv2d(y_NFHW, self.out_weight, self.out_bias, padding=1)
        return planes_NCHW

    def loss(self, hidden_NFHW: Tensor, planes_NCHW: Tensor) -> Tensor:
        """[N], the mean of the squared differences from the planes of the real positions."""
        error_NCHW: Tensor = self(hidden_NFHW).float() - planes_NCHW
        return error_NCHW.square().mean(dim=(1, 2, 3))
