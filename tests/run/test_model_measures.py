"""The measures of a learned model: a model that is the game errs nowhere, one that knows nothing errs by hand."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from games_recorded import random_game
from hidden_rules import FakeHiddenNetwork
from zerosum.games import make
from zerosum.games.random_play import random_lines, state_of
from zerosum.games.rules import Leaves
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig, initial_weights
from zerosum.network.evaluators import Evaluations
from zerosum.run.model_measures import ModelMeasure, measure_model, model_table, played_lines
from zerosum.run.search_measures import NUM_POSITIONS, measure_searches
from zerosum.search import SearchConfig

GAME = make("tictactoe")
LEARNED_RULES = SearchConfig(rules="learned", exact_bounds=False, proof_nodes=0, reuse_tree=False)
NETWORK = NetworkConfig(kind="muzero", num_blocks=0, dynamics_blocks=0, num_filters=4, value_head="scalar")


RECORDS = [random_game(number, random.Random(number), "tictactoe") for number in range(40)]


def checkpoint() -> Checkpoint:
    info = CheckpointInfo.describe(GAME.spec, NETWORK, step=0)
    return Checkpoint(info, initial_weights(NETWORK, info.shape, seed=1))


class PerfectModule:
    """A hidden state is the board itself, [B, 2, 3, 3] own and opponent's; it knows rules and results."""

    lines = torch.tensor([[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]])

    def __init__(self, *_: Any) -> None:
        pass

    def eval(self) -> None:
        pass

    def represent(self, planes: Tensor) -> Tensor:
        return planes[:, :2].flatten(2)

    def advance(self, hidden: Tensor, moves: Tensor) -> Tensor:
        own = hidden[:, 0].clone()
        own[torch.arange(len(own)), moves] = 1
        return torch.stack([hidden[:, 1], own], dim=1)

    def predict(self, hidden: Tensor) -> dict[str, Tensor]:
        free = hidden.sum(dim=1) == 0
        lost = hidden[:, 1][:, self.lines].prod(dim=2).any(dim=1)
        return {
            "policy": torch.where(free, torch.arange(9.0), torch.full((9,), -torch.inf)).masked_fill(
                ~free.any(dim=1, keepdim=True), 0
            ),
            "value": torch.where(lost, -20.0, 0.0)[:, None],
        }


def test_a_perfect_model_errs_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerosum.network.muzero_module.MuZeroModule", PerfectModule)
    measures = list(measure_model(GAME, checkpoint(), records=RECORDS, num_lines=60))
    assert {one.moves for one in measures} == {"played", "policy", "random"}
    assert max(one.depth for one in measures) >= 6
    for one in measures:
        assert math.isnan(one.result_error) == (one.moves != "played")
        assert one.moves != "played" or one.result_error == pytest.approx(one.real_result_error)
        assert one.illegal_share == pytest.approx(0)
        assert one.value_error == pytest.approx(0)
        assert one.agreement == 1
        assert math.isnan(one.end_error) or one.end_error == pytest.approx(0, abs=1e-6)
    assert any(not math.isnan(one.end_error) for one in measures)


def test_an_even_handed_network_by_hand() -> None:
    """A new network gives all moves the same share, and all positions the value 0."""
    measures = list(measure_model(GAME, checkpoint(), num_lines=60))
    assert measures[0].depth == 0
    for one in measures:
        assert one.value_error == pytest.approx(0)
        assert 0 <= one.illegal_share < 1
        assert math.isnan(one.end_error) or 0 <= one.end_error <= 1
    deepest = [one for one in measures if one.moves == "random"][-1]
    assert deepest.illegal_share > measures[0].illegal_share


def test_the_table_by_hand() -> None:
    (_, _, line, last) = model_table(
        [
            ModelMeasure("policy", 0, 512, 0.0012, 0.0, 1.0, math.nan, math.nan, math.nan),
            ModelMeasure("played", 3, 97, 0.25, 0.1234, 0.5, 0.75, 0.5, 0.25),
        ]
    )
    assert line.split() == ["policy", "0", "512", "0.12%", "0.000", "100.0%", "--", "--", "--"]
    assert last.split() == ["played", "3", "97", "25.00%", "0.123", "50.0%", "0.750", "0.500", "0.250"]


def test_played_lines_are_parts_of_the_games() -> None:
    for line in played_lines(GAME, RECORDS, num=40, seed=3):
        assert line.moves
        state, legal = line.state, 0
        for action in line.moves:
            assert action in GAME.legal_actions(state)
            state, legal = GAME.play(state, action), legal + 1
        assert GAME.outcome(state) == line.result, "moves go on to the end of the game"


def test_errors_to_the_result_by_hand() -> None:
    """A new network says 0 everywhere, so it is off by 1 but for draws."""
    games = [record for record in RECORDS if record.outcome == 0], [record for record in RECORDS if record.outcome]
    assert games[0] and games[1]
    for records, error in zip(games, (0, 1), strict=True):
        for one in measure_model(GAME, checkpoint(), records=records, num_lines=20):
            assert one.moves != "played" or (one.result_error, one.real_result_error) == (error, error)


class Remembering(FakeHiddenNetwork):
    """Notes the moves of each simulation from its root, which are in the hidden states."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.lines: list[tuple[int, tuple[int, ...]]] = []

    def evaluate(self, leaves: Leaves) -> Evaluations:
        answers, hidden = super().evaluate(leaves), leaves.hidden()
        assert hidden is not None and leaves.memory is not None
        for tree, parent, slot in zip(leaves.trees.tolist(), hidden[0].tolist(), hidden[2].tolist(), strict=True):
            if parent:
                self.lines.append((tree, leaves.memory[slot][1]))
        return answers


def test_a_search_is_followed_by_the_rules() -> None:
    """Each simulation is judged again by its whole line."""
    config = replace(LEARNED_RULES, num_simulations=40)
    states = [state_of(GAME, line) for line in random_lines(GAME, num=NUM_POSITIONS, seed=5)]
    network = Remembering(3)
    found = measure_searches(GAME, network, config, seed=5)
    illegal = past_end = 0
    for tree, line in network.lines:
        state = states[tree]
        for move in line:
            if GAME.outcome(state) is not None:
                past_end += 1
                break
            if move not in GAME.legal_actions(state):
                illegal += 1
                break
            state = GAME.play(state, move)
    total = NUM_POSITIONS * 40
    assert (found.num_positions, found.num_simulations) == (NUM_POSITIONS, total) and len(network.lines) == total
    assert found.illegal_share == illegal / total > 0.1
    assert found.past_end_share == past_end / total > 0.01
    assert found.calls_per_simulation == 41 / 40
    assert found.mean_depth == pytest.approx(sum(len(line) for _, line in network.lines) / total)
    assert f"{found.illegal_share:.1%} of 2,560 simulations pass" in found.words()
