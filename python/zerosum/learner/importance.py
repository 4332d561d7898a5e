"""Weights by importance: samples count less for the value where the newest policy would hardly play the recorded move.

A game's end follows from the moves that were made, by networks and searches of that time. The truncated importance
weight of IMPALA's V-trace (Espeholt et al. 2018, arXiv 1802.01561, section 4.1), rho = min(c, pi(a|s) / mu(a|s)), makes
an outcome count as often as the policy pi that is learned now would have gone that way, for one move. Here pi is the
network in training, and mu the recorded policy, the shares of the search that chose the move. V-trace corrects returns
of several steps by products of such weights; an outcome is many moves away, and the product would leave nothing of it.

The policy loss is not weighted: its target is what a search found at the position, whichever move was made there.

Shape suffixes: B samples, A actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from zerosum.network.heads import masked_logits

if TYPE_CHECKING:
    from torch import Tensor

TARGETS = frozenset({"played", "played_share"})
"""The targets of a batch that the weights read, besides the legal actions (`replay.batch.Batch`)."""
LEAST_SHARE = 1e-8
"""In place of a recorded share of 0, of a move that the search did not count: its ratio is truncated."""


def importance_weights(logits_BA: Tensor, targets: Mapping[str, Tensor], *, limit: float, num_parts: int = 1) -> Tensor:
    """[B], truncated ratios by their mean, so that their own mean is 1. They have no gradient.

    Args:
        logits_BA: The policy of the network in training, float32.
        targets: Those of `TARGETS`, and `legal` if illegal moves are masked.
        limit: The largest ratio (c), above 0.
        num_parts: Processes of torch's default group with an equal part of the batch each; the mean is that of all.
    """
    import torch

    with torch.no_grad():
        probs_BA = masked_logits(logits_BA, targets.get("legal")).softmax(dim=1)
        played_B = probs_BA.gather(1, targets["played"].long()[:, None])[:, 0]
        ratios_B = (played_B / targets["played_share"].clamp_min(LEAST_SHARE)).clamp_max(limit)
        mean = ratios_B.mean()
        if num_parts > 1:
            torch.distributed.all_reduce(mean)
            mean /= num_parts
        # A mean of 0 leaves weights of 0: no move was likely.
        return ratios_B / mean.clamp_min(LEAST_SHARE)
