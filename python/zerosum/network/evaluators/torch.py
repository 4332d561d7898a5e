"""A network run by PyTorch, on GPUs or any other device. Torch is imported when an evaluator is made.

Planes travel to the device packed, as bits, and are expanded there; of the logits only the legal ones come back.
`torch_graph.py` is the network; `cuda_lane.py` is the way to a GPU and back.

A GPU has two networks of an evaluator at most: one that evaluates, and one that gets the weights of the next
checkpoint. Their graphs are captured once, beside evaluations.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from zerosum.base.settings import require_known
from zerosum.network import Checkpoint
from zerosum.network.evaluators.batch_limit import BatchLimit, is_out_of_memory, whole
from zerosum.network.evaluators.device import torch_devices
from zerosum.network.evaluators.evaluator import CPU_FULL_BATCH, Evaluations, NetworkEvaluator
from zerosum.network.evaluators.faults import device_faults

if TYPE_CHECKING:
    import torch

    from zerosum._core import Leaves
    from zerosum.network.evaluators.cuda_lane import Lane

PRECISIONS = ("auto", "f32", "bf16", "f16")
SET_UP = "setting up the network"
"""What a device may fail during besides evaluations."""
_FULL_BATCHES = {"cuda": 1024, "mps": 128}
"""`full_batch` of GPUs: an H100 has 0.9 of its best rate with 20x256 in chess at 1,024; Apple's is a guess."""


class TorchEvaluator(NetworkEvaluator):
    """A network on one or several devices. Each has a copy of it; leaves go to the least busy one.

    If the memory of a device does not suffice for a batch, later batches are smaller (`BatchLimit`).
    """

    def __init__(self, checkpoint: Checkpoint, *, device: str = "auto", precision: str = "auto") -> None:
        """`device` is a name for `device.torch_devices`; `precision` is "auto", "f32", "bf16" or "f16".

        "auto" is bf16 on CUDA devices that support it, f16 on older ones with tensor cores, and else f32.

        Raises:
            SettingsError: the device cannot be used, or the precision is unknown.
            RunError: the device failed, or has no memory for the network.
        """
        require_known("precision of the torch backend", precision, PRECISIONS)
        self._devices = torch_devices(device)
        self._precision = _fast_precision(self._devices) if precision == "auto" else precision
        self._lock = threading.Lock()
        self._update_turn = threading.Lock()
        self._cpu_turn = threading.Lock()
        with device_faults(self._device_names, work=SET_UP):
            self._networks = [_DeviceNetwork(checkpoint, each, self._precision) for each in self._devices]
        self._spare: list[_DeviceNetwork] = []
        """The networks before these, which get the weights of the next ones."""
        self._limit = BatchLimit(self._device_names, most=self._networks[0].most)

    @property
    @override
    def description(self) -> str:
        return f"PyTorch, {self._device_names}, {self._precision}"

    @property
    @override
    def full_batch(self) -> int:
        return _FULL_BATCHES.get(self._devices[0].type, CPU_FULL_BATCH)

    @override
    def batch_sizes(self, most: int) -> list[int]:
        """The sizes of CUDA graphs; other devices take all sizes."""
        if all(device.type == "cuda" for device in self._devices):
            from zerosum.network.evaluators.cuda_lane import padded_size

            return sorted({padded_size(size) for size in range(1, most + 1)})
        return [most]

    @property
    def _device_names(self) -> str:
        return " and ".join(map(str, self._devices))

    @override
    def update(self, checkpoint: Checkpoint, *, planes_BCHW: NDArray[np.float32] | None = None) -> None:
        """No precision here is measured on positions.

        Raises:
            RunError: the device failed, or has no memory for another network.
        """
        with self._update_turn, device_faults(self._device_names, work=SET_UP):
            networks = [self._next_network(checkpoint, place, device) for place, device in enumerate(self._devices)]
            for old, new in zip(self._networks, networks, strict=True):
                new.make_ready_like(old)
            with self._lock:
                self._networks, self._spare = networks, self._networks

    def _next_network(self, checkpoint: Checkpoint, place: int, device: torch.device) -> _DeviceNetwork:
        """The spare network of a device with these weights, or a new one if it has none of this shape."""
        spare = self._spare[place] if self._spare else None
        if spare is None or not spare.network.fits(checkpoint.info):
            return _DeviceNetwork(checkpoint, device, self._precision)
        while spare.num_running:  # evaluations that began before the last update
            time.sleep(0.001)
        spare.network.load(checkpoint)
        return spare

    @override
    def evaluate(self, leaves: Leaves) -> Evaluations:
        """Raises RunError if the device failed."""
        with self._least_busy() as network, self._turn(), device_faults(self._device_names, work="an evaluation"):
            offsets = leaves.legal_offsets
            parts = self._limit.in_parts(
                len(leaves), lambda start, stop: network.run(leaves, start, stop, int(offsets[stop] - offsets[start]))
            )
        logits, values, *wdl = whole(parts)
        return Evaluations(leaves, logits, values, wdl[0] if wdl else None)

    @contextmanager
    def _least_busy(self) -> Iterator[_DeviceNetwork]:
        with self._lock:
            network = min(self._networks, key=lambda network: network.num_running)
            network.num_running += 1
        try:
            yield network
        finally:
            with self._lock:
                network.num_running -= 1

    def _turn(self) -> Any:
        """A context in which calls take turns if torch uses several cores of the CPU for one call."""
        import torch

        takes_turns = self._devices[0].type == "cpu" and torch.get_num_threads() > 1
        return self._cpu_turn if takes_turns else nullcontext()


