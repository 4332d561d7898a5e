"""Arrays as bytes, in the format of safetensors, whose `save` only this file calls; and ragged rows in dense arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def pack_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Arrays by name, in C order whatever their strides; `safetensors.numpy.load` is the inverse.

    safetensors itself writes an array's memory as it lies: a kernel of a network in channels-last memory would come
    back with its numbers in other places.

    >>> import safetensors.numpy
    >>> turned = np.arange(6).reshape(2, 3).T
    >>> bool((safetensors.numpy.load(pack_arrays({"turned": turned}))["turned"] == turned).all())
    True
    """
    import safetensors.numpy

    return safetensors.numpy.save({name: np.ascontiguousarray(array) for name, array in arrays.items()})


def places(columns: NDArray[np.uint16], offsets: NDArray[np.int64], *, width: int) -> NDArray[np.int64]:
    """Indices of the entries of ragged rows in a flat array of rows of `width` columns.

    Row r has the entries columns[offsets[r]:offsets[r + 1]].

    >>> places(np.array([1, 4, 0], np.uint16), np.array([0, 2, 3]), width=5).tolist()
    [1, 4, 5]
    """
    return np.repeat(np.arange(len(offsets) - 1) * width, np.diff(offsets)) + columns


def expand_planes(
    packed_BPN: NDArray[np.uint8],
    numbers_BK: NDArray[np.float32],
    is_constant: NDArray[np.bool_],
    board_shape: tuple[int, int],
) -> NDArray[np.float32]:
    """Planes [B, C, H, W] from the layout of `Leaves.packed_planes` and `Leaves.constant_planes`.

    `is_constant` is [C], whether a plane is one number. Suffixes: P planes of bits with N bytes each, K planes of one
    number each, S squares.
    """
    height, width = board_shape
    planes_BCHW = np.empty((len(packed_BPN), len(is_constant), height, width), np.float32)
    bits_BPS = np.unpackbits(packed_BPN, axis=2, count=height * width, bitorder="little")
    planes_BCHW[:, ~is_constant] = bits_BPS.reshape(*bits_BPS.shape[:2], height, width)
    planes_BCHW[:, is_constant] = numbers_BK[:, :, None, None]
    return planes_BCHW
