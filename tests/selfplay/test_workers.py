"""The number of games at a time: enough to keep the evaluator busy, and a small part of the run."""

from __future__ import annotations

from typing import Any

import pytest

from zerosum.games import make, measure_game
from zerosum.run.config import RunConfig, new_config
from zerosum.run.workers import GENERATION_SHARE, SMALLER_BATCHES, evaluations_per_ply, most_games
from zerosum.selfplay.calibration import Calibration, Setup
from zerosum.selfplay.worker import num_trees

RATES = {16: 7000.0, 32: 8000.0, 64: 9000.0, 128: 9100.0}
"""Of a 5x64 network on a core, about."""


def calibration(rates: dict[int, float] = RATES) -> Calibration:
    return Calibration(Setup("host", 2, 2, "auto", "cpu"), rates)


def config_of(game: str, *overrides: str, **settings: Any) -> RunConfig:
    common = ["selfplay.num_workers=2", "training.device=cpu"]
    return new_config(make(game), game, overrides=[*common, *overrides], **settings)


def share_of_the_run(game: str, config: RunConfig, size: int, *, core_seconds: float) -> float:
    """The time that the games under way take to be played, of the budget's, at the size's rate."""
    evaluations = 2 * num_trees(size) * measure_game(make(game)).plies * evaluations_per_ply(config)
    rates = {**dict.fromkeys(SMALLER_BATCHES, RATES[16]), **RATES}
    return evaluations / rates[size] / core_seconds


@pytest.mark.parametrize("game", ["connect4", "go9", "chess", "shogi"])
@pytest.mark.parametrize("clock", ["cpu", "wall"])
def test_games_under_way_are_the_most_that_fit_into_a_twentieth_of_the_run(game: str, clock: str) -> None:
    sizes = list[int]()
    for minutes in (1, 5, 20, 60, 1000):
        config = config_of(game, f"training.clock={clock}", minutes=minutes)
        core_seconds = 60 * minutes * (2 if clock == "wall" else 1)
        sizes.append(size := most_games(config, make(game), calibration()))
        assert size <= calibration().batch_size
        if size > min(SMALLER_BATCHES):
            assert share_of_the_run(game, config, size, core_seconds=core_seconds) <= GENERATION_SHARE
        if size < calibration().batch_size:
            assert share_of_the_run(game, config, 2 * size, core_seconds=core_seconds) > GENERATION_SHARE
    assert sizes == sorted(sizes) and sizes[-1] == calibration().batch_size


def test_an_hour_of_shogi_has_fewer_games_under_way_than_keep_the_evaluator_busy() -> None:
    """874 games were what it came to, and 136 of them never ended."""
    size = most_games(config_of("shogi", "training.clock=cpu", minutes=60), make("shogi"), calibration())
    assert size < calibration().batch_size and 2 * num_trees(size) <= 0.06 * 874


def test_a_budget_in_steps_says_how_many_games_it_pays_for() -> None:
    def size_for(steps: int) -> int:
        return most_games(config_of("go9", f"training.steps={steps}"), make("go9"), calibration())

    positions_a_game = measure_game(make("go9")).plies * 0.25
    for steps in (500, 1000, 10_000):
        num_games = steps * 256 / 6 / positions_a_game
        assert 2 * num_trees(size_for(steps)) <= GENERATION_SHARE * num_games or size_for(steps) == 4
    assert size_for(100) < size_for(1000) < size_for(1_000_000) == 64
