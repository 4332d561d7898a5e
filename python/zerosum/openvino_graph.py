"""The network as an OpenVINO graph, built straight from a checkpoint's weights, without torch.

`network.py` says what it is; every norm is folded into the convolution before it. Imports openvino, so it is imported
only by the evaluator that runs it.
"""

from __future__ import annotations

import numpy as np
import openvino
from numpy.typing import NDArray
from openvino import Node, opset13

from zerosum.network import NORM_EPSILON, NetworkConfig, NetworkShape, Weights


def build_graph(config: NetworkConfig, shape: NetworkShape, weights: Weights, *, batch_size: int) -> openvino.Model:
    """The network for batches of exactly `batch_size` positions.

    Input: planes [B, C, H, W] float32. Outputs, float32 and for the player to move: policy logits [B, A] and value
    logits [B, V] (V as `NetworkConfig.num_value_logits`), left as logits so that one place turns them into values; and,
    if the network has the head, what it says of the moves left before its softplus [B, 1].
    """
    planes = opset13.parameter([batch_size, shape.num_planes, shape.height, shape.width], np.float32, name="planes")

    def convolve(x: Node, kernel: NDArray[np.float32], shift: NDArray[np.float32]) -> Node:
        pads = [kernel.shape[2] // 2] * 2
        y = opset13.convolution(
            x, opset13.constant(kernel), strides=[1, 1], pads_begin=pads, pads_end=pads, dilations=[1, 1]
        )
        return opset13.add(y, opset13.constant(shift.reshape(1, -1, 1, 1)))

    def conv(x: Node, name: str) -> Node:
        return convolve(x, *_fold_norm(weights, name))

    def linear(x: Node, name: str) -> Node:
        kernel = opset13.constant(weights[f"{name}.weight"])
        y = opset13.matmul(x, kernel, transpose_a=False, transpose_b=True)
        return opset13.add(y, opset13.constant(weights[f"{name}.bias"].reshape(1, -1)))

    def flat(x: Node) -> Node:
        return opset13.reshape(x, opset13.constant(np.array([batch_size, -1])), special_zero=False)

    x = opset13.relu(conv(planes, "stem"))
    for block in range(config.num_blocks):
        first = opset13.relu(conv(x, f"blocks.{block}.first"))
        x = opset13.relu(opset13.add(conv(first, f"blocks.{block}.second"), x))
    policy = opset13.relu(conv(x, "policy_conv"))
    if config.policy_head == "dense":
        policy_logits = linear(flat(policy), "policy_out")
    else:
        policy_logits = flat(convolve(policy, weights["policy_out.weight"], weights["policy_out.bias"]))
        if shape.num_rest_actions:
            mean = opset13.reduce_mean(policy, opset13.constant(np.array([2, 3])), keep_dims=False)
            policy_logits = opset13.concat([policy_logits, linear(mean, "policy_rest")], axis=1)

    def small_head(name: str) -> Node:
        hidden = opset13.relu(linear(flat(opset13.relu(conv(x, f"{name}_conv"))), f"{name}_hidden"))
        return linear(hidden, f"{name}_out")

    heads = ["value", "moves_left"] if config.moves_left_head else ["value"]
    return openvino.Model([policy_logits, *map(small_head, heads)], [planes], "zerosum")


def _fold_norm(weights: Weights, name: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Kernel [F, F, k, k] and shift [F] of a convolution and its norm in one: norm(conv(x)) = conv'(x) + shift."""
    scale, bias, mean, variance = (
        weights[f"{name}.norm.{part}"].astype(np.float64) for part in ("weight", "bias", "running_mean", "running_var")
    )
    factor = scale / np.sqrt(variance + NORM_EPSILON)
    kernel = weights[f"{name}.conv.weight"] * factor[:, None, None, None]
    return kernel.astype(np.float32), (bias - mean * factor).astype(np.float32)
