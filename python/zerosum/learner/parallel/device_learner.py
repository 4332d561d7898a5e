"""The learner of one device of a `ParallelLearner`, by requests.

All devices get the same requests in the same order, and meet in torch's process group: over NCCL on NVIDIA's GPUs, else
over gloo. On one machine they find one another through a file and talk on the loopback interface alone; on several
machines the first device listens at an address.

| request | values and arrays | answer, besides `cpu_s`, the CPU-seconds that the process has used |
|---|---|---|
| `begin` | `Beginning`; weights | |
| `load` | step_number; the optimiser's state | |
| `step` | progress; this device's part of a batch (`batches.py`) | learning_rate, measures |
| `weights` | | weights, from the first device |
| `state` | | the optimiser's state, from the first device |
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from typing import Any

from zerosum.base.settings import from_mapping
from zerosum.learner import Learner, LearnerConfig
from zerosum.learner.parallel.batches import unpack_batch
from zerosum.learner.parallel.messages import Arrays
from zerosum.network import NetworkConfig, NetworkShape

LOOPBACK = "lo0" if sys.platform == "darwin" else "lo"
"""The network interface that does not leave the machine."""
TCP = "tcp://"
"""How a meeting point begins that is an address."""


@dataclass(frozen=True)
class Beginning:
    """What a device begins with."""

    learner: dict[str, Any]
    """A `LearnerConfig` as a mapping, as `network` is a `NetworkConfig` and `shape` a `NetworkShape`."""
    network: dict[str, Any]
    shape: dict[str, Any]
    device: str
    """One device of torch."""
    place: int
    """The number of this device, from 0 to learner.num_devices - 1."""
    meeting: str
    """Where the devices find one another, the same for all: the path of a file that does not exist yet, or
    `tcp://HOST:PORT` of the first device. One device alone needs none."""


class DeviceLearner:
    """Answers requests, the first of which is `begin`."""

    def __init__(self) -> None:
        self._learner: Learner | None = None
        self._is_first = False

    def answer(self, values: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
        """The answer to a request: `values` has its name as `request`."""
        request = values.pop("request")
        told: dict[str, Any] = {}
        found: Arrays = {}
        if request == "begin":
            self._begin(Beginning(**values), arrays)
        elif request == "load":
            self._begun.load_state(arrays, step_number=values["step_number"])
        elif request == "step":
            progress = values.pop("progress")
            report = self._begun.step(unpack_batch(values, arrays), progress=progress)
            told = {"learning_rate": report.learning_rate, "measures": dict(report.measures)}
        else:
            assert request in ("weights", "state"), request
            arrays_of = {"weights": self._begun.weights, "state": self._begun.state}[request]
            found = arrays_of() if self._is_first else {}
        return {**told, "cpu_s": time.process_time()}, found

    @property
    def _begun(self) -> Learner:
        assert self._learner is not None, "begin comes first"
        return self._learner

    def _begin(self, beginning: Beginning, weights: Arrays) -> None:
        import torch

        config = from_mapping(LearnerConfig, beginning.learner, "learner")
        device, self._is_first = torch.device(beginning.device), beginning.place == 0
        if device.type == "cuda":
            torch.cuda.set_device(device)
        if config.num_devices > 1:
            _meet(device, beginning.meeting, place=beginning.place, num_devices=config.num_devices)
        self._learner = Learner(
            config,
            from_mapping(NetworkConfig, beginning.network, "network"),
            NetworkShape(**beginning.shape),
            weights,
            device=beginning.device,
            num_parts=config.num_devices,
        )


def _meet(device: Any, meeting: str, *, place: int, num_devices: int) -> None:
    """Join torch's process group of all devices."""
    import torch.distributed as dist
    from torch.distributed import FileStore  # type: ignore[attr-defined]

    is_one_machine = not meeting.startswith(TCP) or meeting.startswith(f"{TCP}127.")
    if is_one_machine and sys.platform != "win32":
        for name in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"):
            os.environ.setdefault(name, LOOPBACK)
    where: dict[str, Any] = {"init_method": meeting}
    if not meeting.startswith(TCP):
        where = {"store": FileStore(meeting, num_devices)}
    backend = "nccl" if device.type == "cuda" else "gloo"
    dist.init_process_group(backend, **where, rank=place, world_size=num_devices)
