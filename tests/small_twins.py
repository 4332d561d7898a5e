"""Slow twins of the core's small games on numpy boards, written from the rules and not from the core.

A twin is one game being played. 1 is the first player and -1 the second; a board has its top row first. Actions and
planes are the core's: in the view of the player to move.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

COLUMNS = "abcdefghijklmnopqrstuvwxy"
COMPASS = [step for step in itertools.product((-1, 0, 1), repeat=2) if step != (0, 0)]


class OthelloTwin:
    def __init__(self) -> None:
        self.board = np.zeros((8, 8), int)
        self.board[3:5, 3:5] = [[-1, 1], [1, -1]]
        self.mover = 1

    def turned(self, square: int, mover: int) -> list[tuple[int, int]]:
        """The discs that a disc on this square would turn over."""
        row, column = divmod(square, 8)
        turned: list[tuple[int, int]] = []
        for down, right in COMPASS if self.board[row, column] == 0 else ():
            enclosed: list[tuple[int, int]] = []
            place = (row + down, column + right)
            while min(place) >= 0 and max(place) < 8 and self.board[place] == -mover:
                enclosed.append(place)
                place = (place[0] + down, place[1] + right)
            if min(place) >= 0 and max(place) < 8 and self.board[place] == mover:
                turned += enclosed
        return turned

    def moves(self, mover: int) -> Iterator[int]:
        return (square for square in range(64) if self.turned(square, mover))

    def legal_actions(self) -> list[int]:
        return list(self.moves(self.mover)) or [64 for _ in itertools.islice(self.moves(-self.mover), 1)]

    def play(self, action: int) -> None:
        if action < 64:
            for place in [*self.turned(action, self.mover), divmod(action, 8)]:
                self.board[place] = self.mover
        self.mover = -self.mover

    def outcome(self) -> float | None:
        can_move = any(True for mover in (1, -1) for _ in self.moves(mover))
        return None if can_move else float(np.sign(self.board.sum()))

    def planes(self) -> np.ndarray:
        return np.stack([self.board == self.mover, self.board == -self.mover]).astype(np.float32)

    def action_text(self, action: int) -> str:
        return "pass" if action == 64 else f"{COLUMNS[action % 8]}{action // 8 + 1}"


class GomokuTwin:
    def __init__(self, size: int = 15, length: int = 5, *, is_exact: bool = False) -> None:
        self.size, self.length, self.is_exact = size, length, is_exact
        self.board = np.zeros((size, size), int)
        self.mover = 1
        # Lines with a cell more at both ends, on a board with an empty frame.
        starts = itertools.product(range(size + 2), range(size + 2), ((0, 1), (1, 0), (1, 1), (1, -1)))
        lines = [
            [(row + i * down, column + i * right) for i in range(length + 2)] for row, column, (down, right) in starts
        ]
        inside = [line for line in lines if all(0 <= row < size + 2 and 0 <= column < size + 2 for row, column in line)]
        self.lines = np.array([[row * (size + 2) + column for row, column in line] for line in inside])

    def legal_actions(self) -> list[int]:
        return [] if self.outcome() is not None else np.flatnonzero(self.board.ravel() == 0).tolist()

    def play(self, action: int) -> None:
        assert self.board.flat[action] == 0
        self.board.flat[action] = self.mover
        self.mover = -self.mover

    def outcome(self) -> float | None:
        cells = np.pad(self.board, 1).ravel()[self.lines]
        before, first, after = cells[:, 0], cells[:, 1], cells[:, -1]
        wins = abs(cells[:, 1:-1].sum(axis=1)) == self.length
        if self.is_exact:
            wins &= (before != first) & (after != first)
        if wins.any():
            return float(first[wins][0])
        return None if (self.board == 0).any() else 0.0

    def planes(self) -> np.ndarray:
        return np.stack([self.board == self.mover, self.board == -self.mover]).astype(np.float32)

    def action_text(self, action: int) -> str:
        return f"{COLUMNS[action % self.size]}{self.size - action // self.size}"


class HexTwin:
    def __init__(self, size: int = 11, *, has_swap: bool = False) -> None:
        self.size, self.has_swap = size, has_swap
        self.board = np.zeros((size, size), int)
        self.mover = 1
        self.plies = 0

    def view(self) -> np.ndarray:
        """The mover joins top to bottom."""
        return self.board if self.mover == 1 else self.board.T

    def can_swap(self) -> bool:
        return self.has_swap and self.plies == 1

    def legal_actions(self) -> list[int]:
        if self.outcome() is not None:
            return []
        return np.flatnonzero(self.view().ravel() == 0).tolist() + [self.size**2] * self.can_swap()

    def play(self, action: int) -> None:
        if action == self.size**2:
            self.board = -self.board.T.copy()
        else:
            self.view()[divmod(action, self.size)] = self.mover
        self.mover = -self.mover
        self.plies += 1

    def joins(self, stones: np.ndarray) -> bool:
        """Whether stones join the top row to the bottom row."""
        places = set(map(tuple, np.argwhere(stones).tolist()))
        ahead = [place for place in places if place[0] == 0]
        reached = set(ahead)
        while ahead:
            row, column = ahead.pop()
            around = {(row + d, column + r) for d, r in ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))}
            new = (around & places) - reached
            reached |= new
            ahead += new
        return any(row == self.size - 1 for row, _ in reached)

    def outcome(self) -> float | None:
        return 1.0 if self.joins(self.board == 1) else -1.0 if self.joins(self.board.T == -1) else None

    def planes(self) -> np.ndarray:
        view = self.view()
        swap = [np.full(view.shape, self.can_swap())] if self.has_swap else []
        return np.stack([view == self.mover, view == -self.mover, *swap]).astype(np.float32)

    def action_text(self, action: int) -> str:
        if action == self.size**2:
            return "swap"
        row, column = divmod(action, self.size)
        return f"{COLUMNS[column]}{row + 1}" if self.mover == 1 else f"{COLUMNS[row]}{column + 1}"


class BreakthroughTwin:
    def __init__(self, size: int = 8) -> None:
        self.size = size
        self.board = np.zeros((size, size), int)
        self.board[:2], self.board[-2:] = -1, 1
        self.mover = 1

    def view(self) -> np.ndarray:
        """The mover's pieces are 1 and walk upwards."""
        return self.board if self.mover == 1 else -self.board[::-1]

    def legal_actions(self) -> list[int]:
        if self.outcome() is not None:
            return []
        view, actions = self.view(), []
        for plane, row, column in np.ndindex(3, self.size, self.size):
            to = column + plane - 1
            if (
                view[row, column] == 1
                and 0 <= to < self.size
                and view[row - 1, to] in ((0,) if plane == 1 else (0, -1))
            ):
                actions.append(plane * self.size**2 + row * self.size + column)
        return actions

    def play(self, action: int) -> None:
        plane, row, column = np.unravel_index(action, (3, self.size, self.size))
        if self.mover == -1:
            self.board = -self.board[::-1]
        self.board[row, column], self.board[row - 1, column + plane - 1] = 0, 1
        if self.mover == -1:
            self.board = -self.board[::-1]
        self.mover = -self.mover

    def outcome(self) -> float | None:
        if (self.board[0] == 1).any() or not (self.board == -1).any():
            return 1.0
        return -1.0 if (self.board[-1] == -1).any() or not (self.board == 1).any() else None

    def planes(self) -> np.ndarray:
        return np.stack([self.view() == 1, self.view() == -1]).astype(np.float32)

    def action_text(self, action: int) -> str:
        plane, row, column = np.unravel_index(action, (3, self.size, self.size))
        number = self.size - row if self.mover == 1 else row + 1
        return f"{COLUMNS[column]}{number}{COLUMNS[column + plane - 1]}{number + self.mover}"


