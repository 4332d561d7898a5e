"""External engines for tests, all played by `fake_engine.py`, and what they said and left.

Where an engine has to fail, its time-outs are short; where it has to succeed, they are long: a slow machine fails no
test.
"""

import json
import os
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zerosum.contest.clock import TimeLeft
from zerosum.contest.mover import Answer, EngineFailure, MoveLimits
from zerosum.games import make
from zerosum.notation.record import ENDINGS
from zerosum.play.engines.engine import EngineCommand, EngineTimeouts, ExternalEngine

FAKE = Path(__file__).with_name("fake_engine.py")
OPTIONS = [
    "option name Skill Level type spin default 20 min -20 max 20",
    "option name Style type combo default Very Solid var Very Solid var Wild",
    "option name Clear Hash type button",
    "option name OwnBook type check default true",
    "option name Book File type string default <empty>",
]
SCRIPTS: dict[str, dict[str, list[str]]] = {
    "uci": {
        "uci": ["Fake 1 by nobody", "id name Fake 1", "id author nobody", *OPTIONS, "uciok"],
        "isready": ["readyok"],
        "go": ["bestmove e2e4"],
    },
    "usi": {"usi": ["id name Fake 1", *OPTIONS, "usiok"], "isready": ["readyok"], "go": ["bestmove 7g7f"]},
    "gtp": {
        "name": ["=# Fake", ""],
        "version": ["=# 1", ""],
        "list_commands": ["=# play", "genmove", "time_settings", "time_left", ""],
        "genmove": ["=# C4", ""],
        **{
            word: ["=#", ""]
            for word in ("boardsize", "komi", "clear_board", "play", "time_settings", "time_left", "quit")
        },
        "kata-time_settings": ["=#", ""],
    },
}
GAMES = {"uci": "chess", "usi": "shogi", "gtp": "go(size=9)"}
DEPTH, MOVE_TIME = MoveLimits(depth=1), MoveLimits((TimeLeft.per_move(1000.0),) * 2)
LIMITS = {"uci": DEPTH, "usi": DEPTH, "gtp": MoveLimits()}
PROTOCOLS = sorted(SCRIPTS)


def fake(
    protocol: str,
    script: dict[str, list[str]] | None = None,
    *,
    log: Path | None = None,
    options: tuple[tuple[str, str], ...] = (),
    **fields: Any,
) -> EngineCommand:
    """The well-behaved engine of a protocol but for what the script says."""
    whole = json.dumps({**SCRIPTS[protocol], **(script or {})})
    argv = (sys.executable, "-I", "-S", str(FAKE), whole, *([str(log)] if log else []))
    return EngineCommand(argv, protocol, options, **{"name": "fake", **fields})


def fake_word(**script: list[str]) -> str:
    """The word for this UCI engine on a command line."""
    return f"uci:{shlex.join(fake('uci', script).argv)}"


def first_move(
    command: EngineCommand,
    *,
    limits: MoveLimits | None = None,
    timeouts: EngineTimeouts | None = None,
    game: str = "",
) -> Answer:
    with ExternalEngine(command, make(game or GAMES[command.protocol]), timeouts=timeouts) as engine:
        engine.new_game()
        try:
            return engine.think("", [], limits or LIMITS[command.protocol])
        except EngineFailure:
            assert not engine.is_running and is_gone(engine.pid)
            raise


def failure_of(
    command: EngineCommand, *, limits: MoveLimits | None = None, timeouts: EngineTimeouts | None = None
) -> EngineFailure:
    """The failure of the first move of the first game."""
    with pytest.raises(EngineFailure) as caught:
        first_move(command, limits=limits, timeouts=timeouts)
    assert caught.value.ending in ENDINGS
    return caught.value


def is_gone(pid: int) -> bool:
    """Whether the process was reaped and its group has no living process (the system reaps an orphan's zombie)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        pass
    else:
        return False
    deadline = time.monotonic() + 200  # a killed process takes a moment to die
    while is_alive := any(map(is_alive_in(pid), Path("/proc").glob("[0-9]*/stat"))):
        if time.monotonic() > deadline:
            break
        time.sleep(0.01)
    return not is_alive


def is_alive_in(group: int) -> Callable[[Path], bool]:
    def is_alive(stat: Path) -> bool:
        try:
            state, _, of_group, *_ = stat.read_text().rpartition(")")[2].split()  # behind the name, in brackets
        except (FileNotFoundError, ProcessLookupError):
            return False
        return of_group == str(group) and state != "Z"

    return is_alive


def heard(log: Path) -> list[str]:
    """The lines that the engine read, without the numbers of GTP commands."""
    return [line.lstrip("0123456789").strip() for line in log.read_text(encoding="utf-8").splitlines()]
