"""The evaluation cache: it changes nothing but the number of questions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from searches_for_tests import (
    GAMES,
    PLAIN,
    Recorder,
)
from zerosum.games import make, state_after
from zerosum.search import new_search


@pytest.mark.parametrize("game_name", GAMES)
@pytest.mark.parametrize("cache_positions", [2, 64, 1 << 16])
def test_a_cache_changes_nothing_but_the_number_of_evaluations(game_name: str, cache_positions: int) -> None:
    """Many trees of like positions over several plies, kept and forgotten trees: visit by visit what it was without."""
    game = GAMES[game_name]()
    found, asked = [], []
    for config in (PLAIN, replace(PLAIN, cache_positions=cache_positions)):
        search, recorder = new_search(game, config, num_trees=6), Recorder(game, 3)
        found.append([])
        for ply in range(3):
            for tree in range(6):
                if game.legal_actions(search.state(tree)):
                    search.begin(tree, 30 + 10 * tree, noise=(1, tree, ply))
            recorder.finish(search, 4)
            assert search.finished().tolist() == list(range(6)), "no tree waits for another"
            for tree in range(6):
                root = search.root(tree)
                found[-1].append((root.visits.tolist(), root.value, root.net_value, root.priors.tolist()))
                if root.best_action is not None:
                    search.advance(tree, root.best_action, keep=tree % 2 == 0)
        asked.append(recorder.num_evaluations)
    assert found[0] == found[1]
    assert asked[0] - asked[1] > (0 if cache_positions == 2 else asked[0] // 5)


def test_a_search_of_known_positions_asks_nothing() -> None:
    game = make("connect4")
    search, recorder = new_search(game, replace(PLAIN, cache_positions=10_000), num_trees=2), Recorder(game, 3)
    visits = []
    for tree in range(2):
        search.begin(tree, 300)
        recorder.finish(search, 1)
        assert search.finished().tolist() == list(range(tree + 1))
        visits.append(search.root(tree).visits.tolist())
    assert visits[0] == visits[1]
    before, num_bytes = recorder.num_evaluations, search.num_bytes
    assert before < 300
    search.reset(0, game.initial_state())
    search.begin(0, 300)
    assert len(search.gather(1)) == 0 and search.finished().tolist() == [0, 1], "the first gather settles it"
    search.clear_cache()
    search.reset(0, game.initial_state())
    search.begin(0, 300)
    recorder.finish(search, 1)
    assert recorder.num_evaluations == 2 * before, "all is asked again"
    assert search.num_bytes >= num_bytes > new_search(game, PLAIN, num_trees=2).num_bytes + 40 * before


def test_evaluations_on_their_way_are_not_kept_by_a_cleared_cache() -> None:
    """Evaluations in flight are the old network's and are not kept."""
    game = make("tictactoe")
    search = new_search(game, replace(PLAIN, cache_positions=1000), num_trees=2)
    search.begin(0, 10)
    leaves = search.gather(1)
    search.clear_cache()
    assert leaves.ticket is not None
    search.apply(leaves.ticket, np.zeros(9, np.float32), np.zeros(1, np.float32))
    search.begin(1, 10)
    assert 1 in search.gather(2).trees


def test_the_cache_knows_positions_by_what_the_network_sees() -> None:
    """1 2 3 and 3 2 1 are one question; the same stones the other way round, or another stone, are another."""
    game = make("connect4")
    search, recorder = new_search(game, replace(PLAIN, cache_positions=1000)), Recorder(game, 3)
    questions = ("1 2 3", True), ("3 2 1", False), ("1 2 3 4", True), ("2 1 4 3", True), ("3 4 1 2", False)
    for moves, is_new in questions:
        before = recorder.num_evaluations
        search.reset(0, state_after(game, moves))
        search.begin(0, 0)
        recorder.finish(search)
        assert recorder.num_evaluations == before + is_new, moves
