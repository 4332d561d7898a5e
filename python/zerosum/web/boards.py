"""A position for a page: a drawing, and the cells where each legal move begins and ends.

If the board has labels, a move's text names its cells ("e2e4", "D4", "P*5e", "a1-b2"). Any other move is placed by the
cells that it changes ("4" in a game with columns). All games are clicked in the same way. A game without a picture is
drawn as a board if its text is one, and as text otherwise.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zerosum._core import Picture
from zerosum.games import Rules, State
from zerosum.games.board_in_text import board_picture
from zerosum.games.picture import Geometry, drawn_captions, picture_svg, piece_svg, stone_names, text_svg
from zerosum.games.short_names import short_name
from zerosum.web.decisive_cells import king_in_check, winning_cells

MEN = dict(zip("♔♕♖♗♘♙♚♛♜♝♞♟", 2 * ("king", "queen", "rook", "bishop", "knight", "pawn"), strict=True))
MEN_OF_HANDS = {
    "玉": "king",
    "飛": "rook",
    "角": "bishop",
    "金": "gold",
    "銀": "silver",
    "桂": "knight",
    "香": "lance",
    "歩": "pawn",
    "龍": "dragon",
    "馬": "horse",
    "全": "promoted silver",
    "圭": "promoted knight",
    "杏": "promoted lance",
    "と": "promoted pawn",
}
"""Men of the games whose first player is Black."""


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
        flipped: Whether the board is seen from the second player's side, where players face each other.
        western: Whether letters replace Japanese characters.
    """
    picture, turns = board_picture(game, state), faces_players(game)
    flipped = flipped and turns
    title = f"{short_name(game)}, {'game over' if game.outcome(state) is not None else 'to be played'}"
    if picture is None:
        return {
            "svg": text_svg(game.draw(state), title=title),
            "cells": [],
            "side": 0,
            "hands": [],
            "captions": [],
            "flipped": False,
        }
    marked: Sequence[int] | None = None
    if last is not None and not picture.last_move:
        marked = move_cells(game, last[0], last[1])
    won, check = winning_cells(game, state, picture), king_in_check(game, state, picture)
    drawn = picture_svg(
        picture,
        title=title,
        western=western,
        flipped=flipped,
        last_move=marked,
        won=won,
        check=check,
        has_captions=False,
    )
    geometry = Geometry.of(picture, flipped=flipped)
    names, stones = _cell_names(picture), stone_names(picture)
    cells = [
        [x, y, names[cell], _piece_name(piece, stones)]
        for cell, ((x, y), piece) in enumerate(zip(geometry.centres, picture.cells, strict=True))
    ]
    hands, captions = _hands(drawn_captions(picture))
    _draw_hands(game, hands, western=western, flipped=flipped)
    return {
        "svg": drawn,
        "cells": cells,
        "side": geometry.side,
        "hands": hands,
        "captions": captions,
        "columns": len(picture.column_labels),
        "grid": picture.grid,
        "flipped": flipped,
        "turns": turns,
        "western": western,
        "won": won,
        "check": check,
    }


