"""Minichess once more, slowly: pieces in a dict, moves by trying them, repetition by comparing whole positions.

Independent of the core: written from the description, it shares no code and no representation with it. Squares are
(row, column) from the top left as White, who begins, sees the board; sides are 1 (White) and -1 (Black).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

Square = tuple[int, int]
KINDS = "PNBRQK"
COMPASS = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))
KNIGHT = ((-2, 1), (-1, 2), (1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1))
SLIDES = {"B": COMPASS[1::2], "R": COMPASS[::2], "Q": COMPASS}
STEPS = {"N": KNIGHT, "K": COMPASS}


class Move(NamedTuple):
    """A move; `promotion` is the kind that a pawn becomes, or ""."""

    source: Square
    target: Square
    promotion: str


@dataclass(frozen=True)
class Moment:
    """A position as the repetition rule sees it."""

    board: dict[Square, tuple[int, str]]
    mover: int
    repetitions: int

    def is_same(self, other: Moment) -> bool:
        return (self.board, self.mover) == (other.board, other.mover)


class MinichessTwin:
    """A game so far. `history_fill` is what the core's option says of positions that were set up."""

    max_plies = 300

    def __init__(self, fen: str = "rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1", *, history_fill: str = "zero") -> None:
        rows, side, _, _, halfmoves, number = fen.split()
        self.board: dict[Square, tuple[int, str]] = {}
        for row, text in enumerate(rows.split("/")):
            column = 0
            for letter in text:
                if letter.isdigit():
                    column += int(letter)
                else:
                    self.board[row, column] = (1 if letter.isupper() else -1, letter.upper())
                    column += 1
        self.mover = 1 if side == "w" else -1
        self.halfmoves, self.number = int(halfmoves), int(number)
        self.plies = 0
        self.history_fill = history_fill
        self.moments: list[Moment] = []
        self._note()

    def _note(self) -> None:
        moment = Moment(dict(self.board), self.mover, 0)
        repetitions = sum(moment.is_same(other) for other in self.moments)
        self.moments.append(Moment(moment.board, moment.mover, repetitions))
        self._legal: dict[int, Move] | None = None

    # ---- moves

    def _reach(self, square: Square) -> Iterator[Square]:
        """Squares that the piece on a square attacks."""
        side, kind = self.board[square]
        steps = ((-side, -1), (-side, 1)) if kind == "P" else STEPS.get(kind, ())
        for down, right in steps:
            target = (square[0] + down, square[1] + right)
            if is_on_board(target):
                yield target
        for down, right in SLIDES.get(kind, ()):
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

    def _after(self, move: Move) -> MinichessTwin:
        """The board after a move; the game's past is not copied."""
        after = MinichessTwin.__new__(MinichessTwin)
        after.board, after.mover = dict(self.board), -self.mover
        side, kind = after.board.pop(move.source)
        after.board[move.target] = (side, move.promotion or kind)
        return after

    def _candidates(self) -> Iterator[Move]:
        """Moves that leave out of account only kings in check."""
        for square, (side, kind) in list(self.board.items()):
            if side != self.mover:
                continue
            targets = [target for target in self._reach(square) if self.board.get(target, (0, ""))[0] != side]
            if kind == "P":
                ahead = (square[0] - side, square[1])
                targets = [target for target in targets if target in self.board]
                targets += [ahead] if ahead not in self.board else []
            for target in targets:
                for promotion in "QRBN" if kind == "P" and target[0] in (0, 4) else ("",):
                    yield Move(square, target, promotion)

    def moves(self) -> dict[int, Move]:
        """Legal moves by action, soft endings or not."""
        if self._legal is None:
            legal = [move for move in self._candidates() if not self._after(move).is_in_check(self.mover)]
            self._legal = {self._action(move): move for move in legal}
        return self._legal

    def legal_actions(self) -> list[int]:
        return sorted(self.moves()) if self.outcome() is None else []

    def play(self, action: int) -> None:
        move = self.moves()[action]
        is_progress = self.board[move.source][1] == "P" or move.target in self.board
        self.board = self._after(move).board
        self.halfmoves = 0 if is_progress else self.halfmoves + 1
        self.mover = -self.mover
        self.number += self.mover == 1
        self.plies += 1
        self._note()

    def num_checkers(self, action: int) -> int:
        """How many pieces give check after a move."""
        return len(self._after(self.moves()[action]).checkers(-self.mover))

    # ---- endings

    def ending(self) -> tuple[str, float] | None:
        """How the game has ended and its result for White."""
        if not self.moves():
            return ("checkmate", -float(self.mover)) if self.is_in_check(self.mover) else ("stalemate", 0.0)
        if self.is_insufficient_material():
            return "insufficient material", 0.0
        if self.moments[-1].repetitions >= 2:
            return "threefold repetition", 0.0
        if self.halfmoves >= 100:
            return "fifty-move rule", 0.0
        return ("ply cap", 0.0) if self.plies >= self.max_plies else None

    def is_insufficient_material(self) -> bool:
        others = [(square, kind) for square, (_, kind) in self.board.items() if kind != "K"]
        if all(kind == "B" for _, kind in others):
            return len({(row + column) % 2 for (row, column), _ in others}) < 2
        return [kind for _, kind in others] == ["N"]

    def outcome(self) -> float | None:
        ending = self.ending()
        return None if ending is None else ending[1]

    # ---- texts and numbers

    def _seen(self, square: Square, side: int) -> Square:
        return square if side == 1 else (4 - square[0], square[1])

    def _action(self, move: Move) -> int:
        (row, column), (to_row, to_column) = (self._seen(s, self.mover) for s in (move.source, move.target))
        down, right = to_row - row, to_column - column
        if move.promotion in ("N", "B", "R"):
            plane = 40 + 3 * (right + 1) + "NBR".index(move.promotion)
        elif (down, right) in KNIGHT:
            plane = 32 + KNIGHT.index((down, right))
        else:
            distance = max(abs(down), abs(right))
            plane = 4 * COMPASS.index((down // distance, right // distance)) + distance - 1
        return plane * 25 + 5 * row + column

    def action_text(self, action: int) -> str:
        move = self.moves()[action]
        return uci(move.source) + uci(move.target) + move.promotion.lower()

    def text(self) -> str:
        rows = []
        for row in range(5):
            cells = [self.board.get((row, column)) for column in range(5)]
            text = "".join("." if cell is None else cell[1] if cell[0] == 1 else cell[1].lower() for cell in cells)
            for count in range(5, 0, -1):
                text = text.replace("." * count, str(count))
            rows.append(text)
        return f"{'/'.join(rows)} {'w' if self.mover == 1 else 'b'} - - {self.halfmoves} {self.number}"

    # ---- planes

    def planes(self) -> np.ndarray:
        """[115, 5, 5]."""
        planes: list[np.ndarray] = []
        for age in range(8):
            moment = self._moment(age)
            for side in (self.mover, -self.mover):
                for kind in KINDS:
                    plane = np.zeros((5, 5))
                    for square, piece in moment.board.items():
                        if piece == (side, kind):
                            plane[self._seen(square, self.mover)] = 1
                    planes.append(plane)
            planes += [np.full((5, 5), float(moment.repetitions >= times)) for times in (1, 2)]
        since_the_start = 2 * (self.number - 1) + (self.mover == -1)
        counts = (float(self.mover == -1), np.float32(since_the_start) / 300, np.float32(self.halfmoves) / 100)
        return np.stack([*planes, *(np.full((5, 5), count) for count in counts)]).astype(np.float32)

    def _moment(self, age: int) -> Moment:
        if age < len(self.moments):
            return self.moments[-1 - age]
        return self.moments[0] if self.history_fill == "repeat" else Moment({}, 1, 0)


def is_on_board(square: Square) -> bool:
    return 0 <= square[0] < 5 and 0 <= square[1] < 5


def uci(square: Square) -> str:
    return "abcde"[square[1]] + str(5 - square[0])
