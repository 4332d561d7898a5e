"""Material in the searches of self-play, until the network's own values tell who is ahead.

A new network knows nothing, and in chess and shogi most of its games end level, so it learns slowly that a queen more
wins. With `selfplay.material` a leaf's value is a mean of the network's and of the material's, with a weight that falls
to 0 by stages. The network learns it from the searches' values. Players never see material: only self-play does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from zerosum._core import Leaves
from zerosum.base.stages import Stage, parse_stages, stage_at
from zerosum.evaluators import Evaluations, Evaluator

SCALE = 5.0
"""The material, a rook in chess, that has the value tanh(1) = 0.76."""
EXAMPLE = "0.8@0, 0.4@0.15, 0@0.3"


@functools.lru_cache
def material_stages(text: str) -> tuple[Stage[float], ...]:
    """The stages of `selfplay.material`.

    >>> material_stages("0.8@0, 0@0.3")
    (Stage(begins=0.0, value=0.8), Stage(begins=0.3, value=0.0))

    Raises:
        SettingsError: the text cannot be read.
    """
    return parse_stages(text, name="selfplay.material", example=EXAMPLE, parse=_parse_weight)


def _parse_weight(text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0 <= weight <= 1:
        raise ValueError("is not a weight from 0 to 1")
    return weight


def seeing_material(evaluator: Evaluator, stages: str, progress: Callable[[], float]) -> Evaluator:
    """The evaluator of self-play's searches: with stages of `selfplay.material` a `MaterialEvaluator`.

    `progress` tells the share of the run's budget, in [0, 1], that was used when the network was made.
    """
    if not stages:
        return evaluator
    return MaterialEvaluator(evaluator, lambda: stage_at(material_stages(stages), progress()))


class MaterialEvaluator:
    """An evaluator whose values are (1 - w) * value + w * tanh(material / `SCALE`), for the player to move."""

    def __init__(self, evaluator: Evaluator, weight: Callable[[], float]) -> None:
        """`weight` tells w, in [0, 1], for each batch."""
        self._evaluator, self._weight = evaluator, weight

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """The evaluator's answers with these values; win, draw and loss, if it tells them, move like the values."""
        said, weight = self._evaluator.evaluate(leaves), np.float32(self._weight())
        if weight == 0:
            return said
        advantage_B = np.tanh(leaves.material() / np.float32(SCALE))
        # Rounding may lead out of [-1, 1].
        values_B = np.clip((1 - weight) * said.values + weight * advantage_B, -1, 1)
        if said.wdl is None:
            return Evaluations(leaves, said.logits, values_B)
        decided_B3 = np.stack([(1 + advantage_B) / 2, np.zeros_like(advantage_B), (1 - advantage_B) / 2], axis=1)
        wdl_B3 = ((1 - weight) * said.wdl + weight * decided_B3).astype(np.float32)
        return Evaluations(leaves, said.logits, values_B, wdl_B3)
