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
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from zerosum.base.child import Child
from zerosum.base.errors import SettingsError, ZerosumError
from zerosum.games import Rules, make
from zerosum.run.config import RunConfig, configured_game, new_config
from zerosum.selfplay.calibration import Rate

GRACE_S = 10
"""Seconds until a process that is told to end is killed."""


class OtherProcess:
    """This side of another process; `open_process` starts and ends it."""

    def __init__(self, child: Child, name: str, request: dict[str, Any]) -> None:
        self._child, self._name = child, name
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
        said = b""
        with contextlib.suppress(BrokenPipeError):
            self._child.input.write(f"{line}\n".encode())
            self._child.input.flush()
            said = self._child.output.readline()
        if not said:
            raise SettingsError(f"{self._name} {self._child.how_it_ended()}.{self._child.quoted_words}")
        answer: dict[str, Any] = json.loads(said)
        if "error" in answer:
            raise SettingsError(answer["error"])
        return answer


def open_process(
    command: list[str], request: dict[str, Any], *, name: str, **environment: str
) -> AbstractContextManager[OtherProcess]:
    """Start `command`, with `environment` added to this process's own, and wait until it is ready.

    Raises:
        SettingsError: it cannot be started, refuses the request, or died.
    """
    try:
        child = Child(command, environment=environment)
    except OSError as error:
        raise SettingsError(f"{command[0]} cannot be started ({error.strerror}): name another Python.") from error
    return _asked(child, name, request)


def open_module(module: str, request: dict[str, Any]) -> AbstractContextManager[OtherProcess]:
    """Start a module of this package, and wait until it is ready. Raises as `open_process`."""
    return _asked(Child.of_module(module), module, request)


@contextmanager
def _asked(child: Child, name: str, request: dict[str, Any]) -> Iterator[OtherProcess]:
    """A started process that has got its request; it is ended by the end of its input."""
    try:
        yield OtherProcess(child, name, request)
    finally:
        with contextlib.suppress(BrokenPipeError):
            child.input.close()
        child.end(GRACE_S)
        child.output.close()


def answer_with(
    begin: Callable[[Rules, RunConfig, dict[str, Any]], AbstractContextManager[Callable[[float], Rate]]],
) -> None:
    """Be the other side: begin work on the game and the settings of the request, and measure it for each line.

    `begin` gets the request, too, and yields the function that measures the rate of so many seconds.
    """
    request = json.loads(sys.stdin.readline())
    try:
        game = make(request["game"])
        config = new_config(game, request["game"], overrides=request["overrides"])
        with begin(configured_game(game, config), config, request) as measured:
            print("{}", flush=True)
            for line in sys.stdin:
                rate = measured(float(line))
                per = {"done": rate.per_second, "seconds": 1.0, "cpu_seconds": rate.per_second / rate.per_cpu_second}
                print(json.dumps(per), flush=True)
    except ZerosumError as error:
        print(json.dumps({"error": str(error)}), flush=True)
