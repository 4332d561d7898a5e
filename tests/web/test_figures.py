"""The tree of a long search on the page: which of its moments are drawn, that it is one search, and how it ends."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from web_for_tests import Page, serving, with_page
from zerosum.base.errors import SettingsError
from zerosum.games import make
from zerosum.network.evaluators import UniformEvaluator
from zerosum.play.player import Player
from zerosum.search import SearchConfig
from zerosum.web.figures import figure_stages, is_power_of_ten
from zerosum.web.limits import Limits

GAME = make("connect4")


def uniform(**settings: object) -> Player:
    return Player(GAME, UniformEvaluator(), SearchConfig(**settings), name="uniform")  # type: ignore[arg-type]


def test_the_stages_of_one_search_meet_all_powers_of_ten_and_end_at_the_number() -> None:
    stages = list(figure_stages(uniform(), GAME.initial_state(), 3000, Limits()))
    counts = [stage.num_simulations for stage in stages]
    assert {100, 1000} <= set(counts) and counts[-1] == 3000
    assert all(one < other for one, other in pairwise(counts))
    assert [stage.analysis.root.num_simulations for stage in stages] == counts
    for stage in stages:
        root, *others = stage.tree
        assert len(others) == 10 and all(node.visits <= stage.tree[node.parent].visits for node in others)
        assert root.visits >= stage.num_simulations
    assert [number for number in counts if is_power_of_ten(number)] == [100, 1000]


def test_a_small_memory_ends_the_search_before_the_number() -> None:
    *_, last = figure_stages(uniform(), GAME.initial_state(), 1_000_000, replace(Limits(), memory_mib=1))
    assert last.analysis.root.num_simulations < last.num_simulations and len(last.tree) == 11


def test_a_visitor_gets_the_trees_one_after_the_other_and_may_stop() -> None:
    async def work(page: Page) -> None:
        assert "no search is open" in (await page.ask("growth.figure", simulations=1000))["error"]
        await page.ask("growth.open", game="connect4", vs="rollouts@10")
        for number in (99, 1_000_001):
            assert "simulations" in (await page.ask("growth.figure", simulations=number))["error"]
        await page.ask("growth.figure", simulations=1000)
        drawn = []
        while not drawn or not drawn[-1]["is_last"]:
            drawn.append(await page.event("figure"))
        assert [one["simulations"] for one in drawn if one["svg"]] == [100, 1000]
        assert all(one["svg"].startswith("<svg") and one["svg"].count("<circle") == 11 for one in drawn if one["svg"])
        await page.ask("growth.figure", simulations=1_000_000)
        await page.event("figure")
        assert (await page.ask("growth.figure.stop"))["result"] == {}

    with serving() as (_, house):
        with_page(house, work)


def test_a_search_without_positions_has_no_figure() -> None:
    player = Player(
        GAME,
        UniformEvaluator(),
        SearchConfig(rules="learned", exact_bounds=False, proof_nodes=0, reuse_tree=False),
        name="learned",
    )
    with pytest.raises(SettingsError, match="learned searches no tree of positions: choose another evaluator"):
        figure_stages(player, GAME.initial_state(), 1000, Limits())
