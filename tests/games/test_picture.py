"""Drawings: well-formed, complete, the same every time, and of every kind of board."""

from __future__ import annotations

import random
import re
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from games_for_tests import DoubleMove
from zerosum import _core
from zerosum.games import Rules, adopt, make, state_after
from zerosum.games.picture import DISCS, FRAME, Geometry, describe_position, picture_svg, svg, text_svg

SVG = "{http://www.w3.org/2000/svg}"


def parsed(text: str) -> ElementTree.Element:
    """Well-formed, and every mark within the picture."""
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert root.attrib["viewBox"] == f"0 0 {width:g} {height:g}"
    defined = {id(one) for definitions in root.iter(f"{SVG}defs") for one in definitions.iter()}
    for element in root.iter():
        if id(element) in defined:
            continue  # in units of their own
        for name, most in (("cx", width), ("x", width), ("cy", height), ("y", height)):
            assert 0 <= float(element.attrib.get(name, 0)) <= most, ElementTree.tostring(element)
        for x, y in re.findall(r"[ML]([-0-9.]+) ([-0-9.]+)", element.attrib.get("d", "")):
            assert 0 <= float(x) <= width and 0 <= float(y) <= height
    assert "http" not in text.replace("http://www.w3.org/2000/svg", ""), "nothing is fetched"
    return root


def stones(root: ElementTree.Element) -> dict[str, int]:
    fills = [element.attrib.get("fill", "") for element in root.iter(f"{SVG}circle")]
    kinds = ("zerosum", "zerosum-disc")
    return {side: sum(fills.count(f"url(#{kind}-{side})") for kind in kinds) for side in ("first", "second")}


