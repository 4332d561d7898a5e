"""A position for people: in the terminal, and as an SVG drawing without scripts, images or links.

`svg(game, state)` draws the picture of a game's board (`board_in_text.py`), or the text of a game without one.
Everything is drawn from a `Picture`: this file knows kinds of boards and of pieces, and no game. Chess pieces and the
characters of shogi are outlines (`data/pieces.json`), which need no font. Elements that a page may colour have a class
("paper", "label", "caption").

    ┌─────────────────┐  columns are CELL wide, rows as high (a hexagon's rows overlap);
    │ 3 ┌──┬──┬──┐    │  labels stand left of the rows and below the columns,
    │ 2 ├──┼──┼──┤    │  captions below everything
    │ 1 └──┴──┴──┘    │
    │    a  b  c      │
    │ captions        │
    └─────────────────┘

The edges of a board of hexagons have the colours of the players who join them, if a caption says so (`JOINED`). A board
that stands upright, with numbered columns for discs to fall in, is a blue frame with yellow and red discs.
"""

from __future__ import annotations

import base64
import functools
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from typing import Any

from zerosum._core import Picture
from zerosum.games.board_in_text import board_picture
from zerosum.games.python_game import Game
from zerosum.games.rules import Rules, State, make, restored_game
from zerosum.games.short_names import short_name

__all__ = ["Geometry", "describe_position", "picture_svg", "piece_svg", "svg", "text_svg"]

CELL = 48.0
MARGIN = 14.0
LABEL = 22.0
"""Space for a row or column of labels of the usual size."""
LETTER = 14.0
"""Usual size of letters."""
PHONE, LEAST = 370.0, 10.0
"""Width of a board on a phone in pixels, and the size that letters have there at least."""
LINE = 22.0
"""Height of a caption."""

PAPER, INK = "#faf5ea", "#4a3b2a"
LIGHT, DARK, WOOD, RIM = "#f0dcb8", "#b88a60", "#e3bd7c", "#8a6238"
MARK = "#ffe14d"
CHECK, WON = "#e8140f", "#27b35a"
SIDES = ("first", "second")
JOINED = "X joins top and bottom, O left and right"
"""The caption of a board whose edges belong to the players."""
RIM_WIDTH = 3.0
"""Width of the rim of a board of squares or points."""
EDGE = 8.0
"""Width of a coloured edge, of which the half outside of the board is seen."""
COLOUR_OF = {"X": "Black", "O": "White"}
"""Colours of stones by their letters in text."""
STONES = (("#5a5a60", "#16161a", "#000000"), ("#ffffff", "#e4ddd0", "#6b6459"))
"""Colours of a stone by side: shine, body and edge."""
DISCS = (("#ffe873", "#f4c20d", "#b8860b"), ("#ff8a7a", "#d8281e", "#8f120b"))
"""Colours of a disc of an upright board by side, as those of a stone."""
FRAME, HOLE = "#1f5fbf", "#e9eff8"
"""An upright board, and what is seen through its holes."""
PIECES = (("#fffdf6", "#1c1712"), ("#35302b", "#0d0b09"))
"""Colours of a piece or a glyph by side: inside and outline."""
LINES = ("#1c1712", "#efe7da")
"""Colours of the lines on a piece, by side."""
MEN = dict(zip("♚♛♜♝♞♟", "kqrbnp", strict=True))
MAN_UNITS = 45
"""Side of the square in which the outlines of pieces are given."""
SYMBOLS = "'DejaVu Sans','Segoe UI Symbol','Noto Sans Symbols 2','Noto Sans Symbols','Arial Unicode MS',sans-serif"
CHARACTERS = "'Noto Serif CJK JP','Hiragino Mincho ProN','Yu Mincho','MS Mincho','Noto Sans CJK JP',serif"
"""Fonts for characters without an outline."""
LETTERS = "'DejaVu Sans',Verdana,Arial,sans-serif"
FIXED = "'DejaVu Sans Mono',Menlo,Consolas,monospace"


