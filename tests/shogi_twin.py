"""Shogi once more, slow and readable: rules, repetition, declaration, planes and action indices from the tables.

Squares are (row, column) as Black sees the board: (0, 0) is 9a, (8, 8) is 1i. Sides are 0 (Black) and 1 (White).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zerosum.notation.kif import HANDICAPS

START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
HELD = "PLNSGBR"
KINDS = [*HELD, "K", "+P", "+L", "+N", "+S", "+B", "+R"]
NUMBER = dict(zip(HELD, (18, 4, 4, 4, 4, 2, 2), strict=True))
"""Of each kind, both sides' together."""
DEAD_ROWS = {"P": 1, "L": 1, "N": 2}
"""Rows at the far end where a kind could never move again."""

ORTHOGONAL = [(1, 0), (0, 1), (-1, 0), (0, -1)]
DIAGONAL = [(1, 1), (-1, 1), (-1, -1), (1, -1)]
GOLD = [*ORTHOGONAL, (1, 1), (1, -1)]
STEPS = {
    "P": [(1, 0)], "N": [(2, 1), (2, -1)], "S": [(1, 0), *DIAGONAL], "G": GOLD, "K": ORTHOGONAL + DIAGONAL,
    "+P": GOLD, "+L": GOLD, "+N": GOLD, "+S": GOLD, "+B": ORTHOGONAL, "+R": DIAGONAL,
}  # fmt: skip
"""(rows ahead, columns to the right) of one step."""
SLIDES = {"L": [(1, 0)], "B": DIAGONAL, "R": ORTHOGONAL, "+B": DIAGONAL, "+R": ORTHOGONAL}

Square = tuple[int, int]
Pieces = dict[Square, tuple[str, int]]


def ahead(side: int) -> int:
    """The change of the row's number when a side's piece goes one row forward."""
    return 1 if side else -1


def row_of(side: int, square: Square) -> int:
    """Rows between a square and a side's far end."""
    return 8 - square[0] if side else square[0]


def is_on_board(square: Square) -> bool:
    return 0 <= square[0] < 9 and 0 <= square[1] < 9


def square_text(square: Square) -> str:
    return f"{9 - square[1]}{'abcdefghi'[square[0]]}"


def read_square(text: str) -> Square:
    return "abcdefghi".index(text[1]), 9 - int(text[0])


@dataclass(frozen=True)
class Move:
    """A move; a dropped piece leaves no square."""

    kind: str
    """Before the move."""
    start: Square | None
    end: Square
    promotes: bool

    @property
    def usi(self) -> str:
        if self.start is None:
            return f"{self.kind}*{square_text(self.end)}"
        return f"{square_text(self.start)}{square_text(self.end)}{'+' if self.promotes else ''}"


