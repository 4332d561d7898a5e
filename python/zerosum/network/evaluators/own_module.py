"""Evaluations by a network of one's own (`network.module`), in PyTorch and float32, on one device."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from zerosum.network import Checkpoint
from zerosum.network.evaluators.batch_limit import BatchLimit, whole
from zerosum.network.evaluators.device import torch_device
from zerosum.network.evaluators.evaluator import CPU_FULL_BATCH, Evaluations, NetworkEvaluator, evaluations_of

if TYPE_CHECKING:
    from zerosum._core import Leaves


class OwnModuleEvaluator(NetworkEvaluator):
    """Runs the user's module. Threads may share it; on a CPU they take turns if torch uses several cores a call."""

    def __init__(self, checkpoint: Checkpoint, *, device: str) -> None:
        """Raises SettingsError as `OwnNetwork`."""
        self._device = torch_device(device.partition(",")[0] if device.startswith("cuda:") else device)
        self._limit, self._turn = BatchLimit(str(self._device)), threading.Lock()
        self.update(checkpoint)

    @property
    @override
    def description(self) -> str:
        return f"PyTorch, {self._device}, f32, a network of one's own"

    @property
    @override
    def full_batch(self) -> int:
        return CPU_FULL_BATCH if self._device.type == "cpu" else 256

    @override
    def update(self, checkpoint: Checkpoint, *, planes_BCHW: NDArray[np.float32] | None = None) -> None:
        from zerosum.network.own_network import OwnNetwork

        network = OwnNetwork(checkpoint.info.network, checkpoint.info.shape, checkpoint.weights)
        network.eval()
        self._network = network.to(self._device)

    @override
    def evaluate(self, leaves: Leaves) -> Evaluations:
        import torch

        network, planes_BCHW = self._network, leaves.planes()

        def evaluate_part(start: int, stop: int) -> list[NDArray[np.float32]]:
            with torch.inference_mode(), self._turn:
                logits = network(torch.from_numpy(planes_BCHW[start:stop]).to(self._device)).logits
                return [logits[name].float().cpu().numpy() for name in ("policy", "value")]

        policy_logits_BA, value_logits_BV = whole(self._limit.in_parts(len(leaves), evaluate_part))
        return evaluations_of(leaves, leaves.select_legal(policy_logits_BA), value_logits_BV)
