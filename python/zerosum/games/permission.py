"""Whether the rules that a run names may run: they are a program, and a run may come from anybody.

A program runs if the user has named its file, in the command or in an earlier training on this machine, or has allowed
it by `zerosum trust RUN`. `zerosum.base.consent` remembers both: a file by its path, a run's copy of the rules by the
content of its whole folder, so that a yes to one program is no yes to another at the same place.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from zerosum.base.consent import allow, allowed
from zerosum.base.errors import GameError, command_text
from zerosum.base.files import MOST_NOTE_BYTES, read_bytes
from zerosum.games.names import GameName
from zerosum.games.python_game import COPY, is_copy

MOST_FILES = 1000
"""Most files of a run's copy of its rules."""
_FILE_OF_OPENSPIEL = re.compile(r"file|root|gamedef|[/\\]")


def program_of(run: Path, name: GameName) -> Path | None:
    """The file that runs when a game that a run names is made; None if none does.

    Raises:
        GameError: the name makes OpenSpiel read a file, or the file is in the run but not its copy of the rules.
    """
    if name.origin == "openspiel" and _FILE_OF_OPENSPIEL.search(name.options):
        raise GameError(f"{run} names {str(name)!r}, a game that reads a file: name it yourself, with --game.")
    if name.file is None:
        return None
    file = Path(os.path.realpath(name.file))
    if file.is_relative_to(os.path.realpath(run)) and not is_copy(file):
        raise GameError(
            f"{run} has its rules in {file}, which is not where a run keeps them: look at this program, and name it"
            " yourself, with --game."
        )
    return file


def require_allowed(run: Path, name: GameName) -> None:
    """Refuse the rules that a run names, unless the user has allowed the program.

    Raises:
        GameError: the user has not, or as `program_of`.
        DataError: what the user has allowed cannot be read.
    """
    file = program_of(run, name)
    if file is None or is_allowed(file):
        return
    raise GameError(
        f"{run} has its rules in {file}, a program that you have not allowed to run on this machine. Run only programs"
        f" that you trust: `{command_text('trust', run)}` allows it, or name it yourself, --game {name}. `zerosum info`"
        " and `zerosum export` need no rules."
    )


def is_allowed(file: Path) -> bool:
    """Whether the user has allowed a program. Raises as `require_allowed`."""
    subject = _subject(file)
    return allowed("program", subject) is not None


def allow_program(file: Path) -> str:
    """Remember that the user allows a program to run. Returns a note as `zerosum.base.consent.allow`.

    Raises:
        GameError: a run's copy of the rules cannot be read.
    """
    subject = _subject(Path(os.path.realpath(file)))
    return allow("program", subject)


def allow_copy(run: Path, texts: dict[str, str]) -> str:
    """Allow a run's copy of a program that the user has named, if it is exactly this program.

    Args:
        run: The run directory.
        texts: The program's files, by their paths.
    """
    folder = run / COPY
    try:
        kept = _files(folder)
    except GameError:
        return ""
    subject, is_same = _digest(kept), kept == {name: text.encode() for name, text in texts.items()}
    return allow("program", subject) if is_same else ""


def _subject(file: Path) -> str:
    return _digest(_files(file.parent)) if is_copy(file) else os.path.normcase(file)


def _digest(files: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{len(name.encode())} {len(content)} {name}".encode() + content)
    return f"sha256:{digest.hexdigest()}"


def _files(folder: Path) -> dict[str, bytes]:
    """The files of a folder, compiled ones too, by their paths.

    Raises:
        GameError: they are too many or too large, or a link or a device is among them.
    """
    found: dict[str, bytes] = {}
    try:
        for parent, folders, names in os.walk(folder):
            for name in [*folders, *names]:
                if (Path(parent) / name).is_symlink():
                    raise GameError(f"{Path(parent) / name} is a link: a run's copy of its rules has none.")
            if len(found) + len(names) > MOST_FILES:
                raise GameError(f"{folder} has more than {MOST_FILES} files, which is no copy of a game's rules.")
            for name in names:
                path = Path(parent) / name
                found[path.relative_to(folder).as_posix()] = read_bytes(path, most_bytes=MOST_NOTE_BYTES)
    except OSError as error:
        raise GameError(f"{error.filename} cannot be read: {error.strerror}.") from error
    return found
