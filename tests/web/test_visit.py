"""A connected page without a socket: requests, events and limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import zerosum
from web_for_tests import Page, untrained_run, with_page
from zerosum._core import core_game_names
from zerosum.games import make
from zerosum.games.rules import with_planes_of
from zerosum.games.short_names import short_name
from zerosum.play.bundled import bundled_networks
from zerosum.play.runs import network_at
from zerosum.web.growth import Growth, Simulation
from zerosum.web.library import Library
from zerosum.web.limits import Limits
from zerosum.web.searches import Searches
from zerosum.web.visit import House

PACKAGE = Path(zerosum.__file__).parent
LIMITS = Limits(simulations=2000, seconds=5.0, plies=300)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return untrained_run(tmp_path_factory.mktemp("runs") / "tiny")


@pytest.fixture
def house(run: Path) -> Iterator[House]:
    made = House(Library([run], (), LIMITS), LIMITS, Searches(LIMITS), seed=1)
    yield made
    made.searches.close()


@pytest.mark.parametrize(
    "name",
    [
        *core_game_names(),
        *("go(size=9, komi=5, history=2)", "go(size=7, liberties=3)", "go(size=13, rules=tromp-taylor)"),
        *("chess(history=1)", "chess(policy=flat)", "shogi(entering_king=none, history=1)", "hex(swap=true)"),
    ],
)
def test_a_short_name_makes_the_same_rules(name: str) -> None:
    game = make(name)
    short = make(short_name(game))
    assert short.spec.full_name == with_planes_of(game, make(game.spec.name)).spec.full_name
    assert len(short_name(game)) <= len(short.spec.full_name) and short_name(short) == short_name(game)


def test_every_page_names_a_game_as_people_type_it(tmp_path: Path) -> None:
    """A network with planes of its own plays the game of that name."""
    run = untrained_run(tmp_path / "runs" / "wide", "go(size=9, liberties=3)")
    house = House(Library([run.parent], (), LIMITS), LIMITS, Searches(LIMITS), seed=1)

    async def work(page: Page) -> None:
        async def result(what: str, **fields: Any) -> Any:
            return (await page.ask(what, **fields))["result"]

        assert "go9" in [one["name"] for one in await result("games.list") if one["network"]]
        assert (await result("games.page", game="go(size=9)"))["name"] == "go9"
        assert (await result("games.page", game="go(size=9, liberties=3)"))["name"] == "go(size=9, liberties=3)"
        long = {"game": "go(size=9, liberties=3)", "vs": "wide"}
        played = await result("play.open", side="0", **long)
        names = [played["game"], played["link"]["game"], (await result("study.open", **long))["game"]]
        opened = await result("growth.open", **long)
        names += [opened["game"], opened["link"]["game"], (await result("runs.list"))[0]["game"]]
        names.append((await result("runs.curves", run="wide"))["game"])
        match = await result("match.open", game="go9", first="wide@1", second="random", games=2)
        assert [*names, match["game"]] == ["go9"] * 8
        page.visit.stop()
        assert (await result("games.opponents", game="go9"))["opponents"][0]["name"] == "wide"

    try:
        with_page(house, work)
    finally:
        house.searches.close()


def test_the_networks_of_the_package_play_without_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is the usual opponent of its game, and its game is among the games that can be chosen."""
    monkeypatch.setattr("zerosum.play.bundled.DIRECTORY", PACKAGE / "data" / "networks")
    house = House(Library([], (), LIMITS), LIMITS, Searches(LIMITS), seed=1)

    async def work(page: Page) -> None:
        learned = [one["name"] for one in (await page.ask("games.list"))["result"] if one["network"]]
        assert len(learned) >= 3 and {make(name).spec.name for name in learned} == {
            network_at(path).game for path in bundled_networks()
        }
        for name in learned:
            opened = (await page.ask("play.open", game=name, side="1"))["result"]
            assert opened["computer"] == "zerosum's network"
            assert len((await page.event("table"))["history"]) == 1
            page.visit.stop()
        assert (await page.ask("play.open"))["result"]["computer"] == "zerosum's network"
        other = await page.ask("play.open", game="nim", vs="zerosum's network@20")
        assert "has learned" in other["error"] and "nim" in other["error"]

    try:
        with_page(house, work)
    finally:
        house.searches.close()


