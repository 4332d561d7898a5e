"""The network as a graph of operations, for every library that runs it but does not train it.

`network.py` says what the network is; here it is put together from a checkpoint's weights, each norm folded into the
convolution before it, by whatever `Operations` a library offers: `openvino_graph.py` and `onnx_graph.py`.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from zerosum.network.config import NORM_EPSILON, NetworkConfig, NetworkShape, Weights


class Operations(Protocol):
    """What a library computes. A node is a value of its graph, [B, ...]; `name` is the layer's in the weights."""

    def convolve(self, x: Any, name: str, kernel: NDArray[np.float32], shift: NDArray[np.float32]) -> Any:
        """Convolve [B, F, H, W] by [G, F, k, k], height and width kept, and add a number [G] to each filter."""

    def linear(self, x: Any, name: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> Any:
        """[B, U] to [B, G] by a weight [G, U] and a bias [G]."""

    def relu(self, x: Any) -> Any:
        """max(x, 0)."""

    def add(self, x: Any, y: Any) -> Any:
        """The sum of two of the same shape."""

    def flatten(self, x: Any) -> Any:
        """[B, F, H, W] to [B, F * H * W]."""

    def mean_of_squares(self, x: Any) -> Any:
        """[B, F, H, W] to [B, F]."""

    def join(self, x: Any, y: Any) -> Any:
        """[B, U] and [B, G] to [B, U + G]."""


def connect(
    operations: Operations, planes: Any, config: NetworkConfig, shape: NetworkShape, weights: Weights
) -> dict[str, Any]:
    """Put the network together from its input, planes [B, C, H, W], to its outputs for the player to move.

    They are `policy_logits` [B, A], `value_logits` [B, V] (V as `NetworkConfig.num_value_logits`) and, if the network
    has the head, `moves_left_logits` [B, 1], before their softplus: one place turns all of them into values.
    """
    relu = operations.relu

    def conv(x: Any, name: str) -> Any:
        return operations.convolve(x, name, *_fold_norm(weights, name))

    def linear(x: Any, name: str) -> Any:
        return operations.linear(x, name, weights[f"{name}.weight"], weights[f"{name}.bias"])

    x = relu(conv(planes, "stem"))
    for block in range(config.num_blocks):
        first = relu(conv(x, f"blocks.{block}.first"))
        x = relu(operations.add(conv(first, f"blocks.{block}.second"), x))
    policy = relu(conv(x, "policy_conv"))
    if config.policy_head == "dense":
        policy_logits = linear(operations.flatten(policy), "policy_out")
    else:
        points = operations.convolve(policy, "policy_out", weights["policy_out.weight"], weights["policy_out.bias"])
        policy_logits = operations.flatten(points)
        if shape.num_rest_actions:
            rest = linear(operations.mean_of_squares(policy), "policy_rest")
            policy_logits = operations.join(policy_logits, rest)

    def small_head(name: str) -> Any:
        hidden = relu(linear(operations.flatten(relu(conv(x, f"{name}_conv"))), f"{name}_hidden"))
        return linear(hidden, f"{name}_out")

    heads = ["value", "moves_left"] if config.moves_left_head else ["value"]
    return {"policy_logits": policy_logits, **{f"{name}_logits": small_head(name) for name in heads}}


def _fold_norm(weights: Weights, name: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Kernel [F, F, k, k] and shift [F] of a convolution and its norm in one: norm(conv(x)) = conv'(x) + shift."""
    scale, bias, mean, variance = (
        weights[f"{name}.norm.{part}"].astype(np.float64) for part in ("weight", "bias", "running_mean", "running_var")
    )
    factor = scale / np.sqrt(variance + NORM_EPSILON)
    kernel = weights[f"{name}.conv.weight"] * factor[:, None, None, None]
    return kernel.astype(np.float32), (bias - mean * factor).astype(np.float32)
