"""The fields of a query, by their types, and the positions that it is about. It knows no game and no protocol."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from zerosum.games import Rules, State, make

MOST = 1 << 50


class QueryError(Exception):
    """A sentence: what is wrong with a field."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass
class Fields:
    """The fields of an object, by their types."""

    values: Mapping[str, Any]
    warnings: list[tuple[str, str]] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    """The names that somebody has looked for: others are unexpected."""

    def has(self, name: str) -> bool:
        """Whether the field is there."""
        self.asked.add(name)
        return name in self.values

    def get(self, name: str, default: Any = None) -> Any:
        """The field as it is."""
        return self.values[name] if self.has(name) else default

    def warn(self, name: str, message: str) -> None:
        """Note that a field is taken otherwise than meant."""
        self.warnings.append((name, message))

    def integer(self, name: str, low: int, high: int) -> int | None:
        """Raises QueryError unless it is an integer in this range, or missing."""
        value = self.get(name)
        if not self.has(name):
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise QueryError(name, f"Must be an integer from {low} to {high}")
        return value

    def number(self, name: str, low: float, high: float) -> float | None:
        """As `integer`."""
        value = self.get(name)
        if not self.has(name):
            return None
        if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
            raise QueryError(name, f"Must be a number from {low:g} to {high:g}")
        return float(value)

    def flag(self, name: str) -> bool:
        """False if it is missing."""
        value = self.get(name, False)
        if not isinstance(value, bool):
            raise QueryError(name, "Must be a boolean")
        return value

    def text(self, name: str) -> str:
        """An empty one if it is missing."""
        value = self.get(name, "")
        if not isinstance(value, str):
            raise QueryError(name, "Must be a string")
        return value

    def integers(self, name: str) -> list[int] | None:
        """A list of them, or None if it is missing."""
        value = self.get(name)
        if not self.has(name):
            return None
        if not isinstance(value, list) or not all(type(entry) is int and abs(entry) <= MOST for entry in value):
            raise QueryError(name, "Must be an array of integers")
        return value


@dataclass(frozen=True)
class Line:
    """The positions of a query, and how its moves are read."""

    game: Rules
    states: tuple[State, ...]
    """Before the first move, and after each."""
    player_of: Callable[[Any], int | None]
    """Whom a name of a player means."""
    action_of: Callable[[State, str], int | None]
    """What a move means, if it is legal.

    Raises:
        GameError: it can mean nothing in this game.
    """
    friendly_pass: bool = False
    """Whether a game of Go is counted without dead stones."""


@functools.lru_cache(maxsize=64)
def make_cached(name: str) -> Rules:
    """`make`, for names that come again and again."""
    return make(name)
