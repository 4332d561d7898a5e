"""Kill actors, nodes and the learner of a training on a Ray cluster of this machine, and check what is left.

    python tools/kill_cluster.py --kills 50 --seed 0

Starts a cluster of a head and two nodes with a CPU each, and a training that plays, learns and rates on it. Each kill
is SIGKILL, at a random moment, to a self-play actor, to the learner's actor (*device*), to the *rater*, to a node (its
raylet; another node joins afterwards) or to the process of the command (*learner*; the same command then goes on). Two
other victims are not killed: a *hung* actor is stopped by SIGSTOP and never continued, and a *cut* node has all its
processes stopped until the cluster counts it as lost, and continued afterwards, as after a cut of its network. After an
actor or a node, games must go on to arrive. After the command's process, and at the end, the files are read by the
independent reader of `kill_training.py`: no finished game lost, doubled, changed or against the rules; no checkpoint or
row lost; every game that the status counted is there. A game that died with its actor leaves a gap in the numbers,
which is no fault.

Prints a line per kill and a summary; exit status 1 if there was a fault, and the run is kept.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from kill_training import GAME, SETTINGS, Found, Marks, find_faults, look
from zerosum.base.errors import ZerosumError
from zerosum.cluster import read_status
from zerosum.cluster.connection import private_environment
from zerosum.cluster.status import NOW, ClusterStatus
from zerosum.games import make

VICTIMS = ("actor", "node", "learner", "hung", "cut", "device", "rater")
AIMS = (0.25, 0.2, 0.2, 0.1, 0.05, 0.1, 0.1)
"""How often each is killed; a cut takes a minute, the time in which Ray notices it."""
OTHERS = {"device": "ray::DeviceActor", "rater": "ray::RaterActor"}
"""How the names of other actors' processes begin."""
SILENCE_S = 15
"""Seconds without an answer after which the training gives an actor up."""
LONGEST_WAIT_S = 180.0
"""Longest time until games arrive after a kill, on a machine that does other work."""
HEALED_S = 3.0
"""Time in which the processes of a healed node go on: whatever they still hand over must not count."""
NUM_NODES = 2
"""Nodes beside the head."""
STOPPED = 128 + signal.SIGINT
"""Exit status of a training that was stopped by Ctrl-C."""

Write = Callable[[str], None]


@contextlib.contextmanager
def nodes_of_this_machine(*, num_cpus: int = 1, num_nodes: int = NUM_NODES) -> Iterator[Any]:
    """A cluster of a head with so many CPUs, and nodes with one each, on the loopback interface."""
    directory = tempfile.mkdtemp(prefix="zs-")
    # Ray notes the address of the newest cluster in a folder that it expects to exist.
    Path(directory, "ray").mkdir()
    with private_environment(), mock.patch.dict(os.environ, RAY_TMPDIR=directory):
        from ray.cluster_utils import Cluster

        small: dict[str, Any] = {"num_cpus": num_cpus, "object_store_memory": 80 << 20, "include_dashboard": False}
        cluster: Any = Cluster(initialize_head=True, head_node_args={**small, "temp_dir": directory})
        try:
            for _ in range(num_nodes):
                cluster.add_node(num_cpus=1, object_store_memory=80 << 20)
            yield cluster
        finally:
            cluster.shutdown()
            shutil.rmtree(directory, ignore_errors=True)


class Training:
    """The learner's process, which may be killed and started again."""

    def __init__(self, run: Path, address: str, *, seed: int) -> None:
        """A training in the directory `run`, not started yet."""
        self.run, self._log = run, run.parent / "log.txt"
        settings = [*SETTINGS, "cluster.cpus_per_actor=1", "training.num_checkpoints=5000"]
        settings += [f"cluster.silence_seconds={SILENCE_S}", "cluster.gpus_per_learner=0", "cluster.num_raters=1"]
        settings += ["cluster.cpus_per_rater=0"]
        words = ["train", GAME, "--run", str(run), "--steps", "100000", "--seed", str(seed), "--cluster", address]
        self._command = [sys.executable, "-m", "zerosum", *words, *(w for text in settings for w in ("--set", text))]
        self._process: subprocess.Popen[bytes] | None = None
        self.lives = 0

    def start(self) -> None:
        """Start it, or go on."""
        (self.run / NOW).unlink(missing_ok=True)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=subprocess.STDOUT)
        self.lives += 1

    def end(self, number: int) -> int:
        """Send it a signal, and wait for its end. Returns its exit status."""
        assert self._process is not None
        self._process.send_signal(number)
        return self._process.wait(LONGEST_WAIT_S)

    def status(self) -> ClusterStatus | None:
        """What it says of the cluster; None before it says anything. Raises AssertionError if it has ended."""
        assert self._process is not None and self._process.poll() is None, self.said()
        with contextlib.suppress(ZerosumError):
            return read_status(self.run)
        return None

    def said(self) -> str:
        """The end of what it printed."""
        return self._log.read_text(errors="replace")[-3000:]

    def wait_for(self, is_so: Callable[[ClusterStatus], bool], what: str) -> ClusterStatus:
        """Wait until the status fulfils a condition. Raises AssertionError after `LONGEST_WAIT_S`."""
        until = time.monotonic() + LONGEST_WAIT_S
        while time.monotonic() < until:
            if (status := self.status()) is not None and is_so(status):
                return status
            time.sleep(0.1)
        raise AssertionError(f"{what} has not come for {LONGEST_WAIT_S:.0f} seconds\n{self.said()}")


