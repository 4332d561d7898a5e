"""A network run by OpenVINO on the CPU, without torch. OpenVINO is imported when an evaluator is made.

Shape suffixes: B positions, C planes, H height, W width, A actions, V value logits.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from zerosum.base.errors import SettingsError
from zerosum.base.settings import require_known
from zerosum.games.random_play import random_leaves
from zerosum.network import Checkpoint, CheckpointInfo
from zerosum.network.evaluators.batch_limit import BatchLimit, whole
from zerosum.network.evaluators.evaluator import CPU_FULL_BATCH, Evaluations, NetworkEvaluator, evaluations_of
from zerosum.network.katago_config import KatagoConfig
from zerosum.network.lc0_config import Lc0Config

if TYPE_CHECKING:
    import openvino

    from zerosum._core import Leaves

_CAPABILITIES = {"f32": "FP32", "bf16": "BF16", "int8": "INT8"}
"""OpenVINO's names of the precisions."""
PRECISIONS = ("auto", *_CAPABILITIES)

NUM_POSITIONS = 256
"""Positions of random play on which a network in int8 is measured, if no others are given."""


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


def fast_precision(info: CheckpointInfo) -> str:
    """The precision "fast" on this CPU: "int8" for the program's games if the CPU has bf16 and int8, else "auto".

    It is "f32" for networks of KataGo: their trunks are sums of all blocks without norms, which bf16 rounds coarsely.
    """
    if isinstance(info.network, KatagoConfig):
        return "f32"
    is_fast = {"BF16", "INT8"} <= cpu_capabilities() and info.core_game() is not None
    return "int8" if is_fast and has_int8(info) else "auto"


def has_int8(info: CheckpointInfo) -> bool:
    """Whether a network can compute in int8: its blocks' inputs must not be negative, as after a ReLU.

    KataGo's networks, and Lc0's with attention or Mish, cannot.
    """
    network = info.network
    is_other = isinstance(network, Lc0Config) and network.trainable() is None
    return not is_other and not isinstance(network, KatagoConfig)


