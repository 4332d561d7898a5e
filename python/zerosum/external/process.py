"""A program behind three pipes: lines to it, lines from it, and a certain end.

No call waits longer than its timeout: one thread writes, one reads lines with their times, one keeps the last lines of
the standard error. The protocols (`uci_client.py`, `gtp_client.py`) stand above this file.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from zerosum.base.errors import shown
from zerosum.base.settings import check, setting
from zerosum.contest.mover import EngineFailure
from zerosum.external.traffic import ANSWERED, ERROR, TOLD

MAX_LINE = 1 << 16
"""Bytes of the longest line; after a longer one a program is not read any further."""
MAX_WAITING = 256
"""Most unread lines that are kept. A program that writes more has to wait."""
LAST_WORDS = 5
"""Lines of the standard error that a failure quotes."""
GRACE_S = 1.0
"""Wait for the exit status of a program whose output has ended, and for the threads of a killed one."""


@dataclass(frozen=True)
class EngineTimeouts:
    """Time limits of an engine's answers, in seconds."""

    handshake_s: float = setting(10.0, "from the start of the program to the end of its handshake", low=0.0)
    ready_s: float = setting(60.0, "for getting ready (engines load their network then), and for any command", low=0.0)
    search_s: float = setting(600.0, "for a move where no limit of the search is a time", low=0.0)
    quit_s: float = setting(1.0, "for leaving when told to, before the process is killed", low=0.0)

    def __post_init__(self) -> None:
        check(self, "engine")


@dataclass(frozen=True)
class Line:
    """A line of an engine, with its time."""

    text: str
    """The line without its end; bytes that are not UTF-8 are replaced."""
    at: float
    """Time by `time.monotonic`."""


