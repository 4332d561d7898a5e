"""What is around a game: a new one, hints, taking back, reloads, the keyboard, the turned board."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import zerosum
from web_for_tests import Open, click, history, says


def test_a_newcomer_plays_with_one_click_and_another_game_with_one_more(
    visit: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zerosum.play.bundled.DIRECTORY", Path(zerosum.__file__).parent / "data" / "networks")
    page = visit("")
    says(page, "Your move")
    assert "Click the board" in page.locator(".thought").inner_text()
    assert page.get_by_role("link", name="Take the tour").get_attribute("href") == "#/tour"
    page.locator("[data-cell].column").first.click()
    assert history(page, 2)[0] == "1"
    page.get_by_role("region", name="Other games").get_by_role("link", name="othello").click()
    page.wait_for_url(re.compile("game=othello"))
    says(page, "Your move")
    page.locator(".player-bar .who").first.filter(has_text=re.compile("^zerosum's network")).wait_for()
    click(page, "d3")
    history(page, 2)


def test_a_new_game_is_set_up(visit: Open) -> None:
    page = visit("#/play")
    says(page, "Your move")
    page.get_by_role("button", name="New game").click()
    page.get_by_label("Game", exact=True).select_option("othello")
    page.get_by_label("Opponent").select_option("alphabeta")
    page.get_by_label("Strength").select_option("2")
    page.get_by_label("Clock").select_option("other")
    page.get_by_label("Time control").fill("40/300+3")
    page.get_by_role("button", name="Play", exact=True).click()
    says(page, "Your move")
    page.wait_for_url(re.compile("vs=alphabeta%402"))
    assert page.locator("time").count() == 2


def test_a_rating_is_offered_where_ratings_are_measured(visit: Open) -> None:
    page = visit("#/play?game=nim&side=0&vs=rollouts@50")
    says(page, "Your move")
    page.get_by_role("button", name="New game").click()
    page.get_by_label("Strength").wait_for()
    assert "a rating …" not in page.get_by_label("Strength").locator("option").all_inner_texts()


def test_a_reload_in_the_middle_of_a_game_loses_nothing(visit: Open) -> None:
    page = visit("#/play?game=tictactoe&side=0&vs=rollouts@20")
    says(page, "Your move")
    click(page, "b2")
    before = history(page, 2)
    page.reload()
    assert history(page, 2) == before
    says(page, "Your move")
    other = visit("#/" + page.url.partition("#/")[2])
    assert history(other, 2) == before


def test_take_back_hint_flip_resign_and_save(visit: Open) -> None:
    page = visit("#/play?game=chess&side=0&vs=random")
    says(page, "Your move")
    click(page, "e2", "e4")
    history(page, 2)
    page.get_by_role("button", name="Hint").click()
    page.locator(".lines li").first.wait_for()
    assert page.locator(".arrow.best").count() == 1
    page.get_by_role("button", name="Flip").click()
    page.wait_for_function("() => document.querySelector('.picture .label').textContent === '1'")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save PGN").click()
    assert "1. e4" in Path(saved.value.path()).read_text()
    page.get_by_role("button", name="Take back").click()
    page.wait_for_function("() => document.querySelectorAll('.moves button').length === 0")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Resign").click()
    says(page, "random wins: white resigns")


def test_keyboard_alone(visit: Open) -> None:
    page = visit("#/play?game=chess&side=0&vs=random")
    says(page, "Your move")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.cell") is not None:
            break
    assert page.evaluate("document.activeElement.dataset.name") == "a8"
    for key in ["ArrowRight"] * 4 + ["ArrowDown"] * 6 + ["Enter"] + ["ArrowUp"] * 2 + ["Enter"]:
        page.keyboard.press(key)
    assert history(page, 2)[0] == "e4"
    page.keyboard.press("u")
    page.wait_for_function("() => document.querySelectorAll('.moves button').length === 0")


def test_two_visitors_do_not_meet(visit: Open) -> None:
    first, second = (visit("#/play?game=tictactoe&side=both") for _ in range(2))
    for page, cell in ((first, "a1"), (second, "c3")):
        says(page, "to move")
        click(page, cell)
    assert history(first, 1) == ["a1"] and history(second, 1) == ["c3"]


def test_a_turned_board_and_western_letters_stay_over_a_reload(visit: Open) -> None:
    page = visit("#/play?game=shogi&side=both&western=true")
    says(page, "Black to move")
    page.get_by_role("button", name="Flip").click()
    page.wait_for_url(re.compile("flipped=true"))
    assert "western=true" in page.url
    label = "document.querySelector('.picture .label').textContent"
    turned = page.evaluate(label)
    page.reload()
    says(page, "Black to move")
    assert page.evaluate(label) == turned
    letters = page.locator(".picture g text").all_text_contents()
    assert "P" in letters
    page.get_by_role("button", name="Flip").click()
    page.wait_for_function("turned => document.querySelector('.picture .label').textContent !== turned", arg=turned)
    assert "flipped" not in page.url
