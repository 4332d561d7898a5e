"""Sentences for what a device does wrong while it evaluates or learns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from zerosum.base.errors import RunError, ZerosumError
from zerosum.network.evaluators.batch_limit import is_out_of_memory

_SIGNS_OF_FAILURE = (
    "CUDA error:",
    "CUDA driver error:",
    "CUDNN_STATUS_EXECUTION_FAILED",
    "CUDNN_STATUS_INTERNAL_ERROR",
    "CUBLAS_STATUS_EXECUTION_FAILED",
)


@contextmanager
def device_faults(device: str, *, work: str) -> Iterator[None]:
    """A context in which a device that fails during `work`, or has no memory left for it, is a `RunError`.

    A GPU reports an error late, by any later call.
    """
    try:
        yield
    except ZerosumError:
        raise
    except (MemoryError, RuntimeError) as error:
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else "out of memory"
        if is_out_of_memory(error):
            raise RunError(
                f"{device} has no memory left for {work} ({reason}). Everything recorded is kept; end other programs on"
                " the device, or set learner.batch_size or the network smaller, and resume."
            ) from error
        if any(sign in reason for sign in _SIGNS_OF_FAILURE):
            raise RunError(
                f"{device} failed during {work} ({reason}): the GPU or its driver has stopped. Everything recorded is"
                " kept; resume when the device works again, or set device to 'cpu'."
            ) from error
        raise
