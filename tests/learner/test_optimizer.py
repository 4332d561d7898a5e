"""The optimisers on the CPU against torch's own classes."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import nn

from zerosum.learner.optimizer import CpuAdam, CpuOptimizer, CpuSgd


def new_network() -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Conv2d(4, 2, 3), nn.Conv2d(9, 1, 1))
    return network.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def groups_of(network: nn.Module) -> list[dict[str, Any]]:
    parameters = list(network.parameters())
    return [
        {"params": [tensor for tensor in parameters if tensor.ndim > 1], "weight_decay": 0.01},
        {"params": [tensor for tensor in parameters if tensor.ndim <= 1], "weight_decay": 0.0},
    ]


def learn(network: nn.Module, optimizer: CpuOptimizer | torch.optim.Optimizer) -> list[torch.Tensor]:
    """Twenty steps with a rising rate; the last layer has no gradient. Returns weights and states."""
    generator = torch.Generator().manual_seed(1)
    for step in range(20):
        for group in optimizer.param_groups:
            group["lr"] = 0.01 * (step + 1)
        optimizer.zero_grad(set_to_none=True)
        network[:3](torch.randn(4, 3, 6, 6, generator=generator)).square().mean().backward()  # type: ignore[index]
        optimizer.step()
    state = [optimizer.state.get(parameter, {}) for parameter in network.parameters()]
    return [*network.state_dict().values(), *(value for one in state for value in one.values() if value is not None)]


@pytest.mark.parametrize("name", ["adam", "adamw", "sgd", "sgd without momentum"])
def test_steps_are_torchs_bit_for_bit(name: str) -> None:
    one, other = new_network(), new_network()
    momentum = 0.9 if name == "sgd" else 0.0
    ours = {
        "adam": lambda groups: CpuAdam(groups, is_decoupled=False),
        "adamw": lambda groups: CpuAdam(groups, is_decoupled=True),
    }.get(name, lambda groups: CpuSgd(groups, momentum=momentum))
    theirs = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}.get(
        name, lambda groups: torch.optim.SGD(groups, momentum=momentum)
    )
    found, expected = learn(one, ours(groups_of(one))), learn(other, theirs(groups_of(other)))
    assert len(found) == len(expected)
    assert all(torch.equal(left, right) for left, right in zip(found, expected, strict=True))


PROGRAM = """
import sys
from zerosum.games import make
from zerosum.learner import Learner, LearnerConfig
from zerosum.network import NetworkConfig, NetworkShape, initial_weights

network, shape = NetworkConfig(num_blocks=1, num_filters=4), NetworkShape.of(make("tictactoe").spec)
Learner(LearnerConfig(), network, shape, initial_weights(network, shape, seed=0), device="cpu")
print(sorted({"sympy", "torch._dynamo", "torch._inductor"} & sys.modules.keys()))
"""


def test_a_learner_on_the_cpu_starts_without_torchs_compiler() -> None:
    """It takes as long to import as all else."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stdout + done.stderr
