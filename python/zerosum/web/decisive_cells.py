"""The cells that decide a position: those of the winning line or chain, and the king in check.

The rules answer both questions, and no game is named here. A line is looked for where the ending is called "four in a
row" (or another number), a chain where it is called "edges joined". A king is in check if it could be taken with the
other side to move, which is what the rules then say of such a position.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence

from zerosum._core import Picture
from zerosum.base.errors import GameError
from zerosum.games import Rules, State

NUMBERS = {word: number for number, word in enumerate(("three", "four", "five", "six"), start=3)}
LINES = ((0, 1), (1, 0), (1, 1), (1, -1))
HEXAGON = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))
"""(rows, columns) to the six neighbours of a cell in rows that are shifted by half a cell each."""
SIDES_TO_MOVE = {"w": "b", "b": "w"}


def winning_cells(game: Rules, state: State, picture: Picture) -> list[int]:
    """The stones that have won: the longest rows in a line game, a shortest chain between two edges; else empty."""
    outcome, ending = game.outcome(state), game.ending(state) or ""
    if not outcome:
        return []
    owner = 0 if outcome > 0 else 1
    stones = {cell for cell, piece in enumerate(picture.cells) if piece is not None and piece[0] == owner}
    shape = len(picture.row_labels), len(picture.column_labels)
    if (found := re.fullmatch(r"(\w+) in a row", ending)) and found[1] in NUMBERS:
        return sorted({cell for line in _lines(stones, shape) if len(line) >= NUMBERS[found[1]] for cell in line})
    if ending == "edges joined" and picture.grid == "hexagons":
        return sorted(_chain(stones, shape, is_upright=owner == 0))
    return []


def king_in_check(game: Rules, state: State, picture: Picture) -> int | None:
    """The cell of the king of the side to move if it is in check; None otherwise, or in games without kings."""
    mover = game.player(state)
    kings = [cell for cell, piece in enumerate(picture.cells) if piece and piece[0] == mover and piece[1] in "Kk"]
    words = (game.position_text(state) or "").split()
    if len(kings) != 1 or len(words) < 2 or words[1] not in SIDES_TO_MOVE:
        return None
    words[1] = SIDES_TO_MOVE[words[1]]
    if len(words) == 6:
        words[3] = "-"  # of a FEN: the side that has just moved cannot capture en passant
    try:
        game.parse_position(" ".join(words))
    except GameError as error:
        return kings[0] if "king could be taken" in str(error) else None
    return None


def _lines(stones: set[int], shape: tuple[int, int]) -> Iterator[list[int]]:
    """Every straight row of stones, as long as it is, once for each direction."""
    rows, columns = shape

    def step(cell: int, down: int, right: int) -> int | None:
        row, column = cell // columns + down, cell % columns + right
        return row * columns + column if 0 <= row < rows and 0 <= column < columns else None

    for down, right in LINES:
        for stone in stones:
            if step(stone, -down, -right) in stones:
                continue  # not the first of its row
            line: list[int] = []
            cell: int | None = stone
            while cell is not None and cell in stones:
                line.append(cell)
                cell = step(cell, down, right)
            yield line


def _chain(stones: set[int], shape: tuple[int, int], *, is_upright: bool) -> Sequence[int]:
    """A shortest chain of stones from top to bottom, or from left to right; () if there is none."""
    rows, columns = shape

    def along(cell: int) -> int:
        return cell // columns if is_upright else cell % columns

    last = (rows if is_upright else columns) - 1
    before: dict[int, int | None] = {stone: None for stone in sorted(stones) if along(stone) == 0}
    ahead = deque(before)
    while ahead:
        cell: int | None = ahead.popleft()
        assert cell is not None
        if along(cell) == last:
            chain = []
            while cell is not None:
                chain.append(cell)
                cell = before[cell]
            return chain
        row, column = divmod(cell, columns)
        for down, right in HEXAGON:
            place = (row + down) * columns + column + right
            is_on = 0 <= row + down < rows and 0 <= column + right < columns
            if is_on and place in stones and place not in before:
                before[place] = cell
                ahead.append(place)
    return ()
