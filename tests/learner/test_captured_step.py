"""Captured steps, on a GPU or with a stand-in for one; batches too large for the memory; precision on a CPU."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from learners_for_tests import BATCH, OWNERSHIP, PLAIN, SHAPE, SMALL, assert_same, make_batch, new_learner
from zerosum.base.errors import SettingsError
from zerosum.learner import Learner, LearnerConfig
from zerosum.learner.learner import _autocast
from zerosum.network import NetworkConfig, initial_weights

pytestmark = pytest.mark.usefixtures("one_thread")


def captured(config: LearnerConfig = PLAIN, network: NetworkConfig = SMALL) -> Learner:
    """A learner whose steps are recorded by a stand-in, which does the work again at each replay."""
    learner = new_learner(config, network)
    learner._record = lambda work: work
    return learner


VARIANTS = [{}, {"optimizer": "sgd"}, {"optimizer": "adam", "clip_norm": 0.5}, {"importance_limit": 1.0}]


@pytest.mark.parametrize("changes", VARIANTS)
def test_captured_steps_learn_the_same(changes: dict[str, Any]) -> None:
    """Also when a batch of another size comes between them, and after a state is loaded."""
    config = replace(PLAIN, **changes)
    plain, again = new_learner(config, OWNERSHIP), captured(config, OWNERSHIP)
    batches = [make_batch(8 if number == 6 else 16, seed=number) for number in range(12)]
    for number, batch in enumerate(batches):
        if number == 9:
            assert again._captured is not None
            again.load_state(again.state(), step_number=9)
            assert again._captured is None
        inputs = again.prepare(batch) if number % 2 else batch
        assert plain.step(batch, progress=number / 12) == again.step(inputs, progress=number / 12)
    assert_same(plain.weights(), again.weights())
    assert_same(plain.state(), again.state())


def test_a_step_that_cannot_be_captured_is_made_as_before() -> None:
    plain, again = new_learner(), captured()

    def record(work: Any) -> Any:
        raise RuntimeError("CUDA error: operation not permitted when stream is capturing\nCompile with ...")

    again._record = record
    for _ in range(3):
        assert plain.step(BATCH, progress=0.0) == again.step(BATCH, progress=0.0)
    with pytest.warns(RuntimeWarning, match=r"not permitted when stream is capturing\): steps are slower"):
        again.step(BATCH, progress=0.0)
    plain.step(BATCH, progress=0.0)
    for _ in range(2):  # without another warning
        assert plain.step(BATCH, progress=0.0) == again.step(BATCH, progress=0.0)
    assert_same(plain.weights(), again.weights())


def test_a_batch_too_large_for_the_memory_is_learned_from_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradient is that of the whole batch, except that norms see a slice."""
    fits = 5

    def limited(learner: Learner) -> Learner:
        forward = learner._network.forward

        def forward_of_few(planes: torch.Tensor) -> Any:
            if len(planes) > fits:
                raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has")
            return forward(planes)

        learner._forward = forward_of_few
        return learner

    config = replace(PLAIN, optimizer="sgd", momentum=0.0, weight_decay=0.0)
    whole, sliced = new_learner(config), limited(new_learner(config))
    for learner in (whole, sliced):
        for layer in learner._network.modules():  # norms that do not depend on the other samples
            if isinstance(layer, torch.nn.BatchNorm2d):
                layer.track_running_stats, layer.momentum = True, 0.0
                monkeypatch.setattr(layer, "train", lambda mode=True, layer=layer: layer)
                layer.training = False
    expected = whole.step(BATCH, progress=0.0)
    with pytest.warns(RuntimeWarning, match="16 positions at once: each batch is learned from in [24] slices") as said:
        found = sliced.step(BATCH, progress=0.0)
    assert [str(warning.message).count("in 4 slices") for warning in said] == [0, 1]
    assert found.measures == pytest.approx(expected.measures, rel=1e-5)
    for name, weight in whole.weights().items():
        np.testing.assert_allclose(sliced.weights()[name], weight, atol=1e-6)
    assert sliced._num_slices == 4
    sliced.step(BATCH, progress=0.0)
    assert (sliced.step_number, sliced._num_slices) == (2, 4)
    fits = 0
    with (
        pytest.warns(RuntimeWarning, match="in (8|16) slices"),
        pytest.raises(SettingsError, match="does not suffice to learn from one position"),
    ):
        sliced.step(BATCH, progress=0.0)
    assert sliced.step_number == 2


ON_CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no CUDA device")


def cuda_learner(config: LearnerConfig) -> Learner:
    return Learner(config, OWNERSHIP, SHAPE, initial_weights(OWNERSHIP, SHAPE, seed=0), device="cuda")


@ON_CUDA
@pytest.mark.parametrize("changes", VARIANTS)
def test_a_gpu_learns_as_a_cpu_does(changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """In float32, with captured steps and a state that is saved and loaded in between.

    Adam moves a weight by the sign of a gradient, however small, so single weights may differ, but not many.
    """
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    config = replace(PLAIN, **changes)
    batches = [make_batch(16, seed=number) for number in range(10)]
    on_cpu, on_gpu = new_learner(config, OWNERSHIP), cuda_learner(config)
    for number, batch in enumerate(batches):
        if number == 7:
            assert on_gpu._captured is not None, "the step was not captured"
            state, weights = on_gpu.state(), on_gpu.weights()
            on_gpu = Learner(config, OWNERSHIP, SHAPE, weights, device="cuda")
            on_gpu.load_state(state, step_number=7)
        expected, found = (one.step(batch, progress=number / 10) for one in (on_cpu, on_gpu))
        assert found.learning_rate == expected.learning_rate
        assert dict(found.measures) == pytest.approx(dict(expected.measures), rel=5e-2, abs=5e-3)
    for name, weight in on_cpu.weights().items():
        assert np.abs(on_gpu.weights()[name] - weight).mean() < 2e-3, name
    assert on_gpu.state().keys() == on_cpu.state().keys()


@ON_CUDA
def test_a_gpu_gets_steps_before_it_has_made_the_last() -> None:
    """And no more than two; what they measured is read later, each by itself."""
    learner = cuda_learner(replace(PLAIN, precision="auto"))
    inputs = [learner.prepare(make_batch(16, seed=number)) for number in range(8)]
    reports = [learner.step(one, progress=0.5) for one in inputs]
    assert all(report.is_known for report in reports[:5])
    losses = [report.measures["policy_loss"] for report in reports]
    assert len(set(losses)) == 8 and all(map(math.isfinite, losses))
    with pytest.raises(KeyError):
        reports[0].measures["no such measure"]


@pytest.mark.parametrize(
    ("instructions", "dtype"),
    [
        (set(), torch.float32),
        ({"_is_avx512_bf16_supported"}, torch.bfloat16),
        ({"_is_amx_tile_supported"}, torch.bfloat16),
    ],
)
def test_a_cpu_computes_in_bfloat16_if_it_is_fast(
    instructions: set[str], dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"):
        monkeypatch.setattr(torch.cpu, name, lambda name=name: name in instructions)
    with _autocast("auto", torch.device("cpu"))():
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == dtype
