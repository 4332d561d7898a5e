"""Messages as bytes: plain values as JSON and arrays as safetensors, so nothing that is read can run code.

A message is `length of the JSON u64 | length of the arrays u64 | JSON | arrays`, little-endian.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Mapping
from typing import IO, Any

from numpy.typing import NDArray

from zerosum.base.arrays import pack_arrays
from zerosum.base.files import write_all

Arrays = dict[str, NDArray[Any]]
_LENGTHS = struct.Struct("<QQ")


def write_message(pipe: int, values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]] | None = None) -> None:
    """Write a message to a file descriptor. Raises OSError if nobody reads."""
    write_all(pipe, pack_message(values, arrays))


def pack_message(values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]] | None = None) -> bytes:
    """A message as bytes."""
    text, data = json.dumps(values).encode(), pack_arrays(arrays) if arrays else b""
    return b"".join((_LENGTHS.pack(len(text), len(data)), text, data))


def unpack_message(data: bytes) -> tuple[dict[str, Any], Arrays]:
    """The inverse of `pack_message`. Raises ValueError if the bytes end within the message."""
    message = read_message(io.BytesIO(data))
    if message is None:
        raise ValueError("the message is cut off")
    return message


def read_message(file: IO[bytes]) -> tuple[dict[str, Any], Arrays] | None:
    """The next message; None if the other side has ended, even within a message."""
    import safetensors.numpy as safetensors

    head = file.read(_LENGTHS.size)
    if len(head) < _LENGTHS.size:
        return None
    num_text, num_data = _LENGTHS.unpack(head)
    text, data = file.read(num_text), file.read(num_data)
    if len(text) < num_text or len(data) < num_data:
        return None
    return json.loads(text), safetensors.load(data) if data else {}
