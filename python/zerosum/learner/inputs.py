"""A batch on the learner's device: it is sent there packed and expanded there, which may be beside a step.

Suffixes: B samples, C planes of H x W squares (P of bits, K of one number each, N bytes a plane of bits), A actions.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from zerosum.network.heads import POLICY
from zerosum.network.plane_bits import PlaneBits
from zerosum.replay import Batch

if TYPE_CHECKING:
    import torch
    from torch import Tensor

LEGAL = "legal"
"""The name of the mask of legal actions among the targets."""


@dataclass(frozen=True, eq=False)
class StepInputs:
    """What one step reads."""

    planes: Tensor
    """[B, C, H, W], float32, channels last."""
    targets: dict[str, Tensor]
    """As `heads.Targets`."""
    ready: Any = None
    """The event of the CUDA stream that makes them; None if they are complete."""

    def __len__(self) -> int:
        """Number of positions (B)."""
        return len(self.planes)

    def tensors(self) -> dict[str, Tensor]:
        """All tensors by name."""
        return {"planes": self.planes, **self.targets}

    def part(self, start: int, stop: int) -> StepInputs:
        """The samples from `start` to `stop`."""
        targets = {name: target[start:stop] for name, target in self.targets.items()}
        return StepInputs(self.planes[start:stop], targets, self.ready)

    def take(self) -> None:
        """Make the current CUDA stream wait for them, and keep their memory for it."""
        import torch

        if self.ready is not None:
            stream = torch.cuda.current_stream(self.planes.device)
            stream.wait_event(self.ready)
            for tensor in self.tensors().values():
                tensor.record_stream(stream)


class InputSender:
    """Makes the inputs of batches. Threads may share it; on CUDA it has a stream of its own."""

    def __init__(self, device: torch.device, targets: frozenset[str], *, masks_illegal: bool) -> None:
        """`targets` are the names of those that the losses read; `masks_illegal` adds the legal actions."""
        import torch

        self._device, self._targets, self._masks_illegal = device, targets, masks_illegal
        self._lock = threading.Lock()
        self._plane_bits: PlaneBits | None = None  # made by the first batch, which describes the game's planes
        is_cuda = device.type == "cuda"
        self._stream = torch.cuda.Stream(device) if is_cuda else None  # type: ignore[no-untyped-call]

    def send(self, batch: Batch) -> StepInputs:
        """A batch on the device. A GPU makes it beside the steps, after this has returned."""
        import torch

        if self._stream is None:
            return StepInputs(self._planes(batch), self._batch_targets(batch))
        with torch.cuda.stream(self._stream):
            planes_BCHW, targets = self._planes(batch), self._batch_targets(batch)
            return StepInputs(planes_BCHW, targets, self._stream.record_event())

    def _planes(self, batch: Batch) -> Tensor:
        import torch

        with self._lock:
            if self._plane_bits is None:
                self._plane_bits = PlaneBits(batch.is_constant, batch.board_shape, self._device)
        packed_BPN, numbers_BK = self._sent(batch.packed_planes), self._sent(batch.constant_planes)
        return self._plane_bits.expand(packed_BPN, numbers_BK, torch.float32)

    def _batch_targets(self, batch: Batch) -> dict[str, Tensor]:
        """The targets on the device, with those for each action expanded to [B, A]."""
        import torch

        # In one order, so that batches have the same tensors.
        targets = {name: self._sent(batch.targets[name]) for name in sorted(self._targets - {POLICY.name})}
        if POLICY.name not in self._targets:
            return targets
        shape = (len(batch), batch.num_actions)
        policy_BA = torch.zeros(shape, device=self._device)
        policy_BA.view(-1)[self._sent(batch.policy_indices())] = self._sent(batch.policies.probabilities).float()
        targets[POLICY.name] = policy_BA
        if self._masks_illegal:
            legal_BA = torch.zeros(shape, dtype=torch.bool, device=self._device)
            legal_BA.view(-1)[self._sent(batch.legal_indices())] = True
            targets[LEGAL] = legal_BA
        return targets

    def _sent(self, array: NDArray[Any]) -> Tensor:
        """An array on the device. From page-locked memory a GPU fetches it while this thread goes on."""
        import torch

        tensor = torch.tensor(array)
        if self._device.type == "cuda":
            tensor = tensor.pin_memory()
        return tensor.to(self._device, non_blocking=True)
