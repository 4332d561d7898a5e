"""PyTorch's own features: half precision, and several devices."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from networks_for_tests import (
    BF16_TOLERANCE,
    EVERY_ARCHITECTURE,
    F32_TOLERANCE,
    SMALL,
    assert_close,
    make_checkpoint,
    make_info,
    make_leaves,
    plain_answer,
)
from zerosum.base.errors import RunError, SettingsError
from zerosum.games import make
from zerosum.games.random_play import random_leaves
from zerosum.network.evaluators import cuda_lane, device, torch_graph
from zerosum.network.evaluators.cuda_lane import Lane, padded_size
from zerosum.network.evaluators.device import torch_device, torch_devices, uses_gpu
from zerosum.network.evaluators.symmetric import Symmetries, TurnedLeaves
from zerosum.network.evaluators.torch import TorchEvaluator, _DeviceNetwork

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
    run = _DeviceNetwork.run

    def run_together(network, *batch):
        used.append(network)
        meet.wait()
        return run(network, *batch)

    monkeypatch.setattr(_DeviceNetwork, "run", run_together)
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
    monkeypatch.setattr(_DeviceNetwork, "run", lambda network, *batch: 1 / 0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            evaluator.evaluate(make_leaves(info, 2))
    assert [network.num_running for network in evaluator._networks] == [0, 0]


def test_padding_adds_at_most_half():
    sizes = [padded_size(size) for size in range(1, 2000)]
    assert sizes == sorted(sizes)
    assert all(size <= padded <= 1.5 * size for size, padded in enumerate(sizes, 1))
    assert len(set(sizes)) < 25


class Graphs:
    """Stands for CUDA where there is none: a graph records the network's last run, and runs it again in its place."""

    def __init__(self, monkeypatch):
        self.captured_sizes = []
        last_run = None
        forward = torch_graph.Network.forward

        def watched(network, *inputs):
            nonlocal last_run
            output = forward(network, *inputs)
            last_run = (lambda: forward(network, *inputs), output)
            return output

        captured_sizes = self.captured_sizes

        class Graph:
            def capture_begin(self, *, capture_error_mode):
                assert capture_error_mode == "thread_local"
                assert torch.backends.cudnn.enabled and not torch.backends.cudnn.allow_tf32

            def capture_end(self):
                self.run, self.output = last_run
                captured_sizes.append(len(self.output.values_B))

            def replay(self):
                new = self.run()
                for name in ("logits_BR", "values_B", "wdl_B3"):
                    if getattr(new, name) is not None:
                        getattr(self.output, name).copy_(getattr(new, name))

        waiting = SimpleNamespace(synchronize=lambda: None, record=lambda stream: None)
        for name, value in {
            "Stream": lambda device: waiting,
            "Event": lambda blocking: waiting,
            "stream": lambda stream: contextlib.nullcontext(),
            "device": lambda device: contextlib.nullcontext(),
            "CUDAGraph": Graph,
        }.items():
            monkeypatch.setattr(torch.cuda, name, value)
        monkeypatch.setattr(cuda_lane, "page_locked", lambda size, dtype: torch.empty(size, dtype=dtype))
        monkeypatch.setattr(torch_graph.Network, "forward", watched)
        monkeypatch.setattr(_DeviceNetwork, "_run_at_once", _DeviceNetwork._run_in_lane)


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


def test_graphs_are_captured_for_two_networks_and_no_more(monkeypatch):
    """Weights of later networks are written into the memory of the one before the last."""
    graphs = Graphs(monkeypatch)
    info = make_info(SMALL)
    evaluator = TorchEvaluator(make_checkpoint(info), device="cpu", precision="f32")
    for size in (8, 3):
        evaluator.evaluate(make_leaves(info, size))
    leaves = make_leaves(info, 7)
    for seed in range(1, 6):
        newer = make_checkpoint(info, seed=seed)
        evaluator.update(newer)
        assert graphs.captured_sizes == [8, 3, 8, 3], "captured before it is used"
        assert_close(evaluator.evaluate(leaves), plain_answer(newer, leaves), F32_TOLERANCE)
    evaluator.evaluate(make_leaves(info, 12))
    evaluator.update(make_checkpoint(info))
    assert graphs.captured_sizes == [8, 3, 8, 3, 12, 12]
    larger = make_checkpoint(make_info(dataclasses.replace(SMALL, num_filters=16)))
    evaluator.update(larger)
    assert_close(evaluator.evaluate(leaves), plain_answer(larger, leaves), F32_TOLERANCE)


