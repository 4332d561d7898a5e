"""Runs and their checkpoints: watched, pitted against each other, and their curves as TensorBoard draws them."""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from web_for_tests import DESKTOP, PHONE, Open, history, record_games, says, serving, untrained_run
from zerosum.run.metrics import Metrics, MetricsRow
from zerosum.run.run_directory import hold

WITHOUT = "before => !document.querySelectorAll('figure.chart')[2].querySelector('.line').outerHTML.includes(before)"
"""Whether a piece of the path of the policy loss is gone."""
LOSSES = [4.0, 1.0, 3.0, 0.5, 2.0]


@pytest.fixture(scope="module")
def runs(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of two runs with recorded losses, one with a larger network."""
    folder = tmp_path_factory.mktemp("curves") / "runs"
    for name, factor in (("calm", 1.0), ("wild", 10.0)):
        run = untrained_run(folder / name)
        write_rows(run, factor)
    text = (folder / "wild" / "config.toml").read_text(encoding="utf-8")
    assert "num_filters = 8" in text
    (folder / "wild" / "config.toml").write_text(text.replace("num_filters = 8", "num_filters = 16"), encoding="utf-8")
    with serving(runs=[folder]) as (where, _):
        yield where


def write_rows(run: Path, factor: float) -> None:
    metrics = Metrics(run, report=str)
    for number, loss in enumerate(LOSSES):
        row = MetricsRow(
            minutes=10.0**number,
            step=100 * number,
            games=10 * number,
            positions=200 * number,
            evaluations=1000 * number,
            evaluations_per_second=50.0,
            policy_loss=factor * loss,
        )
        metrics.add(row)
    metrics.close()


@pytest.fixture
def page(browser: Any, runs: str) -> Iterator[Any]:
    context = browser.new_context(viewport=DESKTOP)
    opened = context.new_page()
    opened.goto(f"{runs}#/runs?runs=calm,wild")
    figure(opened).locator("path.line").nth(1).wait_for()
    yield opened
    context.close()


def figure(page: Any) -> Any:
    return page.locator("figure.chart", has_text="Policy loss")


def path(page: Any, kind: str) -> list[tuple[float, float]]:
    text = figure(page).locator(kind).first.get_attribute("d")
    return [(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", text)]


def test_smoothing_is_the_corrected_moving_average(page: Any) -> None:
    assert page.locator(".line.raw").count() == 0
    drawn = path(page, ".line.c0")
    page.get_by_label("Smoothing").select_option("0.6")
    page.locator(".line.raw").first.wait_for()
    assert path(page, ".line.raw.c0") == drawn, "the values themselves are still there, pale"
    average, weights, expected = 0.0, 0.0, []
    for loss in LOSSES:
        average, weights = 0.6 * average + 0.4 * loss, 0.6 * weights + 0.4
        expected.append(average / weights)
    # Pixels of the values are a straight line's.
    slope = (drawn[1][1] - drawn[0][1]) / (LOSSES[1] - LOSSES[0])
    shown = [LOSSES[0] + (y - drawn[0][1]) / slope for _, y in path(page, ".line.c0:not(.raw)")]
    assert shown == pytest.approx(expected, abs=0.15)
    page.reload()
    page.locator(".line.raw").first.wait_for()
    page.get_by_label("Smoothing").select_option("0")
    page.wait_for_function("() => document.querySelectorAll('.line.raw').length === 0")


def test_logarithmic_axes_keep_ratios(page: Any) -> None:
    straight = [x for x, _ in path(page, ".line.c0")]
    assert straight[1] - straight[0] < 1, "1 and 10 minutes of 10,000"
    page.get_by_label("logarithmic x").check()
    page.wait_for_function(
        WITHOUT,
        arg=f"L{straight[1]} ",
    )
    places = [x for x, _ in path(page, ".line.c0")]
    steps = [later - earlier for earlier, later in itertools.pairwise(places)]
    assert steps == pytest.approx([steps[0]] * 4, abs=0.2), "each is ten times the one before"
    before = path(page, ".line.c0")
    page.get_by_label("logarithmic y").check()
    page.wait_for_function(
        WITHOUT,
        arg=f" {before[1][1]}L",
    )
    calm, wild = path(page, ".line.c0"), path(page, ".line.c1")
    shifts = [one[1] - other[1] for one, other in zip(calm, wild, strict=True)]
    assert shifts == pytest.approx([shifts[0]] * 5, abs=0.2), "ten times as much is the same way up everywhere"
    pixels = (calm[1][1] - calm[0][1]) / math.log(LOSSES[0] / LOSSES[1])
    assert shifts[0] == pytest.approx(pixels * math.log(10), rel=0.02)
    ticks = [
        float(text) for text in figure(page).locator(".tick[text-anchor=end]").all_text_contents() if text[0].isdigit()
    ]
    assert len(ticks) >= 3 and all(tick > 0 for tick in ticks)


def test_the_figures_of_a_run_are_saved_as_csv(page: Any) -> None:
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save CSV").nth(1).click()
    assert saved.value.suggested_filename == "wild.csv"
    rows = list(csv.DictReader(io.StringIO(Path(saved.value.path()).read_text())))
    assert [float(row["policy_loss"]) for row in rows] == [10 * loss for loss in LOSSES]
    assert [float(row["minutes"]) for row in rows] == [10.0**number for number in range(5)]
    assert rows[0]["elo"] == ""


def test_settings_of_runs_stand_side_by_side(page: Any) -> None:
    page.get_by_text("Settings side by side").click()
    table = page.locator(".run-settings table")
    table.wait_for()
    rows = [row.inner_text().split("\t") for row in table.locator("tbody tr").all()]
    assert rows == [["network.num_filters", "8", "16"]], "only what differs"
    assert table.locator("thead th").all_inner_texts() == ["setting", "calm", "wild"]
    page.get_by_label("also those in which they agree").check()
    page.wait_for_function("() => document.querySelectorAll('.run-settings tbody tr').length > 20")
    page.get_by_label("Show wild").uncheck()
    page.wait_for_function("() => document.querySelectorAll('.run-settings thead th').length === 2")


def test_a_logarithmic_axis_of_nothing_above_zero_is_a_plain_one(visit: Open) -> None:
    page = visit("#/games")
    found = page.evaluate(
        """async () => {
            const { axis } = await import("/static/axes.js");
            const plain = axis([0, -1], { from: 0, to: 100, isLog: true });
            const log = axis([0, 1, 100], { from: 0, to: 100, isLog: true });
            const one = axis([5], { from: 0, to: 100, isLog: true });
            const low = axis([0.05], { from: 0, to: 100, low: 0 });
            return [plain.at(-0.5), log.shows(0), log.at(10), log.value(50), one.at(5), one.ticks, low.at(0.05)];
        }"""
    )
    assert found[6] == pytest.approx(50), "a single value is in the middle where the axis begins at zero, too"
    assert found[:2] == [50, False]
    assert found[2:5] == pytest.approx([50, 10, 50]) and 5 in found[5]


def test_two_checkpoints_are_pitted_against_each_other(visit: Open) -> None:
    page = visit("#/runs")
    page.get_by_role("link", name="Pit two checkpoints").click()
    page.get_by_label("Simulations of the first player").select_option("10")
    page.get_by_label("Second player", exact=True).select_option("random")
    page.get_by_label("Length").select_option("2")
    page.get_by_role("button", name="Begin").click()
    says(page, "The match is over after 2 games.")
    assert "random" in page.url and "Elo of tiny@10 over random: " in page.locator("#main").inner_text()
    page.get_by_label("Finished games").get_by_role("link").first.click()
    page.wait_for_url(re.compile("analyse"))
    page.locator(".board").first.wait_for()
    page = visit("#/match?game=connect4", size=PHONE)
    page.get_by_label("Simulations of the first player").select_option("200")  # it must not end before it is stopped
    page.get_by_label("Length").select_option("200")
    page.get_by_role("button", name="Begin").click()
    page.get_by_label("Finished games").get_by_role("link").nth(1).wait_for()
    page.get_by_role("button", name="Stop").click()
    says(page, "Stopped after")


def test_a_run_is_watched(visit: Open) -> None:
    page = visit("#/runs")
    page.get_by_text("Is it learning?").wait_for()
    assert page.locator(".chart:not(.wide-chart)").count() == 6
    page.locator(".wide-chart .area:not(.rest)").first.wait_for()
    assert "First moves of tiny" in page.locator(".wide-chart").inner_text()
    page.get_by_role("button", name=re.compile("^Game 4")).click()
    page.locator(".replay .board").wait_for()
    page.get_by_role("button", name="One move on").click()
    page.get_by_text("Move 2 of").wait_for()
    assert re.search(r"Shares of the search: \d: \d+ %, \d: \d+ %", page.locator(".replay").inner_text())
    page.get_by_role("link", name="Play it").click()
    says(page, "Your move")
    page.wait_for_url(re.compile("vs=tiny"))
    page.locator("[data-cell].column").first.click()
    history(page, 2)


ONE_POINT = """async (value) => {
    const { chart } = await import("/static/chart.js");
    const figure = chart([{ name: "one", points: [[value, value]] }], { title: "one point" });
    const dot = figure.querySelector(".dot"), box = figure.querySelector("svg").getAttribute("viewBox");
    const ticks = (anchor) => [...figure.querySelectorAll(`.tick[text-anchor=${anchor}]`)];
    const words = (anchor) => ticks(anchor).map((one) => one.textContent).filter(Boolean);
    const place = ["cx", "cy"].map((name) => dot.getAttribute(name));
    return { x: words("middle"), y: words("end"), dot: place, box };
}"""
"""Draws a chart of one point, and answers the words on its axes and the point's place."""


def test_a_chart_of_one_point_has_axes_from_zero(visit: Open) -> None:
    page = visit("#/games")
    for value in (0, 5, -3, 0.001, 123_456):
        drawn = page.evaluate(ONE_POINT, value)
        for names in (drawn["x"], drawn["y"]):
            numbers = [float(name.replace("k", "e3")) for name in names]
            assert 3 <= len(numbers) == len(set(numbers)) <= 7 and 0 in numbers
            assert max(map(abs, numbers)) >= abs(value)
        (x, y), (_, _, width, height) = map(float, drawn["dot"]), map(float, drawn["box"].split())
        assert 0 < x < width and 0 < y < height


def test_a_run_that_learns_shows_its_newest_games_and_leaves_the_focus(browser: Any, tmp_path: Path) -> None:
    run = untrained_run(tmp_path / "runs" / "tiny")
    record_games(run, number=3)
    with serving(runs=[run.parent]) as (where, _), hold(run):
        context = browser.new_context(viewport=DESKTOP)
        page = context.new_page()
        page.goto(f"{where}#/runs")
        page.get_by_role("button", name=re.compile("^Game 2")).click()
        page.get_by_role("button", name="One move on").click()
        page.get_by_text("Move 2 of").wait_for()
        page.get_by_role("button", name=re.compile("^Game 1")).focus()
        record_games(run, number=3, first=3)
        page.get_by_role("button", name=re.compile("^Game 5")).wait_for()
        focused = "document.activeElement.dataset.key ?? document.activeElement.getAttribute('aria-label')"
        assert page.evaluate(focused) == "game 1"
        assert page.get_by_text("Move 2 of").count() == 1, "the game that was looked at is still there"
        page.get_by_label("Show tiny").focus()
        untrained_run(run, steps=(4,))  # a new checkpoint: all is drawn anew
        page.locator(".fact a.step", has_text=re.compile("^4$")).wait_for()
        assert page.evaluate(focused) == "Show tiny"
        context.close()


def test_a_page_without_runs_says_how_one_begins(browser: Any, tmp_path: Path) -> None:
    with serving(runs=[tmp_path]) as (where, _):
        page = browser.new_page(viewport=DESKTOP)
        page.goto(f"{where}#/runs")
        page.get_by_text("There are no runs in the given directories.").wait_for()
        assert page.locator(".panel:visible").count() == 0, "no frame around nothing"
        page.close()


def test_the_words_below_a_chart_are_whole(page: Any) -> None:
    outside = page.evaluate(
        """() => [...document.querySelectorAll(".chart svg text")].filter((one) => one.textContent).filter((one) => {
            const words = one.getBoundingClientRect(), whole = one.ownerSVGElement.getBoundingClientRect();
            return words.bottom > whole.bottom || words.right > whole.right + 1;
        }).map((one) => one.textContent)"""
    )
    assert outside == []


def test_a_difference_without_a_bound_is_told_in_words(visit: Open) -> None:
    page = visit("#/games")
    told = page.evaluate(
        """async () => {
            const { eloWords } = await import("/static/match.js");
            return ["", "-12.5 (95 %: -90.1 to +65.0)", "+inf (95 %: -113.4 to +inf)"]
                .map((elo) => eloWords({ elo }, "new", "old"));
        }"""
    )
    assert told[:2] == ["", "Elo of new over old: −12.5 (95 %: −90.1 to +65.0)."]
    assert told[2].startswith("Elo of new over old: +∞ (95 %: −113.4 to +∞). One of them has all the points")
