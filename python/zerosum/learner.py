"""The learner: from batches of positions to better weights, step by step.

It does not depend on games, disks or self-play. `Learner.step` takes a `Batch`; self-play uses `Learner.weights`. The
state of training is saved and restored as plain arrays.

Suffixes: B samples, C planes of H x W squares, A actions, V value logits (3 for win, draw and loss).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import SettingsError
from zerosum.base.settings import check, setting
from zerosum.evaluators.device import torch_device
from zerosum.network import NetworkConfig, NetworkShape
from zerosum.network.growing import grown_weights, padded
from zerosum.network.heads import POLICY, Head
from zerosum.network.plane_bits import PlaneBits
from zerosum.network.weights import weight_shapes
from zerosum.replay import Batch

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@dataclass(frozen=True)
class LearnerConfig:
    """The settings of training. The loss is the weighted sum of the heads' losses (`network/heads.py`).

    With the paper's network it is (z - v)^2 - pi . log p. Weights decay besides.
    """

    optimizer: Literal["sgd", "adam", "adamw"] = setting("adamw", "'sgd' with momentum (the paper), 'adam' or 'adamw'")
    batch_size: int = setting(256, "positions per step (paper: 4096)", low=1, high=1 << 20)
    learning_rate: float = setting(2e-3, "highest learning rate (paper: 0.2 with SGD)", low=0.0, high=10.0)
    schedule: Literal["cosine", "steps", "constant"] = setting(
        "cosine",
        "'cosine' falls from learning_rate to final_share of it over the budget; 'steps' divides it by 10 at each of"
        " schedule_steps (the paper); 'constant' stays",
    )
    schedule_steps: tuple[int, ...] = setting(
        (100_000, 300_000, 500_000), "learner steps at which the rate falls (paper: these)"
    )
    warmup_steps: int = setting(
        100, "learner steps over which the rate rises from 0, within a fifth of the budget (paper: 0)", low=0
    )
    final_share: float = setting(
        0.02, "share of learning_rate at the end of the budget, for 'cosine'", low=0.0, high=1.0
    )
    momentum: float = setting(0.9, "momentum of SGD (paper: 0.9)", low=0.0, high=0.999)
    weight_decay: float = setting(
        1e-4,
        "factor of L2 of all weights for SGD (paper: 1e-4) and Adam; for AdamW the decoupled decay of kernels,"
        " without biases and norms",
        low=0.0,
        high=1000.0,
    )
    clip_norm: float | None = setting(
        None,
        "maximum norm of the gradient of all weights, including Adam's L2; a longer gradient is scaled down; none"
        " for no maximum",
        low=1e-9,
    )
    value_weight: float = setting(
        1.0, "weight of the value loss; the policy loss has weight 1 (paper: 1)", low=0.0, high=100.0
    )
    draw_target: Literal["value", "outcome"] = setting(
        "outcome",
        "share of draws in the target of a win/draw/loss head: 'outcome', the draws of finished games, because a"
        " search's value of 0 may be a draw or an even position, or 'value', the maximum for the value target (0.4 is"
        " 40 % win and 60 % draw); strength is the same within the error",
    )
    ownership_weight: float = setting(
        1.5,
        "weight of the ownership loss, for a network with the ownership head (KataGo: 1.5)",
        low=0.001,
        high=100.0,
    )
    mask_illegal: bool = setting(True, "leave illegal moves out of the policy's softmax (not stated in the paper)")
    samples_per_position: float = setting(
        6.0,
        "mean number of times that a recorded position is learned from; it determines the number of learner steps",
        low=0.01,
        high=1e3,
    )
    average_steps: int = setting(
        0,
        "number of steps in the exponential moving average of the weights, which plays (Polyak and Juditsky 1992, as"
        " Leela Chess Zero and KataGo do); 0 for the last weights, as in the paper",
        low=0,
        high=1 << 20,
    )
    precision: Literal["auto", "bf16", "f32"] = setting(
        "auto", "'bf16' (autocast), 'f32', or 'auto': bf16 if the device supports it"
    )

    num_devices: int = setting(
        1,
        "devices that learn together: the first of training.device, with a process and an equal part of each batch a"
        " device; on a CPU so many processes. Gradients and batch norms are those of the whole batch",
        low=1,
        high=1024,
    )
    num_threads: int = setting(
        1,
        "threads of torch on a CPU, besides those of self-play; on busy cores several threads wait for one another,"
        " which can make a step twenty times slower",
        low=1,
        high=256,
    )

    RETIRED_SETTINGS: ClassVar[Mapping[str, Any]] = {"moves_left_weight": 0.1, "reply_weight": 0.15}

    def __post_init__(self) -> None:
        check(self, "learner")
        if any(step < 1 for step in self.schedule_steps):
            raise SettingsError(f"learner.schedule_steps are {list(self.schedule_steps)}, expected steps from 1 on.")
        if self.batch_size % self.num_devices:
            raise SettingsError(
                f"learner.batch_size is {self.batch_size}, which {self.num_devices} devices (learner.num_devices)"
                f" cannot share equally: {_multiples(self.batch_size, self.num_devices)} can be."
            )


def _multiples(size: int, num_devices: int) -> str:
    """The multiples of a number of devices on both sides of a batch size.

    >>> _multiples(1000, 3), _multiples(2, 3)
    ('999 or 1002', '3')
    """
    below = size // num_devices * num_devices
    return f"{below} or {below + num_devices}" if below else f"{num_devices}"


LONGEST_WARMUP = 0.2
"""Largest share of the budget for the warm-up of the learning rate."""

LAST_WEIGHTS = "last weights"
"""Key of the last weights in the state, for checkpoints with averaged weights."""
_NUM_STEPS = "step"
"""Torch's key of the number of steps of a weight in Adam's state."""


def learning_rate(config: LearnerConfig, *, step: int, progress: float) -> float:
    """The learning rate of a step, at `progress` in [0, 1] through the run's budget.

    It rises over `warmup_steps`, at most `LONGEST_WARMUP` of the budget.

    >>> config = LearnerConfig(learning_rate=1.0, warmup_steps=0, final_share=0.0)
    >>> [round(learning_rate(config, step=0, progress=x), 2) for x in (0, 0.5, 1)]
    [1.0, 0.5, 0.0]
    """
    warmup = min(1.0, max((step + 1) / (config.warmup_steps + 1), progress / LONGEST_WARMUP))
    if config.schedule == "constant":
        share = 1.0
    elif config.schedule == "steps":
        share = 0.1 ** sum(step >= fall for fall in config.schedule_steps)
    else:
        share = config.final_share + (1 - config.final_share) * 0.5 * (1 + math.cos(math.pi * min(progress, 1.0)))
    return config.learning_rate * warmup * share


def batch_targets(config: LearnerConfig, network: NetworkConfig) -> frozenset[str]:
    """The targets that a batch needs for the losses of all heads of a network."""
    names = {name for head in network.heads for name in head.targets}
    return frozenset(names - {"draws"} if config.draw_target == "value" else names)


@dataclass(frozen=True)
class StepReport:
    """The measurements of one step, before it changed the weights."""

    learning_rate: float
    measures: dict[str, float]
    """Means over the batch: `<head>_loss` of each head without its weight, and `Head.measures`.

    `policy_loss` is a cross-entropy in nats and `policy_entropy` its lower bound; `value_loss` is (z - v)^2,
    or the cross-entropy for a win/draw/loss head, and `value_error` the mean of (z - v)^2 for both.
    """


class Learner:
    """A network in training."""

    def __init__(
        self,
        config: LearnerConfig,
        network: NetworkConfig,
        shape: NetworkShape,
        weights: dict[str, NDArray[np.float32]],
        *,
        device: str = "auto",
        num_parts: int = 1,
    ) -> None:
        """Train these weights on a device ("auto" for a GPU if there is one).

        With several parts this is one of `num_parts` processes of torch's default process group. Each makes the same
        calls, gets an equal part of every batch, and has the same weights and measures after each step.
        """
        import torch

        from zerosum.network.residual_tower import ResidualTower

        self.config, self.network, self.step_number, self._heads = config, network, 0, network.heads
        self._targets = batch_targets(config, network)
        self._device = torch_device(device)
        if self._device.type == "cpu":
            torch.set_num_threads(config.num_threads)
        self._network = ResidualTower(network, shape, weights)
        self._network.to(self._device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._autocast = _autocast(config.precision, self._device)
        self._num_parts = num_parts
        self._forward: Any = self._network if num_parts == 1 else _data_parallel(self._network)
        self._plane_bits: PlaneBits | None = None  # made by the first batch, which describes the game's planes
        self._optimizer = self._make_optimizer()
        self._average = self._tensors(weights) if config.average_steps else None

    @property
    def targets(self) -> frozenset[str]:
        """The targets that a batch needs for the losses of all heads."""
        return self._targets

    def step(self, batch: Batch, *, progress: float) -> StepReport:
        """Learn from one batch, or from this process's part of it, at `progress` in [0, 1] through the run's budget."""
        import torch

        rate = learning_rate(self.config, step=self.step_number, progress=progress)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        planes_BCHW, targets = self._planes(batch), self._batch_targets(batch)
        self._network.train()
        with self._autocast():
            output = self._forward(planes_BCHW)
        logits = {head.name: output.logits[head.name].float() for head in self._heads}
        losses = {head.name: head.loss(logits[head.name], targets) for head in self._heads}
        loss_B = torch.stack([self._weight(head) * losses[head.name] for head in self._heads]).sum(dim=0)
        self._optimizer.zero_grad(set_to_none=True)
        loss_B.mean().backward()  # type: ignore[no-untyped-call]
        self._limit_gradient()
        self._optimizer.step()
        self.step_number += 1
        self._add_to_average()
        with torch.no_grad():
            measures = {f"{name}_loss": loss_B for name, loss_B in losses.items()}
            for head in self._heads:
                measures |= {name: of(logits[head.name], targets) for name, of in head.measures.items()}
            # One tensor, because each copy from a GPU waits for it.
            means = torch.stack([measure_B.mean() for measure_B in measures.values()])
            if self._num_parts > 1:
                torch.distributed.all_reduce(means)
                means /= self._num_parts
        return StepReport(learning_rate=rate, measures=dict(zip(measures, means.tolist(), strict=True)))

    def _planes(self, batch: Batch) -> Tensor:
        """[B, C, H, W] on the device."""
        import torch

        if self._plane_bits is None:
            self._plane_bits = PlaneBits(batch.is_constant, batch.board_shape, self._device)
        packed_BPN, numbers_BK = self._sent(batch.packed_planes), self._sent(batch.constant_planes)
        return self._plane_bits.expand(packed_BPN, numbers_BK, torch.float32)

    def _batch_targets(self, batch: Batch) -> dict[str, Tensor]:
        """The targets on the device, with those for each action expanded to [B, A]."""
        import torch

        targets = {name: self._sent(batch.targets[name]) for name in self.targets - {POLICY.name}}
        shape = (len(batch), batch.num_actions)
        policy_BA = torch.zeros(shape, device=self._device)
        policy_BA.view(-1)[self._sent(batch.policy_indices())] = self._sent(batch.policies.probabilities).float()
        targets[POLICY.name] = policy_BA
        if self.config.mask_illegal:
            legal_BA = torch.zeros(shape, dtype=torch.bool, device=self._device)
            legal_BA.view(-1)[self._sent(batch.legal_indices())] = True
            targets["legal"] = legal_BA
        return targets

    def _sent(self, array: NDArray[Any]) -> Tensor:
        """An array on the device. From page-locked memory a GPU fetches it while this thread goes on."""
        import torch

        tensor = torch.tensor(array)
        if self._device.type == "cuda":
            tensor = tensor.pin_memory()
        return tensor.to(self._device, non_blocking=True)

    @property
    def cpu_s(self) -> float:
        """0, since the learner works in this process, unlike a `ParallelLearner`."""
        return 0.0

    def close(self) -> None:
        """Do nothing: a `ParallelLearner` has processes to end."""

    def _limit_gradient(self) -> None:
        """Add Adam's L2 to the gradient, and shorten it, as the settings ask."""
        import torch

        parameters, config = list(self._network.parameters()), self.config
        if config.optimizer == "adam" and config.weight_decay:
            with torch.no_grad():
                for parameter in parameters:
                    if parameter.grad is not None:
                        parameter.grad.add_(parameter, alpha=config.weight_decay)
        if config.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(parameters, config.clip_norm)

    def _weight(self, head: Head) -> float:
        return float(getattr(self.config, head.loss_weight)) if head.loss_weight else 1.0

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """A copy of the weights for playing: averaged ones if `average_steps` is above 0."""
        if self._average is None:
            return self._network.weights()
        return {name: np.array(tensor.cpu().numpy()) for name, tensor in self._average.items()}

    def state(self) -> dict[str, NDArray[Any]]:
        """The optimiser's state by parameter. With `weights` and `step_number` it is the whole state of training."""
        state: dict[str, NDArray[Any]] = {}
        for name, parameter in self._network.named_parameters():
            for key, value in self._optimizer.state.get(parameter, {}).items():
                if value is not None:
                    state[f"{name}/{key}"] = np.array(value.detach().float().cpu().numpy())
        if self._average is not None:
            state |= {f"{name}/{LAST_WEIGHTS}": weight for name, weight in self._network.weights().items()}
        return state

    def load_state(self, state: dict[str, NDArray[Any]], *, step_number: int) -> None:
        """Continue from a `state`, with the weights that the learner was made with."""
        import torch

        parameters = dict(self._network.named_parameters())
        last = {
            path.removesuffix(f"/{LAST_WEIGHTS}"): value
            for path, value in state.items()
            if path.endswith(f"/{LAST_WEIGHTS}")
        }
        if last:
            self._network.load_weights(last)
        for path, value in state.items():
            name, key = path.rsplit("/", 1)
            if key == LAST_WEIGHTS:
                continue
            # A step counter is one number on the CPU, as in torch's optimisers; a file has it as an array of one.
            is_counter = key == _NUM_STEPS
            tensor = torch.from_numpy(np.array(value).reshape(() if is_counter else value.shape))
            self._optimizer.state[parameters[name]][key] = tensor if is_counter else tensor.to(self._device)
        self.step_number = step_number

    def _tensors(self, weights: dict[str, NDArray[np.float32]]) -> dict[str, Tensor]:
        import torch

        return {name: torch.tensor(weight, device=self._device) for name, weight in weights.items()}

    def _add_to_average(self) -> None:
        """Move the average towards the weights, at first quickly, so that it forgets the initial weights."""
        import torch

        if self._average is None:
            return
        share = max(1 / (1 + self.config.average_steps), 1 / (1 + self.step_number))
        with torch.no_grad():
            state = self._network.state_dict()
            torch._foreach_lerp_(list(self._average.values()), [state[name].float() for name in self._average], share)

    def _make_optimizer(self) -> torch.optim.Optimizer:
        import torch

        parameters, config = list(self._network.parameters()), self.config
        if config.optimizer == "sgd":
            return torch.optim.SGD(parameters, lr=0.0, momentum=config.momentum, weight_decay=config.weight_decay)
        if config.optimizer == "adam":
            return torch.optim.Adam(parameters, lr=0.0)
        # A bias or a norm's scale (one dimension) does not decay: its size does not measure complexity.
        groups = [
            {"params": [tensor for tensor in parameters if tensor.ndim > 1], "weight_decay": config.weight_decay},
            {"params": [tensor for tensor in parameters if tensor.ndim <= 1], "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=0.0)


def grown_state(
    state: Mapping[str, NDArray[Any]], network: NetworkConfig, shape: NetworkShape, *, seed: int
) -> dict[str, NDArray[Any]]:
    """The `Learner.state` for the larger `network` of `grown_weights`, with the same shape and seed.

    Weights keep their moments and their number of steps; new ones have moments of 0. A new block has no state yet, as
    in a new network.
    """
    shapes = weight_shapes(network, shape)
    grown: dict[str, NDArray[Any]] = {}
    last: dict[str, NDArray[np.float32]] = {}
    for path, value in state.items():
        name, key = path.rsplit("/", 1)
        if key == LAST_WEIGHTS:
            last[name] = value
        else:
            grown[path] = value if key == _NUM_STEPS else padded(value, shapes[name])
    if last:
        weights = grown_weights(last, network, shape, seed=seed)
        grown |= {f"{name}/{LAST_WEIGHTS}": weight for name, weight in weights.items()}
    return grown


def _data_parallel(network: Any) -> Any:
    """The network's forward pass on a part of a batch, whose gradients are means over all parts."""
    from torch.nn.parallel import DistributedDataParallel

    from zerosum.network.synchronised_norm import synchronise_norms

    synchronise_norms(network)
    # Norms agree in all processes, so none has to send its running statistics.
    return DistributedDataParallel(network, broadcast_buffers=False)


def _autocast(precision: str, device: torch.device) -> Any:
    """A context for the forward pass in the given precision."""
    import torch

    if precision == "auto":
        precision = "bf16" if _has_fast_bf16(device) else "f32"
    if precision == "f32":
        return contextlib.nullcontext
    return lambda: torch.autocast(device.type, dtype=torch.bfloat16)


def _has_fast_bf16(device: torch.device) -> bool:
    import torch

    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return device.type == "cpu" and bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
