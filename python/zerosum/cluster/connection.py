"""The connection to Ray: a private cluster of this machine, or one that exists. Ray is imported here alone.

What Ray opens, starts and pickles is described in docs/cluster.md.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import logging
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from zerosum.base.errors import RunError, SettingsError, printable
from zerosum.base.settings import num_cores
from zerosum.cluster.guard import guarded

LOCAL = "local"
"""The address that means a new cluster on this machine alone."""
AUTO = "auto"
"""The address that means the cluster that this machine is a node of, as Ray finds it."""
ANSWER_S = 10.0
"""Longest time until a head takes a connection."""
OBJECT_STORE_BYTES = 256 << 20
"""Shared memory of a local cluster, for networks and blocks on their way."""

START_S = 300.0
"""Longest time until an actor of the learner or a rater has begun, if `cluster.silence_seconds` is not longer."""

LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Ray's variable that, if 0, makes it listen on the loopback interface alone, on every system."""


def require_ray() -> None:
    """Check that Ray is installed, without importing it.

    Raises:
        SettingsError: it is not; the message says how to install it.
    """
    if importlib.util.find_spec("ray") is None:
        raise SettingsError(
            "--cluster needs Ray, which is not installed: pip install 'zerosum[cluster]', or pip install ray."
        )


@dataclass(frozen=True)
class Node:
    """A machine of the cluster that can run actors."""

    node_id: str
    """Ray's number of the node, in hexadecimal."""
    host: str
    address: str
    """Its address as the other nodes see it."""
    cpus: int
    gpus: float

    @property
    def name(self) -> str:
        """The host, and the beginning of the number, because a host can have several nodes."""
        return f"{self.host}:{self.node_id[:6]}"


@dataclass(frozen=True)
class Place:
    """Room on a node that is kept for an actor."""

    role: str
    """What the actor is there for, in a word or two."""
    node: Node
    cpus: int
    gpus: float


class SilentActorError(Exception):
    """An actor does not answer; the message says for how long."""


class Connection:
    """An open connection to Ray."""

    def __init__(self, ray: Any, address: str) -> None:
        self.ray: Any = ray
        """The module `ray`, which is imported late."""
        self.address = address
        """Where the cluster is, as `connected` took it."""
        self.places: list[Place] = []
        """What is kept for the learner and the raters; self-play has the rest of each node."""
        self.lost: list[tuple[Place, str]] = []
        """The places whose actors have ended unexpectedly, and why, in this order."""

    def free(self, node: Node) -> tuple[int, float]:
        """CPUs and GPUs of a node that no place keeps."""
        kept = [place for place in list(self.places) if place.node.node_id == node.node_id]
        return node.cpus - sum(place.cpus for place in kept), node.gpus - sum(place.gpus for place in kept)

    def reserve(self, role: str, *, cpus: int, gpus: float) -> Place:
        """Keep room on the node that has most of it free.

        Raises:
            RunError: no node has so much.
        """
        fitting = [node for node in self.nodes() if self.free(node)[0] >= cpus and self.free(node)[1] >= gpus]
        if not fitting:
            raise RunError(
                f"No node of the cluster has {cpus} CPUs and {gpus:g} GPUs free for {role}: add a node, or ask for less"
                " (the settings cluster.*)."
            )
        roomiest = max(fitting, key=lambda node: self.free(node)[::-1] if gpus else self.free(node))
        place = Place(role, roomiest, cpus, gpus)
        self.places.append(place)
        return place

    def nodes(self) -> list[Node]:
        """The nodes that are alive."""
        return [
            Node(
                node["NodeID"],
                printable(str(node["NodeManagerHostname"])),
                str(node["NodeManagerAddress"]),
                int(node["Resources"].get("CPU", 0)),
                float(node["Resources"].get("GPU", 0)),
            )
            for node in self.ray.nodes()
            if node["Alive"]
        ]

    def answer(self, call: Any, *, limit: float) -> Any:
        """The answer to a call of an actor.

        Raises:
            SilentActorError: it has not come after so many seconds.
            The errors of Ray: the actor has ended, or the call has raised one.
        """
        answered, _ = self.ray.wait([call], num_returns=1, timeout=limit)
        if not answered:
            raise SilentActorError(f"it has not answered for {limit:.0f} seconds")
        return self.ray.get(call)

    def new_actor(self, actor: type, *, node: Node, cpus: int, gpus: float, num_calls: int = 1) -> Any:
        """Start an actor of a class on a node; Ray waits until the node has the resources free.

        The actor answers `num_calls` calls at a time.
        """
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        place = NodeAffinitySchedulingStrategy(node.node_id, soft=False)
        remote = self.ray.remote(actor)
        options: dict[str, Any] = {"num_cpus": cpus, "num_gpus": gpus, "max_restarts": 0, "scheduling_strategy": place}
        if num_calls > 1:
            options["max_concurrency"] = num_calls
        return remote.options(**options).remote()


