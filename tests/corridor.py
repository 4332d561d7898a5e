"""A corridor with rewards for one player, and its optimum by value iteration: what MuZero with rewards is tried on.

    square   0     1      2     3     4     5
           coin  start         pit        treasure

Three moves: left, right, and a jump over a square to the right. Each costs something. The coin is near, but the
treasure is worth more; who walks on from square 2 falls into the pit, over which only the dear jump leads. The game
ends at the coin and at the treasure. Returns are discounted by `DISCOUNT` a move.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEFT, RIGHT, JUMP = 0, 1, 2
NUM_MOVES, NUM_SQUARES, START = 3, 6, 1
DISCOUNT = 0.97
_STEPS = {LEFT: -1, RIGHT: 1, JUMP: 2}
_COSTS = {LEFT: 0.5, RIGHT: 0.5, JUMP: 4.0}
_FOUND = {0: 1.0, 3: -6.0, 5: 10.0}
_ENDS = (0, 5)


@dataclass(frozen=True)
class Step:
    """What a move has led to."""

    square: int
    reward: float
    is_over: bool


def step(square: int, move: int) -> Step:
    """Make a move from a square between the ends. A jump stops at the treasure."""
    assert square not in _ENDS, square
    after = min(square + _STEPS[move], NUM_SQUARES - 1)
    return Step(after, _FOUND.get(after, 0.0) - _COSTS[move], after in _ENDS)


def planes(square: int) -> NDArray[np.float32]:
    """[1, 1, 6], a 1 where the player stands."""
    return np.eye(NUM_SQUARES, dtype=np.float32)[square][None, None]


def optimal_values() -> list[float]:
    """V(square), the largest discounted return, by value iteration until nothing changes."""
    values = [0.0] * NUM_SQUARES
    while True:
        better = [
            0.0 if square in _ENDS else max(_value_of(square, move, values) for move in range(NUM_MOVES))
            for square in range(NUM_SQUARES)
        ]
        if better == values:
            return values
        values = better


def optimal_moves() -> list[int]:
    """The moves from the start that have the largest return. No other line has it."""
    values, square, moves = optimal_values(), START, list[int]()
    while square not in _ENDS:
        worth = {move: _value_of(square, move, values) for move in range(NUM_MOVES)}
        moves.append(max(worth, key=lambda move: worth[move]))
        square = step(square, moves[-1]).square
    return moves


def _value_of(square: int, move: int, values: list[float]) -> float:
    """Q(square, move)."""
    made = step(square, move)
    return made.reward + DISCOUNT * values[made.square]
