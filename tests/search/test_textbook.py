"""The textbook's search makes the visits of the core's, one by one."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from searches_for_tests import ALPHA, GAMES, FakeNetwork, Recorder, random_position
from zerosum import _core
from zerosum._core import Leaves
from zerosum.base.settings import from_mapping
from zerosum.games import make
from zerosum.network.evaluators.evaluator import Evaluations
from zerosum.run.presets import load_preset
from zerosum.search import SearchConfig, new_search, textbook


def paper_settings(**changes: Any) -> SearchConfig:
    return from_mapping(SearchConfig, {**load_preset("paper", game="chess")["search"], **changes}, "search")


@pytest.mark.parametrize("game_name", GAMES)
def test_visits_equal_the_cores(game_name: str) -> None:
    game, generator = GAMES[game_name](), random.Random(1)
    for seed in range(20):
        config = paper_settings(num_simulations=generator.choice([1, 30, 200]), root_noise_alpha=ALPHA)
        state, key = random_position(game, generator), (seed, 5, 7) if seed % 2 else None
        fast = new_search(game, config)
        fast.reset(0, state)
        fast.begin(0, config.num_simulations, noise=key)
        Recorder(game, seed).finish(fast)
        noise = _core.dirichlet_noise(*key, ALPHA, len(game.legal_actions(state))) if key else None
        root = textbook.search(game, FakeNetwork(seed), state, num_simulations=config.num_simulations, noise=noise)
        found = fast.root(0)
        visits = {action: child.visits for action, child in root.children.items()}
        assert [visits.get(action, 0) for action in root.priors] == found.visits.tolist()
        assert root.sign * root.value_sum / root.visits == pytest.approx(found.value, abs=1e-6)
        assert list(textbook.policy_target(root).values()) == pytest.approx(found.policy_target().tolist())
        assert key or textbook.best_action(root) == found.best_action


class Shifted(FakeNetwork):
    """A network whose logits all have the same number added, which changes no probability."""

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """Add it."""
        said = super().evaluate(leaves)
        return Evaluations(leaves, said.logits + np.float32(1024), said.values, wdl=said.wdl)


def test_only_differences_of_logits_count() -> None:
    game = GAMES["connect4"]()
    roots = [
        textbook.search(game, network, game.initial_state(), num_simulations=50)
        for network in (FakeNetwork(1), Shifted(1))
    ]
    plain, shifted = ([child.visits for child in root.children.values()] for root in roots)
    assert plain == shifted


def test_it_is_short() -> None:
    assert len(Path(textbook.__file__).read_text(encoding="utf-8").splitlines()) <= 140


@pytest.mark.parametrize(("c_base", "c_factor"), [(1.0, 2.0), (2.0, 0.5), (50.0, 5.0)])
def test_exploration_grows_as_the_cores(c_base: float, c_factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The base is near the number of visits, so that each of them counts."""
    monkeypatch.setattr(textbook, "C_BASE", c_base)
    monkeypatch.setattr(textbook, "C_FACTOR", c_factor)
    game = GAMES["connect4"]()
    for seed in range(4):
        config = paper_settings(num_simulations=150, root_noise_alpha=ALPHA, c_base=c_base, c_factor=c_factor)
        fast = new_search(game, config)
        fast.begin(0, 150)
        Recorder(game, seed).finish(fast)
        root = textbook.search(game, FakeNetwork(seed), game.initial_state(), num_simulations=150)
        visits = [root.children[action].visits if action in root.children else 0 for action in root.priors]
        assert visits == fast.root(0).visits.tolist()


def test_a_position_that_is_over_by_repetition_or_a_counter_can_be_the_root() -> None:
    """As the core searches it: the moves are those that are left."""
    game = make("chess")
    state = game.parse_position("8/8/8/3k4/8/8/8/K6R w - - 100 80")
    assert game.is_soft_ending(state) and not game.legal_actions(state)
    root = textbook.search(game, FakeNetwork(1), state, num_simulations=20)
    assert list(root.priors) == game.legal_actions(state, past_soft_endings=True)
    assert sum(child.visits for child in root.children.values()) == 20


def test_equal_moves_are_played_by_value_and_then_by_prior() -> None:
    game = GAMES["tictactoe"]()
    state = game.initial_state()
    for sign in (1, -1):
        root = textbook.Node(state, sign=sign, priors={action: np.float32(0.1 + action / 100) for action in range(4)})
        for action, (visits, value) in enumerate([(3, 0.9), (5, 0.5), (5, 0.6), (5, 0.6)]):
            root.children[action] = textbook.Node(state, sign=-sign, visits=visits, value_sum=sign * value * visits)
        assert textbook.best_action(root) == 3
        root.children[2].value_sum += sign * 0.01
        assert textbook.best_action(root) == 2
        root.children[0].visits = 6
        assert textbook.best_action(root) == 0
        assert textbook.policy_target(root) == pytest.approx({0: 6 / 21, 1: 5 / 21, 2: 5 / 21, 3: 5 / 21})
        root.priors[4] = np.float32(0.5)
        assert textbook.policy_target(root)[4] == 0


def test_a_child_that_waits_for_its_evaluation_counts_as_unvisited() -> None:
    """A page draws the tree between the choice of a leaf and its evaluation."""
    state = make("tictactoe").initial_state()
    root = textbook.Node(state, 1, children={4: textbook.Node(state, -1)})
    assert textbook.q(root, 4) == textbook.UNVISITED_Q
