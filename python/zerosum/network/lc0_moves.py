"""The orders of moves in networks of Lc0: 1858 of a dense policy, pairs of squares in one of attention, and 73 planes.

The places are those of the 73 planes of 64 squares, which the game's option `planes=lc0` gives its actions. Squares are
counted from a1, and in the planes from the top, as the player to move sees the board.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SIDE, NUM_SQUARES, NUM_MOVE_PLANES = 8, 64, 73
NUM_DENSE_MOVES = 1858
_FIRST_PROMOTION = 64
_KNIGHT_MOVES = ((2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1))
_DIRECTIONS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))


@dataclass(frozen=True)
class AttentionPlaces:
    """Where the logit of each place comes from; places without a move take any."""

    moves: NDArray[np.int64]
    """[64 * 64], of the first 64 planes: 64 · first square + last square."""
    promotions: NDArray[np.int64]
    """[9 * 64], the same of the last 9 planes."""
    pieces: NDArray[np.int64]
    """[9 * 64], of the last 9 planes: 3 · last square + piece (queen, rook, bishop)."""


@functools.cache
def attention_places() -> AttentionPlaces:
    """The places of a policy of attention."""
    moves = np.zeros(_FIRST_PROMOTION * NUM_SQUARES, np.int64)
    for start in range(NUM_SQUARES):
        for end in range(NUM_SQUARES):
            plane = plane_of(end // SIDE - start // SIDE, end % SIDE - start % SIDE)
            if plane is not None:
                moves[plane * NUM_SQUARES + _from_top(start)] = start * NUM_SQUARES + end
    promotions, pieces = np.zeros((2, (NUM_MOVE_PLANES - _FIRST_PROMOTION) * NUM_SQUARES), np.int64)
    for file, side in _promotions():
        start, end = 6 * SIDE + file, 7 * SIDE + file + side
        for number, plane in enumerate(_promotion_planes(side)):
            place = (plane - _FIRST_PROMOTION) * NUM_SQUARES + _from_top(start)
            promotions[place], pieces[place] = start * NUM_SQUARES + end, 3 * end + number
    return AttentionPlaces(moves, promotions, pieces)


def reachable() -> NDArray[np.float32]:
    """[64, 64], for each square 1 where a queen or a knight could go on an empty board, and -1 at the square itself."""
    squares = np.zeros((NUM_SQUARES, NUM_SQUARES), np.float32)
    for start in range(NUM_SQUARES):
        for end in range(NUM_SQUARES):
            squares[start, end] = plane_of(end // SIDE - start // SIDE, end % SIDE - start % SIDE) is not None
    return squares - np.eye(NUM_SQUARES, dtype=np.float32)


def dense_places() -> NDArray[np.int64]:
    """[1858], the place of each move of a dense policy.

    The moves of a queen or knight come first, by the square that they leave and the square that they reach, from a1 to
    h8. Then come the promotions by the file of the pawn, by the file that it reaches, and to queen, rook and bishop.
    """
    places = []
    for start in range(NUM_SQUARES):
        for end in range(NUM_SQUARES):
            plane = plane_of(end // SIDE - start // SIDE, end % SIDE - start % SIDE)
            if plane is not None:
                places.append(plane * NUM_SQUARES + _from_top(start))
    for file, side in _promotions():
        places += [plane * NUM_SQUARES + _from_top(6 * SIDE + file) for plane in _promotion_planes(side)]
    return np.array(places)


def plane_of(up: int, right: int) -> int | None:
    """The plane of a queen's or knight's move; None for no such move."""
    if (up, right) in _KNIGHT_MOVES:
        return 56 + _KNIGHT_MOVES.index((up, right))
    distance = max(abs(up), abs(right))
    if not distance or {abs(up), abs(right)} - {0, distance}:
        return None
    return 7 * _DIRECTIONS.index((up // distance, right // distance)) + distance - 1


def _promotions() -> list[tuple[int, int]]:
    """The files of the pawns, and the files that they move to the right."""
    return [(file, side) for file in range(SIDE) for side in (-1, 0, 1) if 0 <= file + side < SIDE]


def _promotion_planes(side: int) -> list[int]:
    """The planes of promotions to queen, rook and bishop."""
    return [_FIRST_PROMOTION + 3 * (side + 1) + piece for piece in (2, 0, 1)]


def _from_top(square: int) -> int:
    """A square that is counted from a1, counted from the top."""
    return (SIDE - 1 - square // SIDE) * SIDE + square % SIDE
