"""The progress of a command and the remaining time: a line on standard error, if it is a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

REPORT_S = 0.2
"""Seconds between two texts."""


class Progress:
    """A line that is overwritten, and cleared when the work ends.

    >>> with Progress("game") as progress:
    ...     progress.tell(1, 100)  # shows nothing unless the output is a terminal
    """

    def __init__(self, unit: str, *, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """`unit` names the counted things, such as "game"."""
        self._unit, self._stream, self._clock = unit, stream or sys.stderr, clock
        self._started = self._told = clock()
        self._done, self._is_shown = 0, False

    def tell(self, done: int, of: int, *, of_what: str = "") -> None:
        """Show that `done` of `of` are done."""
        now = self._clock()
        if done < self._done:  # the next piece of work has begun
            self._started = self._told
        self._done = done
        if not self._stream.isatty() or (now - self._told < REPORT_S and self._is_shown):
            return
        self._told, self._is_shown = now, True
        left = (now - self._started) * (of - done) / done if done else None
        words = f"{of_what}{self._unit} {done:,} of {of:,}" + ("" if left is None else f", {time_left(left)} left")
        print(f"\r\x1b[K{words}", end="", file=self._stream, flush=True)

    def clear(self) -> None:
        """Clear the line for the next output."""
        if self._is_shown:
            print("\r\x1b[K", end="", file=self._stream, flush=True)
            self._is_shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        self.clear()


class Countdown:
    """A line with the time left of work that takes about a known time; it is gone when the work ends."""

    def __init__(
        self, work: str, seconds: float, *, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`work` is the name of the work: "bench search"."""
        self._work, self._seconds, self._stream, self._clock = work, seconds, stream or sys.stderr, clock
        self._ends = clock() + seconds
        self._is_over = threading.Event()
        self._writing = threading.Lock()
        self._ticking = threading.Thread(target=self._tick, daemon=True)

    def tell(self) -> None:
        """Write the line anew."""
        left = self._ends - self._clock()
        more = f"{time_left(-left)} more than {time_left(self._seconds)}"
        with self._writing:
            if not self._is_over.is_set():
                words = f"{self._work}: {f'about {time_left(left)} left' if left >= 0 else more}"
                print(f"\r\x1b[K{words}", end="", file=self._stream, flush=True)

    def clear(self) -> None:
        """Clear the line for the next output."""
        if self._stream.isatty():
            with self._writing:
                print("\r\x1b[K", end="", file=self._stream, flush=True)

    def _tick(self) -> None:
        while not self._is_over.wait(1.0):
            self.tell()

    def __enter__(self) -> Countdown:
        if self._stream.isatty():
            self.tell()
            self._ticking.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        self._is_over.set()
        self.clear()


def time_left(seconds: float) -> str:
    """A duration in a suitable unit.

    >>> time_left(4.2), time_left(200), time_left(7300)
    ('4 s', '3 min', '2 h 2 min')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
