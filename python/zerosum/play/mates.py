"""The evaluator of a search for mates without a network: the fewer replies, the worse the position."""

from __future__ import annotations

import numpy as np
from typing_extensions import override

from zerosum._core import Leaves
from zerosum.network.evaluators.evaluator import Evaluations, Evaluator, RolloutEvaluator
from zerosum.play.player import Player
from zerosum.search import SearchConfig

EVEN_REPLIES = 20
"""The number of legal moves that has the value 0."""


class RepliesEvaluator(Evaluator):
    """Equal priors, and (L - 20) / (L + 20) for a player with L legal moves, so that checks are searched first.

    Random games rarely end in a mate and take hundreds of times as long.
    """

    @override
    def evaluate(self, leaves: Leaves) -> Evaluations:
        num_legal = np.diff(leaves.legal_offsets).astype(np.float32)
        values = (num_legal - EVEN_REPLIES) / (num_legal + EVEN_REPLIES)
        return Evaluations(leaves, np.zeros(len(leaves.legal_actions), np.float32), values.astype(np.float32))


def mate_finder(player: Player) -> Player:
    """The player that searches for mates: the same one if it has a network."""
    if not isinstance(player.evaluator, RolloutEvaluator):
        return player
    # Settings for random games explore far too much here.
    config = SearchConfig(num_simulations=player.config.num_simulations)
    return player.judged_by(RepliesEvaluator(), config)
