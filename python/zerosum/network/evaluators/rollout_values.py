"""Values of leaves from random games, in place of a network's or beside it, with the network's policy.

AlphaGo (Silver et al., Nature 529, 2016, "Searching with policy and value networks") gives a leaf the value
(1 - lambda) * v + lambda * z: v is the value network's, and z the result of one game from the leaf to its end by a fast
policy; lambda is 0.5. Here the moves of these games are uniformly random, so that nothing else has to be learned.

Shape suffixes: B positions.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal

import numpy as np
from typing_extensions import override

from zerosum.network.evaluators.evaluator import Evaluations, NetworkEvaluator, win_draw_loss
from zerosum.network.evaluators.surrounding import SurroundingEvaluator

if TYPE_CHECKING:
    from zerosum._core import Leaves

LeafValues = Literal["network", "rollouts", "mean"]
"""Where the value of a leaf comes from: the network, one random game, or the mean of both."""
ROLLOUT_SHARES: dict[str, float] = {"network": 0.0, "rollouts": 1.0, "mean": 0.5}
"""AlphaGo's lambda for each of `LeafValues`."""


class RolloutValuesEvaluator(SurroundingEvaluator):
    """A network's evaluator whose values are results of random games to some share. Threads may share it.

    The games are keyed by the seed, the network's step and the positions of the batch, so that equal batches have equal
    values in every process, also after a run has been resumed.
    """

    def __init__(self, evaluator: NetworkEvaluator, share: float, *, seed: int, step: int) -> None:
        """Evaluate as `evaluator` does, with random games.

        Args:
            evaluator: Runs the network.
            share: The share of a random game's result in each value, in (0, 1]; the rest is the network's value.
            seed: Keys the games, with `step`; not negative.
            step: The step of the evaluator's network.
        """
        super().__init__(evaluator, seed=seed, step=step)
        self._share = np.float32(share)

    @override
    def evaluate(self, leaves: Leaves) -> Evaluations:
        """The network's logits; values, and win, draw and loss if the network has them, with the games' share."""
        answer, games_B = self._evaluator.evaluate(leaves), leaves.rollout_values(1, self._games_seed(leaves))
        values_B = (1 - self._share) * answer.values + self._share * games_B
        wdl_B3 = answer.wdl
        if wdl_B3 is not None:
            wdl_B3 = (1 - self._share) * wdl_B3 + self._share * win_draw_loss(games_B)
        return Evaluations(leaves, answer.logits, values_B, wdl_B3)

    def _games_seed(self, leaves: Leaves) -> int:
        """The seed of a batch's games, which the core keys by the place in the batch besides.

        A counter of calls would begin anew in a run that is resumed, whose games must be those of one that is not.
        """
        key = hashlib.blake2b(f"{self._seed} {self._step}".encode(), digest_size=8)
        for planes in (leaves.packed_planes, leaves.constant_planes):
            key.update(planes.tobytes())
        return int.from_bytes(key.digest(), "little")