@dataclass
class Board:
    """Pieces on the board, pieces in hand, and the player to move."""

    pieces: Pieces
    hands: tuple[Counter[str], Counter[str]]
    side: int

    @staticmethod
    def parse(sfen: str) -> Board:
        rows, side, held, *_ = sfen.split()
        pieces: Pieces = {}
        for row, text in enumerate(rows.split("/")):
            column, sign = 0, ""
            for letter in text:
                if letter.isdigit():
                    column += int(letter)
                elif letter == "+":
                    sign = "+"
                else:
                    pieces[row, column] = (sign + letter.upper(), int(letter.islower()))
                    column, sign = column + 1, ""
        hands: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        count = ""
        for letter in held.replace("-", ""):
            if letter.isdigit():
                count += letter
            else:
                hands[letter.islower()][letter.upper()] += int(count or 1)
                count = ""
        return Board(pieces, hands, "bw".index(side))

    def sfen(self) -> str:
        """The SFEN without the move number."""
        rows = []
        for row in range(9):
            text = ""
            for column in range(9):
                kind, owner = self.pieces.get((row, column), ("1", 0))
                text += kind.lower() if owner else kind
            for empty in range(9, 1, -1):
                text = text.replace("1" * empty, str(empty))
            rows.append(text)
        held = "".join(
            (str(self.hands[side][kind]) if self.hands[side][kind] > 1 else "") + (kind.lower() if side else kind)
            for side in (0, 1)
            for kind in "RBGSNLP"
            if self.hands[side][kind]
        )
        return f"{'/'.join(rows)} {'bw'[self.side]} {held or '-'}"

    def targets(self, start: Square) -> Iterator[Square]:
        """The squares that the piece on a square attacks, with pieces of either side, ignoring checks."""
        kind, side = self.pieces[start]
        turn = ahead(side)
        for rows, columns in STEPS.get(kind, ()):
            square = start[0] + turn * rows, start[1] - turn * columns
            if is_on_board(square):
                yield square
        for rows, columns in SLIDES.get(kind, ()):
            square = start
            while is_on_board(square := (square[0] + turn * rows, square[1] - turn * columns)):
                yield square
                if square in self.pieces:
                    break

    def king(self, side: int) -> Square:
        return next(square for square, piece in self.pieces.items() if piece == ("K", side))

    def checkers(self, side: int) -> list[Square]:
        """Squares of the pieces that attack a side's king."""
        king = self.king(side)
        enemies = [square for square, (_, owner) in self.pieces.items() if owner != side]
        return [square for square in enemies if king in self.targets(square)]

    def after(self, move: Move) -> Board:
        pieces, hands = dict(self.pieces), (Counter(self.hands[0]), Counter(self.hands[1]))
        if move.start is None:
            hands[self.side][move.kind] -= 1
        else:
            del pieces[move.start]
            if move.end in pieces:
                hands[self.side][pieces[move.end][0][-1]] += 1
        pieces[move.end] = ("+" * move.promotes + move.kind, self.side)
        return Board(pieces, hands, 1 - self.side)

    def move(self, usi: str) -> Move:
        if usi[1] == "*":
            return Move(usi[0], None, read_square(usi[2:]), False)
        start = read_square(usi)
        return Move(self.pieces[start][0], start, read_square(usi[2:]), usi.endswith("+"))

    def candidates(self) -> Iterator[Move]:
        """Moves that keep all rules but those of the kings."""
        side = self.side
        for start, (kind, owner) in self.pieces.items():
            for end in self.targets(start) if owner == side else ():
                if self.pieces.get(end, ("", -1))[1] == side:
                    continue
                if row_of(side, end) >= DEAD_ROWS.get(kind, 0):
                    yield Move(kind, start, end, False)
                if "+" + kind in KINDS and min(row_of(side, start), row_of(side, end)) < 3:
                    yield Move(kind, start, end, True)
        for kind in +self.hands[side]:
            for end in ((row, column) for row in range(9) for column in range(9)):
                is_second_pawn = kind == "P" and any(self.pieces.get((row, end[1])) == ("P", side) for row in range(9))
                if end not in self.pieces and row_of(side, end) >= DEAD_ROWS.get(kind, 0) and not is_second_pawn:
                    yield Move(kind, None, end, False)

    def is_pawn_drop_mate(self, move: Move) -> bool:
        if move.kind != "P" or move.start is not None:
            return False
        board = self.after(move)
        return bool(board.checkers(board.side)) and not board.legal()

    def legal(self) -> list[Move]:
        safe = [move for move in self.candidates() if not self.after(move).checkers(self.side)]
        return [move for move in safe if not self.is_pawn_drop_mate(move)]

    def declared(self, rule: str) -> str | None:
        """The result of a declaration by the side to move under `csa27` or `csa24`: "win", "draw" or nothing."""
        side = self.side
        camp = [
            kind
            for square, (kind, owner) in self.pieces.items()
            if owner == side and kind != "K" and row_of(side, square) < 3
        ]
        if rule == "none" or row_of(side, self.king(side)) > 2 or len(camp) < 10 or self.checkers(side):
            return None
        points = sum(5 if kind[-1] in "BR" else 1 for kind in [*camp, *self.hands[side].elements()])
        if rule == "csa27":
            return "win" if points >= 28 - side else None
        return "win" if points >= 31 else "draw" if points >= 24 else None


@dataclass(frozen=True)
class Ended:
    """The ending of a game, with the result for Black."""

    ending: str
    result: float
    is_soft: bool


