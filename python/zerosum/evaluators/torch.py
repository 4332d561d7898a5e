"""A network run by PyTorch, on GPUs or any other device. Torch is imported when an evaluator is made.

Planes travel to the device packed, as bits, and are expanded there; of the logits only the legal ones come back.

On CUDA each call has a `_Lane` of its own: a stream, so that what one thread evaluates overlaps with what another
copies; host memory that the device reads and writes by itself; and the network captured as a CUDA graph for each size
of batch, because starting some hundred small kernels one by one takes longer than they run. No lock is held while a
device works, and who waits for one does not keep the interpreter from others.

Shape suffixes: B positions, C planes (P of bits, K of one number each, N bytes a plane of bits), A actions, V value
logits.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from zerosum.base.arrays import places
from zerosum.base.settings import require_known
from zerosum.evaluators.batch_limit import BatchLimit, is_out_of_memory, whole
from zerosum.evaluators.device import torch_devices
from zerosum.evaluators.evaluator import CPU_FULL_BATCH, Evaluations, NetworkEvaluator, evaluations_of
from zerosum.network import Checkpoint
from zerosum.network.plane_bits import PlaneBits

if TYPE_CHECKING:
    import torch

    from zerosum._core import Leaves
    from zerosum.network.residual_tower import NetworkOutput

PRECISIONS = ("auto", "f32", "bf16", "f16")
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
        """
        require_known("precision of the torch backend", precision, PRECISIONS)
        self._devices = torch_devices(device)
        self._precision = _fast_precision(self._devices) if precision == "auto" else precision
        self._limit = BatchLimit(self._device_names)
        self._in_flight = [0] * len(self._devices)
        self._lock = threading.Lock()
        self._cpu_turn = threading.Lock()
        self._networks: list[_TorchNetwork] = []
        self.update(checkpoint)

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
            return sorted({padded_size(size) for size in range(1, most + 1)})
        return [most]

    @property
    def _device_names(self) -> str:
        return " and ".join(map(str, self._devices))

    @override
    def update(self, checkpoint: Checkpoint, *, planes_BCHW: NDArray[np.float32] | None = None) -> None:
        """No precision here is measured on positions."""
        networks = [_TorchNetwork(checkpoint, device, self._precision) for device in self._devices]
        for old, new in zip(self._networks, networks, strict=False):
            new.make_ready_like(old)
        self._networks = networks

    @override
    def evaluate(self, leaves: Leaves) -> Evaluations:
        batch = _Batch.of(leaves)
        with self._least_busy() as network, self._turn():
            parts = self._limit.in_parts(len(leaves), lambda start, stop: network.run(batch.part(start, stop)))
        return evaluations_of(leaves, *whole(parts))

    @contextmanager
    def _least_busy(self) -> Iterator[_TorchNetwork]:
        with self._lock:
            place = self._in_flight.index(min(self._in_flight))
            self._in_flight[place] += 1
        try:
            yield self._networks[place]
        finally:
            with self._lock:
                self._in_flight[place] -= 1

    def _turn(self) -> Any:
        """A context in which calls take turns if torch uses several cores of the CPU for one call."""
        import torch

        takes_turns = self._devices[0].type == "cpu" and torch.get_num_threads() > 1
        return self._cpu_turn if takes_turns else nullcontext()


@dataclass(frozen=True)
class _Batch:
    """The input that is sent to a device."""

    packed: NDArray[np.uint8]
    """[B, P, N], planes of bits."""
    numbers: NDArray[np.float32]
    """[B, K], the numbers of constant planes."""
    offsets: NDArray[np.int64]
    legal_actions: NDArray[np.uint16]

    @classmethod
    def of(cls, leaves: Leaves) -> _Batch:
        return cls(leaves.packed_planes, leaves.constant_planes, leaves.legal_offsets, leaves.legal_actions)

    def __len__(self) -> int:
        return len(self.packed)

    def part(self, start: int, stop: int) -> _Batch:
        first, last = self.offsets[start], self.offsets[stop]
        return _Batch(
            self.packed[start:stop],
            self.numbers[start:stop],
            self.offsets[start : stop + 1] - first,
            self.legal_actions[first:last],
        )

    def legal_indices(self, num_actions: int) -> NDArray[np.int64]:
        """[sum L], the indices of the legal actions' logits among B * A."""
        return places(self.legal_actions, self.offsets, width=num_actions)


