"""The planes of KataGo's networks as its inputs of version 7 define them, slowly, by a twin of Go (`go_twin`).

Ladders are read without any bound or shortcut, so boards must be small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from go_twin import BLACK, WHITE, Board, GoTwin, Stone


@dataclass(frozen=True)
class Moment:
    """A position on the way of a game."""

    board: Board
    ko: int | None
    """The point that simple ko forbids."""


class PlanesTwin:
    """A game of Go with the planes of `planes=katago`, which starts on an empty board."""

    def __init__(self, go: GoTwin) -> None:
        self.go = go
        self.moments = [Moment(go.board, None)]
        self.read = dict[Moment, tuple[set[int], dict[int, set[int]]]]()
        """The ladders of positions: a position is looked at three times, as the newest and the two before it."""
        self.moves: list[int] = []

    def play(self, action: int) -> None:
        go, mover, ko = self.go, self.go.mover, None
        go.play(action)
        self.moves.insert(0, action)
        if action != go.pass_ and len(go.last_taken) == 1 and go.board[action] == mover:
            chain, beside = go.reach(go.board, action)
            if len(chain) == 1 and [go.board[point] for point in beside].count(0) == 1:
                ko = next(iter(go.last_taken))
        self.moments.insert(0, Moment(go.board, ko))

    def planes(self) -> NDArray[np.float32]:
        """[41, H, W]."""
        go, size = self.go, self.go.size
        planes = np.zeros((41, size * size), np.float32)
        board, own, points = go.board, go.mover, range(go.pass_)
        planes[0] = 1
        for point in points:
            if board[point]:
                planes[1 if board[point] == own else 2, point] = 1
                liberties = self.liberties(board, point)
                if len(liberties) <= 3:
                    planes[2 + len(liberties), point] = 1
        planes[6, go.banned()] = 1
        for age, action in enumerate(self.moves[:5]):
            if action == go.pass_:
                planes[22 + age] = 1
            else:
                planes[9 + age, action] = 1
        for age in range(3):
            moment = self.moments[min(age, len(self.moments) - 1)]
            if moment not in self.read:
                self.read[moment] = self.ladders(moment)
            laddered, first_moves = self.read[moment]
            planes[14 + age, sorted(laddered)] = 1
            if age == 0:
                planes[17, sorted(first_moves[own])] = 1
        is_area = go.scoring == "area"
        if is_area:
            owners = self.areas(board)
            planes[18, [point for point in points if owners[point] == own]] = 1
            planes[19, [point for point in points if owners[point] == -own]] = 1
        komi = go.komi
        if not is_area:
            black, white = board.count(BLACK) + go.prisoners[1], board.count(WHITE) + go.prisoners[0]
            komi += black - white
        komi = komi if own == WHITE else -komi
        planes[27] = komi / 20
        planes[28] = go.superko in ("positional", "situational")
        planes[29] = {"positional": 0.5, "situational": -0.5}.get(go.superko, 0)
        planes[30] = go.suicide
        planes[31] = planes[32] = not is_area
        planes[36] = go.passes > 0
        if is_area:
            # A triangle of period 2 that rises through 0 where a draw can be.
            beyond = (komi - size % 2 + 1) % 2 - 1
            planes[40] = beyond if abs(beyond) <= 0.5 else np.sign(beyond) * (1 - abs(beyond))
        return planes.reshape(41, size, size)

    def liberties(self, board: Board, point: int) -> set[int]:
        return {near for near in self.go.reach(board, point)[1] if board[near] == 0}

    def ladders(self, moment: Moment) -> tuple[set[int], dict[int, set[int]]]:
        """The stones that are caught in ladders, and each side's moves that begin to take in one."""
        caught, first_moves = set[int](), {BLACK: set[int](), WHITE: set[int]()}
        for point, colour in enumerate(moment.board):
            if not colour or point in caught:
                continue
            liberties = self.liberties(moment.board, point)
            if len(liberties) == 1 and self.is_caught(moment.board, point):
                caught |= self.go.reach(moment.board, point)[0]
            for liberty in liberties if len(liberties) == 2 else ():
                after = self.put(moment.board, liberty, -colour)
                if liberty != moment.ko and not after.lost and self.is_caught(after.board, point):
                    caught |= self.go.reach(moment.board, point)[0]
                    first_moves[-colour].add(liberty)
        return caught, first_moves

    def put(self, board: Board, point: int, colour: int) -> Stone:
        kept = self.go.board, self.go.mover
        self.go.board, self.go.mover = board, colour
        stone = self.go.put(point)
        self.go.board, self.go.mover = kept
        return stone

    def ko_after(self, stone: Stone, point: int) -> int | None:
        chain, beside = self.go.reach(stone.board, point)
        if len(stone.taken) == 1 and len(chain) == 1 and [stone.board[p] for p in beside].count(0) == 1:
            return next(iter(stone.taken))
        return None

    def is_caught(self, board: Board, point: int, ko: int | None = None) -> bool:
        """Whether the chain on a point is caught although its side is to move."""
        colour, liberties = board[point], self.liberties(board, point)
        if len(liberties) >= 2 or ko is not None:
            return False
        for move in liberties | self.takes(board, point):
            stone = self.put(board, move, colour)
            if not stone.lost and not self.can_catch(stone.board, point, self.ko_after(stone, move)):
                return False
        return True

    def can_catch(self, board: Board, point: int, ko: int | None) -> bool:
        """Whether the other side, which is to move, catches the chain on a point."""
        colour, liberties = board[point], self.liberties(board, point)
        if len(liberties) != 2:
            return len(liberties) < 2
        if not self.takes(board, point) and all(self.is_hopeless_ko(board, move, colour) for move in liberties):
            return True
        for move in liberties:
            stone = self.put(board, move, -colour)
            if move != ko and not stone.lost and self.is_caught(stone.board, point, self.ko_after(stone, move)):
                return True
        return False

    def takes(self, board: Board, point: int) -> set[int]:
        """The points on which the chain on a point takes a chain beside it."""
        beside = [near for near in self.go.reach(board, point)[1] if board[near] == -board[point]]
        return {p for near in beside if len(found := self.liberties(board, near)) == 1 for p in found}

    def is_hopeless_ko(self, board: Board, move: int, colour: int) -> bool:
        """Whether a point is the mouth of a ko, and the chain that fills it has at most two liberties."""
        near = self.go.near(move)
        weak = [p for p in near if board[p] == colour and len(self.liberties(board, p)) == 1]
        if any(board[p] != colour for p in near) or len(weak) != 1 or len(self.go.reach(board, weak[0])[0]) > 1:
            return False
        filled = self.put(board, move, colour)
        return bool(filled.lost) or len(self.liberties(filled.board, move)) <= 2

    def areas(self, board: Board) -> list[int]:
        """The owner of each point: what lives by Benson's algorithm, what it surrounds, then what stones surround."""
        owners = [0] * len(board)
        for side in (BLACK, WHITE):
            chains = {self.go.reach(board, point)[0] for point in range(len(board)) if board[point] == side}
            if not chains:
                continue
            regions = self.regions(board, side)
            alive, safe = set(chains), set(regions)
            while True:
                eyes = {chain: sum(self.is_vital(board, region, chain) for region in safe) for chain in alive}
                next_alive = {chain for chain in alive if eyes[chain] >= 2}
                next_safe = {r for r in safe if not any(self.beside(r, chain) for chain in chains - next_alive)}
                if (next_alive, next_safe) == (alive, safe):
                    break
                alive, safe = next_alive, next_safe
            for chain in alive:
                for point in chain:
                    owners[point] = side
            for region in regions:
                inner = [p for p in region if not any(board[near] == side for near in self.go.near(p))]
                is_open = any(board[p] == -side for p in region)
                for point in region:
                    if region in safe and (len(inner) <= 1 or not is_open):
                        owners[point] = side
            for region in regions:
                for point in region:
                    if not any(board[p] == -side for p in region) and owners[point] == 0:
                        owners[point] = side
        return [owner or stone for owner, stone in zip(owners, board, strict=True)]

    def regions(self, board: Board, side: int) -> list[frozenset[int]]:
        """The connected parts of the points without stones of a side."""
        other = tuple(1 if stone == side else 0 for stone in board)
        return list({self.go.reach(other, point)[0] for point in range(len(board)) if other[point] == 0})

    def is_vital(self, board: Board, region: frozenset[int], chain: frozenset[int]) -> bool:
        needed = [point for point in region if self.go.suicide or board[point] == 0]
        return all(any(near in chain for near in self.go.near(point)) for point in needed)

    def beside(self, region: frozenset[int], chain: frozenset[int]) -> bool:
        return any(near in chain for point in region for near in self.go.near(point))
