"""The learner on a cluster: an actor for each of its devices, on the nodes that have most room.

    zerosum train --cluster ──── Ray actor on node 1 ── DeviceActor: device 1 of the learner
      ParallelLearner        └── Ray actor on node 2 …  gradients meet over NCCL or gloo

A batch travels to the actors for each step, and weights travel back for each phase: this is for learners whose step
takes longer than that, such as those on another machine's GPUs.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from zerosum.base.version import __version__
from zerosum.cluster.config import ClusterConfig
from zerosum.cluster.connection import START_S, Connection, Place, SilentActorError, first_line
from zerosum.learner.parallel.device_learner import TCP, DeviceLearner
from zerosum.learner.parallel.messages import pack_message, unpack_message
from zerosum.learner.parallel.parallel_learner import DeviceHandle, LearnerLostError, Put


class DeviceActor:
    """A device of the learner on a node. Calls and answers are plain bytes (`zerosum.learner.parallel.messages`)."""

    def __init__(self) -> None:
        self._learner = DeviceLearner()

    def version(self) -> str:
        """The node's version of zerosum."""
        return __version__

    def meeting(self, host: str) -> str:
        """An address of this node that nothing listens at, for torch's process group."""
        with socket.create_server((host, 0)) as listener:
            return f"{TCP}{host}:{listener.getsockname()[1]}"

    def answer(self, message: bytes) -> bytes:
        """The answer to a request of a `ParallelLearner`."""
        return pack_message(*self._learner.answer(*unpack_message(message)))


class ClusterDevices:
    """The learner's devices on a cluster, one for each actor."""

    def __init__(self, connection: Connection, config: ClusterConfig, num_devices: int) -> None:
        """Keep room for `num_devices` actors. Raises RunError if there is none."""
        assert config.gpus_per_learner is not None
        self._connection, self._limit = connection, config.silence_seconds
        self._places: list[Place] = []
        try:
            for number in range(num_devices):
                role = "the learner" if num_devices == 1 else f"the learner's device {number + 1}"
                self._places.append(
                    connection.reserve(role, cpus=config.cpus_per_learner, gpus=config.gpus_per_learner)
                )
        except BaseException:
            self.close()
            raise
        self._actors: list[_Device] = []

    @property
    def names(self) -> list[str]:
        """Ray shows an actor its own GPUs alone."""
        return ["cuda:0" if place.gpus else "cpu" for place in self._places]

    def start(self, place: int, put: Put) -> DeviceHandle:
        """Start the actor of this number."""
        self._actors.append(_Device(self._connection, self._places[place], put, limit=self._limit))
        return self._actors[-1]

    def meeting(self) -> str:
        """An address on the first actor's node."""
        return self._actors[0].meeting()

    def close(self) -> None:
        """Give the room back."""
        for place in self._places:
            with contextlib.suppress(ValueError):
                self._connection.places.remove(place)


class _Device:
    """One actor, whose requests and answers pass through a thread. It is lost when it does not answer for `limit`."""

    def __init__(self, connection: Connection, place: Place, put: Put, *, limit: float) -> None:
        self._connection, self._place, self._put, self._limit = connection, place, put, limit
        self._why, self._is_ended = "", False
        self._actor = connection.new_actor(DeviceActor, node=place.node, cpus=place.cpus, gpus=place.gpus)
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="learner's answers", daemon=True)
        self._thread.start()

    def meeting(self) -> str:
        """An address on the actor's node. Raises RunError."""
        call = self._actor.meeting.remote(self._place.node.address)
        try:
            meeting: str = self._connection.answer(call, limit=max(self._limit, START_S))
        except (self._connection.ray.exceptions.RayError, SilentActorError) as error:
            self._lose(first_line(error))
            raise self.death() from error
        return meeting

    def send(self, request: str, values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Send a request."""
        self._requests.put(pack_message({"request": request, **values}, arrays))

    def death(self) -> LearnerLostError:
        """The error of its unexpected end."""
        return LearnerLostError(f"{self._place.role} on {self._place.node.name} has ended ({self._why})")

    def end(self) -> None:
        """Kill the actor."""
        self._is_ended = True
        self._requests.put(None)
        self._connection.ray.kill(self._actor)
        self._thread.join()

    def _work(self) -> None:
        # Its start and its first request, with which it makes the learner, may take longer than a step.
        limit = max(self._limit, START_S)
        try:
            there = self._connection.answer(self._actor.version.remote(), limit=limit)
            if there != __version__:
                self._lose(f"it has zerosum {there}, and this machine {__version__}: install the same version")
                return
            while (message := self._requests.get()) is not None:
                self._put(unpack_message(self._connection.answer(self._actor.answer.remote(message), limit=limit)))
                limit = self._limit
        except (self._connection.ray.exceptions.RayError, SilentActorError) as error:
            if not self._is_ended:
                self._lose(first_line(error))

    def _lose(self, why: str) -> None:
        self._why = why
        self._connection.lost.append((self._place, why))
        self._put(None)
