"""Records that are opened, analysed, reviewed and saved."""

from __future__ import annotations

from pathlib import Path

import pytest

import zerosum
from web_for_tests import Open, click, history, says


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
    assert page.get_by_label("Game of the file").locator("option:checked").inner_text().startswith("3 of 3: Eve")
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


def test_the_marks_of_a_course_are_whole_at_its_edges(visit: Open) -> None:
    """A move after which one side has won is at the edge of the picture."""
    page = visit("#/games")
    marks = page.evaluate(
        """async () => {
            const { course } = await import("/static/chart.js");
            const picture = course([[0.5, 0], [0, 0], [1, 0]], ["??", "?"], 0, () => {});
            const numbers = (mark) => ["cy", "r"].map((name) => Number(mark.getAttribute(name)));
            const height = Number(picture.getAttribute("viewBox").split(" ")[3]);
            return [height, ...[...picture.querySelectorAll(".mark")].map(numbers)];
        }"""
    )
    height, (low, large), (high, small) = marks
    assert (low + large, high - small) == (height, 0)
