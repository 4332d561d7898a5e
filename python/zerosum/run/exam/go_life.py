"""What a side of a 9x9 board of Go keeps even if it passes from now on.

Chains that live unconditionally are found by Benson's algorithm (Benson 1976, "Life in the game of Go"). A set of
points is an integer of 81 bits; bit 0 is the top left point, bit 80 the bottom right one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

SIZE = 9
BOARD = (1 << SIZE * SIZE) - 1
_FIRST_COLUMN = sum(1 << SIZE * row for row in range(SIZE))
_NOT_FIRST, _NOT_LAST = BOARD & ~_FIRST_COLUMN, BOARD & ~(_FIRST_COLUMN << SIZE - 1)
_BITS = (str.maketrans(".XO", "010"), str.maketrans(".XO", "001"))


def stones(text: str) -> tuple[int, int]:
    """The points of Black's and of White's stones in a position's text.

    >>> stones("1XO1X4/9/9/9/9/9/9/9/9 X")
    (18, 4)
    """
    board = re.sub(r"\d", lambda found: "." * int(found[0]), text.split(" ", 1)[0].replace("/", ""))[::-1]
    black, white = (int(board.translate(bits), 2) for bits in _BITS)
    return black, white


def beside(points: int) -> int:
    """The points beside a set, without those of the set."""
    return _spread(points) & ~points


def connected(points: int) -> Iterator[int]:
    """The connected parts of a set."""
    while points:
        part = whole_chain(points, points.bit_length() - 1)
        yield part
        points &= ~part


def whole_chain(points: int, point: int) -> int:
    """The connected part of a set that holds a point of the set."""
    part, larger = 0, 1 << point
    while larger != part:
        part = larger
        # As `_spread`, without a call: most of the time is spent here.
        larger |= (part & _NOT_LAST) << 1 | (part & _NOT_FIRST) >> 1 | part << SIZE | part >> SIZE
        larger &= points
    return part


def _spread(points: int) -> int:
    """The points of a set and those beside it."""
    across = (points & _NOT_LAST) << 1 | (points & _NOT_FIRST) >> 1
    return (points | across | points << SIZE | points >> SIZE) & BOARD


@dataclass(frozen=True)
class _Region:
    """A connected part of the points without stones of a side."""

    points: int
    neighbours: tuple[int, ...]
    """The numbers of the side's chains beside it."""
    vital_to: tuple[int, ...]
    """The numbers of the chains that are beside each of its empty points."""


def certain_points(own: int, other: int) -> int:
    """The points that a side has at the end, whatever the other side does, by area scoring and without suicide.

    They are its stones that live unconditionally, and the regions that these alone surround and in which the other side
    has room for one eye at most.
    """
    chains = list(connected(own))
    borders = [beside(chain) for chain in chains]
    empty, regions = BOARD & ~own & ~other, list[_Region]()
    for points in connected(BOARD & ~own):
        neighbours = tuple(number for number, border in enumerate(borders) if border & points)
        vital_to = tuple(number for number in neighbours if not points & empty & ~borders[number])
        regions.append(_Region(points, neighbours, vital_to))
    alive = _alive(len(chains), regions)
    found = 0
    for number in alive:
        found |= chains[number]
    far = BOARD & ~_spread(own)
    for region in regions:
        if alive.issuperset(region.neighbours) and (region.points & far).bit_count() <= 1:
            found |= region.points
    return found if alive else 0


def _alive(num_chains: int, regions: list[_Region]) -> set[int]:
    """The numbers of the chains that live: each has two vital regions beside which only chains that live are."""
    alive = set(range(num_chains))
    while True:
        eyes = dict.fromkeys(alive, 0)
        for region in regions:
            if alive.issuperset(region.neighbours):
                for number in region.vital_to:
                    eyes[number] += 1
        dead = {number for number, count in eyes.items() if count < 2}
        if not dead:
            return alive
        alive -= dead
