"""The record of an analysed game in the browser: its tree of moves, and what a reload keeps."""

from __future__ import annotations

import re
from typing import Any

from web_for_tests import ANNOTATED, PHONE, Open, click, history, says

NO_ENGINE = "localStorage.setItem('look', 'off')"


def paste(page: Any, text: str) -> None:
    says(page, "to move")
    if not page.get_by_label("A game, a position or moves").is_visible():
        page.get_by_text("Open a game").click()
    page.get_by_label("A game, a position or moves").fill(text)
    page.get_by_role("button", name="Open", exact=True).click()


def current(page: Any, name: str) -> None:
    page.locator(f'.moves [aria-current][aria-label="{name}"]').wait_for()


def test_the_record_is_shown_in_a_tree_and_every_branch_is_played(visit: Open) -> None:
    page = visit("#/analyse?game=chess", script=NO_ENGINE)
    paste(page, ANNOTATED)
    says(page, "Ann – Bob")
    texts = page.locator(".moves").inner_text()
    for word in ("A quiet day", "e4!", "best by test", "the Sicilian", "Qh5?!", "Nf6??", "c3", "d5", "e6", "Qf3"):
        assert word in texts, word
    assert page.locator('.moves [data-clock="0:09:58"]').count() == 1
    assert page.locator(".branch .branch").count() == 1
    assert page.locator(".moves > li:not(.extra):not(.goes-on)").count() == 4, "four numbered moves"
    page.get_by_role("button", name="Variation: d6").click()
    current(page, "Variation: d6")
    colours = "one => [getComputedStyle(one).color, getComputedStyle(one).backgroundColor]"
    pointed = page.locator(".moves [aria-current]").evaluate(colours)
    page.mouse.move(0, 0)
    assert page.locator(".moves [aria-current]").evaluate(colours) == pointed, "it can be read under the pointer"
    assert page.locator(".variation").inner_text().startswith("A variation: c5 Nf3 d6")
    page.get_by_role("button", name="One move back").click()
    current(page, "Variation: Nf3")
    page.get_by_role("button", name="One move on").click()
    current(page, "Variation: d6")
    click(page, "d2", "d4")
    current(page, "Variation: d4")
    assert page.locator(".variation").inner_text().startswith("You try: c5 Nf3 d6 d4")
    page.get_by_role("button", name="Move 4: Nc6", exact=True).click()
    current(page, "Move 4: Nc6")
    assert "evaluation +0.35" in page.locator(".comment").inner_text()
    page.get_by_text("About this game").click()
    assert page.locator(".headers").inner_text().split() == [
        "About",
        "this",
        "game",
        *["Event", "Club", "White", "Ann", "Black", "Bob"],
    ]


def test_a_reload_keeps_names_headers_comments_branch_and_review(visit: Open) -> None:
    page = visit("#/analyse?game=chess", script=NO_ENGINE)
    paste(page, ANNOTATED)
    says(page, "Ann – Bob")
    page.get_by_label("Search of a position").select_option("50")
    page.get_by_role("button", name="Review the game").click()
    page.locator(".summary table").wait_for()
    page.get_by_role("button", name="Variation: c3").click()
    current(page, "Variation: c3")
    click(page, "g8", "f6")
    current(page, "Variation: Nf6")
    page.get_by_role("button", name="Move 2: e5").click()
    current(page, "Move 2: e5")
    click(page, "g1", "f3")
    page.wait_for_url(re.compile("branch=g1f3"))
    before = page.locator(".moves").inner_text()
    page.reload()
    says(page, "Ann – Bob")
    current(page, "Variation: Nf3")
    assert page.locator(".moves").inner_text() == before
    assert page.locator(".summary table").count() == 1 and page.locator(".course path").count() == 2
    assert not page.locator(".headers").is_hidden()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save PGN").click()
    assert saved.value.suggested_filename == "chess-analysed.pgn"
    address = page.url.partition("/#")[2]
    other = visit(f"#{address}", script=NO_ENGINE)
    current(other, "Variation: Nf3")
    assert history(other, 7)[:3] == history(page, 7)[:3] or "e4" in history(other, 7)[0]
    assert other.locator(".summary table").count() == 1, "the link of a reviewed game has its review"


def test_a_record_fits_a_phone(visit: Open) -> None:
    page = visit("#/analyse?game=chess", size=PHONE, script=NO_ENGINE)
    paste(page, ANNOTATED)
    says(page, "Ann – Bob")
    page.get_by_role("button", name="Variation: d5").click()
    current(page, "Variation: d5")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.evaluate("scrollTo(0, 0)")
    board, onward = page.locator(".board").bounding_box(), page.get_by_label("One move on").bounding_box()
    assert board["y"] < onward["y"] < PHONE["height"], "the moves are walked below the board, without scrolling"
    shown, whole = page.locator(".moves [aria-current]").bounding_box(), page.locator(".moves").bounding_box()
    assert whole["y"] <= shown["y"] and shown["y"] + shown["height"] <= whole["y"] + whole["height"] + 1
