"""Syzygy tables of chess endings: folders of `.rtbw` and `.rtbz` files, opened once for all searches.

The tables are Ronald de Man's. `docs/tables.md` says what a search does with them.
"""

from __future__ import annotations

import functools
import math
import os
from pathlib import Path

from zerosum._core import Syzygy as Syzygy
from zerosum.base.errors import SettingsError, shown

NAMED_ENDINGS = 3
"""Endings with missing files that are named in a sentence."""


def open_syzygy(path: str) -> Syzygy:
    """The tables of a folder, or of several, separated as in `PATH` (`:`, in Windows `;`).

    Raises:
        SettingsError: a folder does not exist, none of them has tables, or a file is incomplete or damaged.
    """
    return _opened(path)


@functools.lru_cache(maxsize=4)
def _opened(path: str) -> Syzygy:
    folders = [Path(name).expanduser() for name in path.split(os.pathsep) if name]
    for folder in folders:
        if not folder.is_dir():
            found = "is not a folder" if folder.exists() else "does not exist"
            raise SettingsError(
                f"Syzygy tables: {shown(str(folder))} {found}. Name the folder that has the files .rtbw and .rtbz."
            )
    try:
        return Syzygy(folders)
    except ValueError as error:
        raise SettingsError(f"Syzygy tables: {path}: {error}. Copy the files again, or name another folder.") from error


def describe_syzygy(tables: Syzygy) -> str:
    """A sentence about what the tables have and what is missing.

    >>> [num_endings(3), num_endings(4), num_endings(5)]
    [5, 30, 110]
    """
    men = [len(name) - 1 for name, _, _ in tables.endings]
    sizes = [f"{men.count(size)} of {num_endings(size)} with {size} men" for size in sorted(set(men))]
    halves = [
        f"{name}{'.rtbz' if has_wdl else '.rtbw'}"
        for name, has_wdl, has_dtz in tables.endings
        if not (has_wdl and has_dtz)
    ]
    sentence = f"Syzygy endings: {', '.join(sizes)}."
    if halves:
        named = ", ".join(halves[:NAMED_ENDINGS]) + (" ..." if len(halves) > NAMED_ENDINGS else "")
        files, endings = ("file is", "its ending is") if len(halves) == 1 else ("files are", "their endings are")
        sentence += f" {len(halves)} {files} missing ({named}): {endings} searched without tables."
    return sentence


def num_endings(men: int) -> int:
    """Number of endings with so many men, the kings included; each ending has one table for both colours."""

    def armies(size: int) -> int:
        return math.comb(size + 4, 4)  # of five kinds of pieces

    others = men - 2
    ordered = sum(armies(size) * armies(others - size) for size in range(others + 1))
    even = armies(others // 2) if others % 2 == 0 else 0
    return (ordered + even) // 2
