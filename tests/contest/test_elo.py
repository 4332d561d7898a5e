"""Statistics of a match: intervals have their coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest

from zerosum.contest.elo import elo_of_points, win_probability


def elo_of_score(score: float) -> float:
    return -400 * math.log10(1 / score - 1)


def test_200_elo_are_76_per_cent() -> None:
    assert win_probability(200) == pytest.approx(0.760, abs=5e-4)
    assert win_probability(0) == 0.5
    assert win_probability(-200) == pytest.approx(1 - win_probability(200))


def test_the_interval_of_wins_and_losses_is_wilsons() -> None:
    """Its ends are the p that are 1.96 of their own standard errors away from the score."""
    for wins, losses in ((60, 40), (100, 0), (1, 9), (997, 3)):
        elo, size = elo_of_points([1.0] * wins + [0.0] * losses), wins + losses
        assert math.isinf(elo.elo) or elo.elo == pytest.approx(elo_of_score(wins / size))
        for end in (elo.low, elo.high):
            p = win_probability(end)
            # n is 1 % off where the added half win and half loss count.
            assert abs(wins / size - p) == pytest.approx(1.959964 * math.sqrt(p * (1 - p) / size), rel=0.01)
    clean = elo_of_points([1.0] * 100)
    assert clean.elo == clean.high == math.inf and 560 < clean.low < 570


def test_draws_are_surer_than_wins_and_losses() -> None:
    drawn, fought = elo_of_points([0.5] * 100), elo_of_points([0.0, 1.0] * 50)
    assert drawn.elo == fought.elo == 0
    assert 1 < drawn.high < 0.2 * fought.high
    assert drawn.low == pytest.approx(-drawn.high)


def test_of_intervals_of_matches_95_per_cent_hold_the_truth() -> None:
    generator = np.random.default_rng(1)
    for win, draw in ((0.4, 0.3), (0.8, 0.15), (0.97, 0.0)):
        truth = elo_of_score(win + draw / 2)
        num_held = 0
        for _ in range(400):
            elo = elo_of_points(generator.choice([1.0, 0.5, 0.0], size=100, p=[win, draw, 1 - win - draw]).tolist())
            num_held += elo.low <= truth <= elo.high
        assert 0.92 <= num_held / 400 <= 0.98
