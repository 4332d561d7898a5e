"""What engines and reviews say in Analyse: win rates on points, the score, lost points, two engines, puzzles."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import zerosum
from web_for_tests import PHONE, Open, click, says
from zerosum.web.reviews import Reviews
from zerosum.web.visit import House

NO_ENGINE = "localStorage.setItem('look', 'off')"
SCHOLARS_MATE = "e2e4+e7e5+d1h5+b8c6+f1c4+g8f6+h5f7"
GO = "#/analyse?game=go9&moves=E5+C3+G7+G3+C7+A1+E3"


@pytest.fixture
def networks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The networks that come with the program, which know the score of Go."""
    monkeypatch.setattr("zerosum.play.bundled.DIRECTORY", Path(zerosum.__file__).parent / "data" / "networks")


def reviewed(page: Any, simulations: str = "50") -> None:
    says(page, "to move")
    page.get_by_label("Search of a position").select_option(simulations)
    page.get_by_role("button", name="Review the game").click()
    page.locator(".summary table").wait_for()


def test_candidate_points_have_their_win_rates_and_go_has_its_score(visit: Open, networks: None) -> None:
    page = visit(GO)
    page.locator(".candidate-text").nth(2).wait_for()
    rates = [int(text) for text in page.locator(".candidate-text").all_text_contents()]
    assert len(rates) == 3 and all(0 <= rate <= 100 for rate in rates)
    page.wait_for_function(
        "() => { const best = document.querySelector('.lines li b')?.textContent.match(/\\d+/)?.[0];"
        " return [...document.querySelectorAll('.candidate-text')].at(-1)?.textContent === best; }"
    )
    assert re.search(r"(black|white) leads by \d+\.\d points|an even score", page.locator(".says").inner_text())


def test_a_hint_of_a_small_network_tells_no_visits(visit: Open, networks: None) -> None:
    """An alpha-beta search has no visits to share among moves."""
    page = visit("#/play?game=chess&side=0&vs=zerosum%27s+network&moves=e2e4+e7e5")
    page.get_by_role("button", name="Hint").click()
    page.locator(".thought .lines li").first.wait_for()
    text = page.locator(".thought").inner_text()
    assert re.search(r"plies? deep", text) and "% for white" in text and "visits" not in text


def test_lost_points_are_coloured_dots_after_a_review(visit: Open, networks: None) -> None:
    page = visit(GO, script=NO_ENGINE)
    reviewed(page)
    page.get_by_role("button", name="Last position").click()
    page.wait_for_function("() => document.querySelectorAll('.loss').length === 7")
    titles = page.locator(".loss title").all_text_contents()
    lost = {
        int(number): float(points)
        for number, points in re.findall(r"Move (\d) lost ([\d.]+) points", "\n".join(titles))
    }
    assert set(lost) == set(range(1, 8))
    worst = max(lost, key=lambda number: lost[number])
    assert worst == 6, "the stone in the corner is the worst move"
    bounds = (0.5, 1.5, 3, 6, 12)
    for shape in page.locator(".loss").all():
        [number] = re.findall(r"Move (\d)", str(shape.locator("title").text_content()))
        level = sum(lost[int(number)] >= bound for bound in bounds)
        assert f"l{level}" in str(shape.get_attribute("class")).split()
    assert "leads by" in page.locator(".comment").inner_text()
    assert "points)" in page.locator(".summary").inner_text()
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save SGF").click()
    text = Path(saving.value.path()).read_text(encoding="utf-8")
    scores = re.findall(r"Score: [BW]\+\d+\.\d\.(?: Estimated point loss: (\d+\.\d)\.)?", text)
    assert [float(points or 0) for points in scores] == [
        points if points > 0.5 else 0 for _, points in sorted(lost.items())
    ]
    page.get_by_role("button", name="First position").click()
    page.wait_for_function("() => document.querySelectorAll('.loss').length === 0")
    page.get_by_role("button", name="Last position").click()
    page.wait_for_function("() => document.querySelectorAll('.loss').length === 7")
    page.reload()
    page.wait_for_function("() => document.querySelectorAll('.loss').length === 7")


def test_a_reviewed_move_of_chess_has_one_dot(visit: Open) -> None:
    page = visit(f"#/analyse?game=chess&moves={SCHOLARS_MATE}&ply=6", script=NO_ENGINE)
    reviewed(page)
    page.get_by_role("button", name="Move 6: Nf6").click()
    page.locator(".loss").wait_for()
    assert page.locator(".loss").count() == 1
    assert "points" not in str(page.locator(".loss title").text_content()), "chess has no points"


