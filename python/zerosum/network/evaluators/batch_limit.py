"""The largest batch that fits a device's memory, lowered when an evaluation runs out of memory."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import SettingsError

ResultT = TypeVar("ResultT")

# Parts of messages in small letters, for there is no exception class: of torch, CUDA's libraries, oneDNN (under
# OpenVINO), the C++ library and the loader of libraries.
_OUT_OF_MEMORY = (
    "out of memory",
    "_alloc_failed",
    "cublas_status_not_initialized",  # a library of CUDA found no memory for itself, as beside a program that fills it
    "cudnn_status_not_initialized",
    "can't alloc",
    "not enough memory",
    "bad_alloc",
    "failed to map segment",
    "broken promise",  # of OpenVINO's threads: the one that compiles ended without memory
)


class BatchLimit:
    """The largest batch of one device, or of several equal ones. Threads may share it."""

    def __init__(self, device: str, *, most: int = sys.maxsize) -> None:
        """`device` is its name in warnings; `most` is the initial limit of positions at once."""
        self.most = most
        self._device = device

    def in_parts(self, num: int, evaluate: Callable[[int, int], ResultT]) -> list[ResultT]:
        """Answers of `evaluate(start, stop)` for the parts of `num` positions in their order, at least one part.

        A part for which the memory does not suffice is halved and tried again, and later parts are not larger. The
        first time there is a RuntimeWarning.

        Raises:
            SettingsError: the memory does not suffice for a single position.
        """
        results: list[ResultT] = []
        start = 0
        while start < num or not results:
            size = min(num - start, self.most)
            try:
                results.append(evaluate(start, start + size))
            except (MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                if size <= 1:
                    raise SettingsError(
                        f"The memory of {self._device} does not suffice for one position: use a smaller network,"
                        " another device, or end other programs on it."
                    ) from error
                self._lower(size // 2, size)
            else:
                start += size
        return results

    def _lower(self, most: int, tried: int) -> None:
        if most < self.most:  # otherwise another thread has lowered it
            self.most = most
            warnings.warn(
                f"The memory of {self._device} does not suffice for {tried} positions at once: the limit is now {most}."
                " Set selfplay.games_per_worker to this number, or use a smaller network.",
                RuntimeWarning,
                stacklevel=3,
            )


def whole(parts: list[list[NDArray[np.float32]]]) -> list[NDArray[np.float32]]:
    """A network's outputs, [B, ...] each, joined from those of the parts."""
    return parts[0] if len(parts) == 1 else [np.concatenate(outputs) for outputs in zip(*parts, strict=True)]


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error is a lack of memory of the device or the host."""
    message = str(error).lower()
    return isinstance(error, MemoryError) or any(sign in message for sign in _OUT_OF_MEMORY)