class _DeviceNetwork:
    """One checkpoint's network on a device, with the lanes of a GPU. Threads may share it."""

    def __init__(self, checkpoint: Checkpoint, device: torch.device, precision: str) -> None:
        import torch

        from zerosum.network.evaluators.torch_graph import Network

        dtype = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[precision]
        self.network = Network(checkpoint, device, dtype)
        self.num_running = 0
        """Evaluations under way."""
        self._free_lanes: list[Lane] = []  # its append and pop are atomic
        self._lanes: list[Lane] = []

    @property
    def most(self) -> int:
        """The largest number of positions whose logits have places of 32 bits."""
        return (2**31 - 1) // self.network.row_width

    def make_ready_like(self, old: _DeviceNetwork) -> None:
        """Capture graphs for the same threads and batch sizes, as far as memory permits beside the old ones."""
        old_lanes = list(old._lanes)
        while len(self._lanes) < len(old_lanes):
            self._free_lanes.append(self._new_lane())
        try:
            for lane, old_lane in zip(list(self._lanes), old_lanes, strict=False):
                for size in old_lane.sizes:
                    lane.capture(size)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise

    def run(self, leaves: Leaves, start: int, stop: int, num_legal: int) -> list[NDArray[np.float32]]:
        """Logits of the legal actions [sum L], values [B] and, if known, win, draw and loss [B, 3], all on the CPU."""
        import torch

        with torch.inference_mode():
            run = self._run_in_lane if self.network.device.type == "cuda" else self._run_at_once
            answer = run(leaves, start, stop, num_legal)
        outputs = [answer[:num_legal], answer[num_legal : num_legal + stop - start]]
        if self.network.has_wdl:
            outputs.append(answer[num_legal + stop - start :].reshape(-1, 3))
        return outputs

    def _run_at_once(self, leaves: Leaves, start: int, stop: int, num_legal: int) -> NDArray[np.float32]:
        import torch

        network, size = self.network, stop - start
        packed_shape, num_numbers = network.plane_bits.packed_shape, network.plane_bits.num_numbers
        bits, numbers = np.empty((size, *packed_shape), np.uint8), np.empty((size, num_numbers), np.float32)
        places = np.empty(num_legal, np.int32)
        leaves.write_input(
            start,
            stop,
            bits=bits.ravel(),
            numbers=numbers.ravel(),
            places=places,
            place_of_action=network.place_of_action,
            row_width=network.row_width,
        )
        packed_BPN, numbers_BK, on_device = (
            torch.from_numpy(array).to(network.device) for array in (bits, numbers, places)
        )
        output = network.forward(packed_BPN, numbers_BK, network.new_planes(size))
        answer: NDArray[np.float32] = output.answer(on_device, size).cpu().numpy()
        return answer

    def _run_in_lane(self, leaves: Leaves, start: int, stop: int, num_legal: int) -> NDArray[np.float32]:
        try:
            lane = self._free_lanes.pop()
        except IndexError:
            lane = self._new_lane()
        try:
            answer = lane.run(leaves, start, stop, num_legal)
        except BaseException:
            self._lanes.remove(lane)  # frees its memory
            raise
        self._free_lanes.append(lane)
        return answer

    def _new_lane(self) -> Lane:
        from zerosum.network.evaluators.cuda_lane import Lane

        lane = Lane(self.network)
        self._lanes.append(lane)
        return lane


def _fast_precision(devices: tuple[torch.device, ...]) -> str:
    """The fastest precision that all of the devices support."""
    import torch

    if any(device.type != "cuda" for device in devices):
        return "f32"

    def has_bf16(device: torch.device) -> bool:
        with torch.cuda.device(device):
            return bool(torch.cuda.is_bf16_supported(including_emulation=False))

    if all(map(has_bf16, devices)):
        return "bf16"
    # Tensor cores began with 7.0 (Volta).
    return "f16" if all(torch.cuda.get_device_capability(device) >= (7, 0) for device in devices) else "f32"
