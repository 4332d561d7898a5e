"""Memory of the server that visitors have left: it goes back to the system, and heaps do not grow for hours."""

from __future__ import annotations

import ctypes
import sys

from zerosum.base.settings import num_cores

OWN_MAPPING = 1 << 20
"""Bytes from which a block of memory is a mapping of its own, which the system has back when the block is freed."""
M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8
"""The numbers of these settings in glibc's `mallopt`."""


def keep_heaps_small() -> None:
    """Have glibc keep large blocks out of its heaps, of which there is one a core; called before threads begin.

    By itself glibc moves the bound up to 32 MiB once such a block was freed. From then on the trees of searches lie in
    the heaps of many threads, up to eight a core, between small blocks that stay: the heaps grow while the memory in
    use does not. Other C libraries are left as they are.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, OWN_MAPPING)
        mallopt(M_ARENA_MAX, num_cores())