def words(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def board(grid: str, pieces: dict[int, tuple[int, str, str]], *, size: int = 3, **changes: Any) -> Any:
    """A picture as the core gives it."""
    values = {
        "grid": grid,
        "cells": [pieces.get(cell) for cell in range(size * size)],
        "column_labels": list("abcdefghijklmnopqrstuvwxyz"[:size]),
        "row_labels": [str(size - row) for row in range(size)],
        "last_move": [],
        "captions": [],
    }
    return SimpleNamespace(**(values | changes))


def test_stones_are_where_the_game_says() -> None:
    game = make("connect4")
    text = svg(game, state_after(game, "4 4 1"))
    root = parsed(text)
    assert text == svg(game, state_after(game, "4 4 1"))
    assert stones(root) == {"first": 2, "second": 1}
    assert words(root) == list("1234567")
    first, second = (
        {
            (float(circle.attrib["cx"]), float(circle.attrib["cy"]))
            for circle in root.iter(f"{SVG}circle")
            if circle.attrib["fill"].endswith(f"{side})")
        }
        for side in ("first", "second")
    )
    ((left, low), (middle, _)), ((above, high),) = sorted(first), sorted(second)
    assert above == middle == left + 3 * 48 and high == low - 48
    colours = {
        gradient.attrib["id"]: [stop.attrib["stop-color"] for stop in gradient]
        for gradient in root.iter(f"{SVG}radialGradient")
    }
    assert colours == {"zerosum-disc-first": list(DISCS[0][:2]), "zerosum-disc-second": list(DISCS[1][:2])}
    [frame] = [path for path in root.iter(f"{SVG}path") if path.attrib.get("class") == "frame"]
    assert frame.attrib["fill"] == FRAME and frame.attrib["d"].count("M") == 1 + 42, "a hole for each square"


@pytest.mark.parametrize("name", _core.core_game_names())
def test_every_game_is_drawn_and_described(name: str) -> None:
    game = make(name)
    state = game.initial_state()
    for _ in range(6):
        parsed(svg(game, state))
        assert game.draw(state).rstrip("\n") in describe_position(game, state)
        legal = game.legal_actions(state)
        state = game.play(state, legal[len(legal) // 2]) if legal else state


@pytest.mark.parametrize("grid", ["chequered", "squares", "points", "hexagons"])
@pytest.mark.parametrize("size", [1, 2, 5, 9, 19, 25])
def test_every_kind_and_size_of_board(grid: str, size: int) -> None:
    pieces = {0: (0, "X", ""), size * size - 1: (1, "O", "")}
    picture = board(grid, pieces, size=size, last_move=[size * size - 1])
    root = parsed(picture_svg(picture, title="a game"))
    assert sum(stones(root).values()) == len(pieces)
    assert sorted(words(root)) == sorted(picture.column_labels + picture.row_labels)
    dots = [circle for circle in root.iter(f"{SVG}circle") if circle.attrib["r"] == "4"]
    assert len(dots) == (0 if grid != "points" else {9: 5, 19: 9, 25: 9}.get(size, 0))


def test_the_last_move_is_marked() -> None:
    for grid in ("chequered", "squares", "points", "hexagons"):
        plain, marked = (picture_svg(board(grid, {4: (0, "X", "")}, last_move=last), title="") for last in ([], [4]))
        added = set(marked.splitlines()) - set(plain.splitlines())
        assert len(added) == 1 and set(plain.splitlines()) < set(marked.splitlines())


def test_men_take_their_owners_colour_and_tiles_point_forward() -> None:
    """An outlined king is the same man as a solid one, and no picture of an emoji."""
    white = picture_svg(board("chequered", {0: (0, "K", "♔")}), title="")
    also_white = picture_svg(board("chequered", {0: (0, "K", "♚")}), title="")
    black = picture_svg(board("chequered", {0: (1, "k", "♔")}), title="")
    assert white == also_white != black and "zerosum-first-k" in white and not words(parsed(white))[6:]
    tiles = {owner: picture_svg(board("squares", {0: (owner, "P", "歩")}), title="") for owner in (0, 1)}
    assert "rotate(180" in tiles[1] and "rotate" not in tiles[0]
    promoted = picture_svg(board("squares", {0: (0, "+P", "と")}), title="")
    assert "#b3261e" in promoted and "#b3261e" not in tiles[0]


def test_text_is_escaped() -> None:
    caption = "<script>alert('1')</script> & \x1b[31m\ud800"
    root = parsed(picture_svg(board("squares", {0: (0, "<", "<&>")}, captions=[caption]), title="a<b"))
    assert "<script>alert('1')</script> & �[31m�" in words(root)
    assert root[0].text == "a<b"
    assert words(parsed(text_svg("a < b\n\n  & c\n", title=""))) == ["a < b", "", "  & c"]


def test_a_game_without_a_board_is_its_text() -> None:
    game = adopt(DoubleMove())
    assert words(parsed(svg(game, game.initial_state()))) == ["0 of 12, player 0 to move"]


def test_a_game_that_is_over_is_described() -> None:
    game = make("tictactoe(max_plies=2)")
    described = describe_position(game, state_after(game, "a1 b1")).splitlines()
    assert described[-2:] == [
        "The game is over: a draw (ply cap).",
        "The first player is to move, with 7 legal moves, if the game went on.",
    ]


@pytest.mark.parametrize("name", ["chess", "minichess", "shogi", "minishogi"])
def test_no_piece_needs_a_font(name: str) -> None:
    """Random games show every kind of piece, promoted ones too: the only letters are labels and captions."""
    game, generator = make(name), random.Random(0)
    seen: set[str] = set()
    for _ in range(12):
        state = game.initial_state()
        while legal := game.legal_actions(state):
            state = game.play(state, generator.choice(legal))
            picture = game.picture(state)
            assert picture is not None
            glyphs = {piece[2] for piece in picture.cells if piece is not None}
            if not glyphs <= seen:
                seen |= glyphs
                known = {*picture.column_labels, *picture.row_labels, *picture.captions}
                assert set(words(parsed(svg(game, state)))) <= known
    assert len(seen) >= 10


def test_letters_instead_of_characters() -> None:
    picture = board("squares", {0: (0, "P", "歩"), 1: (1, "+r", "龍")})
    assert {"P", "R"} <= set(words(parsed(picture_svg(picture, title="", western=True))))


@pytest.mark.parametrize("grid", ["chequered", "squares", "points", "hexagons"])
def test_a_flipped_board_is_turned_and_its_pieces_are_not(grid: str) -> None:
    picture = board(grid, {0: (0, "X", "")}, size=4)
    plain, flipped = (Geometry.of(picture, flipped=is_flipped) for is_flipped in (False, True))
    assert flipped.centres == plain.centres[::-1] and len(set(plain.centres)) == 16
    turned = parsed(picture_svg(picture, title="", flipped=True))
    centres = {(float(one.attrib["cx"]), float(one.attrib["cy"])) for one in turned.iter(f"{SVG}circle")}
    assert any(abs(x - flipped.centres[0][0]) + abs(y - flipped.centres[0][1]) < 0.1 for x, y in centres)
    assert words(turned) == [*picture.row_labels[::-1], *picture.column_labels[::-1]]
    tile = board("squares", {0: (0, "P", "歩")})
    assert "rotate(180" in picture_svg(tile, title="", flipped=True)


@pytest.mark.parametrize("game", [make("chess"), adopt(DoubleMove())])
def test_a_notebook_shows_a_state_as_its_picture(game: Rules) -> None:
    state = game.initial_state()
    assert state._repr_svg_() == svg(game, state)


@pytest.mark.parametrize("name", ["tictactoe", "chess", "shogi", "go9", "go13", "go19", "go(size=25)", "gomoku", "hex"])
@pytest.mark.parametrize("flipped", [False, True])
def test_the_letters_beside_a_board_are_legible_on_a_phone(name: str, flipped: bool) -> None:
    """On a board of 370 pixels they have 9 at least, and they stay within the picture."""
    game = make(name)
    picture = game.picture(game.initial_state())
    assert picture is not None
    root = parsed(picture_svg(picture, title=name, flipped=flipped))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    labels = [text for text in root.iter(f"{SVG}text") if text.attrib.get("class") == "label"]
    assert len(labels) == len(picture.row_labels) + len(picture.column_labels)
    for label in labels:
        size = float(label.attrib["font-size"])
        assert size * 370 / width >= 9
        assert size <= 0.75 * Geometry.of(picture).side, "it is narrower than its column"
        if label.attrib["text-anchor"] == "end":
            assert float(label.attrib["x"]) >= 0.65 * size * len(label.text or "")
        assert float(label.attrib["y"]) + 0.25 * size <= height
