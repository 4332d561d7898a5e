"""The lock of a directory: one process at a time writes there.

holder.lock    held by the process
holder.json    says which process that is, for people
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from zerosum.base.errors import RunError, printable
from zerosum.base.files import MOST_NOTE_BYTES, UNFINISHED, read_text, replace_durably, require_own_files

LOCK = "holder.lock"
"""The file that a process locks while it holds a directory."""
NOTE = "holder.json"
"""A second file, because other processes cannot read the locked one on every system."""
LEFT_BY_A_KILL = {LOCK, NOTE, f".{NOTE}{UNFINISHED}"}
"""Files that a kill can leave in a directory that is otherwise empty."""
LOCK_S = 1.0
"""Longest wait for the lock, which `is_held` takes for a moment."""


@contextlib.contextmanager
def held(directory: Path, *, option: str) -> Iterator[int]:
    """Lock a directory for this process; it is made if it does not exist.

    Args:
        directory: The directory.
        option: The option of the command line that names another one, for messages.

    Yields:
        The time in nanoseconds before the lock was taken, by the clock that stamps the directory's files.

    Raises:
        RunError: another process holds it, or it cannot be written.
        DataError: a name in it is a link that leads outside.
    """
    import filelock

    note, lock = directory / NOTE, filelock.FileLock(directory / LOCK, timeout=LOCK_S)
    holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
    try:
        directory.mkdir(parents=True, exist_ok=True)
        require_own_files(directory)
        begun = _now_there(directory)
        lock.acquire()
        replace_durably(note, json.dumps(holder))
    except filelock.Timeout:
        raise RunError(
            f"{directory} is held by {_holder(directory)}: stop it first, or name another directory with {option}."
        ) from None
    except OSError as error:
        raise RunError(
            f"{directory} cannot be written ({error.strerror}): name another directory with {option}."
        ) from error
    try:
        yield begun
    finally:
        note.unlink(missing_ok=True)
        lock.release()


def is_held(directory: Path) -> bool:
    """Whether a process, of any machine that shares the directory, holds it. Nothing is written."""
    import filelock

    path = directory / LOCK
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
        with filelock.FileLock(path, timeout=0):
            return False
    except filelock.Timeout:
        return True
    except OSError:
        return False


def _now_there(directory: Path) -> int:
    """The time in nanoseconds by the clock of a directory's files, which may be another machine's."""
    with tempfile.TemporaryFile(dir=directory) as file:
        return os.fstat(file.fileno()).st_mtime_ns


def _holder(directory: Path) -> str:
    try:
        holder = json.loads(read_text(directory / NOTE, most_bytes=MOST_NOTE_BYTES))
        return printable(f"process {holder['pid']} on {holder['host']} since {holder['since']}")
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return "another process"
