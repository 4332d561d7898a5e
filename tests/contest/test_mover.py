"""Limits and terms of players: how long a player may take, what is told of its terms, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest

from zerosum.base.errors import SettingsError
from zerosum.contest.clock import TimeControl, TimeLeft
from zerosum.contest.mover import MARGIN_S, MoveLimits, Terms
from zerosum.contest.time_manager import TimeConfig


def byoyomi(main_s: float) -> TimeLeft:
    return TimeLeft(main_s, period_s=3, period_moves=1, num_periods=1)


@pytest.mark.parametrize(
    ("given", "allowed_s"),
    [
        (MoveLimits(nodes=5, depth=3), (None, None)),
        (MoveLimits((TimeLeft.per_move(5), TimeLeft())), (5, None)),
        (MoveLimits((TimeLeft(60, increment_s=2), TimeLeft(30, increment_s=2))), (60, 30)),
        (MoveLimits((byoyomi(60), byoyomi(30))), (63, 33)),
        (MoveLimits((TimeLeft(-2), byoyomi(-1))), (0, 3)),
        (MoveLimits((TimeLeft(60, period_s=9, period_moves=4, num_periods=1), TimeLeft(5))), (69, 5)),
        (MoveLimits((byoyomi(60), TimeLeft()), flag_falls_s=90), (90, None)),
    ],
)
def test_the_time_for_an_answer(given: MoveLimits, allowed_s: tuple[float | None, float | None]) -> None:
    assert (given.allowed_s(0), given.allowed_s(1)) == allowed_s


def test_terms_are_told_where_they_are_not_the_usual_ones() -> None:
    assert str(Terms()) == ""
    assert str(Terms(time=TimeControl.parse("60+1"))) == "60+1"
    terms = Terms(
        time=TimeControl.parse("60+1"),
        nodes=2000,
        depth=7,
        time_config=TimeConfig(manager="paper", overhead_s=0.25, most_moves=30),
        margin_s=0.5,
        ponder=True,
    )
    assert (
        str(terms)
        == "60+1, 2,000 nodes, depth 7, manager paper, overhead 0.25 s, most_moves 30, timemargin 500 ms, ponder"
    )
    assert str(Terms(time_config=TimeConfig(overhead_s=1.0))) == "overhead 1 s"
    assert terms.has_clock and not Terms(nodes=1).has_clock


@pytest.mark.parametrize(
    ("make_it", "message"),
    [
        (lambda: MoveLimits(nodes=0), "nodes is 0, but must be at least 1"),
        (lambda: MoveLimits(depth=0), "depth is 0"),
        (lambda: Terms(nodes=0), "nodes is 0, but must be at least 1"),
        (lambda: Terms(depth=0), "depth is 0, but must be at least 1"),
        (lambda: Terms(time=TimeControl(60), margin_s=-0.5), "timemargin is -500, but must be at least 0 milliseconds"),
        (lambda: Terms(time=TimeControl(60), margin_s=math.inf), "timemargin is inf"),
        (lambda: Terms(margin_s=0.5), "timemargin=500 without a clock: add tc or st"),
    ],
)
def test_a_limit_that_is_wrong_is_named(make_it: Any, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        make_it()


def test_the_smallest_limits_are_allowed() -> None:
    MoveLimits(nodes=1, depth=1)
    Terms(time=TimeControl(60), nodes=1, depth=1, margin_s=0.0)
    assert Terms(margin_s=MARGIN_S) == Terms()
