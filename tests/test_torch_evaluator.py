"""What only PyTorch does: half precision, and several devices."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from networks_for_tests import (
    BF16_TOLERANCE,
    F32_TOLERANCE,
    SMALL,
    assert_close,
    make_checkpoint,
    make_info,
    make_leaves,
    plain_answer,
)
from zerosum.device import torch_device, torch_devices, uses_gpu
from zerosum.errors import SettingsError
from zerosum.torch_evaluator import TorchEvaluator, _TorchNetwork, padded_size

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


def test_f16_is_as_near_as_bf16():
    info = make_info(SMALL)
    checkpoint, leaves = make_checkpoint(info), make_leaves(info, 8)
    evaluator = TorchEvaluator(checkpoint, device="cpu", precision="f16")
    assert evaluator.description == "PyTorch, cpu, f16"
    assert_close(evaluator.evaluate(leaves), plain_answer(checkpoint, leaves), BF16_TOLERANCE)


def test_devices_by_name():
    assert torch_devices("cpu") == (torch.device("cpu"),)
    assert [each.type for each in torch_devices("cpu, cpu")] == ["cpu", "cpu"]
    assert torch_device("cpu,cpu").type == "cpu"
    assert not uses_gpu("cpu")
    with pytest.raises(SettingsError, match="device is 'cpu,abacus', which torch cannot use here"):
        torch_devices("cpu,abacus")


def test_all_gpus_are_one_name(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    for name in ("auto", "cuda"):
        assert [str(device) for device in torch_devices(name)] == ["cuda:0", "cuda:1", "cuda:2"]


def test_leaves_go_to_the_device_with_the_least_to_do(monkeypatch):
    """Three threads on three devices: each has one of its own, and none waits for another."""
    info = make_info(SMALL)
    leaves, used, meet = make_leaves(info, 2), [], threading.Barrier(3)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    run = _TorchNetwork.run

    def run_together(network, batch):
        used.append(network)
        meet.wait(timeout=60)
        return run(network, batch)

    monkeypatch.setattr(_TorchNetwork, "run", run_together)
    checkpoint = make_checkpoint(info)
    evaluator = TorchEvaluator(checkpoint, device="cpu,cpu,cpu", precision="f32")
    with ThreadPoolExecutor(3) as pool:
        for number in range(1, 3):
            found = list(pool.map(evaluator.evaluate, [leaves] * 3))
            assert len(used) == 3 * number
            assert len({id(network) for network in used}) == 3
    for answer in found:
        assert_close(answer, plain_answer(checkpoint, leaves), F32_TOLERANCE)


def test_a_device_that_fails_has_nothing_more_to_do(monkeypatch):
    info = make_info(SMALL)
    evaluator = TorchEvaluator(make_checkpoint(info), device="cpu,cpu")
    monkeypatch.setattr(_TorchNetwork, "run", lambda network, batch: 1 / 0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            evaluator.evaluate(make_leaves(info, 2))
    assert evaluator._in_flight == [0, 0]


def test_padding_adds_at_most_half():
    sizes = [padded_size(size) for size in range(1, 2000)]
    assert sizes == sorted(sizes)
    assert all(size <= padded <= 1.5 * size for size, padded in enumerate(sizes, 1))
    assert len(set(sizes)) < 25


@needs_cuda
@pytest.mark.parametrize(("precision", "tolerance"), [("f32", 1e-4), ("bf16", BF16_TOLERANCE), ("f16", BF16_TOLERANCE)])
def test_a_captured_network_says_what_the_plain_one_says(precision, tolerance):
    info = make_info(SMALL)
    checkpoint = make_checkpoint(info)
    evaluator = TorchEvaluator(checkpoint, device="cuda", precision=precision)
    batches = [make_leaves(info, size, seed=size) for size in (8, 3, 1, 0, 8, 9, 21)] * 4
    with ThreadPoolExecutor(3) as pool:
        for leaves, found in zip(batches, pool.map(evaluator.evaluate, batches), strict=True):
            assert_close(found, plain_answer(checkpoint, leaves), tolerance)
    newer = make_checkpoint(info, seed=1)
    evaluator.update(newer)
    assert_close(evaluator.evaluate(batches[0]), plain_answer(newer, batches[0]), tolerance)
