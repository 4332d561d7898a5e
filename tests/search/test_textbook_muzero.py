"""MuZero's search of the textbook makes the visits of the core's, one by one, and knows no rules below the root."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hidden_rules import FakeHiddenNetwork, state_key
from searches_for_tests import ALPHA, fake_network, random_position
from zerosum import _core
from zerosum.base.settings import from_mapping
from zerosum.games import Rules, State, make
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig, initial_weights
from zerosum.network.evaluators import make_evaluator
from zerosum.run.presets import load_preset
from zerosum.search import SearchConfig, new_search, textbook_muzero
from zerosum.search.answering import answer_all
from zerosum.search.textbook import Node
from zerosum.search.textbook_muzero import Answer, NetworkModel

GAMES = ["tictactoe", "connect4", "go(size=5)"]


def settings(num_simulations: int) -> SearchConfig:
    changes = {
        "rules": "learned",
        "reuse_tree": False,
        "proof_nodes": 0,
        "num_simulations": num_simulations,
        "root_noise_alpha": ALPHA,
    }
    return from_mapping(SearchConfig, {**load_preset("paper", game="chess")["search"], **changes}, "search")


class FakeModel:
    """Says of hidden states, which are the moves since a root, what `FakeHiddenNetwork` says."""

    def __init__(self, game: Rules, seed: int) -> None:
        self._game, self._seed = game, seed

    def represent(self, state: State) -> Answer:
        leaves = self._game.encode([state])
        bits = np.unpackbits(leaves.packed_planes, axis=2, bitorder="little")[0].tobytes()
        return self._answer((bits + leaves.constant_planes[0].tobytes(), ()), self._game.legal_actions(state))

    def advance(self, hidden: Any, action: int) -> Answer:
        root, moves = hidden
        return self._answer((root, (*moves, action)), range(self._game.spec.num_actions))

    def _answer(self, hidden: Any, actions: Any) -> Answer:
        logits, estimate = fake_network(state_key(*hidden, self._seed), actions)
        single = np.float32(logits).tolist()
        return Answer(hidden, dict(zip(actions, single, strict=True)), float(np.float32(estimate.value)))


def visits_of(root: Node) -> list[int]:
    return [root.children[action].visits if action in root.children else 0 for action in root.priors]


@pytest.mark.parametrize("game_name", GAMES)
def test_visits_equal_the_cores(game_name: str) -> None:
    game, generator = make(game_name), random.Random(1)
    for seed in range(8):
        config = settings(generator.choice([1, 30, 150]))
        state, key = random_position(game, generator), (seed, 5, 7) if seed % 2 else None
        fast = new_search(game, config)
        fast.reset(0, state)
        fast.begin(0, config.num_simulations, noise=key)
        answer_all(fast, FakeHiddenNetwork(seed), max_leaves=1)
        noise = _core.dirichlet_noise(*key, ALPHA, len(game.legal_actions(state))) if key else None
        model = FakeModel(game, seed)
        root = textbook_muzero.search(model, state, num_simulations=config.num_simulations, noise=noise)
        found = fast.root(0)
        assert visits_of(root) == found.visits.tolist()
        assert root.value_sum / root.visits == pytest.approx(found.value, abs=1e-6)
        assert list(textbook_muzero.policy_target(root).values()) == pytest.approx(found.policy_target().tolist())
        assert key or textbook_muzero.best_action(root) == found.best_action


@pytest.mark.parametrize("game_name", ["tictactoe", "connect4"])
def test_a_networks_searches_are_the_same(game_name: str) -> None:
    """Moves are planes in one game and numbers in the other."""
    game = make(game_name)
    network = NetworkConfig(kind="muzero", num_blocks=1, dynamics_blocks=1, num_filters=4)
    info, generator = CheckpointInfo.describe(game.spec, network, step=0), np.random.default_rng(2)
    weights = initial_weights(network, info.shape, seed=1)
    noise = {name: generator.normal(0, 0.2, weight.shape).astype(np.float32) for name, weight in weights.items()}
    checkpoint = Checkpoint(info, {name: weight + noise[name] for name, weight in weights.items()})
    fast, evaluator = new_search(game, settings(60)), make_evaluator(checkpoint, batch_size=1, game=game)
    fast.begin(0, 60)
    answer_all(fast, evaluator, max_leaves=1)
    root = textbook_muzero.search(NetworkModel(game, checkpoint), game.initial_state(), num_simulations=60)
    assert visits_of(root) == fast.root(0).visits.tolist()
    assert len(set(visits_of(root))) > 1


def test_it_is_short() -> None:
    assert len(Path(textbook_muzero.__file__).read_text(encoding="utf-8").splitlines()) <= 150
