"""What a user can cause, as exceptions whose message is complete.

Every message names the value, what was expected, where, and the remedy, so the command line prints it as it is,
without a traceback, and exits with status 2. An `assert` or any other exception is a bug of ours and keeps its
traceback.
"""

from __future__ import annotations

import difflib
import shlex
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path


class ZerosumError(Exception):
    """Base of every error that a user's input, files or game can cause."""


class SettingsError(ZerosumError, ValueError):
    """A setting, name or option is unknown or out of range."""


class GameError(ZerosumError, ValueError):
    """A game breaks the protocol, or a position or move is illegal or malformed."""


class DataError(ZerosumError, ValueError):
    """A file is damaged, of another game or of a newer format."""


class RunError(ZerosumError, RuntimeError):
    """A run directory cannot be used: held by another process, not writable, of another game."""


def nearest(name: str, known: Iterable[str], *, word: str = "Known") -> str:
    """What helps after an unknown name and a colon: the names that are near, then all of them.

    >>> nearest("conect4", ["connect4", "tictactoe"])
    "did you mean 'connect4'? Known are connect4, tictactoe"
    >>> nearest("go", ["connect4", "tictactoe"])
    'known are connect4, tictactoe'
    """
    names = sorted(known)
    if not names:
        return "there is none"
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    guess = f"did you mean {' or '.join(repr(match) for match in close)}? " if close else ""
    return f"{guess}{word if guess else word.lower()} are {', '.join(names)}"


def command_text(*words: str | Path) -> str:
    """A command of this program as it can be typed here, such as `.venv/bin/zerosum play runs/demo`.

    The program is `zerosum` where that is what the shell would find, or where another program called this one.
    """
    return shlex.join([*_program(), *map(str, words)])


def _program() -> list[str]:
    path, found = Path(sys.argv[0]).absolute(), shutil.which("zerosum")
    if path.stem == "__main__":
        return [_from_here(Path(sys.executable)), "-m", "zerosum"]
    is_installed = path.stem == "zerosum" and path.parent.is_dir() and path.parent != Path.cwd()
    is_found = found is not None and Path(found).resolve().with_suffix("") == path.resolve().with_suffix("")
    return [_from_here(path)] if is_installed and not is_found else ["zerosum"]


def _from_here(path: Path) -> str:
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
