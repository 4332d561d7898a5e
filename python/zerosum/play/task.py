"""What to search, and for how long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from zerosum._core import Root


@dataclass(frozen=True)
class Task:
    """The limits of a search and the moves to report. The first limit that is reached ends the search."""

    num_visits: int | None = None
    """Total visits, including those kept from an earlier search."""
    seconds: float | None = None
    depth: int | None = None
    """Plies of the best line; a shorter line counts if it ends the game."""
    is_endless: bool = False
    """Ignore all limits: the search goes on until it is stopped."""
    allowed: tuple[int, ...] = ()
    """Actions to choose from; empty for all legal ones."""
    num_lines: int = 1
    """Moves to report, the best first. A search for several lines goes on until all of them are proven."""
    line_share: float = 0.05
    """The least share of all visits for each reported move that is not proven."""
    proof_share: float = 0.1
    """The share of the time for the search for forced results at most, unless `num_visits` limits the search."""
    report_seconds: float | None = None
    """The interval between two reports; None for the driver's own."""
    choose: Callable[[Root], int | None] = lambda root: root.best_action
    """The move to play after the search, one of those allowed; None if there is none."""
    is_enough: Callable[[Root, float], str | None] | None = None
    """Called between two batches with the statistics and the seconds; returns the reason to end the search, or None."""
