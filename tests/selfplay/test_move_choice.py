"""Self-play's choice of a move from a search."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from selfplay_for_tests import GAMES, SEARCH
from selfplay_twin import choose_action
from zerosum.games import Rules, state_after
from zerosum.network.evaluators import RolloutEvaluator, UniformEvaluator
from zerosum.search import new_search
from zerosum.search.answering import answer
from zerosum.search.config import Root
from zerosum.selfplay import SelfplayConfig


def searched(game: Rules, moves: str, num_simulations: int) -> Root:
    """A search whose values are those of random games, so that its visits differ from move to move."""
    search, evaluator = new_search(game, SEARCH), RolloutEvaluator(1, seed=1)
    search.reset(0, state_after(game, moves))
    search.begin(0, num_simulations)
    while answer(search, evaluator, 1):
        pass
    return search.root(0)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_moves_are_drawn_in_proportion_to_visits(temperature: float) -> None:
    """Chi-square with 6 degrees of freedom: above 22.5 once in a thousand seeds, and the seed is fixed."""
    root, num_draws = searched(GAMES["connect4"], "4", 200), 4000
    config = SelfplayConfig(temperature=temperature)
    drawn = [choose_action(root, config, seed=5, game_id=number, ply=0) for number in range(num_draws)]
    assert all(is_sampled for _, is_sampled in drawn)
    counts = np.bincount([action for action, _ in drawn], minlength=7)
    weights = root.visits.astype(float) ** (1 / temperature)
    expected = num_draws * weights / weights.sum()
    assert (expected > 5).all() and ((counts - expected) ** 2 / expected).sum() < 22.5
    assert np.ptp(expected) > 20, "the visits differ, or this would show nothing"


def test_each_ply_is_drawn_anew() -> None:
    root, config = searched(GAMES["connect4"], "4", 200), SelfplayConfig()
    for varied in ("seed", "game_id", "ply"):
        keys = [{"seed": 1, "game_id": 1, "ply": 1, varied: number} for number in range(30)]
        assert len({choose_action(root, config, **key)[0] for key in keys}) > 3
    assert len({choose_action(root, config, seed=1, game_id=1, ply=1) for _ in range(30)}) == 1


def test_a_small_temperature_is_the_best_move() -> None:
    root = searched(GAMES["connect4"], "4", 200)
    for temperature in (0.0, 0.001):
        config = SelfplayConfig(temperature=temperature)
        chosen = {choose_action(root, config, seed=1, game_id=number, ply=0)[0] for number in range(50)}
        assert chosen == {root.best_action}
    config = SelfplayConfig(temperature=5.0, temperature_plies=3)
    assert [choose_action(root, config, seed=1, game_id=1, ply=ply)[1] for ply in range(6)] == [True] * 3 + [False] * 3


def test_a_proven_loss_is_not_drawn_while_there_is_another_move() -> None:
    """X threatens a1 b1 c1: all moves of O but c1 lose, and had visits before that was known."""
    root = searched(GAMES["tictactoe"], "a1 b2 b1", 60)
    is_lost = (root.lower == root.upper) & (root.upper < 0)
    assert is_lost.any() and not is_lost.all() and root.visits[is_lost].sum() > 0
    config = SelfplayConfig(temperature=10.0)
    drawn = {choose_action(root, config, seed=1, game_id=number, ply=0)[0] for number in range(500)}
    assert drawn <= set(root.actions[~is_lost].tolist())
    lost = searched(GAMES["tictactoe"], "a1 b1 a3 a2 c3", 5000)
    assert lost.proven == -1.0 and choose_action(lost, config, seed=1, game_id=1, ply=0)[0] in lost.actions


def test_moves_of_a_gumbel_root_without_noise_are_drawn_from_the_improved_policy() -> None:
    """The visits of sequential halving are its schedule's, and two moves have equally many of them in the end."""
    game = GAMES["connect4"]
    search = new_search(game, replace(SEARCH, root_selection="gumbel"))
    search.reset(0, state_after(game, "4 4 3 3"))
    search.begin(0, 40)
    while answer(search, UniformEvaluator(), 1):
        pass
    root, num_draws, config = search.root(0), 20_000, SelfplayConfig(temperature=2.0)
    drawn = Counter(choose_action(root, config, seed=1, game_id=number, ply=0)[0] for number in range(num_draws))
    expected = root.move_policy() ** 0.5
    expected /= expected.sum()
    found = np.array([drawn[action] / num_draws for action in root.actions.tolist()])
    assert np.abs(found - expected).max() < 0.015
    assert np.abs(root.visit_policy() - root.move_policy()).max() > 0.1, "the two differ"
