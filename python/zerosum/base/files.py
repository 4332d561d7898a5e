"""Files that survive a kill and a power cut: durable writes, and tables in which damage affects only its lines.

A *table* here is a text file with one entry per line, to which lines are appended. A kill can cut off its last line;
a disk can damage any line. `read_lines` skips damaged lines and changes nothing; `repair_lines` removes them from the
file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from zerosum.base.errors import DataError, RunError, printable

UNFINISHED = ".unfinished"
"""Suffix of a file that `write_durably` is writing; its name begins with a dot."""

MOST_NOTE_BYTES = 4 << 20
"""Largest file of settings, notes or a description that is read of a run."""
MOST_LINE_BYTES = 16 << 20
"""Longest line of a table that is read; a longer one is damaged."""
MOST_TABLE_BYTES = 256 << 20
"""Largest table that is read: the metrics of four months, a row every ten seconds."""

T = TypeVar("T")


def read_bytes(path: Path, *, most_bytes: int) -> bytes:
    """The content of a regular file, whose kind and size are checked before anything is read.

    A file of a run may come from anybody: it may be a link to an endless device, a pipe that nobody writes to, or a
    sparse file of terabytes.

    Raises:
        OSError: the file cannot be read, is not a regular file, or has more than `most_bytes` bytes.
    """
    with os.fdopen(open_binary(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        if status.st_size > most_bytes:
            raise OSError(errno.EFBIG, f"it has {status.st_size:,} bytes, at most {most_bytes:,} are read", str(path))
        content: bytes = file.read(status.st_size)
        return content


def read_text(path: Path, *, most_bytes: int) -> str:
    """As `read_bytes`, decoded from UTF-8, with the line ends of Unix. Raises OSError and UnicodeDecodeError."""
    return read_bytes(path, most_bytes=most_bytes).decode().replace("\r\n", "\n")


def write_durably(path: Path, content: bytes) -> None:
    """Write a file so that a power cut leaves it complete or as it was before. Raises OSError."""
    unfinished = path.with_name(f".{path.name}{UNFINISHED}")
    unfinished.unlink(missing_ok=True)
    try:
        with synced(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as file:  # O_EXCL: never write through a link
            write_all(file, content)
        os.replace(unfinished, path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def replace_durably(path: Path, text: str) -> None:
    """`write_durably` of text, as UTF-8 with line ends as they are. Raises OSError."""
    write_durably(path, text.encode())


def sync_directory(directory: Path) -> None:
    """Make new names in a directory durable. Windows does this without a call. Raises OSError."""
    if os.name != "nt":
        with synced(directory, os.O_RDONLY):
            pass


def require_own_files(directory: Path) -> None:
    """Refuse a directory whose tree contains a link that leads outside, a device or a pipe.

    Otherwise a directory from an untrusted source could make the program write or move files elsewhere. The directory
    itself may be a link, because its name is the user's.

    Raises:
        DataError: the tree contains such a name; the message has the first one.
    """
    if not directory.is_dir():
        return
    home, folders = os.path.realpath(directory), [directory]
    try:
        while folders:
            with os.scandir(folders.pop()) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(Path(entry.path))
                    _require_own(entry, directory, home)
    except OSError as error:
        raise DataError(f"{error.filename} cannot be read: {error.strerror}. Check its permissions.") from error


def _require_own(entry: os.DirEntry[str], directory: Path, home: str) -> None:
    if entry.is_symlink():
        target = os.path.realpath(entry.path)
        if os.path.commonpath([home, target]) != home:
            raise DataError(
                f"{entry.path} is a link out of {directory}, to {target}: nothing was read or written. Replace the link"
                " by a copy of its target, or remove it."
            )
    elif not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
        raise DataError(
            f"{entry.path} is neither a file nor a folder: nothing was read or written. Name another directory than"
            f" {directory}, or move it away."
        )


@contextlib.contextmanager
def synced(path: Path, flags: int) -> Iterator[int]:
    """A file descriptor whose writes are on the disk when the block has ended. Raises OSError."""
    file = open_binary(path, flags)
    try:
        yield file
        os.fsync(file)
    finally:
        os.close(file)


def open_binary(path: Path, flags: int) -> int:
    """A file descriptor for bytes as they are (Windows would translate line ends). Raises OSError."""
    return os.open(path, flags | getattr(os, "O_BINARY", 0), 0o644)


def write_all(file: int, data: bytes) -> None:
    """Write all of `data`, in one system call if possible. Raises OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def copy_aside(path: Path, content: bytes) -> Path:
    """Keep the content of `path` in another file whose name ends in `.damaged`. Raises OSError."""
    aside = path.with_name(f"{path.name}.{zlib.crc32(content):08x}.damaged")
    write_durably(aside, content)
    return aside


