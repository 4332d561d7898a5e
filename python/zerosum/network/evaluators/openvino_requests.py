"""Networks compiled by OpenVINO for several batch sizes, and the requests of the threads that run them.

OpenVINO is imported by the evaluators that make these objects.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zerosum._core import has_int8_products
from zerosum.base.errors import SettingsError
from zerosum.base.settings import require_known

if TYPE_CHECKING:
    import openvino

CAPABILITIES = {"f32": "FP32", "bf16": "BF16", "int8": "INT8"}
"""OpenVINO's names of the precisions."""


@functools.cache
def openvino_core() -> openvino.Core:
    """The one OpenVINO core of this process, which is never destroyed.

    The CPU plug-in of a core replaces the alternate signal stack (sigaltstack(2)) of the thread that first uses it, and
    unmaps that stack when the core is destroyed. It takes the stack off the thread only if it is destroyed in this
    thread, and after all cores that were made later. Otherwise the thread's next signal with a handler, such as Ctrl-C,
    is delivered on unmapped memory: the process ends by SIGSEGV, and faulthandler cannot report it. Seen in OpenVINO
    2026.4; `tools/openvino_signal_stack.py` shows whether a version has the fault.
    """
    import openvino

    core = openvino.Core()
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(core))  # not even when the interpreter ends
    return core


def cpu_capabilities() -> set[str]:
    """What this CPU computes by its own instructions, in OpenVINO's words, such as "BF16" and "INT8".

    INT8 alone says little: OpenVINO names it for CPUs without instructions for it as well.
    """
    return set(openvino_core().get_property("CPU", "OPTIMIZATION_CAPABILITIES"))


def computes_int8() -> bool:
    """Whether int8 is faster than all other precisions on this CPU, which has instructions for its products.

    A CPU without bf16 has them or not: Intel's Cascade Lake and Ice Lake do.
    """
    return "INT8" in (found := cpu_capabilities()) and ("BF16" in found or has_int8_products())


def best_precision() -> str:
    """The fastest precision of this CPU that rounds no more than bf16: "bf16" or "f32"."""
    return "bf16" if "BF16" in cpu_capabilities() else "f32"


def require_openvino(precision: str, precisions: tuple[str, ...], *, num_streams: int, batch_size: int) -> None:
    """Refuse what an evaluator cannot have.

    Raises:
        SettingsError: OpenVINO is not installed, a number is below 1, or the precision is not one of `precisions` or
            not supported by this CPU.
    """
    require_known("precision of the openvino backend", precision, precisions)
    for name, value in {"num_streams": num_streams, "batch_size": batch_size}.items():
        if value < 1:
            raise SettingsError(f"{name} is {value}, but must be at least 1.")
    if importlib.util.find_spec("openvino") is None:
        raise SettingsError("OpenVINO is not installed: 'pip install openvino', or use the torch backend.")
    if precision != "auto" and CAPABILITIES[precision] not in cpu_capabilities():
        raise SettingsError(f"precision is {precision!r}, which this CPU does not support: use 'auto' or 'f32'.")


def options(num_streams: int, precision: str) -> dict[str, Any]:
    """Options of a compiled network for so many threads at once, with a core each; `precision` is "f32" or "bf16"."""
    return {
        "NUM_STREAMS": num_streams,
        "INFERENCE_NUM_THREADS": num_streams,
        # With pinning, several models or processes would all use the first core.
        "ENABLE_CPU_PINNING": False,
        "INFERENCE_PRECISION_HINT": precision,
    }


class CompiledSizes:
    """One network compiled for `largest` positions, a quarter of that and so on down to 1.

    The sizes `largest` and `at_once` are compiled now, the others when first needed.
    """

    def __init__(self, largest: int, compile_for: Callable[[int], openvino.CompiledModel], at_once: set[int]) -> None:
        self.asked_for: set[int] = set()
        self._sizes = [largest]
        while self._sizes[-1] > 1:
            self._sizes.append(max(self._sizes[-1] // 4, 1))
        self._compile_for, self._lock = compile_for, threading.Lock()
        self._compiled = {size: compile_for(size) for size in {largest} | (at_once & set(self._sizes))}

    def sizes_up_to(self, num_leaves: int) -> list[int]:
        """The sizes for batches of up to `num_leaves` leaves, ascending."""
        largest = self.size_for(min(num_leaves, self._sizes[0]))
        return [size for size in reversed(self._sizes) if size <= largest]

    def size_for(self, num_leaves: int) -> int:
        """The smallest size for `num_leaves` leaves, at most `largest`."""
        return min(size for size in self._sizes if size >= num_leaves)

    def of(self, size: int) -> openvino.CompiledModel:
        """The network for batches of this size, one of `sizes_up_to`."""
        with self._lock:
            self.asked_for.add(size)
            if size not in self._compiled:
                self._compiled[size] = self._compile_for(size)
            return self._compiled[size]


class Request:
    """One thread's request: input buffers that OpenVINO reads in place, and the outputs."""

    def __init__(self, compiled: openvino.CompiledModel) -> None:
        self._request, self._num_outputs = compiled.create_infer_request(), len(compiled.outputs)
        self.inputs: list[NDArray[Any]] = [
            self._request.get_input_tensor(index).data for index in range(len(compiled.inputs))
        ]
        for array in self.inputs:
            array[:] = 0

    def infer(self) -> list[NDArray[np.float32]]:
        """The outputs, [batch_size, ...], valid until the next call."""
        self._request.infer(share_outputs=True)
        return [self._request.get_output_tensor(index).data for index in range(self._num_outputs)]


class ThreadRequests:
    """Requests of each thread to the network that it ran last, which they keep alive after an update."""

    def __init__(self) -> None:
        self._of_thread = threading.local()

    def request(self, compiled: CompiledSizes, num_leaves: int) -> Request:
        """The calling thread's request of the smallest size for so many leaves, at most the largest."""
        requests: dict[int, Request] = getattr(self._of_thread, "requests", {})
        if getattr(self._of_thread, "compiled", None) is not compiled:
            requests = {}
            self._of_thread.compiled, self._of_thread.requests = compiled, requests
        size = compiled.size_for(num_leaves)
        if size not in requests:
            requests[size] = Request(compiled.of(size))
        return requests[size]