@dataclass
class Summary:
    """The results of many kills."""

    kills: Counter[str] = field(default_factory=Counter)
    num_games: int = 0
    last_step: int = 0
    num_counted: int = 0
    """Games that the statuses counted; at least as many were there."""
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        kills = ", ".join(f"{name} {count}" for name, count in self.kills.items())
        return (
            f"kills: {kills}; {self.num_games} games ({self.num_counted} seen in the status) and {self.last_step}"
            f" learner steps lived through it; {len(self.faults)} faults"
        )


def kill_many(run: Path, *, kills: list[str], seed: int, after_s: float = 3.0, write: Write = print) -> Summary:
    """Train in the directory `run`, and kill these victims, each up to `after_s` seconds after games arrive."""
    generator, summary, before = np.random.default_rng(seed), Summary(), Found()
    with nodes_of_this_machine() as cluster:
        training = Training(run, cluster.address, seed=seed)
        training.start()
        for victim in kills:
            status = training.wait_for(lambda status: status.games > 0 and bool(status.actors), "a game")
            time.sleep(after_s * generator.random())
            if victim == "learner":
                training.end(signal.SIGKILL)
                before = _check(run, before, status, summary, write)
                training.start()
            else:
                heal = _hit(cluster, victim, status, generator)
                failed, num_nodes = status.num_failures, status.nodes
                after = training.wait_for(lambda status, n=failed: status.num_failures > n, "a failure")  # type: ignore[misc]
                training.wait_for(lambda status, n=after.games: status.games > n, "a game after a failure")  # type: ignore[misc]
                if heal is not None:
                    training.wait_for(lambda status, n=num_nodes: status.nodes < n, "the loss of a node")  # type: ignore[misc]
                    heal()
            summary.kills[victim] += 1
            write(f"kill {summary.kills.total()}: {victim}")
        status = training.wait_for(lambda status: status.games > 0, "a game")
        if (code := training.end(signal.SIGINT)) != STOPPED:
            summary.faults.append(f"the training ended with exit status {code}\n{training.said()}")
        _check(run, before, read_status(run), summary, write)
        if "Traceback" in training.said():
            summary.faults.append(training.said())
    return summary


def _hit(cluster: Any, victim: str, status: ClusterStatus, generator: np.random.Generator) -> Callable[[], None] | None:
    """Do what happens to a victim; returns what ends it, for a cut."""
    if victim in ("node", "cut"):
        nodes = list(cluster.worker_nodes)
        node = nodes[generator.integers(len(nodes))]
        if victim == "cut":
            return _cut(cluster, node)
        _replace(cluster, node)
        return None
    pids = (
        processes_named(OTHERS[victim], cluster) if victim in OTHERS else [one.pid for one in status.actors if one.pid]
    )
    _signal(pids[generator.integers(len(pids))], signal.SIGSTOP if victim == "hung" else signal.SIGKILL)
    return None


def _replace(cluster: Any, node: Any) -> None:
    cluster.remove_node(node, allow_graceful=False)
    cluster.add_node(num_cpus=1, object_store_memory=80 << 20)


def _cut(cluster: Any, node: Any) -> Callable[[], None]:
    """Stop all processes of a node; returns what continues them and lets another node join."""
    pids = processes_of(node)
    for pid in pids:
        _signal(pid, signal.SIGSTOP)

    def heal() -> None:
        for pid in pids:
            _signal(pid, signal.SIGCONT)
        time.sleep(HEALED_S)
        _replace(cluster, node)

    return heal


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def processes_named(start: str, cluster: Any) -> list[int]:
    """The processes of a cluster whose name begins so, once there are any.

    Raises AssertionError after `LONGEST_WAIT_S`. The machine may have other clusters, whose actors have the same names.
    """
    until = time.monotonic() + LONGEST_WAIT_S
    while time.monotonic() < until:
        names = {}
        for node in (cluster.head_node, *cluster.worker_nodes):
            for pid in processes_of(node):
                with contextlib.suppress(OSError):
                    names[pid] = Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
        if pids := [pid for pid, name in names.items() if name.startswith(start)]:
            return pids
        time.sleep(0.1)
    raise AssertionError(f"no process {start}* for {LONGEST_WAIT_S:.0f} seconds")


def processes_of(node: Any) -> list[int]:
    """All processes of a node of the cluster."""
    roots = [info.process.pid for infos in node.all_processes.values() for info in infos]
    return [pid for root in roots for pid in processes_under(root)]


def processes_under(pid: int) -> Iterator[int]:
    """A process and all its descendants."""
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the process has ended
            for child in task.read_text().split():
                yield from processes_under(int(child))


def _check(run: Path, before: Found, status: ClusterStatus, summary: Summary, write: Write) -> Found:
    """Compare the files with what they were, and with what the status counted since then."""
    after = look(run)
    counted = {Marks.GAMES: status.games, Marks.SAVED: 0}
    faults = find_faults(run, make(GAME), before, after, counted, has_gaps=True)
    for fault in faults:
        write(f"  FAULT: {fault}")
    summary.faults += faults
    summary.num_games, summary.last_step = len(after.records), max(after.steps, default=0)
    summary.num_counted += status.games
    return after


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Kill parts of a training on a cluster and check what is left of it.")
    parser.add_argument("--kills", type=int, default=50, help="number of kills (50)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the victims and moments (0)")
    parser.add_argument("--victims", nargs="+", choices=VICTIMS, help="the victims in their order, instead of chance")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="kill-cluster-"))
    drawn = np.random.default_rng(arguments.seed).choice(VICTIMS, arguments.kills, p=AIMS).tolist()
    victims = arguments.victims or drawn
    summary = kill_many(folder / "run", kills=victims, seed=arguments.seed)
    print(summary)
    if summary.faults:
        sys.exit(f"The run is kept in {folder}.")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
