"""The picture of a position of any game: the game's own, or one that is read from a board written as text.

A game of one's own needs no picture if its `draw` writes rows of signs in the size of `board_shape`, with or without
labels, and with or without lines between the squares:

    3 . X .        3 | . | X | . |          | |X| |
    2 . . .          +---+---+---+          -+-+-
    1 O . .        2 | . | . | . |          ...
      a b c

Other lines are captions of the drawing.
"""

from __future__ import annotations

import functools

from zerosum._core import Picture
from zerosum.games.rules import Rules, State

EMPTY = frozenset(".-_·+ ")
"""Signs of an empty cell in a board of text."""
MEN_OF = {sign: int(index >= 6) for index, sign in enumerate("♔♕♖♗♘♙♚♛♜♝♞♟")}
"""Owner of a chess piece in a board of text."""
STONES = {"X": 0, "O": 1, "x": 0, "o": 1, "●": 0, "○": 1}
"""Owner of a stone if no plane tells it."""
COLOURS = {"b": 0, "w": 1}
"""Owner of a stone on a board that begins with no other signs."""
BARS = "|│┃║"
"""Signs between the squares of a row."""
RULES = frozenset("+-=─━═┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬┏┓┗┛┣┫┳┻╋" + BARS)
"""Signs of a line between two rows."""
MOST_CAPTIONS = 6
"""Lines of text beside the board that are drawn; each is cut at `LONGEST_CAPTION` characters."""
LONGEST_CAPTION = 100
WALKED_PLIES = 12
"""Plies of a game that are played to find the owners of signs."""


def board_picture(game: Rules, state: State) -> Picture | None:
    """The board of a position; None if the game has no picture and its text is not a board."""
    return game.picture(state) or _board_in_text(game, state)


def _board_in_text(game: Rules, state: State) -> Picture | None:
    """The drawing of a game that writes its board as rows of signs, with or without labels; None for other texts."""
    height, width = game.spec.board_shape
    found = _rows_in_text(game, state, height, width)
    if found is None or not _begins_as_board(game):
        return None
    rows, columns, captions = found
    owners = _owners(game)
    cells: list[tuple[int, str, str] | None] = []
    for _, signs in rows:
        for sign in signs:
            owner = owners.get(sign, STONES.get(sign))
            glyph = sign if owner is None or sign in MEN_OF else ""
            cells.append(None if sign in EMPTY else (MEN_OF.get(sign, owner or 0), sign, glyph))
    labels = columns or ["abcdefghijklmnopqrstuvwxyz"[column % 26] for column in range(width)]
    return Picture("squares", cells, labels, [label for label, _ in rows], captions=captions)


@functools.lru_cache(maxsize=32)
def _begins_as_board(game: Rules) -> bool:
    """Whether the initial position is a board, without which later ones are drawn as text as well."""
    height, width = game.spec.board_shape
    return _rows_in_text(game, game.initial_state(), height, width) is not None


def _rows_in_text(
    game: Rules, state: State, height: int, width: int
) -> tuple[list[tuple[str, list[str]]], list[str], list[str]] | None:
    """(label, signs) of each row, the labels of the columns, and the other lines."""
    rows: list[tuple[str, list[str]]] = []
    columns: list[str] = []
    captions: list[str] = []
    for line in game.draw(state).splitlines():
        row = _barred_row(line, width) or _row_in_text(line.split(), width)
        if row is not None and _are_labels(row[1]):
            columns = row[1]
        elif _is_rule(line, width):
            continue
        elif row is not None and len(rows) < height:
            rows.append(row)
        elif line.strip():
            captions.append(" ".join(line.split())[:LONGEST_CAPTION])
    if len(rows) != height or height * width < 2:
        return None
    return rows, columns, captions[:MOST_CAPTIONS]


