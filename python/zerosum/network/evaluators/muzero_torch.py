"""A MuZero network run by torch, in float32.

Shape suffixes: B leaves, R roots among them, C planes, F filters, H height, W width, A actions, V value logits.
"""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from zerosum.network import Checkpoint
from zerosum.network.evaluators.device import torch_device
from zerosum.network.evaluators.evaluator import CPU_FULL_BATCH, Evaluations
from zerosum.network.evaluators.muzero import Inference, Logits, Memory, MuZeroEvaluator, Walk
from zerosum.network.plane_bits import PlaneBits

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from zerosum._core import Leaves
    from zerosum.network.muzero_module import MuZeroModule

_FULL_BATCH_GPU = 512
"""`full_batch` of GPUs (not measured)."""


class TorchMuZeroEvaluator(MuZeroEvaluator):
    """Runs the networks on a device of torch."""

    def __init__(self, checkpoint: Checkpoint, *, device: str = "auto") -> None:
        """Raises SettingsError if torch cannot use the device."""
        self._device = torch_device(device)
        self._turn = threading.Lock()
        super().__init__(checkpoint)

    @property
    @override
    def description(self) -> str:
        return f"PyTorch, {self._device}, f32, learned rules"

    @property
    @override
    def full_batch(self) -> int:
        return CPU_FULL_BATCH if self._device.type == "cpu" else _FULL_BATCH_GPU

    @override
    def evaluate(self, leaves: Leaves) -> Evaluations:
        import torch

        with torch.inference_mode(), self._taking_turns():
            return super().evaluate(leaves)

    @override
    def _load(self, checkpoint: Checkpoint) -> Inference:
        return _TorchInference(checkpoint, self._device)

    def _taking_turns(self) -> Any:
        """A context in which calls take turns if torch uses several cores of the CPU for one call."""
        import torch

        return self._turn if self._device.type == "cpu" and torch.get_num_threads() > 1 else nullcontext()


class _TorchInference:
    """One checkpoint's networks on a device."""

    def __init__(self, checkpoint: Checkpoint, device: torch.device) -> None:
        from zerosum.network.muzero_module import MuZeroModule

        info = checkpoint.info
        module = MuZeroModule(info.network, info.shape, checkpoint.weights)
        module.eval()
        self._module: MuZeroModule = module.to(device)
        self._device = device
        self._hidden_shape = (info.network.num_filters, *info.board_shape)
        is_constant = np.array([is_constant for _, is_constant in info.planes], np.bool_)
        self._plane_bits = PlaneBits(is_constant, info.board_shape, device)

    def evaluate(self, leaves: Leaves) -> Logits:
        return self._predict(self._represent(leaves, np.arange(len(leaves))))

    def walk(self, leaves: Leaves, walk: Walk, memory: Memory) -> Logits:
        import torch

        slab: Tensor = memory.slab_for(
            int(walk.slots.max()), lambda size: torch.empty((size, *self._hidden_shape), device=self._device)
        )
        roots, others = np.flatnonzero(walk.parents == 0), np.flatnonzero(walk.parents)
        states = []
        if len(roots):
            states.append(self._represent(leaves, walk.rows[roots]))
        if len(others):
            states.append(
                self._module.advance(slab[self._indices(walk.parents[others])], self._indices(walk.moves[others]))
            )
        hidden = torch.cat(states) if len(states) > 1 else states[0]
        order = np.concatenate([roots, others])
        slab[self._indices(walk.slots[order])] = hidden
        if len(states) > 1:
            hidden = hidden[self._indices(np.argsort(order))]
        return self._predict(hidden)

    def _represent(self, leaves: Leaves, rows: NDArray[np.int64]) -> Tensor:
        """[R, F, H, W], the hidden states of positions among the leaves."""
        import torch

        bits, numbers = leaves.packed_planes[rows], leaves.constant_planes[rows]
        planes = self._plane_bits.expand(
            torch.from_numpy(bits).to(self._device), torch.from_numpy(numbers).to(self._device), torch.float32
        )
        return self._module.represent(planes)

    def _predict(self, hidden: Tensor) -> Logits:
        logits = self._module.predict(hidden)
        return Logits(logits["policy"].cpu().numpy(), logits["value"].cpu().numpy())

    def _indices(self, numbers: NDArray[Any]) -> Tensor:
        import torch

        return torch.from_numpy(numbers.astype(np.int64)).to(self._device)
