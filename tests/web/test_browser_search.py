"""A watched search in the browser: the tree is read in full size, moved, zoomed and folded, and follows the program."""

from __future__ import annotations

import re
from typing import Any

import pytest

from web_for_tests import PHONE, Open, says

SCALE = "document.querySelector('.growth').clientWidth / document.querySelector('.growth').viewBox.baseVal.width"
COUNTED = """(() => {
    const receive = Object.getOwnPropertyDescriptor(WebSocket.prototype, "onmessage");
    globalThis.received = [];
    Object.defineProperty(WebSocket.prototype, "onmessage", {
        ...receive,
        set(listener) {
            receive.set.call(this, (event) => {
                globalThis.received.push(event.data.length);
                if (globalThis.lose?.(event.data)) return;
                listener(event);
            });
        },
    });
})()"""


def searched(page: Any, number: int = 1000) -> None:
    says(page, "nothing was searched yet")
    page.get_by_role("button", name="A thousand simulations").click()
    says(page, f"Simulation {number}:")


def letters(page: Any) -> float:
    """The height of the smallest letters of the tree in pixels."""
    size = page.evaluate(
        """() => Math.min(...[...document.querySelectorAll('.growth text')]
            .map((one) => parseFloat(getComputedStyle(one).fontSize)))"""
    )
    return float(size * page.evaluate(SCALE))


@pytest.mark.parametrize("size", [{"width": 1280, "height": 800}, PHONE], ids=["desktop", "phone"])
def test_a_tree_of_a_thousand_simulations_is_read_zoomed_and_moved(visit: Open, size: dict[str, int]) -> None:
    page = visit("#/search?game=connect4&vs=rollouts", size=size)
    searched(page)
    assert letters(page) >= 12
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    page.get_by_role("button", name="Show the whole tree").click()
    whole = page.evaluate(SCALE)
    outside = page.evaluate(
        """() => { const all = document.querySelector('.growth').getBoundingClientRect();
            return [...document.querySelectorAll('.growth .node')].map((one) => one.getBoundingClientRect())
                .filter((one) => one.left < all.left - 1 || one.right > all.right + 1).length; }"""
    )
    assert outside == 0
    page.get_by_role("button", name="Zoom in").click()
    assert page.evaluate(SCALE) == pytest.approx(min(1.25 * whole, 4), rel=0.01)
    page.get_by_role("button", name="Letters in their full size").click()
    assert page.evaluate(SCALE) == pytest.approx(1, rel=0.01)
    tree = page.locator(".growth")
    tree.scroll_into_view_if_needed()
    box, root = tree.bounding_box(), page.locator('.growth .node[data-node=""]')
    before = root.bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 80, box["y"] + 230, steps=5)
    page.mouse.up()
    after = root.bounding_box()
    assert (after["x"] - before["x"], after["y"] - before["y"]) == pytest.approx((60, 30), abs=8)
    page.get_by_role("button", name="Step", exact=True).click()
    says(page, "Simulation 1001:")
    assert root.bounding_box()["x"] == pytest.approx(after["x"], abs=70), "the place stays while the tree grows"
    tree.scroll_into_view_if_needed()
    box = tree.bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    page.wait_for_function(f"() => {SCALE} > 1.3")


def test_small_branches_are_folded_and_unfold_by_click_and_key(visit: Open) -> None:
    page = visit("#/search?game=chess&vs=rollouts", size={"width": 1280, "height": 800})
    searched(page)
    played, root = (page.locator(f".growth .node{one}").bounding_box() for one in (".played", '[data-node=""]'))
    are_near = abs(played["x"] - root["x"]) < 600
    frame = page.locator(".growth").bounding_box()
    for box in (played, root) if are_near else (played,):
        assert frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"]
    folded = page.locator('.growth [aria-expanded="false"]')
    open_ = page.locator('.growth [aria-expanded="true"]')
    assert folded.count() + open_.count() >= 4
    name = (open_ if open_.count() else folded).first.get_attribute("data-node")
    node = page.locator(f'.growth .node[data-node="{name}"]')
    below = page.locator(f'.growth .node[data-node^="{name}."]')
    was_open, count = node.get_attribute("aria-expanded") == "true", below.count()
    assert (count > 0) == was_open
    node.focus()
    page.keyboard.press("Enter")
    assert node.get_attribute("aria-expanded") == str(not was_open).lower() and (below.count() > 0) != was_open
    assert page.evaluate("document.activeElement.dataset.node") == name, "the focus stays"
    node.click()
    assert below.count() == count


