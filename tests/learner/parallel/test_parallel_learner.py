"""A learner on two devices against one: the same losses, gradients, norms and optimiser states, up to rounding."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from batches_for_tests import policies_of
from runs_for_tests import SETTINGS
from zerosum.base.errors import RunError, SettingsError
from zerosum.games import make
from zerosum.games.random_play import random_lines, state_of
from zerosum.learner import Learner, LearnerConfig
from zerosum.learner.config import _multiples
from zerosum.learner.parallel import ParallelLearner, new_learner
from zerosum.learner.parallel.parallel_learner import LocalDevices, learning_devices
from zerosum.network import NetworkConfig, NetworkShape, initial_weights
from zerosum.network.weights import Weights
from zerosum.replay import Batch
from zerosum.run.metrics import read_metrics
from zerosum.run.training import train

GAME = make("connect4")
SHAPE = NetworkShape.of(GAME.spec)
NETWORK = NetworkConfig(num_blocks=2, num_filters=8, policy_filters=4, value_filters=2, value_hidden=8)
CONFIG = LearnerConfig(
    warmup_steps=0, precision="f32", learning_rate=0.01, final_share=1.0, batch_size=24, num_devices=2
)


def new_batch(seed: int) -> Batch:
    """24 positions whose two halves differ much: the second half has more stones."""
    generator, lines = np.random.default_rng(seed), sorted(random_lines(GAME, num=24, seed=seed), key=len)
    leaves = GAME.encode([state_of(GAME, line) for line in lines])
    policy = generator.random((24, 7)) * leaves.legal_mask()
    policy /= policy.sum(axis=1, keepdims=True)
    value = generator.choice(np.array([-1, 0, 1], np.float32), 24)
    draws = (value == 0).astype(np.float32)
    played = policy.argmax(axis=1).astype(np.float32)
    targets = {"value": value, "draws": draws, "played": played, "played_share": policy.max(axis=1).astype(np.float32)}
    return Batch.of(leaves, GAME.spec, policies_of(policy), targets)


@contextmanager
def two_devices(config: LearnerConfig, weights: Weights | None = None) -> Iterator[ParallelLearner]:
    weights = weights or initial_weights(NETWORK, SHAPE, seed=0)
    learner = ParallelLearner(config, NETWORK, SHAPE, weights, devices=LocalDevices(2, "cpu"))
    try:
        yield learner
    finally:
        learner.close()


def one_device(config: LearnerConfig) -> Learner:
    return Learner(
        replace(config, num_devices=1), NETWORK, SHAPE, initial_weights(NETWORK, SHAPE, seed=0), device="cpu"
    )


def assert_close(ours: dict[str, np.ndarray], others: dict[str, np.ndarray], tolerance: float) -> None:
    assert ours.keys() == others.keys()
    for name, array in ours.items():
        np.testing.assert_allclose(array, others[name], rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("importance_limit", [None, 0.3])
def test_gradients_and_norms_are_those_of_one_device(importance_limit: float | None) -> None:
    """After one step of SGD with momentum its state is the gradient, and with a rate of 1 weights show it."""
    config = replace(CONFIG, optimizer="sgd", learning_rate=1.0, weight_decay=0.0, importance_limit=importance_limit)
    one, batch = one_device(config), new_batch(0)
    with two_devices(config) as two:
        ours, others = two.step(batch, progress=0.5), one.step(batch, progress=0.5)
        assert ours.measures == pytest.approx(others.measures, rel=1e-5)
        gradients, expected = two.state(), one.state()
        assert max(abs(gradient).max() for gradient in expected.values()) > 0.01
        assert_close(gradients, expected, 1e-5)
        weights = two.weights()
        assert any(name.endswith("running_var") for name in weights)
        assert_close(weights, one.weights(), 1e-5)


@pytest.mark.parametrize("optimizer", ["adam", "adamw"])
def test_steps_are_those_of_one_device(optimizer: str) -> None:
    config = replace(CONFIG, optimizer=optimizer, clip_norm=0.5)
    one = one_device(config)
    with two_devices(config) as two:
        assert two.targets == one.targets
        for seed in range(5):
            ours = two.step(new_batch(seed), progress=0.5)
            others = one.step(new_batch(seed), progress=0.5)
            assert ours.measures == pytest.approx(others.measures, rel=1e-3)
            assert ours.learning_rate == others.learning_rate
        assert two.step_number == one.step_number == 5
        assert two.cpu_s > one.cpu_s == 0
        assert_close(two.weights(), one.weights(), 2e-3)


def test_a_resumed_learner_goes_on_alike_until_a_device_dies() -> None:
    """The death of a device is told in a sentence, and ends the other one."""
    with two_devices(CONFIG) as two:
        two.step(new_batch(0), progress=0.1)
        state, weights = two.state(), two.weights()
        two.step(new_batch(1), progress=0.2)
        expected = two.weights()
    with two_devices(CONFIG, weights) as resumed:
        resumed.load_state(state, step_number=1)
        resumed.step(new_batch(1), progress=0.2)
        assert resumed.step_number == 2
        assert_close(resumed.weights(), expected, 1e-6)
        os.kill(resumed._handles[1]._child.pid, signal.SIGKILL)
        with pytest.raises(RunError, match=r"process 2 of 2 \(cpu\) was ended by SIGKILL|process 1 of 2 \(cpu\) ended"):
            resumed.step(new_batch(0), progress=0)
        assert [process._child.status(0) for process in resumed._handles]  # raises TimeoutError for one that runs on


def test_bad_numbers_of_devices_are_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match=r"batch_size is 256, which 3 devices .* equally: 255 or 258 can be"):
        LearnerConfig(num_devices=3)
    import torch

    monkeypatch.setattr("zerosum.learner.parallel.parallel_learner.torch_devices", lambda _: (torch.device("cuda:0"),))
    with pytest.raises(SettingsError, match=r"num_devices is 2, but training.device=cuda has one \(cuda:0\) here"):
        learning_devices(2, "cuda")


def test_one_device_needs_no_process() -> None:
    weights = initial_weights(NETWORK, SHAPE, seed=0)
    assert isinstance(new_learner(replace(CONFIG, num_devices=1), NETWORK, SHAPE, weights, device="cpu"), Learner)


def test_a_run_learns_on_two_devices_and_goes_on_with_one(tmp_path: Path) -> None:
    run, settings = tmp_path / "run", [*SETTINGS, "learner.num_devices=2", "training.device=cpu"]
    train("tictactoe", run, overrides=settings, report=lambda _: None)
    # Threads of the parent end with the processes that they listen to.
    assert not [thread for thread in threading.enumerate() if thread.name == "learner's answers"]
    step = read_metrics(run / "metrics.csv")[-1].step
    assert step > 0
    more = ["learner.num_devices=1", f"training.steps={2 * step}"]
    train("tictactoe", run, overrides=more, report=lambda _: None)
    assert read_metrics(run / "metrics.csv")[-1].step == 2 * step


def test_a_deterministic_run_refuses_several_devices(tmp_path: Path) -> None:
    settings = ["training.deterministic=true", "training.steps=4", "learner.num_devices=2", "training.device=cpu"]
    with pytest.raises(SettingsError, match="a deterministic run learns on one device"):
        train("tictactoe", tmp_path / "run", overrides=settings, report=lambda _: None)


@pytest.mark.parametrize("num_devices", [2, 3, 7])
def test_the_next_sizes_that_devices_can_share_are_named(num_devices: int) -> None:
    for size in range(1, 30):
        named = [int(word) for word in _multiples(size, num_devices).split(" or ")]
        assert all(number % num_devices == 0 and number > 0 for number in named)
        assert max(named) - size <= num_devices and (len(named) == 2) == (size >= num_devices)
        assert len(named) == 1 or 0 <= size - named[0] < num_devices < num_devices + named[0] == named[1]
