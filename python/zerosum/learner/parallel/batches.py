"""Batches as the values and arrays of a message (`messages.py`)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from typing import Any

from zerosum.learner.parallel.messages import Arrays
from zerosum.replay.batch import Batch
from zerosum.replay.samples import Policies

_NUMBERS = ("board_shape", "num_actions")
_POLICY, _TARGET = "policy.", "target."


def pack_batch(batch: Batch, *, targets: Collection[str]) -> tuple[dict[str, Any], Arrays]:
    """The values and arrays of a batch, with those of its targets that are asked for."""
    nested = ("policies", "targets", *_NUMBERS)
    arrays: Arrays = {field.name: getattr(batch, field.name) for field in fields(batch) if field.name not in nested}
    arrays |= {_POLICY + field.name: getattr(batch.policies, field.name) for field in fields(batch.policies)}
    arrays |= {_TARGET + name: target for name, target in batch.targets.items() if name in targets}
    return {name: getattr(batch, name) for name in _NUMBERS}, arrays


def unpack_batch(values: dict[str, Any], arrays: Arrays) -> Batch:
    """The inverse of `pack_batch`."""
    policies = {name.removeprefix(_POLICY): array for name, array in arrays.items() if name.startswith(_POLICY)}
    targets = {name.removeprefix(_TARGET): array for name, array in arrays.items() if name.startswith(_TARGET)}
    others: dict[str, Any] = {name: array for name, array in arrays.items() if "." not in name}
    others["board_shape"] = tuple(values["board_shape"])
    return Batch(num_actions=values["num_actions"], policies=Policies(**policies), targets=targets, **others)
