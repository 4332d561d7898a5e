"""Whole games and their special moves, made by clicking and dragging."""

from __future__ import annotations

import re

import pytest

from web_for_tests import Open, click, history, says


def test_a_whole_game_of_connect_four_against_the_program(visit: Open) -> None:
    page = visit("#/play?game=connect4&side=0&vs=rollouts@50")
    says(page, "Your move")
    for _ in range(21):
        page.wait_for_function(
            "() => document.querySelector('.says.over') || document.querySelector('.says').textContent.includes('Your')"
        )
        if page.locator(".says.over").count():
            break
        before = page.url
        page.locator("[data-cell].column").first.click()
        # The address has the moves: until it changes the page still shows the position before the click.
        page.wait_for_function("before => location.href !== before", arg=before)
    says(page, ".")
    assert re.search("win|draw", page.locator(".says").inner_text())
    assert "moves=" in page.url


def test_chess_with_castling_en_passant_and_promotion(visit: Open) -> None:
    page = visit("#/play?game=chess&side=both&moves=e2e4+e7e5+g1f3+b8c6+f1c4+f8c5")
    says(page, "White to move")
    click(page, "e1", "g1")
    says(page, "Black to move")
    assert history(page, 7)[-1] == "O-O"
    assert page.locator('[data-name="f1"]').get_attribute("aria-label") == "f1, white rook"
    page = visit("#/play?game=chess&side=both&moves=e2e4+a7a6+e4e5+d7d5")
    says(page, "White to move")
    click(page, "e5", "d6")
    assert history(page, 5)[-1] == "exd6" and page.locator('[data-name="d5"]').get_attribute("aria-label") == "d5"
    page = visit("#/play?game=chess&side=both&start=8/P6k/8/8/8/8/7K/8+w+-+-+0+1")
    says(page, "White to move")
    click(page, "a7", "a8")
    page.get_by_role("dialog", name="Choose the move").get_by_role("button", name="Knight").click()
    assert history(page, 1) == ["a8=N"]


def test_a_dragged_piece_follows_the_pointer_and_promotes_at_its_square(visit: Open) -> None:
    page = visit("#/play?game=chess&side=both&start=8/P6k/8/8/8/8/7K/8+w+-+-+0+1")
    says(page, "White to move")
    boxes = {name: page.locator(f'[data-name="{name}"] .cell').bounding_box() for name in ("a7", "a8", "d4", "h7")}
    at = {name: (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for name, box in boxes.items()}
    pawn = "[...document.querySelectorAll('.picture use')].find((one) => one.getAttribute('href').endsWith('first-p'))"

    def middle() -> tuple[float, float]:
        box = page.evaluate(f"{pawn}.getBoundingClientRect().toJSON()")
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    page.mouse.move(*at["a7"])
    page.mouse.down()
    page.mouse.move(*at["d4"], steps=4)
    assert middle() == pytest.approx(at["d4"], abs=boxes["d4"]["width"] / 6)
    page.mouse.up()
    assert middle() == pytest.approx(at["a7"], abs=boxes["d4"]["width"] / 6), "not a legal move"
    page.mouse.move(*at["a7"])
    page.mouse.down()
    page.mouse.move(*at["a8"], steps=4)
    page.mouse.up()
    dialog = page.get_by_role("dialog", name="Choose the move")
    place = dialog.bounding_box()
    assert place["width"] < 100 and place["x"] < at["a8"][0] < place["x"] + place["width"]
    assert abs(place["y"] - boxes["a8"]["y"]) < 2 and dialog.locator("svg use").count() == 4
    dialog.get_by_role("button", name="Rook").click()
    assert history(page, 1) == ["a8=R"]


def test_a_shogi_promotion_and_a_drop(visit: Open) -> None:
    page = visit("#/play?game=shogi&side=both&moves=7g7f+3c3d")
    says(page, "Black to move")
    click(page, "8h", "2b")
    page.get_by_role("button", name="Promote", exact=True).click()
    says(page, "White to move")
    click(page, "3a", "2b")
    says(page, "Black to move")
    assert page.locator(".player-bar .hand svg use, .player-bar .hand svg path").count() > 2
    assert page.locator(".player-bar .hand svg text").count() == 0, "pieces in hand are outlines, as on the board"
    page.get_by_role("button", name="1 bishop in hand").nth(1).click()
    click(page, "5e")
    assert history(page, 5)[-1] == "B*5e"


def test_a_go_game_to_its_score(visit: Open) -> None:
    page = visit("#/play?game=go(size=5,+komi=0.5)&side=both&moves=C3+pass+B3+pass+D3+pass+A3+pass")
    says(page, "Black to move")
    click(page, "E3")
    says(page, "White to move")
    page.get_by_role("button", name="Pass", exact=True).click()
    says(page, "Black to move")
    page.get_by_role("button", name="Pass", exact=True).click()
    says(page, "Black wins: two passes, by 24.5 points")
    assert page.locator(".own-first").count() == 25
    click(page, "C3")
    says(page, "White wins: two passes, by 0.5 points. Dead stones: Black A3 B3 C3 D3 E3.")
    page.wait_for_url(re.compile("marked="))
    page.reload()
    says(page, "White wins: two passes")
    click(page, "A3")
    says(page, "Black wins: two passes, by 24.5 points")


def test_a_game_of_ones_own_is_played(visit: Open) -> None:
    page = visit("#/games")
    page.get_by_role("link", name=re.compile("breakthrough.py")).click()
    page.get_by_role("link", name="Play", exact=True).nth(1).click()
    says(page, "Your move")
    page.locator("[data-cell].source").first.click()
    page.locator("[data-cell].legal").first.click()
    history(page, 2)
    says(page, "Your move")


def test_a_game_of_openspiel_is_played_to_its_end(visit: Open) -> None:
    pytest.importorskip("pyspiel", reason="open_spiel is not installed")
    page = visit("#/play?game=openspiel:tic_tac_toe&side=0&vs=rollouts@30")
    says(page, "Your move")
    while not page.locator(".says.over").count():
        before = page.url
        page.locator("[data-cell].open").first.click()
        page.wait_for_function("before => location.href !== before", arg=before)
        page.wait_for_function(
            "() => document.querySelector('.says.over') || document.querySelector('.says').textContent.includes('Your')"
        )
    assert re.search("win|draw", page.locator(".says").inner_text())
