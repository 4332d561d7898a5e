"""What the user has allowed on this machine: a file in the user's configuration, outside of all runs.

A run may come from anybody, and its files name programs, networks and addresses. What they name is used only if the
user has named it too: in the command, or in an earlier one, which this file remembers.

    allowed.json    {"store": {"/home/ann/runs/chess": "s3://bucket/chess"}, "program": {"/home/ann/dots.py": ""}}
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Literal

from zerosum.base.errors import DataError
from zerosum.base.files import read_bytes, replace_durably

Kind = Literal["store", "program", "network"]
"""What is allowed: copying a run to an address, running a program, reading a network from outside of the run."""

VARIABLE = "ZEROSUM_CONFIG"
"""The environment variable that names the directory of the file."""
FILE = "allowed.json"
MOST_BYTES = 16 << 20

_Answers = dict[str, dict[str, str]]
_unwritten: _Answers = {}  # of this process, where the file cannot be written


def configuration_directory() -> Path:
    r"""The directory of the file: that of the variable ZEROSUM_CONFIG, or the system's usual one for configuration.

    That is `$XDG_CONFIG_HOME/zerosum` or `~/.config/zerosum`, `~/Library/Application Support/zerosum` on macOS and
    `%LOCALAPPDATA%\zerosum` on Windows.
    """
    import typer

    return Path(os.environ.get(VARIABLE) or typer.get_app_dir("zerosum", roaming=False))


def allow(kind: Kind, subject: str, value: str = "") -> str:
    """Remember that the user allows something, in place of an earlier answer for the same subject.

    Returns:
        A note for the user if it is remembered in this process alone, because the file cannot be written; else "".

    Raises:
        DataError: the file is damaged.
    """
    return _change(kind, subject, value)


def withdraw(kind: Kind, subject: str) -> str:
    """Forget an answer. Returns and raises as `allow`."""
    return "" if allowed(kind, subject) is None else _change(kind, subject, None)


def allowed(kind: Kind, subject: str) -> str | None:
    """The value that the user has allowed for a subject; None if the user has not.

    Raises:
        DataError: the file is damaged.
    """
    value = _unwritten.get(kind, {}).get(subject)
    return _read().get(kind, {}).get(subject) if value is None else value


def run_subject(run: Path) -> str:
    """A run as the subject of an answer: its real path."""
    return os.path.normcase(os.path.realpath(run))


def _change(kind: Kind, subject: str, value: str | None) -> str:
    import filelock

    directory = configuration_directory()
    _unwritten.get(kind, {}).pop(subject, None)
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with filelock.FileLock(directory / f"{FILE}.lock", timeout=30):
            answers = _read()
            if answers.get(kind, {}).get(subject) == value:
                return ""
            of_kind = answers.setdefault(kind, {})
            of_kind.pop(subject, None)
            if value is not None:
                of_kind[subject] = value
            replace_durably(directory / FILE, json.dumps(answers, indent=1, sort_keys=True) + "\n")
    except (OSError, filelock.Timeout) as error:
        if value is not None:
            _unwritten.setdefault(kind, {})[subject] = value
        why = error.strerror if isinstance(error, OSError) else "another process holds it"
        return (
            f"NOTE: {directory / FILE} cannot be written ({why}), so the next command does not know what this one was"
            f" allowed: make it writable, or name another directory in {VARIABLE}."
        )
    return ""


def _read() -> _Answers:
    path = configuration_directory() / FILE
    try:
        answers = json.loads(read_bytes(path, most_bytes=MOST_BYTES))
        if not isinstance(answers, dict):
            raise TypeError("no object")
        return {
            str(kind): {str(subject): str(value) for subject, value in of_kind.items()}
            for kind, of_kind in answers.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(
            f"{path} cannot be read ({error}): remove it, and allow again what your runs may use."
        ) from error
