"""Blind spots on the page of runs: found, drawn, and opened in analysis and in the watched search."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from web_for_tests import DESKTOP, picture, serving, untrained_run, with_page
from zerosum.games import make, start_state
from zerosum.web import blind_spots
from zerosum.web.library import Library
from zerosum.web.limits import Limits
from zerosum.web.searches import Searches
from zerosum.web.visit import House

LIMITS = Limits(simulations=2000, seconds=5.0, plies=300)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("blind") / "runs"
    untrained_run(folder / "small", "tictactoe")
    untrained_run(folder / "large", "othello")
    return folder


def test_blind_spots_are_solved_positions_in_which_the_network_errs(runs: Path) -> None:
    house = House(Library([runs], (), LIMITS), LIMITS, Searches(LIMITS), seed=1)

    async def work(page: Any) -> None:
        found = (await page.ask("runs.blind_spots", run="small"))["result"]
        assert "all 4,520 solved positions" in found["text"] and "The worst blind spots" not in found["text"]
        assert len(found["spots"]) == 6
        game = make("tictactoe")
        for spot in found["spots"]:
            assert spot["svg"].startswith("<svg") and spot["sentence"].startswith("The network plays ")
            assert spot["link"]["vs"] == "small"
            assert game.outcome(start_state(game, spot["link"]["start"])) is None
        assert "too many to solve it here" in (await page.ask("runs.blind_spots", run="large"))["error"]
        assert "unknown run 'nobody'" in (await page.ask("runs.blind_spots", run="nobody"))["error"]

    try:
        with_page(house, work)
    finally:
        house.searches.close()


def test_one_network_is_examined_at_a_time(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no turns: several at once would leave no thread for the searches of others."""
    limits = replace(LIMITS, searching=3)
    house, under_way, most = House(Library([runs], (), limits), limits, Searches(limits), seed=1), [0], [0]

    def examine(*_: Any, **__: Any) -> dict[str, Any]:
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        time.sleep(0.1)
        under_way[0] -= 1
        return {"text": "found", "spots": []}

    monkeypatch.setattr(blind_spots, "blind_spots", examine)

    async def work(page: Any) -> None:
        answers = await asyncio.gather(*(page.ask("runs.blind_spots", run="small") for _ in range(3)))
        assert [one["result"]["text"] for one in answers] == ["found"] * 3 and most == [1]

    try:
        with_page(house, work)
    finally:
        house.searches.close()


@pytest.fixture
def page(browser: Any, runs: Path) -> Iterator[Any]:
    with serving(runs=[runs]) as (where, _):
        context = browser.new_context(viewport=DESKTOP)
        opened = context.new_page()
        opened.goto(f"{where}#/runs?runs=small")
        yield opened
        context.close()


def test_a_blind_spot_is_clicked_and_searched(page: Any) -> None:
    page.get_by_role("button", name="Blind spots").click()
    spots = page.locator(".blind-spots li")
    spots.nth(5).wait_for()
    picture(page, "blind-spots")
    spots.first.get_by_role("link", name="Watch a search").click()
    page.get_by_text("nothing was searched yet").wait_for()
    page.go_back()
    page.get_by_role("button", name="Blind spots").click()
    spots.first.get_by_role("link", name="Analyse").click()
    page.get_by_role("button", name="Review").first.wait_for()
    assert "start=" in page.url
