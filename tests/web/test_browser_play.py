"""Playing as people of lichess and KaTrain know it: options before a game, teaching, plans, motion, sound, captures."""

from __future__ import annotations

import re
from typing import Any

import pytest

from web_for_tests import DESKTOP, PHONE, Open, click, history, says


def test_komi_and_handicap_are_set_before_a_game(visit: Open) -> None:
    page = visit("#/play?game=go9&side=1&vs=random")
    says(page, "Your move")
    page.get_by_role("button", name="New game").click()
    page.get_by_label("Handicap stones").select_option("3")
    page.get_by_label("Komi").fill("0.5")
    page.get_by_label("Komi").press("Tab")
    page.wait_for_function(
        "() => document.querySelector('[aria-label=\"Game with options\"]').value.includes('komi=0.5')"
    )
    page.get_by_label("You play").select_option("1")
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_url(re.compile(r"handicap(%3D|=)3"))
    says(page, "Your move (white)")
    assert page.locator('[aria-label$="black stone"]').count() == 3, "White moves first against the handicap stones"
    page.get_by_role("button", name="New game").click()
    page.get_by_label("Komi").fill("99999")
    page.get_by_label("Komi").press("Tab")
    page.locator(".problem", has_text="komi").wait_for()
    page.get_by_label("Game", exact=True).select_option("chess")
    page.get_by_label("Komi").wait_for(state="detached")


def test_stones_bear_the_numbers_of_their_moves(visit: Open) -> None:
    page = visit("#/play?game=go9&side=both&moves=E5+E4+D4+A1+F4+A2")
    says(page, "Black to move")
    numbers = page.locator(".move-number")
    assert numbers.count() == 0
    page.get_by_role("button", name="Numbers").click()
    numbers.first.wait_for()
    assert sorted(numbers.all_text_contents(), key=int) == ["1", "2", "3", "4", "5", "6"]
    click(page, "E3")  # takes E4, the second move
    numbers.get_by_text("7", exact=True).wait_for()
    assert sorted(numbers.all_text_contents(), key=int) == ["1", "3", "4", "5", "6", "7"]
    page.reload()
    numbers.first.wait_for()
    page = visit("#/play?game=chess&side=both")
    says(page, "White to move")
    assert not page.get_by_role("button", name="Numbers").is_visible()


def test_a_bad_move_may_be_taken_back_with_a_word(visit: Open) -> None:
    """Yellow has three in a column; red must block, and does not."""
    page = visit("#/play?game=connect4&side=1&vs=rollouts@100&teach=true&moves=4+3+4+3+4")
    says(page, "Your move")
    page.locator('[data-cell="0"]').click()
    question = page.locator(".doubt")
    question.wait_for()
    assert re.fullmatch(r"This gives away \d+ % of your chances\. Take it back\?", question.locator("p").inner_text())
    assert len(history(page, 6)) == 6, "the computer waits"
    page.get_by_role("button", name="Take it back").click()
    page.wait_for_function("() => document.querySelectorAll('.moves button').length === 5")
    page.locator('[data-cell="3"]').click()
    assert len(history(page, 7)) == 7, "a good move is answered"
    page.get_by_role("button", name="New game").click()
    page.get_by_label("Clock").select_option("60")
    assert not page.get_by_text("Tell me of bad moves").is_visible(), "a clock and teaching do not go together"


def test_a_bad_move_stands_if_it_is_meant(visit: Open) -> None:
    page = visit("#/play?game=connect4&side=1&vs=rollouts@100&teach=true&moves=4+3+4+3+4")
    says(page, "Your move")
    page.locator('[data-cell="0"]').click()
    page.get_by_role("button", name="Play on").click()
    says(page, "wins")


def test_a_planned_move_is_played_when_its_turn_comes(visit: Open) -> None:
    slow = "#/play?game=chess&side=0&vs=rollouts&seconds=2"
    page = visit(slow)
    says(page, "Your move")
    click(page, "e2", "e4")
    says(page, "is to move")
    click(page, "d2", "d3")
    assert page.locator("[data-cell].planned").count() == 2
    assert history(page, 3)[2] == "d3", "no click was needed after the answer"
    assert page.locator("[data-cell].planned").count() == 0
    says(page, "is to move")
    click(page, "e7", "e5")
    assert page.locator("[data-cell].planned").count() == 0, "the opponent's piece is not one's own"
    click(page, "g1", "f3")
    page.locator('[data-name="d4"]').click()
    assert page.locator("[data-cell].planned").count() == 0, "a click elsewhere forgets the plan"
    page = visit("#/play?game=othello&side=0&vs=rollouts&seconds=2")
    says(page, "Your move")
    click(page, "d3")
    says(page, "is to move")
    click(page, "a1")
    assert page.locator("[data-cell].planned").count() == 1
    assert len(history(page, 2)) == 2
    says(page, "Your move")
    page.wait_for_timeout(300)
    assert len(history(page, 2)) == 2, "an illegal plan is dropped"