def test_evaluations_under_way_end_with_the_network_that_they_began_with(monkeypatch):
    """The second update after the beginning of an evaluation writes into the network that it uses: it waits."""
    Graphs(monkeypatch)
    info = make_info(SMALL)
    first = make_checkpoint(info)
    evaluator, leaves = TorchEvaluator(first, device="cpu", precision="f32"), make_leaves(info, 8)
    run, begun, may_go_on = Lane.run, threading.Event(), threading.Event()

    def slowly(lane, *batch):
        begun.set()
        may_go_on.wait(20)
        return run(lane, *batch)

    monkeypatch.setattr(Lane, "run", slowly)
    with ThreadPoolExecutor(2) as pool:
        answer = pool.submit(evaluator.evaluate, leaves)
        begun.wait(20)
        evaluator.update(make_checkpoint(info, seed=1))
        second = pool.submit(evaluator.update, make_checkpoint(info, seed=2))
        with contextlib.suppress(TimeoutError):
            second.result(timeout=0.2)
        assert not second.done()
        may_go_on.set()
        assert_close(answer.result(), plain_answer(first, leaves), F32_TOLERANCE)
        second.result()
    assert_close(evaluator.evaluate(leaves), plain_answer(make_checkpoint(info, seed=2), leaves), F32_TOLERANCE)


def test_a_lane_that_fails_is_given_up(monkeypatch):
    Graphs(monkeypatch)
    info = make_info(SMALL)
    checkpoint, leaves = make_checkpoint(info), make_leaves(info, 8)
    evaluator = TorchEvaluator(checkpoint, device="cpu", precision="f32")
    evaluator.evaluate(leaves)
    (network,) = evaluator._networks
    (lane,) = network._lanes
    run = Lane.run

    def run_if_it_fits(lane, leaves, start, stop, num_legal):
        if stop - start > 4:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return run(lane, leaves, start, stop, num_legal)

    monkeypatch.setattr(Lane, "run", run_if_it_fits)
    with pytest.warns(RuntimeWarning, match="memory of cpu does not suffice for 8 positions"):
        assert_close(evaluator.evaluate(leaves), plain_answer(checkpoint, leaves), F32_TOLERANCE)
    assert network._lanes == network._free_lanes != [lane]


def test_memory_that_ends_at_a_capture_makes_batches_smaller(monkeypatch):
    graphs = Graphs(monkeypatch)
    forward = torch_graph.Network.forward

    def forward_if_it_fits(network, packed, *inputs):
        if len(packed) > 4:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return forward(network, packed, *inputs)

    monkeypatch.setattr(torch_graph.Network, "forward", forward_if_it_fits)
    info = make_info(SMALL)
    checkpoint, leaves = make_checkpoint(info), make_leaves(info, 9)
    evaluator = TorchEvaluator(checkpoint, device="cpu", precision="f32")
    with pytest.warns(RuntimeWarning, match="memory of cpu does not suffice"):
        assert_close(evaluator.evaluate(leaves), plain_answer(checkpoint, leaves), F32_TOLERANCE)
    assert set(graphs.captured_sizes) <= {1, 4}


def stand_in_for_cudnn(monkeypatch):
    """Fused convolutions, step by step; returns the names of those that were called."""
    called = []

    def convolution_relu(x, weight, bias, stride, padding, dilation, groups):
        called.append("relu")
        return torch.relu(torch.conv2d(x, weight, bias, stride, padding, dilation, groups))

    def convolution_add_relu(x, weight, z, alpha, bias, stride, padding, dilation, groups):
        called.append("add_relu")
        assert z.shape[1] == weight.shape[0] and alpha == 1
        return torch.relu(torch.conv2d(x, weight, bias, stride, padding, dilation, groups) + z)

    monkeypatch.setattr(torch, "cudnn_convolution_relu", convolution_relu)
    monkeypatch.setattr(torch, "cudnn_convolution_add_relu", convolution_add_relu)
    return called


