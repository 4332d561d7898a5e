"""The measures of a learned model: a model that is the game errs nowhere, one that knows nothing errs by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from zerosum.games import make
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig, initial_weights
from zerosum.run.model_measures import ModelMeasure, measure_model, model_table

GAME = make("tictactoe")
NETWORK = NetworkConfig(kind="muzero", num_blocks=0, dynamics_blocks=0, num_filters=4, value_head="scalar")


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
    measures = list(measure_model(GAME, checkpoint(), num_lines=60))
    assert {one.moves for one in measures} == {"policy", "random"}
    assert max(one.depth for one in measures) >= 6
    for one in measures:
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
            ModelMeasure("policy", 0, 512, 0.0012, 0.0, 1.0, math.nan),
            ModelMeasure("random", 3, 97, 0.25, 0.1234, 0.5, 0.75),
        ]
    )
    assert line.split() == ["policy", "0", "512", "0.12%", "0.000", "100.0%", "--"]
    assert last.split() == ["random", "3", "97", "25.00%", "0.123", "50.0%", "0.750"]
