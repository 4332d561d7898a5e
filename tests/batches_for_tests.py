"""Dense forms of what a batch has packed, and the way back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerosum.replay import Batch
from zerosum.replay.samples import Policies


def policies_of(policy_BA: NDArray[np.floating]) -> Policies:
    """The entries above 0 of a dense policy."""
    samples, actions = np.nonzero(policy_BA)
    return Policies(
        actions=actions.astype(np.uint16),
        probabilities=policy_BA[samples, actions].astype(np.float16),
        offsets=np.searchsorted(samples, np.arange(len(policy_BA) + 1)).astype(np.int64),
    )


def legal_mask_of(batch: Batch) -> NDArray[np.bool_]:
    """[B, A], True where an action is legal."""
    mask_BA = np.zeros((len(batch), batch.num_actions), np.bool_)
    mask_BA.ravel()[batch.legal_indices()] = True
    return mask_BA
