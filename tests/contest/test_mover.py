"""Limits and terms of players: what an engine is told of its clock, how long it may take, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest

from zerosum.base.errors import SettingsError
from zerosum.contest.clock import TimeControl, TimeLeft
from zerosum.contest.mover import MARGIN_S, MoveLimits, Terms
from zerosum.contest.time_manager import TimeConfig


def limits(own: str | TimeLeft, other: str | TimeLeft = "inf", *, player: int = 0, flag_falls_s: float = 9.0) -> Any:
    """The limits of a mover under a clock, at the beginning of a game or with so much time left."""
    left = [one if isinstance(one, TimeLeft) else TimeControl.parse(one).start() for one in (own, other)]
    first, second = left if player == 0 else left[::-1]
    return MoveLimits.of_clocks((first, second), player, flag_falls_s=flag_falls_s, margin_s=0.5, nodes=7, depth=8)


ALWAYS = {"nodes": 7, "depth": 8, "flag_falls_s": 9.0, "margin_s": 0.5}


def test_both_players_clocks_are_told() -> None:
    expected = {"remaining_s": (60.0, 30.0), "increment_s": (1.0, 2.0)}
    assert limits("60+1", "30+2") == MoveLimits(**expected, **ALWAYS)  # type: ignore[arg-type]
    swapped = {name: pair[::-1] for name, pair in expected.items()}
    assert limits("60+1", "30+2", player=1) == MoveLimits(**swapped, **ALWAYS)  # type: ignore[arg-type]


def test_an_opponent_without_a_clock_seems_to_have_the_movers() -> None:
    for player in (0, 1):
        told = limits("60+1", player=player)
        assert (told.remaining_s, told.increment_s) == ((60.0, 60.0), (1.0, 1.0))


def test_a_session_tells_its_moves() -> None:
    assert limits("40/60").moves_to_go == 40
    assert limits("60").moves_to_go is None


def test_byoyomi_is_told_in_main_time_and_is_a_moves_time_after_it() -> None:
    in_main_time = limits("60+5x3")
    assert (in_main_time.remaining_s, in_main_time.byoyomi_s, in_main_time.move_time_s) == ((60.0, 60.0), 3.0, None)
    after_it = limits(TimeLeft(main_s=0.0, period_s=2.0, period_moves=1, num_periods=4))
    assert after_it == MoveLimits(move_time_s=2.0, **ALWAYS)  # type: ignore[arg-type]


def test_canadian_overtime_is_told_once_it_begins() -> None:
    in_main_time = limits("60+25/300")
    assert (in_main_time.remaining_s, in_main_time.moves_to_go, in_main_time.byoyomi_s) == ((60.0, 60.0), None, 0.0)
    after_it = limits(TimeLeft(main_s=0.0, period_s=200.0, period_moves=12, num_periods=1))
    assert (after_it.remaining_s, after_it.moves_to_go, after_it.move_time_s) == ((200.0, 200.0), 12, None)


@pytest.mark.parametrize(
    ("given", "allowed_s"),
    [
        (MoveLimits(nodes=5, depth=3), (None, None)),
        (MoveLimits(move_time_s=5), (5, 5)),
        (MoveLimits(remaining_s=(60, 30), increment_s=(2, 2)), (60, 30)),
        (MoveLimits(remaining_s=(60, 30), byoyomi_s=3), (63, 33)),
        (MoveLimits(remaining_s=(60, -1), byoyomi_s=3), (63, 3)),
        (MoveLimits(remaining_s=(60, 3), move_time_s=5), (5, 3)),
        (MoveLimits(remaining_s=(60, 30), move_time_s=5, flag_falls_s=90), (90, 90)),
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
        manager="paper",
        overhead_s=0.25,
        margin_s=0.5,
        ponder=True,
    )
    assert str(terms) == "60+1, 2,000 nodes, depth 7, manager paper, overhead 0.25 s, timemargin 500 ms, ponder"
    assert terms.time_config == TimeConfig(manager="paper", overhead_s=0.25)
    assert terms.has_clock and not Terms(nodes=1).has_clock


@pytest.mark.parametrize(
    ("make_it", "message"),
    [
        (lambda: MoveLimits(byoyomi_s=3), "needs a clock"),
        (lambda: MoveLimits(increment_s=(0, 1)), "needs a clock"),
        (lambda: MoveLimits(moves_to_go=3), "needs a clock"),
        (lambda: MoveLimits(nodes=0), "nodes is 0, but must be at least 1"),
        (lambda: MoveLimits(depth=0), "depth is 0"),
        (lambda: MoveLimits(move_time_s=-0.1), "move_time_s is -0.1, but must be at least 0"),
        (lambda: MoveLimits(move_time_s=math.nan), "move_time_s is nan"),
        (lambda: MoveLimits(remaining_s=(1, math.inf)), "remaining_s is"),
        (lambda: MoveLimits(remaining_s=(1, 1), moves_to_go=0), "moves_to_go is 0"),
        (lambda: MoveLimits(remaining_s=(1, 1), increment_s=(-1, 0)), "increment_s is"),
        (lambda: MoveLimits(remaining_s=(1, 1), increment_s=(0, math.inf)), "increment_s is"),
        (lambda: Terms(nodes=0), "nodes is 0, but must be at least 1"),
        (lambda: Terms(depth=0), "depth is 0, but must be at least 1"),
        (lambda: Terms(time=TimeControl(60), margin_s=-0.5), "timemargin is -500, but must be at least 0 milliseconds"),
        (lambda: Terms(time=TimeControl(60), margin_s=math.inf), "timemargin is inf"),
        (lambda: Terms(margin_s=0.5), "timemargin=500 without a clock: add tc or st"),
        (lambda: Terms(overhead_s=-1), "overhead_s is -1"),
    ],
)
def test_a_limit_that_is_wrong_is_named(make_it: Any, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        make_it()


def test_the_smallest_limits_are_allowed() -> None:
    MoveLimits(move_time_s=0, nodes=1, depth=1)
    MoveLimits(remaining_s=(-1, 0), moves_to_go=1)  # protocols may report clocks below 0
    Terms(time=TimeControl(60), nodes=1, depth=1, margin_s=0.0)
    assert Terms(margin_s=MARGIN_S) == Terms()
