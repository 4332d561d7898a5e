"""Strengths in words: ranks of people where a network learned from them, measurements against programs elsewhere."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

import zerosum
from lc0_files import Lc0File, lc0_network
from web_for_tests import Open, Page, says, serving, with_page
from zerosum.play.bundled import bundled_networks, read_card
from zerosum.web.visit import House


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, House]]:
    folder = tmp_path_factory.mktemp("people")
    names = ("maia-1500.pb.gz", "other-1500.pb.gz")
    for name in names:
        (folder / name).write_bytes(gzip.compress(Lc0File(lc0_network()).content()))
    with serving(runs=[folder / name for name in names]) as served:
        yield served


def test_a_network_that_learned_from_people_plays_like_them(site: tuple[str, House]) -> None:
    async def work(page: Page) -> None:
        opponents = (await page.ask("games.opponents", game="chess"))["result"]["opponents"]
        people = {Path(one["name"]).name: one.get("people") for one in opponents}
        assert people["maia-1500.pb.gz"] == 1500 and people["other-1500.pb.gz"] is None and people["rollouts"] is None
        maia, other = (next(one["name"] for one in opponents if name in one["name"]) for name in ("maia", "other"))
        site[1].seed, firsts = 1, set()
        for _ in range(12):
            view = (await page.ask("play.open", game="chess", side="1", vs=maia, people=True))["result"]
            assert view["strength"] == {"people": True}
            moved = await page.event("table")
            assert moved["said"]["simulations"] == 1, "no search chooses the move"
            firsts.add(moved["history"][0])
        assert len(firsts) > 1, "moves are drawn"
        for who in (other, "rollouts", "random", "alphabeta@1"):
            answer = await page.ask("play.open", game="chess", side="1", vs=who, people=True)
            assert "has not learned from people" in answer["error"]

    with_page(site[1], work)


def test_a_rank_of_people_is_offered_where_a_network_has_one(visit: Open) -> None:
    page = visit("#/play?game=chess&side=0&vs=rollouts@50")
    says(page, "Your move")
    page.get_by_role("button", name="New game").click()
    rank = "like people rated 1500 on lichess"
    strength = page.get_by_label("Strength")
    strength.wait_for()
    assert rank not in strength.locator("option").all_inner_texts()
    names = page.get_by_label("Opponent").locator("option").all_inner_texts()
    page.get_by_label("Opponent").select_option(next(name for name in names if "other-1500" in name))
    assert rank not in strength.locator("option").all_inner_texts()
    page.get_by_label("Opponent").select_option(next(name for name in names if "maia-1500" in name))
    assert strength.locator("option:checked").inner_text() == rank
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_url("**people=true**")
    page.reload()
    says(page, "Your move")
    assert "people=true" in page.url


def test_other_networks_have_what_was_measured_against_programs(visit: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerosum.play.bundled.DIRECTORY", Path(zerosum.__file__).parent / "data" / "networks")
    page = visit("#/play?game=connect4&side=0&vs=rollouts@50")
    says(page, "Your move")
    page.get_by_role("button", name="New game").click()
    page.get_by_label("Opponent").select_option("zerosum's network")
    [card] = [read_card(path) for path in bundled_networks() if path.name == "connect4"]
    assert page.locator(".strong").inner_text() == f"Measured against programs, not against people: {card.strength}."
    page.get_by_label("Opponent").select_option("rollouts")
    assert page.locator(".strong").is_hidden()
