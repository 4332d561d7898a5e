"""Who answers the search: positions in, a logit for each legal action and a value for the player to move out.

Start with `Evaluations` (what an answer is) and `Evaluator` (who gives one). Four answer: `UniformEvaluator` (no
opinion), `RolloutEvaluator` (random games), and a network run by `OpenVinoEvaluator` (CPUs) or `TorchEvaluator` (any
device), between which `make_evaluator` chooses. This file knows nothing of search or training, and imports neither
torch nor openvino before an evaluator that needs it is made.

Shape suffixes: B positions, C planes (P of bits, K of one number each), H height, W width, A actions, V value logits.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import platform
import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import InitVar, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from zerosum.checkpoint import Checkpoint
from zerosum.errors import DataError, SettingsError, nearest
from zerosum.network import MOVES_LEFT_SCALE

if TYPE_CHECKING:
    import openvino
    import torch

    from zerosum._core import Leaves, Search

BACKENDS = ("auto", "openvino", "torch")
PRECISIONS = ("auto", "f32", "bf16")


@dataclass(frozen=True)
class Evaluations:
    """Answers for the B positions of `leaves`; none exists with a wrong shape or a number that is not finite."""

    leaves: InitVar[Leaves]
    logits: NDArray[np.float32]
    """[sum L] float32, unnormalised, in the order of `leaves.legal_actions`."""
    values: NDArray[np.float32]
    """[B] float32 in [-1, 1], the expected result for the player to move."""
    wdl: NDArray[np.float32] | None = None
    """[B, 3] float32, how likely win, draw and loss are for the player to move, if the evaluator says so."""
    moves_left: NDArray[np.float32] | None = None
    """[B] float32, at least 0: plies of both sides until the game ends, if the evaluator says so."""

    def __post_init__(self, leaves: Leaves) -> None:
        """Raises ValueError for a wrong shape or dtype, and DataError naming the leaf for a number out of range."""
        size, offsets = len(leaves), leaves.legal_offsets
        _require_array("logits", self.logits, (int(offsets[-1]),))
        _require_array("values", self.values, (size,))
        if (bad := _first_false(np.isfinite(self.logits))) is not None:
            leaf = int(np.searchsorted(offsets, bad, side="right")) - 1
            raise _refusal(leaf, size, f"a logit of {self.logits[bad]} for action {leaves.legal_actions[bad]}")
        if (bad := _first_false(np.abs(self.values) <= 1)) is not None:  # NaN is not <= 1 either
            raise _refusal(bad, size, f"a value of {self.values[bad]}")
        if self.wdl is not None:
            _require_array("wdl", self.wdl, (size, 3))
            if (bad := _first_false(np.isfinite(self.wdl))) is not None:
                raise _refusal(bad // 3, size, f"win, draw and loss of {self.wdl[bad // 3].tolist()}")
        if self.moves_left is not None:
            _require_array("moves_left", self.moves_left, (size,))
            if (bad := _first_false((self.moves_left >= 0) & (self.moves_left < np.inf))) is not None:
                raise _refusal(bad, size, f"{self.moves_left[bad]} moves left")


class Evaluator(Protocol):
    """Anything that answers leaves. May be called from several threads at once."""

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """Answer all of `leaves`, in their order."""


class NetworkEvaluator(Evaluator, Protocol):
    """An evaluator that runs a network, which can be replaced while other threads are evaluating."""

    @property
    def description(self) -> str:
        """What runs the network, where, and in which precision, with ", " between them: "OpenVINO, CPU, bf16"."""

    def update(self, checkpoint: Checkpoint) -> None:
        """Go over to the network of `checkpoint`, made ready in the calling thread.

        Evaluations under way end with the network they began with.
        """


class UniformEvaluator:
    """Every action equally likely, every position even: what is known of a game before any learning."""

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """Logits and values of 0."""
        return Evaluations(leaves, _no_preference(leaves), np.zeros(len(leaves), np.float32))


class RolloutEvaluator:
    """Every action equally likely, and the mean result of uniformly random games as the value: plain Monte Carlo.

    Each call draws new games, from a generator keyed by (seed, number of the call): the same calls in the same order
    give the same values.
    """

    def __init__(self, num_rollouts: int = 1, *, seed: int = 0) -> None:
        """`num_rollouts` random games from each position, at least 1 (SettingsError); `seed` is not negative."""
        if num_rollouts < 1:
            raise SettingsError(f"num_rollouts is {num_rollouts}, allowed is at least 1.")
        self._num_rollouts = num_rollouts
        self._seed = seed
        self._calls = itertools.count()

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """Logits of 0, values from random games."""
        call_seed = int(np.random.SeedSequence((self._seed, next(self._calls))).generate_state(1, np.uint64)[0])
        values = leaves.rollout_values(self._num_rollouts, call_seed)
        return Evaluations(leaves, _no_preference(leaves), values)


class TorchEvaluator:
    """A network run by PyTorch on any device.

    Planes travel to the device packed, as bits, and are expanded there; of the logits only the legal ones come back.
    """

    def __init__(self, checkpoint: Checkpoint, *, device: str = "auto", precision: str = "auto") -> None:
        """`device` is "auto" (a GPU if there is one) or a name that torch knows; `precision` "auto", "f32" or "bf16".

        Auto takes bf16 on a CUDA device that computes in it, else f32.

        Raises:
            SettingsError: the device cannot be used, or an unknown precision.
        """
        _require_known("precision", precision, PRECISIONS)
        self._device = torch_device(device)
        self._precision = _torch_precision(self._device) if precision == "auto" else precision
        self._lock = threading.Lock()
        self.update(checkpoint)

    @property
    def description(self) -> str:
        """As `NetworkEvaluator.description`."""
        return f"PyTorch, {self._device}, {self._precision}"

    def update(self, checkpoint: Checkpoint) -> None:
        """As `NetworkEvaluator.update`."""
        self._network = _TorchNetwork(checkpoint, self._device, self._precision)

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """As `Evaluator.evaluate`."""
        import torch

        network = self._network
        # Where torch gives one call several cores, calls take turns, or else threads x cores would fight for them.
        takes_turns = self._device.type == "cpu" and torch.get_num_threads() > 1
        with self._lock if takes_turns else nullcontext():
            outputs = network.run(leaves)
        return _evaluations(leaves, *outputs)


class _TorchNetwork:
    """One checkpoint's network on a device; unchanging, so that threads may share it."""

    def __init__(self, checkpoint: Checkpoint, device: torch.device, precision: str) -> None:
        import torch

        from zerosum.residual_tower import ResidualTower

        info = checkpoint.info
        self.dtype = torch.bfloat16 if precision == "bf16" else torch.float32
        self.tower = ResidualTower(info.network, info.shape, checkpoint.weights)
        self.tower.fold_norms()
        self.tower.requires_grad_(False)
        self.tower.to(device=device, dtype=self.dtype, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.shape = info.shape
        self.bit_numbers = torch.arange(8, dtype=torch.uint8, device=device)
        is_number_C = np.array([is_constant for _, is_constant in info.planes], dtype=bool)
        self.bit_channels_P = self._to_device(np.flatnonzero(~is_number_C))
        self.number_channels_K = self._to_device(np.flatnonzero(is_number_C))

    def run(self, leaves: Leaves) -> list[NDArray[np.float32]]:
        """Logits of the legal actions [sum L] and of the other heads [B, V] and [B, 1], all on the CPU."""
        import torch

        row_starts_B = np.arange(len(leaves)) * self.shape.num_actions
        legal_indices = np.repeat(row_starts_B, np.diff(leaves.legal_offsets)) + leaves.legal_actions
        with torch.inference_mode():
            output = self.tower(self._expand(leaves))
            legal_logits = output.policy_logits_BA.flatten()[self._to_device(legal_indices)]
            others = [logits for logits in output[1:] if logits is not None]
            # One array, because each copy from a GPU waits for it.
            answer = torch.cat([legal_logits, *(logits.flatten() for logits in others)]).float().cpu().numpy()
        first, *rest = np.split(answer, np.cumsum([len(legal_indices), *(logits.numel() for logits in others)])[:-1])
        return [first, *(part.reshape(logits.shape) for part, logits in zip(rest, others, strict=True))]

    def _expand(self, leaves: Leaves) -> torch.Tensor:
        """Planes [B, C, H, W] on the device, from bits and numbers (their layout: `Leaves`)."""
        import torch

        height, width = self.shape.height, self.shape.width
        packed_BPN = self._to_device(leaves.packed_planes)
        bits_BPS = (packed_BPN.unsqueeze(-1) >> self.bit_numbers).bitwise_and_(1).flatten(2)[:, :, : height * width]
        numbers_BK = self._to_device(leaves.constant_planes)
        x_BCHW = torch.empty(
            (len(leaves), self.shape.num_planes, height, width),
            dtype=self.dtype,
            device=packed_BPN.device,
            memory_format=torch.channels_last,
        )
        x_BCHW[:, self.bit_channels_P] = bits_BPS.reshape(*bits_BPS.shape[:2], height, width).to(self.dtype)
        x_BCHW[:, self.number_channels_K] = numbers_BK.to(self.dtype)[:, :, None, None].expand(-1, -1, height, width)
        return x_BCHW

    def _to_device(self, array: NDArray[Any]) -> torch.Tensor:
        import torch

        return torch.tensor(array, device=self.bit_numbers.device)


class OpenVinoEvaluator:
    """A network run by OpenVINO on the CPU, without torch; for up to `num_streams` threads at once, a core each.

    A compiled network takes a fixed number of positions and costs the same for fewer. So there is one for `batch_size`
    and, made when first needed, one for a quarter of it, a sixteenth and so on; leaves go to the smallest that holds
    them, and more than `batch_size` are evaluated in several runs. Each calling thread has its own requests and input
    buffers. A new network is compiled in the thread that brings it, on one core and without the interpreter lock, and
    for all sizes that the one before was asked for, so that threads which evaluate never wait for it.
    """

    def __init__(
        self, checkpoint: Checkpoint, *, num_streams: int = 1, batch_size: int, precision: str = "auto"
    ) -> None:
        """`precision` is "auto" (bf16 where the CPU computes in it, else f32), "f32" or "bf16".

        Raises:
            SettingsError: OpenVINO is not installed, a number below 1, an unknown precision, bf16 on a CPU without it.
        """
        _require_known("precision", precision, PRECISIONS)
        for name, value in {"num_streams": num_streams, "batch_size": batch_size}.items():
            if value < 1:
                raise SettingsError(f"{name} is {value}, allowed is at least 1.")
        if importlib.util.find_spec("openvino") is None:
            raise SettingsError("OpenVINO is not installed: 'pip install openvino', or use the torch backend.")
        import openvino

        self._core = openvino.Core()
        has_bf16 = "BF16" in self._core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        if precision == "bf16" and not has_bf16:
            raise SettingsError("precision is 'bf16', which this CPU does not compute in: use 'auto' or 'f32'.")
        self._precision = precision if precision != "auto" else "bf16" if has_bf16 else "f32"
        self._batch_size = batch_size
        self._options = {
            "NUM_STREAMS": num_streams,
            "INFERENCE_NUM_THREADS": num_streams,
            # With pinning, several models or processes would all pin themselves to the first core.
            "ENABLE_CPU_PINNING": False,
            "INFERENCE_PRECISION_HINT": self._precision,
        }
        self._of_thread = threading.local()
        self._compiled = self._compile(checkpoint, set())

    @property
    def description(self) -> str:
        """As `NetworkEvaluator.description`."""
        return f"OpenVINO, CPU, {self._precision}"

    def update(self, checkpoint: Checkpoint) -> None:
        """As `NetworkEvaluator.update`."""
        self._compiled = self._compile(checkpoint, self._compiled.asked_for)

    def _compile(self, checkpoint: Checkpoint, sizes: set[int]) -> _CompiledSizes:
        from zerosum.openvino_graph import build_graph

        def compile_for(size: int) -> openvino.CompiledModel:
            info = checkpoint.info
            graph = build_graph(info.network, info.shape, checkpoint.weights, batch_size=size)
            return self._core.compile_model(graph, "CPU", self._options)

        return _CompiledSizes(self._batch_size, compile_for, sizes)

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """As `Evaluator.evaluate`."""
        size = len(leaves)
        if size <= self._batch_size:
            request = self._request(size)
            leaves.write_planes(request.planes_BCHW)  # rows beyond keep an earlier call's positions; nobody reads them
            policy_logits_BA, *others = request.infer()
        else:
            policy_logits_BA, *others = self._infer_in_parts(leaves.planes())
        return _evaluations(leaves, leaves.select_legal(policy_logits_BA), *(logits[:size] for logits in others))

    def _infer_in_parts(self, planes_BCHW: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        parts, request = [], self._request(self._batch_size)
        for start in range(0, len(planes_BCHW), self._batch_size):
            part = planes_BCHW[start : start + self._batch_size]
            request.planes_BCHW[: len(part)] = part
            parts.append([output[: len(part)].copy() for output in request.infer()])
        return [np.concatenate(outputs) for outputs in zip(*parts, strict=True)]

    def _request(self, size: int) -> _OpenVinoRequest:
        """The calling thread's request to the newest network; it keeps its network alive, so a swap harms nothing."""
        compiled = self._compiled
        requests: dict[int, _OpenVinoRequest] = getattr(self._of_thread, "requests", {})
        if getattr(self._of_thread, "compiled", None) is not compiled:
            requests = {}
            self._of_thread.compiled, self._of_thread.requests = compiled, requests
        size = compiled.size_for(size)
        if size not in requests:
            requests[size] = _OpenVinoRequest(compiled.of(size))
        return requests[size]


class _CompiledSizes:
    """One network compiled for `largest` positions, a quarter of that and so on down to 1.

    For `largest` and `at_once` it is compiled now, for the others when first needed.
    """

    def __init__(self, largest: int, compile_for: Callable[[int], openvino.CompiledModel], at_once: set[int]) -> None:
        self.asked_for: set[int] = set()
        self._sizes = [largest]
        while self._sizes[-1] > 1:
            self._sizes.append(max(self._sizes[-1] // 4, 1))
        self._compile_for, self._lock = compile_for, threading.Lock()
        self._compiled = {size: compile_for(size) for size in {largest} | at_once}

    def size_for(self, num_leaves: int) -> int:
        """The smallest that holds so many leaves, at most `largest`."""
        return min(size for size in self._sizes if size >= num_leaves)

    def of(self, size: int) -> openvino.CompiledModel:
        with self._lock:
            self.asked_for.add(size)
            if size not in self._compiled:
                self._compiled[size] = self._compile_for(size)
            return self._compiled[size]


class _OpenVinoRequest:
    """One thread's way into a compiled network: an input buffer that OpenVINO reads in place, and its outputs."""

    def __init__(self, compiled: openvino.CompiledModel) -> None:
        self._request, self._num_outputs = compiled.create_infer_request(), len(compiled.outputs)
        self.planes_BCHW: NDArray[np.float32] = self._request.get_input_tensor().data
        self.planes_BCHW[:] = 0

    def infer(self) -> list[NDArray[np.float32]]:
        """The outputs of `build_graph`, [batch_size, ...], valid until the next call."""
        self._request.infer(share_outputs=True)
        return [self._request.get_output_tensor(index).data for index in range(self._num_outputs)]


def answer(search: Search, evaluator: Evaluator, max_leaves: int) -> int:
    """One round of a search: gather up to `max_leaves` leaves, have them evaluated, back the answers up.

    Returns how many leaves there were; 0 means that no tree of the search has anything to ask.
    """
    leaves = search.gather(max_leaves)
    if leaves.ticket is None or len(leaves) == 0:
        return 0
    evaluations = evaluator.evaluate(leaves)
    search.apply(leaves.ticket, evaluations.logits, evaluations.values)
    return len(leaves)


def make_evaluator(
    checkpoint: Checkpoint,
    *,
    backend: str = "auto",
    device: str = "auto",
    precision: str = "auto",
    num_threads: int = 1,
    batch_size: int,
) -> NetworkEvaluator:
    """The evaluator that suits the machine: torch if it finds a GPU, else OpenVINO if installed, else torch on the CPU.

    `num_threads` is how many threads will evaluate at once, and `batch_size` the most leaves they usually ask for (both
    matter to OpenVINO only). Torch is imported only where it is used, or where the machine seems to have a GPU.

    Raises:
        SettingsError: unknown backend or precision, or a backend or device that cannot be used.
    """
    _require_known("backend", backend, BACKENDS)
    if backend == "auto":
        backend = "torch" if uses_gpu(device) or importlib.util.find_spec("openvino") is None else "openvino"
    if backend == "torch":
        return TorchEvaluator(checkpoint, device=device, precision=precision)
    if device not in ("auto", "cpu"):
        raise SettingsError(f"device is {device!r}, but the openvino backend runs on 'cpu': use the torch backend.")
    return OpenVinoEvaluator(checkpoint, num_streams=num_threads, batch_size=batch_size, precision=precision)


def uses_gpu(device: str = "auto") -> bool:
    """Whether torch would run on a GPU. Does not import torch where the machine has no driver for one."""
    may_be_gpu = _has_gpu_driver() if device == "auto" else device != "cpu"
    return may_be_gpu and torch_device(device).type != "cpu"


def _no_preference(leaves: Leaves) -> NDArray[np.float32]:
    """A logit of 0 for every legal action, [sum L]."""
    return np.zeros(int(leaves.legal_offsets[-1]), np.float32)


def _evaluations(
    leaves: Leaves,
    logits: NDArray[np.float32],
    value_logits_BV: NDArray[np.float32],
    moves_left_logits_B1: NDArray[np.float32] | None = None,
) -> Evaluations:
    """Turn a network's outputs into answers, for every backend alike; a value is a tanh, or P(win) - P(loss)."""
    moves_left_B = None
    if moves_left_logits_B1 is not None:
        with np.errstate(invalid="ignore"):
            moves_left_B = np.float32(MOVES_LEFT_SCALE) * np.logaddexp(moves_left_logits_B1[:, 0], np.float32(0))
    if value_logits_BV.shape[1] == 1:
        return Evaluations(leaves, logits, np.tanh(value_logits_BV[:, 0]), moves_left=moves_left_B)
    with np.errstate(invalid="ignore"):  # what is not finite becomes NaN here, and Evaluations refuses it
        weights_B3 = np.exp(value_logits_BV - value_logits_BV.max(axis=1, keepdims=True))
        wdl_B3 = weights_B3 / weights_B3.sum(axis=1, keepdims=True)
    return Evaluations(leaves, logits, wdl_B3[:, 0] - wdl_B3[:, 2], wdl_B3, moves_left_B)


def _has_gpu_driver() -> bool:
    """Whether the machine seems to have a GPU that torch might use, found without importing torch."""
    if platform.system() == "Darwin":
        return platform.machine() == "arm64"
    if platform.system() == "Windows":
        return Path(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "nvcuda.dll").exists()
    # NVIDIA, NVIDIA under WSL, AMD.
    return any(Path(path).exists() for path in ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd"))


def torch_device(name: str) -> torch.device:
    """The device of this name; "auto" is a GPU if there is one. Raises SettingsError if it cannot be used."""
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise SettingsError(f"device is {name!r}, which torch cannot use here ({reason}): use 'auto'.") from error


def _torch_precision(device: torch.device) -> str:
    import torch

    is_fast = device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
    return "bf16" if is_fast else "f32"


def _require_known(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise SettingsError(f"{name} is {value!r}: {nearest(value, known)}.")


def _require_array(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> None:
    if array.shape != shape or array.dtype != np.float32:
        raise ValueError(f"{name} are {array.dtype} {list(array.shape)}, expected is float32 {list(shape)}.")


def _first_false(is_good: NDArray[np.bool_]) -> int | None:
    """Where the first False is, in row-major order; None if there is none."""
    return None if is_good.all() else int(is_good.argmin())


def _refusal(leaf: int, size: int, what: str) -> DataError:
    return DataError(
        f"Leaf {leaf} of {size} was evaluated with {what}: finite logits and values from -1 to 1 are expected. "
        f"The network's weights have diverged or are damaged: go back to an earlier checkpoint."
    )
