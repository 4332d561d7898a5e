"""What a user can cause, as exceptions whose message is complete.

Every message names the value, what was expected, where, and the remedy, so the command line prints it as it is,
without a traceback, and exits with status 2. An `assert` or any other exception is a bug of ours and keeps its
traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


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
    """A clause that helps after an unknown name.

    >>> nearest("conect4", ["connect4", "tictactoe"])
    "did you mean 'connect4'? Known: connect4, tictactoe"
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    guess = f"did you mean {' or '.join(repr(match) for match in close)}? " if close else ""
    return f"{guess}{word}: {', '.join(names) or 'none'}"
