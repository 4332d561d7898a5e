"""The newest reviews: a game that is opened again has its review, after a reload and for others with its link."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

from zerosum.analysis.reviewed import Review
from zerosum.notation.record import Record

MOST_REVIEWS = 16
MOST_POSITIONS = 4000
"""Positions of all reviews that are kept; the newest review is kept whatever its length."""


class Reviews:
    """Reviews by the moves of a game (`Study.key`)."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[str | int, ...], Review] = OrderedDict()
        self._leads: dict[tuple[str | int, ...], Sequence[float | None]] = {}

    def put(self, key: tuple[str | int, ...], review: Review, leads: Sequence[float | None] = ()) -> None:
        """Keep a review, with the first player's lead in points at each position; the oldest ones are forgotten."""
        self._found.pop(key, None)
        self._found[key] = review
        self._leads[key] = leads
        while len(self._found) > 1 and (
            len(self._found) > MOST_REVIEWS or sum(len(one.positions) for one in self._found.values()) > MOST_POSITIONS
        ):
            oldest, _ = self._found.popitem(last=False)
            del self._leads[oldest]

    def leads(self, key: tuple[str | int, ...]) -> Sequence[float | None]:
        """The lead in points at each position of a game with a review; empty where it is not known."""
        return self._leads.get(key, ())

    def get(self, key: tuple[str | int, ...], record: Record) -> Review | None:
        """The newest review of a game, with the comments and variations of this record; None if there is none."""
        found = self._found.get(key)
        return None if found is None else replace(found, record=replace(record, game=found.record.game))
