"""Go as a textbook has it, slowly: sets of points, whole boards remembered. The oracle of the core's Go.

Colours are 1 (Black, the first player) and -1; a board is a tuple of them and zeros, row by row from the top left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

BLACK, WHITE = 1, -1
COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"

Board = tuple[int, ...]


@dataclass(frozen=True)
class Stone:
    """The effect of one stone: the next board, and the captured stones."""

    board: Board
    taken: frozenset[int]
    chains_taken: int
    lost: frozenset[int]
    """By suicide, the stone itself among them."""


@cache
def neighbours(size: int) -> tuple[tuple[int, ...], ...]:
    """The points above, left, right and below of each point."""
    found = []
    for row, column in product(range(size), repeat=2):
        steps = ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column))
        found.append(tuple(r * size + c for r, c in steps if 0 <= r < size and 0 <= c < size))
    return tuple(found)


class GoTwin:
    """A game of Go that is played on; the last action is the pass."""

    def __init__(
        self,
        size: int = 19,
        *,
        komi: float = 7.5,
        suicide: bool = False,
        superko: str = "positional",
        scoring: str = "area",
        max_plies: int | None = None,
        board: Board | None = None,
        mover: int = BLACK,
        history: int = 8,
        repeats_history: bool = False,
        liberties: int = 0,
    ) -> None:
        self.size, self.komi, self.suicide, self.superko = size, komi, suicide, superko
        self.scoring, self.prisoners = scoring, [0, 0]
        self.pass_, self.history, self.liberties = size * size, history, liberties
        self.max_plies = max_plies or 2 * size * size
        self.board: Board = board or (0,) * self.pass_
        self.mover, self.passes, self.ply = mover, 0, 0
        empty = (0,) * self.pass_
        self.frames = [self.board if repeats_history else empty] * (history - 1)
        self.frames.insert(0, self.board)
        self.before_last: Board | None = None  # the board before the last stone, if the last move was one
        self.last_taken: frozenset[int] = frozenset()
        self.seen: dict[tuple[Board, int], int] = {}
        self.remember()

    def near(self, point: int) -> tuple[int, ...]:
        return neighbours(self.size)[point]

    def reach(self, board: Board, start: int) -> tuple[frozenset[int], frozenset[int]]:
        """The points of one kind around `start` that hang together, and those of other kinds beside them."""
        inside, beside, waiting = {start}, set(), [start]
        while waiting:
            for point in self.near(waiting.pop()):
                if board[point] != board[start]:
                    beside.add(point)
                elif point not in inside:
                    inside.add(point)
                    waiting.append(point)
        return frozenset(inside), frozenset(beside)

    def put(self, point: int) -> Stone:
        """The mover's stone on an empty point, whether the rules allow it or not."""
        after = list(self.board)
        after[point] = self.mover
        taken: set[int] = set()
        chains = 0
        for neighbour in self.near(point):
            if after[neighbour] == -self.mover:
                chain, beside = self.reach(tuple(after), neighbour)
                if not any(after[p] == 0 for p in beside):
                    chains += 1
                    taken |= chain
                    for stone in chain:
                        after[stone] = 0
        own, beside = self.reach(tuple(after), point)
        lost = frozenset() if any(after[p] == 0 for p in beside) else own
        for stone in lost:
            after[stone] = 0
        return Stone(tuple(after), frozenset(taken), chains, lost)

    def situation(self, board: Board, mover: int) -> tuple[Board, int]:
        return (board, mover if self.superko == "situational" else 0)

    def remember(self) -> None:
        self.seen[self.situation(self.board, self.mover)] = self.ply

    def is_repeated(self, stone: Stone) -> bool:
        if self.superko == "none":
            return False
        if self.superko == "simple":
            return bool(stone.taken) and stone.board == self.before_last
        return self.situation(stone.board, -self.mover) in self.seen

    def stones(self) -> dict[int, Stone]:
        """The effect of a stone on each point where the rules, except ko, allow one."""
        found = {point: self.put(point) for point in range(self.pass_) if self.board[point] == 0}
        return {point: stone for point, stone in found.items() if self.suicide or not stone.lost}

    def legal_actions(self) -> list[int]:
        """Past the end, too."""
        return [point for point, stone in self.stones().items() if not self.is_repeated(stone)] + [self.pass_]

    def banned(self) -> list[int]:
        """Points that ko alone forbids, but for suicides that repeat the very position they are played in."""
        now = self.situation(self.board, self.mover)
        found = {p: stone for p, stone in self.stones().items() if self.is_repeated(stone)}
        return [p for p, stone in found.items() if self.situation(stone.board, -self.mover) != now]

    def play(self, action: int) -> None:
        before, self.last_taken = self.board, frozenset()
        self.before_last = None
        self.ply += 1
        if action == self.pass_:
            self.passes += 1
        else:
            stone = self.put(action)
            self.board, self.passes, self.before_last, self.last_taken = stone.board, 0, before, stone.taken
            self.prisoners[self.mover == WHITE] += len(stone.taken)
            self.prisoners[self.mover == BLACK] += len(stone.lost)
        self.mover = -self.mover
        self.frames = [self.board, *self.frames[: self.history - 1]]
        if action != self.pass_ or self.superko == "situational":
            self.remember()

    def score(self) -> float:
        """Black's points less White's and komi."""
        if self.scoring == "territory":
            black, white = (self.territory(colour) for colour in (BLACK, WHITE))
            return black + self.prisoners[0] - white - self.prisoners[1] - self.komi
        total = -self.komi
        for point, owner in enumerate(self.board):
            if owner == 0:
                _, beside = self.reach(self.board, point)
                owners = {self.board[p] for p in beside}
                owner = owners.pop() if len(owners) == 1 else 0
            total += owner
        return total

    def territory(self, colour: int) -> int:
        """The points that this colour surrounds, but those of groups that touch a stuck point and do not live alone."""
        own = {point for point, kinds in self.borders().items() if kinds == {colour}}
        painted = tuple(colour if point in own else piece for point, piece in enumerate(self.board))
        total, left = len(own), {point for point, piece in enumerate(painted) if piece == colour}
        while left:
            group, beside = self.reach(painted, min(left))
            left -= group
            eyes = {self.reach(self.board, point)[0] for point in group & own}
            lives = len(eyes) > 1 or sum(map(len, eyes)) >= 7
            total -= 0 if lives or not beside & self.stuck() else sum(map(len, eyes))
        return total

    def borders(self) -> dict[int, set[int]]:
        """The colours that each empty point reaches."""
        found = {point: self.reach(self.board, point)[1] for point, piece in enumerate(self.board) if piece == 0}
        return {point: {self.board[other] for other in beside} for point, beside in found.items()}

    def stuck(self) -> set[int]:
        """The points of regions between both colours in which no stone has two liberties, or takes one."""
        neutral = {point for point, kinds in self.borders().items() if len(kinds) == 2}
        free = {point for point in neutral if self.is_free(point)}
        return {point for point in neutral if not self.reach(self.board, point)[0] & free}

    def is_free(self, point: int) -> bool:
        mover, found = self.mover, False
        for self.mover in (BLACK, WHITE):
            stone = self.put(point)
            if not stone.lost:
                _, beside = self.reach(stone.board, point)
                found |= bool(stone.taken) or sum(stone.board[p] == 0 for p in beside) >= 2
        self.mover = mover
        return found

    def outcome(self) -> tuple[float, str] | None:
        if self.passes < 2 and self.ply < self.max_plies:
            return None
        return float(np.sign(self.score())), "two passes" if self.passes >= 2 else "ply cap"

    def planes(self) -> NDArray[np.float32]:
        shape = (self.size, self.size)
        planes = [
            np.equal(frame, colour).reshape(shape) for frame in self.frames for colour in (self.mover, -self.mover)
        ]
        liberties = [0] * self.pass_
        for point in range(self.pass_):
            if self.board[point]:
                _, beside = self.reach(self.board, point)
                liberties[point] = sum(self.board[p] == 0 for p in beside)
        planes += [np.equal(liberties, count).reshape(shape) for count in range(1, self.liberties + 1)]
        return np.stack([*planes, np.full(shape, self.mover == BLACK)]).astype(np.float32)

    def text(self, action: int) -> str:
        if action == self.pass_:
            return "pass"
        row, column = divmod(action, self.size)
        return f"{COLUMNS[column]}{self.size - row}"
