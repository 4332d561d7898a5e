"""Files of other programs' networks, which are packed by gzip."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path

from zerosum.base.errors import DataError
from zerosum.base.files import read_bytes

GZIP = b"\x1f\x8b"
MOST_BYTES = 1 << 30
MOST_UNPACKED = 8
"""Largest size of the content as a multiple of the file's: weights do not shrink further, a compressed bomb does."""


def read_packed(path: Path, *, may_be_plain: bool = False) -> bytes:
    """The unpacked content of a file, whose size is bounded by the file's; a plain file as it is, if it `may_be_plain`.

    Raises:
        DataError: the file cannot be read, is damaged, or unpacks to too much.
    """
    try:
        packed = read_bytes(path, most_bytes=MOST_BYTES)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    if may_be_plain and not packed.startswith(GZIP):
        return packed
    most = MOST_UNPACKED * len(packed) + 1024
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            content = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} is damaged: its gzip data end early or are changed. Copy it again.") from error
    if len(content) > most:
        raise DataError(
            f"{path} unpacks to more than {MOST_UNPACKED} times its {len(packed):,} bytes, which no network does."
        )
    return content
