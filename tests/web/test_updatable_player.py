"""A run with an updatable network in the browser: its alpha-beta search plays, hints and analyses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from updatable_for_tests import train_updatable
from web_for_tests import Page, with_page
from zerosum.web.library import Library
from zerosum.web.limits import Limits
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