@pytest.mark.parametrize("name", EVERY_ARCHITECTURE)
@pytest.mark.parametrize("precision", ["f32", "bf16"])
def test_a_fused_network_says_what_the_plain_one_says(monkeypatch, name, precision):
    called, info = stand_in_for_cudnn(monkeypatch), EVERY_ARCHITECTURE[name]
    checkpoint, leaves = make_checkpoint(info), make_leaves(info, 5)
    # As on a GPU: the planes of the input and of the policy are padded.
    monkeypatch.setattr(torch_graph, "_has_cudnn", lambda: True)
    monkeypatch.setattr(torch_graph, "_is_padded", lambda device: True)
    evaluator = TorchEvaluator(checkpoint, device="cpu", precision=precision)
    tolerance = F32_TOLERANCE if precision == "f32" else BF16_TOLERANCE
    assert_close(evaluator.evaluate(leaves), plain_answer(checkpoint, leaves), tolerance)
    # Each block's second convolution is fused with its sum, and all others that a ReLU follows; pooling or excitation
    # comes between.
    pooled = sum(map(info.network.pools, range(info.network.num_blocks)))
    assert called.count("add_relu") == (0 if info.network.squeeze_units else info.network.num_blocks)
    assert called.count("relu") == 1 + info.network.num_blocks - pooled + len(info.network.search_heads)


def test_a_network_that_cudnn_does_not_fuse_is_evaluated_step_by_step(monkeypatch):
    def refuse(*_):
        raise RuntimeError("FIND was unable to find an engine to execute this computation")

    monkeypatch.setattr(torch, "cudnn_convolution_relu", refuse)
    monkeypatch.setattr(torch_graph, "_has_cudnn", lambda: True)
    monkeypatch.setattr(torch_graph, "_is_padded", lambda device: True)
    info = make_info(SMALL)
    checkpoint, leaves = make_checkpoint(info), make_leaves(info, 5)
    evaluator = TorchEvaluator(checkpoint, device="cpu", precision="f32")
    with pytest.warns(RuntimeWarning, match="cuDNN does not fuse the convolutions of this network on cpu"):
        assert_close(evaluator.evaluate(leaves), plain_answer(checkpoint, leaves), F32_TOLERANCE)


@pytest.mark.parametrize("name", ["connect4", "chess", "go9"])
def test_the_core_writes_what_its_arrays_hold(name):
    """`Leaves.write_input`, and its twin for turned boards, against `packed_planes` and its siblings."""
    leaves, game = random_leaves(make(name), 12), make(name)
    places = np.random.default_rng(0).permutation(2 * game.spec.num_actions)[: game.spec.num_actions].astype(np.int32)
    width, start, stop = 2 * game.spec.num_actions, 3, 11
    offsets = leaves.legal_offsets
    symmetries = Symmetries.of(game)
    for each in (leaves, TurnedLeaves(leaves, symmetries, np.arange(12) % len(symmetries))):
        packed, constant = each.packed_planes[start:stop], each.constant_planes[start:stop]
        expected = [
            (row - start) * width + places[action]
            for row in range(start, stop)
            for action in each.legal_actions[offsets[row] : offsets[row + 1]]
        ]
        bits, numbers = np.full(packed.size + 1, 7, np.uint8), np.full(constant.size + 1, 7, np.float32)
        found = np.full(len(expected) + 1, -7, np.int32)
        each.write_input(start, stop, bits=bits, numbers=numbers, places=found, place_of_action=places, row_width=width)
        assert bits.tolist() == [*packed.ravel().tolist(), 7]
        assert numbers.tolist() == [*constant.ravel().tolist(), 7]
        assert found.tolist() == [*expected, -7]


def test_the_core_refuses_memory_that_does_not_fit():
    leaves, game = random_leaves(make("connect4"), 4), make("connect4")

    def write(stop=4, *, num_bits=1000, num_numbers=1000, num_places=1000, num_actions=7, row_width=7):
        leaves.write_input(
            0,
            stop,
            bits=np.zeros(num_bits, np.uint8),
            numbers=np.zeros(num_numbers, np.float32),
            places=np.zeros(num_places, np.int32),
            place_of_action=np.arange(num_actions, dtype=np.int32),
            row_width=row_width,
        )

    write()
    assert game.spec.num_actions == 7
    for message, arguments in {
        "array of bits is too short for 4 leaves": {"num_bits": 3},
        "array of places is too short": {"num_places": 3},
        "positions 0 to 5 of 4": {"stop": 5},
        "has no place in a row": {"num_actions": 1},
        "places beyond 32 bits: evaluate fewer": {"row_width": 1 << 30},
    }.items():
        with pytest.raises(ValueError, match=message):
            write(**arguments)


