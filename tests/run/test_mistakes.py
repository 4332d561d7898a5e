"""Mistakes of a run's checkpoints: a sample while training, all positions at the end, each written down once."""

from __future__ import annotations

import contextlib
import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from zerosum._core import Leaves
from zerosum.games import make
from zerosum.network.evaluators import Evaluations, UniformEvaluator
from zerosum.play.player import Player
from zerosum.run.budget import Budget
from zerosum.run.config import RunConfig, new_config
from zerosum.run.measures import Measures
from zerosum.run.mistakes import FILE_NAME, Mistakes, mean_rate
from zerosum.run.report import mistake_table
from zerosum.run.run_plan import RunPlan
from zerosum.run.saved_state import SavedState
from zerosum.run.solved import MistakeRate, load_solved, mistake_rates

GAME = make("connect4")
SETTINGS = ["training.steps=100", "strength.solved_positions=12", "strength.solved_simulations=8"]
SETS = load_solved("connect4")


def config_with(*overrides: str) -> RunConfig:
    return new_config(GAME, "connect4", overrides=[*SETTINGS, *overrides])


def test_a_checkpoint_plays_a_sample_of_each_set(tmp_path: Path) -> None:
    config = config_with()
    mistakes = Mistakes(tmp_path, GAME, config)
    assert mistakes.newest is None
    mistakes.count(40, UniformEvaluator())
    search = replace(config.search, num_simulations=8, root_noise_fraction=0.0)
    expected = mistake_rates(Player(GAME, UniformEvaluator(), search, name=""), SETS.values(), max_positions=12)
    assert [(rate.set, rate.value, rate.positions) for rate in mistakes.of_step(40)] == [
        (rate.set, rate.value, 12) for rate in expected
    ]
    assert mistakes.newest == mean_rate(expected)
    mistakes.count(40, UniformEvaluator())
    assert len(mistakes.rates) == len(SETS), "once is enough"


def test_what_was_counted_is_read_again_and_damage_told(tmp_path: Path) -> None:
    mistakes = Mistakes(tmp_path, GAME, config_with())
    mistakes.count(40, UniformEvaluator())
    path = tmp_path / FILE_NAME
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole + '{"step": 41}\n{"step": 4', encoding="utf-8")
    assert Mistakes(tmp_path, GAME, config_with()).rates == mistakes.rates
    assert path.read_text(encoding="utf-8") != whole, "who only reads changes nothing"
    told: list[str] = []
    assert Mistakes(tmp_path, GAME, config_with(), report=told.append).rates == mistakes.rates
    assert path.read_text(encoding="utf-8") == whole
    assert len(told) == 1 and "line 7" in told[0]


@pytest.mark.parametrize("line", ['{"step": 1}', "[]", "nothing", '{"set": "a", "value": 2.0}'])
def test_a_line_that_is_no_rate_is_left_out(tmp_path: Path, line: str) -> None:
    rate = {"set": "a", "value": 0.5, "error": 0.1, "positions": 2, "num_simulations": 3, "evaluations": 4, "step": 5}
    (tmp_path / FILE_NAME).write_text(f"{line}\n{json.dumps(rate)}\n{json.dumps(rate | {'value': 1.5})}\n")
    assert [rate.step for rate in Mistakes(tmp_path, GAME, config_with()).rates] == [5]


def test_the_last_checkpoint_plays_all_or_what_the_time_allows(tmp_path: Path) -> None:
    mistakes = Mistakes(tmp_path, GAME, config_with("strength.solved_simulations=1"))
    mistakes.count(7, UniformEvaluator())
    mistakes.count(7, UniformEvaluator(), num_threads=2, seconds=1e6)
    assert [rate.positions for rate in mistakes.of_step(7)] == [1000] * 6
    mistakes.count(8, UniformEvaluator(), seconds=0.0)
    assert [rate.positions for rate in mistakes.of_step(8)] == [100] * 6, "some of each set whatever the time"


def test_the_time_of_the_last_checkpoint_is_that_of_the_budgets_clock(tmp_path: Path) -> None:
    """CPU-seconds, for instance, of which many pass in a second."""
    config = config_with("strength.solved_simulations=1", "strength.budget_share=0")
    measures = Measures(RunPlan(tmp_path, GAME, config), saved=SavedState(), report=lambda _: None, clock=lambda: 0.0)
    clock = itertools.count(step=10.0)

    class Fast(Budget):
        seconds_left = 5.0
        elapsed_s = property(lambda _: next(clock))

    budget = Fast(config, elapsed_s=0.0, num_steps=lambda: 100)
    with contextlib.closing(measures):
        measures.rate(8, UniformEvaluator(), budget, num_evaluations=0, is_last=True)
    assert [rate.positions for rate in measures.mistakes.of_step(8)] == [100] * 6


def test_samples_take_a_share_of_the_evaluations(tmp_path: Path) -> None:
    """12 positions of 6 sets, 8 simulations each: 576 evaluations at most, of which a twentieth has to be allowed."""
    mistakes = Mistakes(tmp_path, GAME, config_with("strength.budget_share=0.05"))
    mistakes.count(1, UniformEvaluator(), num_evaluations=20 * 576 - 1)
    assert not mistakes.rates
    mistakes.count(2, UniformEvaluator(), num_evaluations=20 * 576)
    mistakes.count(3, UniformEvaluator(), num_evaluations=20 * 577)
    assert {rate.step for rate in mistakes.rates} == {2}
    mistakes.count(4, UniformEvaluator(), num_evaluations=60 * 576)
    assert {rate.step for rate in mistakes.rates} == {2, 4}


def test_nothing_is_counted_where_nothing_is_solved_or_wanted(tmp_path: Path) -> None:
    class Refusing(UniformEvaluator):
        def evaluate(self, leaves: Leaves) -> Evaluations:
            raise AssertionError

    game = make("tictactoe")
    Mistakes(tmp_path, game, new_config(game, "tictactoe")).count(1, Refusing())
    Mistakes(tmp_path, GAME, config_with("strength.solved_positions=0")).count(1, Refusing(), seconds=1.0)
    assert not (tmp_path / FILE_NAME).exists()


def test_the_mean_is_over_sets() -> None:
    rates = mistake_rates(
        Player(GAME, UniformEvaluator(), replace(config_with().search, num_simulations=4), name=""),
        [SETS["end-easy"], SETS["begin-hard"]],
        max_positions=30,
    )
    mean, error = mean_rate(rates)
    assert mean == sum(rate.value for rate in rates) / 2
    assert error == pytest.approx((rates[0].error ** 2 + rates[1].error ** 2) ** 0.5 / 2)


def test_a_set_that_nobody_published_anything_of_has_a_row() -> None:
    known = MistakeRate("begin-hard", 0.1, 0.02, positions=100, num_simulations=600, evaluations=1)
    unknown = replace(known, set="corners")
    table = mistake_table([unknown], game="connect4")
    assert "corners" in table and "AlphaZero.jl" not in table
    assert "AlphaZero.jl" not in mistake_table([known], game="chess"), "another game with a set of this name"
    table = mistake_table([known, unknown], game="connect4")
    assert "23.5%" in table and table.splitlines()[-1].endswith("10.0% ± 2.0%")
