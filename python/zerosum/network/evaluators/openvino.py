"""A network run by OpenVINO on the CPU, without torch. OpenVINO is imported when an evaluator is made.

Shape suffixes: B positions, C planes, H height, W width, A actions, V value logits.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from zerosum.base.errors import SettingsError
from zerosum.games.random_play import random_leaves
from zerosum.network import Checkpoint, CheckpointInfo
from zerosum.network.evaluators.batch_limit import BatchLimit, whole
from zerosum.network.evaluators.evaluator import Evaluations, NetworkEvaluator, evaluations_of
from zerosum.network.evaluators.openvino_requests import (
    CAPABILITIES,
    CompiledSizes,
    ThreadRequests,
    best_precision,
    computes_int8,
    openvino_core,
    options,
    require_openvino,
)
from zerosum.network.katago_config import KatagoConfig
from zerosum.network.lc0_config import Lc0Config

if TYPE_CHECKING:
    import openvino

    from zerosum._core import Leaves

PRECISIONS = ("auto", *CAPABILITIES)

NUM_POSITIONS = 256
"""Positions of random play on which a network in int8 is measured, if no others are given."""


def fast_precision(info: CheckpointInfo) -> str:
    """The precision "fast" on this CPU: "int8" for the program's games if the CPU has instructions for it, else "auto".

    It is "f32" for networks of KataGo: their trunks are sums of all blocks without norms, which bf16 rounds coarsely.
    """
    if isinstance(info.network, KatagoConfig):
        return "f32"
    return "int8" if computes_int8() and info.core_game() is not None and has_int8(info) else "auto"


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
        require_openvino(precision, PRECISIONS, num_streams=num_streams, batch_size=batch_size)
        if precision == "int8" and not has_int8(checkpoint.info):
            raise SettingsError(
                "precision is 'int8', which networks of KataGo, and of Lc0 with attention or Mish, do not have: use"
                " 'f32' or 'bf16'."
            )
        self._core = openvino_core()
        self._precision = best_precision() if precision == "auto" else precision
        self._int8_planes_BCHW = None
        if precision == "int8":
            self._int8_planes_BCHW = _random_planes(checkpoint.info) if planes_BCHW is None else planes_BCHW
        self._limit = BatchLimit("this machine", most=batch_size)
        self._options = options(num_streams, best_precision() if precision == "int8" else self._precision)
        self._requests = ThreadRequests()
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

    @override
    def batch_sizes(self, most: int) -> list[int]:
        return self._compiled.sizes_up_to(most)

    def _compile(self, checkpoint: Checkpoint, sizes: set[int]) -> CompiledSizes:
        from zerosum.network.evaluators.openvino_graph import build_graph, largest_inputs

        network = (checkpoint.info.network, checkpoint.info.shape, checkpoint.weights)
        int8 = None if self._int8_planes_BCHW is None else largest_inputs(*network, self._int8_planes_BCHW)
        # Without `self`, which would be a cycle: a dropped evaluator would wait for the garbage collector.
        core, options = self._core, self._options

        def compile_for(size: int) -> openvino.CompiledModel:
            return core.compile_model(build_graph(*network, batch_size=size, int8=int8), "CPU", options)

        return CompiledSizes(self._limit.most, compile_for, sizes)

    @override
    def evaluate(self, leaves: Leaves) -> Evaluations:
        planes = functools.cache(leaves.planes)

        def evaluate_part(start: int, stop: int) -> list[NDArray[np.float32]]:
            request = self._requests.request(self._compiled, stop - start)
            (planes_BCHW,) = request.inputs
            if stop - start == len(leaves):
                leaves.write_planes(planes_BCHW)  # further rows keep old data and are not read
                return request.infer()
            planes_BCHW[: stop - start] = planes()[start:stop]
            return [output[: stop - start].copy() for output in request.infer()]

        policy_logits_BA, *others = whole(self._limit.in_parts(len(leaves), evaluate_part))
        others = [logits[: len(leaves)] for logits in others]
        return evaluations_of(leaves, leaves.select_legal(policy_logits_BA), *others)


def _random_planes(info: CheckpointInfo) -> NDArray[np.float32]:
    game = info.core_game()
    if game is None:
        raise SettingsError(
            f"precision is 'int8', which is measured on positions, and {info.full_name} is not a game of this program:"
            " give planes of positions, or use 'auto'."
        )
    return random_leaves(game, NUM_POSITIONS).planes()
