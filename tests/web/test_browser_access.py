"""What people meet who listen to the pages or see little: axe-core, headings, names, and what is said aloud."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest

from web_for_tests import PHONE, Open, click, history, says

NO_ENGINE = "localStorage.setItem('look', 'off')"
MISTAKE = {
    **{"ply": 2, "player": 0, "mark": "??", "text": "4", "played": 3, "loss": 0.4, "rate": 0.6, "best": 2},
    **{"line": ["3", "4"], "cells": [38]},
}
MISTAKES = "localStorage.setItem('mistakes', {})".format(
    json.dumps(json.dumps([{"game": "connect4", "moves": "4 4 4", "title": "mine", "puzzles": [MISTAKE]}]))
)
"""A script that leaves the mistake of a reviewed game in the browser's store."""
PAGES = {
    "front": ("", ".says:not(:empty)"),
    "chess": ("#/play?game=chess&side=0&vs=random&moves=e2e4+e7e5", ".shelf a"),
    "shogi": ("#/play?game=shogi&side=both&moves=7g7f+3c3d+8h2b%2B+3a2b", ".shelf a"),
    "go": ("#/play?game=go9&side=both&moves=E5+pass+pass", ".own-first"),
    "connect4": ("#/play?game=connect4&side=0&vs=rollouts@20&moves=4+3+4+3+4+3+4", ".picture .won"),
    "analyse": ("#/analyse?game=chess&moves=e2e4+e7e5+g1f3&ply=2", ".evaluation:not([hidden])"),
    "search": ("#/search?game=tictactoe&moves=b2", ".growth .node"),
    "learn": ("#/learn?scenario=trap", ".words h2"),
    "runs": ("#/runs", ".wide-chart .area:not(.rest)"),
    "match": ("#/match?game=tictactoe", ".choosers select"),
    "puzzles": ("#/puzzles", ".puzzle-list li"),
    "tour": ("#/tour", ".tour-step"),
    "games": ("#/games", ".cards li"),
    "about a game": ("#/games?name=go9", ".plane"),
}
"""The address of each page and what is there once it is complete."""


def violations(page: Any) -> list[str]:
    """What axe-core finds that is serious or critical, with the elements."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(page).response["violations"]
    return [
        f"{one['impact']} {one['id']}: {one['help']}: {node['html'][:200]} {node['failureSummary'][:200]}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:4]
    ]


def complete(visit: Open, name: str, **how: Any) -> Any:
    where, sign = PAGES[name]
    page = visit(where, script=MISTAKES if name == "puzzles" else "", **how)
    page.locator(sign).first.wait_for()
    page.wait_for_function("() => document.querySelector('main').ariaBusy !== 'true'")
    return page


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_one_heading_of_the_first_level_and_axe_finds_nothing_serious(visit: Open, name: str) -> None:
    """The page follows the system's colours, also while it is open."""
    page = complete(visit, name)
    heading = page.locator("h1")
    assert heading.count() == 1 and heading.inner_text().strip()
    levels = page.evaluate(
        "() => [...document.querySelectorAll('h1, h2, h3, h4')]"
        ".filter((one) => one.checkVisibility()).map((one) => Number(one.tagName[1]))"
    )
    assert all(later <= earlier + 1 for earlier, later in itertools.pairwise(levels)), levels
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function("scheme => document.documentElement.dataset.theme === scheme", arg=scheme)
        assert violations(page) == [], scheme


def test_a_page_that_is_opened_by_night_is_dark(visit: Open) -> None:
    page = complete(visit, "runs", dark=True)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert violations(page) == []


def test_axe_finds_nothing_serious_in_what_opens_later(visit: Open) -> None:
    page = complete(visit, "chess", size=PHONE)
    page.get_by_role("button", name="New game").click()
    page.get_by_label("You play").wait_for()
    assert violations(page) == []
    page = visit("#/analyse?game=chess&moves=e2e4+e7e5+d1h5+b8c6+f1c4+g8f6+h5f7", script=NO_ENGINE)
    says(page, "to move")
    page.get_by_label("Search of a position").select_option("50")
    page.get_by_role("button", name="Review the game").click()
    page.locator(".summary table").wait_for()
    assert violations(page) == []
    page = complete(visit, "search")
    page.get_by_role("button", name="Ten simulations").click()
    says(page, "Simulation 10:")
    assert violations(page) == []


def test_axe_would_see_a_fault(visit: Open) -> None:
    """The check itself: letters that are too pale, and a button without a name."""
    page = complete(visit, "games")
    page.evaluate(
        """() => {
            document.querySelector("h1").style.color = "#ccc";
            document.querySelector("main").append(document.createElement("button"));
        }"""
    )
    found = " ".join(violations(page))
    assert "color-contrast" in found and "button-name" in found


def test_the_computers_move_is_said_aloud(visit: Open) -> None:
    page = visit("#/play?game=chess&side=0&vs=random")
    says(page, "Your move")
    told = page.locator("[aria-live]", has_text=re.compile("random played"))
    assert told.count() == 0
    click(page, "e2", "e4")
    answer = history(page, 2)[1]
    told.wait_for()
    assert told.inner_text().startswith(f"random played {answer}."), "what was played, then whose turn it is"


def test_an_analysis_is_said_once_a_position(visit: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine reports several times a second; a live region that had all of it would never be silent."""
    monkeypatch.setattr("zerosum.web.searches.SLICE_SECONDS", 0.001)
    page = visit("#/analyse?game=connect4&vs=rollouts")
    said = """whose => {
        const [said, shown] = ["main [aria-live]", ".says"].map(one => document.querySelector(one)?.textContent.trim());
        return said?.startsWith(`${whose} to move: `) && shown.startsWith(`${whose} to move: `) &&
            shown.includes("(1,000 simulations");
    }"""
    page.wait_for_function(said, arg="Yellow")
    page.evaluate(
        """() => {
            window.heard = [];
            const look = ([{target}]) => heard.push(target.textContent);
            new MutationObserver(look).observe(document.querySelector("main [aria-live]"), {childList: true});
        }"""
    )
    page.get_by_role("gridcell", name="column 4, row 1").click()
    page.wait_for_function(said, arg="Red")
    heard = page.evaluate("heard")
    assert len(heard) == 2 and heard[0] == "Red to move." and "% for red" in heard[1]


def test_a_board_is_a_grid_with_rows_and_named_cells(visit: Open) -> None:
    page = visit("#/play?game=connect4&side=both&moves=4")
    says(page, "to move")
    rows = page.get_by_role("grid").get_by_role("row")
    assert rows.count() == 6
    assert rows.nth(5).get_by_role("gridcell").count() == 7
    assert rows.nth(5).get_by_role("gridcell").nth(3).get_attribute("aria-label") == "column 4, row 1, yellow stone"
    page = visit("#/play?game=chess&side=1&vs=random")
    says(page, "Your move")
    first = page.get_by_role("grid").get_by_role("row").first.get_by_role("gridcell").first
    assert first.get_attribute("aria-label") == "h1, white rook", (
        "rows are read from the top of the board as it is seen"
    )
