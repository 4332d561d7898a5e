"""What the boards of the pages show: winning lines, checks, notation, links, and their fit on a phone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from web_for_tests import DESKTOP, PHONE, Open, click, history, says, serving

COPY = "navigator.clipboard.writeText = async (text) => { globalThis.copied = text; };"


def test_a_winning_line_and_a_check_are_drawn(visit: Open) -> None:
    page = visit("#/play?game=connect4&side=both&moves=4+3+4+3+4+3")
    says(page, "to move")
    assert page.locator(".picture .won").count() == 0
    page.locator('[data-cell="3"]').click()
    page.locator(".picture .won").nth(3).wait_for()
    assert page.locator(".picture .won").count() == 4
    page = visit("#/play?game=hex(size=3)&side=both&moves=b1+a1+b2+a2")
    says(page, "to move")
    click(page, "b3")
    page.locator(".picture .won").nth(2).wait_for()
    assert page.locator(".counts").inner_text() == "Black joins top and bottom, White left and right."
    page = visit("#/play?game=shogi&side=both&moves=7g7f+3c3d")
    says(page, "to move")
    assert page.locator(".picture .check").count() == 0
    page = visit("#/play?game=chess&side=both&moves=e2e4+f7f6")
    says(page, "White to move")
    click(page, "d1", "h5")
    page.locator(".picture .check").wait_for()
    glow, king = (page.locator(one).bounding_box() for one in (".picture .check", '[data-name="e8"] .cell'))
    assert glow["x"] < king["x"] + king["width"] / 2 < glow["x"] + glow["width"]
    assert glow["y"] < king["y"] + king["height"] / 2 < glow["y"] + glow["height"]


@pytest.mark.parametrize(
    ("game", "first"),
    [("connect4", "column 1, row 6"), ("go9", "A9"), ("hex(size=5)", "a1"), ("othello", "a1"), ("chess", "h1")],
)
def test_the_second_player_sees_only_boards_between_players_turned(visit: Open, game: str, first: str) -> None:
    """The cell at the top left of the drawing."""
    page = visit(f"#/play?game={game}&side=1&vs=random")
    says(page, "Your move")
    place = page.evaluate(
        """() => [...document.querySelectorAll("[data-cell]")]
            .map((one) => [one.getBoundingClientRect(), one.ariaLabel])
            .sort(([one], [other]) => Math.round(one.y - other.y) || one.x - other.x)[0][1]"""
    )
    assert place.split(", ")[:2] == first.split(", ") or place.split(",")[0] == first
    assert page.get_by_role("button", name="Flip").is_visible() == (game == "chess")
    assert page.locator(".player-bar").last.inner_text().startswith("You"), "people sit below the board"


def test_connect_four_is_a_blue_frame_with_yellow_and_red_discs(visit: Open) -> None:
    page = visit("#/play?game=connect4&side=both&moves=4+4")
    says(page, "to move")
    red, green, blue = page.evaluate(
        """() => getComputedStyle(document.querySelector(".picture .frame")).fill.match(/\\d+/g).map(Number)"""
    )
    assert blue > 1.5 * max(red, green)
    named = [str(name) for name in page.locator("[data-cell]").evaluate_all("all => all.map((one) => one.ariaLabel)")]
    assert [name for name in named if "stone" in name] == [
        "column 4, row 2, red stone",
        "column 4, row 1, yellow stone",
    ]


def test_the_discs_of_othello_are_counted_under_the_board(visit: Open) -> None:
    page = visit("#/play?game=othello&side=both&moves=d3")
    says(page, "White to move")
    assert "Discs: black 4, white 1." in page.locator(".counts").inner_text()
    page.locator("[data-cell].open").first.click()
    page.wait_for_function("() => document.querySelector('.counts').textContent.includes('Discs: black 3, white 3.')")


@pytest.mark.parametrize(("game", "shown"), [("othello", 4), ("go9", 0), ("tictactoe", 0)])
def test_squares_to_play_on_are_shown_where_they_are_few(visit: Open, game: str, shown: int) -> None:
    page = visit(f"#/play?game={game}&side=both")
    page.locator("[data-cell].open").first.wait_for(state="attached")
    dots = page.locator("[data-cell] .target")
    assert dots.evaluate_all("dots => dots.filter(dot => getComputedStyle(dot).display !== 'none').length") == shown


def test_a_watched_search_of_chess_is_told_in_the_notation_of_its_players(visit: Open) -> None:
    page = visit("#/search?game=chess&vs=rollouts&moves=e2e4+e7e5")
    says(page, "nothing was searched yet")
    assert page.locator(".line-so-far").inner_text() == "e4 e5"
    click(page, "g1", "f3")
    page.wait_for_function("() => document.querySelector('.line-so-far').textContent === 'e4 e5 Nf3'")
    page.get_by_role("button", name="Ten simulations").click()
    says(page, "Simulation 10:")
    names = page.locator(".growth .node .name").all_text_contents()
    assert len(names) > 6 and not any(re.search(r"[a-h]\d[a-h]\d", name) for name in names)
    assert "moves=e2e4+e7e5+g1f3" in page.url, "the address keeps the notation that every page reads"


def test_the_tree_of_the_lesson_fits_a_phone_and_can_be_read_there(visit: Open) -> None:
    page = visit("#/learn?scenario=right", size=PHONE)
    page.get_by_role("button", name="Ten simulations").click()
    says(page, "Simulation 10")
    measured = page.evaluate(
        """() => {
            const tree = document.querySelector(".tree"), scroll = tree.parentElement;
            const texts = [...tree.querySelectorAll("text")];
            const boxes = texts.map((one) => one.getBoundingClientRect()), whole = tree.getBoundingClientRect();
            const scale = whole.width / tree.viewBox.baseVal.width;
            return {
                overflow: scroll.scrollWidth - scroll.clientWidth,
                outside: boxes.filter((one) => one.left < whole.left - 1 || one.right > whole.right + 1).length,
                smallest: Math.min(...texts.map((one) => scale * parseFloat(getComputedStyle(one).fontSize))),
                nodes: tree.querySelectorAll(".node").length,
            };
        }"""
    )
    assert measured["overflow"] <= 0 and measured["outside"] == 0 and measured["nodes"] == 9
    assert measured["smallest"] >= 9
    page.set_viewport_size({"width": 1200, "height": 760})
    page.wait_for_function("() => document.querySelector('.tree').getAttribute('viewBox') === '0 0 900 400'")


def test_a_copied_link_says_who_can_open_it(visit: Open, browser: object) -> None:
    page = visit("#/play?game=tictactoe&side=both", script=COPY)
    says(page, "to move")
    click(page, "b2")
    history(page, 1)
    page.get_by_role("button", name="Copy link").click()
    page.locator("#toast.shown", has_text="opens on this computer only").wait_for()
    assert page.evaluate("globalThis.copied") == page.url
    with serving(host="0.0.0.0") as (address, _):
        here = f"http://127.0.0.1:{urlsplit(address).port}/?{urlsplit(address).query}"
        contexts = [browser.new_context() for _ in range(2)]  # type: ignore[attr-defined]
        page = contexts[0].new_page()
        page.add_init_script(COPY)
        page.goto(f"{here}#/play?game=tictactoe&side=both&moves=b2")
        assert history(page, 1) == ["b2"]
        page.get_by_role("button", name="Copy link").click()
        page.locator("#toast.shown", has_text="holds the token").wait_for()
        link = page.evaluate("globalThis.copied")
        assert link.startswith(f"{address}#/play?") and "moves=b2" in link
        other = contexts[1].new_page()
        other.goto(link.replace(urlsplit(address).netloc, urlsplit(here).netloc))
        assert history(other, 1) == ["b2"], "another browser opens it without a cookie"
        for context in contexts:
            context.close()


OWN_GAMES = """
import numpy as np

