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
