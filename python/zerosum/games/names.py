"""The name of a game: where its rules come from, which they are, and their options.

    go(size=9)                     core        a game of the program
    games/mine.py:Dots(size=4)     file        a class in a user's file
    openspiel:nim(pile_sizes=3;4)  openspiel   a game of OpenSpiel
    object:Dots                    object      given as an object whose class no other process can load

A text becomes a `GameName` once, where it enters the program, by `GameName.parse`. This file does not know whether the
game exists: `rules.make` does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from zerosum._core import GameSpec, core_game_names

OPENSPIEL = "openspiel:"
OBJECT = "object:"


@dataclass(frozen=True)
class GameName:
    """A game's name in its parts. Names with equal texts are equal; `str` is the text."""

    text: str
    """The whole name; a class in a file without blanks between its options."""
    origin: Literal["core", "file", "openspiel", "object"]
    base: str
    """The name without prefix and options: `go`, `Dots`, `nim`; "" for a file without a class."""
    options: str
    """The options in their brackets, or ""."""
    file: Path | None = None
    """The file of a class."""

    @staticmethod
    def parse(text: str) -> GameName:
        """The parts of a name; a text of another form is taken as an unknown name of the core.

        >>> name = GameName.parse("games/mine.py:Dots(size = 4)")
        >>> str(name), name.origin, name.base, name.options
        ('games/mine.py:Dots(size=4)', 'file', 'Dots', '(size=4)')
        >>> GameName.parse("go9(komi=5)").origin, GameName.parse("openspiel:nim").origin
        ('core', 'openspiel')
        """
        if text.startswith(OPENSPIEL):
            return GameName(text, "openspiel", *_parts(text.removeprefix(OPENSPIEL)))
        if text.startswith(OBJECT):
            return GameName(text, "object", *_parts(text.removeprefix(OBJECT)))
        if found := class_in_file(text):
            return GameName.of_class(Path(found[0]), found[1])
        return GameName(text, "core", *_parts(text))

    @staticmethod
    def of_class(file: Path, class_name: str) -> GameName:
        """The name of a class in a file, with its options in brackets if any."""
        return GameName(f"{file}:{class_name}" if class_name else str(file), "file", *_parts(class_name), file)

    @staticmethod
    def of_core(spec: GameSpec) -> GameName:
        """The name of a game of the core."""
        return GameName(spec.full_name, "core", spec.name, f"({spec.options})" if spec.options else "")

    @staticmethod
    def of_object(spec: GameSpec) -> GameName:
        """The name of a game that was given as an object."""
        return GameName.parse(f"{OBJECT}{spec.full_name}")

    def __str__(self) -> str:
        return self.text

    @property
    def is_core(self) -> bool:
        """Whether it is a game of the core."""
        return self.origin == "core" and self.base in core_game_names()

    @property
    def can_exist(self) -> bool:
        """Whether `make` may find a game of this name: one of the core, a class in a file, or one of OpenSpiel.

        >>> [GameName.parse(text).can_exist for text in ("connect4(max_plies=20)", "mine.py:Mine", "runs/connect4")]
        [True, True, False]
        """
        return self.is_core or self.origin in ("file", "openspiel")

    @property
    def given_object(self) -> str | None:
        """The name of a game that was given as an object; None for other games."""
        return self.text.removeprefix(OBJECT) if self.origin == "object" else None

    @property
    def short(self) -> str:
        """The name without the directory of its file, for people."""
        return self.text if self.file is None else f"{self.file.name}:{self.base}{self.options}"

    @property
    def directory(self) -> str:
        """The default name of a run's directory.

        >>> GameName.parse("go(size=7, komi=-5.5)").directory, GameName.parse("games/mine.py:MyGame").directory
        ('go-size-7-komi--5.5', 'mygame')
        """
        text = f"{self.base}{self.options}" if self.file and self.base else self.text
        return re.sub(r"[^\w.-]+", "-", text.lower()).strip("-")

    def absolute(self) -> GameName:
        """The name with the absolute path of its file, as a run keeps it; other names are unchanged."""
        if self.file is None or not self.base:
            return self
        return GameName.of_class(self.file.resolve(), f"{self.base}{self.options}")


def class_in_file(text: str) -> tuple[str, str] | None:
    """The file and the class of `path.py:Class`, its options included; "" if no class is named, None for other texts.

    >>> class_in_file("games/mine.py:Dots(size = 4)"), class_in_file("mine.py"), class_in_file("openspiel:y")
    (('games/mine.py', 'Dots(size=4)'), ('mine.py', ''), None)
    """
    found = re.fullmatch(r"(.*\.py)(?::([^:(]*(?:\(.*\))?))?", text.strip(), re.DOTALL)
    if found is None:
        return None
    class_name = found[2] or ""
    # Blanks between options do not change the name; blanks in quotes do.
    return found[1], class_name if "'" in class_name or '"' in class_name else "".join(class_name.split())


def _parts(text: str) -> tuple[str, str]:
    base, bracket, rest = text.partition("(")
    return base.strip(), bracket + rest