def test_a_loss_that_chance_may_show_is_not_sure(visit: Open) -> None:
    page = visit("#/games")
    said = page.evaluate(
        """async () => {
            const { commentParts } = await import("/static/review_parts.js");
            const view = { history: ["b2"], here: 1, comments: [] };
            const move = { loss: 0.125, points: null, better: ["a1"] };
            const told = (more) => commentParts(view, {}, { moves: [{ ...move, ...more }] }, 1)[0].textContent;
            return [["", "?"], ["?", ""], ["", ""], ["", "?", 0.2]].map(
                ([mark, unsure, hindsight = 0]) => told({ mark, unsure, hindsight }));
        }"""
    )
    assert said[0].startswith("b2: not sure. It may give away 12.5 %")
    assert said[1:3] == ["b2 is a mistake: it gives away 12.5 %. Better was a1.", "b2: the review found no mistake."]
    assert said[3].startswith("b2: not sure.") and "later in the game, the move may give away 20.0 %" in said[3]


def test_a_move_that_later_ones_call_in_question_is_not_called_fine(visit: Open, networks: None) -> None:
    """Black's ninth move in Morphy's game of 1858, at the usual effort: no single search sees what is wrong with it."""
    moves = "b5 Nxb5 cxb5 Bxb5+ Nbd7 O-O-O Rd8 Rxd7 Rxd7 Rd1 Qe6 Bxd7+ Nxd7 Qb8+ Nxb8 Rd8#".replace("+", "%2B")
    start = "rn2kb1r/pp2qppp/2p2n2/4p1B1/2B1P3/1QN5/PPP2PPP/R3K2R b KQkq - 1 9".replace(" ", "+")
    words = moves.replace("#", "%23").replace(" ", "+")
    page = visit(f"#/analyse?game=chess&start={start}&moves={words}&ply=1", script=NO_ENGINE)
    page.get_by_role("button", name="Review the game").click()
    page.locator(".summary table").wait_for()
    said = page.locator(".comment").inner_text()
    assert re.search(r"b5: not sure. .* later in the game, the move may give away \d+\.\d %", said), said


def test_every_percentage_says_whose_it_is(visit: Open) -> None:
    """A side's name, the move that lost it, or what it is a share of."""
    page = visit("#/analyse?game=connect4&moves=4+3+4+3+4+1+4&ply=6")
    reviewed(page, "400")
    page.get_by_role("button", name="Move 6: 1").click()
    page.locator(".comment p", has_text="gives away").wait_for()
    page.locator(".lines li").nth(2).wait_for()
    texts = page.evaluate(
        """() => [...document.querySelectorAll("main p, main li, main tr, main title, main [aria-valuetext]")]
            .filter((one) => !one.querySelector("p, li, tr")).map((one) => one.ariaValueText ?? one.textContent)
            .filter((text) => text.includes("%"))"""
    )
    assert len(texts) >= 7, "the sentence, its lines, the bar, the verdict, the dots and the table"
    for text in texts:
        assert re.search(r"yellow|red|lost|gives away", text, re.IGNORECASE), text
    page = visit("#/play?game=othello&side=0&vs=rollouts@20")
    says(page, "Your move")
    page.get_by_role("button", name="Hint").click()
    page.locator(".lines li").first.wait_for()
    for text in page.locator(".thought p, .thought li").all_inner_texts():
        assert "%" not in text or "for black" in text, text


def test_numbers_of_moves_in_analyse_stay_over_a_reload(visit: Open) -> None:
    page = visit(GO + "&ply=7", script=NO_ENGINE)
    says(page, "to move")
    page.get_by_text("Second engine, move numbers").click()
    page.get_by_role("button", name="Move numbers").click()
    page.wait_for_function("() => document.querySelectorAll('.move-number').length === 7")
    page.get_by_role("button", name="One move back").click()
    page.wait_for_function("() => document.querySelectorAll('.move-number').length === 6")
    click(page, "D5")
    page.wait_for_function("() => document.querySelectorAll('.move-number').length === 7")
    page.reload()
    page.wait_for_function("() => document.querySelectorAll('.move-number').length === 7")


def test_two_engines_look_at_one_position(visit: Open) -> None:
    page = visit("#/analyse?game=connect4&moves=4+4")
    says(page, "simulations by")
    page.locator("summary", has_text="Second engine").click()
    chooser = page.get_by_label("Second engine")
    first = page.get_by_label("Who judges").input_value()
    other = "rollouts" if first != "rollouts" else "tiny"
    chooser.select_option(other)
    page.locator(".second-says", has_text=f"by {other}").wait_for()
    page.locator(".lines.second li").nth(2).wait_for()
    page.locator(".candidate.second").wait_for()
    assert f"by {first}" in page.locator(".says").inner_text(), "the first engine goes on"
    page.wait_for_url(re.compile(f"vs2={other}"))
    page.reload()
    page.locator(".second-says", has_text=f"by {other}").wait_for()
    page.locator('[data-cell="0"]').click()
    page.wait_for_url(re.compile("branch=1"))
    page.locator(".second-says", has_text="Yellow to move").or_(
        page.locator(".second-says", has_text="Red to move")
    ).wait_for()
    page.get_by_label("Second engine").select_option("")
    page.locator(".second-says").wait_for(state="hidden")