class NimTwin:
    def __init__(self, *heaps: int, is_misere: bool = False) -> None:
        self.heaps = list(heaps)
        self.is_misere = is_misere
        self.width = max(heaps)
        self.mover = 1

    def legal_actions(self) -> list[int]:
        return [heap * self.width + left for heap, size in enumerate(self.heaps) for left in range(size)]

    def play(self, action: int) -> None:
        heap, left = divmod(action, self.width)
        self.heaps[heap] = left
        self.mover = -self.mover

    def outcome(self) -> float | None:
        if any(self.heaps):
            return None
        return float(self.mover if self.is_misere else -self.mover)

    def planes(self) -> np.ndarray:
        return np.array([[[column < size for column in range(self.width)] for size in self.heaps]], np.float32)

    def action_text(self, action: int) -> str:
        heap, left = divmod(action, self.width)
        return f"{heap + 1}:{self.heaps[heap] - left}"


SmallTwin = OthelloTwin | GomokuTwin | HexTwin | BreakthroughTwin | NimTwin

SMALL_TWINS: dict[str, Callable[[], SmallTwin]] = {
    "breakthrough": BreakthroughTwin,
    "gomoku": GomokuTwin,
    "hex": HexTwin,
    "nim": lambda: NimTwin(1, 3, 5, 7),
    "othello": OthelloTwin,
}

VARIANTS: dict[str, Callable[[], SmallTwin]] = {
    "breakthrough(size=4)": lambda: BreakthroughTwin(4),
    "breakthrough(size=5)": lambda: BreakthroughTwin(5),
    "gomoku(size=6)": lambda: GomokuTwin(6),
    "gomoku(size=9, length=6)": lambda: GomokuTwin(9, 6),
    "gomoku(size=8, exact_five=true)": lambda: GomokuTwin(8, is_exact=True),
    "gomoku(size=6, length=3, exact_five=true)": lambda: GomokuTwin(6, 3, is_exact=True),
    "hex(size=3, swap=true)": lambda: HexTwin(3, has_swap=True),
    "hex(size=5)": lambda: HexTwin(5),
    "hex(size=6, swap=true)": lambda: HexTwin(6, has_swap=True),
    "nim(heaps=2-2, misere=true)": lambda: NimTwin(2, 2, is_misere=True),
    "nim(heaps=3-20-4)": lambda: NimTwin(3, 20, 4),
    "nim(misere=true)": lambda: NimTwin(1, 3, 5, 7, is_misere=True),
}
