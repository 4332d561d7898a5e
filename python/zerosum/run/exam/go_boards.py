"""Boards of Go that are filled but for a hole: each side has one chain with eyes, and there is a problem between them.

    X X X O O O O O O      X, O   the frame; its single points are eyes
    X . X . X O . O O      left   a problem at the border
    X X X O X O O O O

`Board` is a grid of letters; `turned` gives it one of the eight symmetries, and perhaps the other colours.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from zerosum.games import Rules, State
from zerosum.notation.go_status import beside, parts
from zerosum.notation.go_words import text_of, vertex_of

SIZE = 9
MOST_POINTS = 10
"""Largest hole of a group or a seki: all its lines can be searched."""
MOST_LADDER_POINTS = 24
"""Largest room of a ladder."""
LADDER_MARGIN = 5
"""White's frame and its chain have fewer points more than those with which Black cannot win."""
LADDERS_A_FRAME = 8
"""Times that stones are drawn into a frame."""
STRAY_STONES = 0.1
"""Share of the other points around a ladder that have a stone."""
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
        return Turn.drawn(generator).board(self)


@dataclass(frozen=True)
class Turn:
    """One of the eight symmetries of the board, perhaps with exchanged colours."""

    swaps: bool
    """Rows become columns, before the others."""
    flips: bool
    """The first row becomes the last."""
    mirrors: bool
    """The first column becomes the last."""
    inverts: bool
    """Black's stones become White's."""

    @classmethod
    def drawn(cls, generator: random.Random) -> Turn:
        """Any of the sixteen."""
        return cls(*(generator.random() < 0.5 for _ in range(4)))

    def place(self, point: int) -> int:
        """Where a point comes to."""
        row, column = divmod(point, SIZE)
        row, column = (column, row) if self.swaps else (row, column)
        return SIZE * (SIZE - 1 - row if self.flips else row) + (SIZE - 1 - column if self.mirrors else column)

    def board(self, board: Board) -> Board:
        """The turned board."""
        cells = [EMPTY] * len(board.cells)
        for point, cell in enumerate(board.cells):
            cells[self.place(point)] = 1 - cell if self.inverts and cell != EMPTY else cell
        num_white = len(cells) - len(board.hole) - board.num_black
        return Board(
            tuple(cells), frozenset(map(self.place, board.hole)), num_white if self.inverts else board.num_black
        )


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


@dataclass(frozen=True)
class LadderBoard:
    """A board with a long chain of one side in its hole that has two liberties, inside the other side's frame."""

    board: Board
    """Its hole holds the points of the chain, too."""
    target: int
    """A point of the chain."""
    owner: int
    """The player whose chain it is."""


def ladder_boards(generator: random.Random, enough: tuple[int, int]) -> list[LadderBoard]:
    """A chain that comes straight out of the other side's frame into a hole, with different stones and liberties there.

    Args:
        generator: Draws the board.
        enough: Points with which Black and White do not lose. The chain and its own side's frame have as many or a few
            more, so that the game hangs on the chain.

    Returns:
        Boards of one frame; none if the chain has no place.
    """
    turn = Turn.drawn(generator)
    owner = BLACK if turn.inverts else WHITE
    return [
        LadderBoard(turn.board(board), turn.place(target), owner)
        for board, target in _white_ladders(generator, enough[owner])
    ]


def _white_ladders(generator: random.Random, enough: int) -> Iterator[tuple[Board, int]]:
    """Boards with a chain of White's that comes out of Black's side, each with a point of the chain."""
    height, width = generator.randint(3, 6), generator.randint(3, 5)
    if not 12 <= height * width <= MOST_LADDER_POINTS:
        return
    top, left = generator.randint(0, SIZE - height), generator.randint(4, SIZE - width)
    row, length = generator.randint(max(top, 1), min(top + height, SIZE - 1) - 1), generator.randint(3, left - 1)
    room = {SIZE * (top + across) + left + along for across in range(height) for along in range(width)}
    tail, head = {SIZE * row + column for column in range(left - length, left)}, {SIZE * row + left}
    border = random_border(generator)
    for beside_tail in range(row - 1, row + 2):
        border[beside_tail] = max(border[beside_tail], left)
    cells = two_sides(border)
    num_white = sum(cell == WHITE and point not in room | tail for point, cell in enumerate(cells))
    if not 0 <= num_white + len(tail) + 1 - enough < LADDER_MARGIN:
        return
    for _ in range(generator.randint(0, 2)):
        head.add(generator.choice(sorted(beside(SIZE, head) & room)))
    near = beside(SIZE, tail | head)
    if any(cells[point] == WHITE for point in near - room):
        return
    framed = with_eyes(cells, frozenset(room | tail), generator)
    if framed is None:
        return
    for _ in range(LADDERS_A_FRAME):
        inner = dict.fromkeys(tail | head, WHITE)
        for point in sorted(room - head):
            inner[point] = generator.randrange(2) if generator.random() < STRAY_STONES else EMPTY
        for liberties in itertools.combinations(sorted(near & room), 2):
            inner |= {point: EMPTY if point in liberties else BLACK for point in near & room}
            changed = (inner.get(point, cell) for point, cell in enumerate(framed.cells))
            yield replace(framed, cells=tuple(changed)), min(tail)


def _around(point: int) -> Iterator[int]:
    """The up to eight points around a point."""
    row, column = divmod(point, SIZE)
    for other_row in range(max(row - 1, 0), min(row + 2, SIZE)):
        for other in range(max(column - 1, 0), min(column + 2, SIZE)):
            if (other_row, other) != (row, column):
                yield SIZE * other_row + other
