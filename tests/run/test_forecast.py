"""The forecast of a budget in steps: the arithmetic by hand, and a real measurement printed by a run."""

from __future__ import annotations

import dataclasses
import re

from runs_for_tests import SETTINGS
from zerosum.games import make
from zerosum.run.config import new_config
from zerosum.run.forecast import Forecast, evaluations_per_position
from zerosum.run.training import train

ONE_CORE = Forecast(
    steps=100, evaluations=6000.0, samples=400.0, evaluations_per_second=100.0, samples_per_second=10.0, cores=1
)


def test_self_play_and_learning_share_one_core() -> None:
    assert ONE_CORE.seconds == 6000 / 100 + 400 / 10


def test_two_cores_are_no_faster_than_the_one_that_learns() -> None:
    assert dataclasses.replace(ONE_CORE, cores=2).seconds == 60 + 40 / 2
    assert dataclasses.replace(ONE_CORE, cores=2, evaluations=1.0).seconds == 40


def test_a_forecast_is_a_sentence() -> None:
    assert str(dataclasses.replace(ONE_CORE, steps=700_000, evaluations=6e9)) == (
        "at what was measured here, 100 evaluations and 10 samples a second, 700,000 learner steps take at most"
        " 694 days (6,000,000,000 evaluations, 400 samples)"
    )


def test_evaluations_for_a_position_by_hand() -> None:
    overrides = [
        "search.num_simulations=99",
        "selfplay.fast_simulations=19",
        "selfplay.full_search_share=0.25",
    ]
    config = new_config(make("connect4"), "connect4", overrides=overrides)
    assert evaluations_per_position(config) == 100 + 3 * 20  # one full search, and three fast ones beside it
    assert (
        evaluations_per_position(
            new_config(make("connect4"), "connect4", overrides=[*overrides, "selfplay.full_search_share=1"])
        )
        == 100
    )


def test_a_budget_in_steps_begins_with_a_forecast(tmp_path) -> None:
    lines: list[str] = []
    train("tictactoe", tmp_path, overrides=[*SETTINGS, "training.steps=4"], report=lines.append)
    told = [line for line in lines if re.search(r" 4 learner steps take at most \d+(\.\d)? (minute|hour)s? ", line)]
    assert len(told) == 1, lines


def test_a_budget_in_minutes_needs_none(tmp_path) -> None:
    lines: list[str] = []
    settings = [setting for setting in SETTINGS if not setting.startswith("training.steps=")]
    train("tictactoe", tmp_path, minutes=0.02, overrides=settings, report=lines.append)
    assert not any("learner steps take" in line for line in lines)