def svg_uri(text: str) -> str:
    """An SVG image as a data URI, for a page of one file."""
    return f"data:image/svg+xml;base64,{base64.b64encode(text.encode()).decode()}"


def svg(game: Rules, state: State, *, western: bool = False) -> str:
    """A position as the text of an SVG file; `western` has letters for the characters of shogi.

    >>> from zerosum.games.rules import make
    >>> svg(make("connect4"), make("connect4").initial_state()).startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    True
    """
    picture, title = board_picture(game, state), short_name(game)
    if picture is None:
        return text_svg(game.draw(state), title=title)
    return picture_svg(picture, title=title, western=western)


def state_svg(source: str | Game[Any], state: State) -> str:
    """A state as the text of an SVG file, by the game's name or object."""
    return svg(restored_game(source) if isinstance(source, str) else make(source), state)


def stacked(drawings: Sequence[str], *, title: str) -> str:
    """SVG drawings of this file, stacked vertically as one."""
    sizes = [re.search(r'width="([\d.]+)" height="([\d.]+)"', drawing) for drawing in drawings]
    body, top = [], 0.0
    for drawing, size in zip(drawings, sizes, strict=True):
        assert size is not None
        body.append(drawing.replace("<svg ", f'<svg y="{top:g}" ', 1).rstrip("\n"))
        top += float(size[2])
    return _document(max(float(size[1]) for size in sizes if size), top, title, body)


def describe_position(game: Rules, state: State) -> str:
    """The board as text, the position in the game's notation, if it has one, and the player to move.

    >>> from zerosum.games import make, state_after
    >>> print(describe_position(make("tictactoe"), state_after(make("tictactoe"), "b2 a1")))
    3  . . .
    2  . X .
    1  O . .
       a b c
    Position: 3/1X1/O2 X
    The first player is to move, with 7 legal moves.
    """
    lines = [game.draw(state).rstrip("\n")]
    if (text := game.position_text(state)) is not None:
        lines.append(f"Position: {text}")
    legal = game.legal_actions(state, past_soft_endings=True)
    outcome, mover = game.outcome(state), SIDES[game.player(state)]
    if outcome is not None:
        result = "a draw" if outcome == 0 else f"the {SIDES[outcome < 0]} player wins"
        lines.append(f"The game is over: {result} ({game.ending(state)}).")
    if legal:
        end = "" if outcome is None else ", if the game went on"
        lines.append(f"The {mover} player is to move, with {len(legal)} legal move{'s' * (len(legal) != 1)}{end}.")
    return "\n".join(lines)


def text_svg(text: str, *, title: str) -> str:
    """Lines of text in a fixed-width font."""
    lines = text.rstrip("\n").expandtabs().split("\n")
    width = 2 * MARGIN + 9.9 * max(map(len, lines))
    body = [
        f'<text class="text" x="{MARGIN:g}" y="{MARGIN + LINE * (row + 0.7):g}" font-family="{FIXED}" font-size="16"'
        f' fill="{INK}" xml:space="preserve">{_text(line)}</text>'
        for row, line in enumerate(lines)
    ]
    return _document(width, 2 * MARGIN + LINE * len(lines), title, body)


