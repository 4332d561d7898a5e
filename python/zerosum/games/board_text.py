"""The board for a terminal: the last move marked, in colours, from either side.

`board_text` draws the game's `Picture` like `Game.draw`; for a game without a picture it returns the text of
`Game.draw`.
"""

from __future__ import annotations

from itertools import pairwise

from zerosum._core import Picture
from zerosum.games.rules import Rules, State

OWNERS = ("\x1b[1;36m", "\x1b[1;33m")
"""Colours of the first player's pieces and of the second's: SGR 36 is cyan, 33 yellow, 1 bold."""
MARKED = "\x1b[7m"
"""Inverse, on any background."""
PLAIN = "\x1b[0m"
GO_SIDES = {"X": "Black", "O": "White"}
"""The words of people for the letters of a board of Go."""


def board_text(
    game: Rules, state: State, *, before: State | None = None, is_flipped: bool = False, has_colours: bool = False
) -> str:
    """The board as lines of text.

    >>> from zerosum.games import make, state_after
    >>> game = make("tictactoe")
    >>> start, state = state_after(game, "b2"), state_after(game, "b2 a1")
    >>> print(board_text(game, state, before=start, is_flipped=True))
    1  . .[O]
    2  . X .
    3  . . .
       c b a

    Args:
        game: The game.
        state: The position.
        before: The position before the last move, which is marked; None for no mark.
        is_flipped: Whether the board is seen from the other side. A game without a picture is not turned.
        has_colours: Whether escape sequences mark sides and the last move, instead of brackets.
    """
    picture = game.picture(state)
    if picture is None:
        return game.draw(state).rstrip("\n")
    marked = set() if before is None else set(last_move(game, before, state))
    return "\n".join([*_rows(picture, marked, is_flipped, has_colours), *picture.captions])


def side_to_move(game: Rules, state: State) -> str:
    """The player to move in the word of the game's board ("White"); "" for a game without such words.

    >>> from zerosum.games.rules import make
    >>> [side_to_move(game, game.initial_state()) for game in map(make, ("chess", "go9", "connect4"))]
    ['White', 'Black', '']
    """
    picture = game.picture(state)
    captions = picture.captions if picture is not None else []
    named = [caption.removesuffix(" to move") for caption in captions if caption.endswith(" to move")]
    name = named[0] if named and len(named[0].split()) == 1 else ""
    return GO_SIDES.get(name, name) if game.spec.name == "go" else name


def last_move(game: Rules, before: State, state: State) -> list[int]:
    """The cells of the picture that the move between two positions marks; none if the game has no picture.

    If the game does not remember its last move, these are the cells that were filled or emptied, or else those that
    changed sides.
    """
    pictures = game.picture(before), game.picture(state)
    if pictures[0] is None or pictures[1] is None:
        return []
    if pictures[1].last_move:
        return pictures[1].last_move
    cells = list(enumerate(zip(pictures[0].cells, pictures[1].cells, strict=True)))
    filled = [cell for cell, (old, new) in cells if (old is None) != (new is None)]
    turned = [cell for cell, (old, new) in cells if old is not None and new is not None and old[0] != new[0]]
    # A capture empties one cell and turns another; a placement may turn many that are not the move.
    is_move = any(old is not None and new is None for _, (old, new) in cells)
    return filled + turned if is_move or not filled else filled


def _rows(picture: Picture, marked: set[int], is_flipped: bool, has_colours: bool) -> list[str]:
    num_columns = len(picture.column_labels)
    columns = range(num_columns)[:: -1 if is_flipped else 1]
    rows = range(len(picture.row_labels))[:: -1 if is_flipped else 1]
    width = max(map(len, picture.row_labels))
    size = max((len(piece[1]) for piece in picture.cells if piece is not None), default=1)
    is_slanted = picture.grid == "hexagons"
    lines = []
    for index, row in enumerate(rows):
        cells = [row * num_columns + column for column in columns]
        label = f"{picture.row_labels[row]:>{width}} " if width else ""
        lines.append(" " * (index * is_slanted) + label + _row(picture, cells, size, marked, has_colours))
    labels = "".join(f" {picture.column_labels[column]:>{size}}" for column in columns)
    lines.append(" " * (len(rows) * is_slanted + width + bool(width)) + labels)
    return lines


def _row(picture: Picture, cells: list[int], size: int, marked: set[int], has_colours: bool) -> str:
    """The pieces on cells, aligned right in `size` characters, each after a blank or a bracket."""
    parts = []
    for before, cell in pairwise([-1, *cells]):
        piece = picture.cells[cell]
        text = f"{'.' if piece is None else piece[1]:>{size}}"
        if has_colours:
            style = "" if piece is None else OWNERS[piece[0]]
            style += MARKED if cell in marked else ""
            parts.append(f" {style}{text}{PLAIN}" if style else f" {text}")
        else:
            bracket = "[" if cell in marked and before not in marked else "]" if before in marked else " "
            parts.append(bracket + text)
    end = "]" if cells[-1] in marked and not has_colours else ""
    return "".join(parts) + end
