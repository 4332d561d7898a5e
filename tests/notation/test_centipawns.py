"""Values in hundredths of a pawn."""

import math

import pytest

from zerosum.notation.centipawns import centipawns, coefficient_of


def test_centipawns_are_the_difference_in_elo() -> None:
    assert centipawns(0.0, 174) == 0
    assert centipawns(2 * 0.76 - 1, 174) == 201, "76 % are 200 Elo"
    assert centipawns(-0.5, 756) == -831 == -centipawns(0.5, 756)
    assert centipawns(1.0, 174) == -centipawns(-1.0, 174) == 10_000


def test_lichess_and_shogihome_show_our_win_rates_again() -> None:
    for percent in range(1, 100):
        value = percent / 50 - 1
        assert 100 / (1 + math.exp(-0.00368208 * centipawns(value, coefficient_of("chess")))) == pytest.approx(
            percent, abs=0.1
        )
        assert 100 / (1 + math.exp(-centipawns(value, coefficient_of("minishogi")) / 600)) == pytest.approx(
            percent, abs=0.05
        )


def test_better_values_are_more_centipawns() -> None:
    values = [number / 100 for number in range(-100, 101)]
    assert sorted(values, key=lambda value: centipawns(value, 600)) == values
