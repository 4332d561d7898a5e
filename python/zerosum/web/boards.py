"""A position for a page: a drawing, and the cells where each legal move begins and ends.

If the board has labels, a move's text names its cells ("e2e4", "D4", "P*5e", "a1-b2"). Any other move is placed by the
cells that it changes ("4" in a game with columns). All games are clicked in the same way. A game without a picture is
drawn as a board if its text is one, and as text otherwise.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from zerosum._core import Picture
from zerosum.games import Rules, State
from zerosum.games.picture import Geometry, picture_svg, text_svg

EMPTY = frozenset(".-_·+ ")
"""Signs of an empty cell in a board of text."""
MEN_OF = {sign: int(index >= 6) for index, sign in enumerate("♔♕♖♗♘♙♚♛♜♝♞♟")}
"""Owner of a chess piece in a board of text."""
STONES = {"X": 0, "O": 1, "x": 0, "o": 1, "●": 0, "○": 1}
"""Owner of a stone if no plane tells it."""
WALKED_PLIES = 12
"""Plies of a game that are played to find the owners of signs."""
MEN = {"k": "king", "q": "queen", "r": "rook", "b": "bishop", "n": "knight", "p": "pawn"}


@dataclass(frozen=True)
class Drawing:
    """The attributes of `Picture` for a game without one."""

    grid: str
    cells: list[tuple[int, str, str] | None]
    column_labels: list[str]
    row_labels: list[str]
    last_move: list[int] = field(default_factory=list)
    captions: list[str] = field(default_factory=list)


AnyPicture = Picture | Drawing


@dataclass(frozen=True)
class PlacedMove:
    """A legal action and its place."""

    action: int
    text: str
    source: int | str | None
    """The cell where it begins, the sign of a piece in hand, or None for a move with only a target."""
    targets: tuple[int, ...]
    """The cells to click; several for a whole column, none for a move like a pass."""
    rest: str
    """The rest of the text besides the cells: a promotion's piece, "+"; usually ""."""

    def json(self) -> list[Any]:
        """The move as JSON for the page."""
        return [self.action, self.text, self.source, list(self.targets), self.rest]


def picture_of(game: Rules, state: State) -> AnyPicture | None:
    """The board of a position; None if the game has only text that is not a board."""
    return game.picture(state) or _board_in_text(game, state)


def draw_board(
    game: Rules,
    state: State,
    *,
    last: tuple[State, int] | None = None,
    flipped: bool = False,
    western: bool = False,
) -> dict[str, Any]:
    """The drawing of a position, the names of its cells and the pieces in hand, as JSON.

    Args:
        game: The rules.
        state: The position.
        last: The position before and the action that led here, to be marked.
        flipped: Whether the board is seen from the second player's side.
        western: Whether letters replace Japanese characters.
    """
    picture = picture_of(game, state)
    title = f"{game.spec.full_name}, {'game over' if game.outcome(state) is not None else 'to be played'}"
    if picture is None:
        return {"svg": text_svg(game.draw(state), title=title), "cells": [], "side": 0, "hands": [], "captions": []}
    marked: Sequence[int] | None = None
    if last is not None and not picture.last_move:
        marked = move_cells(game, last[0], last[1])
    drawn = picture_svg(
        picture,  # type: ignore[arg-type]  # a Drawing has the attributes used here
        title=title,
        western=western,
        flipped=flipped,
        last_move=marked,
        has_captions=False,
    )
    geometry = Geometry.of(picture, flipped=flipped)  # type: ignore[arg-type]
    names = _cell_names(picture)
    cells = [
        [x, y, names[cell], _piece_name(piece)]
        for cell, ((x, y), piece) in enumerate(zip(geometry.centres, picture.cells, strict=True))
    ]
    hands, captions = _hands(picture.captions)
    return {
        "svg": drawn,
        "cells": cells,
        "side": geometry.side,
        "hands": hands,
        "captions": captions,
        "columns": len(picture.column_labels),
        "grid": picture.grid,
        "flipped": flipped,
    }


def move_cells(game: Rules, state: State, action: int) -> list[int]:
    """The cells of a move, for arrows and marks; empty for a move without cells."""
    move = place_moves(game, state, [action])[0]
    targets = move.targets
    if len(targets) > 1:  # a column: the cell that it fills
        targets = tuple(_changed(game, state, action))[:1]
    return [*([move.source] if isinstance(move.source, int) else []), *targets]


def place_moves(game: Rules, state: State, actions: Sequence[int]) -> list[PlacedMove]:
    """Legal actions with their cells."""
    picture = picture_of(game, state)
    if picture is None:
        return [PlacedMove(action, text := game.action_text(state, action), None, (), text) for action in actions]
    names = {name.casefold(): cell for cell, name in enumerate(_cell_names(picture)) if name}
    words = _cell_pattern(tuple(names))
    return [_place(game, state, action, picture, names, words) for action in actions]


