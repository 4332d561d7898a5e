"""The common part of the slow minichess and minishogi: a 5x5 board in a dict, moves by trial, whole positions kept.

Independent of the core: written from the description, it shares no code and no representation with it. Squares are
(row, column) from the top left as the first player sees the board; sides are 1 (the first player) and -1.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

Square = tuple[int, int]
Board = dict[Square, tuple[int, str]]
"""Side and kind of each piece; kinds are the letters of the first player's pieces, with + if they are promoted."""

COMPASS = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))
STRAIGHT, DIAGONAL = COMPASS[::2], COMPASS[1::2]

SQUARES = list(itertools.product(range(5), repeat=2))


def is_on_board(square: Square) -> bool:
    return 0 <= square[0] < 5 and 0 <= square[1] < 5


def queen_plane(down: int, right: int) -> int:
    """The index of a straight or diagonal move, by direction and distance."""
    distance = max(abs(down), abs(right))
    return 4 * COMPASS.index((down // distance, right // distance)) + distance - 1


class MiniTwin(ABC):
    """A game so far. `history_fill` is what the core's option says of positions that were set up."""

    max_plies = 300
    kinds: tuple[str, ...]
    """In the order of the planes."""
    steps: dict[str, tuple[Square, ...]]
    """What a piece of the first player attacks one step away, by kind; a step is (rows down, columns to the right)."""
    slides: dict[str, tuple[Square, ...]]
    """Directions in which a piece attacks as far as it sees."""

    def __init__(self, rows: str, mover: int, history_fill: str) -> None:
        self.board: Board = {}
        for row, text in enumerate(rows.split("/")):
            column, prefix = 0, ""
            for letter in text:
                if letter == "+":
                    prefix = "+"
                elif letter.isdigit():
                    column += int(letter)
                else:
                    self.board[row, column] = (1 if letter.isupper() else -1, prefix + letter.upper())
                    column, prefix = column + 1, ""
        self.mover = mover
        self.plies = 0
        self.history_fill = history_fill
        self.moments: list[Any] = []
        """The positions so far, as the repetition rule sees them."""
        self._legal: dict[int, Any] | None = None

    # ---- moves

    @abstractmethod
    def _after(self, move: Any) -> Any:
        """The board after a move; the game's past is not copied."""

    @abstractmethod
    def _candidates(self) -> Iterator[Any]:
        """Moves that keep all rules but those of `_may_be_played`."""

    @abstractmethod
    def _action(self, move: Any) -> int:
        """The core's number of a move."""

    @abstractmethod
    def ending(self) -> tuple[str, float] | None:
        """The game's ending and its result for the first player."""

    def _reach(self, square: Square) -> Iterator[Square]:
        """Squares that the piece on a square attacks."""
        side, kind = self.board[square]
        for down, right in self.steps.get(kind, ()):
            target = (square[0] + side * down, square[1] + side * right)
            if is_on_board(target):
                yield target
        for down, right in self.slides.get(kind, ()):
            target = (square[0] + down, square[1] + right)
            while is_on_board(target):
                yield target
                if target in self.board:
                    break
                target = (target[0] + down, target[1] + right)

    def checkers(self, side: int) -> list[Square]:
        """The pieces that attack a side's king."""
        king = next(square for square, piece in self.board.items() if piece == (side, "K"))
        others = [square for square, (owner, _) in self.board.items() if owner == -side]
        return [square for square in others if king in self._reach(square)]

    def is_in_check(self, side: int) -> bool:
        return bool(self.checkers(side))

    def _may_be_played(self, move: Any) -> bool:
        return not self._after(move).is_in_check(self.mover)

    def moves(self) -> dict[int, Any]:
        """Legal moves by action, soft endings or not."""
        if self._legal is None:
            self._legal = {self._action(move): move for move in self._candidates() if self._may_be_played(move)}
        return self._legal

    def legal_actions(self) -> list[int]:
        return sorted(self.moves()) if self.outcome() is None else []

    def num_checkers(self, action: int) -> int:
        """The number of pieces that give check after a move."""
        return len(self._after(self.moves()[action]).checkers(-self.mover))

    def outcome(self) -> float | None:
        ending = self.ending()
        return None if ending is None else ending[1]

    # ---- texts and planes

    def rows_text(self) -> str:
        rows = []
        for row in range(5):
            cells = [self.board.get((row, column)) for column in range(5)]
            text = "".join("." if cell is None else cell[1] if cell[0] == 1 else cell[1].lower() for cell in cells)
            for count in range(5, 0, -1):
                text = text.replace("." * count, str(count))
            rows.append(text)
        return "/".join(rows)

    @abstractmethod
    def _seen(self, square: Square, side: int) -> Square:
        """A square as a side sees it."""

    def _piece_planes(self, board: Board) -> Iterator[np.ndarray]:
        """Own pieces, then the opponent's, by kind."""
        for side, kind in itertools.product((self.mover, -self.mover), self.kinds):
            plane = np.zeros((5, 5))
            for square, piece in board.items():
                if piece == (side, kind):
                    plane[self._seen(square, self.mover)] = 1
            yield plane

    def _moments_seen(self, nothing: Any) -> Iterable[Any]:
        """The last eight positions, the newest first; `nothing` before the game began."""
        older = self.moments[0] if self.history_fill == "repeat" else nothing
        return [*self.moments[::-1], *[older] * 8][:8]


def filled(numbers: Iterable[float]) -> list[np.ndarray]:
    """A plane of each number."""
    return [np.full((5, 5), number) for number in numbers]
