"""The connection to a cluster without Ray: addresses, the environment of its processes, and words of its errors."""

from __future__ import annotations

import os
import signal
import socket
import sys
from types import SimpleNamespace

import pytest

from zerosum.base.errors import RunError, SettingsError
from zerosum.cluster.connection import (
    LOOPBACK,
    Connection,
    Place,
    SilentActorError,
    _kept_sigterm,
    first_line,
    private_environment,
    require_answer,
)


@pytest.mark.parametrize("address", ["", "host", "6379", ":6379", "host:", "host:port", "host:63 79"])
def test_what_is_no_address_is_a_sentence(address: str) -> None:
    with pytest.raises(SettingsError, match="expected host:port, 'auto' or 'local'"):
        require_answer(address)


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_an_address_is_asked_before_ray_waits_for_it(host: str) -> None:
    family = socket.AF_INET6 if "[" in host else socket.AF_INET
    try:
        listener = socket.create_server((host.strip("[]"), 0), family=family)
    except OSError:
        pytest.skip(f"this machine has no {host}")
    address = f"{host}:{listener.getsockname()[1]}"
    with listener:
        require_answer(address)
    with pytest.raises(RunError, match="No Ray cluster at .*ray start --head"):
        require_answer(address)


def test_an_address_without_a_port_of_its_own_is_rays_to_find() -> None:
    require_answer("auto")
    require_answer("local")
    with pytest.raises(RunError, match="No Ray cluster"):
        require_answer("127.0.0.1:99999")


def test_a_private_cluster_has_an_environment_of_its_own_for_the_time_being(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.delenv(LOOPBACK, raising=False)
    before, secrets = dict(os.environ), set[str]()
    for _ in range(2):
        with private_environment():
            assert os.environ[LOOPBACK] == "0" and os.environ["RAY_AUTH_MODE"] == "token"
            assert os.environ["PYTHONPATH"].split(os.pathsep) == [path for path in sys.path if path]
            secrets.add(os.environ["RAY_AUTH_TOKEN"])
        assert dict(os.environ) == before
    assert len(secrets) == 1 and len(secrets.pop()) == 64


def test_the_answer_to_sigterm_is_kept() -> None:
    def ours(_number: int, _frame: object) -> None:
        pass

    before = signal.signal(signal.SIGTERM, ours)
    try:
        with _kept_sigterm():
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        assert signal.getsignal(signal.SIGTERM) is ours
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The actor died.\n\n  Its node is gone.\nTraceback", "The actor died. Its node is gone"),
        ("one", "one"),
        ("", "OSError"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
    ],
)
def test_the_first_lines_of_an_error_are_its_cause(text: str, words: str) -> None:
    assert first_line(OSError(text)) == words


def ray_node(number: str, **resources: float) -> dict[str, object]:
    names = {"NodeID": number * 8, "NodeManagerHostname": f"host {number}", "NodeManagerAddress": "10.0.0.1"}
    return {**names, "Alive": True, "Resources": resources}


def test_a_node_without_a_resource_has_none_of_it() -> None:
    nodes = [ray_node("a", CPU=2.0), ray_node("b", GPU=0.5), ray_node("c")]
    connection = Connection(SimpleNamespace(nodes=lambda: nodes), "auto")
    found = connection.nodes()
    assert [(node.cpus, node.gpus) for node in found] == [(2, 0), (0, 0.5), (0, 0)]
    assert found[0].name == "host a:aaaaaa"


def test_room_that_is_just_enough_is_taken_and_no_more() -> None:
    nodes = [ray_node("a", CPU=2, GPU=1), ray_node("b", CPU=4), ray_node("c", CPU=3, GPU=3)]
    connection = Connection(SimpleNamespace(nodes=lambda: nodes), "auto")
    assert connection.reserve("the learner", cpus=1, gpus=1).node.host == "host c", "the most GPUs"
    assert connection.reserve("rater 1", cpus=4, gpus=0).node.host == "host b", "the most CPUs"
    assert connection.reserve("rater 2", cpus=2, gpus=1).node.host in ("host a", "host c")
    assert connection.reserve("rater 3", cpus=2, gpus=1).node.host in ("host a", "host c")
    with pytest.raises(RunError, match="has 1 CPUs and 0.5 GPUs free for rater 4"):
        connection.reserve("rater 4", cpus=1, gpus=0.5)
    nodes.append(ray_node("d", CPU=1, GPU=0.5))
    assert connection.reserve("rater 4", cpus=1, gpus=0.5) in connection.places
    assert all(min(connection.free(node)) >= 0 for node in connection.nodes())
    assert isinstance(connection.places[0], Place) and len(connection.places) == 5


def test_an_answer_that_does_not_come_in_time_is_silence() -> None:
    asked: list[tuple[int, float]] = []

    def wait(calls: list[object], *, num_returns: int, timeout: float) -> tuple[list[object], list[object]]:
        asked.append((num_returns, timeout))
        return (calls, []) if calls == ["there"] else ([], calls)

    connection = Connection(SimpleNamespace(wait=wait, get=lambda call: f"{call}!"), "auto")
    assert connection.answer("there", limit=3.0) == "there!"
    with pytest.raises(SilentActorError, match="has not answered for 12 seconds"):
        connection.answer("away", limit=12.0)
    assert asked == [(1, 3.0), (1, 12.0)]