def test_the_page_gets_changes_alone_and_notices_a_lost_one(visit: Open) -> None:
    page = visit("#/search?game=connect4&vs=rollouts", script=COUNTED)
    searched(page)
    page.evaluate("received.length = 0")
    for number in range(1001, 1006):
        page.get_by_role("button", name="Step", exact=True).click()
        says(page, f"Simulation {number}:")
    sizes = page.evaluate("received")
    assert len(sizes) == 5 and max(sizes) < 12_000
    page.evaluate(
        """() => { globalThis.lose = (data) => {
            if (!data.includes('"event":"growth"') || globalThis.isLost) return false;
            globalThis.isLost = true;
            globalThis.after = received.length + 3;
            return true;
        }; }"""
    )
    page.get_by_role("button", name="Ten thousand simulations").click()
    page.wait_for_function("() => globalThis.isLost && received.length >= globalThis.after")
    page.get_by_role("button", name="Step", exact=True).click()
    page.wait_for_timeout(500)
    # One look: an answer may arrive between two.
    says_now, root, total = page.evaluate(
        """() => [
            document.querySelector(".says").innerText,
            document.querySelector('.growth .node[data-node=""] .name').textContent,
            [...document.querySelectorAll('.growth .edge-label')].map((one) => /^N (\\d+)/.exec(one.textContent))
                .filter(Boolean).map((one) => Number(one[1])).sort((a, b) => b - a)[0],
        ]"""
    )
    done = int(re.match(r"Simulation (\d+):", says_now)[1])
    assert done > 1006
    assert root == f"root  N {done + 1}" and done > total > done / 7, "numbers are those of the newest answer"


def test_a_search_is_stepped_and_rewound(visit: Open) -> None:
    page = visit("#/search?game=tictactoe&moves=b2")
    says(page, "nothing was searched yet")
    page.get_by_role("button", name="Ten simulations").click()
    says(page, "Simulation 10:")
    before = page.locator(".growth").text_content()
    assert before.startswith("Tree after 10 simulations") and "2 more moves are not drawn" in before, "8 moves, 6 drawn"
    page.get_by_role("button", name="Step", exact=True).click()
    says(page, "Simulation 11:")
    page.get_by_role("button", name="Go back to simulation 10", exact=True).click()
    says(page, "Simulation 10:")
    assert page.locator(".growth").text_content() == before
    for phase in ("select: the path", "expand: the position after", "evaluate: "):
        page.get_by_role("button", name="Phase", exact=True).click()
        says(page, f"Simulation 11, {phase}")
        assert page.locator(".growth .node.lit").count() >= 2
        assert page.locator(".growth > title").text_content() == "Tree after 10 simulations; c3 would be played"
    page.get_by_role("button", name="Phase", exact=True).click()
    says(page, "Simulation 11: ")
    assert re.search(r"N \d+ +Q [+−]\d\.\d\dP \d+ % +U \d\.\d\d", str(page.locator(".growth").text_content()))
    page.get_by_role("button", name="Phase", exact=True).click()
    says(page, "Simulation 12, select")
    page.get_by_role("button", name="Back", exact=True).click()
    says(page, "Simulation 11: ")
    page.get_by_role("slider", name="Simulations of a run").fill("1")
    page.get_by_role("slider", name="Simulations or phases a second").fill("30")
    page.get_by_role("button", name="Run", exact=True).click()
    says(page, "Simulation 20: ")
    page.wait_for_timeout(300)
    says(page, "Simulation 20: ")
    page.get_by_role("button", name="Reset", exact=True).click()
    page.get_by_role("button", name="A hundred simulations").click()
    says(page, "Simulation 100:")
    page.get_by_role("button", name="Ten simulations").click()
    says(page, "Simulation 110:")
    page.get_by_role("button", name="After 100", exact=True).click()
    page.locator(".moments li").nth(9).wait_for()
    for card in page.locator(".moments li figcaption").all_inner_texts():
        assert re.match(r"\d+ % for \S+: .* \d+ visits$", card.replace("\n", " ")), card
    page.locator('[data-name="a1"]').click()
    says(page, "nothing was searched yet")
    assert "moves=b2+a1" in page.url