def test_a_piece_in_hand_is_planned_too(visit: Open) -> None:
    page = visit(
        "#/play?game=shogi&side=0&vs=rollouts&seconds=10&moves=7g7f+3c3d+8h2b%2B+3a2b"
    )  # longer than the clicks
    says(page, "Your move")
    click(page, "9g", "9f")
    says(page, "is to move")
    mine, theirs = (page.locator(f'.hand button[data-player="{player}"]') for player in (0, 1))
    assert mine.is_enabled() and theirs.is_disabled()
    mine.click()
    mine.click()
    click(page, "5e")
    assert page.locator(".planned").count() == 0, "a second click on the piece has put it back"
    click(page, "9f")
    mine.click()
    assert page.locator(".planned").count() == 0, "the piece in hand takes the place of the one on the board"
    click(page, "5e")
    assert page.locator("[data-cell].planned").count() == 1 and page.locator(".hand button.planned").count() == 1
    assert history(page, 7)[6].replace("*", "").startswith("B"), "no click was needed after the answer"
    assert page.locator('[data-name="5e"]').get_attribute("aria-label") == "5e, black bishop"
    assert page.locator(".planned").count() == 0


MOTIONS = (
    "addEventListener('animationstart', () => {}); globalThis.moved = 0; const animate = Element.prototype.animate;"
    " Element.prototype.animate = function (...given) { globalThis.moved += 1; return animate.apply(this, given); };"
)


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_a_moved_piece_slides_unless_motion_is_unwanted(browser: Any, site: Any, motion: str) -> None:
    for game, cells in (("chess", ("e2", "e4")), ("connect4", None)):
        context = browser.new_context(viewport=DESKTOP, reduced_motion=motion)
        page = context.new_page()
        page.add_init_script(MOTIONS)
        page.goto(f"{site[0]}#/play?game={game}&side=both")
        says(page, "to move")
        if cells:
            click(page, *cells)
        else:
            page.locator('[data-cell="3"]').click()
        history(page, 1)
        assert page.evaluate("globalThis.moved") == (1 if motion == "no-preference" else 0)
        context.close()


def test_sounds_are_off_until_they_are_asked_for(visit: Open) -> None:
    counting = (
        "globalThis.tones = []; const begin = OscillatorNode.prototype.start;"
        " OscillatorNode.prototype.start = function (at) {"
        " globalThis.tones.push(this.frequency.value); return begin.call(this, at); };"
    )
    page = visit("#/play?game=chess&side=both&moves=e2e4+d7d5", script=counting)
    says(page, "White to move")
    button = page.get_by_role("button", name="Sounds of moves")
    assert button.get_attribute("aria-pressed") == "false"
    click(page, "e4", "d5")
    history(page, 3)
    assert page.evaluate("tones.length") == 0
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    page.evaluate("tones.length = 0")
    click(page, "d8", "d5")
    history(page, 4)
    page.wait_for_function("() => tones.length > 0")
    taking = page.evaluate("tones.splice(0)")
    click(page, "b1", "c3")
    history(page, 5)
    page.wait_for_function("() => tones.length > 0")
    moving = page.evaluate("tones.splice(0)")
    click(page, "d5", "e5")
    says(page, "to move")
    history(page, 6)
    page.wait_for_function("() => tones.length > 0")
    checking = page.evaluate("tones.splice(0)")
    assert taking != moving and checking not in (taking, moving)


def test_taken_pieces_stand_beside_the_players_names(visit: Open) -> None:
    page = visit("#/play?game=chess&side=both&moves=e2e4+d7d5+e4d5+d8d5+b1c3+d5d2+d1d2")
    says(page, "Black to move")
    below, above = (page.locator(".player-bar").nth(number).locator(".taken") for number in (1, 0))
    assert below.locator("svg").count() == 2 and above.locator("svg").count() == 2
    assert "has taken 1 p, 1 q" in str(below.text_content()).lower()
    assert "+8" in str(below.text_content()), "a queen for a pawn"
    page.get_by_role("button", name="First position").click()
    page.wait_for_function("() => document.querySelectorAll('.taken svg').length === 0")
    page = visit("#/play?game=shogi&side=both&moves=7g7f+3c3d+8h2b%2B+3a2b", size=PHONE)
    says(page, "Black to move")
    assert page.locator(".taken svg").count() == 0, "they are in hand"
