"""The pages in a real browser, as people use them; the pictures of docs/web.md are made here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import zerosum
from web_for_tests import DESKTOP, PHONE, Open, click, history, picture, record_games, says, serving, untrained_run
from zerosum.play.runs import NETWORKS
from zerosum.run.run_directory import hold


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


def test_a_newcomer_plays_with_one_click_and_another_game_with_one_more(
    visit: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zerosum.play.bundled.DIRECTORY", Path(zerosum.__file__).parent / "data" / "networks")
    page = visit("")
    says(page, "Your move")
    assert "Click the board" in page.locator(".thought").inner_text()
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


def test_two_visitors_do_not_meet(visit: Open) -> None:
    first, second = (visit("#/play?game=tictactoe&side=both") for _ in range(2))
    for page, cell in ((first, "a1"), (second, "c3")):
        says(page, "to move")
        click(page, cell)
    assert history(first, 1) == ["a1"] and history(second, 1) == ["c3"]


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


def test_a_pgn_is_analysed(visit: Open) -> None:
    page = visit("#/analyse")
    says(page, "to move")
    if not page.get_by_label("A game, a position or moves").is_visible():
        page.get_by_text("Open a game").click()
    page.get_by_label("A game, a position or moves").fill(
        '[White "<b>Ann</b>"]\n[Black "Bob"]\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0'
    )
    page.get_by_role("button", name="Open", exact=True).click()
    says(page, "<b>Ann</b> – Bob")
    shown = page.get_by_label("Show").locator("option").all_inner_texts()
    assert shown == ["best lines", "policy as heat", "visits as heat"], "chess has no territory"
    page.get_by_label("Search of a position").select_option("50")
    page.get_by_role("button", name="Review the game").click()
    page.locator(".summary table").wait_for()
    assert page.locator(".course path").count() == 2
    page.get_by_role("button", name="Move 6: Nf6").click()
    page.wait_for_function("() => document.querySelector('.comment').textContent.includes('Nf6')")
    page.locator(".arrow.best").wait_for()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save PGN").click()
    assert "Analysed by rollouts" in Path(saved.value.path()).read_text()
    page.get_by_role("button", name="One move back").click()
    page.locator('.moves [aria-current][aria-label="Move 5: Bc4"]').wait_for()
    click(page, "d7", "d6")
    page.wait_for_function("() => document.querySelector('.variation').textContent.includes('You try')")


def test_another_game_of_a_file_is_chosen(visit: Open, tmp_path: Path) -> None:
    names = [("Ann", "e4"), ("Cid", "d4"), ("Eve", "c4")]
    (tmp_path / "games.pgn").write_text("\n\n".join(f'[White "{name}"]\n\n1. {move} *' for name, move in names))
    page = visit("#/analyse?game=chess")
    says(page, "to move")
    assert not page.get_by_label("Game of the file").is_visible()
    page.get_by_text("Open a game").click()
    page.get_by_label("A file of games").set_input_files(tmp_path / "games.pgn")
    says(page, "Ann – ?")
    assert not page.get_by_label("A file of games").is_visible(), "the panel has folded"
    page.get_by_label("Game of the file, one of 3").select_option("2")
    says(page, "Eve – ?")
    assert history(page, 1) == ["c4"]
    assert page.get_by_label("Game of the file").locator("option:checked").inner_text().startswith("3. Eve")
    page.get_by_label("Game of the file").select_option("0")
    says(page, "Ann – ?")


def test_an_sgf_is_uploaded_and_analysed(visit: Open, tmp_path: Path) -> None:
    (tmp_path / "game.sgf").write_text("(;GM[1]SZ[9]PB[Bo];B[ee];W[cc];B[gg];W[])", encoding="utf-8")
    (tmp_path / "nonsense.sgf").write_bytes(bytes(range(256)) * 4)
    page = visit("#/analyse")
    says(page, "to move")
    if not page.get_by_label("A file of games").is_visible():
        page.get_by_text("Open a game").click()
    page.get_by_label("A file of games").set_input_files(tmp_path / "nonsense.sgf")
    page.locator("#toast.shown").wait_for()
    page.get_by_label("A file of games").set_input_files(tmp_path / "game.sgf")
    says(page, "Bo – ?")
    assert history(page, 4) == ["E5", "C7", "G3", "pass"]
    page.get_by_role("button", name="Last position").click()
    page.get_by_label("Show").select_option("ownership")
    page.locator(".own-first, .own-second").first.wait_for()
    page.locator(".candidate").first.wait_for()  # the best moves stand on the territory
    assert page.locator(".own-first, .own-second").count() > 0
    page.get_by_label("Show").select_option("visits")
    page.locator(".heat").first.wait_for()


@pytest.mark.parametrize(
    ("name", "encoding", "text"),
    [
        ("game.kif", "cp932", "手合割：平手\n先手：羽生\n後手：森内\n   1 ７六歩(77)\n   2 ３四歩(33)\n   3 投了\n"),  # noqa: RUF001
        ("game.csa", "ascii", "V2.2\nN+Habu\nN-Moriuchi\nPI\n+\n+7776FU\n-3334FU\n%TORYO\n"),
    ],
    ids=["kif", "csa"],
)
def test_a_record_of_shogi_is_uploaded(visit: Open, tmp_path: Path, name: str, encoding: str, text: str) -> None:
    (tmp_path / name).write_bytes(text.encode(encoding))
    page = visit("#/analyse")
    says(page, "to move")
    if not page.get_by_label("A file of games").is_visible():
        page.get_by_text("Open a game").click()
    page.get_by_label("A file of games").set_input_files(tmp_path / name)
    says(page, {"game.kif": "羽生 – 森内", "game.csa": "Habu – Moriuchi"}[name])
    assert history(page, 2) == ["7g7f", "3c3d"]
    page.locator(".arrow").first.wait_for(state="attached")  # a vertical line has no width
    page.get_by_label("Search of a position").select_option("50")
    page.get_by_role("button", name="Review the game").click()
    format = name.rpartition(".")[2].upper()
    with page.expect_download() as saved:
        page.get_by_role("button", name=f"Save {format}").click()
    assert {"KIF": "７六歩", "CSA": "+7776FU"}[format] in Path(saved.value.path()).read_text(encoding="utf-8")


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


def test_two_checkpoints_are_pitted_against_each_other(visit: Open) -> None:
    page = visit("#/runs")
    page.get_by_role("link", name="Pit two checkpoints").click()
    page.get_by_label("Simulations of the first player").select_option("10")
    page.get_by_label("Second player", exact=True).select_option("random")
    page.get_by_label("Length").select_option("2")
    page.get_by_role("button", name="Begin").click()
    says(page, "The match is over after 2 games.")
    assert "random" in page.url and "Elo of tiny@10 over random: " in page.locator("#main").inner_text()
    page.get_by_label("Finished games").get_by_role("link").first.click()
    page.wait_for_url(re.compile("analyse"))
    page.locator(".board").first.wait_for()
    page = visit("#/match?game=connect4", size=PHONE)
    page.get_by_label("Simulations of the first player").select_option("200")  # it must not end before it is stopped
    page.get_by_label("Length").select_option("200")
    page.get_by_role("button", name="Begin").click()
    page.get_by_label("Finished games").get_by_role("link").nth(1).wait_for()
    page.get_by_role("button", name="Stop").click()
    says(page, "Stopped after")


def test_a_run_is_watched(visit: Open) -> None:
    page = visit("#/runs")
    page.get_by_text("Is it learning?").wait_for()
    assert page.locator(".chart:not(.wide-chart)").count() == 6
    page.locator(".wide-chart .area:not(.rest)").first.wait_for()
    assert "First moves of tiny" in page.locator(".wide-chart").inner_text()
    page.get_by_role("button", name=re.compile("^Game 4")).click()
    page.locator(".replay .board").wait_for()
    page.get_by_role("button", name="One move on").click()
    page.get_by_text("Move 2 of").wait_for()
    page.get_by_role("link", name="Play it").click()
    says(page, "Your move")
    page.wait_for_url(re.compile("vs=tiny"))
    page.locator("[data-cell].column").first.click()
    history(page, 2)


@pytest.mark.parametrize("value", [0, 5, -3, 0.001, 123_456])
def test_a_chart_of_one_point_has_axes_from_zero(visit: Open, value: float) -> None:
    page = visit("#/games")
    drawn = page.evaluate(
        """async (value) => {
            const { chart } = await import("/static/chart.js");
            const figure = chart([{ name: "one", points: [[value, value]] }], { title: "one point" });
            const dot = figure.querySelector(".dot"), box = figure.querySelector("svg").getAttribute("viewBox");
            const ticks = (anchor) => [...figure.querySelectorAll(`.tick[text-anchor=${anchor}]`)];
            const words = (anchor) => ticks(anchor).map((one) => one.textContent).filter(Boolean);
            const place = ["cx", "cy"].map((name) => dot.getAttribute(name));
            return { x: words("middle"), y: words("end"), dot: place, box };
        }""",
        value,
    )
    for names in (drawn["x"], drawn["y"]):
        numbers = [float(name.replace("k", "e3")) for name in names]
        assert 3 <= len(numbers) == len(set(numbers)) <= 7 and 0 in numbers
        assert max(map(abs, numbers)) >= abs(value)
    (x, y), (_, _, width, height) = map(float, drawn["dot"]), map(float, drawn["box"].split())
    assert 0 < x < width and 0 < y < height


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
    picture(page, "analyse")


def test_a_broken_record_tells_where_it_ends(visit: Open) -> None:
    page = visit("#/analyse?game=chess")
    says(page, "to move")
    assert not page.locator(".faults").is_visible()
    page.get_by_text("Open a game").click()
    page.get_by_label("A game, a position or moves").fill("1. e4 e5 2. Nf3 Nd6 3. d4")
    page.get_by_role("button", name="Open", exact=True).click()
    page.locator(".faults").wait_for()
    told = page.locator(".faults").inner_text()
    assert "3 moves could be read" in told and "Nd6" in told
    page.get_by_text("Open a game").click()
    page.get_by_label("A game, a position or moves").fill("1. e4 e5 2. Nf3 Nc6 3. d4")
    page.get_by_role("button", name="Open", exact=True).click()
    page.locator(".faults").wait_for(state="hidden")


def test_the_judge_follows_the_game(visit: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """After a record of a game that no network plays, chess is judged by its network again, and not by random games."""
    monkeypatch.setattr("zerosum.play.bundled.DIRECTORY", Path(zerosum.__file__).parent / "data" / "networks")
    (tmp_path / "large.sgf").write_text("(;GM[1]SZ[19];B[pd];W[dp])", encoding="utf-8")
    page = visit("#/analyse?game=chess")
    judge = page.get_by_label("Who judges")
    judge.wait_for()
    usual = judge.input_value()
    assert usual != "rollouts"
    page.get_by_text("Open a game").click()
    page.get_by_label("A file of games").set_input_files(tmp_path / "large.sgf")
    page.wait_for_function(
        "() => document.querySelector('label.field select[aria-label=\"Who judges\"]')?.value === 'rollouts'"
    )
    page.get_by_text("Open a game").click()
    page.get_by_label("A game, a position or moves").fill("1. e4 e5")
    page.get_by_role("button", name="Open", exact=True).click()
    history(page, 2)
    page.wait_for_function(
        "usual => document.querySelector('label.field select[aria-label=\"Who judges\"]')?.value === usual", arg=usual
    )
    judge.select_option("rollouts")
    page.wait_for_timeout(200)
    page.get_by_text("Open a game").click()
    page.get_by_label("A game, a position or moves").fill("1. d4 d5 2. c4")
    page.get_by_role("button", name="Open", exact=True).click()
    history(page, 3)
    page.wait_for_timeout(300)
    assert judge.input_value() == "rollouts", "what was chosen for the same game stays"


def test_a_run_that_learns_shows_its_newest_games_and_leaves_the_focus(browser: Any, tmp_path: Path) -> None:
    run = untrained_run(tmp_path / "runs" / "tiny")
    record_games(run, number=3)
    with serving(runs=[run.parent]) as (where, _), hold(run):
        context = browser.new_context(viewport=DESKTOP)
        page = context.new_page()
        page.goto(f"{where}#/runs")
        page.get_by_role("button", name=re.compile("^Game 2")).click()
        page.get_by_role("button", name="One move on").click()
        page.get_by_text("Move 2 of").wait_for()
        page.get_by_role("button", name=re.compile("^Game 1")).focus()
        record_games(run, number=3, first=3)
        page.get_by_role("button", name=re.compile("^Game 5")).wait_for()
        focused = "document.activeElement.dataset.key ?? document.activeElement.getAttribute('aria-label')"
        assert page.evaluate(focused) == "game 1"
        assert page.get_by_text("Move 2 of").count() == 1, "the game that was looked at is still there"
        page.get_by_label("Show tiny").focus()
        untrained_run(run, steps=(4,))  # a new checkpoint: all is drawn anew
        page.locator(".fact a.step", has_text=re.compile("^4$")).wait_for()
        assert page.evaluate(focused) == "Show tiny"
        context.close()


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


def test_a_rating_is_offered_where_ratings_are_measured(visit: Open) -> None:
    page = visit("#/play?game=nim&side=0&vs=rollouts@50")
    says(page, "Your move")
    page.get_by_role("button", name="New game").click()
    page.get_by_label("Strength").wait_for()
    assert "a rating …" not in page.get_by_label("Strength").locator("option").all_inner_texts()


def test_moves_of_random_games_are_called_guesses_before_they_are_shown(visit: Open) -> None:
    """Where no network has learned the game, the page says so, and how one is opened."""
    page = visit("#/analyse?game=go19&moves=Q16", script="localStorage.setItem('look', 'off')")
    page.locator(".unlearned").wait_for()
    told = page.locator(".unlearned").inner_text()
    assert "No network here has learned go:" in told and "zerosum web" in told
    page = visit("#/analyse?game=connect4&moves=4")
    page.get_by_label("Who judges").wait_for()
    assert not page.locator(".unlearned").is_visible()
    page = visit("#/play?game=tictactoe&side=0&vs=rollouts@20")
    says(page, "Your move")
    page.get_by_role("button", name="Hint").click()
    page.locator(".lines li").first.wait_for()
    assert "Random games have judged" in page.locator(".thought").inner_text()


def test_a_wrong_address_shows_a_page_and_says_so(visit: Open) -> None:
    for wrong in ("nosuch", "constructor"):
        page = visit(f"#/{wrong}")
        says(page, "Your move")
        page.locator("#toast.shown", has_text=f"There is no page {wrong}").wait_for()
    page = visit("#/games?name=nosuch")
    page.locator("#toast.shown", has_text="unknown game").wait_for()
    page.get_by_role("link", name="About chess", exact=True).wait_for()


def test_moves_typed_on_a_games_page_stay(visit: Open) -> None:
    page = visit("#/games?name=tictactoe")
    page.get_by_label("Moves of the position").fill("b2 a1")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url(re.compile("moves=b2"))
    assert page.get_by_label("Moves of the position").input_value() == "b2 a1"


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


def test_a_review_under_way_is_no_win_of_the_second_player(visit: Open) -> None:
    page = visit("#/games")
    widths = page.evaluate(
        """async () => {
            const { course } = await import("/static/chart.js");
            const painted = (points) => course(points, [], 0, () => {}).querySelector(".second");
            const width = (points) => Number(painted(points).getAttribute("width"));
            return [width([null, null, null]), width([[0.5, 0], [0.5, 0], null]), width([[0.5, 0], [0.5, 0], [1, 0]])];
        }"""
    )
    assert widths == [0, 300, 600]
