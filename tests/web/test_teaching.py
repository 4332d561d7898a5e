"""Doubts about a move, numbers of stones, taken pieces, options of a game, and puzzles, without a browser."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from web_for_tests import Page, serving, with_page
from zerosum.games import make
from zerosum.games.board_in_text import board_picture
from zerosum.web.boards import move_cells
from zerosum.web.limits import Limits
from zerosum.web.placed import Line, places_stones, takes_pieces
from zerosum.web.reviews import Reviews
from zerosum.web.visit import House

THREAT = "4 3 4 3 4"
"""Yellow has three in a column; red loses at once unless it plays 4."""


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with serving() as (_, served):
        yield served


def opened(**more: object) -> dict[str, object]:
    return {"game": "connect4", "side": "1", "vs": "rollouts@400", "moves": THREAT, "teach": True, **more}


def test_a_move_that_loses_at_once_is_doubted_and_the_computer_waits(house: House) -> None:
    async def work(page: Page) -> None:
        await page.ask("play.open", **opened())
        await page.ask("play.move", action=0)
        doubt = await page.event("doubt")
        assert doubt["ply"] == 6 and 0.1 <= doubt["loss"] <= 1 and doubt["points"] is None
        assert not [event for event in page.events if event["event"] == "table"]
        back = (await page.ask("play.undo"))["result"]
        assert back["history"] == THREAT.split()
        await page.ask("play.move", action=1)
        assert (await page.event("doubt"))["ply"] == 6, "another bad move in its place is doubted, too"
        kept = (await page.ask("play.keep"))["result"]
        assert len(kept["history"]) == 6
        assert (await page.event("table"))["over"], "yellow's fourth"

    with_page(house, work)


def test_a_good_move_is_answered(house: House) -> None:
    async def work(page: Page) -> None:
        await page.ask("play.open", **opened())
        await page.ask("play.move", action=3)
        assert len((await page.event("table"))["history"]) == 7
        assert not page.events

    with_page(house, work)


def test_without_teaching_no_move_is_doubted(house: House) -> None:
    async def work(page: Page) -> None:
        await page.ask("play.open", **opened(teach=False))
        await page.ask("play.move", action=0)
        assert (await page.event("table"))["over"]
        assert (await page.ask("play.keep"))["error"] == "no move is doubted."

    with_page(house, work)


@pytest.mark.parametrize("more", [{"clock": "60"}, {"side": "both"}, {"side": "none"}])
def test_teaching_is_for_one_person_without_a_clock(house: House, more: dict[str, str]) -> None:
    async def work(page: Page) -> None:
        assert "one person in a game without a clock" in (await page.ask("play.open", **opened(**more)))["error"]

    with_page(house, work)


@pytest.mark.parametrize("name", ["go9", "connect4", "othello", "hex", "chess", "shogi", "breakthrough"])
def test_the_facts_of_a_line_are_those_of_each_move_whatever_was_asked_before(name: str) -> None:
    """Random games, taken back and gone on with: the numbers by a slow rule, and taken pieces as those that miss."""
    game, draw = make(name), random.Random(7)
    line, states, actions = Line(game), [game.initial_state()], list[int]()
    for _ in range(120):
        legal = game.legal_actions(states[-1])
        if not legal or (actions and draw.random() < 0.1):
            back = draw.randrange(len(actions) + 1) if actions else 0
            del actions[back:], states[back + 1 :]
            continue
        actions.append(draw.choice(legal))
        states.append(game.play(states[-1], actions[-1]))
        picture = board_picture(game, states[-1])
        assert picture is not None
        numbers = dict(map(tuple, line.numbers(states, actions)))
        if places_stones(game):
            cells = [(move_cells(game, *one) or [None])[-1] for one in zip(states, actions, strict=False)]
            slow = {cell: number for number, cell in enumerate(cells, 1) if cell is not None and picture.cells[cell]}
            assert numbers == slow
        else:
            assert numbers == {}
        taken = line.taken(states, actions)
        if takes_pieces(game):
            start = board_picture(game, states[0])
            assert start is not None
            for player in (0, 1):
                before, now = (
                    sum(piece is not None and piece[0] == 1 - player for piece in one.cells) for one in (start, picture)
                )
                assert len(taken[player]) == before - now
                assert Counter(piece[0] for piece in taken[player]).keys() <= {1 - player}
        else:
            assert taken == ([], [])


def test_options_of_a_game_are_set_by_their_names(house: House) -> None:
    async def work(page: Page) -> None:
        found = (await page.ask("games.opponents", game="go9", options={"komi": "0.5", "handicap": "2"}))["result"]
        assert found["game"] == "go9(komi=0.5, handicap=2)"
        assert [one["value"] for one in found["controls"]] == ["0.5", "2"]
        again = (await page.ask("games.opponents", game=found["game"], options={"handicap": "0"}))["result"]
        assert again["game"] == "go9(komi=0.5)"
        assert "expected" in (await page.ask("games.opponents", game="go9", options={"komi": "many"}))["error"]
        assert "Must be an object" in (await page.ask("games.opponents", game="go9", options=[1]))["error"]
        assert (await page.ask("games.opponents", game="chess"))["result"]["controls"] == []

    with_page(house, work)


def test_puzzles_are_the_mistakes_of_a_review(house: House) -> None:
    async def work(page: Page) -> None:
        moves = "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7"
        assert "no game is open" in (await page.ask("study.puzzles"))["error"]
        await page.ask("study.open", game="chess", moves=moves)
        assert "not reviewed yet" in (await page.ask("study.puzzles"))["error"]
        await page.ask("study.review", simulations=400)
        review = await page.event("reviewed")
        puzzles = (await page.ask("study.puzzles"))["result"]["puzzles"]
        assert review["puzzles"] == puzzles, "the page keeps them as soon as it shows the review"
        assert [one["ply"] for one in puzzles] == [
            ply for ply, move in enumerate(review["moves"]) if move["mark"] in ("?", "??")
        ]
        last = puzzles[-1]
        assert (last["ply"], last["player"], last["text"]) == (5, 1, "Nf6")
        assert 0 < last["rate"] < 1 and last["cells"] and last["line"]
        await page.ask("study.open", game="chess", moves=moves, ply=5)
        game, state = make("chess"), page.visit.study.state
        known = {name: last[name] for name in ("played", "best", "rate", "loss")}

        async def solve(text: str) -> dict[str, Any]:
            return (await page.ask("study.solve", action=game.parse_action(state, text), **known))["result"]

        found = {text: await solve(text) for text in ("g8f6", "g7g6", "a7a6")}
        assert found["g8f6"]["isPlayed"] and not found["g8f6"]["right"]
        assert found["g7g6"]["right"] and found["g7g6"]["loss"] < 0.05
        assert not found["a7a6"]["right"] and found["a7a6"]["loss"] > 0.05
        assert "not legal" in (await page.ask("study.solve", action=70_000 % 4000, **known))["error"]
        assert "Must be a number" in (await page.ask("study.solve", **known | {"action": 1, "rate": None}))["error"]
        page.visit.house.reviews = Reviews()  # a program that was started anew
        await page.ask("study.open", game="chess", moves=moves, ply=5)
        assert "not reviewed yet" in (await page.ask("study.puzzles"))["error"]
        assert (await solve("g7g6"))["right"], "the page has all that the solution needs"
        known["vs"] = "a run that is gone"
        assert (await solve("g7g6"))["right"] or not (await solve("a7a6"))["right"], "the usual player judges instead"

    with_page(house, work)


def test_an_analysis_goes_on_for_longer_than_any_other_search() -> None:
    async def work(page: Page) -> None:
        await page.ask("study.open", game="connect4", moves="4")
        await page.ask("study.look", on=True, vs="rollouts")
        for _ in range(300):
            if (found := await page.event("look"))["stop_reason"] is not None or found["seconds"] > 1.2:
                break
        assert found["seconds"] > 1.2, "four times as long as a hint"
        limits = page.visit.house.limits
        study = page.visit.study
        assert study is not None
        hint = await page.visit.house.searches.search(
            page.visit.house.library.analyst("rollouts", study.game),
            study.state,
            seconds=100.0,
        )
        assert hint.seconds == pytest.approx(limits.seconds, abs=0.25)

    with serving(limits=Limits(seconds=0.3)) as (_, house):
        with_page(house, work)
