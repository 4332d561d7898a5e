"""What the browser keeps may be damaged, by people or by another version: every page opens, and keeps what is whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from web_for_tests import Open, says

WHOLE = {
    "ply": 2,
    "player": 0,
    "mark": "??",
    "text": "4",
    "played": 3,
    "loss": 0.4,
    "rate": 0.6,
    "best": 2,
    "line": ["3", "4"],
    "cells": [38],
}
"""The mistake of a game of Connect Four."""
DAMAGED: list[Any] = [
    *(None, 7, "text", [], {}, {"ply": -1}),
    *(WHOLE | {name: value} for name, value in [("ply", 1.5), ("line", []), ("line", [3]), ("cells", "38")]),
    *(WHOLE | {name: value} for name, value in [("mark", "!"), ("rate", 2), ("loss", None), ("player", 2)]),
    *(WHOLE | {name: value} for name, value in [("best", "2"), ("played", -1), ("text", {})]),
]
GAME = {"game": "connect4", "moves": "4 4 4", "title": "mine", "puzzles": [WHOLE, *DAMAGED]}
GAMES = [GAME, None, 3, "a", [], {}, {"game": "chess"}, GAME | {"title": 4}, GAME | {"moves": "3", "puzzles": DAMAGED}]


def kept(**values: str) -> str:
    """A script that writes into the browser's store before a page begins."""
    return "".join(f"localStorage.setItem({json.dumps(name)}, {json.dumps(text)});" for name, text in values.items())


@pytest.mark.parametrize("address", ["", "?at=-3", "?at=no", "?at=99", "?of=chess", "?of=go9&at=1"])
def test_the_puzzles_that_are_whole_can_be_solved(visit: Open, address: str) -> None:
    page = visit(f"#/puzzles{address}", script=kept(mistakes=json.dumps(GAMES)))
    says(page, "Yellow to move. In the game 4 was played, a blunder: find a better move.")
    assert page.locator(".puzzle-list li").all_inner_texts() == ["Move 3"]  # no other is whole
    page.locator("[data-cell].column").nth(2).click()
    says(page, "3 is right, the best move.")
    assert page.locator(".puzzle-list li").all_inner_texts() == ["Move 3, solved"]


@pytest.mark.parametrize("text", ["", "{", "null", "7", "[null, 3]", '"text"', '{"a": 1}', '{"puzzles": []}'])
def test_every_page_opens_with_a_damaged_store(visit: Open, text: str) -> None:
    names = ("mistakes", "curves", "play", "level", "overlay", "numbers", "look", "sound", "theme")
    script = kept(**dict.fromkeys(names, text))
    page = visit("#/puzzles", script=script)
    says(page, "No mistakes are kept in this browser yet")
    for where, part in {
        "#/analyse?game=connect4&moves=4": ".lines li",
        "#/play?game=connect4&side=both": "[data-cell]",
        "#/play": "[data-cell]",
        "#/learn": ".tree .node",
        "#/runs?runs=tiny": ".curves .chart",
    }.items():
        page.goto(page.url.partition("#")[0] + where)
        page.locator(part).first.wait_for()
    page.goto(page.url.partition("#")[0] + "#/play")
    page.get_by_role("button", name="New game").click()
    page.get_by_label("Strength").wait_for()


def test_curves_are_drawn_as_they_were_chosen_or_as_at_first(visit: Open) -> None:
    page = visit("#/runs?runs=tiny", script=kept(curves='{"smoothing": "much", "isLogX": 3}'))
    assert page.get_by_label("Smoothing").input_value() == "0"
    page = visit("#/runs?runs=tiny", script=kept(curves='{"smoothing": 0.6, "isLogX": true}'))
    assert page.get_by_label("Smoothing").input_value() == "0.6"
