"""A learner on several devices, as its caller sees it: a `Learner` whose steps are made by a process a device.

The processes learn what one device would learn from the whole batch: gradients are means over all parts, and batch
norms take their statistics from all parts. Results differ from one device's only by rounding. The devices are those of
this machine (`LocalDevices`) or of a cluster's nodes (`zerosum.cluster.learner.ClusterDevices`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import queue
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from zerosum.base.child import Child
from zerosum.base.errors import RunError, SettingsError
from zerosum.base.settings import to_mapping
from zerosum.learner import Learner, LearnerConfig, StepReport, batch_targets
from zerosum.learner.parallel import device_process
from zerosum.learner.parallel.batches import pack_batch
from zerosum.learner.parallel.device_learner import Beginning
from zerosum.learner.parallel.messages import Arrays, read_message, write_message
from zerosum.network import NetworkConfig, NetworkShape
from zerosum.network.evaluators.device import torch_devices
from zerosum.replay import Batch

GRACE_S = 10.0
"""Seconds until a process whose input has ended is killed."""
Weights = dict[str, NDArray[np.float32]]


Answer = tuple[dict[str, Any], Arrays]
"""Values and arrays."""
Put = Callable[[Answer | None], None]
"""Gets each answer of a device, and None when the device ends."""


class LearnerLostError(RunError):
    """A device has ended on another machine; the learner can go on elsewhere from the last checkpoint."""


class DeviceHandle(Protocol):
    """A device that answers requests (`device_learner.py`)."""

    def send(self, request: str, values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Send a request. If the device has ended, `Put` has got None."""

    def death(self) -> RunError:
        """The error of its unexpected end."""

    def end(self) -> None:
        """End it, and wait for its end."""


class LearnerDevices(Protocol):
    """Devices of one kind, which are started when a `ParallelLearner` asks."""

    @property
    def names(self) -> Sequence[str]:
        """Torch's name of each device, where it is."""

    def start(self, place: int, put: Put) -> DeviceHandle:
        """Start the device of this number."""

    def meeting(self) -> str:
        """Where the started devices find one another (`Beginning.meeting`)."""

    def close(self) -> None:
        """Remove what was kept for the meeting."""


def new_learner(
    config: LearnerConfig,
    network: NetworkConfig,
    shape: NetworkShape,
    weights: Weights,
    *,
    device: str = "auto",
    devices: LearnerDevices | None = None,
) -> Learner | ParallelLearner:
    """A learner of `config.num_devices` devices: in this process if there is one, unless `devices` are given.

    Other arguments are as `Learner` has them.

    Raises:
        SettingsError: the machine has fewer devices, or torch cannot use one of them.
    """
    if devices is None and config.num_devices == 1:
        return Learner(config, network, shape, weights, device=device)
    return ParallelLearner(config, network, shape, weights, devices=devices or LocalDevices(config.num_devices, device))


def learning_devices(num_devices: int, device: str) -> list[str]:
    """The devices that learn: the first of `device`, or a CPU as often as asked for.

    Raises:
        SettingsError: there are fewer, or torch cannot use one of them.
    """
    devices = [str(one) for one in torch_devices(device)]
    if devices == ["cpu"]:
        return devices * num_devices
    if len(devices) < num_devices:
        here = f"{len(devices)} ({', '.join(devices)})" if len(devices) > 1 else f"one ({devices[0]})"
        raise SettingsError(
            f"learner.num_devices is {num_devices}, but training.device={device} has {here} here: ask for at most"
            f" {len(devices)}, or name more devices."
        )
    return devices[:num_devices]


class LocalDevices:
    """Devices of this machine, each with a process that ends with this one."""

    def __init__(self, num_devices: int, device: str = "auto") -> None:
        """The first `num_devices` of `device`. Raises SettingsError as `learning_devices`."""
        self.names: Sequence[str] = learning_devices(num_devices, device)
        self._directory = tempfile.TemporaryDirectory()

    def start(self, place: int, put: Put) -> DeviceHandle:
        """Start the process of a device."""
        return _Process(f"{place + 1} of {len(self.names)} ({self.names[place]})", put)

    def meeting(self) -> str:
        """The path of a file."""
        return str(Path(self._directory.name) / "meeting")

    def close(self) -> None:
        """Remove the file."""
        self._directory.cleanup()


