"""The efficiently updatable network in PyTorch, for training.

Shape suffixes: B positions, C planes, H height, W width, S squares.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from zerosum.network.config import NetworkConfig, NetworkShape
from zerosum.network.piece_planes import PiecePlanes, seen_by_opponent
from zerosum.network.residual_tower import NetworkOutput
from zerosum.network.updatable import LARGEST_OUTPUT_WEIGHT, lines_of
from zerosum.network.weights import Weights, updatable_shapes


class UpdatableModule(nn.Module):
    """The network with the interface of a `ResidualTower`. Its only head is the value, a scalar."""

    line_squares: Tensor
    digit_values: Tensor
    first_contents: Tensor
    is_counted: Tensor

    def __init__(self, config: NetworkConfig, shape: NetworkShape, weights: Weights) -> None:
        super().__init__()
        planes = PiecePlanes.of(shape.planes)
        squares, numbers = planes.channels
        self._own = [squares[kind.own] for kind in planes.kinds]
        self._opponent = [squares[kind.opponent] for kind in planes.kinds]
        self._own_numbers = [numbers[kind.own] for kind in planes.numbers]
        self._opponent_numbers = [numbers[kind.opponent] for kind in planes.numbers]
        self._divisors = planes.divisors
        self._back = np.argsort(seen_by_opponent(config.opponent_view, (shape.height, shape.width))).tolist()
        sizes = updatable_shapes(config, shape)
        self.input = nn.Linear(sizes["input.weight"][1], sizes["input.weight"][0])
        self.kinds = nn.Linear(sizes["kinds.weight"][1], sizes["kinds.weight"][0], bias=False)
        self.output = nn.Linear(sizes["output.weight"][1], 1)
        self.lines = None
        if (lines := lines_of(config, (shape.height, shape.width))) is not None:
            self.lines = nn.Linear(lines.num_features, sizes["input.weight"][0], bias=False)
            is_counted = np.arange(lines.num_features) % lines.num_contents > 0
            for name, array in {
                "line_squares": lines.squares,
                "digit_values": 3 ** np.arange(lines.length),
                "first_contents": lines.num_contents * lines.tables,
                "is_counted": is_counted.astype(np.float32),
            }.items():
                self.register_buffer(name, torch.from_numpy(array), persistent=False)
        self.load_weights(weights)

    def forward(self, x_BCHW: Tensor) -> NetworkOutput:
        """Evaluate planes [B, C, H, W]. The value is the tanh of its logit [B, 1]."""
        x_BCS = x_BCHW.flatten(2)
        own, opponent = x_BCS[:, self._own], x_BCS[:, self._opponent]
        numbers = [self._steps(x_BCS, places) for places in (self._own_numbers, self._opponent_numbers)]
        mine = torch.cat([own.flatten(1), *numbers[0], opponent.flatten(1), *numbers[1]], dim=1)
        back = [pieces[:, :, self._back].flatten(1) for pieces in (opponent, own)]
        theirs = torch.cat([back[0], *numbers[1], back[1], *numbers[0]], dim=1)
        counts = [pieces.sum(dim=2) for pieces in (own, opponent)]
        sums = [
            self.input(seen) + self.kinds(torch.cat(kinds, dim=1))
            for seen, kinds in ((mine, counts), (theirs, counts[::-1]))
        ]
        if self.lines is not None:
            seen_BS = [(own[:, 0], opponent[:, 0]), (opponent[:, 0, self._back], own[:, 0, self._back])]
            sums = [total + self.lines(self._contents(*sides)) for total, sides in zip(sums, seen_BS, strict=True)]
        activations = torch.cat([total.clamp(0, 1).square() for total in sums], dim=1)
        weight = self.output.weight.clamp(-LARGEST_OUTPUT_WEIGHT, LARGEST_OUTPUT_WEIGHT)
        return NetworkOutput({"value": nn.functional.linear(activations, weight, self.output.bias)})

    def _contents(self, own_BS: Tensor, opponent_BS: Tensor) -> Tensor:
        """How many lines have each content [B, contents], as `BoardLines.counts`."""
        digits_BS = (own_BS + 2 * opponent_BS).long()
        contents = (digits_BS[:, self.line_squares] * self.digit_values).sum(-1) + self.first_contents
        counts = own_BS.new_zeros(own_BS.shape[0], len(self.is_counted))  # an exporter follows shapes, not len()
        return counts.scatter_add(1, contents, torch.ones_like(contents, dtype=counts.dtype)) * self.is_counted

    def _steps(self, x_BCS: Tensor, places: list[int]) -> list[Tensor]:
        """For each number, its steps [B, divisor]: 1 from the first to the number."""
        steps = []
        for place, divisor in zip(places, self._divisors, strict=True):
            counts_B = (x_BCS[:, place, 0] * divisor).round()
            steps.append((counts_B[:, None] >= torch.arange(1, divisor + 1, device=counts_B.device)).float())
        return steps

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """A float32 copy of the weights, on the CPU, as checkpoints hold them."""
        return {name: np.array(tensor.detach().float().cpu().numpy()) for name, tensor in self.state_dict().items()}

    def load_weights(self, weights: Weights) -> None:
        """Replace every weight."""
        with torch.no_grad():
            for name, tensor in self.state_dict().items():
                tensor.copy_(torch.tensor(weights[name]))
