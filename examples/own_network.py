"""Learn with a PyTorch network of your own in place of the residual tower.

    python examples/own_network.py

The module is named by its file, so the training is the same as by the command line:
`zerosum train connect4 --set 'network.module=examples/own_network.py:Mixer(units=32)'` (docs/own-network.md).
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

import zerosum


class Mixer(nn.Module):
    """Layers that mix the squares of the board in turn with layers that mix the features of a square.

    Tolstikhin et al. 2021, arXiv 2105.01601.
    """

    def __init__(
        self,
        num_planes: int,
        board_shape: tuple[int, int],
        num_logits: Mapping[str, int],
        units: int = 32,
        num_layers: int = 2,
    ) -> None:
        super().__init__()
        squares = board_shape[0] * board_shape[1]
        self.begin = nn.Linear(num_planes, units)
        self.of_squares = nn.ModuleList(nn.Linear(squares, squares) for _ in range(num_layers))
        self.of_features = nn.ModuleList(nn.Linear(units, units) for _ in range(num_layers))
        self.heads = nn.ModuleDict({name: nn.Linear(units * squares, width) for name, width in num_logits.items()})

    def forward(self, planes: Tensor) -> dict[str, Tensor]:
        """Planes [B, num_planes, rows, columns] to the logits of each head [B, width], for the player to move."""
        x = self.begin(planes.flatten(2).transpose(1, 2))  # [B, squares, units]
        for of_squares, of_features in zip(self.of_squares, self.of_features, strict=True):
            x = x + torch.relu(of_squares(x.transpose(1, 2))).transpose(1, 2)
            x = x + torch.relu(of_features(x))
        return {name: head(x.flatten(1)) for name, head in self.heads.items()}


def learn(game: str, minutes: float, run: str) -> zerosum.Player:
    """Train in the directory `run`, and return the player of its newest network."""
    zerosum.train(game, run, minutes=minutes, settings={"network.module": f"{__file__}:Mixer(units=32)"})
    return zerosum.load(run)


if __name__ == "__main__":
    print(learn("connect4", 5.0, "runs/example-mixer").analyse("4 4 3", num_simulations=400))
