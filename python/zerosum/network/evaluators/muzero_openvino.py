"""A MuZero network run by OpenVINO on the CPU, without torch.

Shape suffixes: B leaves, C planes, F filters, H height, W width, A actions, V value logits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from zerosum.base.arrays import expand_planes
from zerosum.network import Checkpoint
from zerosum.network.evaluators.batch_limit import BatchLimit
from zerosum.network.evaluators.muzero import Inference, Logits, Memory, MuZeroEvaluator, Walk
from zerosum.network.evaluators.openvino_requests import (
    CompiledSizes,
    ThreadRequests,
    best_precision,
    openvino_core,
    options,
    require_openvino,
)

if TYPE_CHECKING:
    import openvino

    from zerosum._core import Leaves

PRECISIONS = ("auto", "f32", "bf16")


class OpenVinoMuZeroEvaluator(MuZeroEvaluator):
    """Runs the networks for up to `num_streams` threads at once, with a core each.

    Initial and recurrent inference are compiled for sizes of batches as `OpenVinoEvaluator` does it. Hidden states are
    kept in float32.
    """

    _compiled: _OpenVinoInference | None = None

    def __init__(
        self, checkpoint: Checkpoint, *, num_streams: int = 1, batch_size: int, precision: str = "auto"
    ) -> None:
        """`precision` is "auto" (bf16 if the CPU supports it, else f32), "f32" or "bf16".

        Raises:
            SettingsError: OpenVINO is not installed, a number is below 1, or the precision is unknown or not supported
                by the CPU.
        """
        require_openvino(precision, PRECISIONS, num_streams=num_streams, batch_size=batch_size)
        self._precision = best_precision() if precision == "auto" else precision
        self._limit = BatchLimit("this machine", most=batch_size)
        self._options = options(num_streams, self._precision)
        super().__init__(checkpoint)

    @property
    @override
    def description(self) -> str:
        return f"OpenVINO, CPU, {self._precision}, learned rules"

    @override
    def batch_sizes(self, most: int) -> list[int]:
        assert self._compiled is not None
        return self._compiled.recurrent.sizes.sizes_up_to(most)

    @override
    def _load(self, checkpoint: Checkpoint) -> Inference:
        self._compiled = _OpenVinoInference(checkpoint, self._limit, self._options, self._compiled)
        return self._compiled


class _OpenVinoInference:
    """One checkpoint's networks, compiled."""

    def __init__(
        self, checkpoint: Checkpoint, limit: BatchLimit, options: dict[str, Any], before: _OpenVinoInference | None
    ) -> None:
        """`before` is the network that was in use, for whose sizes this one is compiled."""
        from zerosum.network.evaluators.openvino_graph import build_initial_inference, build_recurrent_inference

        info = checkpoint.info
        network = (info.network, info.shape, checkpoint.weights)
        in_use: tuple[set[int], set[int]] = (set(), set())
        if before is not None:
            in_use = (before.initial.sizes.asked_for, before.recurrent.sizes.asked_for)
        self.initial: _Graph = _Graph(partial(build_initial_inference, *network), limit, options, in_use[0])
        self.recurrent: _Graph = _Graph(partial(build_recurrent_inference, *network), limit, options, in_use[1])
        self._is_constant = np.array([is_constant for _, is_constant in info.planes], np.bool_)
        self._board_shape = info.board_shape
        self._hidden_shape = (info.network.num_filters, *info.board_shape)
        self._widths = [info.shape.num_logits(head) for head in info.network.search_heads]

    def evaluate(self, leaves: Leaves) -> Logits:
        logits, planes = self._empty_logits(len(leaves)), leaves.planes()

        def fill(inputs: list[NDArray[Any]], part: slice) -> None:
            inputs[0][: part.stop - part.start] = planes[part]

        def take(outputs: list[NDArray[np.float32]], part: slice) -> None:
            _, logits.policy[part], logits.value[part] = outputs

        self.initial.run(len(leaves), fill, take)
        return logits

    def walk(self, leaves: Leaves, walk: Walk, memory: Memory) -> Logits:
        slab: NDArray[np.float32] = memory.slab_for(
            int(walk.slots.max()), lambda size: np.empty((size, *self._hidden_shape), np.float32)
        )
        logits = self._empty_logits(len(walk.rows))
        roots, others = np.flatnonzero(walk.parents == 0), np.flatnonzero(walk.parents)

        def fill_planes(inputs: list[NDArray[Any]], part: slice) -> None:
            rows = walk.rows[roots[part]]
            inputs[0][: len(rows)] = expand_planes(
                leaves.packed_planes[rows], leaves.constant_planes[rows], self._is_constant, self._board_shape
            )

        def fill_hidden(inputs: list[NDArray[Any]], part: slice) -> None:
            chosen, size = others[part], part.stop - part.start
            np.take(slab, walk.parents[chosen], axis=0, out=inputs[0][:size], mode="clip")
            inputs[1][:size] = walk.moves[chosen]

        def taking(places: NDArray[np.int64]) -> Take:
            def take(outputs: list[NDArray[np.float32]], part: slice) -> None:
                chosen = places[part]
                slab[walk.slots[chosen]], logits.policy[chosen], logits.value[chosen] = outputs

            return take

        self.initial.run(len(roots), fill_planes, taking(roots))
        self.recurrent.run(len(others), fill_hidden, taking(others))
        return logits

    def _empty_logits(self, size: int) -> Logits:
        return Logits(*(np.empty((size, width), np.float32) for width in self._widths))


Fill = Callable[[list[NDArray[Any]], slice], None]
"""Writes a part of a batch into the first rows of a graph's inputs."""
Take = Callable[[list[NDArray[np.float32]], slice], None]
"""Takes the outputs of a part of a batch: hidden states and the logits of the heads."""


class _Graph:
    """Initial or recurrent inference, compiled for batches of several sizes."""

    def __init__(
        self, build: Callable[..., openvino.Model], limit: BatchLimit, options: dict[str, Any], at_once: set[int]
    ) -> None:
        """`at_once` are sizes to compile now, beside the largest."""
        core = openvino_core()
        self.sizes = CompiledSizes(
            limit.most, lambda size: core.compile_model(build(batch_size=size), "CPU", options), at_once
        )
        self._limit, self._requests = limit, ThreadRequests()

    def run(self, num: int, fill: Fill, take: Take) -> None:
        """Run `num` rows in as many parts as the largest size and the memory ask for."""

        def run_part(start: int, stop: int) -> None:
            request, part = self._requests.request(self.sizes, stop - start), slice(start, stop)
            fill(request.inputs, part)
            take([output[: stop - start] for output in request.infer()], part)

        if num:
            self._limit.in_parts(num, run_part)