def picture_svg(
    picture: Picture,
    *,
    title: str,
    western: bool = False,
    flipped: bool = False,
    last_move: Sequence[int] | None = None,
    won: Sequence[int] = (),
    check: int | None = None,
    has_captions: bool = True,
) -> str:
    """A board with its pieces, labels, last move and captions.

    Args:
        picture: The board and its pieces.
        title: Name of the drawing, for screen readers.
        western: Whether letters replace the characters of shogi.
        flipped: Whether the board is turned by half a turn, as the second player sees it.
        last_move: Cells to mark instead of the picture's own.
        won: Cells of the winning line, which have rings.
        check: The cell of a king in check, which glows.
        has_captions: Whether the lines below the board are drawn.
    """
    board = _Board(picture, is_flipped=flipped, is_western=western)
    marked = picture.last_move if last_move is None else last_move
    body = [*board.definitions(), *board.ground(), *board.marks(marked), *board.glow(check), *board.pieces(marked)]
    body += [*board.rings(won), *board.labels()]
    captions = drawn_captions(picture) if has_captions else []
    bottom = board.bottom + (board.label if any(picture.column_labels) else 0) + (4 if captions else 0)
    for caption in captions:
        bottom += LINE
        body.append(_letters(caption, MARGIN, bottom - 6, size=15, anchor="start", kind="caption"))
    longest = max((len(caption) for caption in captions), default=0)
    width = max(board.right + MARGIN, 2 * MARGIN + 8.8 * longest)
    return _document(width, bottom + MARGIN, title, body)


def is_upright(picture: Picture) -> bool:
    """Whether stones fall in the columns of a board: rows have no labels, and columns are numbered.

    >>> from zerosum.games.rules import make
    >>> [is_upright(make(name).picture(make(name).initial_state())) for name in ("connect4", "gomoku", "nim", "hex")]
    [True, False, False, False]
    """
    columns = picture.column_labels
    numbers = columns == [str(number) for number in range(1, len(columns) + 1)]
    has_glyphs = any(piece is not None and piece[2] for piece in picture.cells)
    rows = len(picture.row_labels)
    return (
        picture.grid == "squares"
        and numbers
        and rows > 1 < len(columns)
        and not any(picture.row_labels)
        and not has_glyphs
    )


def stone_names(picture: Picture) -> tuple[str, str]:
    """The colours of the players' stones as they are drawn."""
    return ("yellow", "red") if is_upright(picture) else ("black", "white")


def drawn_captions(picture: Picture) -> list[str]:
    """The captions of a drawing, in which X's stones are black and O's white."""
    if any(piece is not None and piece[2] for piece in picture.cells):
        return picture.captions
    return [re.sub(r"\b[XO]\b", lambda found: COLOUR_OF[found[0]], line) for line in picture.captions]


def piece_svg(piece: tuple[int, str, str], *, title: str, western: bool = False, flipped: bool = False) -> str:
    """One piece, (owner, text, glyph), as it stands on a board drawn with the same arguments."""
    board = _Board(Picture("squares", [piece], ["a"], [""]), is_flipped=flipped, is_western=western)
    left, top = board.left, MARGIN
    size = f'width="{CELL:g}" height="{CELL:g}" viewBox="{left:g} {top:g} {CELL:g} {CELL:g}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{_text(title)}</title>",
        *board.definitions(),
        *board.pieces([]),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Geometry:
    """The places of the cells of a drawing, in its own units."""

    centres: tuple[tuple[float, float], ...]
    """(x, y) of each cell, row by row from the top left of the picture (which a flipped drawing shows last)."""
    side: float
    """Side of a square cell; the width of a hexagon."""

    @classmethod
    def of(cls, picture: Picture, *, flipped: bool = False) -> Geometry:
        """The geometry of `picture_svg` with the same arguments."""
        board = _Board(picture, is_flipped=flipped)
        num_cells = board.num_columns * board.num_rows
        return cls(tuple((round(x, 2), round(y, 2)) for x, y in map(board.centre, range(num_cells))), CELL)