class EngineProcess:
    """A running engine. One thread uses it; `close` is to be called whatever happens, and may be called again."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        name: str,
        directory: str = "",
        listen: Callable[[str, str], None] = lambda _direction, _line: None,
    ) -> None:
        """Start the program in a process group of its own: an interrupt from the keyboard does not reach it.

        Args:
            argv: The program and its arguments.
            name: What to call it.
            directory: To start it in.
            listen: Gets all lines with their direction (`traffic.py`), from this object's threads.

        Raises:
            EngineFailure: it cannot be started.
        """
        self.name, self._listen = name, listen
        self._sent, self._said = "", ""
        self._outbox = queue.SimpleQueue[bytes | None]()
        self._lines = queue.Queue[Line | None](MAX_WAITING)  # None: there is nothing more to come
        self._last_words = deque[str](maxlen=LAST_WORDS)
        self._is_too_long = self._has_ended_output = False
        self.is_over = False
        """The process has been ended and reaped."""
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=directory or None,
                start_new_session=True,
            )
        except OSError as error:
            what = f"{argv[0]} in {directory}" if directory else argv[0]
            raise EngineFailure(
                f"{name} cannot be started: {what}: {error.strerror}. Check its command.", ending="forfeit"
            ) from error
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin and stdout and stderr
        self._threads = [
            threading.Thread(target=target, args=(stream,), name=f"{name} {target.__name__}", daemon=True)
            for target, stream in ((self._write, stdin), (self._read, stdout), (self._read_errors, stderr))
        ]
        for thread in self._threads:
            thread.start()
        atexit.register(self.kill)  # for who forgets to

    @property
    def pid(self) -> int:
        """Of the process, which leads its group."""
        return self._process.pid

    def send(self, line: str) -> float:
        """Send a line without waiting for it to be read. The time then, by `time.monotonic`."""
        assert "\n" not in line and "\r" not in line, f"{line!r} is several lines"
        self._sent = line
        self._listen(TOLD, line)
        self._outbox.put(f"{line}\n".encode())
        return time.monotonic()

    def read(self, deadline: float) -> Line | None:
        """The next line, or None if none was said before the deadline (by `time.monotonic`).

        Raises:
            EngineFailure: no line will come any more.
        """
        try:
            line = self._lines.get(timeout=max(deadline - time.monotonic(), 0.0))
        except queue.Empty:
            return None
        if line is None:
            too_long = f"said more than {MAX_LINE} bytes without ending the line"
            raise self.failure(too_long if self._is_too_long else "has ended its output")
        self._said = line.text or self._said
        return line if line.at <= deadline else None

    def lines_until(self, word: str, timeout_s: float) -> Iterator[Line]:
        """What the engine says before the line that is this word.

        Raises:
            EngineFailure: the word did not come in time.
        """
        deadline = time.monotonic() + timeout_s
        while line := self.read(deadline):
            if line.text.strip() == word:
                return
            yield line
        raise self.failure(f"did not answer {word!r} within {timeout_s:g} s")

    def read_waiting(self) -> list[Line]:
        """What has been said and not been read."""
        lines = (self.read(time.monotonic()) for _ in range(self._lines.qsize()))
        return [line for line in lines if line]

    def failure(self, what: str, *, ending: str = "forfeit") -> EngineFailure:
        """End the process; the error that says what the engine did ("did not answer"), to be raised by the caller."""
        status = self._status()
        self.kill()  # after which all that it said on its standard error has been heard
        parts = [f"{self.name} {what}"]
        if self._sent:
            heard = f"the last from it {shown(self._said)}" if self._said else "it said nothing"
            parts.append(f"The last line sent to it was {shown(self._sent)}, {heard}")
        if status:
            parts.append(status)
        if self._last_words:
            parts.append(f"Its standard error ends: {' | '.join(self._last_words)}")
        return EngineFailure(f"{'. '.join(parts)}.", ending=ending)

    def close(self, farewell: str, timeout_s: float) -> None:
        """Say good-bye and end the process, in `timeout_s` and a little more."""
        if self.is_over:
            return
        self.send(farewell)
        self._outbox.put(None)
        deadline = time.monotonic() + timeout_s
        with contextlib.suppress(EngineFailure):  # its output has ended: that is what was asked for
            while self.read(deadline):
                pass
        self.kill()

    def kill(self) -> None:
        """End the process and all that it started, and reap it; any thread may."""
        if self.is_over:  # by now its number may be another process's
            return
        self.is_over = True
        atexit.unregister(self.kill)
        self._outbox.put(None)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=GRACE_S)
        deadline = time.monotonic() + GRACE_S
        for thread in self._threads:
            while thread.is_alive() and time.monotonic() < deadline:
                self._forget_waiting()  # or else the reader may wait for room
                thread.join(timeout=0.01)
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(None)  # whoever waits for a line, in another thread, waits no longer

    def _forget_waiting(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._lines.get_nowait()

    def _status(self) -> str:
        """How the program ended, if it did so by itself; it is given a moment, for its output ends before it does."""
        try:
            status = self._process.wait(timeout=GRACE_S if self._has_ended_output else 0.0)
        except subprocess.TimeoutExpired:
            return ""
        if status >= 0:
            return f"It ended with exit status {status}"
        try:
            return f"It was ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"It was ended by signal {-status}"

    def _write(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError), stream:  # a program that is gone: its output says so
            while (line := self._outbox.get()) is not None:
                stream.write(line)
                stream.flush()

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            while line := stream.readline(MAX_LINE):
                if len(line) == MAX_LINE and not line.endswith(b"\n"):
                    self._is_too_long = True
                    break
                said = Line(line.decode(errors="replace").rstrip("\r\n"), time.monotonic())
                self._listen(ANSWERED, said.text)
                self._lines.put(said)
        self._has_ended_output = True
        self._lines.put(None)

    def _read_errors(self, stream: IO[bytes]) -> None:
        with stream:
            while line := stream.readline(MAX_LINE):
                if text := line.decode(errors="replace").strip():
                    self._listen(ERROR, text)
                    self._last_words.append(text[:200])
