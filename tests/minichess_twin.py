"""Minichess once more, slowly: what `mini_twin.py` does not have of it. White is the first player."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mini_twin import COMPASS, DIAGONAL, STRAIGHT, Board, MiniTwin, Square, filled, queen_plane

KNIGHT = ((-2, 1), (-1, 2), (1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1))

STEPS = {"P": ((-1, -1), (-1, 1)), "N": KNIGHT, "K": COMPASS}
SLIDES = {"B": DIAGONAL, "R": STRAIGHT, "Q": COMPASS}


class Move(NamedTuple):
    """A move; `promotion` is the kind that a pawn becomes, or ""."""

    source: Square
    target: Square
    promotion: str


@dataclass(frozen=True)
class Moment:
    """A position as the repetition rule sees it."""

    board: Board
    mover: int
    repetitions: int

    def is_same(self, other: Moment) -> bool:
        return (self.board, self.mover) == (other.board, other.mover)


class MinichessTwin(MiniTwin):
    """A game so far."""

    kinds = ("P", "N", "B", "R", "Q", "K")
    steps, slides = STEPS, SLIDES

    def __init__(self, fen: str = "rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1", *, history_fill: str = "zero") -> None:
        rows, side, _, _, halfmoves, number = fen.split()
        super().__init__(rows, 1 if side == "w" else -1, history_fill)
        self.halfmoves, self.number = int(halfmoves), int(number)
        self._note()

    def _note(self) -> None:
        moment = Moment(dict(self.board), self.mover, 0)
        repetitions = sum(moment.is_same(other) for other in self.moments)
        self.moments.append(Moment(moment.board, moment.mover, repetitions))
        self._legal = None

    # ---- moves

    def _after(self, move: Move) -> MinichessTwin:
        after = MinichessTwin.__new__(MinichessTwin)
        after.board, after.mover = dict(self.board), -self.mover
        side, kind = after.board.pop(move.source)
        after.board[move.target] = (side, move.promotion or kind)
        return after

    def _candidates(self) -> Iterator[Move]:
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

    def play(self, action: int) -> None:
        move = self.moves()[action]
        is_progress = self.board[move.source][1] == "P" or move.target in self.board
        self.board = self._after(move).board
        self.halfmoves = 0 if is_progress else self.halfmoves + 1
        self.mover = -self.mover
        self.number += self.mover == 1
        self.plies += 1
        self._note()

    # ---- endings

    def ending(self) -> tuple[str, float] | None:
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

    # ---- texts, numbers and planes

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
            plane = queen_plane(down, right)
        return plane * 25 + 5 * row + column

    def action_text(self, action: int) -> str:
        move = self.moves()[action]
        return uci(move.source) + uci(move.target) + move.promotion.lower()

    def text(self) -> str:
        return f"{self.rows_text()} {'w' if self.mover == 1 else 'b'} - - {self.halfmoves} {self.number}"

    def planes(self) -> np.ndarray:
        """[115, 5, 5]."""
        planes: list[np.ndarray] = []
        for moment in self._moments_seen(Moment({}, 1, 0)):
            planes += self._piece_planes(moment.board)
            planes += filled(float(moment.repetitions >= times) for times in (1, 2))
        since_the_start = 2 * (self.number - 1) + (self.mover == -1)
        counts = (float(self.mover == -1), np.float32(since_the_start) / 300, np.float32(self.halfmoves) / 100)
        return np.stack([*planes, *filled(counts)]).astype(np.float32)


def uci(square: Square) -> str:
    return "abcde"[square[1]] + str(5 - square[0])
