"""Exceptions for all errors that a user can cause, each with a complete message.

Every message names the value, what was expected, where, and the remedy, so the command line prints it as it is,
without a traceback, and exits with status 2. An `assert` or any other exception is a bug of ours and keeps its
traceback.
"""

from __future__ import annotations

import difflib
import shlex
import shutil
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path


class ZerosumError(Exception):
    """Base of every error that a user's input, files or game can cause. Its message is `printable`."""

    def __init__(self, message: str = "") -> None:
        super().__init__(printable(message))


class SettingsError(ZerosumError, ValueError):
    """A setting, name or option is unknown or out of range."""


class GameError(ZerosumError, ValueError):
    """A game breaks the protocol, or a position or move is illegal or malformed."""


class DataError(ZerosumError, ValueError):
    """A file is damaged, of another game or of a newer format."""


class RunError(ZerosumError, RuntimeError):
    """A run directory cannot be used: held by another process, not writable, of another game."""


def printable(text: str) -> str:
    r"""The text with control characters and changes of writing direction as escapes; line ends stay.

    Messages quote files from untrusted sources.

    >>> print(printable("a name\x1b[2J"))
    a name\x1b[2J
    """
    steering = {character for character in text if unicodedata.category(character) in _STEERING} - {"\n", "\t"}
    return text.translate({ord(character): ascii(character)[1:-1] for character in steering})


MOST_LETTERS = 200
"""Longest name that is compared with known ones."""
_STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # controls, formats, halves of surrogates, separators of lines


def near(name: str, known: Iterable[str], *, most: int = 3) -> list[str]:
    """The known names that are spelled most alike, ignoring capitals, the nearest first.

    >>> near("E2E5", ["e2e3", "e2e4", "g1f3"])
    ['e2e4', 'e2e3']
    >>> near("c_inti", ["c_init", "lcb_deviations"])
    ['c_init']
    """
    if len(name) > MOST_LETTERS:  # the comparison's time grows with the square of the length
        return []
    alike: dict[str, list[str]] = {}
    for other in known:
        alike.setdefault(other.casefold(), []).append(other)
    close = difflib.get_close_matches(name.casefold(), alike, n=most, cutoff=0.5)
    likeness = {folded: difflib.SequenceMatcher(None, folded, name.casefold()).ratio() for folded in close}
    # If one name is almost equal, less similar names do not help.
    close = [folded for folded in close if likeness[folded] > likeness[close[0]] - 0.3]
    return [other for folded in close for other in alike[folded]][:most]


def shown(text: str) -> str:
    """A user's text as a message quotes it: in quotes, and cut after 40 characters.

    >>> shown("e2e5"), len(shown("e" * 1000))
    ("'e2e5'", 43)
    """
    return repr(text if len(text) <= 40 else f"{text[:40]}…")


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name, with the sign before it: near names, then all names.

    >>> nearest("conect4", ["connect4", "tictactoe"])
    ": did you mean 'connect4'? Available: connect4, tictactoe"
    >>> nearest("go", ["connect4", "tictactoe"])
    '; available: connect4, tictactoe'
    """
    names = sorted(set(known))
    if not names:
        return "; none is available"
    guess = " or ".join(map(repr, near(name, names)))
    return f"{f': did you mean {guess}? Available' if guess else '; available'}: {', '.join(names)}"


def counted(number: int, word: str) -> str:
    """A number and its unit, which takes an s after all numbers but 1.

    >>> counted(1, "game"), counted(1200, "game")
    ('1 game', '1,200 games')
    """
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def command_text(*words: object) -> str:
    """A command of this program as it can be typed here, such as `.venv/bin/zerosum play runs/demo`.

    The program is `zerosum` if the shell would find it under this name or if another program called this one.
    """
    return shlex.join([*_program(), *map(str, words)])


def command_from_anywhere(*words: str | Path) -> str:
    """A command of this program that runs in any directory: paths are absolute, as other programs need them."""
    program, found = Path(sys.argv[0]), shutil.which("zerosum")
    if program.stem == "__main__":
        start = [sys.executable, "-m", "zerosum"]
    else:
        start = [str(program.absolute()) if program.stem == "zerosum" else found or "zerosum"]
    return shlex.join([*start, *(str(word.absolute()) if isinstance(word, Path) else word for word in words)])


def _program() -> list[str]:
    path, found = Path(sys.argv[0]).absolute(), shutil.which("zerosum")
    if path.stem == "__main__":
        return [_from_here(Path(sys.executable)), "-m", "zerosum"]
    is_installed = path.stem == "zerosum" and path.parent.is_dir() and path.parent != Path.cwd()
    is_found = found is not None and Path(found).resolve().with_suffix("") == path.resolve().with_suffix("")
    return [_from_here(path)] if is_installed and not is_found else ["zerosum"]


def _from_here(path: Path) -> str:
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
