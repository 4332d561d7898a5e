"""Typed access to the fields of a query, and its positions. The module knows no game and no protocol."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from zerosum.games import Rules, State, make

MOST = 1 << 50


class QueryError(Exception):
    """A wrong field of a query, and a sentence about it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass
class Fields:
    """The fields of an object, read by type."""

    values: Mapping[str, Any]
    warnings: list[tuple[str, str]] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    """The names read so far; all others are unexpected."""

    def has(self, name: str) -> bool:
        """Whether the field exists."""
        self.asked.add(name)
        return name in self.values

    def get(self, name: str, default: Any = None) -> Any:
        """The field's value, unchecked."""
        return self.values[name] if self.has(name) else default

    def warn(self, name: str, message: str) -> None:
        """Add a warning about a field."""
        self.warnings.append((name, message))

    def integer(self, name: str, low: int, high: int) -> int | None:
        """An integer field; None if missing. Raises QueryError if it is not an integer in this range."""
        value = self.get(name)
        if not self.has(name):
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise QueryError(name, f"Must be an integer from {low} to {high}")
        return value

    def number(self, name: str, low: float, high: float) -> float | None:
        """A number field; None if missing. Raises QueryError if it is not a number in this range."""
        value = self.get(name)
        if not self.has(name):
            return None
        if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
            raise QueryError(name, f"Must be a number from {low:g} to {high:g}")
        return float(value)

    def flag(self, name: str) -> bool:
        """A boolean field; False if missing."""
        value = self.get(name, False)
        if not isinstance(value, bool):
            raise QueryError(name, "Must be a boolean")
        return value

    def text(self, name: str) -> str:
        """A text field; "" if missing."""
        value = self.get(name, "")
        if not isinstance(value, str):
            raise QueryError(name, "Must be a string")
        return value

    def integers(self, name: str) -> list[int] | None:
        """A field with a list of integers; None if missing."""
        value = self.get(name)
        if not self.has(name):
            return None
        if not isinstance(value, list) or not all(type(entry) is int and abs(entry) <= MOST for entry in value):
            raise QueryError(name, "Must be an array of integers")
        return value


@dataclass(frozen=True)
class QueryPositions:
    """The positions of a query, and the readers of its players and moves."""

    game: Rules
    states: tuple[State, ...]
    """The states before the first move and after each move."""
    player_of: Callable[[Any], int | None]
    """The player of a name; None if the name is unknown."""
    action_of: Callable[[State, str], int | None]
    """The action of a move's text; None if it is illegal.

    Raises:
        GameError: the text is not a move of this game.
    """
    friendly_pass: bool = False
    """Whether a game of Go is scored without dead stones."""


@functools.lru_cache(maxsize=64)
def make_cached(name: str) -> Rules:
    """`make` with a cache."""
    return make(name)