@pytest.mark.parametrize("size", [None, PHONE], ids=["desktop", "phone"])
def test_the_mistakes_of_a_review_are_positions_to_solve(visit: Open, size: dict[str, int] | None) -> None:
    more = {} if size is None else {"size": size}
    page = visit(f"#/analyse?game=chess&moves={SCHOLARS_MATE}", script=NO_ENGINE, **more)
    reviewed(page, "400")
    page.get_by_role("link", name=re.compile("^Solve ")).click()
    says(page, "Black to move. In the game Nf6 was played, a")
    assert page.locator("[data-name='h1']").bounding_box()["y"] < page.locator("[data-name='h8']").bounding_box()["y"]
    click(page, "g8", "f6")
    says(page, "Nf6 is the move of the game: try again.")
    click(page, "a7", "a6")
    says(page, "a6 gives away")
    page.get_by_role("button", name="Show the answer").click()
    says(page, "The best move is")
    page.reload()
    says(page, "Black to move. In the game Nf6 was played, a")
    click(page, "g7", "g6")
    page.wait_for_function("() => /g6 (is right|is good)/.test(document.querySelector('.says').textContent)")
    assert page.locator(".arrow.best").count() == 1
    assert page.get_by_role("button", name="Move 6, solved").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    page.get_by_role("link", name="The whole game").click()
    page.wait_for_url(re.compile("analyse"))
    page.locator(".summary table").wait_for()


def test_the_mistakes_of_all_reviewed_games_are_kept_in_the_browser(visit: Open, site: tuple[str, House]) -> None:
    site[
        1
    ].reviews = Reviews()  # a game that was reviewed before opens with its review, which this browser does not keep
    page = visit("#/puzzles")
    says(page, "No mistakes are kept in this browser yet")
    fools_mate = "f2f3+e7e5+g2g4+d8h4"
    games = (("chess", SCHOLARS_MATE), ("chess", fools_mate), ("connect4", "4+3+4+3+4+1+4"))
    for number, (game, moves) in enumerate(games, 1):
        page.goto(f"{site[0]}#/analyse?game={game}&moves={moves}")
        page.evaluate(NO_ENGINE)
        page.reload()
        reviewed(page, "400")
        page.get_by_role("link", name=re.compile("^Solve ")).wait_for()
        kept = page.evaluate("() => JSON.parse(localStorage.getItem('mistakes'))")
        assert len(kept) == number, (kept, "the links stand where the mistakes are kept")
    page.get_by_role("link", name=re.compile(r"All \d+ mistakes of your reviewed games")).click()
    page.locator(".puzzle-games h3").nth(2).wait_for()
    titles = page.locator(".puzzle-games h3 a").all_inner_texts()
    assert [title.split(",")[0] for title in titles] == ["connect4", "chess", "chess"], "the newest game first"
    page.get_by_label("Game", exact=True).select_option("chess")
    page.wait_for_function("() => document.querySelectorAll('.puzzle-games h3').length === 2")
    site[1].reviews = Reviews()  # a program that was started anew
    says(page, "In the game g4 was played, a")
    page.locator(".puzzle-list button").last.click()
    says(page, "In the game Nf6 was played, a")
    click(page, "g7", "g6")
    page.wait_for_function("() => /g6 (is right|is good)/.test(document.querySelector('.says').textContent)")
    page.reload()
    page.get_by_role("button", name="Move 6, solved").wait_for()
    page.get_by_role("button", name=re.compile("Forget")).nth(1).click()
    page.wait_for_function("() => document.querySelectorAll('.puzzle-games h3').length === 1")
    page.get_by_role("button", name=re.compile("Forget")).click()
    page.locator(".puzzle-games h3", has_text="connect4").wait_for()
    page.get_by_role("button", name=re.compile("Forget")).click()
    says(page, "No mistakes are kept in this browser yet")
    assert not page.get_by_role("heading", name="Positions").is_visible()


def test_puzzles_without_a_review_say_what_to_do(visit: Open) -> None:
    page = visit("#/puzzles?game=chess&moves=e2e4")
    says(page, "not reviewed yet: review it in Analyse")
