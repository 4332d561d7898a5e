"""What is seen at once on a screen of the usual size, and on a phone."""

from __future__ import annotations

import pytest

from web_for_tests import PHONE, Open

LAPTOP = {"width": 1280, "height": 800}
GAME = "4+4+3+3+5+5+2"


def test_the_analysis_of_a_reviewed_game_is_seen_at_once(visit: Open) -> None:
    page = visit(f"#/analyse?game=connect4&moves={GAME}&ply=4", size=LAPTOP)
    page.locator(".lines li").nth(2).wait_for()
    page.get_by_label("Search of a position").select_option("50")
    page.get_by_role("button", name="Review the game").click()
    page.locator(".summary table").wait_for(timeout=120_000)
    page.locator(".lines li").nth(2).wait_for()
    parts = {
        "the board": page.locator(".board"),
        "the bar": page.locator(".evaluation"),
        "the third line": page.locator(".lines li").nth(2),
        "the last position": page.get_by_role("button", name="Last position"),
        "the review": page.get_by_role("button", name="Review the game"),
        "its effort": page.get_by_label("Search of a position"),
    }
    for name, part in parts.items():
        box = part.bounding_box()
        assert box is not None and box["y"] + box["height"] <= LAPTOP["height"], (name, box)
        assert box["x"] + box["width"] <= LAPTOP["width"], (name, box)


@pytest.mark.parametrize("label", ["Who judges", "Show"])
def test_the_choosers_of_the_analysis_show_what_is_chosen(visit: Open, label: str) -> None:
    """The text of a select that is too narrow for it is cut."""
    for size in (LAPTOP, PHONE):
        page = visit(f"#/analyse?game=connect4&moves={GAME}", size=size)
        page.locator(".lines li").first.wait_for()
        chooser = page.get_by_label(label)
        needed = chooser.evaluate(
            """(select) => {
              const text = document.createElement("canvas").getContext("2d");
              text.font = getComputedStyle(select).font;
              return text.measureText(select.selectedOptions[0].text).width;
            }"""
        )
        assert chooser.bounding_box()["width"] >= needed + 20, (label, size, needed)
