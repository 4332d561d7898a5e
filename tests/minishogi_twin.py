"""Minishogi once more, slowly: pieces in a dict, moves by trying them, repetition by comparing whole positions.

Independent of the core: written from the description, it shares no code and no representation with it. Squares are
(row, column) from the top left as Black, who begins, sees the board; sides are 1 (Black) and -1 (White).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

Square = tuple[int, int]
KINDS = ("K", "G", "S", "B", "R", "P", "+S", "+B", "+R", "+P")
HAND_KINDS = ("G", "S", "B", "R", "P")
COMPASS = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))
STRAIGHT, DIAGONAL = COMPASS[::2], COMPASS[1::2]
GOLD = (*STRAIGHT, (-1, -1), (-1, 1))
STEPS = {
    "K": COMPASS,
    "G": GOLD,
    "S": (*DIAGONAL, (-1, 0)),
    "B": (),
    "R": (),
    "P": ((-1, 0),),
    "+S": GOLD,
    "+B": STRAIGHT,
    "+R": DIAGONAL,
    "+P": GOLD,
}
SLIDES = {"B": DIAGONAL, "+B": DIAGONAL, "R": STRAIGHT, "+R": STRAIGHT}


class Move(NamedTuple):
    """A move of a piece, or a drop (`source` is None) of a kind."""

    source: Square | None
    target: Square
    kind: str
    promotes: bool


@dataclass(frozen=True)
class Moment:
    """A position as the repetition rule sees it, and whether the move that led there gave check."""

    board: dict[Square, tuple[int, str]]
    hands: dict[int, Counter[str]]
    mover: int
    was_check: bool
    repetitions: int

    def is_same(self, other: Moment) -> bool:
        return (self.board, self.hands, self.mover) == (other.board, other.hands, other.mover)


class MinishogiTwin:
    """A game so far. `history_fill` is what the core's option says of positions that were set up."""

    max_plies = 300

    def __init__(self, sfen: str = "rbsgk/4p/5/P4/KGSBR b - 1", *, history_fill: str = "zero") -> None:
        rows, side, hands, number = sfen.split()
        self.board: dict[Square, tuple[int, str]] = {}
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
        self.hands: dict[int, Counter[str]] = {1: Counter(), -1: Counter()}
        for before, letter in zip(" " + hands, hands, strict=False):
            if letter.isalpha():
                self.hands[1 if letter.isupper() else -1][letter.upper()] += int(before) if before.isdigit() else 1
        self.mover = 1 if side == "b" else -1
        self.number = int(number)
        self.plies = 0
        self.history_fill = history_fill
        self.moments: list[Moment] = []
        self._note(was_check=False)

    def _note(self, *, was_check: bool) -> None:
        moment = Moment(dict(self.board), {s: +self.hands[s] for s in (1, -1)}, self.mover, was_check, 0)
        repetitions = sum(moment.is_same(other) for other in self.moments)
        self.moments.append(Moment(moment.board, moment.hands, moment.mover, was_check, repetitions))
        self._legal: dict[int, Move] | None = None

    # ---- moves

    def _reach(self, square: Square) -> Iterator[Square]:
        """Squares that the piece on a square attacks."""
        side, kind = self.board[square]
        for down, right in STEPS[kind]:
            target = (square[0] + side * down, square[1] + side * right)
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

    def _after(self, move: Move) -> MinishogiTwin:
        """The board after a move; the game's past is not copied."""
        after = MinishogiTwin.__new__(MinishogiTwin)
        after.board, after.mover = dict(self.board), -self.mover
        after.hands = {side: Counter(self.hands[side]) for side in (1, -1)}
        if move.source is None:
            after.hands[self.mover][move.kind] -= 1
        else:
            del after.board[move.source]
        if move.target in after.board:
            after.hands[self.mover][after.board[move.target][1].removeprefix("+")] += 1
        after.board[move.target] = (self.mover, "+" + move.kind if move.promotes else move.kind)
        return after

    def _candidates(self) -> Iterator[Move]:
        """Moves that leave out of account only kings in check and mates by a dropped pawn."""
        far = self._far_row()
        for square, (side, kind) in list(self.board.items()):
            if side != self.mover:
                continue
            for target in self._reach(square):
                if self.board.get(target, (0, ""))[0] == side:
                    continue
                if kind in ("S", "B", "R", "P") and far in (square[0], target[0]):
                    yield Move(square, target, kind, promotes=True)
                if not (kind == "P" and target[0] == far):
                    yield Move(square, target, kind, promotes=False)
        for kind in HAND_KINDS:
            for target in ((row, column) for row in range(5) for column in range(5)):
                if not self.hands[self.mover][kind] or target in self.board:
                    continue
                pawns = [c for (_, c), piece in self.board.items() if piece == (self.mover, "P")]
                if kind == "P" and (target[0] == far or target[1] in pawns):
                    continue
                yield Move(None, target, kind, promotes=False)

    def _far_row(self) -> int:
        return 0 if self.mover == 1 else 4

    def _may_be_played(self, move: Move) -> bool:
        after = self._after(move)
        if after.is_in_check(self.mover):
            return False
        is_pawn_drop = move.source is None and move.kind == "P"
        return not (is_pawn_drop and after.is_in_check(-self.mover) and not after.has_move())

    def has_move(self) -> bool:
        return any(self._may_be_played(move) for move in self._candidates())

    def moves(self) -> dict[int, Move]:
        """Legal moves by action, soft endings or not."""
        if self._legal is None:
            self._legal = {self._action(move): move for move in self._candidates() if self._may_be_played(move)}
        return self._legal

    def pawn_drops_that_mate(self) -> list[Move]:
        """Moves that only this rule forbids."""
        drops = [move for move in self._candidates() if move.source is None and move.kind == "P"]
        return [m for m in drops if not self._after(m).is_in_check(self.mover) and not self._may_be_played(m)]

    def legal_actions(self) -> list[int]:
        return sorted(self.moves()) if self.outcome() is None else []

    def play(self, action: int) -> None:
        after = self._after(self.moves()[action])
        self.board, self.hands, self.mover = after.board, after.hands, after.mover
        self.plies += 1
        self.number += 1
        self._note(was_check=self.is_in_check(self.mover))

    def num_checkers(self, action: int) -> int:
        """How many pieces give check after a move."""
        return len(self._after(self.moves()[action]).checkers(-self.mover))

    # ---- endings

    def ending(self) -> tuple[str, float] | None:
        """How the game has ended and its result for Black."""
        if not self.moves():
            return ("checkmate" if self.is_in_check(self.mover) else "no legal move", -float(self.mover))
        if self.moments[-1].repetitions >= 3:
            return self._ending_by_repetition()
        return ("ply cap", 0.0) if self.plies >= self.max_plies else None

    def _ending_by_repetition(self) -> tuple[str, float]:
        occurrences = [index for index, other in enumerate(self.moments) if other.is_same(self.moments[-1])]
        since = self.moments[occurrences[-4] + 1 :]
        # The move that led to a moment was made by who is not to move there.
        only_checks = {side: all(m.was_check for m in since if m.mover == -side) for side in (1, -1)}
        if only_checks[-1]:
            return "perpetual check", 1.0
        return "perpetual check" if only_checks[1] else "fourfold repetition", -1.0

    def outcome(self) -> float | None:
        ending = self.ending()
        return None if ending is None else ending[1]

    # ---- texts and numbers

    def _seen(self, square: Square, side: int) -> Square:
        return square if side == 1 else (4 - square[0], 4 - square[1])

    def _action(self, move: Move) -> int:
        row, column = self._seen(move.target, self.mover)
        if move.source is None:
            return (64 + HAND_KINDS.index(move.kind)) * 25 + 5 * row + column
        from_row, from_column = self._seen(move.source, self.mover)
        down, right = row - from_row, column - from_column
        distance = max(abs(down), abs(right))
        plane = 4 * COMPASS.index((down // distance, right // distance)) + distance - 1
        return (plane + 32 * move.promotes) * 25 + 5 * from_row + from_column

    def action_text(self, action: int) -> str:
        move = self.moves()[action]
        target = usi(move.target)
        if move.source is None:
            return f"{move.kind}*{target}"
        return usi(move.source) + target + "+" * move.promotes

    def text(self) -> str:
        rows = []
        for row in range(5):
            cells = [self.board.get((row, column)) for column in range(5)]
            letters = ["." if cell is None else cell[1] if cell[0] == 1 else cell[1].lower() for cell in cells]
            text = "".join(letters)
            for count in range(5, 0, -1):
                text = text.replace("." * count, str(count))
            rows.append(text)
        hands = ""
        for side in (1, -1):
            for kind in "RBGSP":
                count = self.hands[side][kind]
                hands += (str(count) if count > 1 else "") + (kind if side == 1 else kind.lower()) * (count > 0)
        return f"{'/'.join(rows)} {'b' if self.mover == 1 else 'w'} {hands or '-'} {self.number}"

    # ---- planes

    def planes(self) -> np.ndarray:
        """[266, 5, 5]."""
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
            planes += [np.full((5, 5), float(moment.repetitions >= times)) for times in (1, 2, 3)]
            for side in (self.mover, -self.mover):
                planes += [np.full((5, 5), moment.hands[side][kind] / 2) for kind in HAND_KINDS]
        planes += [np.full((5, 5), float(self.mover == -1)), np.full((5, 5), np.float32(self.number - 1) / 300)]
        return np.stack(planes).astype(np.float32)

    def _moment(self, age: int) -> Moment:
        if age < len(self.moments):
            return self.moments[-1 - age]
        if self.history_fill == "repeat":
            return self.moments[0]
        return Moment({}, {1: Counter(), -1: Counter()}, 1, was_check=False, repetitions=0)


def is_on_board(square: Square) -> bool:
    return 0 <= square[0] < 5 and 0 <= square[1] < 5


def usi(square: Square) -> str:
    return f"{5 - square[1]}{'abcde'[square[0]]}"
