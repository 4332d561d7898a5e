"""Sentences for what a device does wrong while it learns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from zerosum.base.errors import RunError, ZerosumError
from zerosum.evaluators.batch_limit import is_out_of_memory

_SIGNS_OF_FAILURE = ("CUDA error", "CUDNN_STATUS_", "CUBLAS_STATUS_", "MPS backend", "HIP error")
"""Parts of torch's messages about a device that is gone or stopped; there is no common class of exceptions."""


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
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        if is_out_of_memory(error):
            raise RunError(
                f"the learner's device has no memory left for a step ({reason}). The games and the last checkpoint are"
                " saved: end other programs on the device, or set learner.batch_size or the network smaller, and go on"
                " by the same command."
            ) from error
        if any(sign in reason for sign in _SIGNS_OF_FAILURE):
            raise RunError(
                f"the learner's device failed ({reason}): the GPU or its driver has stopped. The games and the last"
                " checkpoint are saved: go on by the same command when the device works again, or on a CPU (--set"
                " training.device=cpu)."
            ) from error
        raise
