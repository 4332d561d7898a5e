"""A test whether planes turn with the player to move: a comparison of the planes before and after each move.

Planes named "own ..." and "opponent's ..." in pairs exchange their contents when the other player comes to move; the
board may be turned or mirrored, too. When the same player moves again, they stay. Most moves change few squares, so the
difference is visible in most positions. `Turns` counts without knowing rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Turns"]

_OWN = re.compile(r"\b(own|my|mine|mover'?s?)\b")
_OPPONENT = re.compile(r"\b(opponents?'?s?|opponent|enemy'?s?|enemies'?|their|other'?s?)(?!\w)")

_CLEAR = 4
"""Smallest ratio of the differing squares of two comparisons at which the result is clear."""

Planes = NDArray[np.float32]


class Turns:
    """Counts, over moves, whether planes turned, by whether `player` changed."""

    def __init__(self, plane_names: Sequence[str]) -> None:
        self.pairs = _pairs(plane_names)
        """Indices of planes that belong together: (own, opponent's)."""
        self.counts: dict[tuple[bool, bool], int] = {}
        """Moves by (the player changed, the planes turned); moves of which this is unclear are left out."""
        self.examples: dict[tuple[bool, bool], tuple[object, object]] = {}
        """The states before and after the first move of each kind."""

    def see(self, before: object, after: object, *, planes: tuple[Planes, Planes], players: tuple[int, int]) -> None:
        """Count a move: states, planes [planes, rows, columns] and players to move, each before and after it."""
        turned = self._turned(*planes)
        if turned is None:
            return
        key = players[0] != players[1], turned
        self.counts[key] = self.counts.get(key, 0) + 1
        self.examples.setdefault(key, (before, after))

    @staticmethod
    def are_same_board(before: Planes, after: Planes, *, names: Sequence[str]) -> bool:
        """Whether two positions have the same board, seen by the same player or each by its own."""
        if not (before != after).any():
            return True
        order = list(range(len(names)))
        for own, opponent in _pairs(names):
            order[own], order[opponent] = opponent, own
        return any(np.array_equal(after, image) for image in _images(before[order]))

    def _turned(self, before: Planes, after: Planes) -> bool | None:
        if not self.pairs:
            return None
        own, opponent = (list(indices) for indices in zip(*self.pairs, strict=True))
        stayed = np.concatenate([before[own], before[opponent]])
        swapped = np.concatenate([before[opponent], before[own]])
        now = np.concatenate([after[own], after[opponent]])
        kept = np.count_nonzero(now != stayed)
        turned = min(np.count_nonzero(now != image) for image in _images(swapped))
        if kept == turned:  # such as 0: both sides have the same, or nothing
            return None
        if kept * _CLEAR <= turned:
            return False
        return True if turned * _CLEAR <= kept else None


def _images(planes: Planes) -> list[Planes]:
    """The board as it is, mirrored in three ways and, if it is square, with rows and columns exchanged."""
    images = [planes, planes[:, ::-1], planes[:, :, ::-1], planes[:, ::-1, ::-1]]
    return [*images, planes.swapaxes(1, 2)] if planes.shape[1] == planes.shape[2] else images


def _pairs(names: Sequence[str]) -> list[tuple[int, int]]:
    """Indices of planes whose names differ only in "own" and "opponent's".

    >>> _pairs(["own pawns", "opponent's pawns", "move number"]), _pairs(["white", "black"])
    ([(0, 1)], [])
    """
    own, opponent = (
        {pattern.sub("*", name.lower()): index for index, name in enumerate(names) if pattern.search(name.lower())}
        for pattern in (_OWN, _OPPONENT)
    )
    return [(index, opponent[what]) for what, index in own.items() if what in opponent]
