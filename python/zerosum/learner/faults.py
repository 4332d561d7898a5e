"""Sentences for what a device does wrong while it learns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from zerosum.base.errors import ZerosumError
from zerosum.network.evaluators.batch_limit import is_out_of_memory
from zerosum.network.evaluators.device import device_failure, memory_failure

DEVICE = "the learner's device"


@contextmanager
def device_faults() -> Iterator[None]:
    """A context in which a device that fails or has no memory left is a `RunError` of one sentence.

    A GPU reports an error late, by any later call.
    """
    try:
        yield
    except ZerosumError:
        raise
    except (MemoryError, RuntimeError) as error:
        if is_out_of_memory(error):
            raise memory_failure(error, DEVICE, work="a step") from error
        if failure := device_failure(error, DEVICE, work="a learner step"):
            raise failure from error
        raise
