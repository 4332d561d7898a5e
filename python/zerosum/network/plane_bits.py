"""Planes that are expanded on a device of torch: they travel there as bits, and as one number if they are constant.

Shape suffixes: B positions, C planes (P of bits, K of one number each, N bytes a plane of bits, S squares), H height,
W width.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch


class PlaneBits:
    """Expands the planes of a game, whose layout is that of `Leaves.packed_planes` and `Leaves.constant_planes`."""

    def __init__(self, is_constant: NDArray[np.bool_], board_shape: tuple[int, int], device: torch.device) -> None:
        """`is_constant` is [C], whether a plane is one number."""
        import torch

        self._num_planes, self._board_shape = len(is_constant), board_shape
        self._bit_numbers = torch.arange(8, dtype=torch.uint8, device=device)
        self._bit_channels_P = torch.tensor(np.flatnonzero(~is_constant), device=device)
        self._number_channels_K = torch.tensor(np.flatnonzero(is_constant), device=device)

    @property
    def packed_shape(self) -> tuple[int, int]:
        """Number of planes of bits, and bytes of each (P, N)."""
        height, width = self._board_shape
        return len(self._bit_channels_P), -(-height * width // 8)

    @property
    def num_numbers(self) -> int:
        """Number of planes that are one number each (K)."""
        return len(self._number_channels_K)

    @property
    def order(self) -> list[int]:
        """[C], the planes of bits, then those of numbers: the channels of `write`, by their places in the game."""
        return [*self._bit_channels_P.tolist(), *self._number_channels_K.tolist()]

    def write(self, planes_BSC: torch.Tensor, packed_BPN: torch.Tensor, numbers_BK: torch.Tensor) -> None:
        """Write bits, then numbers, into the first channels of `planes_BSC` [B, H * W, at least C].

        This takes fewer passes over memory than `expand`.
        """
        num_bits, num_planes, num_squares = packed_BPN.shape[1], self._num_planes, planes_BSC.shape[1]
        bits_BN8P = packed_BPN.transpose(1, 2).contiguous().unsqueeze(2) >> self._bit_numbers[:, None]
        planes_BSC[:, :, :num_bits] = bits_BN8P.bitwise_and_(1).flatten(1, 2)[:, :num_squares]
        planes_BSC[:, :, num_bits:num_planes] = numbers_BK[:, None]

    def expand(self, packed_BPN: torch.Tensor, numbers_BK: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """[B, C, H, W] in channels-last memory, from bits and numbers on the device."""
        import torch

        size, (height, width) = len(packed_BPN), self._board_shape
        bits_BPS = (packed_BPN.unsqueeze(-1) >> self._bit_numbers).bitwise_and_(1).flatten(2)[:, :, : height * width]
        planes_BCHW = torch.empty(
            (size, self._num_planes, height, width),
            dtype=dtype,
            device=packed_BPN.device,
            memory_format=torch.channels_last,
        )
        planes_BCHW[:, self._bit_channels_P] = bits_BPS.reshape(*bits_BPS.shape[:2], height, width).to(dtype)
        planes_BCHW[:, self._number_channels_K] = numbers_BK.to(dtype)[:, :, None, None].expand(-1, -1, height, width)
        return planes_BCHW
