"""A browser, a site with a run and games of one's own, and pages that may not fail."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from web_for_tests import DESKTOP, Open, browser_program, own_game, record_games, serving, untrained_run
from zerosum.web.limits import Limits
from zerosum.web.visit import House

LOOKED_AT = 1000
"""Simulations of an analysis while a page shows a position."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium. An analysis ends soon: else it would search on all cores for as long as a test has its page open."""
    program = browser_program()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Limits, "looking", property(lambda limits: replace(limits, simulations=LOOKED_AT)))
        launched = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def site(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, House]]:
    folder = tmp_path_factory.mktemp("own")
    run = untrained_run(folder / "runs" / "tiny", steps=range(0, 48, 4))
    record_games(run)
    own_games = [own_game(folder)]
    if importlib.util.find_spec("pyspiel") is not None:
        own_games.append("openspiel:tic_tac_toe")
    with serving(runs=[run.parent], own_games=own_games) as served:
        yield served


@pytest.fixture
def visit(browser: Any, site: tuple[str, House]) -> Iterator[Open]:
    """Opens pages; a page that says an error in its console, or asks another host for anything, fails the test."""
    contexts, troubles = [], []

    def open_page(where: str, *, size: dict[str, int] = DESKTOP, dark: bool = False, script: str = "") -> Any:
        context = browser.new_context(viewport=size, color_scheme="dark" if dark else "light", reduced_motion="reduce")
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(120_000)  # what waits is slow where all cores are busy, and no fault
        page.add_init_script(script)
        page.on("console", lambda said: troubles.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "request", lambda asked: asked.url.startswith((site[0], "blob:", "data:")) or troubles.append(asked.url)
        )
        page.goto(site[0] + where)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []
