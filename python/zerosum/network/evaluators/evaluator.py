"""Evaluators: for positions, a logit for each legal action and a value for the player to move.

Start with `Evaluations` (the answer) and `Evaluator` (the protocol). Two evaluators need no network and are here:
`UniformEvaluator` and `RolloutEvaluator`. Two run a network: `openvino.py` (CPUs) and `torch.py` (GPUs and any other
device); `backends.py` chooses between them. These files do not depend on search or training, and import
their library when an evaluator is made.

Shape suffixes: B positions, V value logits.
"""

from __future__ import annotations

import itertools
from dataclasses import InitVar, dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import DataError, SettingsError
from zerosum.network import Checkpoint

if TYPE_CHECKING:
    from zerosum._core import Leaves


@dataclass(frozen=True)
class Evaluations:
    """Answers for the B positions of `leaves`. Shapes and ranges are checked when an object is made."""

    leaves: InitVar[Leaves]
    logits: NDArray[np.float32]
    """[sum L] float32, unnormalised, in the order of `leaves.legal_actions`."""
    values: NDArray[np.float32]
    """[B] float32 in [-1, 1], the expected result for the player to move."""
    wdl: NDArray[np.float32] | None = None
    """[B, 3] float32, probabilities of win, draw and loss for the player to move, if known."""

    def __post_init__(self, leaves: Leaves) -> None:
        """Raise ValueError for a wrong shape or dtype, and DataError for a number out of range."""
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


class Evaluator(Protocol):
    """Anything that answers leaves. May be called from several threads at once."""

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """Answer all of `leaves`, in their order."""


CPU_FULL_BATCH = 16
"""`full_batch` of CPUs: they evaluate sixteen leaves in little more time than one."""


@runtime_checkable
class NetworkEvaluator(Evaluator, Protocol):
    """An evaluator that runs a network, which can be replaced while other threads are evaluating."""

    def batch_sizes(self, most: int) -> list[int]:
        """The batch sizes that are prepared at their first use, for up to `most` leaves; one if none is."""
        return [most]

    @property
    def full_batch(self) -> int:
        """Leaves of a batch with which the search of one position nearly keeps the device busy, a power of 2."""
        return CPU_FULL_BATCH

    @property
    def description(self) -> str:
        """The library, device and precision, separated by ", ": "OpenVINO, CPU, bf16"."""

    def update(self, checkpoint: Checkpoint, *, planes_BCHW: NDArray[np.float32] | None = None) -> None:
        """Change to the network of `checkpoint`, which is prepared in the calling thread.

        Evaluations in progress end with the old network. The precision int8 measures its rounding on `planes_BCHW`,
        typical positions.
        """


class UniformEvaluator:
    """Equal logits for all actions, and the value 0 for all positions."""

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """Logits and values of 0."""
        return Evaluations(leaves, _no_preference(leaves), np.zeros(len(leaves), np.float32))


class RolloutEvaluator:
    """Equal logits for all actions; values are mean results of uniformly random games (plain Monte Carlo).

    Each call plays new games with a generator keyed by (seed, number of the call), so the same calls in the same order
    return the same values.
    """

    def __init__(self, num_rollouts: int = 1, *, seed: int = 0) -> None:
        """`num_rollouts` random games from each position, at least 1 (SettingsError); `seed` is not negative."""
        if num_rollouts < 1:
            raise SettingsError(f"num_rollouts is {num_rollouts}, but must be at least 1.")
        self._num_rollouts = num_rollouts
        self._seed = seed
        self._calls = itertools.count()

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """Logits of 0, values from random games; win, draw and loss if there is one game per position."""
        call_seed = int(np.random.SeedSequence((self._seed, next(self._calls))).generate_state(1, np.uint64)[0])
        values = leaves.rollout_values(self._num_rollouts, call_seed)
        wdl_B3 = None
        if self._num_rollouts == 1:  # the mean of several games does not tell the number of draws
            wdl_B3 = win_draw_loss(values)
        return Evaluations(leaves, _no_preference(leaves), values, wdl_B3)


def win_draw_loss(results: NDArray[np.float32]) -> NDArray[np.float32]:
    """[B, 3], win, draw and loss of games with these results [B], in [-1, 1] for the player to move."""
    return np.stack([np.maximum(results, 0), 1 - np.abs(results), np.maximum(-results, 0)], axis=1)


def _no_preference(leaves: Leaves) -> NDArray[np.float32]:
    """A logit of 0 for every legal action, [sum L]."""
    return np.zeros(int(leaves.legal_offsets[-1]), np.float32)


def evaluations_of(
    leaves: Leaves,
    logits: NDArray[np.float32],
    value_logits_BV: NDArray[np.float32],
) -> Evaluations:
    """Turn a network's outputs into answers, for all backends. A value is a tanh, or P(win) - P(loss)."""
    if value_logits_BV.shape[1] == 1:
        return Evaluations(leaves, logits, np.tanh(value_logits_BV[:, 0]))
    with np.errstate(invalid="ignore"):  # infinite logits become NaN here, which Evaluations refuses
        weights_B3 = np.exp(value_logits_BV - value_logits_BV.max(axis=1, keepdims=True))
        wdl_B3 = weights_B3 / weights_B3.sum(axis=1, keepdims=True)
    return Evaluations(leaves, logits, wdl_B3[:, 0] - wdl_B3[:, 2], wdl_B3)


def _require_array(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> None:
    if array.shape != shape or array.dtype != np.float32:
        raise ValueError(f"{name} are {array.dtype} {list(array.shape)}, expected float32 {list(shape)}.")


def _first_false(is_good: NDArray[np.bool_]) -> int | None:
    """The index of the first False in row-major order, or None."""
    return None if is_good.all() else int(is_good.argmin())


def _refusal(leaf: int, size: int, what: str) -> DataError:
    return DataError(
        f"Leaf {leaf} of {size} was evaluated with {what}, expected finite logits and values from -1 to 1. "
        f"The network's weights have diverged or are damaged: go back to an earlier checkpoint."
    )
