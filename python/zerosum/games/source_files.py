"""The files of a user's game: the place of an object's class, and the copy of its rules in a run.

A copy holds the file in the game's name and the files beside it that it imports, so the game can be loaded from it when
the originals have moved. Only the game's own import reads it.
"""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path
from typing import Any

from zerosum.base.errors import GameError
from zerosum.base.files import MOST_NOTE_BYTES, read_text, replace_durably
from zerosum.games.names import GameName
from zerosum.games.python_game import COPY, Game


def source_of(game: Game[Any]) -> GameName | None:
    """The name `path.py:Class` from which another process can make an equal object, or None.

    It is None if the class is in a notebook, in the main program, in a function or in a package, or if the object
    differs from one that its constructor makes without arguments.
    """
    found = type(game)
    module = sys.modules.get(found.__module__)
    file = getattr(module, "__file__", None)
    if found.__module__ == "__main__" or "." in found.__qualname__ or getattr(module, "__package__", None):
        return None
    if file is None or not file.endswith(".py") or not Path(file).is_file():
        return None
    try:
        is_plain = bool(vars(found()) == vars(game))
    except Exception:  # the user's code: missing arguments, attributes that cannot be compared
        return None
    return GameName.of_class(Path(file).resolve(), found.__name__) if is_plain else None


def rules_files(path: Path) -> dict[str, str]:
    """The texts of a game's file and of imported files beside it, by their paths relative to its folder.

    Raises:
        GameError: a file cannot be read.
    """
    folder, ahead, texts = path.parent, [path.name], dict[str, str]()
    while ahead:
        file = ahead.pop()
        if file in texts or not (folder / file).is_file():
            continue
        try:
            texts[file] = read_text(folder / file, most_bytes=MOST_NOTE_BYTES)
        except (OSError, UnicodeDecodeError) as error:
            raise GameError(f"{folder / file} cannot be read: {error}.") from error
        for module in _imports(texts[file]):
            parts = module.split(".")
            ahead += [
                f"{'/'.join(parts)}.py",
                *("/".join([*parts[:n], "__init__.py"]) for n in range(1, len(parts) + 1)),
            ]
    return texts


def class_text(game: Game[Any]) -> dict[str, str]:
    """The source of an object's class, for people; empty if Python does not know it."""
    try:
        return {f"{type(game).__name__}.txt": inspect.getsource(type(game))}
    except (OSError, TypeError):
        return {}


def keep(directory: Path, texts: dict[str, str]) -> list[str]:
    """Copy files into a run's directory if they differ from its present copy.

    Args:
        directory: The run directory.
        texts: The files, by their paths.

    Returns:
        The files that differ from the earlier copy; empty if there was none.

    Raises:
        OSError: the directory cannot be written.
    """
    changed = differing(directory, texts)
    for file, text in texts.items():
        path = directory / COPY / file
        if not _reads(path, text):
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_durably(path, text)
    return changed


def differing(directory: Path, texts: dict[str, str]) -> list[str]:
    """The files that differ in a run's copy or are missing there; empty if the run has no copy."""
    copy = directory / COPY
    if not copy.is_dir():
        return []
    return [file for file, text in texts.items() if not _reads(copy / file, text)]


def kept_name(directory: Path, name: GameName) -> GameName | None:
    """The name of the game in a run's copy; None without a copy."""
    if name.file is None:
        return None
    path = directory / COPY / name.file.name
    return GameName.of_class(path, f"{name.base}{name.options}") if path.is_file() else None


def _reads(path: Path, text: str) -> bool:
    try:
        return read_text(path, most_bytes=MOST_NOTE_BYTES) == text
    except (OSError, UnicodeDecodeError):
        return False


def _imports(text: str) -> list[str]:
    """The modules that a program imports."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):  # running the file reports it
        return []
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names
