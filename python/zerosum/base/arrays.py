"""Arrays as bytes, in the format of safetensors. Nothing else calls its `save`."""

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
