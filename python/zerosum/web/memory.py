"""Memory of the server that visitors have left: it goes back to the system."""

from __future__ import annotations

import ctypes
import sys

OWN_MAPPING = 1 << 20
"""Bytes from which a block of memory is a mapping of its own, which the system has back when the block is freed."""
M_MMAP_THRESHOLD = -3
"""The number of this setting in glibc's `mallopt`."""


def give_back_large_blocks() -> None:
    """Have glibc keep large blocks out of its heaps; other C libraries are left as they are.

    By itself glibc moves the bound up to 32 MiB once such a block was freed. From then on the trees of searches lie in
    the heaps of many threads, between small blocks that stay, and the heaps grow for hours.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, OWN_MAPPING)
