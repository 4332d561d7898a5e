"""Samples as tests compare them."""

from typing import Any

import numpy as np

from zerosum.replay import Samples


def columns_of(samples: Samples) -> dict[str, Any]:
    """Every array of the samples by its name, those of the policies as `policies.COLUMN`."""
    columns = {name: column for name, column in vars(samples).items() if name != "policies"}
    return columns | {f"policies.{column}": values for column, values in vars(samples.policies).items()}


def split(values, offsets):
    """The rows of a ragged array."""
    return [part.tolist() for part in np.split(values, offsets[1:-1])]


def rows(samples: Samples):
    """(moves, target's actions) of each sample."""
    moves = split(samples.actions, samples.action_offsets)
    return list(zip(moves, split(samples.policies.actions, samples.policies.offsets), strict=True))
