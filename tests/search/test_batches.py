"""The batches of one tree: full at priors as a trained network's, and the same for any number of threads."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np
import pytest

from games_for_tests import DoubleMove
from search_twin import ReferenceSearch
from searches_for_tests import ALPHA, PLAIN, Recorder, run_twin
from zerosum._core import Leaves, Search
from zerosum.bench.trained_like import TOP_PRIORS, VALUE_SPREAD, TrainedLikeEvaluator
from zerosum.games import Rules, adopt, make
from zerosum.games.random_play import random_leaves
from zerosum.search import SearchConfig, new_search

LARGE = SearchConfig(root_noise_alpha=ALPHA, leaves_in_flight=256, batches_in_flight=2)


def gathered(search: Search, max_leaves: int) -> list[Leaves]:
    """All batches of a search with two under way."""
    evaluator, under_way, batches = TrainedLikeEvaluator(), deque[Leaves](), list[Leaves]()
    while True:
        while len(under_way) < 2 and len(leaves := search.gather(max_leaves)):
            under_way.append(leaves)
            batches.append(leaves)
        if not under_way:
            return batches
        said = evaluator.evaluate(leaves := under_way.popleft())
        assert leaves.ticket is not None
        search.apply(leaves.ticket, said.logits, said.values)


def begun(game: Rules, config: SearchConfig, num_simulations: int) -> Search:
    search = new_search(game, config)
    search.begin(0, num_simulations)
    return search


def test_the_trained_like_are_as_sure_as_they_say() -> None:
    leaves = random_leaves(make("chess"), 400)
    said = TrainedLikeEvaluator().evaluate(leaves)
    tops = []
    for start, stop in zip(leaves.legal_offsets[:-1], leaves.legal_offsets[1:], strict=True):
        if stop - start >= 30:
            weights = np.exp(said.logits[start:stop])
            tops.append(weights.max() / weights.sum())
    assert TOP_PRIORS[0] < min(tops) and max(tops) < TOP_PRIORS[1] + 0.01
    assert said.values.std() == pytest.approx(VALUE_SPREAD, rel=0.2)
    again = TrainedLikeEvaluator().evaluate(leaves)
    assert (again.logits == said.logits).all() and (again.values == said.values).all()


@pytest.mark.parametrize("name", ["chess", "go9", "shogi"])
def test_batches_are_full(name: str) -> None:
    """Nearly, once a tree is large; half empty if neither a virtual loss nor collisions are allowed."""
    fills, plain = {}, replace(LARGE, virtual_loss=0.0, collision_share=0.0)
    for config in (LARGE, plain):
        search = begun(make(name), config, 10_000)
        sizes = [len(leaves) for leaves in gathered(search, 128)]
        fills[config] = np.mean(sizes[-30:-1]) / 128
        assert sum(sizes) > 9000
    assert fills[LARGE] > 0.9
    assert fills[plain] < 0.5


@pytest.mark.parametrize("cache_positions", [0, 1 << 12])
@pytest.mark.parametrize("name", ["chess", "connect4", "go9", "shogi"])
def test_threads_change_nothing(name: str, cache_positions: int) -> None:
    """Batch by batch and visit by visit."""
    game, found = make(name), []
    for threads in (1, 2, 5):
        search = begun(game, replace(LARGE, threads=threads, cache_positions=cache_positions), 1500)
        asked = [
            [
                part.tobytes()
                for part in (leaves.packed_planes, leaves.constant_planes, leaves.legal_actions, leaves.legal_offsets)
            ]
            for leaves in gathered(search, 100)
        ]
        root = search.root(0)
        found.append((asked, root.visits.tolist(), root.q.tobytes(), search.num_collisions))
    assert found[0] == found[1] == found[2]
    assert found[0][3] > 0, "simulations met leaves in flight"


def test_a_game_in_python_stays_on_one_thread() -> None:
    game = adopt(DoubleMove())
    visits = [begun(game, replace(LARGE, threads=threads), 300) for threads in (1, 4)]
    found = []
    for search in visits:
        Recorder(game, 3).finish(search, 64)
        found.append(search.root(0).visits.tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("cache_positions", [0, 1 << 14])
def test_collisions_are_the_twins(cache_positions: int) -> None:
    """The same batches, visits and collisions with many leaves in flight."""
    game = make("connect4")
    config = replace(PLAIN, leaves_in_flight=40, collision_share=0.3, cache_positions=cache_positions)
    search, twin = begun(game, config, 400), ReferenceSearch(game, config, noise_alpha=ALPHA)
    twin.begin(400)
    run_twin(twin, 3, 25)
    Recorder(game, 3).finish(search, 25)
    assert search.root(0).visits.tolist() == twin.visits()
    assert search.num_collisions > 20
