"""A log of all lines to and from engines.

    2026-11-22 18:40:01.123456 game 3 >stockfish(0): go movetime 100
    2026-11-22 18:40:01.224101 game 3 <stockfish(0): bestmove e2e4 ponder e7e5

`>` marks a line to an engine, `<` a line from it, `!` a line of its standard error. The player's number stands in
brackets; before an engine's first game the game is `-`.
"""

from __future__ import annotations

import datetime
import functools
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from zerosum.base.errors import RunError

TOLD, ANSWERED, ERROR = "><!"
"""Directions of a line."""

Listen = Callable[[int | None, str, str], None]
"""Receives an engine's lines, from several threads: (number of the game, None before the first; direction; line)."""


class TrafficLog:
    """A file to which lines of engines are added, until it is closed."""

    def __init__(self, path: Path) -> None:
        """Open the file for appending. Raises RunError if it cannot be written."""
        self._path, self._lock = path, threading.Lock()
        self._failure: OSError | None = None
        try:
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise self._not_writable(error) from error

    def listener(self, name: str, number: int) -> Listen:
        """For `EngineCommand.listen`: writes the lines of the player of this name and number."""
        return functools.partial(self._write, f"{name}({number})")

    def _write(self, engine: str, game: int | None, direction: str, line: str) -> None:
        time = datetime.datetime.now().isoformat(sep=" ", timespec="microseconds")
        with self._lock:
            if self._failure is not None or self._file.closed:  # an engine's last words may come late
                return
            try:
                text = f"{time} game {'-' if game is None else game + 1} {direction}{engine}: {line}\n"
                self._file.write(text.encode(errors="replace"))
            except OSError as error:  # not in the thread that reads from an engine, which would look silent
                self._failure = error

    def require_whole(self) -> None:
        """Raise RunError if a line could not be written."""
        if self._failure is not None:
            raise self._not_writable(self._failure)

    def _not_writable(self, error: OSError) -> RunError:
        return RunError(f"{self._path} cannot be written: {error.strerror or error}. Name another file with --log.")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._file.close()
