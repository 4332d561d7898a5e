"""Trainings that the page starts, continues and stops, by commands of the command line, which it shows.

A training is a separate process that continues after this program ends. A file in its run asks it to stop, with the
same clean end as Ctrl-C: no process is ended by a number from a file, which may be another one's by now, or a
stranger's choice.
Trainings are only started if the command line allows it.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zerosum.base.errors import SettingsError, command_text
from zerosum.base.holding import is_held
from zerosum.run.run_directory import ask_to_stop
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
            raise SettingsError(f"minutes is {minutes:g}, but must be more than 0 and at most {MOST_MINUTES:g}.")
        known = self.library.run_directories()
        if name in known:
            directory = known[name]
            # Not its game: a program that the run names would count as one that the user names.
            words: tuple[str, ...] = (str(directory),)
        else:
            directory = self._new_directory(name)
            words = (self.library.game(game).spec.full_name, "--run", str(directory))
            if self.library.game(game).is_python:
                raise SettingsError("begin a run of your own game on the command line: `zerosum train`.")
        if self.is_running(directory):
            raise SettingsError(f"{name} is learning already.")
        if sum(process.poll() is None for process in self._running.values()) >= MOST_TRAININGS:
            raise SettingsError(f"{MOST_TRAININGS} trainings are running, which is the limit: stop one.")
        arguments = ("train", *words, "--minutes", f"{minutes:g}")
        self._running[directory] = subprocess.Popen(
            [*self.program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return command_text(*arguments)

    def stop(self, name: str) -> str:
        """Ask the training of a run to stop: its games and network are kept, and it can be continued.

        Returns the command that asks the same, as text.

        Raises:
            SettingsError: trainings are not allowed, or the run is not training.
            RunError: the run cannot be written.
        """
        self._require_allowed()
        directory = self.library.run_directory(name)
        if not self.is_running(directory):
            raise SettingsError(f"{name} is not learning.")
        process = self._running.get(directory)
        if process is not None and process.poll() is None and not is_held(directory):
            process.terminate()  # it has only begun, and a file would be taken for a request to an earlier training
            return shlex.join(["kill", str(process.pid)])
        return shlex.join(["touch", str(ask_to_stop(directory))])

    def is_running(self, directory: Path) -> bool:
        """Whether a training of this page is running there, or another process holds the run."""
        process = self._running.get(directory)
        return (process is not None and process.poll() is None) or is_held(directory)

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
