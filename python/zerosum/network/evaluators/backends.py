"""The choice of the library and the device that run a network."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Literal, get_args

from zerosum.base.errors import SettingsError
from zerosum.base.settings import require_known
from zerosum.games import Rules
from zerosum.network import Checkpoint
from zerosum.network.evaluators.device import uses_gpu
from zerosum.network.evaluators.evaluator import NetworkEvaluator
from zerosum.network.evaluators.muzero_openvino import PRECISIONS as MUZERO_PRECISIONS
from zerosum.network.evaluators.muzero_openvino import OpenVinoMuZeroEvaluator
from zerosum.network.evaluators.muzero_torch import TorchMuZeroEvaluator
from zerosum.network.evaluators.openvino import PRECISIONS as OPENVINO_PRECISIONS
from zerosum.network.evaluators.openvino import OpenVinoEvaluator, fast_precision
from zerosum.network.evaluators.own_module import OwnModuleEvaluator
from zerosum.network.evaluators.rollout_values import ROLLOUT_SHARES, RolloutValuesEvaluator
from zerosum.network.evaluators.symmetric import SymmetricEvaluator, Symmetries
from zerosum.network.evaluators.torch import PRECISIONS as TORCH_PRECISIONS
from zerosum.network.evaluators.torch import TorchEvaluator
from zerosum.network.evaluators.updatable import UpdatableEvaluator

Backend = Literal["auto", "openvino", "torch"]
BACKENDS: tuple[str, ...] = get_args(Backend)
Precision = Literal["auto", "fast", "f32", "bf16", "f16", "int8"]
"""Precisions of a network's arithmetic. Each backend supports some of them.

"auto" is the fastest one that rounds no more than bf16. "fast" may round more: int8 where OpenVINO has it, else "auto".
"""

_PRECISIONS = {"openvino": OPENVINO_PRECISIONS, "torch": TORCH_PRECISIONS}
_MUZERO_PRECISIONS = {"openvino": MUZERO_PRECISIONS, "torch": ("auto", "f32")}


@dataclass(frozen=True)
class EvaluatorConfig:
    """The library, the device and the precision of a network's evaluations; "auto" is the machine's best."""

    backend: str = "auto"
    """One of `BACKENDS`."""
    device: str = "auto"
    """"auto", "cpu", "mps", "cuda" (all GPUs) or some of them, "cuda:0,cuda:1"."""
    precision: str = "auto"
    """One of `Precision`."""
    symmetry_seed: int | None = None
    """Seed of the random symmetry in which each position is evaluated; None for the position as it is."""
    leaf_values: str = "network"
    """One of `rollout_values.LeafValues`."""
    rollout_seed: int = 0
    """Seed of the random games of `leaf_values`."""

    @property
    def on_gpu(self) -> bool:
        """Whether the evaluator runs on a GPU."""
        return self.backend in ("auto", "torch") and uses_gpu(self.device)


AUTO = EvaluatorConfig()


def backend_of(config: EvaluatorConfig, *, is_muzero: bool = False) -> str:
    """The name of the library, which has such a device and, for a MuZero network or the others, such a precision.

    Raises:
        SettingsError: unknown backend or precision, or the library does not have the device or the precision.
    """
    backend, device, precision = config.backend, config.device, config.precision
    require_known("backend", backend, BACKENDS)
    require_known("precision", precision, get_args(Precision))
    if backend == "auto":
        backend = "torch" if uses_gpu(device) or importlib.util.find_spec("openvino") is None else "openvino"
    if backend != "torch" and device not in ("auto", "cpu"):
        raise SettingsError(f"device is {device!r}, but the {backend} backend runs on 'cpu': use the torch backend.")
    if precision != "fast":
        precisions, network = (_MUZERO_PRECISIONS, " for a MuZero network") if is_muzero else (_PRECISIONS, "")
        require_known(f"precision of the {backend} backend{network}", precision, precisions[backend])
    return backend


def make_evaluator(
    checkpoint: Checkpoint,
    config: EvaluatorConfig = AUTO,
    *,
    num_threads: int = 1,
    batch_size: int,
    game: Rules | None = None,
) -> NetworkEvaluator:
    """An evaluator for the machine: torch if it finds a GPU, else OpenVINO if installed, else torch on the CPU.

    `num_threads` is the number of threads that evaluate at once, and `batch_size` the usual largest number of leaves
    (both matter to OpenVINO only). Torch is imported only if it is used, or if the machine seems to have a GPU.
    `game` is needed for random symmetries (`config.symmetry_seed`; a game without symmetries is evaluated as it is) and
    for updatable networks, which the core runs whatever backend, device and precision `config` asks for.

    Raises:
        SettingsError: unknown backend, precision or leaf values, or those that cannot be used.
    """
    require_known("leaf_values", config.leaf_values, tuple(ROLLOUT_SHARES))
    kind, share = checkpoint.info.network.kind, ROLLOUT_SHARES[config.leaf_values]
    if share and kind in ("updatable", "muzero"):
        raise SettingsError(
            f"training.leaf_values is {config.leaf_values!r}, but random games begin at leaves of a tree search by the"
            f" game's rules, which a network of kind {kind!r} does not have: leave it 'network'."
        )
    if kind == "updatable":
        if game is None:
            raise SettingsError("an updatable network needs its game to evaluate positions: give it.")
        return UpdatableEvaluator(checkpoint, game)
    if kind == "muzero":
        return _muzero_evaluator(checkpoint, config, num_threads=num_threads, batch_size=batch_size)
    evaluator = _network_evaluator(checkpoint, config, num_threads=num_threads, batch_size=batch_size)
    step = checkpoint.info.step
    if config.symmetry_seed is not None:
        assert game is not None, "symmetries are those of a game"
        symmetries = Symmetries.of(game)
        if len(symmetries) > 1:
            evaluator = SymmetricEvaluator(evaluator, symmetries, seed=config.symmetry_seed, step=step)
    # Outermost, because turned leaves are for networks alone.
    return RolloutValuesEvaluator(evaluator, share, seed=config.rollout_seed, step=step) if share else evaluator


def _muzero_evaluator(
    checkpoint: Checkpoint, config: EvaluatorConfig, *, num_threads: int, batch_size: int
) -> NetworkEvaluator:
    """Raises SettingsError for what a search by learned rules does not have."""
    if config.symmetry_seed is not None:
        raise SettingsError(
            "training.leaf_symmetries is true, but leaves of a MuZero network are hidden states, which no symmetry"
            " turns: leave it false."
        )
    backend, device = backend_of(config, is_muzero=True), config.device
    if backend == "openvino":
        precision = "auto" if config.precision == "fast" else config.precision
        return OpenVinoMuZeroEvaluator(checkpoint, num_streams=num_threads, batch_size=batch_size, precision=precision)
    return TorchMuZeroEvaluator(checkpoint, device=device.partition(",")[0] if device.startswith("cuda:") else device)


def _network_evaluator(
    checkpoint: Checkpoint, config: EvaluatorConfig, *, num_threads: int, batch_size: int
) -> NetworkEvaluator:
    if checkpoint.info.network.module:
        require_known("backend of a network of one's own", config.backend, ("auto", "torch"))
        return OwnModuleEvaluator(checkpoint, device=config.device)
    backend, precision = backend_of(config), config.precision
    if precision == "fast":
        precision = fast_precision(checkpoint.info) if backend == "openvino" else "auto"
    if backend == "torch":
        return TorchEvaluator(checkpoint, device=config.device, precision=precision)
    return OpenVinoEvaluator(checkpoint, num_streams=num_threads, batch_size=batch_size, precision=precision)
