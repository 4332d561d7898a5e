"""A user's game with measured methods and a time limit for each call. Start with `Timed`."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from zerosum.base.errors import GameError
from zerosum.games.python_game import METHODS, Game

__all__ = ["Timed"]

_WATCH_SECONDS = 0.2


class _Call:
    """One call of a method that has not returned."""

    def __init__(self, method: str) -> None:
        self.method, self.begun = method, time.thread_time()


class Timed:
    """The game for one thread, inside a `with` block, with counts of CPU-seconds and calls of each method.

    A `GameError` that names the method and the line ends a call after `seconds_per_call` CPU-seconds of its thread.
    Waiting (for a key, a file) takes no CPU-seconds.
    """

    def __init__(self, game: Game[Any], *, seconds_per_call: float) -> None:
        self._game, self._limit = game, seconds_per_call
        self.seconds = dict.fromkeys(METHODS, 0.0)
        self.calls = dict.fromkeys(METHODS, 0)
        self._running: _Call | None = None
        self._thread = threading.get_ident()
        self._is_over = threading.Event()
        self._watchdog = threading.Thread(target=self._watch, name="watchdog of a game", daemon=True)
        for name in METHODS:
            setattr(self, name, self._timed(name, getattr(game, name)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def __enter__(self) -> Timed:
        self._watchdog.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._watchdog.join()

    def _timed(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            self._running = call = _Call(name)
            try:
                return method(*arguments)
            finally:
                self._running = None
                self.seconds[name] += time.thread_time() - call.begun
                self.calls[name] += 1

        return timed

    def _watch(self) -> None:
        # On Windows, where a thread's clock cannot be read from another one, the process's clock is near enough.
        clock = time.pthread_getcpuclockid(self._thread) if hasattr(time, "pthread_getcpuclockid") else None
        offset = 0.0 if clock is not None else time.process_time() - time.thread_time()
        while not self._is_over.wait(_WATCH_SECONDS):
            now = time.clock_gettime(clock) if clock is not None else time.process_time() - offset
            call = self._running
            if call is not None and now - call.begun > self._limit:
                self._end(call)

    def _end(self, call: _Call) -> None:
        """Raise an error in the calling thread, repeatedly if the user's code catches it."""
        arguments = {"initial_state": "", "play": "state, action", "action_text": "state, action"}
        text = (
            f"{call.method}({arguments.get(call.method, 'state')}) took more than {self._limit:g} CPU-seconds"
            f"{_place(sys._current_frames().get(self._thread))}. Does it end? check_game(seconds_per_call=...) allows"
            " more"
        )

        class TooLongError(GameError):
            def __init__(self) -> None:
                super().__init__(text)

        if self._running is call:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ctypes.py_object(TooLongError))


def _place(frame: FrameType | None) -> str:
    """The present place of a thread in the user's code."""
    ours = str(Path(__file__).parent)
    while frame is not None and frame.f_code.co_filename.startswith((ours, "<frozen ")):
        frame = frame.f_back
    if frame is None:
        return ""
    return f" ({Path(frame.f_code.co_filename).name}, line {frame.f_lineno}, in {frame.f_code.co_name})"
