"""Minishogi once more, slowly: what `mini_twin.py` does not have of it. Black is the first player."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mini_twin import COMPASS, DIAGONAL, SQUARES, STRAIGHT, Board, MiniTwin, Square, filled, queen_plane

HAND_KINDS = ("G", "S", "B", "R", "P")
GOLD = (*STRAIGHT, (-1, -1), (-1, 1))

STEPS = {
    "K": COMPASS,
    "G": GOLD,
    "S": (*DIAGONAL, (-1, 0)),
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

    board: Board
    hands: dict[int, Counter[str]]
    mover: int
    was_check: bool
    repetitions: int

    def is_same(self, other: Moment) -> bool:
        return (self.board, self.hands, self.mover) == (other.board, other.hands, other.mover)


NOTHING = Moment({}, {1: Counter(), -1: Counter()}, 1, was_check=False, repetitions=0)


class MinishogiTwin(MiniTwin):
    """A game so far."""

    kinds = ("K", "G", "S", "B", "R", "P", "+S", "+B", "+R", "+P")
    steps, slides = STEPS, SLIDES

    def __init__(self, sfen: str = "rbsgk/4p/5/P4/KGSBR b - 1", *, history_fill: str = "zero") -> None:
        rows, side, hands, number = sfen.split()
        super().__init__(rows, 1 if side == "b" else -1, history_fill)
        self.hands: dict[int, Counter[str]] = {1: Counter(), -1: Counter()}
        for before, letter in zip(" " + hands, hands, strict=False):
            if letter.isalpha():
                self.hands[1 if letter.isupper() else -1][letter.upper()] += int(before) if before.isdigit() else 1
        self.number = int(number)
        self._note(was_check=False)

    def _note(self, *, was_check: bool) -> None:
        moment = Moment(dict(self.board), {s: +self.hands[s] for s in (1, -1)}, self.mover, was_check, 0)
        repetitions = sum(moment.is_same(other) for other in self.moments)
        self.moments.append(Moment(moment.board, moment.hands, moment.mover, was_check, repetitions))
        self._legal = None

    # ---- moves

    def _after(self, move: Move) -> MinishogiTwin:
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
        far = 0 if self.mover == 1 else 4
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
        pawns = [column for (_, column), piece in self.board.items() if piece == (self.mover, "P")]
        for kind in HAND_KINDS:
            for target in SQUARES:
                if not self.hands[self.mover][kind] or target in self.board:
                    continue
                if kind == "P" and (target[0] == far or target[1] in pawns):
                    continue
                yield Move(None, target, kind, promotes=False)

    def _may_be_played(self, move: Move) -> bool:
        after = self._after(move)
        if after.is_in_check(self.mover):
            return False
        is_pawn_drop = move.source is None and move.kind == "P"
        return not (is_pawn_drop and after.is_in_check(-self.mover) and not after.has_move())

    def has_move(self) -> bool:
        return any(self._may_be_played(move) for move in self._candidates())

    def pawn_drops_that_mate(self) -> list[Move]:
        """Moves that only this rule forbids."""
        drops = [move for move in self._candidates() if move.source is None and move.kind == "P"]
        return [m for m in drops if not self._after(m).is_in_check(self.mover) and not self._may_be_played(m)]

    def play(self, action: int) -> None:
        after = self._after(self.moves()[action])
        self.board, self.hands, self.mover = after.board, after.hands, after.mover
        self.plies += 1
        self.number += 1
        self._note(was_check=self.is_in_check(self.mover))

    # ---- endings

    def ending(self) -> tuple[str, float] | None:
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

    # ---- texts, numbers and planes

    def _seen(self, square: Square, side: int) -> Square:
        return square if side == 1 else (4 - square[0], 4 - square[1])

    def _action(self, move: Move) -> int:
        row, column = self._seen(move.target, self.mover)
        if move.source is None:
            return (64 + HAND_KINDS.index(move.kind)) * 25 + 5 * row + column
        from_row, from_column = self._seen(move.source, self.mover)
        plane = queen_plane(row - from_row, column - from_column)
        return (plane + 32 * move.promotes) * 25 + 5 * from_row + from_column

    def action_text(self, action: int) -> str:
        move = self.moves()[action]
        target = usi(move.target)
        if move.source is None:
            return f"{move.kind}*{target}"
        return usi(move.source) + target + "+" * move.promotes

    def text(self) -> str:
        hands = ""
        for side in (1, -1):
            for kind in "RBGSP":
                count = self.hands[side][kind]
                hands += (str(count) if count > 1 else "") + (kind if side == 1 else kind.lower()) * (count > 0)
        return f"{self.rows_text()} {'b' if self.mover == 1 else 'w'} {hands or '-'} {self.number}"

    def planes(self) -> np.ndarray:
        """[266, 5, 5]."""
        planes: list[np.ndarray] = []
        for moment in self._moments_seen(NOTHING):
            planes += self._piece_planes(moment.board)
            planes += filled(float(moment.repetitions >= times) for times in (1, 2, 3))
            for side in (self.mover, -self.mover):
                planes += filled(moment.hands[side][kind] / 2 for kind in HAND_KINDS)
        planes += filled((float(self.mover == -1), np.float32(self.number - 1) / 300))
        return np.stack(planes).astype(np.float32)


def usi(square: Square) -> str:
    return f"{5 - square[1]}{'abcde'[square[0]]}"
