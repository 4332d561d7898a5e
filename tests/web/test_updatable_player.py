"""A run with an updatable network in the browser: its alpha-beta search plays, hints and analyses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from updatable_for_tests import train_updatable
from web_for_tests import Page, with_page
from zerosum.play.runs import NETWORKS
from zerosum.web.library import Library
from zerosum.web.limits import LOOKS, Limits
from zerosum.web.searches import Searches
from zerosum.web.server import new_house
from zerosum.web.visit import House


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    run = tmp_path_factory.mktemp("updatable") / "mini"
    train_updatable("minichess", run)
    opened = new_house(Library([Path(run)], (), Limits()))
    yield opened
    opened.searches.close()


def test_the_run_is_an_opponent_and_a_judge(house: House) -> None:
    async def work(page: Page) -> None:
        opened = await page.ask("play.open", game="minichess", side="1", vs="mini@300")
        assert "error" not in opened, opened
        assert len((await page.event("table"))["history"]) == 1
        hint = await page.ask("play.hint")
        assert "error" not in hint, hint

    with_page(house, work)


def test_the_page_knows_what_its_numbers_mean(house: House) -> None:
    async def work(page: Page) -> None:
        answer = (await page.ask("games.opponents", game="minichess"))["result"]
        assert {one["kind"] for one in answer["opponents"]} == {"small network", "search", "depth", "random"}
        await page.ask("study.open", game="minichess", moves="")
        await page.ask("study.look", on=True, lines=2)
        found = await page.event("look")
        assert found["by"] == "mini" and not found["has_policy"] and "deep" in found["work"]
        await page.ask("study.stop")
        watched = (await page.ask("growth.open", game="minichess"))["result"]
        assert watched["vs"] == "rollouts", "a tree is watched, which an alpha-beta search has not"

    with_page(house, work)


def test_a_search_in_short_turns_is_the_search(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerosum.web.searches.SLICE_SECONDS", 0.005)
    player = house.library.analyst("mini", house.library.game("minichess"))

    async def work(page: Page) -> None:
        state = player.game.initial_state()
        found = await page.visit.house.searches.search(player, state, simulations=30_000, seconds=30.0)
        at_once = player.analyse(state, num_simulations=30_000)
        assert found.stop_reason == at_once.stop_reason and found.lines == at_once.lines
        assert (found.depth, found.num_leaves) == (at_once.depth, at_once.num_leaves)

    with_page(house, work)


@pytest.mark.parametrize("is_looking", [False, True])
def test_a_search_by_time_is_not_ended_by_the_simulations_of_a_tree(house: House, is_looking: bool) -> None:
    """A small network makes 100,000 positions, the limit's simulations, in a fifth of a second."""
    player = house.library.analyst("mini", house.library.game("minichess"))
    few = Searches(Limits(simulations=20))

    async def work(page: Page) -> None:
        found = await few.search(player, player.game.initial_state(), seconds=60.0, is_looking=is_looking)
        assert found.stop_reason == "simulations"
        most = player.visits_for(20) * (LOOKS if is_looking else 1)
        assert most / 4 < found.num_visits <= most + 1, "those of the depth that was begun last do not count"
        asked = await few.search(player, player.game.initial_state(), simulations=5000)
        assert asked.num_visits < most / 4, "a number that was asked for is held to the limit as it is"
        longer = await few.search(player, player.game.initial_state(), simulations=5000, times=100)
        assert longer.num_visits > asked.num_visits, "or to a multiple, as for the longer looks of a review"

    try:
        with_page(house, work)
    finally:
        few.close()


def test_a_review_without_a_number_looks_as_long_as_a_tree_search(house: House) -> None:
    player = house.library.analyst("mini", house.library.game("minichess"))
    assert (player.visits_for(400), house.library.analyst("rollouts", player.game).visits_for(400)) == (40_000, 400)


def test_two_bundled_networks_of_a_game_have_labels_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerosum.play.bundled.DIRECTORY", NETWORKS)
    library = Library([], (), Limits())
    for game in ("chess", "shogi"):
        rules = library.game(game)
        strong, other = library.opponents(rules)[:2]
        assert (strong["name"], strong["kind"]) == ("zerosum's network", "small network")
        assert (other["name"], other["kind"]) == (f"bundled/{game}", "network")
        assert library.usual_opponent(rules) == strong["name"]
        assert library.usual_opponent(rules, has_tree=True) == other["name"]
        assert not library.analyst(other["name"], rules).is_alpha_beta
