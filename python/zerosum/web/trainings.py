"""Trainings that the page starts, continues and stops, by commands of the command line, which it shows.

A training is a separate process that continues after this program ends. SIGTERM stops it, with the same clean end as
Ctrl-C; a training that a shell has started in the background may ignore SIGINT. Trainings are only started if the
command line allows it.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from zerosum.base.errors import SettingsError, command_text
from zerosum.run.config import load_config
from zerosum.web.library import Library

PROGRAM = (sys.executable, "-m", "zerosum")
MOST_MINUTES = 10_000.0
MOST_TRAININGS = 2
"""Most trainings of this page at a time."""


@dataclass
class Trainings:
    """The training processes of this page."""

    library: Library
    is_allowed: bool = False
    program: Sequence[str] = PROGRAM
    _running: dict[Path, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, game: str, minutes: float) -> str:
        """Begin a run in the first given directory of runs, or continue one. Returns the command as text.

        Raises:
            SettingsError: trainings are not allowed, the name is invalid, or too many are running.
            GameError: the game is unknown.
        """
        self._require_allowed()
        if not 0 < minutes <= MOST_MINUTES:
            raise SettingsError(f"minutes is {minutes:g}, allowed is more than 0 and at most {MOST_MINUTES:g}.")
        known = self.library.run_directories()
        if name in known:
            directory, words = known[name], (self._game_of(known[name]),)
        else:
            directory, words = self._new_directory(name), (self.library.game(game).spec.full_name,)
            if self.library.game(game).is_python:
                raise SettingsError("begin a run of your own game on the command line: `zerosum train`.")
        if self.is_running(directory):
            raise SettingsError(f"{name} is learning already.")
        if sum(process.poll() is None for process in self._running.values()) >= MOST_TRAININGS:
            raise SettingsError(f"{MOST_TRAININGS} trainings are running, which is the limit: stop one.")
        arguments = ("train", *words, "--run", str(directory), "--minutes", f"{minutes:g}")
        self._running[directory] = subprocess.Popen(
            [*self.program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return command_text(*arguments)

    def stop(self, name: str) -> str:
        """Stop the training of a run: its games and network are kept, and it can be continued.

        Raises:
            SettingsError: trainings are not allowed, or the run is not training.
        """
        self._require_allowed()
        directory = self.library.run_directory(name)
        process = self._running.get(directory)
        number = process.pid if process is not None and process.poll() is None else _holder(directory)
        if number is None:
            raise SettingsError(f"{name} is not learning.")
        try:
            os.kill(number, signal.SIGTERM)
        except OSError as error:
            raise SettingsError(f"{name} cannot be stopped from here: {error.strerror}.") from None
        return f"kill {number}"

    def is_running(self, directory: Path) -> bool:
        """Whether a training of this page is running there, or another process holds the run."""
        process = self._running.get(directory)
        return (process is not None and process.poll() is None) or _holder(directory) is not None

    def _require_allowed(self) -> None:
        if not self.is_allowed:
            raise SettingsError("this page may not start trainings: start it with `zerosum web --train`.")

    def _new_directory(self, name: str) -> Path:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,40}", name):
            raise SettingsError("a run's name has at most 41 letters, digits, - and _.")
        folder = next(
            (path for path in self.library.runs if path.is_dir() and not (path / "config.toml").exists()), None
        )
        if folder is None:
            raise SettingsError(
                "no directory for new runs is given: start the page with `zerosum web --train`, or name a directory of"
                " runs, not only runs."
            )
        if (folder / name).exists():
            raise SettingsError(f"{name} exists and is not a run: choose another name.")
        return folder / name

    def _game_of(self, directory: Path) -> str:
        return load_config(directory / "config.toml").game


def _holder(directory: Path) -> int | None:
    """The process on this computer that holds a run, or None; on Windows None, as the check would end it."""
    if os.name == "nt":
        return None
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        number = int(json.loads((directory / "holder.json").read_text(encoding="utf-8"))["pid"])
        os.kill(number, 0)
        # Process numbers are reused: check that this one is a training.
        command = Path(f"/proc/{number}/cmdline")
        if not command.exists() or b"train" in command.read_bytes():
            return number
    return None
