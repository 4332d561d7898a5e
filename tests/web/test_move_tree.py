"""The tree of an analysed game: its lines are those of the record, and moves that are tried join it."""

from __future__ import annotations

import random

import pytest

from web_for_tests import ANNOTATED, Page, with_page
from zerosum.base.errors import GameError, SettingsError
from zerosum.web import move_tree
from zerosum.web.library import Library
from zerosum.web.limits import Limits
from zerosum.web.move_tree import Node
from zerosum.web.searches import Searches
from zerosum.web.study import Study
from zerosum.web.visit import House

LIMITS = Limits(simulations=500, seconds=1.0, plies=200, games=3)


def opened(text: str) -> Study:
    return Study.opened(Library([], (), LIMITS), text=text)


def test_the_tree_has_every_line_of_the_record() -> None:
    study = opened(ANNOTATED)
    lines = set()
    for before, line in study.record.lines():
        for end in range(1, len(line) + 1):
            lines.add(tuple(move.text for move in (*before, *line[:end])))
    found = {tuple(study.tree.own_texts(node.path)) for node in study.tree.nodes[1:]}
    assert found == lines and len(study.tree.nodes) == 1 + len(lines) == 15
    assert [node.number for node in study.tree.main] == list(range(8))


def test_annotations_are_told() -> None:
    nodes = {node["text"]: node for node in opened(ANNOTATED).view()["tree"]}
    assert nodes["e4"]["signs"] == ["!"] and nodes["e4"]["clock"] == "0:09:58"
    assert nodes["e4"]["comments"] == ["best by test"] and nodes["c5"]["comments"] == ["the Sicilian"]
    assert nodes["Nc6"]["value"] == "+0.35" and nodes["Nf6"]["signs"] == ["??"] and "signs" not in nodes["d5"]
    assert nodes["d5"]["after"] == nodes["c3"]["at"] and nodes["c3"]["after"] == nodes["c5"]["at"]
    view = opened(ANNOTATED).view()
    assert view["comments"] == ["A quiet day"] and ["White", "Ann"] in view["headers"]


def test_a_random_walk_in_the_tree_agrees_with_its_paths() -> None:
    study, generator = opened(ANNOTATED), random.Random(5)
    game = study.game
    for _ in range(300):
        number = generator.randrange(len(study.tree.nodes))
        study.goto_node(number)
        assert study.here.number == number
        if generator.random() < 0.3 and (legal := game.legal_actions(study.state)):
            study.try_move(generator.choice(legal))
        if generator.random() < 0.2:
            study.back()
        state = study.states[0]
        for action in study.path:
            state = game.play(state, action)
        view = study.view(known=None)
        assert view["position"] == game.position_text(state)
        assert view["depth"] == len(study.path) == view["ply"] + len(view["variation"])
        assert study.path[: study.ply] == study.actions[: study.ply]
        assert study.here is study.tree.nodes[view["here"]] and view["isTried"] == any_tried(study.here)


def any_tried(node: Node) -> bool:
    return any(one.move is None for one in node.path)


def test_lines_that_were_tried_are_made_again() -> None:
    study = opened(ANNOTATED)
    study.goto(2)
    study.walk(["d2d4", "e5d4", "nonsense", "c2c3"])
    study.goto(0)
    study.walk(["e2e4", "c7c5", "b2b4"])
    lines = study.tree.tried()
    assert lines == ["e2e4 e7e5 d2d4 e5d4", "e2e4 c7c5 b2b4"]
    again = opened(ANNOTATED)
    for line in lines:
        again.goto(0)
        again.walk(line.split())
    assert again.tree.json() == study.tree.json()


def test_a_page_cannot_grow_a_tree_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(move_tree, "MOST_TRIED", 2)
    study = opened("1. e4 e5 *")
    study.walk(["a2a3", "a7a6", "b2b3"])
    assert study.tree.tried() == ["a2a3 a7a6"]
    with pytest.raises(GameError, match="2 moves were tried here"):
        study.try_move(study.game.parse_action(study.state, "h3") or 0)
    with pytest.raises(SettingsError, match="position 9 is out of range: 0 to 4"):
        study.goto_node(9)


def test_a_game_that_is_opened_again_has_its_review_and_its_branch() -> None:
    house = House(Library([], (), LIMITS), LIMITS, Searches(LIMITS), seed=1)

    async def work(page: Page) -> None:
        text = "1. e4 {good} e5 2. Qh5 Nc6"
        view = (await page.ask("study.open", text=text))["result"]
        assert "review" not in view
        await page.ask("study.review", simulations=20)
        reviewed = await page.event("reviewed")
        tried = (await page.ask("study.goto", ply=2))["result"]["tree"]
        assert tried == [], "the page has the tree already"
        action = next(move[0] for move in view["moves"] if move[1] == "d2d4")
        moved = (await page.ask("study.move", action=action))["result"]
        assert [node["text"] for node in moved["tree"]] == ["d4"] and moved["isTried"]
        other = Page(house)
        again = (await other.ask("study.open", text=text, ply=2, branch="d2d4", tried=moved["tried"]))["result"]
        assert again["review"] == {name: value for name, value in reviewed.items() if name not in ("event", "puzzles")}
        assert again["variation"] == ["d4"] and again["here"] == moved["here"]
        assert " good}" in (await other.ask("study.export", format="pgn"))["result"]["text"]
        by_moves = (await other.ask("study.open", game="chess", moves=view["ownMoves"]))["result"]
        assert by_moves["review"] == again["review"]
        assert "error" in await other.ask("study.open", text=text, tried=[3])
        assert "review" not in (await other.ask("study.open", text="1. e4 e5 2. Qh5 Nf6"))["result"]

    with_page(house, work)
    house.searches.close()