def test_a_device_that_stops_is_one_sentence(monkeypatch):
    def fail(*_):
        raise RuntimeError(
            "CUDA error: unspecified launch failure\nCUDA kernel errors might be asynchronously reported"
        )

    info = make_info(SMALL)
    evaluator = TorchEvaluator(make_checkpoint(info), device="cpu")
    monkeypatch.setattr(_DeviceNetwork, "run", fail)
    with pytest.raises(
        RunError, match=r"^cpu failed during an evaluation \(CUDA error: unspecified launch failure\): "
    ):
        evaluator.evaluate(make_leaves(info, 2))


def test_a_device_without_memory_for_the_network_is_one_sentence(monkeypatch):
    """At the start, where another program fills it, and at a change of networks, after which the old one goes on."""
    info = make_info(SMALL)
    checkpoint, leaves = make_checkpoint(info), make_leaves(info, 2)
    evaluator = TorchEvaluator(checkpoint, device="cpu", precision="f32")

    def fail(*_):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total ...\nSee ...")

    monkeypatch.setattr(torch_graph.Network, "__init__", fail)
    sentence = (
        r"^cpu has no memory left for setting up the network \(CUDA out of memory.*\)\. Everything recorded is kept"
    )
    with pytest.raises(RunError, match=sentence):
        TorchEvaluator(checkpoint, device="cpu")
    with pytest.raises(RunError, match=sentence):
        evaluator.update(make_checkpoint(info, seed=2))
    assert_close(evaluator.evaluate(leaves), plain_answer(checkpoint, leaves), F32_TOLERANCE)


def with_gpu(monkeypatch, *, is_available, count=1, cuda="13.0", error=""):
    """A machine with a driver for GPUs, and a torch that finds `count` of them or fails at its start."""

    def init():
        if error:
            raise RuntimeError(error)

    monkeypatch.setattr(device, "_has_gpu_driver", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: is_available)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    monkeypatch.setattr(torch.cuda, "init", init)
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(device.platform, "system", lambda: "Linux")


def test_a_gpu_that_the_machine_does_not_have(monkeypatch):
    with_gpu(monkeypatch, is_available=True)
    with pytest.raises(SettingsError, match=r"^device is 'cuda:7', but this machine has 1 GPU: cuda:0\.$"):
        torch_devices("cuda:7")
    with_gpu(monkeypatch, is_available=True, count=4)
    with pytest.raises(SettingsError, match="has 4 GPUs: cuda:0 to cuda:3"):
        torch_devices("cuda:3, cuda:4")


@pytest.mark.parametrize(
    ("gpu", "message"),
    [
        ({"cuda": None}, "has a GPU, but torch .* was built without CUDA: install the build for CUDA"),
        (
            {"error": "The NVIDIA driver on your system is too old (found version 11040). Please update"},
            r"cannot use the GPU here \(The NVIDIA driver on your system is too old .*\): update its driver",
        ),
        ({}, "torch found no GPU: look at CUDA_VISIBLE_DEVICES"),
    ],
)
def test_a_gpu_that_torch_cannot_use(monkeypatch, gpu, message):
    with_gpu(monkeypatch, is_available=False, **gpu)
    for name in ("cuda", "cuda:0"):
        with pytest.raises(SettingsError, match=f"^device is '{name}': .*{message}"):
            torch_devices(name)
    with pytest.warns(RuntimeWarning, match=f"{message}.* The CPU is used"):
        assert torch_devices("auto") == (torch.device("cpu"),)


def test_a_machine_without_a_gpu_says_so(monkeypatch):
    monkeypatch.setattr(device, "_has_gpu_driver", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SettingsError, match="device is 'cuda': This machine has no driver of an NVIDIA or AMD GPU"):
        torch_devices("cuda")


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


@needs_cuda
@pytest.mark.parametrize("name", EVERY_ARCHITECTURE)
@pytest.mark.parametrize(("precision", "tolerance"), [("f32", 1e-4), ("bf16", BF16_TOLERANCE), ("f16", BF16_TOLERANCE)])
def test_cudnn_fuses_every_architecture(name, precision, tolerance):
    info = EVERY_ARCHITECTURE[name]
    checkpoint, leaves = make_checkpoint(info), make_leaves(info, 65)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluator = TorchEvaluator(checkpoint, device="cuda:0", precision=precision)
        assert_close(evaluator.evaluate(leaves), plain_answer(checkpoint, leaves), tolerance)
