"""PyTorch's own features: half precision, and several devices."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

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
from zerosum.base.errors import SettingsError
from zerosum.evaluators import torch as torch_evaluator
from zerosum.evaluators.device import torch_device, torch_devices, uses_gpu
from zerosum.evaluators.torch import TorchEvaluator, _TorchNetwork, padded_size

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
        meet.wait()
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


class Graphs:
    """Stands for CUDA where there is none: a graph records the network's last run, and runs it again in its place."""

    def __init__(self, monkeypatch):
        self.last_run = None
        self.captured_sizes = []
        forward = _TorchNetwork.forward

        def watched(network, *inputs):
            output = forward(network, *inputs)
            self.last_run = (lambda: forward(network, *inputs), output)
            return output

        class Graph:
            def replay(self):
                run, output = self.run
                for old, new in zip(output.logits.values(), run().logits.values(), strict=True):
                    old.copy_(new)

        @contextlib.contextmanager
        def capture(graph, **_):
            assert torch.backends.cudnn.enabled and not torch.backends.cudnn.allow_tf32
            yield
            graph.run = self.last_run
            self.captured_sizes.append(len(graph.run[1].logits["value"]))

        waiting = SimpleNamespace(synchronize=lambda: None, record=lambda stream: None)
        for name, value in {
            "Stream": lambda device: waiting,
            "Event": lambda blocking: waiting,
            "stream": lambda stream: contextlib.nullcontext(),
            "device": lambda device: contextlib.nullcontext(),
            "CUDAGraph": Graph,
            "graph": capture,
        }.items():
            monkeypatch.setattr(torch.cuda, name, value)
        monkeypatch.setattr(torch_evaluator, "_page_locked", lambda *shape, dtype: torch.empty(shape, dtype=dtype))
        monkeypatch.setattr(_TorchNetwork, "forward", watched)
        monkeypatch.setattr(_TorchNetwork, "_run_at_once", _TorchNetwork._run_in_lane)


def test_a_lane_carries_what_belongs_to_each_position(monkeypatch):
    """The path of CUDA without a GPU: padding, remains of earlier batches, and the size of the answer."""
    graphs = Graphs(monkeypatch)
    info = make_info(SMALL)
    checkpoint = make_checkpoint(info)
    evaluator = TorchEvaluator(checkpoint, device="cpu", precision="f32")
    for size in (8, 3, 1, 0, 7, 9, 21):
        leaves = make_leaves(info, size, seed=size)
        assert_close(evaluator.evaluate(leaves), plain_answer(checkpoint, leaves), F32_TOLERANCE)
    assert graphs.captured_sizes == [8, 3, 1, 12, 24]


def test_a_new_network_is_captured_before_it_is_used(monkeypatch):
    graphs = Graphs(monkeypatch)
    info = make_info(SMALL)
    evaluator = TorchEvaluator(make_checkpoint(info), device="cpu", precision="f32")
    for size in (8, 3):
        evaluator.evaluate(make_leaves(info, size))
    newer = make_checkpoint(info, seed=1)
    evaluator.update(newer)
    assert graphs.captured_sizes == [8, 3, 8, 3]
    leaves = make_leaves(info, 7)
    assert_close(evaluator.evaluate(leaves), plain_answer(newer, leaves), F32_TOLERANCE)
    assert graphs.captured_sizes == [8, 3, 8, 3]


def test_a_lane_that_fails_is_given_up(monkeypatch):
    Graphs(monkeypatch)
    info = make_info(SMALL)
    checkpoint, leaves = make_checkpoint(info), make_leaves(info, 8)
    evaluator = TorchEvaluator(checkpoint, device="cpu", precision="f32")
    evaluator.evaluate(leaves)
    (network,) = evaluator._networks
    (lane,) = network._lanes
    run = torch_evaluator._Lane.run

    def run_if_it_fits(lane, batch):
        if len(batch) > 4:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return run(lane, batch)

    monkeypatch.setattr(torch_evaluator._Lane, "run", run_if_it_fits)
    with pytest.warns(RuntimeWarning, match="memory of cpu does not suffice for 8 positions"):
        assert_close(evaluator.evaluate(leaves), plain_answer(checkpoint, leaves), F32_TOLERANCE)
    assert network._lanes == network._free_lanes != [lane]


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
