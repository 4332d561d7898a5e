"""The learner as actors, and the room that a cluster has for them."""

from __future__ import annotations

import importlib.util
import os
import queue
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from zerosum._core import __version__
from zerosum.base.errors import RunError
from zerosum.cluster import ClusterConfig, ClusterDevices, Connection
from zerosum.cluster.connection import START_S
from zerosum.learner.parallel import LearnerLostError
from zerosum.learner.parallel.messages import pack_message


def node(number: str, *, cpus: int, gpus: int = 0, alive: bool = True) -> dict[str, object]:
    """A node as Ray lists it."""
    resources = {"CPU": cpus, "GPU": gpus}
    names = {"NodeID": number, "NodeManagerHostname": "host", "NodeManagerAddress": "127.0.0.1"}
    return {**names, "Alive": alive, "Resources": resources}


def connection_to(*nodes: dict[str, object]) -> Connection:
    return Connection(SimpleNamespace(nodes=lambda: nodes), "auto")


def test_room_is_kept_on_the_roomiest_node() -> None:
    connection = connection_to(
        node("a" * 8, cpus=4), node("b" * 8, cpus=2, gpus=2), node("c" * 8, cpus=9, gpus=9, alive=False)
    )
    by_cpus = connection.reserve("rater 1", cpus=3, gpus=0)
    by_gpus = [connection.reserve("the learner", cpus=1, gpus=1) for _ in range(2)]
    assert by_cpus.node.node_id == "a" * 8 and {place.node.node_id for place in by_gpus} == {"b" * 8}
    assert [connection.free(each) for each in connection.nodes()] == [(1, 0), (0, 0)]
    with pytest.raises(RunError, match="No node of the cluster has 2 CPUs and 0 GPUs free for rater 2"):
        connection.reserve("rater 2", cpus=2, gpus=0)
    connection.places.remove(by_cpus)
    assert connection.reserve("rater 2", cpus=2, gpus=0).node.node_id == "a" * 8


def test_a_learner_without_room_for_all_its_devices_keeps_none() -> None:
    connection = connection_to(node("a" * 8, cpus=4, gpus=3))
    with pytest.raises(RunError, match="0 GPUs free for the learner's device 1|GPUs free for the learner's device 4"):
        ClusterDevices(connection, ClusterConfig(gpus_per_learner=1), 4)
    assert not connection.places
    assert ClusterDevices(connection, ClusterConfig(gpus_per_learner=1), 3).names == ["cuda:0"] * 3


class _HungRay:
    """Ray whose actors answer as often as the test says, and then never."""

    exceptions = SimpleNamespace(RayError=OSError)

    def __init__(self, *answers: object) -> None:
        self.answers, self.waited, self.killed = list(answers), list[float](), list[object]()

    def nodes(self) -> list[dict[str, object]]:
        return [node("a" * 8, cpus=4)]

    def wait(self, calls: list[object], *, num_returns: int, timeout: float) -> tuple[list[object], list[object]]:
        self.waited.append(timeout)
        return (calls, []) if self.answers else ([], calls)

    def get(self, call: object) -> object:
        return self.answers.pop(0)

    def kill(self, actor: object) -> None:
        self.killed.append(actor)


class _HungConnection(Connection):
    def new_actor(self, actor: type, **_: object) -> object:
        return SimpleNamespace(
            **{name: SimpleNamespace(remote=lambda *words: words) for name in ("version", "meeting", "answer")}
        )


def test_a_learner_that_does_not_answer_is_lost() -> None:
    ray = _HungRay(__version__, pack_message({}, {}))
    connection = _HungConnection(ray, "auto")
    devices = ClusterDevices(connection, ClusterConfig(gpus_per_learner=0, silence_seconds=7), 1)
    answers: queue.SimpleQueue[object] = queue.SimpleQueue()
    device = devices.start(0, answers.put)
    device.send("begin", {}, {})
    assert answers.get(timeout=5) is not None
    device.send("step", {}, {})
    assert answers.get(timeout=5) is None
    assert str(device.death()) == "the learner on host:aaaaaa has ended (it has not answered for 7 seconds)"
    assert [why for _, why in connection.lost] == ["it has not answered for 7 seconds"]
    assert ray.waited == [START_S, START_S, 7]
    device.end()
    assert len(ray.killed) == 1


def test_a_learner_that_names_no_meeting_is_lost() -> None:
    connection = _HungConnection(_HungRay(__version__), "auto")
    devices = ClusterDevices(connection, ClusterConfig(gpus_per_learner=0, silence_seconds=900), 2)
    device = devices.start(0, lambda _answer: None)
    while connection.ray.answers:
        time.sleep(0.01)
    with pytest.raises(LearnerLostError, match="the learner's device 1 on host:aaaaaa has ended .*900 seconds"):
        devices.meeting()
    device.end()


def test_a_learner_of_another_version_is_lost() -> None:
    ray = _HungRay("0.0.1")
    devices = ClusterDevices(_HungConnection(ray, "auto"), ClusterConfig(gpus_per_learner=0), 1)
    answers: queue.SimpleQueue[object] = queue.SimpleQueue()
    device = devices.start(0, answers.put)
    assert answers.get(timeout=60) is None
    assert f"it has zerosum 0.0.1, and this machine {__version__}" in str(device.death())
    device.end()
    devices.close()
    devices.close()
    assert not devices._connection.places


TWO_ACTORS = """
from dataclasses import replace
from test_parallel_learner import CONFIG, NETWORK, SHAPE, new_batch, one_device
from zerosum.cluster import ClusterConfig, ClusterDevices, connected
from zerosum.learner.parallel import LearnerLostError, new_learner
from zerosum.network import initial_weights

with connected("local") as connection:
    def on_actors(num_devices):
        config = ClusterConfig(gpus_per_learner=0, cpus_per_learner=0)
        devices = ClusterDevices(connection, config, num_devices)
        weights = initial_weights(NETWORK, SHAPE, seed=0)
        return new_learner(replace(CONFIG, num_devices=num_devices), NETWORK, SHAPE, weights, devices=devices)

    for num_devices in (1, 2):
        learner, expected = on_actors(num_devices), one_device(CONFIG)
        for seed in range(3):
            report, other = learner.step(new_batch(seed), progress=0.1), expected.step(new_batch(seed), progress=0.1)
            assert all(abs(report.measures[name] - value) < 1e-3 for name, value in other.measures.items()), report
        found, weights = learner.weights(), expected.weights()
        print(max(float(abs(found[name] - weights[name]).max()) for name in weights) < 2e-3, learner.cpu_s > 0)
        learner.close()
        learner.close()
    assert not connection.places

    learner = on_actors(2)
    connection.ray.kill(learner._handles[1]._actor)
    try:
        learner.step(new_batch(0), progress=0)
    except LearnerLostError as error:
        print(error)
    print(len(connection.places), len(connection.lost))
"""


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is missing: pip install 'zerosum[cluster]'")
@pytest.mark.skipif(os.name == "nt", reason="POSIX only: Ray's clusters on Windows are experimental")
def test_learners_on_one_and_two_actors_learn_what_one_device_learns() -> None:
    """A separate process, because Ray's processes belong to the one that starts them."""
    paths = [os.path.join(os.path.dirname(__file__), "..", room) for room in ("", "learner/parallel")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", TWO_ACTORS], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[:2] == ["True True"] * 2
    assert "the learner's device 2 on " in done.stdout or "the learner's device 1 on " in done.stdout
    assert done.stdout.splitlines()[-1].startswith("0 ")
