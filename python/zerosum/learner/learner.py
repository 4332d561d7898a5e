"""The learner: from batches of positions to better weights, step by step.

It does not depend on games, disks or self-play. `Learner.step` takes a `Batch`; self-play uses `Learner.weights`. The
state of training is saved and restored as plain arrays.

On a CUDA device steps have a stream of their own with a higher priority than self-play's: there are only as many steps
as recorded positions allow, and self-play gets all other time of the device. The first steps are made kernel by kernel,
then one is captured and repeated (`captured_step.py`).

Suffixes: B samples, C planes of H x W squares, A actions, V value logits (3 for win, draw and loss), M measures.
"""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import SettingsError
from zerosum.learner.captured_step import CapturedStep, Record, record_on
from zerosum.learner.config import LearnerConfig, batch_targets, learning_rate
from zerosum.learner.importance import importance_weights
from zerosum.learner.inputs import InputSender, StepInputs
from zerosum.learner.report import DeviceMeans, StepReport
from zerosum.learner.state import NUM_STEPS
from zerosum.learner.unroll import measure_names, unrolled_loss
from zerosum.network import NetworkConfig, NetworkShape
from zerosum.network.evaluators.batch_limit import is_out_of_memory
from zerosum.network.evaluators.device import torch_device
from zerosum.network.heads import POLICY, Head
from zerosum.replay import Batch

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from zerosum.learner.optimizer import CpuOptimizer

