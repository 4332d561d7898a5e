"""The pages as a whole: addresses, narrow screens, slow answers, the lesson; makes the pictures of docs/web.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from web_for_tests import PHONE, Open, click, picture, says
from zerosum.play.runs import NETWORKS


@pytest.mark.parametrize(
    "where",
    [
        "#/play?game=chess&side=0&vs=random",
        *("#/learn", "#/games", "#/games?name=go9", "#/analyse", "#/match", "#/search", "#/runs"),
    ],
)
def test_a_narrow_screen_needs_no_sideways_scrolling(visit: Open, where: str) -> None:
    page = visit(where, size=PHONE)
    page.locator("main > *").first.wait_for()
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    last = page.locator("#nav a").last.bounding_box()
    assert last["x"] + last["width"] <= PHONE["width"], "every page is in reach"
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll('button, a, input, select, [role=gridcell]')].filter((one) =>
            !(one.getAttribute('aria-label') || one.textContent.trim() || one.title || one.labels?.length)
        ).map((one) => one.outerHTML)"""
    )
    assert unnamed == []


def test_a_wrong_address_shows_a_page_and_says_so(visit: Open) -> None:
    for wrong in ("nosuch", "constructor"):
        page = visit(f"#/{wrong}")
        says(page, "Your move")
        page.locator("#toast.shown", has_text=f"There is no page {wrong}").wait_for()
    page = visit("#/games?name=nosuch")
    page.locator("#toast.shown", has_text="unknown game").wait_for()
    page.get_by_role("link", name="About chess", exact=True).wait_for()


def test_nothing_can_be_clicked_before_the_program_answers(visit: Open) -> None:
    slow = """const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (text) { setTimeout(() => send.call(this, text), 500); };"""
    for where in ("learn?scenario=trap", "search?game=tictactoe"):
        page = visit(f"#/{where}", script=slow)
        page.get_by_role("button", name="Ten simulations").click()
        says(page, "Simulation 10")
    page = visit("#/analyse?game=tictactoe&moves=b2+a1+c3", script=slow)
    page.get_by_role("button", name="Review the game").click()
    page.locator(".summary table").wait_for()
    page = visit("#/match?game=tictactoe&first=random&second=rollouts%402&games=2", script=slow)
    page.get_by_role("button", name="Begin").click()
    says(page, "The match is over")


def test_moves_typed_on_a_games_page_stay(visit: Open) -> None:
    page = visit("#/games?name=tictactoe")
    page.get_by_label("Moves of the position").fill("b2 a1")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url(re.compile("moves=b2"))
    assert page.get_by_label("Moves of the position").input_value() == "b2 a1"


def test_the_lesson_by_its_own_controls(visit: Open) -> None:
    page = visit("#/learn?scenario=wrong")
    page.get_by_role("button", name="Ten simulations").wait_for()
    page.get_by_label("c, how curious").fill("4")
    page.get_by_role("button", name="A hundred simulations").click()
    says(page, "Simulation 100")
    assert "Played now: C" in page.locator(".says").inner_text()
    page.get_by_role("button", name="Go back to simulation 20", exact=True).click()
    says(page, "Simulation 20")
    assert "Played now: A" in page.locator(".says").inner_text()
    page.locator(".tabs").get_by_role("button", name="A hidden trap").click()
    says(page, "Nothing was searched yet")
    for phase in ("select", "expand", "evaluate", "Signs flip"):
        page.get_by_role("button", name="Phase", exact=True).click()
        says(page, phase)
    page.get_by_role("button", name="A hundred simulations").click()
    says(page, "Played now: B")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save JSON").click()
    assert '"simulations": 101' in Path(saved.value.path()).read_text()
    page.get_by_label("Reading level").select_option("5")
    assert "PUCT" in page.locator(".words").inner_text() or "Mean backups" in page.locator(".words").inner_text()


def test_pictures_of_the_documentation(visit: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerosum.play.bundled.DIRECTORY", NETWORKS)
    page = visit("#/play?game=chess&side=0&vs=zerosum%27s+network&moves=e2e4+e7e5+g1f3+b8c6+f1c4+g8f6")
    says(page, "Your move")
    click(page, "f3")
    picture(page, "play")
    page = visit("#/learn?scenario=trap", size={"width": 1000, "height": 560})
    page.get_by_role("button", name="Ten simulations").click()
    says(page, "Simulation 10")
    picture(page, "learn")
    page = visit("#/search?game=tictactoe&moves=b2+b3", size={"width": 1360, "height": 830})
    says(page, "nothing was searched yet")
    for number in (10, 20, 30):
        page.get_by_role("button", name="Ten simulations").click()
        says(page, f"Simulation {number}:")
    for phase in ("select", "expand", "evaluate"):
        page.get_by_role("button", name="Phase", exact=True).click()
        says(page, f"Simulation 31, {phase}")
    picture(page, "search")
    page = visit(
        "#/analyse?game=chess&moves=e2e4+e7e5+d1h5+b8c6+f1c4+g8f6+h5f7&ply=6", size={"width": 1280, "height": 800}
    )
    says(page, "to move")
    page.get_by_role("button", name="Review the game").click()
    page.locator(".summary table").wait_for(timeout=120_000)
    page.evaluate("scrollTo(0, 0)")
    page.get_by_text("Nf6 is a blunder").wait_for()
    says(page, "a proven win")
    page.mouse.move(0, 0)
    picture(page, "analyse")
    page.get_by_role("link", name="Solve the mistake").click()
    says(page, "Black to move. In the game Nf6 was played")
    page.get_by_role("button", name="Show the answer").click()
    page.locator(".arrow.best").wait_for(state="attached")
    picture(page, "puzzles")
