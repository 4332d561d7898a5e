"""Values of leaves from random games: what they are, what they depend on, and where they are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from games_for_tests import DoubleMove
from networks_for_tests import SMALL, make_checkpoint
from zerosum._core import Leaves
from zerosum.base.errors import SettingsError
from zerosum.games import Rules, State, adopt, make
from zerosum.games.random_play import random_lines, state_of
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig
from zerosum.network.evaluators import EvaluatorConfig, make_evaluator
from zerosum.network.evaluators.rollout_values import RolloutValuesEvaluator
from zerosum.network.evaluators.symmetric import SymmetricEvaluator

GAME = make("connect4")
PLAIN = EvaluatorConfig("torch", "cpu", "f32")
SCALAR = replace(SMALL, value_head="scalar")


def network_of(game: Rules = GAME, *, step: int = 7, network: NetworkConfig = SMALL) -> Checkpoint:
    return make_checkpoint(CheckpointInfo.describe(game.spec, network, step=step))


def leaves_of(num: int = 64) -> Leaves:
    return GAME.encode([state_of(GAME, line) for line in random_lines(GAME, num=num, seed=3)])


def random_value(game: Rules, state: State) -> float:
    """The readable twin: the mean result of all games of random moves, for the first player."""
    if (outcome := game.outcome(state)) is not None:
        return outcome
    values = [random_value(game, game.play(state, action)) for action in game.legal_actions(state)]
    return sum(values) / len(values)


@pytest.mark.parametrize("network", [SCALAR, SMALL], ids=["scalar", "wdl"])
@pytest.mark.parametrize(("leaf_values", "share"), [("rollouts", 1.0), ("mean", 0.5)])
def test_values_are_those_of_random_games_to_a_share(network: NetworkConfig, leaf_values: str, share: float) -> None:
    """AlphaGo's (1 - lambda) v + lambda z; the policy stays the network's."""
    checkpoint, leaves = network_of(network=network), leaves_of()
    plain = make_evaluator(checkpoint, PLAIN, batch_size=64).evaluate(leaves)
    answer = make_evaluator(checkpoint, replace(PLAIN, leaf_values=leaf_values), batch_size=64).evaluate(leaves)
    np.testing.assert_array_equal(answer.logits, plain.logits)
    results = (answer.values - (1 - share) * plain.values) / share
    np.testing.assert_allclose(results, results.round(), atol=1e-5)
    assert {-1, 1} <= set(results.round().astype(int).tolist()) <= {-1, 0, 1}
    assert (answer.wdl is None) == (network is SCALAR)
    if answer.wdl is not None:
        np.testing.assert_allclose(answer.wdl.sum(axis=1), 1, atol=1e-5)
        np.testing.assert_allclose(answer.wdl[:, 0] - answer.wdl[:, 2], answer.values, atol=1e-5)


TICTACTOE = [[0, 3, 1, 4], [0, 3, 1], [0, 8, 1, 3, 6], [0, 1, 2, 4, 3, 5, 7, 6]]
TWICE = [[], [0], [1], [2, 2], [0, 2, 2]]
"""Moves of a game written in Python, in which the same side may move again."""


@pytest.mark.parametrize(
    ("game", "lines"), [(make("tictactoe"), TICTACTOE), (adopt(cast(Any, DoubleMove())), TWICE)], ids=["core", "python"]
)
def test_results_are_for_the_player_to_move(game: Rules, lines: list[list[int]]) -> None:
    evaluator = make_evaluator(network_of(game), replace(PLAIN, leaf_values="rollouts"), batch_size=64)
    for line in lines:
        state = state_of(game, line)
        values = evaluator.evaluate(game.encode([state] * 900)).values
        expected = random_value(game, state) * (1 if game.player(state) == 0 else -1)
        assert values.mean() == pytest.approx(expected, abs=0.12), "a deviation of at most 1 / 30, and a game each"


def test_games_depend_on_the_seed_the_network_and_the_positions_alone() -> None:
    def values(*, seed: int = 1, step: int = 7, num: int = 64) -> list[float]:
        config = replace(PLAIN, leaf_values="rollouts", rollout_seed=seed)
        evaluator = make_evaluator(network_of(step=step), config, batch_size=64)
        first = evaluator.evaluate(leaves_of(num=num)).values
        np.testing.assert_array_equal(evaluator.evaluate(leaves_of(num=num)).values, first, "not on the call")
        return first.tolist()

    first = values()
    for other in (values(seed=2), values(step=8), values(num=63)):
        assert other != first[: len(other)]


def test_a_new_network_plays_anew() -> None:
    evaluator = make_evaluator(network_of(), replace(PLAIN, leaf_values="rollouts"), batch_size=64)
    leaves = leaves_of()
    before = evaluator.evaluate(leaves)
    evaluator.update(network_of(step=8))
    assert (evaluator.evaluate(leaves).values != before.values).any()
    later = make_evaluator(network_of(step=8), replace(PLAIN, leaf_values="rollouts"), batch_size=64)
    np.testing.assert_array_equal(evaluator.evaluate(leaves).values, later.evaluate(leaves).values)


def test_it_is_the_networks_evaluator_otherwise() -> None:
    config = replace(PLAIN, leaf_values="mean", symmetry_seed=0)
    plain = make_evaluator(network_of(), replace(config, leaf_values="network"), batch_size=8, game=GAME)
    evaluator = make_evaluator(network_of(), config, batch_size=8, game=GAME)
    assert isinstance(plain, SymmetricEvaluator) and isinstance(evaluator, RolloutValuesEvaluator)
    assert (evaluator.description, evaluator.full_batch) == (plain.description, plain.full_batch)
    assert evaluator.batch_sizes(24) == plain.batch_sizes(24)
    np.testing.assert_array_equal(evaluator.evaluate(leaves_of()).logits, plain.evaluate(leaves_of()).logits)
    assert len(evaluator.evaluate(GAME.encode([])).values) == 0


def test_unknown_values_are_refused() -> None:
    with pytest.raises(SettingsError, match="unknown leaf_values 'rollout'|leaf_values is 'rollout'"):
        make_evaluator(network_of(), replace(PLAIN, leaf_values="rollout"), batch_size=8)