@functools.lru_cache(maxsize=64)
def faces_players(game: Rules) -> bool:
    """Whether the players face each other over the board, which is turned for the second one.

    The initial position says so, also that of an own game: all pieces of the first player are below those of the
    second.

    >>> from zerosum.games import make
    >>> [name for name in ("chess", "shogi", "breakthrough", "go9", "othello", "connect4") if faces_players(make(name))]
    ['chess', 'shogi', 'breakthrough']
    """
    picture = board_picture(game, game.initial_state())
    if picture is None:
        return False
    width = len(picture.column_labels)
    rows: tuple[list[int], list[int]] = ([], [])
    for cell, piece in enumerate(picture.cells):
        if piece is not None:
            rows[piece[0]].append(cell // width)
    return all(rows) and min(rows[0]) > max(rows[1])


def page_notation(game: Rules) -> str | None:
    """The notation of moves on pages: SAN for chess; None is the game's own."""
    return "san" if "san" in game.notations else None


def move_cells(game: Rules, state: State, action: int) -> list[int]:
    """The cells of a move, for arrows and marks; empty for a move without cells."""
    move = place_moves(game, state, [action])[0]
    targets = move.targets
    if len(targets) > 1:  # a column: the cell that it fills
        targets = tuple(_changed(game, state, action))[:1]
    return [*([move.source] if isinstance(move.source, int) else []), *targets]


def place_moves(game: Rules, state: State, actions: Sequence[int]) -> list[PlacedMove]:
    """Legal actions with their cells."""
    picture = board_picture(game, state)
    if picture is None:
        return [PlacedMove(action, text := game.action_text(state, action), None, (), text) for action in actions]
    names = {name.casefold(): cell for cell, name in enumerate(_cell_names(picture)) if name}
    words = _cell_pattern(tuple(names))
    return [_place(game, state, action, picture, names, words) for action in actions]


def choices(
    game: Rules, state: State, moves: Sequence[PlacedMove], *, flipped: bool = False, western: bool = False
) -> dict[int, str]:
    """Drawings of the pieces that stand on the target afterwards, for moves between the same cells, such as promotions.

    Returns:
        Drawings by actions; only moves that cannot be told apart by their cells have one.
    """
    groups: dict[tuple[int | str | None, tuple[int, ...]], list[PlacedMove]] = {}
    for move in moves:
        groups.setdefault((move.source, move.targets), []).append(move)
    found = {}
    for (_, targets), group in groups.items():
        for move in group if len(group) > 1 and len(targets) == 1 else ():
            after = board_picture(game, game.play(state, move.action))
            if after is not None and (piece := after.cells[targets[0]]) is not None:
                is_turned = flipped and faces_players(game)
                found[move.action] = piece_svg(piece, title=_piece_name(piece), western=western, flipped=is_turned)
    return found


def _place(
    game: Rules,
    state: State,
    action: int,
    picture: Picture,
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
    before, after = board_picture(game, state), board_picture(game, game.play(state, action))
    if before is None or after is None:
        return []
    pairs = zip(before.cells, after.cells, strict=True)
    return [cell for cell, (old, new) in enumerate(pairs) if old != new]


def _cell_names(picture: Picture) -> list[str]:
    """The names of cells, column and row; "" if rows have no labels."""
    return [column + row if row else "" for row in picture.row_labels for column in picture.column_labels]


@functools.lru_cache(maxsize=64)
def _cell_pattern(names: tuple[str, ...]) -> re.Pattern[str] | None:
    """A pattern of the names of cells, the longer ones first: a10 is not a1."""
    ordered = sorted(names, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, ordered)), re.IGNORECASE) if ordered else None


def _piece_name(piece: tuple[int, str, str] | None, stones: tuple[str, str] = ("first", "second")) -> str:
    if piece is None:
        return ""
    owner, text, glyph = piece
    if not glyph and text.upper() in ("X", "O", ""):
        return f"{stones[owner]} stone"
    if glyph in MEN:
        return f"{('white', 'black')[owner]} {MEN[glyph]}"
    if glyph in MEN_OF_HANDS:
        return f"{('black', 'white')[owner]} {MEN_OF_HANDS[glyph]}"
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


def _draw_hands(game: Rules, hands: list[dict[str, Any]], *, western: bool, flipped: bool) -> None:
    """Add to each piece in hand its drawing, as it is on the board, and its name."""
    if any(hand["pieces"] for hand in hands):
        glyphs = _glyphs(game)
        for hand in hands:
            for piece in hand["pieces"]:
                sign, owner = piece[0], hand["player"]
                glyph = glyphs.get(sign, sign)
                piece.append(_piece_in_hand(owner, sign, glyph, western, flipped))
                piece.append(MEN_OF_HANDS.get(glyph, sign))


@functools.lru_cache(maxsize=256)
def _piece_in_hand(owner: int, sign: str, glyph: str, western: bool, flipped: bool) -> str:
    return piece_svg((owner, sign, glyph), title=sign, western=western, flipped=flipped)


@functools.lru_cache(maxsize=64)
def _glyphs(game: Rules) -> dict[str, str]:
    """The glyph of each piece by its letter, from the initial position, where every kind of piece is."""
    picture = board_picture(game, game.initial_state())
    return {} if picture is None else {piece[1].upper(): piece[2] for piece in picture.cells if piece is not None}
