"""A command line in a test: what was typed, and what it answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    """The result of a command."""

    status: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """The output without frames and line breaks."""
        return " ".join(self.out.replace("│", " ").split())


Command = Callable[..., Answer]
