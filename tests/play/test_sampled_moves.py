"""Moves that a contestant draws at the beginning of a game."""

from __future__ import annotations

from collections import Counter

import pytest

from zerosum.games import make
from zerosum.network.evaluators import RolloutEvaluator
from zerosum.play.search_mover import near_best_action
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer_all


def test_moves_near_the_best_are_drawn_alike() -> None:
    """Against the definition: the tenth root of the visits of the moves that lack at most so much winning chance."""
    game, config = make("go(size=5)"), SearchConfig(num_simulations=400)
    search = new_search(game, config)
    search.begin(0, 400)
    answer_all(search, RolloutEvaluator(seed=3), max_leaves=8)
    root = search.root(0)
    best = root.actions.tolist().index(root.best_action)
    sizes = []
    for within in (0.0, 0.05, 0.2):
        rows = zip(root.actions.tolist(), root.visits.tolist(), root.q.tolist(), strict=True)
        least = (root.q[best] + 1) / 2 - within - 1e-6
        near = {action: visits**0.1 for action, visits, q in rows if visits and (q + 1) / 2 >= least}
        assert root.best_action in near
        drawn = Counter(near_best_action(root, (number + 0.5) / 4000, within=within) for number in range(4000))
        assert {action: count / 4000 for action, count in drawn.items()} == pytest.approx(
            {action: weight / sum(near.values()) for action, weight in near.items()}, abs=0.001
        )
        sizes.append(len(near))
    assert sizes[0] < sizes[1] < sizes[2]