STEPS_BEFORE_CAPTURE = 3
"""Steps that are made before one is captured: they allocate the optimiser's state and choose algorithms."""
STEPS_IN_FLIGHT = 2
"""Steps that a CUDA device may have before it, so that it never waits for the next one."""
STEP_PRIORITY = -1
"""Priority of the stream of steps on a CUDA device; self-play's streams have 0, and a lower number comes first."""


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

        from zerosum.network.own_network import network_module

        self.config, self.network, self.step_number, self._heads = config, network, 0, network.heads
        self._targets = batch_targets(config, network)
        self._device = torch_device(device)
        if self._device.type == "cpu":
            torch.set_num_threads(config.num_threads)
        self._network = network_module(network, shape, weights)
        self._network.to(self._device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._autocast = _autocast(config.precision, self._device)
        self._num_parts = num_parts
        self._forward: Any = self._network if num_parts == 1 else _data_parallel(self._network)
        self._sender = InputSender(self._device, self._targets, masks_illegal=config.mask_illegal)
        self._optimizer = self._make_optimizer()
        self.rows_per_sample = 1
        """Rows of a batch for a sample: its position, and the ones over which a network is unrolled."""
        self._measures = [f"{head.name}_loss" for head in self._heads]
        self._measures += [name for head in self._heads for name in head.measures]
        if network.kind == "muzero":
            self.rows_per_sample, self._measures = config.unroll_steps + 1, measure_names(self._heads)
        self._num_slices = 1  # of a batch for which the memory does not suffice
        self._stream: Any = None
        self._record: Record | None = None
        self._captured: CapturedStep | None = None
        self._num_uncaptured = 0
        self._in_flight: deque[DeviceMeans] = deque()
        if self.is_on_gpu and num_parts == 1:
            # The weights must be complete before another stream reads them.
            torch.cuda.current_stream(self._device).synchronize()
            self._stream = torch.cuda.Stream(self._device, priority=STEP_PRIORITY)  # type: ignore[no-untyped-call]
            if not torch.are_deterministic_algorithms_enabled():
                self._record = record_on(self._stream)

    @property
    def targets(self) -> frozenset[str]:
        """The targets that a batch needs for the losses of all heads."""
        return self._targets

    @property
    def is_on_gpu(self) -> bool:
        """Whether steps leave the CPU to others: then batches should be made beside them."""
        return self._device.type == "cuda"

    @property
    def num_first_steps(self) -> int:
        """Steps after which others are as quick as all that follow: they allocate buffers, and one is captured."""
        return STEPS_BEFORE_CAPTURE + 1 if self._record is not None else 1

    def prepare(self, batch: Batch) -> StepInputs:
        """What `step` takes of a batch. Other threads may call this beside a step."""
        return self._sender.send(batch)

    def step(self, batch: Batch | StepInputs, *, progress: float) -> StepReport:
        """Learn from one batch, or from this process's part of it, at `progress` in [0, 1] through the run's budget.

        If the memory of the device does not suffice for the batch, the gradient is added up over equal slices of this
        batch and of later ones, in each of which the norms take their statistics, with a RuntimeWarning.

        Raises:
            SettingsError: the memory does not suffice for a slice of one position.
        """
        rate = learning_rate(self.config, step=self.step_number, progress=progress)
        with self._on_stream():
            inputs = batch if isinstance(batch, StepInputs) else self.prepare(batch)
            inputs.take()
            self._set_rate(rate)
            means_M = self._make_step(inputs)
            self.step_number += 1
            return StepReport(rate, self._on_the_way(means_M))

    def _on_stream(self) -> Any:
        """A context of the stream of steps."""
        import torch

        return contextlib.nullcontext() if self._stream is None else torch.cuda.stream(self._stream)

    def _finish(self) -> None:
        """Wait until the device has made all steps."""
        if self._stream is not None:
            self._stream.synchronize()

    def _make_step(self, inputs: StepInputs) -> Tensor:
        """Change the weights. Returns the measures [M]."""
        if self._captured is None and self._record is not None and self._num_uncaptured >= STEPS_BEFORE_CAPTURE:
            self._capture(inputs, self._record)
        if self._captured is not None and self._captured.fits(inputs):
            return self._captured.run(inputs)
        self._num_uncaptured += 1
        means_M = self._gradient_in_slices(inputs)
        self._follow_gradient()
        return means_M

    def _capture(self, inputs: StepInputs, record: Record) -> None:
        """Capture a step for such inputs. If that fails, steps are made kernel by kernel as before."""

        def step(captured: StepInputs) -> Tensor:
            means_M = self._gradient(captured)
            self._follow_gradient()
            return means_M

        try:
            self._captured = CapturedStep(step, inputs, record)
        except (MemoryError, RuntimeError) as error:
            reason = str(error).splitlines()[0].rstrip(".")
        else:
            return
        self._record = None
        self._optimizer.zero_grad(set_to_none=True)
        self._empty_cache()
        warnings.warn(
            f"A learner step cannot be captured as a CUDA graph on {self._device} ({reason}): steps are slower.",
            RuntimeWarning,
            stacklevel=2,
        )

    def _empty_cache(self) -> None:
        """Give memory that nothing uses back to the device."""
        import torch

        if self._device.type == "cuda":
            torch.cuda.empty_cache()

    def _gradient_in_slices(self, inputs: StepInputs) -> Tensor:
        """As `_gradient`, in more slices if the memory does not suffice."""
        while True:
            try:
                return self._gradient(inputs)
            except (MemoryError, RuntimeError) as error:
                if self._num_parts > 1 or not is_out_of_memory(error):
                    raise
            # Here the error has let go of the tensors.
            self._slice_more(len(inputs) // self.rows_per_sample)

    def _slice_more(self, size: int) -> None:
        self._optimizer.zero_grad(set_to_none=True)
        self._empty_cache()
        if self._num_slices >= size:
            raise SettingsError(
                f"The memory of {self._device} does not suffice to learn from one position: use a smaller network,"
                " another device, or end other programs on it."
            )
        self._num_slices = min(2 * self._num_slices, size)
        warnings.warn(
            f"The memory of {self._device} does not suffice to learn from {size} positions at once: each batch is"
            f" learned from in {self._num_slices} slices. Set learner.batch_size to a smaller number, or use a smaller"
            " network.",
            RuntimeWarning,
            stacklevel=2,
        )

    def _gradient(self, inputs: StepInputs) -> Tensor:
        """Set the gradients of all weights. Returns the measures [M], means over the batch."""
        import torch

        self._optimizer.zero_grad(set_to_none=True)
        self._network.train()
        size = len(inputs) // self.rows_per_sample
        if self._num_slices == 1:
            means_M = self._backward(inputs, share=1.0)
        else:
            bounds = [size * number // self._num_slices for number in range(self._num_slices + 1)]
            slices = [(start, stop, (stop - start) / size) for start, stop in itertools.pairwise(bounds)]
            rows = self.rows_per_sample
            means = [
                share * self._backward(inputs.part(rows * start, rows * stop), share=share)
                for start, stop, share in slices
            ]
            means_M = torch.stack(means).sum(dim=0)
        if self._num_parts > 1:
            torch.distributed.all_reduce(means_M)
            means_M /= self._num_parts
        return means_M

    def _backward(self, inputs: StepInputs, *, share: float) -> Tensor:
        """Add a share of the mean gradient of these samples. Returns their measures [M]."""
        import torch

        from zerosum.network.muzero_module import MuZeroModule

        if isinstance(self._network, MuZeroModule):
            with self._autocast():
                loss_B, measures = unrolled_loss(
                    self._network,
                    inputs,
                    self._heads,
                    {head.name: self._weight(head) for head in self._heads},
                    num_steps=self.rows_per_sample - 1,
                    later_weight=self.config.later_weight,
                    consistency_weight=self.config.consistency_weight,
                )
        else:
            loss_B, measures = self._loss(inputs)
        loss = loss_B.mean() if share == 1 else share * loss_B.mean()
        loss.backward()  # type: ignore[no-untyped-call]
        with torch.no_grad():
            # One tensor, because each copy from a GPU waits for it.
            return torch.stack([measure_B.mean() for measure_B in measures])

    def _loss(self, inputs: StepInputs) -> tuple[Tensor, list[Tensor]]:
        """The loss [B], and the measures [B], of positions without their next ones."""
        import torch

        targets = inputs.targets
        with self._autocast():
            output = self._forward(inputs.planes)
        logits = {head.name: output.logits[head.name].float() for head in self._heads}
        losses = {head.name: head.loss(logits[head.name], targets) for head in self._heads}
        weighted = losses
        if (limit := self.config.importance_limit) is not None:
            weights_B = importance_weights(logits[POLICY.name], targets, limit=limit, num_parts=self._num_parts)
            # The other heads learn what came of the game.
            weighted = {name: loss_B if name == POLICY.name else weights_B * loss_B for name, loss_B in losses.items()}
        loss_B = torch.stack([self._weight(head) * weighted[head.name] for head in self._heads]).sum(dim=0)
        with torch.no_grad():
            measures = list(losses.values())
            for head in self._heads:
                measures += [of(logits[head.name], targets) for of in head.measures.values()]
        return loss_B, measures

    def _follow_gradient(self) -> None:
        self._limit_gradient()
        self._optimizer.step()

    def _on_the_way(self, means_M: Tensor) -> Mapping[str, float]:
        """The measures of a step. A GPU gets at most `STEPS_IN_FLIGHT` steps before it; else this waits."""
        if not self.is_on_gpu:
            return dict(zip(self._measures, means_M.tolist(), strict=True))
        self._in_flight.append(DeviceMeans(self._measures, means_M))
        if len(self._in_flight) > STEPS_IN_FLIGHT:
            self._in_flight.popleft().wait()
        return self._in_flight[-1]

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
        """A copy of the weights."""
        self._finish()
        return self._network.weights()

    def state(self) -> dict[str, NDArray[Any]]:
        """The optimiser's state by parameter. With `weights` and `step_number` it is the whole state of training."""
        self._finish()
        state: dict[str, NDArray[Any]] = {}
        for name, parameter in self._network.named_parameters():
            for key, value in self._optimizer.state.get(parameter, {}).items():
                if value is not None:
                    state[f"{name}/{key}"] = np.array(value.detach().float().cpu().numpy())
        return state

    def load_state(self, state: dict[str, NDArray[Any]], *, step_number: int) -> None:
        """Continue from a `state`, with the weights that the learner was made with."""
        import torch

        self._finish()
        self._captured, self._num_uncaptured = None, 0  # it has the addresses of another state
        parameters = dict(self._network.named_parameters())
        for path, value in state.items():
            name, key = path.rsplit("/", 1)
            parameter = parameters[name]
            if key == NUM_STEPS:
                # One number, where torch's optimisers have it; a file has it as an array of one.
                counter = torch.from_numpy(np.array(value).reshape(()))
                self._optimizer.state[parameter][key] = counter.to(self._device) if self.is_on_gpu else counter
            else:
                # In the weight's own layout, which a fused optimiser requires.
                moment = torch.empty_like(parameter, memory_format=torch.preserve_format)
                self._optimizer.state[parameter][key] = moment.copy_(torch.from_numpy(np.array(value)))
        if self.config.optimizer == "sgd" and self.config.momentum and self.is_on_gpu and state:
            self._begin_momentum()
        if self.is_on_gpu:
            # The state must be complete before another stream reads it.
            torch.cuda.current_stream(self._device).synchronize()
        self.step_number = step_number

    def _begin_momentum(self) -> None:
        """Give weights without a momentum, those of a new block, one of 0: the fused SGD takes all or none."""
        import torch

        for parameter in self._network.parameters():
            if self._optimizer.state[parameter].get("momentum_buffer") is None:
                self._optimizer.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)

    def _set_rate(self, rate: float) -> None:
        for group in self._optimizer.param_groups:
            if self.is_on_gpu:
                group["lr"].fill_(rate)  # a captured step reads it there
            else:
                group["lr"] = rate

    def _make_optimizer(self) -> torch.optim.Optimizer | CpuOptimizer:
        import torch

        from zerosum.learner.optimizer import CpuAdam, CpuSgd

        parameters, config = list(self._network.parameters()), self.config
        # A bias or a norm's scale (one dimension) does not decay by AdamW: its size does not measure complexity.
        groups: list[dict[str, Any]] = [
            {"params": [tensor for tensor in parameters if tensor.ndim > 1], "weight_decay": config.weight_decay},
            {"params": [tensor for tensor in parameters if tensor.ndim <= 1], "weight_decay": 0.0},
        ]
        if config.optimizer != "adamw":
            # `_limit_gradient` adds the decay of Adam.
            decay = config.weight_decay if config.optimizer == "sgd" else 0.0
            groups = [{"params": parameters, "weight_decay": decay}]
        if not self.is_on_gpu:
            if config.optimizer == "sgd":
                return CpuSgd(groups, momentum=config.momentum)
            return CpuAdam(groups, is_decoupled=config.optimizer == "adamw")
        # One kernel for many weights, and the learning rate and the counters on the device, as a captured step needs.
        on_gpu: dict[str, Any] = {"fused": True, "lr": torch.tensor(0.0, device=self._device)}
        if config.optimizer == "sgd":
            return torch.optim.SGD(groups, momentum=config.momentum, **on_gpu)
        kind = torch.optim.Adam if config.optimizer == "adam" else torch.optim.AdamW
        return kind(groups, capturable=True, **on_gpu)


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
