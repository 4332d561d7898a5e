"""Another process that does measured work in slices of time on request.

    this side                            the other side
    one line of JSON: what to measure ─>
                                      <─ one line of JSON: ready, or {"error": a sentence}
    a line: so many seconds           ─>
                                      <─ {"done": …, "seconds": …, "cpu_seconds": …}
    …                                    … and it ends with its input

Between two slices it waits and uses no core, so that several processes can alternate.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import IO, Any

from zerosum.base.errors import SettingsError
from zerosum.selfplay.calibration import Rate

GRACE_S = 10
"""Seconds until a process that is told to end is killed."""


class OtherProcess:
    """This side of another process; `open_process` starts and ends it."""

    def __init__(self, process: subprocess.Popen[str], words: IO[bytes], name: str, request: dict[str, Any]) -> None:
        self._process, self._words, self._name = process, words, name
        self.answer = self._ask(json.dumps(request))
        """Its answer when it was ready."""

    def rate(self, *, seconds: float) -> Rate:
        """The rate of its work in about `seconds` seconds.

        Raises:
            SettingsError: it died.
        """
        slice_ = self._ask(repr(seconds))
        return Rate(slice_["done"] / slice_["seconds"], slice_["done"] / slice_["cpu_seconds"])

    def _ask(self, line: str) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        said = ""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
            said = self._process.stdout.readline()
        if not said:
            status = self._process.wait()
            self._words.seek(0)
            last = self._words.read().decode(errors="replace").strip().rpartition("\n")[2] or "none."
            raise SettingsError(f"{self._name} ended with exit status {status}. Its last words: {last}")
        answer: dict[str, Any] = json.loads(said)
        if "error" in answer:
            raise SettingsError(answer["error"])
        return answer


@contextmanager
def open_process(
    command: list[str], request: dict[str, Any], *, name: str, **environment: str
) -> Iterator[OtherProcess]:
    """Start `command`, with `environment` added to this process's own, and wait until it is ready.

    Raises:
        SettingsError: it cannot be started, refuses the request, or died.
    """
    pipe, environ = subprocess.PIPE, {**os.environ, **environment}
    with tempfile.TemporaryFile() as words:
        try:
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=words, env=environ, text=True)
        except OSError as error:
            raise SettingsError(f"{command[0]} cannot be started ({error.strerror}): name another Python.") from error
        try:
            yield OtherProcess(process, words, name, request)
        finally:
            try:
                process.communicate(timeout=GRACE_S)  # closing its input ends it
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


def open_module(module: str, request: dict[str, Any]) -> AbstractContextManager[OtherProcess]:
    """A module of this package in this interpreter, with the same module path."""
    command = [sys.executable, "-P", "-m", module]
    return open_process(command, request, name=module, PYTHONPATH=os.pathsep.join(sys.path))
