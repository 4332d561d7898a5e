"""A program behind three pipes: lines to it, lines from it, and a guaranteed end.

No call waits longer than its timeout: one thread writes, one reads lines with their times, one keeps the last lines of
the standard error. The protocols (`uci_client.py`, `gtp_client.py`) build on this file.
"""

from __future__ import annotations

import atexit
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from zerosum.base.child import Child
from zerosum.base.errors import shown
from zerosum.base.settings import check, setting
from zerosum.contest.mover import EngineFailure
from zerosum.play.engines.traffic import ANSWERED, ERROR, TOLD

MAX_LINE = 1 << 16
"""Bytes of the longest line; after a longer one a program is not read any further."""
MAX_WAITING = 256
"""Maximum number of unread lines. A program that writes more has to wait."""
LAST_WORDS = 5
"""Lines of the standard error that a failure quotes."""
GRACE_S = 1.0
"""Wait for the exit status of a program whose output has ended, and for the threads of a killed one."""


@dataclass(frozen=True)
class EngineTimeouts:
    """Time limits of an engine's answers, in seconds."""

    handshake_s: float = setting(10.0, "from the start of the program to the end of its handshake", low=0.0)
    ready_s: float = setting(60.0, "for `isready` (engines load their network then) and other commands", low=0.0)
    search_s: float = setting(600.0, "for a move if no limit of the search is a time", low=0.0)
    quit_s: float = setting(1.0, "for quitting, before the process is killed", low=0.0)

    def __post_init__(self) -> None:
        check(self, "engine")


@dataclass(frozen=True)
class EngineLine:
    """A line of an engine, with its time."""

    text: str
    """The line without its end; bytes that are not UTF-8 are replaced."""
    at: float
    """Time by `time.monotonic`."""


class EngineProcess:
    """A running engine, used by one thread. Always call `close`; it may be called repeatedly."""

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
            name: The engine's name for people.
            directory: The working directory.
            listen: Receives all lines with their direction (`traffic.py`), from this object's threads.

        Raises:
            EngineFailure: the program cannot be started.
        """
        self.name, self._listen = name, listen
        self._sent, self._said = "", ""
        self._outbox = queue.SimpleQueue[bytes | None]()
        self._lines = queue.Queue[EngineLine | None](MAX_WAITING)  # None: no more lines will come
        self._is_too_long = self._has_ended_output = False
        self.is_over = False
        """Whether the process has been ended and reaped."""
        try:
            self._child = Child(argv, hear=self._hear_error, directory=directory, leads_group=True)
        except OSError as error:
            what = f"{argv[0]} in {directory}" if directory else argv[0]
            raise EngineFailure(
                f"{name} cannot be started: {what}: {error.strerror}. Check its command.", ending="forfeit"
            ) from error
        own = [
            threading.Thread(target=target, args=(stream,), name=f"{name} {target.__name__}", daemon=True)
            for target, stream in ((self._write, self._child.input), (self._read, self._child.output))
        ]
        for thread in own:
            thread.start()
        self._threads = [*own, self._child.reader]
        atexit.register(self.kill)  # in case `close` is not called

    @property
    def pid(self) -> int:
        """Id of the process, which leads its group."""
        return self._child.pid

    def send(self, line: str) -> float:
        """Send a line without waiting for the engine to read it; return the time (`time.monotonic`)."""
        assert "\n" not in line and "\r" not in line, f"{line!r} is several lines"
        self._sent = line
        self._listen(TOLD, line)
        at = time.monotonic()  # before the line can reach the engine, which may answer at once
        self._outbox.put(f"{line}\n".encode())
        return at

    def read(self, deadline: float) -> EngineLine | None:
        """The next line; None if none came before the deadline (`time.monotonic`).

        Raises:
            EngineFailure: no further line will come.
        """
        try:
            line = self._lines.get(timeout=max(deadline - time.monotonic(), 0.0))
        except queue.Empty:
            return None
        if line is None:
            too_long = f"wrote more than {MAX_LINE} bytes without ending the line"
            raise self.failure(too_long if self._is_too_long else "has ended its output")
        self._said = line.text or self._said
        return line if line.at <= deadline else None

    def lines_until(self, word: str, timeout_s: float) -> Iterator[EngineLine]:
        """The engine's lines before the line that equals `word`.

        Raises:
            EngineFailure: the word did not come in time.
        """
        deadline = time.monotonic() + timeout_s
        while line := self.read(deadline):
            if line.text.strip() == word:
                return
            yield line
        raise self.failure(f"did not answer {word!r} within {timeout_s:g} s")

    def read_waiting(self) -> list[EngineLine]:
        """The unread lines that have arrived."""
        lines = (self.read(time.monotonic()) for _ in range(self._lines.qsize()))
        return [line for line in lines if line]

    def failure(self, what: str, *, ending: str = "forfeit") -> EngineFailure:
        """End the process, and return the error about its failure ("did not answer") for the caller to raise."""
        status = self._status()
        self.kill()  # then all of its standard error has been read
        parts = [f"{self.name} {what}"]
        if self._sent:
            heard = f"the last from it {shown(self._said)}" if self._said else "it said nothing"
            parts.append(f"The last line sent to it was {shown(self._sent)}, {heard}")
        if status:
            parts.append(status)
        if words := [line.strip()[:200] for line in self._child.last_words[-LAST_WORDS:]]:
            parts.append(f"Its standard error ends: {' | '.join(words)}")
        return EngineFailure(f"{'. '.join(parts)}.", ending=ending)

    def close(self, farewell: str, timeout_s: float) -> None:
        """Send `farewell` and end the process, within little more than `timeout_s`."""
        if self.is_over:
            return
        self.send(farewell)
        self._outbox.put(None)
        deadline = time.monotonic() + timeout_s
        with contextlib.suppress(EngineFailure):  # its output has ended, as it should
            while self.read(deadline):
                pass
        self.kill()

    def kill(self) -> None:
        """End the process and its children, and reap it; may be called from any thread."""
        if self.is_over:  # its id may belong to another process by now
            return
        self.is_over = True
        atexit.unregister(self.kill)
        self._outbox.put(None)
        self._child.kill()
        with contextlib.suppress(TimeoutError):
            self._child.status(GRACE_S)
        deadline = time.monotonic() + GRACE_S
        for thread in self._threads:
            while thread.is_alive() and time.monotonic() < deadline:
                self._forget_waiting()  # otherwise the reader may block on a full queue
                thread.join(timeout=0.01)
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(None)  # wakes a thread that waits for a line

    def _forget_waiting(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._lines.get_nowait()

    def _status(self) -> str:
        """The program's exit status, if it ended by itself; waits a moment, since the output ends first."""
        try:
            return f"It {self._child.how_it_ended(GRACE_S if self._has_ended_output else 0.0)}"
        except TimeoutError:
            return ""

    def _write(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError), stream:  # the program has ended, which its output shows
            while (line := self._outbox.get()) is not None:
                stream.write(line)
                stream.flush()

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            while line := stream.readline(MAX_LINE):
                if len(line) == MAX_LINE and not line.endswith(b"\n"):
                    self._is_too_long = True
                    break
                said = EngineLine(line.decode(errors="replace").rstrip("\r\n"), time.monotonic())
                self._listen(ANSWERED, said.text)
                self._lines.put(said)
        self._has_ended_output = True
        self._lines.put(None)

    def _hear_error(self, line: str) -> None:
        if text := line.strip():
            self._listen(ERROR, text)
