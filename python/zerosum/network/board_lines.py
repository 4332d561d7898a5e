"""Lines of neighbouring squares, whose whole contents an updatable network may have as features.

A row, column or diagonal part of k squares has one of 3^k contents; networks of such features are called n-tuple
networks (Lucas, "Learning to play Othello with n-tuple systems", 2008). What a content is worth does not depend on
where the line lies: all rows share a table of weights, all columns another, and all diagonals a third.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import SettingsError

TABLE_OF_DIRECTION = {(0, 1): 0, (1, 0): 1, (1, 1): 2, (1, -1): 2}
"""The table of lines by their step in (row, column): along rows, columns and both diagonals, with ascending squares."""
NUM_TABLES = 3


@dataclass(frozen=True)
class BoardLines:
    """All lines of a length on a board.

    A content is a number to the base 3, the digit of the first square the lowest: 1 for a piece of the first kind (the
    game's stones, its pawns) of the side that looks, 2 for one of the other side, 0 for neither. An empty line has no
    feature.
    """

    length: int
    board_shape: tuple[int, int]
    squares: NDArray[np.int64]
    """[lines, length], ascending in each line."""
    tables: NDArray[np.int64]
    """[lines], 0 for rows, 1 for columns, 2 for diagonals."""

    @classmethod
    def of(cls, length: int, board_shape: tuple[int, int]) -> BoardLines:
        """The lines of `length` squares.

        >>> BoardLines.of(3, (3, 3)).squares.tolist()[:4]
        [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6]]

        Raises:
            SettingsError: the board has none.
        """
        squares = np.arange(board_shape[0] * board_shape[1]).reshape(board_shape)
        found = [
            (line, table)
            for direction, table in TABLE_OF_DIRECTION.items()
            for line in _lines(squares, length, direction)
        ]
        if not found:
            raise SettingsError(
                f"network.updatable_lines is {length}, but a board of {board_shape[0]} x {board_shape[1]} squares has"
                " no such line: choose a smaller number."
            )
        lines, tables = zip(*found, strict=True)
        return cls(length, board_shape, np.array(lines), np.array(tables))

    @property
    def num_contents(self) -> int:
        """Contents of a line, the empty one included."""
        return int(3**self.length)

    @property
    def num_features(self) -> int:
        """Features of all tables."""
        return NUM_TABLES * self.num_contents

    def counts(self, own: NDArray[np.bool_], opponent: NDArray[np.bool_]) -> NDArray[np.float32]:
        """[B, features], how many lines have each content, by the squares [B, S] of both sides' pieces."""
        digits = own.astype(np.int64) + 2 * opponent
        contents = digits[:, self.squares] @ 3 ** np.arange(self.length) + self.num_contents * self.tables
        counts = np.zeros((len(own), self.num_features), np.float32)
        for row, found in zip(counts, contents, strict=True):
            np.add.at(row, found[found % self.num_contents > 0], 1)
        return counts

    def both_views(self, turned: NDArray[np.int64]) -> list[tuple[list[int], int, int, bool]]:
        """For each line its squares, the first feature of its table in a side's view and in that of the other side.

        The last item says whether the other side, which sees square s at `turned[s]`, reads the line in the opposite
        order.
        """
        tables = {tuple(line): table for line, table in zip(self.squares.tolist(), self.tables.tolist(), strict=True)}
        found = []
        for line, table in tables.items():
            seen = turned[list(line)].tolist()
            other = tables[tuple(sorted(seen))]
            found.append((list(line), self.num_contents * table, self.num_contents * other, seen[0] > seen[-1]))
        return found


def _lines(squares: NDArray[np.int64], length: int, direction: tuple[int, int]) -> Iterator[list[int]]:
    """The lines in a direction, by their first squares."""
    num_rows, num_columns = squares.shape
    for row, column in np.ndindex(num_rows, num_columns):
        last = row + (length - 1) * direction[0], column + (length - 1) * direction[1]
        if last[0] < num_rows and 0 <= last[1] < num_columns:
            yield [int(squares[row + step * direction[0], column + step * direction[1]]) for step in range(length)]