def _is_rule(line: str, width: int) -> bool:
    """Whether this is a line between two rows: of signs of lines, and not a row of empty squares, which has one sign.

    >>> [_is_rule(line, 3) for line in ("+---+---+---+", "-+-+-", "-----------", "- - -", "---", "| | | |")]
    [True, True, True, False, False, False]
    """
    signs = line.split()
    is_row = len(set("".join(signs))) == 1 and len("".join(signs)) == width
    return bool(signs) and not is_row and set("".join(signs)) <= RULES and not set("".join(signs)) <= set(BARS)


def _barred_row(line: str, width: int) -> tuple[str, list[str]] | None:
    """(label, signs) of a row whose squares have bars between them or around them; None for any other line.

    >>> _barred_row("3 | X |   | O | 3", 3), _barred_row("X| |O", 3), _barred_row("2 |X.O|", 3)
    (('3', ['X', '.', 'O']), ('', ['X', '.', 'O']), ('2', ['X', '.', 'O']))
    """
    parts = [part.strip() for part in "".join("|" if sign in BARS else sign for sign in line).split("|")]
    if len(parts) < 2:
        return None
    if len(parts) == 3 and width > 1 and (row := _row_in_text(parts[1].split(), width)) is not None:
        return parts[0] or row[0], row[1]  # with bars around the row alone
    label = ""
    if len(parts) > width:  # what stands before the first bar and after the last one
        label, parts = parts[0], parts[1 : width + 1]
    if len(parts) != width or any(len(part) > 2 for part in parts):
        return None
    return label, [part or "." for part in parts]


def _row_in_text(words: list[str], width: int) -> tuple[str, list[str]] | None:
    """(label, signs) of a line; None if it is no row. "5 . . X 5", "5 ..X", "5..X" and "..X" are rows of three."""
    label = ""
    if len(words) in (2, width + 1, width + 2) and len(words) != width:
        label, words = words[0], words[1 : width + 1]
    if len(words) == 1 and width > 1:
        signs = list(words[0])
        if len(signs) == width + 1 and signs[0].isdigit():
            label, signs = signs[0], signs[1:]
        words = signs
    return (label, words) if len(words) == width and all(len(sign) <= 2 for sign in words) else None


def _are_labels(words: list[str]) -> bool:
    """Whether these are names of columns: letters or numbers in order."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    lower = "".join(words).lower()
    if len(words) > 1 and lower in (letters[: len(words)], letters.replace("i", "")[: len(words)]):
        return True
    return len(words) > 1 and words in ([str(number + first) for number in range(len(words))] for first in (0, 1))


@functools.lru_cache(maxsize=32)
def _owners(game: Rules) -> dict[str, int]:
    """The owners of signs, by planes named "own …" or "opponent's …" in positions with the first player to move."""
    owners: dict[str, int] = {}
    state, (height, width) = game.initial_state(), game.spec.board_shape
    for _ in range(WALKED_PLIES):
        rows = _rows_in_text(game, state, height, width)
        if rows is not None and game.player(state) == 0:
            signs = [sign for _, row in rows[0] for sign in row]
            for plane, spec in zip(game.planes(state).reshape(-1, len(signs)) > 0.5, game.spec.planes, strict=True):
                here = {sign for sign, bit in zip(signs, plane, strict=True) if bit}
                if len(here) == 1 and plane.sum() == signs.count(sign := here.pop()) and sign not in EMPTY:
                    side = {"own": 0, "opponent's": 1, "opponent": 1, "opponents'": 1}.get(spec.name.split()[0])
                    if side is not None:
                        owners.setdefault(sign, side)
        if not (legal := game.legal_actions(state)):
            break
        state = game.play(state, legal[len(legal) // 2])
    rows = _rows_in_text(game, game.initial_state(), height, width)
    pieces = set() if rows is None else {sign for _, row in rows[0] for sign in row} - EMPTY
    return {**COLOURS, **owners} if pieces and pieces <= set(COLOURS) else owners