class ParallelLearner:
    """A network in training on several devices. The methods are those of `Learner`.

    Every method raises `RunError` if a device's process has ended; all others have ended then.
    """

    def __init__(
        self,
        config: LearnerConfig,
        network: NetworkConfig,
        shape: NetworkShape,
        weights: Weights,
        *,
        devices: LearnerDevices,
    ) -> None:
        """Train these weights on `config.num_devices` devices."""
        self.config, self.network, self.step_number = config, network, 0
        self.targets = batch_targets(config, network)
        assert len(devices.names) == config.num_devices
        self._devices = devices
        self._answers: queue.SimpleQueue[tuple[int, Answer | None]] = queue.SimpleQueue()
        self._handles: list[DeviceHandle] = []
        self._cpu_s = [0.0] * len(devices.names)
        try:
            for place in range(len(devices.names)):
                self._handles.append(devices.start(place, self._put(place)))
            meeting = devices.meeting() if len(devices.names) > 1 else ""
            for place, (handle, name) in enumerate(zip(self._handles, devices.names, strict=True)):
                beginning = Beginning(
                    learner=to_mapping(config),
                    network=to_mapping(network),
                    shape=dataclasses.asdict(shape),
                    device=name,
                    place=place,
                    meeting=meeting,
                )
                handle.send("begin", dataclasses.asdict(beginning), weights)
            self._wait()
        except BaseException:
            self.close()
            raise

    @property
    def is_on_gpu(self) -> bool:
        """As `Learner.is_on_gpu`."""
        return self._devices.names[0].startswith("cuda")

    def prepare(self, batch: Batch) -> list[Answer]:
        """As `Learner.prepare`: the values and arrays for each device."""
        size = len(batch) // len(self._handles)
        parts = [batch.part(place * size, (place + 1) * size) for place in range(len(self._handles))]
        return [pack_batch(part, targets=self.targets) for part in parts]

    def step(self, batch: Batch | list[Answer], *, progress: float) -> StepReport:
        """As `Learner.step`."""
        parts = self.prepare(batch) if isinstance(batch, Batch) else batch
        for handle, (values, arrays) in zip(self._handles, parts, strict=True):
            handle.send("step", {"progress": progress, **values}, arrays)
        report = self._wait()[0][0]
        self.step_number += 1
        return StepReport(**report)

    def weights(self) -> Weights:
        """As `Learner.weights`."""
        return self._ask("weights")

    def state(self) -> Arrays:
        """As `Learner.state`."""
        return self._ask("state")

    def load_state(self, state: Mapping[str, NDArray[Any]], *, step_number: int) -> None:
        """As `Learner.load_state`."""
        for handle in self._handles:
            handle.send("load", {"step_number": step_number}, state)
        self._wait()
        self.step_number = step_number

    @property
    def cpu_s(self) -> float:
        """CPU-seconds that the processes have used up to their last answers."""
        return sum(self._cpu_s)

    def close(self) -> None:
        """End all processes. Further calls of other methods are not allowed."""
        for handle in self._handles:
            handle.end()
        self._devices.close()

    def _ask(self, request: str) -> Arrays:
        for handle in self._handles:
            handle.send(request, {}, {})
        return self._wait()[0][1]

    def _put(self, place: int) -> Put:
        return lambda answer: self._answers.put((place, answer))

    def _wait(self) -> list[Answer]:
        """The answer of each process to the last request."""
        answers: dict[int, Answer] = {}
        while len(answers) < len(self._handles):
            place, answer = self._answers.get()
            if answer is None:
                # Others may wait for it for ever.
                error = self._handles[place].death()
                self.close()
                raise error
            self._cpu_s[place] = answer[0].pop("cpu_s")
            answers[place] = answer
        return [answers[place] for place in range(len(self._handles))]


class _Process:
    """The process of one device."""

    def __init__(self, name: str, put: Put) -> None:
        """`put` gets each answer, and None when the process ends."""
        self._name, self._put = name, put
        self._child = Child.of_module(device_process.__name__)
        self._listener = threading.Thread(target=self._listen, name="learner's answers", daemon=True)
        self._listener.start()

    def send(self, request: str, values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Send a request. If the process has ended, its listener says so."""
        with contextlib.suppress(OSError):
            write_message(self._child.input.fileno(), {"request": request, **values}, arrays)

    def death(self) -> RunError:
        """The error of its unexpected end."""
        return RunError(
            f"the learner's process {self._name} {self._child.how_it_ended()}. Go on from the last checkpoint by the"
            f" same command, or learn on one device (--set learner.num_devices=1).{self._child.quoted_words}"
        )

    def end(self) -> None:
        """End its input, and kill it if it does not end."""
        self._child.input.close()
        self._child.end(GRACE_S)
        self._listener.join()

    def _listen(self) -> None:
        with self._child.output as answers:
            while (answer := read_message(answers)) is not None:
                self._put(answer)
        self._put(None)
