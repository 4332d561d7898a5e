"""A device that runs out of memory gets a smaller batch, and says so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch

from networks_for_tests import F32_TOLERANCE, SMALL, assert_close, make_checkpoint, make_info, make_leaves, plain_answer
from zerosum.base.errors import SettingsError
from zerosum.network.evaluators.batch_limit import BatchLimit, whole
from zerosum.network.evaluators.openvino import OpenVinoEvaluator
from zerosum.network.evaluators.openvino_requests import Request
from zerosum.network.evaluators.torch import TorchEvaluator, _DeviceNetwork


class Device:
    """Has memory for so many positions; answers which they are."""

    def __init__(self, memory: int, error: Exception) -> None:
        self.memory, self.error, self.sizes = memory, error, list[int]()

    def evaluate(self, start: int, stop: int) -> list[int]:
        self.sizes.append(stop - start)
        if stop - start > self.memory:
            raise self.error
        return list(range(start, stop))


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
        RuntimeError("cuDNN error: CUDNN_STATUS_NOT_INITIALIZED"),
        RuntimeError("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:114] DefaultCPUAllocator: can't allocate memory"),
        RuntimeError("Exception from src/inference.cpp: std::bad_alloc"),
        RuntimeError("Exception from src/inference/src/dev/plugin.cpp:54:\ncan't alloc\n\n"),
        RuntimeError("Exception from src/inference/src/cpp/core.cpp:117:\nstd::future_error: Broken promise\n\n"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_batch_is_halved_until_it_fits_and_stays_so(error: Exception) -> None:
    device, limit = Device(30, error), BatchLimit("cuda:0")
    with pytest.warns(RuntimeWarning, match="memory of cuda:0 does not suffice for .* positions at once") as said:
        parts = limit.in_parts(100, device.evaluate)
    assert [position for part in parts for position in part] == list(range(100))
    assert device.sizes == [100, 50, 25, 25, 25, 25]
    assert len(said) == 2
    assert "the limit is now 25" in str(said[-1].message)
    device.sizes.clear()
    assert len(limit.in_parts(60, device.evaluate)) == 3
    assert device.sizes == [25, 25, 10]


def test_a_later_part_may_fail() -> None:
    device, limit = Device(8, MemoryError()), BatchLimit("cuda:0", most=8)
    assert limit.in_parts(20, device.evaluate) == [[*range(8)], [*range(8, 16)], [*range(16, 20)]]
    device.memory = 3
    with pytest.warns(RuntimeWarning):
        parts = limit.in_parts(5, device.evaluate)
    assert [position for part in parts for position in part] == [0, 1, 2, 3, 4]


def test_no_positions_are_one_call() -> None:
    device = Device(1, MemoryError())
    assert BatchLimit("cuda:0").in_parts(0, device.evaluate) == [[]]
    assert device.sizes == [0]


def test_other_errors_pass() -> None:
    device = Device(3, RuntimeError("CUDA error: an illegal memory access was encountered"))
    with pytest.raises(RuntimeError, match="illegal memory access"):
        BatchLimit("cuda:0").in_parts(4, device.evaluate)
    assert device.sizes == [4]


def test_where_not_even_one_fits_it_is_said() -> None:
    with (
        pytest.warns(RuntimeWarning),
        pytest.raises(SettingsError, match="memory of cuda:0 does not suffice for one position: use a smaller network"),
    ):
        BatchLimit("cuda:0").in_parts(4, Device(0, MemoryError()).evaluate)


def test_parts_are_joined() -> None:
    one = [np.zeros((2, 3), np.float32), np.ones((2, 1), np.float32)]
    assert whole([one]) is one
    first, second = whole([one, one])
    assert first.shape == (4, 3) and second.shape == (4, 1)


@pytest.mark.parametrize("backend", ["torch", "openvino"])
def test_an_evaluator_answers_with_little_memory_as_with_much(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    info = make_info(SMALL)
    checkpoint, leaves = make_checkpoint(info), make_leaves(info, 16)
    sizes: list[int] = []

    def short_of_memory(run, size_of):
        def run_if_it_fits(self, *arguments):
            sizes.append(size_of(self, *arguments))
            if sizes[-1] > 5:
                raise MemoryError
            return run(self, *arguments)

        return run_if_it_fits

    if backend == "torch":
        pytest.importorskip("torch")
        evaluator = TorchEvaluator(checkpoint, device="cpu", precision="f32")
        run = short_of_memory(_DeviceNetwork.run, lambda _, leaves, start, stop, num_legal: stop - start)
        monkeypatch.setattr(_DeviceNetwork, "run", run)
    else:
        pytest.importorskip("openvino")
        evaluator = OpenVinoEvaluator(checkpoint, batch_size=16, precision="f32")
        infer = short_of_memory(Request.infer, lambda request: len(request.inputs[0]))
        monkeypatch.setattr(Request, "infer", infer)
    with pytest.warns(RuntimeWarning) as said:
        found = evaluator.evaluate(leaves)
    assert [str(each.message).partition(": ")[2][:23] for each in said] == [
        "the limit is now 8. Set",
        "the limit is now 4. Set",
    ]
    assert_close(found, plain_answer(checkpoint, leaves), F32_TOLERANCE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluator.evaluate(leaves)
        evaluator.update(checkpoint)
        assert_close(evaluator.evaluate(leaves), plain_answer(checkpoint, leaves), F32_TOLERANCE)
