"""One device of a `ParallelLearner`: `python -m zerosum.data_parallel.device_process`, started by nobody else.

It reads requests from its standard input, writes an answer to each to its standard output, with the CPU-seconds that it
has used (`cpu_s`), and ends with its input. The
processes of all devices get the same requests in the same order, and meet in torch's process group: over NCCL on
NVIDIA's GPUs, else over gloo. They find one another through a file, and talk on the loopback interface only.

| request | arrays | answer |
|---|---|---|
| `begin`: `Beginning` | weights | nothing |
| `load`: step_number | the optimiser's state | nothing |
| `step`: progress | this device's part of a batch | learning_rate, measures |
| `weights` | | weights, from the first device |
| `state` | | the optimiser's state, from the first device |
"""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
import time
from dataclasses import dataclass
from typing import Any

from zerosum.base.settings import from_mapping
from zerosum.data_parallel.messages import Arrays, read_message, write_message
from zerosum.learner import Learner, LearnerConfig
from zerosum.network import NetworkConfig, NetworkShape
from zerosum.replay import Batch

LOOPBACK = "lo0" if sys.platform == "darwin" else "lo"
"""The network interface that does not leave the machine."""


@dataclass(frozen=True)
class Beginning:
    """What a device's process begins with."""

    learner: dict[str, Any]
    """A `LearnerConfig` as a mapping, as `network` is a `NetworkConfig` and `shape` a `NetworkShape`."""
    network: dict[str, Any]
    shape: dict[str, Any]
    device: str
    """One device of torch."""
    place: int
    """The number of this device, from 0 to learner.num_devices - 1."""
    meeting_file: str
    """A path without a file, the same for all devices, where their processes find one another."""


class _DeviceLearner:
    """The learner of one device, by requests."""

    def __init__(self, beginning: Beginning, weights: Arrays) -> None:
        import torch
        import torch.distributed as dist
        from torch.distributed import FileStore  # type: ignore[attr-defined]

        config = from_mapping(LearnerConfig, beginning.learner, "learner")
        device, self._is_first = torch.device(beginning.device), beginning.place == 0
        if device.type == "cuda":
            torch.cuda.set_device(device)
        for name in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"):
            if sys.platform != "win32":
                os.environ.setdefault(name, LOOPBACK)
        dist.init_process_group(
            "nccl" if device.type == "cuda" else "gloo",
            store=FileStore(beginning.meeting_file, config.num_devices),
            rank=beginning.place,
            world_size=config.num_devices,
        )
        self._learner = Learner(
            config,
            from_mapping(NetworkConfig, beginning.network, "network"),
            NetworkShape(**beginning.shape),
            weights,
            device=beginning.device,
            num_parts=config.num_devices,
        )

    def answer(self, request: str, values: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
        if request == "load":
            self._learner.load_state(arrays, step_number=values["step_number"])
            return {}, {}
        if request == "step":
            planes, legal_mask = arrays.pop("planes"), arrays.pop("legal_mask")
            batch = Batch(planes=planes, legal_mask=legal_mask, targets=arrays)
            return dataclasses.asdict(self._learner.step(batch, progress=values["progress"])), {}
        assert request in ("weights", "state"), request
        arrays_of = {"weights": self._learner.weights, "state": self._learner.state}[request]
        return {}, arrays_of() if self._is_first else {}


def main() -> None:
    """Answer requests until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a group; the parent ends this one
    # The pipes get numbers of their own, so that a library's words cannot mix with the answers.
    requests, answers = os.fdopen(os.dup(0), "rb"), os.dup(1)
    os.dup2(2, 1)
    learner: _DeviceLearner | None = None
    while (message := read_message(requests)) is not None:
        values, arrays = message
        request = values.pop("request")
        if learner is None:
            learner = _DeviceLearner(Beginning(**values), arrays)
            answer: tuple[dict[str, Any], Arrays] = ({}, {})
        else:
            answer = learner.answer(request, values, arrays)
        try:
            write_message(answers, {**answer[0], "cpu_s": time.process_time()}, answer[1])
        except OSError:
            break  # the parent is gone
    # Without torch's and NCCL's farewells, which wait for processes that may have ended before.
    os._exit(0)


if __name__ == "__main__":
    main()