@contextlib.contextmanager
def writing(directory: Path) -> Iterator[None]:
    """A write into a run, with OSErrors turned into a RunError.

    Raises:
        RunError: the directory cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise RunError(
            f"{directory} cannot be written: {error.strerror or error}. What was saved is whole. Free space there or"
            " make it writable, then start again to resume."
        ) from error


@dataclass(frozen=True)
class Lines(Generic[T]):
    """A table as `read_lines` found it."""

    content: bytes
    """Bytes of the whole file; empty if there is no file."""
    entries: list[T]
    """Entries of the undamaged lines."""
    texts: list[str]
    """Lines that `entries` come from, without line ends."""
    header: str
    """The first line as found; "" if the table has no header."""
    damaged: list[int]
    """Numbers of the damaged lines, counted from 1."""
    is_torn: bool
    """Whether the last line is cut off."""


def read_lines(path: Path, parse: Callable[[str], T], *, header: str = "") -> Lines[T]:
    """Read a table without changing it; a missing file has no lines.

    Args:
        path: The table.
        parse: Turns a line into an entry; a TypeError or ValueError marks the line as damaged.
        header: The first line of the table, if it has one.

    Raises:
        DataError: the file cannot be read.
    """
    try:
        content = read_bytes(path, most_bytes=MOST_TABLE_BYTES)
    except FileNotFoundError:
        content = b""
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}. Check that it is a file and may be read.") from error
    *whole, torn = content.split(b"\n")
    found = Lines[T](content, [], [], whole[0].decode(errors="replace") if header and whole else "", [], bool(torn))
    for number, line in enumerate(whole, start=1):
        if header and number == 1:
            found.damaged.extend([] if found.header == header else [1])
            continue
        try:
            if len(line) > MOST_LINE_BYTES:
                raise ValueError("too long for a line")
            text = line.decode()
            found.entries.append(parse(text))
            found.texts.append(text)
        except (TypeError, ValueError, RecursionError):  # UnicodeDecodeError and JSONDecodeError are ValueErrors
            found.damaged.append(number)
    return found


def repair_lines(path: Path, found: Lines[T], *, report: Callable[[str], None], header: str = "") -> None:
    """Remove damaged lines from a table that only this process uses, and report them; a copy of the file is kept.

    Raises:
        RunError: the directory cannot be written.
    """
    if not found.damaged and not found.is_torn:
        return
    with writing(path.parent):
        if found.damaged:
            aside = copy_aside(path, found.content)
            one = len(found.damaged) == 1
            done = (
                f"{path} is damaged in line{'' if one else 's'} {', '.join(map(str, found.damaged))}: "
                f"{'it is' if one else 'they are'} removed, and the other lines count. The old file is kept as"
                f" {aside.name}."
            )
        else:
            done = f"The last line of {path} was cut off while it was written, and is removed."
        report(printable(done))
        replace_durably(path, "".join(f"{line}\n" for line in ([header] if header else []) + found.texts))


def append_line(path: Path, line: str, *, header: str = "") -> None:
    """Append a line, without its end, to a table; a missing or empty table begins with its header.

    Raises:
        RunError: the directory cannot be written.
    """
    with writing(path.parent), path.open("ab") as file:
        lines = [header, line] if header and file.tell() == 0 else [line]
        file.write("".join(f"{line}\n" for line in lines).encode())
