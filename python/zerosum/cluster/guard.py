"""The end of a private cluster whose driver was killed: a process of its own that waits for the driver's end.

Ray ends its processes when its driver ends, but after a `kill -9` of the driver some of them live on. This file is run
as a program, without the package, so that it takes little memory beside the training. Its standard input is a pipe from
the driver: the cluster's secret, its directory, and at last a word, if the driver has ended the cluster itself. If the
pipe ends without the word, the driver is gone.

The cluster's processes are known by the secret in their environment, which no other process has: no number of a process
is kept, because a number may be another process's by the time of use.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

GRACE_S = 5.0
"""Time that Ray's processes have to end by themselves."""
ROUNDS = 20
"""Times that the processes are looked for, half a second apart: an ending one may have started another."""
ENDED = b"ended\n"


@contextlib.contextmanager
def guarded(directory: str, secret: str) -> Iterator[None]:
    """End the processes of a cluster, and remove its directory, if this process is killed within the block."""
    environment = {name: value for name, value in os.environ.items() if value != secret}
    guard = subprocess.Popen(
        [sys.executable, "-I", __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,  # Ctrl-C in a terminal is not for it
    )
    assert guard.stdin is not None
    with guard.stdin as pipe:
        pipe.write(f"{secret}\n{directory}\n".encode())
        pipe.flush()
        try:
            yield
        finally:
            with contextlib.suppress(BrokenPipeError):
                pipe.write(ENDED)
                pipe.flush()
    guard.wait()


def main() -> None:
    """Wait for the end of the driver, and end what it has left."""
    secret, directory, *words = sys.stdin.buffer.read().split(b"\n")
    if words and words[0] + b"\n" == ENDED:
        return
    time.sleep(GRACE_S)
    for _ in range(ROUNDS):
        found = list(_processes(secret, directory))
        for number in found:
            with contextlib.suppress(OSError):
                os.kill(number, signal.SIGKILL)
        if not found:
            break
        time.sleep(0.5)
    shutil.rmtree(os.fsdecode(directory), ignore_errors=True)


def _processes(secret: bytes, directory: bytes) -> Iterator[int]:
    """Processes with the secret in their environment; where that cannot be read, those of the cluster's directory."""
    proc = Path("/proc")
    if (proc / "self" / "environ").exists():
        for process in proc.iterdir():
            with contextlib.suppress(OSError):
                if process.name.isdigit() and (
                    secret in (process / "environ").read_bytes() or _is_agent(process, directory)
                ):
                    yield int(process.name)
        return
    listed = subprocess.run(["ps", "-axww", "-o", "pid=,command="], capture_output=True, check=False).stdout
    for line in listed.splitlines():
        number, _, command = line.strip().partition(b" ")
        if directory in command and int(number) != os.getpid():
            yield int(number)


def _is_agent(process: Path, directory: bytes) -> bool:
    """Whether a process is one of Ray's with a log in the directory. A title that it gives itself hides its secret."""
    if not (process / "cmdline").read_bytes().startswith(b"ray::"):
        return False
    return any(os.fsencode(os.readlink(file)).startswith(directory) for file in (process / "fd").iterdir())


if __name__ == "__main__":
    main()
