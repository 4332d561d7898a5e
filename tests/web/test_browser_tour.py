"""The tour in the browser: from a page without runs to what was learned when."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from web_for_tests import DESKTOP, PHONE, picture, record_games, says, serving, untrained_run
from zerosum.run.metrics import Metrics, MetricsRow

BUSY = MetricsRow(
    minutes=2.0,
    step=8,
    games=3,
    positions=60,
    evaluations=300,
    evaluations_per_second=50.0,
    cores=2,
    cores_used=0.08,
    cores_others=0.92,
    cores_learning=0.01,
    cores_measuring=0.01,
    selfplay_paused=0.0,
)
"""What a training recorded on a computer whose cores others used."""
PICTURE = {"width": 1000, "height": 1000}
COPY = "import shutil, sys; shutil.copytree(sys.argv[1], sys.argv[sys.argv.index('--run') + 1])"


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_tour_from_its_beginning_to_its_end(browser: Any, tmp_path: Path, size: dict[str, int]) -> None:
    """A program stands for the training: it leaves a run that was made before."""
    learned = untrained_run(tmp_path / "made", steps=(0, 4, 8))
    record_games(learned, number=3)
    metrics = Metrics(learned, report=str)
    metrics.add(BUSY)
    metrics.close()
    (tmp_path / "runs").mkdir()
    with serving(runs=[tmp_path / "runs"]) as (where, house):
        assert house.trainings is not None
        context = browser.new_context(viewport=size)
        page = context.new_page()
        page.goto(f"{where}#/tour")
        says(page, "Nothing has been learned yet.")
        assert "zerosum web --tour" in page.locator("#main").inner_text(), "this page may not start trainings"
        house.trainings.is_allowed = True
        house.trainings.program = (sys.executable, "-c", COPY, str(learned))
        page.reload()
        page.get_by_role("button", name="Begin: 2 minutes").click()
        says(page, "It has learned: ")
        assert "3 checkpoints" in page.locator(".says").inner_text()
        page.get_by_text("The training had 8% of its 2 cores: other programs used 92%.").wait_for()
        page.get_by_text("Game 2 against itself").wait_for()
        see = page.get_by_role("region", name="See")
        see.get_by_text("by chance it would be").first.wait_for()
        assert re.search(r"\d+ % at first, \d+ % at last; by chance it would be 1\d %", see.inner_text())
        assert see.locator(".chart .line").count() == 2 and see.locator(".dot").count() == 6

        search = page.get_by_role("region", name="Search")
        assert search.locator(".board").count() == 2
        page.wait_for_function("() => document.querySelectorAll('.tour-found b').length === 2")
        assert search.locator(".heat").count() > 8, "an untrained network has no favourite"
        search.get_by_label("They search with").select_option("200")
        page.wait_for_function(
            "() => [...document.querySelectorAll('.tour-found b')].every((one) => one.textContent === '4')"
        )
        search.locator('[data-cell="0"]').first.click()
        page.wait_for_url(re.compile(r"moves=4\+3\+4\+3\+4\+1"))
        see.get_by_role("button", name="Ask both").first.click()
        page.wait_for_function("() => !location.href.includes('moves=4+3+4+3+4+1')")
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]

        page.get_by_role("link", name="Play the first (before it learned)").click()
        says(page, "Your move")
        page.wait_for_url(re.compile("vs=tour\\+step\\+0%4050"))
        page.go_back()
        says(page, "It has learned: ")
        page.get_by_role("link", name="Play the last (after 8 steps)").click()
        page.wait_for_url(re.compile("vs=tour\\+step\\+8%4050"))
        page.goto(f"{where}#/runs")
        page.get_by_role("link", name="Take the tour").click()
        says(page, "It has learned: ")
        context.close()


def test_the_picture_of_the_tour(browser: Any, tmp_path: Path) -> None:
    """It is made of a run that has learned if ZEROSUM_TOUR names its directory; no other test needs one."""
    run = (
        Path(os.environ["ZEROSUM_TOUR"]) if "ZEROSUM_TOUR" in os.environ else untrained_run(tmp_path / "runs" / "tour")
    )
    with serving(runs=[run.parent]) as (where, _):
        page = browser.new_page(viewport=PICTURE)
        page.goto(f"{where}#/tour?run={run.name}")
        page.get_by_text("by chance it would be").first.wait_for()
        top, bottom = page.evaluate(
            """() => {
                const [search, curve] = ["[aria-label=Search]", "[aria-label=See] .chart"].map((one) =>
                    document.querySelector(one).getBoundingClientRect());
                return [search.top + scrollY, curve.bottom + scrollY];
            }"""
        )
        page.set_viewport_size(PICTURE | {"height": round(bottom - top) + 24})
        page.evaluate("top => scrollTo(0, top)", top - 12)
        seen = page.get_by_role("region", name="See").locator(".chart").bounding_box()
        assert seen["y"] > 0 and seen["y"] + seen["height"] <= page.viewport_size["height"], "the whole curve is seen"
        picture(page, "tour")
        page.close()