class _TorchNetwork:
    """One checkpoint's network on a device. It never changes, so threads may share it."""

    def __init__(self, checkpoint: Checkpoint, device: torch.device, precision: str) -> None:
        import torch

        from zerosum.network.residual_tower import ResidualTower

        info = checkpoint.info
        self.device = device
        self.dtype = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[precision]
        self.tower = ResidualTower(info.network, info.shape, checkpoint.weights)
        self.tower.fold_norms()
        self.tower.requires_grad_(False)
        self.tower.to(device=device, dtype=self.dtype, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.shape = info.shape
        # Widths of the heads besides the policy.
        self.other_widths = [head.width for head in info.network.search_heads if isinstance(head.width, int)]
        is_constant_C = np.array([is_constant for _, is_constant in info.planes], np.bool_)
        self.plane_bits = PlaneBits(is_constant_C, info.board_shape, device)
        if device.type == "cuda":
            torch.cuda.synchronize(device)  # the weights must be complete before other streams read them
        self._free_lanes: list[_Lane] = []  # its append and pop are atomic
        self._lanes: list[_Lane] = []

    def make_ready_like(self, old: _TorchNetwork) -> None:
        """Capture graphs for the same threads and batch sizes, as far as memory permits beside the old ones."""
        for old_lane in list(old._lanes):
            lane = self._new_lane()
            try:
                for size in old_lane.sizes:
                    lane.capture(size)
            except RuntimeError as error:
                if not is_out_of_memory(error):
                    raise
            self._free_lanes.append(lane)

    def run(self, batch: _Batch) -> list[NDArray[np.float32]]:
        """Logits of the legal actions [sum L] and of the other heads [B, V] and [B, 1], all on the CPU."""
        import torch

        with torch.inference_mode():
            answer = self._run_in_lane(batch) if self.device.type == "cuda" else self._run_at_once(batch)
        sizes = [len(batch.legal_actions), *(len(batch) * width for width in self.other_widths)]
        legal_logits, *others = np.split(answer, np.cumsum(sizes)[:-1])
        return [legal_logits, *(o.reshape(-1, width) for o, width in zip(others, self.other_widths, strict=True))]

    def _run_at_once(self, batch: _Batch) -> NDArray[np.float32]:
        import torch

        arrays = (batch.packed, batch.numbers, batch.legal_indices(self.shape.num_actions))
        packed_BPN, numbers_BK, legal = (torch.tensor(array, device=self.device) for array in arrays)
        output = self.forward(packed_BPN, numbers_BK)
        answer: NDArray[np.float32] = joined(output, legal, len(batch)).cpu().numpy()
        return answer

    def _run_in_lane(self, batch: _Batch) -> NDArray[np.float32]:
        try:
            lane = self._free_lanes.pop()
        except IndexError:
            lane = self._new_lane()
        try:
            answer = lane.run(batch)
        except BaseException:
            self._lanes.remove(lane)  # frees its memory
            raise
        self._free_lanes.append(lane)
        return answer

    def _new_lane(self) -> _Lane:
        lane = _Lane(self)
        self._lanes.append(lane)
        return lane

    def forward(self, packed_BPN: torch.Tensor, numbers_BK: torch.Tensor) -> NetworkOutput:
        """The network's output for bits and numbers on the device (their layout: `Leaves`)."""
        output: NetworkOutput = self.tower(self.plane_bits.expand(packed_BPN, numbers_BK, self.dtype))
        return output


def joined(output: NetworkOutput, legal: torch.Tensor, size: int) -> torch.Tensor:
    """Logits of the legal actions, then of each other head, of the first `size` positions, float32.

    They are one array, because each copy from a GPU waits for it.
    """
    import torch

    legal_logits = output.policy_logits_BA.flatten()[legal]
    others = [logits[:size].flatten() for name, logits in output.logits.items() if name != "policy"]
    return torch.cat([legal_logits, *others]).float()


class _Lane:
    """The stream, buffers and graphs of one call at a time on a CUDA device."""

    def __init__(self, network: _TorchNetwork) -> None:
        import torch

        self._network = network
        self._stream = torch.cuda.Stream(network.device)  # type: ignore[no-untyped-call]
        # Blocking: waiting threads sleep instead of spinning.
        self._done = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
        self._captured: dict[int, _Captured] = {}
        self._indices = _HostMemory(torch.int64)
        self._answer = _HostMemory(torch.float32)

    @property
    def sizes(self) -> list[int]:
        """The captured batch sizes."""
        return list(self._captured)

    def capture(self, size: int) -> _Captured:
        """The network captured for batches of this size, now if necessary."""
        import torch

        if size not in self._captured:
            with torch.cuda.device(self._network.device), torch.inference_mode():
                self._captured[size] = _Captured(self._network, size, self._stream)
        return self._captured[size]

    def run(self, batch: _Batch) -> NDArray[np.float32]:
        """As `joined`, on the CPU."""
        import torch

        network, size = self._network, len(batch)
        if size == 0:
            return np.zeros(0, np.float32)
        captured = self.capture(padded_size(size))
        legal_indices = batch.legal_indices(network.shape.num_actions)
        host_indices = self._indices.of(len(legal_indices))
        host_indices.numpy()[:] = legal_indices
        captured.host_packed_BPN.numpy()[:size] = batch.packed  # further rows keep old data and are not read
        captured.host_numbers_BK.numpy()[:size] = batch.numbers
        host_answer = self._answer.of(len(legal_indices) + size * sum(network.other_widths))
        with torch.cuda.stream(self._stream):
            captured.packed_BPN.copy_(captured.host_packed_BPN, non_blocking=True)
            captured.numbers_BK.copy_(captured.host_numbers_BK, non_blocking=True)
            legal = host_indices.to(network.device, non_blocking=True)
            captured.graph.replay()
            host_answer.copy_(joined(captured.output, legal, size), non_blocking=True)
            self._done.record(self._stream)
        self._done.synchronize()
        return host_answer.numpy().copy()


class _HostMemory:
    """Page-locked memory for an array of changing size."""

    def __init__(self, dtype: torch.dtype) -> None:
        import torch

        self._whole = torch.empty(0, dtype=dtype)

    def of(self, size: int) -> torch.Tensor:
        """[size], uninitialised."""
        if len(self._whole) < size:
            self._whole = _page_locked(2 * size, dtype=self._whole.dtype)
        return self._whole[:size]


def _page_locked(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    import torch

    return torch.empty(shape, dtype=dtype, pin_memory=True)


class _Captured:
    """A network's run on batches of one size, recorded once, with fixed places of input and output."""

    _one_at_a_time = threading.Lock()  # captures exclude each other

    def __init__(self, network: _TorchNetwork, size: int, stream: torch.cuda.Stream) -> None:
        import torch

        packed_shape = (size, *network.plane_bits.packed_shape)
        numbers_shape = (size, network.plane_bits.num_numbers)
        self.host_packed_BPN = _page_locked(*packed_shape, dtype=torch.uint8).zero_()
        self.host_numbers_BK = _page_locked(*numbers_shape, dtype=torch.float32).zero_()
        self.graph = torch.cuda.CUDAGraph()
        # The graph keeps the algorithms that were fastest just before the capture; f32 is float32, not TF32.
        algorithms = torch.backends.cudnn.flags(
            enabled=True,
            benchmark=not torch.are_deterministic_algorithms_enabled(),
            deterministic=torch.are_deterministic_algorithms_enabled(),
            allow_tf32=False,
        )
        with self._one_at_a_time, algorithms, torch.cuda.stream(stream):
            self.packed_BPN = torch.zeros(packed_shape, dtype=torch.uint8, device=network.device)
            self.numbers_BK = torch.zeros(numbers_shape, device=network.device)
            for _ in range(2):
                network.forward(self.packed_BPN, self.numbers_BK)
            stream.synchronize()
            # Other threads continue meanwhile on their own streams.
            with torch.cuda.graph(self.graph, stream=stream, capture_error_mode="thread_local"):
                self.output = network.forward(self.packed_BPN, self.numbers_BK)


def padded_size(size: int) -> int:
    """The size of batch that is recorded for `size` positions, at least 1: the next power of 2, or 3/4 of it.

    This makes few captures, of at most one and a half times the size.

    >>> [padded_size(size) for size in (1, 3, 5, 65, 96, 97, 512)]
    [1, 3, 6, 96, 96, 128, 512]
    """
    power = 1 << (size - 1).bit_length()
    return power * 3 // 4 if size <= power * 3 // 4 else power


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
