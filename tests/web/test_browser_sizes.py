"""What is seen at once on a screen of the usual size, and on a phone."""

from __future__ import annotations

from pathlib import Path

import pytest

import zerosum
from web_for_tests import PHONE, Open

LAPTOP = {"width": 1280, "height": 800}
GAME = "4+4+3+3+5+5+2"
SEVERAL = "\n\n".join(
    f"""[White "{white}"]
[Black "Duke Karl II / Count Isouard de Vauvenargues"]
[Date "1858.11.02"]

1. e4 {{A comment}} e5 2. Nf3 d6 (2... Nc6 3. Bb5) 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 *"""
    for white in ("Paul Charles Morphy", "Adolf Anderssen")
)
"""A file of two games between people with long names."""
PARTS = {
    "the board": ".board",
    "the bar": ".evaluation",
    "the third line": ".lines li:nth-child(3)",
    "the moves": ".moves",
    "the last position": "[aria-label='Last position']",
    "the review": ".reviewing > button",
    "its effort": ".reviewing select",
}
"""What is seen without scrolling."""
NEEDED = """(select) => {
    const text = document.createElement("canvas").getContext("2d");
    text.font = getComputedStyle(select).font;
    return text.measureText(select.selectedOptions[0].text).width;
}"""
"""Width of the text of a select."""


@pytest.fixture
def networks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The networks that come with the program, with their names."""
    monkeypatch.setattr("zerosum.play.bundled.DIRECTORY", Path(zerosum.__file__).parent / "data" / "networks")


@pytest.mark.parametrize(
    ("game", "record"),
    [
        (f"connect4&moves={GAME}&ply=4", ""),
        ("go9&moves=E5+C3+G7+G3+C7+A1+E3&ply=7", ""),
        ("go9", "(;GM[1]SZ[9]KM[7]PB[Honinbo Shusaku]PW[Gennan Inseki];B[ee];W[gc];B[cc](;W[cg];B[gg])(;W[gg]))"),
        ("chess", SEVERAL),
    ],
    ids=["connect4", "go9", "record", "several"],
)
def test_the_analysis_of_a_reviewed_game_is_seen_at_once(visit: Open, networks: None, game: str, record: str) -> None:
    page = visit(f"#/analyse?game={game}", size=LAPTOP)
    page.locator(".lines li").nth(2).wait_for()
    if record:
        page.get_by_text("Open a game").click()
        page.get_by_label("A game, a position or moves").fill(record)
        page.get_by_role("button", name="Open", exact=True).click()
        page.get_by_text("About this game").wait_for()
        assert page.get_by_label("Game of the file").is_visible() == (record is SEVERAL)
        page.get_by_role("button", name="Last position").click()
        page.locator(".lines li").nth(2).wait_for()
    page.get_by_label("Search of a position").select_option(index=0)
    page.get_by_role("button", name="Review the game").click()
    page.locator(".summary table").wait_for(timeout=120_000)
    page.evaluate("scrollTo(0, 0)")
    # One look: the lines are drawn anew with each report of the search.
    boxes = page.wait_for_function(
        """parts => {
            const found = Object.entries(parts).map(([name, one]) => [name, document.querySelector(one)]);
            if (!found.every(([, element]) => element?.checkVisibility())) return null;
            return found.map(([name, element]) => {
                const { right, bottom } = element.getBoundingClientRect();
                return [name, right, bottom];
            });
        }""",
        arg=PARTS,
    ).json_value()
    for name, right, bottom in boxes:
        assert right <= LAPTOP["width"] and bottom <= LAPTOP["height"], (name, right, bottom)


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_the_choosers_of_the_analysis_show_what_is_chosen(visit: Open, networks: None, size: dict[str, int]) -> None:
    """The text of a select that is too narrow for it is cut; here with the name of a bundled network."""
    page = visit("#/analyse?game=go9&moves=E5", size=size)
    page.locator(".lines li").first.wait_for()
    assert page.get_by_label("Who judges").input_value() == "zerosum's network"
    shown = page.get_by_label("Show").locator("option").all_inner_texts()
    assert len(shown) == 4
    for overlay in shown:
        page.get_by_label("Show").select_option(overlay)
        for label in ("Who judges", "Show"):
            chooser = page.get_by_label(label)
            needed = chooser.evaluate(NEEDED)
            assert chooser.bounding_box()["width"] >= needed + 20, (label, overlay, needed)
        facts = page.evaluate(
            "[...document.querySelectorAll('.lines .whole')].map((one) => one.getClientRects().length)"
        )
        assert len(facts) == 6 and set(facts) == {1}, "no number stands on another line than its sign"


def test_the_figures_of_a_review_are_not_broken_on_a_phone(visit: Open, networks: None) -> None:
    """The number of positions in the select, and each number with its sign in the table."""
    page = visit("#/analyse?game=chess&moves=e2e4+e7e5+d1h5+b8c6+f1c4+g8f6+h5f7", size=PHONE)
    effort = page.get_by_label("Search of a position")
    effort.wait_for()
    for value in ("40000", "4000"):
        effort.select_option(value)
        assert effort.bounding_box()["width"] >= effort.evaluate(NEEDED) + 20, value
    page.get_by_role("button", name="Review the game").click()
    page.locator(".summary table").wait_for(timeout=120_000)
    heights = page.locator(".summary td").evaluate_all("all => all.map(one => one.firstChild && one.clientHeight)")
    assert len(heights) == 8 and len(set(heights)) == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
