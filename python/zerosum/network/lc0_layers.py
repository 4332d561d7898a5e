"""Layers of Lc0's files as weights of ours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerosum.network.lc0_file import Message, UnreadableError, layer_numbers
from zerosum.network.lc0_moves import NUM_DENSE_MOVES, NUM_MOVE_PLANES, SIDE, dense_places
from zerosum.network.weights import NORM_EPSILON


class LayerReader:
    """Converts layers of a file to weights of ours, by their names."""

    def __init__(self) -> None:
        self.weights: dict[str, NDArray[np.float32]] = {}

    def conv_norm(self, name: str, block: Message, *, inputs: int, kernel: int) -> int:
        """Add a convolution with its norm; returns the number of its filters."""
        weight, filters = _kernel(name, block, inputs, kernel)
        shift, mean, variance, factor, bias = _norm(name, block, filters)
        self.weights[f"{name}.conv.weight"] = weight
        parts = {"weight": factor, "bias": bias, "running_mean": mean - shift, "running_var": variance}
        self.weights.update({f"{name}.norm.{part}": array for part, array in parts.items()})
        return filters

    def conv(self, name: str, block: Message, *, inputs: int, kernel: int, num_kept: int) -> None:
        """Add the first filters of a convolution with a bias, its norm folded into it."""
        weight, filters = _kernel(name, block, inputs, kernel)
        shift, mean, variance, factor, bias = _norm(name, block, filters)
        if filters < num_kept:
            raise UnreadableError(f"{name} has {filters} filters, expected at least {num_kept}")
        scale = factor / np.sqrt(variance + np.float32(NORM_EPSILON))
        self.weights[f"{name}.weight"] = (weight * scale[:, None, None, None])[:num_kept]
        self.weights[f"{name}.bias"] = (bias + scale * (shift - mean))[:num_kept]

    def block(self, name: str, block: Message, filters: int) -> int:
        """Add a residual block; returns the units of its squeeze layer, 0 without one."""
        for number, part in ((1, "first"), (2, "second")):
            if self.conv_norm(f"{name}.{part}", block.message(number), inputs=filters, kernel=3) != filters:
                raise UnreadableError(f"{name} has other numbers of filters than the {filters} of the stem")
        if 3 not in block:
            return 0
        excitation = block.message(3)
        units = self.linear(f"{name}.squeeze", excitation, (1, 2), inputs=filters)
        weight, bias = dense(f"{name}.scale_out", excitation, (3, 4), units)
        if len(bias) != 2 * filters:
            raise UnreadableError(f"{name} has {len(bias)} excitations, expected {2 * filters}")
        for part, rows in (("scale_out", slice(filters)), ("shift_out", slice(filters, None))):
            self.weights[f"{name}.{part}.weight"] = weight[rows].copy()
            self.weights[f"{name}.{part}.bias"] = bias[rows].copy()
        return units

    def linear(
        self,
        name: str,
        message: Message,
        fields: tuple[int, int],
        *,
        inputs: int,
        of_squares: bool = False,
        factor: float = 1.0,
    ) -> int:
        """Add a dense layer, its outputs times a factor; returns their number."""
        weight, bias = dense(name, message, fields, inputs)
        self.weights[f"{name}.weight"] = (_turned(weight) if of_squares else weight) * np.float32(factor)
        self.weights[f"{name}.bias"] = bias * np.float32(factor)
        return len(bias)

    def matrix(self, name: str, layer: Message, *, inputs: int) -> int:
        """Add a dense layer without a bias; returns the number of its outputs."""
        weight = layer_numbers(name, layer)
        units, rest = divmod(len(weight), inputs)
        if rest or not units:
            raise UnreadableError(f"{name} has {len(weight):,} weights, expected a multiple of {inputs:,}")
        self.weights[f"{name}.weight"] = weight.reshape(units, inputs)
        self.weights[f"{name}.bias"] = np.zeros(units, np.float32)
        return units

    def norm(self, name: str, message: Message, fields: tuple[int, int], *, units: int) -> None:
        """Add the weight and the bias of each unit after a norm."""
        for part, field in zip(("weight", "bias"), fields, strict=True):
            numbers = layer_numbers(name, message.message(field))
            if len(numbers) != units:
                raise UnreadableError(f"{name}'s {part} has {len(numbers):,} numbers, expected {units:,}")
            self.weights[f"{name}.{part}"] = numbers

    def planes_policy(self, weights: Message, filters: int) -> int:
        """Add a policy of planes; returns the number of its hidden filters."""
        hidden = self.conv_norm("policy_conv", weights.message(11), inputs=filters, kernel=3)
        self.conv("policy_out", weights.message(3), inputs=hidden, kernel=3, num_kept=NUM_MOVE_PLANES)
        return hidden

    def dense_policy(self, weights: Message, filters: int) -> int:
        """Add a dense policy, whose moves get their places among the planes; returns the number of its filters."""
        hidden = self.conv_norm("policy_conv", weights.message(3), inputs=filters, kernel=1)
        weight, bias = dense("policy_out", weights, (4, 5), hidden * SIDE**2)
        if len(bias) != NUM_DENSE_MOVES:
            raise UnreadableError(f"its policy has {len(bias)} moves, expected {NUM_DENSE_MOVES}")
        num_places, places = NUM_MOVE_PLANES * SIDE**2, dense_places()
        self.weights["policy_out.weight"] = np.zeros((num_places, weight.shape[1]), np.float32)
        self.weights["policy_out.bias"] = np.zeros(num_places, np.float32)
        self.weights["policy_out.weight"][places] = _turned(weight)
        self.weights["policy_out.bias"][places] = bias
        return hidden


def _kernel(name: str, block: Message, inputs: int, kernel: int) -> tuple[NDArray[np.float32], int]:
    """A kernel [F, inputs, k, k] for boards that are counted from the top, and F."""
    weight = layer_numbers(f"{name}'s kernel", block.message(1))
    filters, rest = divmod(len(weight), inputs * kernel**2)
    if rest or not filters:
        raise UnreadableError(f"{name} has {len(weight):,} weights, expected a multiple of {inputs}x{kernel}x{kernel}")
    return weight.reshape(filters, inputs, kernel, kernel)[:, :, ::-1].copy(), filters


def _norm(name: str, block: Message, filters: int) -> tuple[NDArray[np.float32], ...]:
    """The bias of a convolution, and the mean, variance, scale and shift of its norm, [F] each.

    The field `bn_stddivs` has variances. Files in which the norms are folded lack all four.
    """
    folded = {2: 0.0, 3: 0.0, 4: 1 - NORM_EPSILON, 5: 1.0, 6: 0.0}
    parts = []
    for number, default in folded.items():
        part = layer_numbers(f"{name}'s field {number}", block.message(number)) if number in block else None
        part = np.full(filters, default, np.float32) if part is None or not len(part) else part
        if len(part) != filters:
            raise UnreadableError(f"{name}'s field {number} has {len(part)} numbers, expected {filters}")
        parts.append(part)
    if (parts[2] < 0).any():
        raise UnreadableError(f"{name} has a variance below 0")
    return tuple(parts)


def dense(
    name: str, message: Message, fields: tuple[int, int], inputs: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A weight [U, inputs] and a bias [U]."""
    weight, bias = (layer_numbers(name, message.message(number)) for number in fields)
    if not len(bias) or len(weight) != len(bias) * inputs:
        raise UnreadableError(f"{name} has {len(weight):,} weights, expected {len(bias)} x {inputs:,}")
    return weight.reshape(len(bias), inputs), bias


def _turned(weight: NDArray[np.float32]) -> NDArray[np.float32]:
    """A weight [U, F * 64] for boards that are counted from the top."""
    return weight.reshape(len(weight), -1, SIDE, SIDE)[:, :, ::-1].reshape(weight.shape).copy()
