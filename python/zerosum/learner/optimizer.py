"""Torch's optimisers on the CPU, by its functions that do what its classes do.

The classes (`torch.optim.Optimizer`) import torch's compiler, which takes more than a CPU-second at every start and is
never used. On a GPU they do what a captured step needs.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import torch
from torch import Tensor
from torch.optim.adam import adam
from torch.optim.sgd import sgd


class CpuOptimizer:
    """Adam, AdamW or SGD; `state` and `param_groups` are as torch's optimisers have them."""

    def __init__(self, groups: list[dict[str, Any]]) -> None:
        """Optimise groups of parameters; each has `params`, `weight_decay` and, before a step, `lr`."""
        self.param_groups = groups
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)

    def zero_grad(self, *, set_to_none: bool) -> None:
        """Remove all gradients."""
        assert set_to_none
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Follow the gradients of the parameters that have one."""
        for group in self.param_groups:
            parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
            self._follow(group, parameters, [parameter.grad for parameter in parameters])

    def _follow(self, group: dict[str, Any], parameters: list[Tensor], gradients: list[Tensor]) -> None:
        raise NotImplementedError


class CpuAdam(CpuOptimizer):
    """Adam (arXiv:1412.6980), or AdamW (arXiv:1711.05101) where `is_decoupled`."""

    def __init__(self, groups: list[dict[str, Any]], *, is_decoupled: bool) -> None:
        super().__init__(groups)
        self._is_decoupled = is_decoupled

    def _follow(self, group: dict[str, Any], parameters: list[Tensor], gradients: list[Tensor]) -> None:
        states = [self.state[parameter] for parameter in parameters]
        for state, parameter in zip(states, parameters, strict=True):
            if not state:
                state["step"] = torch.tensor(0.0)
                state["exp_avg"] = torch.zeros_like(parameter)
                state["exp_avg_sq"] = torch.zeros_like(parameter)
        adam(
            parameters,
            gradients,
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [],
            [state["step"] for state in states],
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            eps=1e-8,
            maximize=False,
            decoupled_weight_decay=self._is_decoupled,
        )


class CpuSgd(CpuOptimizer):
    """Stochastic gradient descent with momentum."""

    def __init__(self, groups: list[dict[str, Any]], *, momentum: float) -> None:
        super().__init__(groups)
        self._momentum = momentum

    def _follow(self, group: dict[str, Any], parameters: list[Tensor], gradients: list[Tensor]) -> None:
        states = [self.state[parameter] for parameter in parameters]
        momenta = [state.get("momentum_buffer") for state in states]
        sgd(
            parameters,
            gradients,
            momenta,
            weight_decay=group["weight_decay"],
            momentum=self._momentum,
            lr=group["lr"],
            dampening=0.0,
            nesterov=False,
            maximize=False,
        )
        if self._momentum:
            for state, momentum in zip(states, momenta, strict=True):
                state["momentum_buffer"] = momentum
