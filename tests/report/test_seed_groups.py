"""Groups of seeds are compared by Welch's interval, which holds what it promises."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import zerosum
from zerosum.report import seed_groups
from zerosum.report.run_data import Curve, RunData
from zerosum.report.seed_groups import Difference, difference, group_lines, t_quantile
from zerosum.run.config import new_config
from zerosum.run.held_out import HeldOutFile
from zerosum.run.mistakes import Mistakes
from zerosum.run.strength import Strength


def test_the_quantile_is_scipy_s() -> None:
    stats = pytest.importorskip("scipy.stats")
    for freedom in (1.0, 1.3, 2.0, 4.7, 19.0, 300.0):
        for confidence in (0.5, 0.9, 0.95, 0.999):
            assert t_quantile(freedom, confidence) == pytest.approx(
                stats.t.ppf((1 + confidence) / 2, freedom), rel=1e-5
            )


def test_the_interval_is_scipy_s() -> None:
    stats = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(0)
    for sizes in ((2, 2), (3, 5), (4, 2)):
        first, second = (random.normal(number, 1 + number, size).tolist() for number, size in enumerate(sizes))
        found = difference(first, second)
        assert found is not None
        low, high = stats.ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
        assert (found.mean - found.error, found.mean + found.error) == pytest.approx((low, high), rel=1e-5)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    random, covered, num = np.random.default_rng(1), 0, 300
    for _ in range(num):
        found = difference(random.normal(0, 1, 3).tolist(), random.normal(0.7, 2, 4).tolist())
        assert found is not None
        covered += abs(found.mean - 0.7) <= found.error
    assert 0.91 < covered / num <= 1


def test_few_values_have_no_interval() -> None:
    assert difference([1.0], [2.0, 3.0]) is None
    assert difference([1.0, 1.0], [2.0, 2.0]) == Difference(1.0, 0.0)


class Measured(RunData):
    """A run with a given Elo at its end."""

    ending: float

    @property
    def elo(self) -> Curve:
        return Curve(np.array([1.0]), np.array([self.ending]))


def measured(path: Path, elo: float, *, seed: int, rate: float) -> RunData:
    config = new_config(zerosum.make("tictactoe"), "tictactoe", seed=seed, settings={"learner.learning_rate": rate})
    run = Measured(
        path, config, (), Strength(path, None, config), Mistakes(path, None, config), HeldOutFile(path), (), ()
    )
    object.__setattr__(run, "ending", elo)
    return run


def test_groups_are_told_with_their_difference(tmp_path: Path) -> None:
    slow = [measured(tmp_path / f"slow-{seed}", 100 + 10 * seed, seed=seed, rate=0.001) for seed in range(3)]
    quick = [measured(tmp_path / f"quick-{seed}", 200 + 10 * seed, seed=seed, rate=0.01) for seed in range(3)]
    text = "\n".join(group_lines([*slow, *quick]))
    assert f"A: {slow[0].path}, {slow[1].path}, {slow[2].path} (learner.learning_rate=0.001)" in text
    assert "Elo 110 ± 10 (3 runs)" in text and "Elo 210 ± 10 (3 runs)" in text
    assert "B - A: Elo +100 ± 22.7: a clear difference" in text
    close = [replace(run) for run in quick]
    for run, elo in zip(close, (105.0, 118.0, 99.0), strict=True):
        object.__setattr__(run, "ending", elo)
    assert "B - A: Elo -2.67 ± " in "\n".join(group_lines([*slow, *close]))
    assert "no clear difference" in "\n".join(group_lines([*slow, *close]))
    assert "two or more runs of each group are needed" in "\n".join(group_lines([*slow, quick[0]]))
    assert list(group_lines(slow)) == [] and list(group_lines([slow[0], quick[0]])) == []
    assert seed_groups.MEASURES[1].of(slow[0]) is None
