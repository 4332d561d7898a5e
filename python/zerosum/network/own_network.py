"""A network of one's own: a torch module of the user's file in the place of the residual tower.

Its file is a program. It runs only if the user has named it on this machine (`zerosum.games.permission`). Imports
torch, so it is imported only where a tensor is needed. Shape suffixes as in `residual_tower.py`.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from zerosum.base.errors import GameError, SettingsError, command_text
from zerosum.games.permission import allow_program, is_allowed
from zerosum.games.python_game import made
from zerosum.network.config import NetworkConfig, NetworkShape, own_module, shapes_text
from zerosum.network.muzero_module import MuZeroModule
from zerosum.network.residual_tower import NetworkOutput, ResidualTower
from zerosum.network.updatable_module import UpdatableModule
from zerosum.network.weights import Weights


class OwnNetwork(nn.Module):
    """The module of a setting `network.module` with the interface of a `ResidualTower`."""

    def __init__(self, config: NetworkConfig, shape: NetworkShape, weights: Weights | None) -> None:
        """Make the module with these weights; None leaves those that it begins with.

        Raises:
            SettingsError: the file is not allowed or missing, is not such a module, or has other weights than these.
        """
        super().__init__()
        self._heads = config.heads
        self._widths = {head.name: shape.num_logits(head) for head in config.heads}
        self._name = config.module
        self.module = _module(config, shape)
        if weights is not None:
            self.load_weights(weights)

    def forward(self, x_BCHW: Tensor) -> NetworkOutput:
        """Evaluate planes [B, C, H, W]; checks the names and shapes of the answer."""
        logits = self.module(x_BCHW)
        found = {name: list(tensor.shape) for name, tensor in logits.items()} if isinstance(logits, dict) else {}
        expected = {name: [len(x_BCHW), width] for name, width in self._widths.items()}
        if found != expected:
            raise SettingsError(
                f"{self._name} answers {found or type(logits).__name__}, expected a dictionary of logits {expected}."
            )
        return NetworkOutput(logits)

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """A float32 copy of its parameters and buffers, on the CPU. Whole numbers are not weights."""
        return {name: np.array(tensor.detach().float().cpu().numpy()) for name, tensor in self._own().items()}

    def load_weights(self, weights: Weights) -> None:
        """Replace every weight.

        Raises:
            SettingsError: the module has weights of other names or shapes.
        """
        own = self._own()
        expected = {name: tuple(tensor.shape) for name, tensor in own.items()}
        given = {name: array.shape for name, array in weights.items()}
        if expected != given:
            names = sorted(name for name in expected.keys() | given.keys() if expected.get(name) != given.get(name))
            raise SettingsError(
                f"{self._name} has other weights than the checkpoint ({', '.join(names[:3])}): the class has changed"
                " since. Restore it, or start a new run."
            )
        with torch.no_grad():
            for name, tensor in own.items():
                tensor.copy_(torch.tensor(weights[name]))

    def _own(self) -> dict[str, Tensor]:
        return {name: tensor for name, tensor in self.state_dict().items() if tensor.is_floating_point()}


def network_module(
    config: NetworkConfig, shape: NetworkShape, weights: Weights
) -> ResidualTower | OwnNetwork | UpdatableModule | MuZeroModule:
    """The network in PyTorch: the residual tower, a network of another kind, or the module of the setting."""
    if config.kind == "updatable":
        return UpdatableModule(config, shape, weights)
    if config.kind == "muzero":
        return MuZeroModule(config, shape, weights)
    return OwnNetwork(config, shape, weights) if config.module else ResidualTower(config, shape, weights)


def own_weights(config: NetworkConfig, shape: NetworkShape, *, seed: int) -> dict[str, NDArray[np.float32]]:
    """The weights that a module begins with, a function of the seed if it draws from torch's generator."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed % (1 << 63))
        return OwnNetwork(config, shape, None).weights()


def as_named(config: NetworkConfig, shape: NetworkShape) -> NetworkConfig:
    """The settings of a new run whose module the user has named: its absolute path, and the weights' names and shapes.

    The program may run from now on.

    Raises:
        SettingsError: as `OwnNetwork`, or the module does not answer with the logits of all heads.
    """
    file, name = own_module(config)
    allow_program(file)
    config = dataclasses.replace(config, module=f"{file}:{name}")
    network = OwnNetwork(config, shape, None)
    network.eval()
    with torch.inference_mode():
        network(torch.zeros(2, shape.num_planes, shape.height, shape.width))
    return dataclasses.replace(
        config, module_weights=shapes_text({name: array.shape for name, array in network.weights().items()})
    )


def _module(config: NetworkConfig, shape: NetworkShape) -> nn.Module:
    file, name = own_module(config)
    if not is_allowed(file):
        raise SettingsError(
            f"the network is {config.module}, a program that you have not allowed to run on this machine. Run only"
            f" programs that you trust: `{command_text('trust', 'RUN')}` allows what a run names."
        )
    arguments: dict[str, Any] = {
        "num_planes": shape.num_planes,
        "board_shape": (shape.height, shape.width),
        "num_logits": {head.name: shape.num_logits(head) for head in config.heads},
    }
    try:
        module = made(file, name, **arguments)
    except GameError as error:
        raise SettingsError(f"network.module {config.module}: {error}") from error
    if not isinstance(module, nn.Module):
        raise SettingsError(f"network.module {config.module} is a {type(module).__name__}, expected a torch.nn.Module.")
    return module.float()
