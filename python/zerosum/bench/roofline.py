"""The device's roofline: operations per second in a large matrix product, in a network's precision.

An evaluator is compared with it. The product has the network's device, precision and threads, and uses PyTorch if
PyTorch runs the network, else OpenVINO. A chain of products makes their overhead (conversions, launches on a GPU)
negligible. A network can be slightly above the roofline, because the count includes products with the zeros around the
board, which a library need not compute.
"""

from __future__ import annotations

import threading
from contextlib import nullcontext

import numpy as np
from numpy.typing import NDArray

from zerosum.selfplay.calibration import Busy, Work

CHAIN = 8
"""Products in a row, each the left factor of the next."""

CPU_SIZES = (512, 1024)
"""Rows and columns of both factors. The faster size is taken, which depends on the CPU's caches."""

GPU_SIZES = (4096, 8192)


def multiplying(description: str, busy: Busy, *, num_threads: int) -> Work:
    """Work for `busy`: matrix products. It returns their operations (2 per multiplication with its addition).

    Args:
        description: `NetworkEvaluator.description`: library, devices, precision.
        busy: The threads that will do the work; they also find the best size.
        num_threads: Their number.
    """
    library, devices, precision = description.split(", ")
    if library == "PyTorch":
        sizes = CPU_SIZES if devices == "cpu" else GPU_SIZES
        works = [_torch_work(size, devices.split(" and "), precision) for size in sizes]
    else:
        works = [_openvino_work(size, precision, num_threads) for size in CPU_SIZES]

    def speed(work: Work) -> float:
        busy.rate(work, seconds=0)
        return busy.rate(work, seconds=0.05).per_second

    return max(works, key=speed)


def _openvino_work(size: int, precision: str, num_threads: int) -> Work:
    import openvino
    from openvino import opset13

    from zerosum.network.evaluators.openvino_graph import rounded, rounded_weight
    from zerosum.network.evaluators.openvino_requests import openvino_core

    factor, largest = _factor(size), 4 * size**-0.5
    is_int8 = precision == "int8"
    right = rounded_weight(factor) if is_int8 else opset13.constant(factor)
    rows = opset13.parameter([size, size], np.float32, name="rows")
    product: openvino.Node = rows
    for _ in range(CHAIN):
        left = rounded(product, 0, largest, levels=256) if is_int8 else product  # as in the network, after its ReLU
        product = opset13.matmul(left, right, transpose_a=False, transpose_b=True)
    options = {
        "NUM_STREAMS": num_threads,
        "INFERENCE_NUM_THREADS": num_threads,
        "ENABLE_CPU_PINNING": False,
        **({"INFERENCE_PRECISION_HINT": precision} if precision in ("f32", "bf16") else {}),
    }
    compiled = openvino_core().compile_model(openvino.Model([product], [rows], "product"), "CPU", options)
    requests = [compiled.create_infer_request() for _ in range(num_threads)]
    for request in requests:
        request.get_input_tensor().data[:] = factor

    def work(thread: int) -> int:
        requests[thread].infer(share_outputs=True)
        return 2 * CHAIN * size**3

    return work


def _torch_work(size: int, devices: list[str], precision: str) -> Work:
    import torch

    dtype = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[precision]
    factors = [torch.tensor(_factor(size), dtype=dtype, device=device) for device in devices]
    # As in the evaluator: threads take turns if torch uses several cores of the CPU for one call.
    takes_turns = devices == ["cpu"] and torch.get_num_threads() > 1
    turn = threading.Lock() if takes_turns else nullcontext()

    def work(_: int) -> int:
        with turn, torch.inference_mode():
            products = list(factors)
            for _ in range(CHAIN):
                products = [product @ factor for product, factor in zip(products, factors, strict=True)]
            for product in products:
                product[0, 0].item()  # waits for its device
        return 2 * CHAIN * size**3 * len(devices)

    return work


def _factor(size: int) -> NDArray[np.float32]:
    """[size, size], scaled so that a product is not larger than its factors."""
    return np.random.default_rng(0).normal(scale=size**-0.5, size=(size, size)).astype(np.float32)
