"""The way of a batch to a CUDA device and back: a stream, host memory that the device reads, and captured graphs.

Starting some hundred small kernels one by one takes longer than they run, so the network is captured as a CUDA graph
for each size of batch. A lane serves one call at a time. What one lane evaluates overlaps with what another copies; no
lock is held while a device works, and who waits for one does not keep the interpreter from others.

Imports torch. Shape suffixes: `torch_graph.py`.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from zerosum.network.evaluators.capturing import CAPTURING
from zerosum.network.evaluators.torch_graph import Network, Output

if TYPE_CHECKING:
    from zerosum._core import Leaves


class Lane:
    """The stream, buffers and graphs of one call at a time on a CUDA device."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._stream = torch.cuda.Stream(network.device)  # type: ignore[no-untyped-call]
        # Blocking: waiting threads sleep instead of spinning.
        self._done = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
        self._captured: dict[int, _Captured] = {}
        self._places = _HostMemory(torch.int32)
        self._answer = _HostMemory(torch.float32)

    @property
    def sizes(self) -> list[int]:
        """The captured batch sizes."""
        return list(self._captured)

    def capture(self, size: int) -> _Captured:
        """The network captured for batches of this size, now if necessary."""
        if size not in self._captured:
            with torch.cuda.device(self._network.device), torch.inference_mode():
                self._captured[size] = _Captured(self._network, size, self._stream)
        return self._captured[size]

    def run(self, leaves: Leaves, start: int, stop: int, num_legal: int) -> NDArray[np.float32]:
        """As `Output.answer`, on the CPU, for the positions start to stop, which have `num_legal` legal actions."""
        network, size = self._network, stop - start
        if size == 0:
            return np.zeros(0, np.float32)
        captured = self.capture(padded_size(size))
        host_places = self._places.of(num_legal)
        leaves.write_input(  # further rows keep old data and are not read
            start,
            stop,
            bits=captured.host_bits,
            numbers=captured.host_numbers,
            places=host_places.numpy(),
            place_of_action=network.place_of_action,
            row_width=network.row_width,
        )
        with torch.cuda.stream(self._stream):
            captured.input.copy_(captured.host_input, non_blocking=True)
            places = host_places.to(network.device, non_blocking=True)
            captured.graph.replay()
            answer = captured.output.answer(places, size)
            host_answer = self._answer.of(len(answer))
            host_answer.copy_(answer, non_blocking=True)
            self._done.record(self._stream)
        self._done.synchronize()
        return host_answer.numpy().copy()


class _HostMemory:
    """Page-locked memory for an array of changing size."""

    def __init__(self, dtype: torch.dtype) -> None:
        self._whole = torch.empty(0, dtype=dtype)

    def of(self, size: int) -> torch.Tensor:
        """[size], uninitialised."""
        if len(self._whole) < size:
            self._whole = page_locked(2 * size, dtype=self._whole.dtype)
        return self._whole[:size]


def page_locked(size: int, *, dtype: torch.dtype) -> torch.Tensor:
    """[size], uninitialised memory of the host that a device reads and writes by itself."""
    return torch.empty(size, dtype=dtype, pin_memory=True)


class _Captured:
    """A network's run on batches of one size, recorded once, with fixed places of input and output."""

    output: Output

    def __init__(self, network: Network, size: int, stream: torch.cuda.Stream) -> None:
        plane_bits = network.plane_bits
        num_bits, num_numbers = size * int(np.prod(plane_bits.packed_shape)), size * plane_bits.num_numbers
        numbers_at = -(-num_bits // 16) * 16  # as the numbers' alignment asks
        self.host_input = page_locked(numbers_at + 4 * num_numbers, dtype=torch.uint8).zero_()
        """Bits and numbers, which travel together."""
        self.host_bits: NDArray[np.uint8] = self.host_input.numpy()[:num_bits]
        self.host_numbers: NDArray[np.float32] = self.host_input.numpy()[numbers_at:].view(np.float32)
        self.graph = torch.cuda.CUDAGraph()
        # The graph keeps the algorithms that were fastest just before the capture; f32 is float32, not TF32.
        algorithms = torch.backends.cudnn.flags(
            enabled=True,
            benchmark=not torch.are_deterministic_algorithms_enabled(),
            benchmark_limit=0,  # all of them: the default of ten misses the fastest for 6x96
            deterministic=torch.are_deterministic_algorithms_enabled(),
            allow_tf32=False,
        )
        with CAPTURING, algorithms, torch.cuda.stream(stream):
            self.input = torch.zeros(len(self.host_input), dtype=torch.uint8, device=network.device)
            packed_BPN = self.input[:num_bits].view(size, *plane_bits.packed_shape)
            numbers_BK = self.input[numbers_at:].view(torch.float32).view(size, plane_bits.num_numbers)
            self._planes_BSC = planes_BSC = network.new_planes(size)
            for _ in range(2):
                network.forward(packed_BPN, numbers_BK, planes_BSC)
            stream.synchronize()
            # Not `torch.cuda.graph`, which waits for the whole device and empties its cache: self-play goes on on
            # other streams meanwhile.
            self.graph.capture_begin(capture_error_mode="thread_local")
            try:
                self.output = network.forward(packed_BPN, numbers_BK, planes_BSC)
            except BaseException:
                with contextlib.suppress(RuntimeError):  # the capture's own complaint would hide the reason
                    self.graph.capture_end()
                raise
            self.graph.capture_end()


def padded_size(size: int) -> int:
    """The size of batch that is recorded for `size` positions, at least 1: the next power of 2, or 3/4 of it.

    This makes few captures, of at most one and a half times the size.

    >>> [padded_size(size) for size in (1, 3, 5, 65, 96, 97, 512)]
    [1, 3, 6, 96, 96, 128, 512]
    """
    power = 1 << (size - 1).bit_length()
    return power * 3 // 4 if size <= power * 3 // 4 else power
