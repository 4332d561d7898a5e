"""A child process behind three pipes: input and output for its owner's protocol, and the last lines of its errors."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

LAST_WORDS = 20
"""Lines of a child's standard error that are kept."""
LONGEST_LINE = 1 << 16
"""Bytes of standard error that are read as one line at most."""


class Child:
    """A running program, whose standard error a thread reads, so that the program never waits for that."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        hear: Callable[[str], None] = lambda _line: None,
        directory: str = "",
        leads_group: bool = False,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Start a program.

        Args:
            command: The program and its arguments.
            hear: Gets each line of its standard error, from a thread.
            directory: The working directory; "" for this process's.
            leads_group: Whether it leads a process group of its own: an interrupt from the keyboard does not reach it,
                and `kill` ends the processes that it has started.
            environment: Variables besides those of this process.

        Raises:
            OSError: it cannot be started.
        """
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            cwd=directory or None,
            env={**os.environ, **environment},
            start_new_session=leads_group,
        )
        assert self._process.stdin and self._process.stdout
        self.input, self.output, self.pid = self._process.stdin, self._process.stdout, self._process.pid
        self._hear, self._leads_group = hear, leads_group
        self._last_words = deque[str](maxlen=LAST_WORDS)
        self.reader = threading.Thread(target=self._read, name=f"errors of {command[0]}", daemon=True)
        """The thread that reads its standard error; it ends once all who write there have ended."""
        self.reader.start()

    @staticmethod
    def of_module(
        module: str,
        *,
        hear: Callable[[str], None] = lambda _line: None,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> Child:
        """A module of this program in this interpreter.

        It finds modules where this process does, and not first in the directory that it was started from.
        """
        path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        return Child([sys.executable, "-P", "-m", module], hear=hear, environment={**environment, **path})

    @property
    def last_words(self) -> tuple[str, ...]:
        """The last lines of its standard error so far, without blank ones."""
        return tuple(self._last_words)

    @property
    def quoted_words(self) -> str:
        """The end of a message about its end: its last words on lines of their own; "" if it had none."""
        self.reader.join()
        return "".join([" Its last words:", *(f"\n  {line}" for line in self._last_words)]) if self._last_words else ""

    def status(self, timeout_s: float | None = None) -> int:
        """Its exit status, once it has ended; negative for a signal.

        Raises:
            TimeoutError: it runs on after `timeout_s` seconds.
        """
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError from error

    def how_it_ended(self, timeout_s: float | None = None) -> str:
        """As `status`, in words: "ended with exit status 1", "was ended by SIGKILL"."""
        status = self.status(timeout_s)
        if status >= 0:
            return f"ended with exit status {status}"
        try:
            return f"was ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"was ended by signal {-status}"

    def end(self, grace_s: float) -> None:
        """Wait until it and its standard error have ended; kill it after `grace_s` seconds."""
        try:
            self.status(grace_s)
        except TimeoutError:
            self.kill()
            self.status()
        self.reader.join()

    def kill(self) -> None:
        """End it at once, without waiting for it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self._leads_group and os.name == "posix":
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def _read(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as errors:
            while line := errors.readline(LONGEST_LINE):
                text = line.decode(errors="replace").rstrip()
                self._hear(text)
                if text:
                    self._last_words.append(text)