@functools.cache
def _outlines() -> dict[str, dict[str, Any]]:
    """Paths of men (silhouette and lines) and of characters, by `data/pieces.json`."""
    text = resources.files("zerosum").joinpath("data/pieces.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, Any]] = json.loads(text)
    return found


@dataclass
class _Board:
    """The places of the cells of a picture, and the parts of the drawing."""

    picture: Picture
    is_flipped: bool = False
    is_western: bool = False

    def __post_init__(self) -> None:
        picture = self.picture
        self.num_columns, self.num_rows = len(picture.column_labels), len(picture.row_labels)
        self.is_hexagonal = picture.grid == "hexagons"
        self.is_upright = is_upright(picture)
        self.row_height = CELL * math.sqrt(3) / 2 if self.is_hexagonal else CELL
        slant = (self.num_rows - 1) / 2 if self.is_hexagonal else 0
        width = CELL * (self.num_columns + slant) + 2 * MARGIN + LABEL
        self.letter = max(LETTER, LEAST * width / PHONE)
        self.label = LABEL * self.letter / LETTER
        self.left = MARGIN + (self.label if any(picture.row_labels) else 0)
        self.right = self.left + CELL * (self.num_columns + slant)
        # The lowest hexagons reach below their row.
        self.bottom = MARGIN + self.row_height * self.num_rows + (CELL / math.sqrt(12) if self.is_hexagonal else 0)

    def centre(self, cell: int) -> tuple[float, float]:
        """The centre of a cell, counted row by row from the top left of the picture."""
        return self._place(len(self._cells) - 1 - cell if self.is_flipped else cell)

    def _place(self, place: int) -> tuple[float, float]:
        """The centre of a place of the drawing, counted row by row from its top left."""
        row, column = divmod(place, self.num_columns)
        if self.is_hexagonal:
            return self.left + CELL * (column + (row + 1) / 2), MARGIN + CELL / math.sqrt(3) + self.row_height * row
        return self.left + CELL * (column + 0.5), MARGIN + CELL * (row + 0.5)

    @property
    def _cells(self) -> range:
        return range(self.num_columns * self.num_rows)

    def definitions(self) -> Iterator[str]:
        """Definitions: colours of stones, and the outline of each kind of piece or character on the board."""
        yield "<defs>"
        for side, (shine, body, _) in zip(SIDES, DISCS if self.is_upright else STONES, strict=True):
            yield (
                f'<radialGradient id="{self._stone_of(side)}" cx="0.38" cy="0.32" r="0.75"><stop offset="0"'
                f' stop-color="{shine}"/><stop offset="0.85" stop-color="{body}"/></radialGradient>'
            )
        signs = {_man(piece[2]) or piece[2] for piece in self.picture.cells if piece is not None}
        for sign in sorted(signs):
            if sign in MEN.values():
                silhouette, lines = _outlines()["men"][sign]
                for side, (inside, outline), line in zip(SIDES, PIECES, LINES, strict=True):
                    yield (
                        f'<g id="zerosum-{side}-{sign}" stroke-linejoin="round" stroke-linecap="round"'
                        f' stroke-width="1.5"><path d="{silhouette}" fill="{inside}" stroke="{outline}"/>'
                        f'<path d="{lines}" fill="none" stroke="{line}"/></g>'
                    )
            elif (path := _outlines()["characters"].get(sign)) and not self.is_western:
                yield f'<path id="zerosum-{ord(sign):x}" d="{path}"/>'
        yield "</defs>"

    def _stone_of(self, side: str) -> str:
        """The name of the colours of a side's stones; discs have another one, as a page may draw both."""
        return f"zerosum-disc-{side}" if self.is_upright else f"zerosum-{side}"

    def frame(self) -> Iterator[str]:
        """The frame of an upright board, before the discs: they are seen through its holes."""
        if self.is_upright:
            left, top, right, bottom = self.left, MARGIN, self.right, self.bottom
            radius = CELL * 0.4
            holes = "".join(
                f"M{x - radius:g} {y:g}a{radius:g} {radius:g} 0 1 0 {2 * radius:g} 0"
                f"a{radius:g} {radius:g} 0 1 0 {-2 * radius:g} 0z"
                for x, y in map(self.centre, self._cells)
            )
            yield (
                f'<path class="frame" d="M{left:g} {top:g}H{right:g}V{bottom:g}H{left:g}z{holes}" fill="{FRAME}"'
                f' fill-rule="evenodd" stroke="{FRAME}" stroke-width="6" stroke-linejoin="round"/>'
            )

    def ground(self) -> Iterator[str]:
        """The empty board."""
        if self.is_upright:
            place = f'x="{self.left:g}" y="{MARGIN:g}" width="{self.right - self.left:g}"'
            yield f'<rect class="hole" {place} height="{self.bottom - MARGIN:g}" fill="{HOLE}"/>'
            return
        if self.is_hexagonal:
            if JOINED in self.picture.captions:
                yield from self._joined_edges()
            for cell in self._cells:
                yield f'<path d="{self._hexagon(cell)}" fill="{WOOD}" stroke="{RIM}" stroke-width="1.2"/>'
            return
        width, height = CELL * self.num_columns, CELL * self.num_rows
        # The rim lies around the squares, which would cover its inner half.
        edge = f'stroke="{RIM}" stroke-width="{RIM_WIDTH:g}"'
        place = f'x="{self.left - RIM_WIDTH / 2:g}" y="{MARGIN - RIM_WIDTH / 2:g}"'
        size = f'width="{width + RIM_WIDTH:g}" height="{height + RIM_WIDTH:g}"'
        ground = LIGHT if self.picture.grid == "chequered" else WOOD
        yield f'<rect {place} {size} fill="{ground}" {edge}/>'
        if self.picture.grid == "chequered":
            dark = [cell for cell in self._cells if sum(divmod(cell, self.num_columns)) % 2]
            yield f'<path d="{"".join(map(self._square, dark))}" fill="{DARK}"/>'
        elif self.picture.grid == "points":
            yield self._lines(inset=CELL / 2)
            yield from (_circle(*self.centre(cell), 4, INK) for cell in self._star_points())
        else:
            yield self._lines(inset=0)

    def _joined_edges(self) -> Iterator[str]:
        """The first player's edges, top and bottom, and the second's, left and right; the hexagons cover their half."""
        across, down = range(self.num_columns), range(self.num_rows)

        def edge(places: Iterable[int], *corners: int) -> list[str]:
            return [self._corners(self._place(place))[corner] for place in places for corner in corners]

        left = [self.num_columns * row for row in down]
        edges = (
            (0, edge(across, 3, 4, 5)),
            (0, edge((left[-1] + column for column in across), 2, 1, 0)),
            (1, edge(left, 3, 2, 1)[:-1]),
            (1, edge((place + self.num_columns - 1 for place in left), 4, 5, 0)[1:]),
        )
        for width, colours in ((EDGE + 2, (RIM, RIM)), (EDGE, (STONES[0][1], STONES[1][0]))):
            for owner, corners in edges:
                path = "M" + "L".join(corners)
                yield f'<path d="{path}" fill="none" stroke="{colours[owner]}" stroke-width="{width:g}"/>'

    def _lines(self, *, inset: float) -> str:
        """Lines between squares (inset 0), or through points."""
        left, top, right, bottom = self.left + inset, MARGIN + inset, self.right - inset, self.bottom - inset
        # Between n squares there are n - 1 lines, the edge left out; through n points n.
        count = (self.num_columns, self.num_rows) if inset else (self.num_columns - 1, self.num_rows - 1)
        first = 0 if inset else 1
        upright = "".join(f"M{left + CELL * (i + first):g} {top:g}V{bottom:g}" for i in range(count[0]))
        level = "".join(f"M{left:g} {top + CELL * (i + first):g}H{right:g}" for i in range(count[1]))
        return f'<path d="{upright}{level}" fill="none" stroke="{INK}" stroke-width="1.1"/>'

    def _star_points(self) -> Iterator[int]:
        """The points with dots: corners and centre, and the sides' middles from size 13."""
        side = self.num_columns
        if side != self.num_rows or side % 2 == 0 or side < 7:
            return
        edge, middle = 2 if side < 13 else 3, side // 2
        for row in (edge, middle, side - 1 - edge):
            for column in (edge, middle, side - 1 - edge):
                if side >= 13 or (row == middle) == (column == middle):
                    yield row * side + column

    def marks(self, last_move: Sequence[int]) -> Iterator[str]:
        """The marks of the last move's cells, below the pieces."""
        for cell in () if self._has_ringed_stones else last_move:
            path = self._hexagon(cell) if self.is_hexagonal else self._square(cell)
            yield f'<path d="{path}" fill="{MARK}" fill-opacity="0.55"/>'

    def glow(self, check: int | None) -> Iterator[str]:
        """The glow behind a king in check."""
        if check is not None:
            x, y = self.centre(check)
            yield (
                f'<radialGradient id="zerosum-check"><stop offset="0.25" stop-color="{CHECK}"/><stop offset="1"'
                f' stop-color="{CHECK}" stop-opacity="0"/></radialGradient>'
                f'<circle class="check" cx="{x:g}" cy="{y:g}" r="{CELL * 0.7:g}" fill="url(#zerosum-check)"/>'
            )

    def rings(self, won: Sequence[int]) -> Iterator[str]:
        """Rings on the stones that have won."""
        for cell in won:
            x, y = self.centre(cell)
            yield (
                f'<circle class="won" cx="{x:g}" cy="{y:g}" r="{CELL * 0.25:g}" fill="none" stroke="{WON}"'
                ' stroke-width="5"/>'
            )

    def pieces(self, last_move: Sequence[int]) -> Iterator[str]:
        """The pieces; a stone of the last move has a ring."""
        for cell, piece in enumerate(self.picture.cells):
            if piece is None:
                continue
            x, y = self.centre(cell)
            owner, text, glyph = piece
            if not glyph:
                yield self._stone(owner, x, y)
            elif man := _man(glyph):
                size = CELL * 1.08 / MAN_UNITS
                place = f"translate({x - CELL * 0.54:g} {y - CELL * 0.55:g}) scale({size:g})"
                yield f'<use href="#zerosum-{SIDES[owner]}-{man}" transform="{place}"/>'
            elif _is_ideograph(glyph[-1]):
                is_turned = (owner == 1) != self.is_flipped
                sign = text.removeprefix("+").upper() if self.is_western else glyph
                yield _tile(sign, x, y, is_turned=is_turned, is_promoted=text.startswith("+"))
            else:
                yield _glyph(owner, glyph, x, y)
        yield from self.frame()
        for cell in last_move if self._has_ringed_stones else ():
            piece, (x, y) = self.picture.cells[cell], self.centre(cell)
            colour = INK if piece is None or self.is_upright else STONES[1 - piece[0]][1]
            yield f'<circle class="last" cx="{x:g}" cy="{y:g}" r="9" fill="none" stroke="{colour}" stroke-width="2.5"/>'

    @property
    def _has_ringed_stones(self) -> bool:
        """Whether the last move is a ring on its stone, and not a coloured square."""
        return self.picture.grid == "points" or self.is_upright

    def _stone(self, owner: int, x: float, y: float) -> str:
        fill, edge = f"url(#{self._stone_of(SIDES[owner])})", (DISCS if self.is_upright else STONES)[owner][2]
        return f'<circle cx="{x:g}" cy="{y:g}" r="{CELL * 0.43:g}" fill="{fill}" stroke="{edge}" stroke-width="1"/>'

    def labels(self) -> Iterator[str]:
        """The labels of rows and columns."""
        step = -1 if self.is_flipped else 1
        for row, label in enumerate(self.picture.row_labels[::step]):
            if label:
                x, y = self._place(row * self.num_columns)
                yield _letters(label, x - CELL / 2 - 8, y + self.letter * 0.36, size=self.letter, anchor="end")
        for column, label in enumerate(self.picture.column_labels[::step]):
            if label:
                x, _ = self._place((self.num_rows - 1) * self.num_columns + column)
                y = self.bottom + self.letter + (5 if self.is_hexagonal else 3)
                yield _letters(label, x, y, size=self.letter)

    def _square(self, cell: int) -> str:
        x, y = self.centre(cell)
        return f"M{x - CELL / 2:g} {y - CELL / 2:g}h{CELL:g}v{CELL:g}h{-CELL:g}z"

    def _hexagon(self, cell: int) -> str:
        return "M" + "L".join(self._corners(self.centre(cell))) + "z"

    def _corners(self, centre: tuple[float, float]) -> list[str]:
        """The corners of the hexagon around a centre, clockwise from the lower right."""
        x, y = centre
        radius = CELL / math.sqrt(3)
        angles = [math.radians(60 * corner + 30) for corner in range(6)]
        return [f"{x + radius * math.cos(angle):.1f} {y + radius * math.sin(angle):.1f}" for angle in angles]


def _circle(x: float, y: float, radius: float, fill: str) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}"/>'