class OpenVinoEvaluator(NetworkEvaluator):
    """An evaluator for up to `num_streams` threads at once, with a core each.

    A compiled network takes a fixed number of positions and costs the same for fewer. There is one for `batch_size`
    and, compiled when first needed, one for a quarter of it, a sixteenth and so on. Leaves go to the smallest that
    holds them; more than `batch_size` leaves are evaluated in several runs. Each calling thread has its own requests
    and input buffers. A new network is compiled in the thread that calls `update`, on one core and without the
    interpreter lock, for all sizes that the old one was used with, so that evaluating threads never wait.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        *,
        num_streams: int = 1,
        batch_size: int,
        precision: str = "auto",
        planes_BCHW: NDArray[np.float32] | None = None,
    ) -> None:
        """`precision` is "auto" (bf16 if the CPU supports it, else f32), "f32", "bf16" or "int8".

        With int8 the blocks compute in 8-bit integers, and the rest as with "auto" (`openvino_graph.py`). The range of
        their inputs is measured on `planes_BCHW`, typical positions, or else on positions of random play.

        Raises:
            SettingsError: OpenVINO is not installed, a number is below 1, the precision is unknown or not supported by
                the CPU, or int8 has no positions of a user's game.
        """
        require_known("precision of the openvino backend", precision, PRECISIONS)
        for name, value in {"num_streams": num_streams, "batch_size": batch_size}.items():
            if value < 1:
                raise SettingsError(f"{name} is {value}, but must be at least 1.")
        if importlib.util.find_spec("openvino") is None:
            raise SettingsError("OpenVINO is not installed: 'pip install openvino', or use the torch backend.")
        self._core, capabilities = openvino_core(), cpu_capabilities()
        if precision != "auto" and _CAPABILITIES[precision] not in capabilities:
            raise SettingsError(f"precision is {precision!r}, which this CPU does not support: use 'auto' or 'f32'.")
        if precision == "int8" and not has_int8(checkpoint.info):
            raise SettingsError(
                "precision is 'int8', which networks of KataGo, and of Lc0 with attention or Mish, do not have: use"
                " 'f32' or 'bf16'."
            )
        fast = "bf16" if "BF16" in capabilities else "f32"
        self._precision = fast if precision == "auto" else precision
        self._int8_planes_BCHW = None
        if precision == "int8":
            self._int8_planes_BCHW = _random_planes(checkpoint.info) if planes_BCHW is None else planes_BCHW
        self._limit = BatchLimit("this machine", most=batch_size)
        self._options = {
            "NUM_STREAMS": num_streams,
            "INFERENCE_NUM_THREADS": num_streams,
            # With pinning, several models or processes would all use the first core.
            "ENABLE_CPU_PINNING": False,
            "INFERENCE_PRECISION_HINT": fast if precision == "int8" else self._precision,
        }
        self._of_thread = threading.local()
        self._compiled = self._compile(checkpoint, set())

    @property
    @override
    def description(self) -> str:
        return f"OpenVINO, CPU, {self._precision}"

    @override
    def update(self, checkpoint: Checkpoint, *, planes_BCHW: NDArray[np.float32] | None = None) -> None:
        if self._int8_planes_BCHW is not None and planes_BCHW is not None:
            self._int8_planes_BCHW = planes_BCHW[:NUM_POSITIONS].copy()
        self._compiled = self._compile(checkpoint, self._compiled.asked_for)

    @property
    @override
    def full_batch(self) -> int:
        return CPU_FULL_BATCH

    @override
    def batch_sizes(self, most: int) -> list[int]:
        return self._compiled.sizes_up_to(most)

    def _compile(self, checkpoint: Checkpoint, sizes: set[int]) -> _CompiledSizes:
        from zerosum.network.evaluators.openvino_graph import build_graph, largest_inputs

        network = (checkpoint.info.network, checkpoint.info.shape, checkpoint.weights)
        int8 = None if self._int8_planes_BCHW is None else largest_inputs(*network, self._int8_planes_BCHW)
        # Without `self`, which would be a cycle: a dropped evaluator would wait for the garbage collector.
        core, options = self._core, self._options

        def compile_for(size: int) -> openvino.CompiledModel:
            return core.compile_model(build_graph(*network, batch_size=size, int8=int8), "CPU", options)

        return _CompiledSizes(self._limit.most, compile_for, sizes)

    @override
    def evaluate(self, leaves: Leaves) -> Evaluations:
        planes = functools.cache(leaves.planes)

        def evaluate_part(start: int, stop: int) -> list[NDArray[np.float32]]:
            request = self._request(stop - start)
            if stop - start == len(leaves):
                leaves.write_planes(request.planes_BCHW)  # further rows keep old data and are not read
                return request.infer()
            request.planes_BCHW[: stop - start] = planes()[start:stop]
            return [output[: stop - start].copy() for output in request.infer()]

        policy_logits_BA, *others = whole(self._limit.in_parts(len(leaves), evaluate_part))
        others = [logits[: len(leaves)] for logits in others]
        return evaluations_of(leaves, leaves.select_legal(policy_logits_BA), *others)

    def _request(self, size: int) -> _OpenVinoRequest:
        """The calling thread's request to the newest network. It keeps its network alive after an update."""
        compiled = self._compiled
        requests: dict[int, _OpenVinoRequest] = getattr(self._of_thread, "requests", {})
        if getattr(self._of_thread, "compiled", None) is not compiled:
            requests = {}
            self._of_thread.compiled, self._of_thread.requests = compiled, requests
        size = compiled.size_for(size)
        if size not in requests:
            requests[size] = _OpenVinoRequest(compiled.of(size))
        return requests[size]


def _random_planes(info: CheckpointInfo) -> NDArray[np.float32]:
    game = info.core_game()
    if game is None:
        raise SettingsError(
            f"precision is 'int8', which is measured on positions, and {info.full_name} is not a game of this program:"
            " give planes of positions, or use 'auto'."
        )
    return random_leaves(game, NUM_POSITIONS).planes()


class _CompiledSizes:
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
        with self._lock:
            self.asked_for.add(size)
            if size not in self._compiled:
                self._compiled[size] = self._compile_for(size)
            return self._compiled[size]


class _OpenVinoRequest:
    """One thread's request: an input buffer that OpenVINO reads in place, and the outputs."""

    def __init__(self, compiled: openvino.CompiledModel) -> None:
        self._request, self._num_outputs = compiled.create_infer_request(), len(compiled.outputs)
        self.planes_BCHW: NDArray[np.float32] = self._request.get_input_tensor().data
        self.planes_BCHW[:] = 0

    def infer(self) -> list[NDArray[np.float32]]:
        """The outputs of `build_graph`, [batch_size, ...], valid until the next call."""
        self._request.infer(share_outputs=True)
        return [self._request.get_output_tensor(index).data for index in range(self._num_outputs)]