@pytest.mark.parametrize("player", ["rollouts@30", "alphabeta@2", "random", "tiny@20", "tiny step 2@20"])
def test_every_kind_of_player_answers(house: House, player: str) -> None:
    async def work(page: Page) -> None:
        opened = await page.ask("play.open", game="connect4", side="0", vs=player)
        assert opened["id"] == 7 and len(opened["result"]["moves"]) == 7
        assert "error" not in await page.ask("play.move", action=3)
        assert len((await page.event("table"))["history"]) == 2

    with_page(house, work)


def test_two_computers_play_to_the_end(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerosum.web.visit.WATCH_SECONDS", 0.0)

    async def work(page: Page) -> None:
        await page.ask("play.open", game="tictactoe", side="none", vs="rollouts@20")
        while not (view := await page.event("table"))["over"]:
            pass
        assert len(view["history"]) >= 5

    with_page(house, work)


def test_two_different_computers_are_pitted_against_each_other(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerosum.web.visit.WATCH_SECONDS", 0.0)

    async def work(page: Page) -> None:
        opened = await page.ask("play.open", game="tictactoe", side="none", vs="rollouts@300", vs2="random")
        assert opened["result"]["computers"] == ("rollouts@300", "random")
        while not (view := await page.event("table"))["over"]:
            pass
        assert view["link"]["vs2"] == "random" and "rollouts@300" in view["says"]
        assert "unknown player" in (await page.ask("play.open", game="nim", side="none", vs="random", vs2="x"))["error"]

    with_page(house, work)


def test_a_rating_needs_a_measurement(house: House) -> None:
    async def work(page: Page) -> None:
        answer = await page.ask("play.open", game="nim", side="0", vs="rollouts", rating=500)
        assert "are not measured" in answer["error"]
        answer = await page.ask("play.open", game="nim", side="0", vs="random", rating=500)
        assert "a rating is for networks" in answer["error"]

    with_page(house, work)


def test_a_rating_of_the_ladder_is_played(house: House) -> None:
    """Every game for which the package has measured levels of rollouts."""

    async def work(page: Page) -> None:
        measured = sorted(path.stem for path in (PACKAGE / "data" / "levels").glob("*.json"))
        for name in measured:
            ratings = (await page.ask("games.opponents", game=name))["result"]["ratings"]
            if "rollouts" not in ratings:
                continue
            opened = await page.ask("play.open", game=name, side="1", vs="rollouts", rating=ratings["rollouts"][0] + 50)
            assert opened["result"]["strength"] == {"rating": ratings["rollouts"][0] + 50}
            assert len((await page.event("table"))["history"]) == 1
            return
        raise AssertionError(f"none of {measured} has ratings of rollouts")

    with_page(house, work)


def test_a_hint_has_lines_with_cells(house: House) -> None:
    async def work(page: Page) -> None:
        await page.ask("play.open", game="chess", side="0", vs="random")
        assert (await page.ask("play.hint"))["result"]["by"] == "rollouts"
        hint = await page.event("hint")
        assert len(hint["lines"]) == 3 and len(hint["lines"][0]["cells"]) == 2
        assert sum(line["share"] for line in hint["lines"]) <= 1

    with_page(house, work)


def test_moves_out_of_turn_and_beyond_limits_are_refused(house: House) -> None:
    async def work(page: Page) -> None:
        assert "open one first" in (await page.ask("play.move", action=1))["error"]
        await page.ask("play.open", game="connect4", side="1", vs="rollouts@2000")
        assert "not your turn" in (await page.ask("play.move", action=1))["error"]
        for fields, said in (
            ({"vs": "rollouts@2001"}, "1 to 2,000 are allowed"),
            ({"vs": "alphabeta@40"}, "1 to 6 plies"),
            ({"vs": "/etc/passwd"}, "unknown player"),
            ({"vs": "../tiny"}, "unknown player"),
            ({"game": "/tmp/x.py:X"}, "unknown game"),
            ({"game": "openspiel:go"}, "unknown game"),
            ({"game": "go(size=99)"}, "size"),
            ({"game": "chess", "vs": "tiny"}, "has learned connect4"),
            ({"moves": "4 " * 400}, "at most 300 are allowed"),
            ({"clock": "tomorrow"}, "tomorrow"),
            ({"seconds": 1e9}, "seconds"),
            ({"start": "x" * 100}, "x"),
        ):
            answer = await page.ask("play.open", **{"game": "connect4", "side": "0", "vs": "rollouts@5", **fields})
            assert said in answer.get("error", ""), (fields, answer)

    with_page(house, work)


def test_a_search_ends_when_its_page_goes(house: House) -> None:
    async def all_of_it() -> None:
        page = Page(house)
        await page.ask("play.open", game="go(size=19)", side="1", vs="rollouts", seconds=5.0)
        while not house.searches.num_running:
            await asyncio.sleep(0.01)
        page.visit.close()
        for _ in range(20):
            await asyncio.sleep(0.01)
        assert house.searches.num_running == 0

    asyncio.run(all_of_it())


def test_searches_take_turns(house: House) -> None:
    """Twenty short searches finish while four long ones go on."""

    async def all_of_it() -> None:
        library, state = house.library, house.library.game("connect4").initial_state()
        player = library.analyst("rollouts@100", library.game("connect4"))
        go = library.game("go(size=19)")
        long = library.analyst("rollouts", go)
        searches = [asyncio.create_task(house.searches.search(long, go.initial_state(), seconds=5.0)) for _ in range(4)]
        await asyncio.sleep(0.05)
        found = await asyncio.gather(*(house.searches.search(player, state, simulations=100) for _ in range(20)))
        assert [one.num_visits for one in found] == [100] * 20
        assert not any(search.done() for search in searches)
        for search in searches:
            search.cancel()

    asyncio.run(all_of_it())


def test_a_search_in_slices_is_the_search(house: House) -> None:
    """A search by simulations finds in turns what it finds at one go."""
    library = house.library
    game = library.game("connect4")
    player = library.analyst("tiny@1500", game)

    async def all_of_it() -> Any:
        return await house.searches.search(player, game.initial_state())

    import zerosum.web.searches as module

    whole = asyncio.run(all_of_it())
    before, module.SLICE_SECONDS = module.SLICE_SECONDS, 0.002
    try:
        sliced = asyncio.run(all_of_it())
    finally:
        module.SLICE_SECONDS = before
    assert sliced.visits == whole.visits and sliced.best_action == whole.best_action
    assert sliced.num_visits == 1500


def test_simulations_beyond_a_slice_of_time_are_made_in_the_background(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(page: Page) -> None:
        await page.ask("growth.open", game="tictactoe", vs="rollouts")
        assert (await page.ask("growth.step", number=4))["result"]["simulations"] == 1
        assert [(await page.event("growth"))["simulations"] for _ in range(3)] == [2, 3, 4]

    monkeypatch.setattr("zerosum.web.growth_requests.SLICE_SECONDS", 0.0)
    with_page(house, work)


def test_one_request_at_a_time_works_on_a_watched_tree(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped request ends its slice of time before the next begins: no simulation is seen half made."""
    at_work, most = [0], [0]
    step = Growth.step

    def counted(growth: Growth) -> Simulation:
        at_work[0] += 1
        most[0] = max(most[0], at_work[0])
        time.sleep(0.002)  # others may begin
        entry = step(growth)
        at_work[0] -= 1
        return entry

    async def work(page: Page) -> None:
        await page.ask("growth.open", game="connect4", vs="rollouts")
        for _ in range(4):
            before = (await page.ask("growth.step", number=1000))["result"]["simulations"]
            await asyncio.sleep(0.01)  # the next slice is under way
            after = (await page.ask("growth.step"))["result"]
            assert after["simulations"] > before
            assert page.visit.growth is not None and page.visit.growth.entries[-1].is_done
        await page.ask("growth.step", number=1000)
        stopped = (await page.ask("growth.stop"))["result"]["simulations"]
        assert (await page.ask("growth.whole"))["result"]["simulations"] == stopped

    monkeypatch.setattr(Growth, "step", counted)
    monkeypatch.setattr("zerosum.web.growth_requests.SLICE_SECONDS", 0.05)
    with_page(house, work)
    assert most == [1]
