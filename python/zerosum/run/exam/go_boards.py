"""Boards of Go that are filled but for a hole: each side has one chain with eyes, and there is a problem between them.

    X X X O O O O O O      X, O   the frame; its single points are eyes
    X . X . X O . O O      left   a problem at the border
    X X X O X O O O O

`Board` is a grid of letters; `turned` gives it one of the eight symmetries, and perhaps the other colours.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from zerosum.games import Rules, State
from zerosum.notation.go_status import beside, parts
from zerosum.notation.go_words import text_of, vertex_of

SIZE = 9
MOST_POINTS = 10
"""Largest hole of a group or a seki: all its lines can be searched."""
EYES = 3
"""Eyes of each frame; two keep it alive, and one may be filled."""
BLACK, WHITE, EMPTY = 0, 1, -1


@dataclass(frozen=True)
class Board:
    """The points of a board and its hole."""

    cells: tuple[int, ...]
    """[81], `BLACK`, `WHITE` or `EMPTY`, row by row from the top left."""
    hole: frozenset[int]
    """The points of the problem, with its stones."""
    num_black: int
    """Points of Black's frame, with its eyes."""

    def is_open(self, komi: float) -> bool:
        """Whether either side would win with all points of the hole."""
        low = 2 * self.num_black - len(self.cells) - komi
        return low < 0 < low + 2 * len(self.hole)

    def state(self, game: Rules, player: int) -> State:
        """The position with this player to move. Raises GameError if a chain has no liberty."""
        stones = {vertex_of(SIZE, point): cell for point, cell in enumerate(self.cells) if cell != EMPTY}
        return game.parse_position(text_of(SIZE, stones, player))

    def turned(self, generator: random.Random) -> Board:
        """The board with a random symmetry, and with exchanged colours in half of the cases."""
        swaps, flips, mirrors, inverts = (generator.random() < 0.5 for _ in range(4))

        def place(point: int) -> int:
            row, column = divmod(point, SIZE)
            row, column = (column, row) if swaps else (row, column)
            return SIZE * (SIZE - 1 - row if flips else row) + (SIZE - 1 - column if mirrors else column)

        cells = [EMPTY] * len(self.cells)
        for point, cell in enumerate(self.cells):
            cells[place(point)] = 1 - cell if inverts and cell != EMPTY else cell
        num_white = len(cells) - len(self.hole) - self.num_black
        return Board(tuple(cells), frozenset(map(place, self.hole)), num_white if inverts else self.num_black)


def random_border(generator: random.Random, *, rows: int = SIZE) -> list[int]:
    """Black's columns in each row, a random walk from 3 to 6."""
    found = [generator.randint(3, 6)]
    while len(found) < rows:
        found.append(min(6, max(3, found[-1] + generator.choice((-1, 0, 0, 1)))))
    return found


def two_sides(border: list[int]) -> list[int]:
    """A board that is filled with Black's stones left of a border and White's right of it."""
    return [BLACK if column < border[row] else WHITE for row in range(SIZE) for column in range(SIZE)]


def with_eyes(cells: list[int], hole: frozenset[int], generator: random.Random) -> Board | None:
    """The board with eyes in both frames; None if a frame is not one chain or has no room for them."""
    num_black = sum(cell == BLACK and point not in hole for point, cell in enumerate(cells))
    cells = list(cells)
    for player in (BLACK, WHITE):
        frame = {point for point, cell in enumerate(cells) if cell == player and point not in hole}
        inner = [point for point in sorted(frame) if beside(SIZE, {point}) <= frame]
        generator.shuffle(inner)
        eyes = set[int]()
        for point in inner:
            if len(eyes) < EYES and not beside(SIZE, {point}) & eyes:
                stones = frame - eyes - {point}
                if len(list(parts(SIZE, stones))) == 1:
                    eyes.add(point)
        if len(eyes) < EYES:
            return None
        for point in eyes:
            cells[point] = EMPTY
    return Board(tuple(cells), hole, num_black)


def living_group(generator: random.Random) -> Board | None:
    """A group of Black's inside White's frame, with an eye space of a few points; None if it has no place."""
    border = random_border(generator)
    cells = two_sides(border)
    white = {point for point, cell in enumerate(cells) if cell == WHITE}
    space = {generator.choice(sorted(white))}
    size = generator.randint(3, 5)
    while len(space) < size:
        ahead = sorted(beside(SIZE, space) & white)
        if not ahead:
            return None
        space.add(generator.choice(ahead))
    stones = {point for inner in space for point in _around(inner)} - space
    group = space | stones
    if len(group) > MOST_POINTS or not group <= white or not beside(SIZE, group) <= white:
        return None
    for point in stones:
        cells[point] = BLACK
    for point in space:
        cells[point] = WHITE if generator.random() < 0.15 else EMPTY
    outside = sorted(beside(SIZE, group))
    opened = set(generator.sample(outside, 1)) if outside and generator.random() < 0.3 else set()
    for point in opened:
        cells[point] = EMPTY
    return with_eyes(cells, frozenset(group | opened), generator)


def shared_liberties(generator: random.Random) -> Board | None:
    """A chain of each colour inside the other's frame, at the border, with two liberties that they share."""
    height, left = generator.randint(3, 5), generator.randint(2, 4)
    thick_white, thick_black = generator.randint(1, 2), generator.randint(1, 2)
    between = left + thick_white
    if height * (thick_white + 1 + thick_black) > MOST_POINTS:
        return None
    last = generator.choice((BLACK, WHITE))
    first = between + 1 if last == WHITE else between
    border = [first]
    while len(border) < SIZE - height:
        border.append(min(6, max(3, border[-1] + generator.choice((-1, 0, 0, 1)))))
    cells = two_sides([left] * height + border)
    shared = generator.sample(range(height - 1), 2) if height > 2 else []
    hole = set[int]()
    for row in range(height):
        inner = EMPTY if row in shared else last if row == height - 1 else generator.choice((BLACK, WHITE))
        for column in range(left, between + 1 + thick_black):
            cell = WHITE if column < between else inner if column == between else BLACK
            cells[SIZE * row + column] = cell
            hole.add(SIZE * row + column)
    # Below the outer chains the frames must be those of the other colour.
    for column in range(left, between + 1 + thick_black):
        point = SIZE * height + column
        above = cells[point - SIZE]
        if cells[point] == above:
            return None
    return with_eyes(cells, frozenset(hole), generator)


def open_border(generator: random.Random) -> Board | None:
    """A border between the sides with a stretch that is still open."""
    border = random_border(generator)
    cells, hole = two_sides(border), set[int]()
    first, num_rows = generator.randint(0, SIZE - 3), generator.randint(2, 3)
    for row in range(first, first + num_rows):
        hole |= {SIZE * row + column for column in range(border[row] - 2, border[row] + 2)}
    for point in sorted(hole):
        drawn = generator.random()
        if drawn < 0.5:
            cells[point] = EMPTY
        elif drawn < 0.6:
            cells[point] = 1 - cells[point]
    return with_eyes(cells, frozenset(hole), generator)


def _around(point: int) -> Iterator[int]:
    """The up to eight points around a point."""
    row, column = divmod(point, SIZE)
    for other_row in range(max(row - 1, 0), min(row + 2, SIZE)):
        for other in range(max(column - 1, 0), min(column + 2, SIZE)):
            if (other_row, other) != (row, column):
                yield SIZE * other_row + other
