"""A watched match: pairs of games from one opening, points by player, and requests that make no sense."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from web_for_tests import Page, untrained_run, with_page
from zerosum.base.errors import SettingsError
from zerosum.games import make
from zerosum.games.playthrough import Playthrough
from zerosum.web.library import Library
from zerosum.web.limits import Limits
from zerosum.web.match import OPENING_PLIES, WatchedMatch
from zerosum.web.searches import Searches
from zerosum.web.visit import House

LIMITS = Limits(simulations=2000, seconds=5.0, plies=300)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    run = untrained_run(tmp_path / "tiny", steps=(0, 4))
    made = House(Library([run], (), LIMITS), LIMITS, Searches(LIMITS), seed=1)
    yield made
    made.searches.close()


def test_pairs_of_games_have_one_opening_and_points_go_to_the_player() -> None:
    match = WatchedMatch(make("tictactoe"), ("one", "two"), num_games=6)
    openings, winners = [], []
    while not match.is_over:
        table = match.table
        openings.append(table.so_far.actions)
        assert table.computers == (("one", "two") if match.first == 0 else ("two", "one"))
        while not table.is_over:
            table.play(table.game.legal_actions(table.state)[-1])
        winners.append(None if table.outcome == 0 else table.computers[0 if (table.outcome or 0) > 0 else 1])
        match.finish()
    assert openings[::2] == openings[1::2] and len(set(openings)) > 1 and len(openings[0]) == OPENING_PLIES
    view = match.view()
    assert (view["wins"], view["draws"], view["losses"]) == tuple(winners.count(name) for name in ("one", None, "two"))
    assert view["wins"] == view["losses"] > 0, "equal moves win for each player in turn"
    assert [game["first"] for game in view["games"]] == ["one", "two"] * 3 and view["elo"].startswith("+0.0 (95 %: -")
    assert all(len(game["link"]["moves"].split()) == game["plies"] for game in view["games"])


def test_a_draw_is_half_a_point_for_each() -> None:
    match = WatchedMatch(make("tictactoe"), ("one", "two"), num_games=2)
    match.table.so_far = Playthrough.of(match.game)
    for text in ("a1", "b2", "c3", "b1", "b3", "a3", "c1", "c2", "a2"):
        match.table.play(match.game.parse_action(match.table.state, text))
    match.finish()
    assert match.view()["draws"] == 1 and match.finished[0].points == 0.5


@pytest.mark.parametrize("number", [0, 1, 3, 202])
def test_an_odd_or_large_number_of_games_is_refused(number: int) -> None:
    with pytest.raises(SettingsError, match="an even number from 2 to 200"):
        WatchedMatch(make("nim"), ("one", "two"), num_games=number)


def test_two_checkpoints_meet_and_the_match_can_be_stopped(house: House) -> None:
    async def work(page: Page) -> None:
        assert "no match is open" in (await page.ask("match.stop"))["error"]
        opened = await page.ask("match.open", game="connect4", first="tiny step 4@4", second="tiny step 0@4", games=4)
        assert opened["result"]["total"] == 4 and opened["result"]["names"] == ("tiny step 4@4", "tiny step 0@4")
        while not (view := await page.event("match"))["over"]:
            pass
        assert view["wins"] + view["draws"] + view["losses"] == len(view["games"]) == 4
        study = await page.ask("study.open", **view["games"][0]["link"])
        assert "error" not in study
        await page.ask("match.open", game="connect4", first="rollouts@2000", second="random", games=200)
        stopped = await page.ask("match.stop")
        assert not stopped["result"]["over"] and not page.visit.house.searches.num_running
        for fields, why in (
            ({"first": "nobody"}, "unknown player"),
            ({"games": 7}, "expected an even number"),
            ({"games": "many"}, "games: "),
            ({"second": "rollouts@1000000000"}, "unknown player"),
            ({"game": "chess", "first": "tiny"}, "has learned"),
        ):
            assert why in (await page.ask("match.open", **({"game": "connect4"} | fields)))["error"]

    with_page(house, work)
