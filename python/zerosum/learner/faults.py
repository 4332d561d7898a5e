"""Sentences for what a device does wrong while it learns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from zerosum.base.errors import RunError, ZerosumError
from zerosum.network.evaluators.batch_limit import is_out_of_memory
from zerosum.network.evaluators.device import device_failure

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
            reason = str(error).splitlines()[0].rstrip(".") if str(error) else "out of memory"
            raise RunError(
                f"{DEVICE} has no memory left for a step ({reason}). Everything recorded is kept; end other programs on"
                " the device, or set learner.batch_size or the network smaller, and resume."
            ) from error
        if failure := device_failure(error, DEVICE, work="a learner step"):
            raise failure from error
        raise
