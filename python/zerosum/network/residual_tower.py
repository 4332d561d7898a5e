"""The network in PyTorch, for training and for GPUs. `layers.py` defines it; this file computes it.

Imports torch, so it is imported only where a tensor is needed. Shape suffixes: B positions, C planes, H height,
W width, F filters, A actions, U hidden units, V value logits (1 or 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from zerosum.network.architectures import connect
from zerosum.network.config import NetworkConfig, NetworkShape
from zerosum.network.layer_protocol import LARGEST
from zerosum.network.weights import NORM_EPSILON, Weights, weight_shapes


@dataclass(frozen=True)
class NetworkOutput:
    """The network's outputs for B positions, always for the player to move."""

    logits: dict[str, Tensor]
    """The logits of `architectures.connect` by head: [B, A] or [B, width]."""

    @property
    def policy_logits_BA(self) -> Tensor:  # noqa: N802
        """[B, A], unnormalised; illegal actions are masked before the softmax is taken."""
        return self.logits["policy"]


class ResidualTower(nn.Module):
    """AlphaZero's residual network with its heads, holding a copy of `weights`.

    In training mode the norms use the statistics of the batch and update the running ones. In evaluation mode
    (`eval()`) they use the running ones, and heads that are only trained are left out. The tower works in any memory
    format and under autocast.
    """

    def __init__(self, config: NetworkConfig, shape: NetworkShape, weights: Weights) -> None:
        super().__init__()
        self._config, self._shape = config, shape
        # The meta device skips initial weights, so the state of the global random generator does not change.
        with torch.device("meta"):
            for name, weight_shape in weight_shapes(config, shape).items():
                if name.endswith(".conv.weight"):
                    self._add(name.removesuffix(".conv.weight"), _ConvNorm(*weight_shape[:3]))
                elif name.endswith(".weight") and len(weight_shape) == 1 and ".norm." not in name:
                    self._add(name.removesuffix(".weight"), _Affine(*weight_shape))
                elif name.endswith(".weight") and ".norm." not in name:
                    filters, inputs = weight_shape[:2]
                    layer: nn.Module = nn.Linear(inputs, filters)
                    if len(weight_shape) == 4:
                        kernel = weight_shape[2]
                        layer = nn.Conv2d(inputs, filters, kernel, padding=kernel // 2)
                    self._add(name.removesuffix(".weight"), layer)
        self._layers = _TorchLayers(dict(self.named_modules()))
        # As `to_empty` does, which imports a part of torch's compiler: 0.6 CPU-seconds.
        tower: Any = self  # torch has no types for this method
        tower._apply(lambda tensor: torch.empty(tensor.shape))
        self.load_weights(weights)

    def _add(self, name: str, layer: nn.Module) -> None:
        """Register a layer under a dotted name."""
        parent: nn.Module = self
        *folders, last = name.split(".")
        for folder in folders:
            if folder not in dict(parent.named_children()):
                parent.add_module(folder, nn.Module())
            parent = parent.get_submodule(folder)
        parent.add_module(last, layer)

    def forward(self, x_BCHW: Tensor) -> NetworkOutput:
        """Evaluate planes [B, C, H, W] (float, seen from the player to move)."""
        heads = self._config.heads if self.training else self._config.search_heads
        return NetworkOutput(connect(self._layers, x_BCHW, self._config, self._shape, heads))

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """A float32 copy of the weights, on the CPU, as checkpoints hold them."""
        return {name: np.array(tensor.float().cpu().numpy()) for name, tensor in self.state_dict().items()}

    def load_weights(self, weights: Weights) -> None:
        """Replace every weight. Raises KeyError for a missing name and RuntimeError for a shape that differs."""
        with torch.no_grad():
            for name, tensor in self.state_dict().items():
                tensor.copy_(torch.tensor(weights[name]))


class _TorchLayers:
    """`layers.Layers` by a tower's modules, by name."""

    def __init__(self, modules: dict[str, nn.Module]) -> None:
        self._modules = modules

    def conv_norm(self, x: Tensor, name: str, filters: int, kernel: int) -> Tensor:
        y: Tensor = self._modules[name](x)
        return y

    def conv(self, x: Tensor, name: str, filters: int, kernel: int) -> Tensor:
        y: Tensor = self._modules[name](x)
        return y

    def linear(self, x: Tensor, name: str, units: int) -> Tensor:
        y: Tensor = self._modules[name](x)
        return y

    def affine(self, x: Tensor, name: str) -> Tensor:
        y: Tensor = self._modules[name](x)
        return y

    def relu(self, x: Tensor) -> Tensor:
        return F.relu(x)

    def mish(self, x: Tensor) -> Tensor:
        return F.mish(x)

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y

    def flatten(self, x: Tensor) -> Tensor:
        return x.flatten(1)

    def mean_of_squares(self, x: Tensor) -> Tensor:
        return x.mean(dim=(2, 3))

    def max_of_squares(self, x: Tensor) -> Tensor:
        return x.amax(dim=(2, 3))

    def first_plane(self, x: Tensor) -> Tensor:
        return x[:, :1]

    def on_board(self, x: Tensor, board: Tensor) -> Tensor:
        return x * board

    def mean_on_board(self, x: Tensor, board: Tensor) -> Tensor:
        return (x * board).sum(dim=(2, 3)) / board.sum(dim=(2, 3))

    def max_on_board(self, x: Tensor, board: Tensor) -> Tensor:
        return x.where(board > 0, -LARGEST).amax(dim=(2, 3))

    def shift(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y[:, :, None, None]

    def scale(self, x: Tensor, y: Tensor) -> Tensor:
        return x * y.sigmoid()[:, :, None, None]

    def join(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.cat([x, y], dim=1)


class _Affine(nn.Module):
    """A weight and a bias for each filter."""

    def __init__(self, filters: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.empty(filters)), nn.Parameter(torch.empty(filters))

    def forward(self, x_BFHW: Tensor) -> Tensor:
        y_BFHW: Tensor = x_BFHW * self.weight[:, None, None] + self.bias[:, None, None]
        return y_BFHW


class _ConvNorm(nn.Module):
    """A convolution without bias that keeps height and width, and its batch normalisation."""

    def __init__(self, filters_out: int, filters_in: int, kernel: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(filters_in, filters_out, kernel, padding=kernel // 2, bias=False)
        self.norm: nn.Module = nn.BatchNorm2d(filters_out, eps=NORM_EPSILON)
        # Torch's count of batches is only used without a momentum; None removes it from the weights.
        self.norm.num_batches_tracked = None

    def forward(self, x_BFHW: Tensor) -> Tensor:
        y_BFHW: Tensor = self.norm(self.conv(x_BFHW))
        return y_BFHW