def first_line(error: BaseException) -> str:
    """The cause of one of Ray's errors, without its traceback."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return printable(" ".join(lines[:2]) if lines else type(error).__name__).rstrip(".")


@contextlib.contextmanager
def connected(address: str) -> Iterator[Connection]:
    """Connect to the cluster at an address, `host:port` or `auto`, or start one on this machine (`local`).

    A local cluster listens on the loopback interface alone, has a secret of its own, and ends with the connection.

    Raises:
        RunError: there is no cluster at the address, or Ray cannot start.
        SettingsError: Ray is not installed.
    """
    require_ray()
    with contextlib.ExitStack() as stack:
        options: dict[str, Any] = {"configure_logging": False, "log_to_driver": False}
        stack.enter_context(_environment({"RAY_USAGE_STATS_ENABLED": "0"}))
        if address == LOCAL:
            directory = tempfile.mkdtemp(prefix="zs-")
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
            stack.enter_context(private_environment())
            stack.enter_context(guarded(directory, _secret()))
            options |= {
                "num_cpus": num_cores(),
                "include_dashboard": False,
                "object_store_memory": OBJECT_STORE_BYTES,
                "_temp_dir": directory,
            }
        else:
            require_answer(address)
            options["address"] = address
        import ray

        logging.getLogger("ray").setLevel(logging.ERROR)  # its remarks are about itself
        if ray.is_initialized():
            raise RunError("This process is connected to a Ray cluster already: call ray.shutdown() before a training.")
        try:
            stack.callback(ray.shutdown)
            with _kept_sigterm():
                ray.init(**options)
        except Exception as error:  # Ray raises this class itself, if a node does not start in time
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            if address == LOCAL:
                raise RunError(f"Ray cannot start ({reason}): see that there are memory and disk enough.") from error
            raise _no_cluster(address, reason) from error
        if address == LOCAL:
            _require_loopback(ray)
        yield Connection(ray, address)


@contextlib.contextmanager
def _kept_sigterm() -> Iterator[None]:
    """Keep this process's answer to SIGTERM, which Ray takes for itself on the main thread.

    Another thread is no way out: the processes that it starts end with it.
    """
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)


def require_answer(address: str) -> None:
    """Check that something listens at `host:port`; Ray itself would wait for minutes. `auto` is Ray's to find.

    Raises:
        RunError: nothing answers.
        SettingsError: it is no address.
    """
    host, _, port = address.rpartition(":")
    if address in (AUTO, LOCAL):
        return
    if not host or not port.isdigit():
        raise SettingsError(f"--cluster is {address!r}, expected host:port, '{AUTO}' or '{LOCAL}'.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), ANSWER_S).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, str(error)) from error


def _no_cluster(address: str, reason: str) -> RunError:
    return RunError(
        f"No Ray cluster at {address!r} for this process ({reason}). Start a head by `ray start --head`, join this"
        " machine by `ray start --address=HOST:PORT`, and name that address."
    )


@functools.cache
def _secret() -> str:
    """The secret of this process's clusters: Ray reads it once in a process."""
    return secrets.token_hex(32)


@contextlib.contextmanager
def private_environment() -> Iterator[None]:
    """Variables of a cluster of this machine: loopback alone, a secret that no file has, modules as they are here."""
    values = {
        LOOPBACK: "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": _secret(),
        "RAY_num_workers_soft_limit": "0",  # no idle workers, which cost time of a core: zerosum has actors alone
        "RAY_USAGE_STATS_ENABLED": "0",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    with _environment(values):
        yield


def _require_loopback(ray: Any) -> None:
    addresses = {str(node["NodeManagerAddress"]) for node in ray.nodes()}
    if not all(address.startswith("127.") or address == "::1" for address in addresses):
        raise RunError(
            f"Ray listens at {', '.join(sorted(addresses))} and not on the loopback interface alone, because it was"
            f" imported before the training began: set {LOOPBACK}=0 in the environment, or import it later."
        )


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
