"""The format of Lc0's files: messages of protocol buffers (`net.proto` of Lc0), and the weights of a layer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_LINEAR16, _FLOAT16, _BFLOAT16, _FLOAT32 = 1, 2, 3, 4


class UnreadableError(Exception):
    """What is wrong with a file, without its path and without a full stop."""


class Message:
    """A message of protocol buffers: the values of each field by number, in their order."""

    def __init__(self, content: bytes) -> None:
        """Raises UnreadableError if it is none."""
        self._values: dict[int, list[int | bytes]] = {}
        at = 0
        while at < len(content):
            key, at = _varint(content, at)
            number, kind = key >> 3, key & 7
            if kind == 0:
                value: int | bytes
                value, at = _varint(content, at)
            elif kind in (1, 2, 5):
                size = {1: 8, 5: 4}.get(kind)
                if size is None:
                    size, at = _varint(content, at)
                if size > len(content) - at:
                    raise UnreadableError(f"field {number} has {size:,} bytes, but {len(content) - at:,} are left")
                value, at = content[at : at + size], at + size
            else:
                raise UnreadableError(f"byte {at} begins a field of kind {kind}, expected a file of net.proto")
            self._values.setdefault(number, []).append(value)

    def __contains__(self, number: int) -> bool:
        return number in self._values

    def integer(self, number: int, default: int = 0) -> int:
        """The value of a field of integers; fixed ones are little endian."""
        value = self._values.get(number, [default])[-1]
        return value if isinstance(value, int) else int.from_bytes(value[:8], "little")

    def real(self, number: int) -> float:
        """The value of a 32-bit float; 0 without one."""
        value = self._values.get(number, [bytes(4)])[-1]
        if not isinstance(value, bytes) or len(value) != 4:
            raise UnreadableError(f"field {number} is not a 32-bit float")
        return float(np.frombuffer(value, "<f4")[0])

    def data(self, number: int) -> bytes:
        """The bytes of a field; empty without one."""
        value = self._values.get(number, [b""])[-1]
        if not isinstance(value, bytes):
            raise UnreadableError(f"field {number} is a number, expected bytes")
        return value

    def message(self, number: int) -> Message:
        """The message in a field; an empty one without it."""
        return Message(self.data(number))

    def messages(self, number: int) -> Iterator[Message]:
        """The messages of a repeated field."""
        for value in self._values.get(number, []):
            if not isinstance(value, bytes):
                raise UnreadableError(f"field {number} is a number, expected a message")
            yield Message(value)


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """An integer of 7 bits a byte, and the index behind it."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(content):
            raise UnreadableError("it ends within a number")
        byte = content[at]
        value, at = value | (byte & 0x7F) << shift, at + 1
        if byte < 0x80:
            return value, at
    raise UnreadableError(f"byte {at} continues a number of more than 64 bits")


def layer_numbers(name: str, layer: Message) -> NDArray[np.float32]:
    """The numbers of a layer in any of the four encodings."""
    data, encoding = layer.data(3), layer.integer(4, _LINEAR16) or _LINEAR16
    if encoding not in (_LINEAR16, _FLOAT16, _BFLOAT16, _FLOAT32):
        raise UnreadableError(f"{name} has the encoding {encoding}, expected {_LINEAR16} to {_FLOAT32}")
    if len(data) % (4 if encoding == _FLOAT32 else 2):
        raise UnreadableError(f"{name} has {len(data):,} bytes, expected a multiple of a weight's size")
    if encoding == _LINEAR16:
        low, high = layer.real(1), layer.real(2)
        numbers = np.frombuffer(data, "<u2").astype(np.float32) * np.float32((high - low) / 65535) + np.float32(low)
    elif encoding == _BFLOAT16:
        numbers = (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
    else:
        numbers = np.frombuffer(data, "<f2" if encoding == _FLOAT16 else "<f4").astype(np.float32)
    if not np.isfinite(numbers).all():
        raise UnreadableError(f"{name} has the weight {numbers[~np.isfinite(numbers)][0]}")
    return numbers