class Twin:
    """A game: a board and what was before it."""

    def __init__(
        self,
        sfen: str | None = None,
        *,
        entering_king: str = "csa27",
        policy: str = "planes",
        history: int = 8,
        history_fill: str = "repeat",
        max_plies: int = 512,
    ) -> None:
        self.entering_king, self.policy, self.history, self.max_plies = entering_king, policy, history, max_plies
        self.board = Board.parse(sfen or START)
        self.number = int((sfen or START).split()[3])
        self.is_set_up = sfen not in (None, START, *HANDICAPS.values())
        self.repeats = self.is_set_up and history_fill == "repeat"
        self.played: list[Board] = []
        """Boards before the present one."""
        self.keys = [self.board.sfen()]
        self.checks = [False]
        """For each position, whether the move that led to it gave check."""
        self.frames = [frame(self.board, 0)]
        """Newest first."""
        self.last_end: Square | None = None

    @property
    def plies(self) -> int:
        return len(self.played)

    @property
    def repetitions(self) -> int:
        """Earlier occurrences of the position."""
        return self.keys.count(self.keys[-1]) - 1

    def sfen(self) -> str:
        return f"{self.board.sfen()} {self.number + self.plies}"

    def play(self, usi: str) -> None:
        move = self.board.move(usi)
        self.played.append(self.board)
        self.board = self.board.after(move)
        self.last_end = move.end
        self.keys.append(self.board.sfen())
        self.checks.append(bool(self.board.checkers(self.board.side)))
        self.frames = [frame(self.board, self.repetitions), *self.frames[:7]]

    def repetition(self) -> Ended | None:
        """The rule of the fourth occurrence; of more than four, the latest four count."""
        found = [ply for ply, key in enumerate(self.keys) if key == self.keys[-1]][-4:]
        if len(found) < 4:
            return None
        side = self.board.side
        # The moves after the first occurrence, the side to move first.
        checks = self.checks[found[0] + 1 :]
        checkers = [checker for checker in (side, 1 - side) if all(checks[0 if checker == side else 1 :: 2])]
        if len(checkers) != 1:
            return Ended("fourfold repetition", 0.0, True)
        return Ended("perpetual check", 1.0 if checkers == [1] else -1.0, True)

    def ended(self, has_move: bool) -> Ended | None:
        """The end of the game, given whether a legal move is left."""
        side, mover = self.board.side, 1.0 if self.board.side == 0 else -1.0
        if not has_move:
            return Ended("checkmate" if self.board.checkers(side) else "no legal move", -mover, False)
        if repetition := self.repetition():
            return repetition
        if declared := self.board.declared(self.entering_king):
            return Ended("declaration", mover if declared == "win" else 0.0, True)
        return Ended("ply cap", 0.0, True) if self.plies >= self.max_plies else None

    def index(self, usi: str) -> int:
        """The action of a move, from the design's table."""
        index = plane_index(self.board.move(usi), self.board.side)
        return index if self.policy == "planes" else FLAT[index]

    def planes(self) -> np.ndarray:
        """[45 · history + 2, 9, 9], from the design's table."""
        side, planes = self.board.side, []
        older = self.frames[-1]._replace(repetitions=0) if self.repeats else NOTHING
        for seen in [*self.frames, *[older] * 8][: self.history]:
            pieces = seen.pieces[::-1, :, ::-1, ::-1] if side else seen.pieces
            held = seen.held[::-1] if side else seen.held
            repetitions = np.array([seen.repetitions >= times for times in (1, 2, 3)], np.float32)
            constants = np.concatenate([repetitions, held.reshape(14)])
            planes += [pieces.reshape(28, 9, 9), np.broadcast_to(constants[:, None, None], (17, 9, 9))]
        counts = np.array([side, np.float32(self.number + self.plies - 1) / np.float32(512)], np.float32)
        return np.concatenate([*planes, np.broadcast_to(counts[:, None, None], (2, 9, 9))])


class Frame(NamedTuple):
    """A position as planes show it, as Black sees the board."""

    pieces: np.ndarray
    """[2, 14, 9, 9]."""
    held: np.ndarray
    """[2, 7], of as many as there are."""
    repetitions: int


NOTHING = Frame(np.zeros((2, 14, 9, 9), np.float32), np.zeros((2, 7), np.float32), 0)


def frame(board: Board, repetitions: int) -> Frame:
    pieces = np.zeros((2, 14, 9, 9), np.float32)
    for square, (kind, owner) in board.pieces.items():
        pieces[owner, KINDS.index(kind)][square] = 1
    held = [[np.float32(hand[kind]) / np.float32(NUMBER[kind]) for kind in HELD] for hand in board.hands]
    return Frame(pieces, np.array(held, np.float32), repetitions)


def plane_index(move: Move, side: int) -> int:
    """81 · plane + square, both seen by the mover."""
    turned = [(8 - row, 8 - column) if side else (row, column) for row, column in (move.start or move.end, move.end)]
    (row, column), (end_row, end_column) = turned
    if move.start is None:
        return 81 * (132 + HELD.index(move.kind)) + 9 * row + column
    rows, columns = row - end_row, end_column - column  # ahead, to the right
    if (rows, abs(columns)) == (2, 1):
        plane = 64 if columns == 1 else 65
    else:
        distance = max(abs(rows), abs(columns))
        clockwise = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]
        plane = 8 * clockwise.index((rows // distance, columns // distance)) + distance - 1
    return 81 * (plane + 66 * move.promotes) + 9 * row + column


def flat_indices() -> dict[int, int]:
    """Every move that Black could make on a board without other pieces, numbered in the order of the planes."""
    squares = [(row, column) for row in range(9) for column in range(9)]
    moves: set[int] = set()
    for square in squares:
        for kind in KINDS:
            alone = Board({square: (kind, 0)}, (Counter(), Counter()), 0)
            moves |= {plane_index(move, 0) for move in alone.candidates()}
        empty = Board({}, (Counter(dict.fromkeys(HELD, 1)), Counter()), 0)
        moves |= {plane_index(move, 0) for move in empty.candidates()}
    return {index: number for number, index in enumerate(sorted(moves))}


FLAT = flat_indices()
"""The flat policy's number of each action by planes."""