def _place(
    game: Rules,
    state: State,
    action: int,
    picture: AnyPicture,
    names: dict[str, int],
    words: re.Pattern[str] | None,
) -> PlacedMove:
    text = game.action_text(state, action)
    folded = text.casefold()
    found = [names[word] for word in words.findall(folded)] if words else []
    if found:
        assert words is not None
        rest = words.sub("", text).strip("-x:*")
        if "*" in text:
            return PlacedMove(action, text, text.partition("*")[0], (found[-1],), "")
        return PlacedMove(action, text, found[0] if len(found) > 1 else None, (found[-1],), rest)
    columns = [label.casefold() for label in picture.column_labels]
    if not any(picture.row_labels) and folded in columns:
        column, width = columns.index(folded), len(columns)
        return PlacedMove(action, text, None, tuple(range(column, len(picture.cells), width)), "")
    changed = _changed(game, state, action)
    return PlacedMove(action, text, None, tuple(changed[:1]), "" if changed else text)


def _changed(game: Rules, state: State, action: int) -> list[int]:
    """The cells that a move changes, from the top left."""
    before, after = picture_of(game, state), picture_of(game, game.play(state, action))
    if before is None or after is None:
        return []
    pairs = zip(before.cells, after.cells, strict=True)
    return [cell for cell, (old, new) in enumerate(pairs) if old != new]


def _cell_names(picture: AnyPicture) -> list[str]:
    """The names of cells, column and row; "" if rows have no labels."""
    return [column + row if row else "" for row in picture.row_labels for column in picture.column_labels]


@functools.lru_cache(maxsize=64)
def _cell_pattern(names: tuple[str, ...]) -> re.Pattern[str] | None:
    """A pattern of the names of cells, the longer ones first: a10 is not a1."""
    ordered = sorted(names, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, ordered)), re.IGNORECASE) if ordered else None


def _piece_name(piece: tuple[int, str, str] | None) -> str:
    if piece is None:
        return ""
    owner, text, glyph = piece
    if glyph and "♔" <= glyph <= "♟":
        return f"{('white', 'black')[owner]} {MEN.get(text.lower(), text)}"
    if glyph:
        return f"{('first', 'second')[owner]} {text}"
    return f"{('first', 'second')[owner]} {text}"


def _hands(captions: Sequence[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Pieces in hand from lines like "Black holds 2P", and the other lines."""
    hands, others = [], []
    for line in captions:
        if found := re.fullmatch(r"(\w+) holds (.*)", line):
            pieces = re.findall(r"(\d*)([A-Za-z])", "" if found[2] == "nothing" else found[2])
            # The lines go from the top of the board, so the second player's hand comes first.
            hands.append({"name": found[1], "pieces": [[sign.upper(), int(number or 1)] for number, sign in pieces]})
        elif not line.endswith("to move"):
            others.append(line)
    for player, hand in zip((1, 0), hands, strict=False):
        hand["player"] = player
    return hands, others


# ---- a board in text


def _board_in_text(game: Rules, state: State) -> Drawing | None:
    """The drawing of a game that writes its board as rows of signs, with or without labels; None for other texts."""
    height, width = game.spec.board_shape
    found = _rows_in_text(game, state, height, width)
    if found is None:
        return None
    rows, columns = found
    owners = _owners(game)
    cells: list[tuple[int, str, str] | None] = []
    for _, signs in rows:
        for sign in signs:
            owner = owners.get(sign, STONES.get(sign))
            glyph = sign if owner is None or sign in MEN_OF else ""
            cells.append(None if sign in EMPTY else (MEN_OF.get(sign, owner or 0), sign, glyph))
    labels = columns or ["abcdefghijklmnopqrstuvwxyz"[column % 26] for column in range(width)]
    return Drawing("squares", cells, labels, [label for label, _ in rows])


def _rows_in_text(
    game: Rules, state: State, height: int, width: int
) -> tuple[list[tuple[str, list[str]]], list[str]] | None:
    """(label, signs) of each row, and the labels of the columns below them."""
    rows: list[tuple[str, list[str]]] = []
    columns: list[str] = []
    for line in game.draw(state).splitlines():
        signs = line.split()
        if len(signs) == width + 1 and len(rows) < height:
            rows.append((signs[0], signs[1:]))
        elif len(signs) == width and len(rows) < height:
            rows.append(("", signs))
        elif len(signs) == 1 and len(signs[0]) == width and len(rows) < height and width > 1:
            rows.append(("", list(signs[0])))
        elif len(signs) == width and len(rows) == height:
            columns = signs
    if len(rows) != height or height * width < 2 or any(len(sign) > 2 for _, signs in rows for sign in signs):
        return None
    return rows, columns


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
    return owners
