"""A learner of one device that answers requests in this process: what is asked, and what comes back."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from learners_for_tests import BATCH, PLAIN, SHAPE, SMALL, assert_same, make_batch
from learners_for_tests import new_learner as plain_learner
from zerosum.base.errors import RunError, SettingsError
from zerosum.learner.parallel import ParallelLearner, new_learner
from zerosum.learner.parallel.device_learner import LOOPBACK, DeviceLearner, _meet
from zerosum.learner.parallel.messages import pack_message, read_message, unpack_message
from zerosum.learner.parallel.parallel_learner import LocalDevices, Put, learning_devices
from zerosum.network import initial_weights

pytestmark = pytest.mark.usefixtures("one_thread")


class Here:
    """A device in this process, which answers at once, or not any more."""

    def __init__(self, put: Put) -> None:
        self.requests, self.is_dead, self.num_ends = list[str](), False, 0
        self._put, self._learner = put, DeviceLearner()

    def send(self, request: str, values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.requests.append(request)
        if self.is_dead:
            self._put(None)
            return
        sent = unpack_message(pack_message({"request": request, **values}, arrays))
        self._put(unpack_message(pack_message(*self._learner.answer(*sent))))

    def death(self) -> RunError:
        return RunError("it is gone")

    def end(self) -> None:
        self.num_ends += 1


class One:
    """The devices of a learner: one."""

    names: Sequence[str] = ("cpu",)

    def __init__(self) -> None:
        self.device, self.num_closes = Here(lambda _: None), 0

    def start(self, place: int, put: Put) -> Here:
        assert place == 0
        self.device = Here(put)
        return self.device

    def meeting(self) -> str:
        raise AssertionError("one device meets nobody")

    def close(self) -> None:
        self.num_closes += 1


def learner_on(devices: One) -> ParallelLearner:
    learner = new_learner(PLAIN, SMALL, SHAPE, initial_weights(SMALL, SHAPE, seed=0), devices=devices)
    assert isinstance(learner, ParallelLearner)
    return learner


def test_it_learns_what_a_learner_of_this_process_learns_bit_for_bit() -> None:
    devices, expected = One(), plain_learner()
    learner = learner_on(devices)
    assert learner.targets == expected.targets and not learner.is_on_gpu and learner.step_number == 0
    for seed in range(3):
        batch = make_batch(16, seed)
        report = learner.step(learner.prepare(batch) if seed % 2 else batch, progress=0.3)
        other = expected.step(batch, progress=0.3)
        assert report == other and report.is_known and other.is_known
    assert learner.step_number == 3 and learner.cpu_s > 0
    assert_same(learner.weights(), expected.weights())
    assert_same(learner.state(), expected.state())
    learner.load_state(learner.state(), step_number=7)
    expected.load_state(expected.state(), step_number=7)
    assert learner.step_number == 7
    assert learner.step(BATCH, progress=0.5) == expected.step(BATCH, progress=0.5)
    assert_same(learner.weights(), expected.weights())
    learner.close()
    assert devices.device.num_ends == devices.num_closes == 1
    requests = ["begin", *["step"] * 3, "weights", "state", "state", "load", "step", "weights"]
    assert devices.device.requests == requests


@pytest.mark.parametrize("request_", ["step", "weights", "state", "load"])
def test_a_device_that_is_gone_ends_the_learner_with_its_error(request_: str) -> None:
    devices = One()
    learner = learner_on(devices)
    state, devices.device.is_dead = learner.state(), True
    with pytest.raises(RunError, match="it is gone"):
        {
            "step": lambda: learner.step(BATCH, progress=0.0),
            "weights": learner.weights,
            "state": learner.state,
            "load": lambda: learner.load_state(state, step_number=1),
        }[request_]()
    assert devices.device.num_ends == devices.num_closes == 1


def test_a_learner_that_cannot_begin_keeps_nothing() -> None:
    class Dead(One):
        def start(self, place: int, put: Put) -> Here:
            device = super().start(place, put)
            device.is_dead = True
            return device

    devices = Dead()
    with pytest.raises(RunError, match="it is gone"):
        learner_on(devices)
    assert devices.device.num_ends >= 1 and devices.num_closes >= 1


def test_the_first_of_the_devices_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = tuple(torch.device(f"cuda:{number}") for number in range(3))
    monkeypatch.setattr("zerosum.learner.parallel.parallel_learner.torch_devices", lambda _: gpus)
    assert learning_devices(2, "cuda") == ["cuda:0", "cuda:1"]
    assert learning_devices(3, "cuda") == ["cuda:0", "cuda:1", "cuda:2"]
    with pytest.raises(SettingsError, match=r"has 3 \(cuda:0, cuda:1, cuda:2\) here: ask for at most 3"):
        learning_devices(4, "cuda")
    monkeypatch.setattr("zerosum.learner.parallel.parallel_learner.torch_devices", lambda _: (torch.device("cpu"),))
    assert learning_devices(4, "auto") == ["cpu"] * 4


def test_devices_of_this_machine_meet_at_a_file_that_goes_with_them() -> None:
    devices = LocalDevices(2, "cpu")
    meeting = Path(devices.meeting())
    assert devices.names == ["cpu", "cpu"] and meeting.parent.is_dir() and not meeting.exists()
    devices.close()
    assert not meeting.parent.exists()


def test_messages_are_read_as_they_were_written_and_a_cut_one_is_the_end() -> None:
    messages: list[tuple[dict[str, Any], dict[str, NDArray[Any]]]] = [
        ({"request": "step", "progress": 0.5}, {"a": np.arange(6, dtype=np.float32).reshape(2, 3)}),
        ({}, {}),
        ({"text": "ä"}, {"b": np.array([True, False]), "c": np.array(3, np.int64)}),
    ]
    data = b"".join(pack_message(*message) for message in messages)
    file = io.BytesIO(data)
    for values, arrays in messages:
        found = read_message(file)
        assert found is not None and found[0] == values
        assert_same(found[1], arrays)
        assert all(found[1][name].dtype == array.dtype for name, array in arrays.items())
    assert read_message(file) is None
    whole = pack_message(*messages[0])
    for size in (0, 1, 15, 16, 20, len(whole) - 1):
        assert read_message(io.BytesIO(whole[:size])) is None
        with pytest.raises(ValueError, match="cut off"):
            unpack_message(whole[:size])


@pytest.mark.skipif(sys.platform == "win32", reason="it takes the system's choice there")
@pytest.mark.parametrize(
    ("meeting", "is_one_machine"), [("file", True), ("tcp://127.0.0.1:29500", True), ("tcp://10.0.0.7:29500", False)]
)
def test_devices_of_one_machine_meet_on_its_loopback(
    meeting: str, is_one_machine: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name server that does not know this machine, or a firewall, then stops no training."""
    joined: list[dict[str, object]] = []
    monkeypatch.setattr("torch.distributed.init_process_group", lambda *_, **words: joined.append(words))
    names = "GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"
    for name in names:
        monkeypatch.setenv(name, "")  # restored after the test
        monkeypatch.delenv(name)
    _meet(torch.device("cpu"), str(tmp_path / meeting) if meeting == "file" else meeting, place=1, num_devices=2)
    assert [os.environ.get(name) for name in names] == [LOOPBACK if is_one_machine else None] * 2
    assert joined[0]["rank"] == 1 and joined[0]["world_size"] == 2
