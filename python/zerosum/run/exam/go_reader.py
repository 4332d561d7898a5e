"""Reading of ladders on 9x9: the attacker gives atari, the chain in atari flees or takes a stone that gives atari.

A chain with three liberties has escaped. Superko is left out. Sets of points are integers, as in `go_life.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from zerosum.run.exam.go_life import BOARD, beside, stones, whole_chain

LEAST_ATARIS = 3
"""Ataris of a long ladder; a shorter one is a plain capture."""
MOST_MOVES = 200
"""Moves that are read for one chain; a chain that takes more, as in kos, is not asked about."""


class TooLongError(Exception):
    """Reading takes more moves than allowed."""


@dataclass(frozen=True)
class Stones:
    """The stones of the chain's side and of the attacker's."""

    own: int
    other: int

    @classmethod
    def of(cls, text: str, owner: int) -> Stones:
        """From a position's text and the player, 0 or 1, whose chain it is."""
        sides = stones(text)
        return cls(sides[owner], sides[1 - owner])

    @property
    def empty(self) -> int:
        """The points without a stone."""
        return BOARD & ~self.own & ~self.other

    def after(self, point: int, *, is_attackers: bool) -> Stones | None:
        """The stones after a move of either side, without those that it takes; None if it is suicide."""
        move = 1 << point
        mine, theirs = (self.other, self.own) if is_attackers else (self.own, self.other)
        mine |= move
        for neighbour in bits(beside(move) & theirs):
            if theirs >> neighbour & 1:
                chain = whole_chain(theirs, neighbour)
                if not beside(chain) & ~mine:
                    theirs &= ~chain
        if not beside(whole_chain(mine, point)) & ~theirs:
            return None
        return Stones(theirs, mine) if is_attackers else Stones(mine, theirs)


class Ladder:
    """The reading of one chain."""

    def __init__(self, target: int) -> None:
        """`target` is a point of the chain."""
        self._target, self._left = target, MOST_MOVES

    def captures(self, board: Stones) -> list[int]:
        """The ataris on a chain with two liberties after which it cannot escape. Raises TooLongError."""
        liberties = self.liberties(board)
        return [point for point in liberties if self._captures_by(board, point)] if len(liberties) == 2 else []

    def num_ataris(self, board: Stones, atari: int, most: int = LEAST_ATARIS) -> int:
        """Ataris of a ladder that works by this first one, with the longest flight, as far as `most`.

        Raises:
            TooLongError: it takes too many moves.
        """
        after = self._after(board, atari, is_attackers=True)
        if most == 1 or after is None:
            return 1
        longest = 0
        for flight in self.flights(after):
            fled = self._after(after, flight, is_attackers=False)
            working = self.captures(fled) if fled is not None else []
            if fled is not None and working:
                longest = max(longest, self.num_ataris(fled, working[0], most - 1))
        return 1 + longest

    def liberties(self, board: Stones) -> list[int]:
        """The liberties of the chain, ascending."""
        return list(bits(beside(whole_chain(board.own, self._target)) & board.empty))

    def flights(self, board: Stones) -> list[int]:
        """Moves of the chain in atari, ascending: its liberty, and those of chains beside it that can be taken."""
        around = beside(whole_chain(board.own, self._target))
        found, attackers = around & board.empty, around & board.other
        while attackers:
            chain = whole_chain(board.other, attackers.bit_length() - 1)
            liberties = beside(chain) & board.empty
            found |= liberties if liberties.bit_count() == 1 else 0
            attackers &= ~chain
        return list(bits(found))

    def _captures_by(self, board: Stones, point: int) -> bool:
        """Whether the atari at a point leads to the capture of the chain."""
        after = self._after(board, point, is_attackers=True)
        if after is None or len(self.liberties(after)) != 1:
            return False
        return not any(self._escapes_by(after, flight) for flight in self.flights(after))

    def _escapes_by(self, board: Stones, point: int) -> bool:
        """Whether the chain in atari is safe after its side's move at a point."""
        after = self._after(board, point, is_attackers=False)
        if after is None:
            return False
        liberties = self.liberties(after)
        if len(liberties) != 2:
            return len(liberties) > 2
        return not any(self._captures_by(after, atari) for atari in liberties)

    def _after(self, board: Stones, point: int, *, is_attackers: bool) -> Stones | None:
        """The stones after a move, which counts. Raises TooLongError."""
        self._left -= 1
        if self._left < 0:
            raise TooLongError
        return board.after(point, is_attackers=is_attackers)


def bits(points: int) -> Iterator[int]:
    """The points of a set, ascending."""
    while points:
        lowest = points & -points
        yield lowest.bit_length() - 1
        points &= ~lowest
