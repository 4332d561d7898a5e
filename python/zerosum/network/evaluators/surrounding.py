"""Evaluators around another one: they change what it is asked or what it answers, and leave the rest to it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from zerosum.network import Checkpoint
from zerosum.network.evaluators.evaluator import NetworkEvaluator


class SurroundingEvaluator(NetworkEvaluator):
    """A network's evaluator inside, with a seed and the network's step as the key of random choices.

    A subclass has `evaluate`. It may be called from several threads at once, as the evaluator inside.
    """

    def __init__(self, evaluator: NetworkEvaluator, *, seed: int, step: int) -> None:
        """Stand around `evaluator`, whose network is that of `step`; `seed` is not negative."""
        self._evaluator, self._seed, self._step = evaluator, seed, step

    @property
    @override
    def description(self) -> str:
        return self._evaluator.description

    @property
    @override
    def full_batch(self) -> int:
        return self._evaluator.full_batch

    @override
    def batch_sizes(self, most: int) -> list[int]:
        return self._evaluator.batch_sizes(most)

    @override
    def update(self, checkpoint: Checkpoint, *, planes_BCHW: NDArray[np.float32] | None = None) -> None:
        self._evaluator.update(checkpoint, planes_BCHW=planes_BCHW)
        self._step = checkpoint.info.step