def _man(glyph: str) -> str:
    """The letter of a chess piece by its sign of either colour; "" for another glyph."""
    return MEN.get(chr(ord(glyph) + 6) if "♔" <= glyph <= "♙" else glyph, "") if len(glyph) == 1 else ""


def _glyph(owner: int, glyph: str, x: float, y: float) -> str:
    """A sign in its owner's colour."""
    inside, outline = PIECES[owner]
    size = CELL * 0.82 / max(1.0, 0.62 * len(glyph))
    return (
        f'<text x="{x:g}" y="{y + size * 0.36:g}" font-family="{SYMBOLS}" font-size="{size:g}" text-anchor="middle"'
        f' fill="{inside}" stroke="{outline}" stroke-width="1.1" paint-order="stroke">{_text(glyph)}</text>'
    )


def _tile(sign: str, x: float, y: float, *, is_turned: bool, is_promoted: bool) -> str:
    """A wedge that points to the opponent, with its character or letter, red if it is promoted."""
    turn = f' transform="rotate(180 {x:g} {y:g})"' if is_turned else ""
    corners = [(0, -0.44), (0.32, -0.3), (0.39, 0.42), (-0.39, 0.42), (-0.32, -0.3)]
    path = "L".join(f"{x + CELL * right:g} {y + CELL * down:g}" for right, down in corners)
    colour = "#b3261e" if is_promoted else "#1c1712"
    if sign in _outlines()["characters"]:
        scale = CELL * 0.0062
        face = (
            f'<use href="#zerosum-{ord(sign):x}" transform="translate({x:g} {y + 2:g}) scale({scale:g})"'
            f' fill="{colour}"/>'
        )
    else:
        size = CELL * (0.56 if len(sign) == 1 else 0.34)
        fonts = CHARACTERS if _is_ideograph(sign[-1]) else LETTERS
        face = (
            f'<text x="{x:g}" y="{y + size * 0.42:g}" font-family="{fonts}" font-size="{size:g}" font-weight="bold"'
            f' text-anchor="middle" fill="{colour}">{_text(sign)}</text>'
        )
    return f'<g{turn}><path d="M{path}z" fill="#f8e3b4" stroke="{RIM}" stroke-width="1.2"/>{face}</g>'


def _is_ideograph(character: str) -> bool:
    return "\u3040" <= character <= "\u30ff" or "\u3400" <= character <= "\u9fff"


def _letters(
    text: str, x: float, y: float, *, size: float = LETTER, anchor: str = "middle", kind: str = "label"
) -> str:
    place = f'class="{kind}" x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}"'
    return f'<text {place} font-family="{LETTERS}" fill="{INK}" xml:space="preserve">{_text(text)}</text>'


def _text(text: str) -> str:
    """Escaped text. Characters that XML forbids, such as those that colour a terminal, become �."""
    return escape(re.sub(r"[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]", "�", text), quote=False)


def _document(width: float, height: float, title: str, body: list[str]) -> str:
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{_text(title)}</title>",
        f'<rect class="paper" width="100%" height="100%" rx="6" fill="{PAPER}"/>',
        *body,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"
