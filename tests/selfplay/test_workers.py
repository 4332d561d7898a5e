"""The number of games at a time: enough to keep the evaluator busy, and a small part of the run."""

from __future__ import annotations

from typing import Any

import pytest

from zerosum.games import make, measure_game
from zerosum.run.config import RunConfig, new_config
from zerosum.run.workers import GENERATION_SHARE, SMALLER_BATCHES, evaluations_per_ply, most_games, most_productive
from zerosum.selfplay.calibration import Calibration, Setup
from zerosum.selfplay.worker import num_trees

RATES = {16: 7000.0, 32: 8000.0, 64: 9000.0, 128: 9100.0}
"""Of a 5x64 network on a core, about."""


def calibration(rates: dict[int, float] = RATES) -> Calibration:
    return Calibration(Setup("host", 2, 2, None, "auto", "cpu"), rates)


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


GPU_RATES = {64: 113_000.0, 128: 159_000.0, 256: 175_000.0, 512: 207_000.0, 1024: 215_000.0}
"""Evaluations per second of eight workers by the games of each, about as 19x256 in chess on an H200."""
GPU_WORKER_RATES = {2: 150_000.0, 4: 206_000.0, 8: 207_000.0, 12: 210_000.0}
"""Evaluations per second by the number of workers of 512 games."""


def on_a_gpu(*overrides: str, **settings: Any) -> tuple[int, int]:
    game = make("chess")
    asked = ["search.num_simulations=800", "selfplay.full_search_share=1", *overrides]
    config = new_config(game, "chess", overrides=asked, **settings)
    found = Calibration(Setup("host", 16, None, None, "auto", "cuda"), GPU_RATES, GPU_WORKER_RATES)
    assert found.batch_size == 512
    return most_productive(config, game, found)


def test_a_night_on_a_gpu_has_the_fewest_games_with_nearly_the_best_rate() -> None:
    assert on_a_gpu(minutes=10_000) == (4, 512)
    assert on_a_gpu(minutes=10_000, machine=(16, 1)) == (4, 512)


def test_a_short_run_on_a_gpu_still_has_batches_that_keep_it_busy() -> None:
    """Sixteen workers of four games were what a twentieth of half an hour came to: 5,600 evaluations a second."""
    games = [workers * size for workers, size in (on_a_gpu(minutes=minutes) for minutes in (5, 30, 240, 720, 10_000))]
    assert games == sorted(games) and games[0] == 8 * 64 and 512 <= games[1] <= 2048
    steps = [workers * size for workers, size in (on_a_gpu(f"training.steps={steps}") for steps in (9, 500, 10**6))]
    assert steps == sorted(steps) and steps[-1] == 2048


def test_a_set_number_of_workers_on_a_gpu_counts_as_it_is() -> None:
    assert on_a_gpu("selfplay.num_workers=32", minutes=10_000)[1] <= 512
