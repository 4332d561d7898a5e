"""A private cluster whose driver is killed leaves no process and no directory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from zerosum.cluster.guard import guarded

DRIVER = """
import os, subprocess, sys, time
from zerosum.cluster.guard import guarded
directory, secret = sys.argv[1:3]
with guarded(directory, secret):
    command = [sys.executable, "-c", "import time; time.sleep(600)", directory]
    for number in range(2):  # as Ray's: in sessions of their own
        child = subprocess.Popen(command, env={**os.environ, "RAY_AUTH_TOKEN": secret}, start_new_session=True)
        print(child.pid, flush=True)
    {then}
"""


def driver(directory: Path, secret: str, then: str) -> tuple[subprocess.Popen[str], list[int]]:
    """A process with a cluster of two processes, and their numbers."""
    words = [sys.executable, "-c", DRIVER.replace("{then}", then), str(directory), secret]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, [int(process.stdout.readline()) for _ in range(2)]


def is_alive(number: int) -> bool:
    """Whether a process runs; one that has ended may wait for its parent to look."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(number)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")


@pytest.mark.skipif(os.name == "nt", reason="Ray's clusters on Windows are experimental")
def test_a_killed_driver_leaves_no_process_of_its_cluster(tmp_path: Path) -> None:
    cluster, other = tmp_path / "cluster", tmp_path / "other"
    cluster.mkdir()
    other.mkdir()
    process, children = driver(cluster, "a secret", "time.sleep(600)")
    stranger, strangers = driver(other, "another secret", "time.sleep(600)")
    try:
        process.send_signal(signal.SIGKILL)
        process.wait()
        while any(map(is_alive, children)) or cluster.exists():
            time.sleep(0.1)
        assert all(map(is_alive, strangers)) and other.exists(), "another cluster goes on"
    finally:
        stranger.kill()
        stranger.wait()
        for leftover in (process, stranger):
            assert leftover.stdout is not None
            leftover.stdout.close()
        while any(map(is_alive, strangers)):
            time.sleep(0.1)


@pytest.mark.skipif(os.name == "nt", reason="Ray's clusters on Windows are experimental")
def test_a_cluster_that_its_driver_ends_is_left_to_it(tmp_path: Path) -> None:
    process, children = driver(tmp_path, "a secret", "pass")
    try:
        assert process.wait() == 0 and all(map(is_alive, children)) and tmp_path.exists()
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
        assert process.stdout is not None
        process.stdout.close()


def test_the_guard_does_not_have_the_secret_in_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would end itself before its work is done."""
    monkeypatch.setenv("RAY_AUTH_TOKEN", "a secret")
    started: list[dict[str, str]] = []
    popen = subprocess.Popen

    def start(*words: object, env: dict[str, str], **options: object) -> object:
        started.append(env)
        return popen(*words, env=env, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "Popen", start)
    with guarded(str(tmp_path), "a secret"):
        assert "a secret" not in started[0].values()