class Lined:
    name, num_actions, board_shape, plane_names = "lined", 6, (3, 2), ("own stones", "opponent's stones")
    def initial_state(self): return ()
    def player(self, state): return len(state) % 2
    def legal_actions(self, state): return [] if len(state) == 3 else [cell for cell in range(6) if cell not in state]
    def play(self, state, action): return (*state, action)
    def outcome(self, state): return 0.0 if len(state) == 3 else None
    def planes(self, state): return np.zeros((2, 3, 2), np.float32)
    def action_text(self, state, action): return "ab"[action % 2] + "321"[action // 2]
    def draw(self, state):
        signs = ["XO"[state.index(cell) % 2] if cell in state else " " for cell in range(6)]
        rows = ["| " + " | ".join(signs[row : row + 2]) + " |" for row in (0, 2, 4)]
        return "+---+---+\\n" + "\\n+---+---+\\n".join(rows) + f"\\n+---+---+\\nStones so far: {len(state)}\\n"

class Told(Lined):
    name = "told"
    def draw(self, state): return f"There are {len(state)} stones.\\n"
"""


def test_own_games_of_text_are_boards_with_their_words_and_are_read_in_the_dark(
    visit: Open, browser: Any, tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text(OWN_GAMES, encoding="utf-8")
    with serving(own_games=[f"{tmp_path / 'own.py'}:{name}" for name in ("Lined", "Told")]) as (address, _):
        context = browser.new_context(color_scheme="dark")
        page = context.new_page()
        page.goto(f"{address}#/games")
        card = page.get_by_role("link", name=re.compile("own.py:Told"))
        card.wait_for()
        light = """(element) => {
            const [red, green, blue] = getComputedStyle(element)[NAME].match(/[\\d.]+/g).map(Number);
            return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
        }"""
        ink = card.locator("svg text").first.evaluate(light.replace("NAME", "'fill'"))
        paper = card.evaluate(light.replace("NAME", "'backgroundColor'"))
        assert ink > 0.7 and paper < 0.25, "light letters on a dark card"
        page.get_by_role("link", name=re.compile("own.py:Lined")).click()
        page.get_by_role("link", name="Play", exact=True).nth(1).click()
        says(page, "Your move")
        assert page.locator("[data-cell]").count() == 6, "a board from the first move on"
        assert "Stones so far: 0" in page.locator(".counts").inner_text()
        page.locator("[data-cell].open").first.click()
        page.wait_for_function("() => document.querySelector('.counts').textContent.includes('Stones so far: 2')")
        page.get_by_role("button", name="Analyse", exact=True).click()
        page.wait_for_url(re.compile("analyse"))
        page.wait_for_function("() => document.querySelector('.counts')?.textContent.includes('Stones so far: 2')")
        context.close()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_bar_beside_the_board_shows_whose_chances_are_better(visit: Open, size: dict[str, int]) -> None:
    """Yellow wins by the middle column, and loses where red has the move and three in a column."""
    for moves, is_yellow in (("4+3+4+3+4+2", True), ("4+3+4+3+1+3+7", False)):
        page = visit(f"#/analyse?game=connect4&moves={moves}&ply=9", size=size)
        bar = page.get_by_role("meter")
        page.wait_for_function(
            "good => { const now = Number(document.querySelector('[role=meter]')?.ariaValueNow ?? 50);"
            " return good ? now > 90 : now < 10; }",
            arg=is_yellow,
        )
        assert bar.get_attribute("aria-label") == "Expected result of yellow"
        share, whole = page.locator(".evaluation .share").bounding_box(), bar.bounding_box()
        long = "height" if size is DESKTOP else "width"
        shown = share[long] / whole[long]
        assert shown > 0.85 if is_yellow else shown < 0.15
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        board = page.locator(".board").bounding_box()
        if size is DESKTOP:
            assert abs(whole["height"] - board["height"]) < 40 and whole["x"] + whole["width"] <= board["x"]
        else:
            assert whole["y"] + whole["height"] <= board["y"] + 1


def test_sides_have_their_names_and_may_be_drawn(visit: Open) -> None:
    drawn = set()
    for number in (0.1, 0.9):
        page = visit("#/play?game=chess&vs=random", script=f"Math.random = () => {number};")
        says(page, "Your move")
        page.get_by_role("button", name="New game").click()
        side = page.get_by_label("You play")
        side.wait_for()
        assert side.locator("option").all_inner_texts()[:3] == ["white, first", "black, second", "a random side"]
        side.select_option("random")
        page.get_by_role("button", name="Play", exact=True).click()
        page.wait_for_url(re.compile("side=[01]"))
        says(page, "Your move (white)." if number < 0.5 else "Your move (black).")
        drawn.add(re.search("side=([01])", page.url)[1])  # type: ignore[index]
    assert drawn == {"0", "1"}


def test_an_answer_that_comes_after_its_page_was_left_changes_nothing(visit: Open) -> None:
    """It wrote its page into the address, and the page that was opened stayed empty."""
    slow = """const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (text) {
        setTimeout(() => send.call(this, text), text.includes("play.open") ? 300 : 0);
    };"""
    page = visit("#/play?game=tictactoe&side=both", script=slow)
    page.wait_for_timeout(100)
    page.evaluate("() => { location.hash = '#/runs'; }")
    page.get_by_role("heading", name="Runs", exact=True).wait_for()
    page.wait_for_timeout(600)
    assert "#/runs" in page.url and page.get_by_role("heading", name="Runs", exact=True).count() == 1
