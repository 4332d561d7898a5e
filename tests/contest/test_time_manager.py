"""No flag falls that a player could hold up; a search ends when it may, and says why."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerosum.base.errors import SettingsError
from zerosum.contest.clock import Clock, TimeControl, TimeLeft
from zerosum.contest.time_manager import (
    MAXIMUM,
    ONLY_MOVE,
    OVERTAKEN,
    TIME,
    Progress,
    TimeConfig,
    TimeManager,
)

PAPER, ADAPTIVE = TimeConfig(manager="paper", overhead_s=0.05), TimeConfig(overhead_s=0.05)
parse = TimeControl.parse

AT_START = Progress(
    best_action=7, best_visits=0, second_visits=0, is_best_by_value=True, num_moves=20, num_simulations=0
)


class FakeTime:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def random_progress(draw: random.Random) -> Iterator[Progress]:
    """A search of few moves whose mind changes, a round at a time."""
    num_moves = draw.choice([1, 2, 5])
    bias, speed = draw.random(), draw.choice([1, 16, 300])
    visits = [0] * num_moves
    while True:
        visits[0 if draw.random() < bias else draw.randrange(num_moves)] += speed
        best, second = ([*sorted(visits, reverse=True), 0])[:2]
        yield Progress(
            best_action=visits.index(best),
            best_visits=best,
            second_visits=second,
            is_best_by_value=draw.random() < 0.7,
            num_moves=num_moves,
            num_simulations=sum(visits),
        )


@dataclass
class Game:
    """One player's moves of a game, on a clock."""

    clock: Clock
    time: FakeTime
    manager: TimeManager
    draw: random.Random

    def begin(self, num_plies: int) -> float:
        """Start the clock; returns the most seconds that may be thought."""
        self.manager.begin(self.clock.start(0), num_plies=num_plies)
        return self.manager.maximum_s

    def turn(self, num_plies: int, round_s: float, lag_s: float) -> str | None:
        """As `begin` and `think`."""
        self.begin(num_plies)
        return self.think(round_s, lag_s)

    def think(self, round_s: float, lag_s: float) -> str | None:
        """Think in rounds and let the clock hear of it; returns the limit, None if the flag fell."""
        for progress in random_progress(self.draw):
            self.time.now_s += round_s
            if stop_reason := self.manager.stop_reason(progress):
                break
        self.time.now_s += lag_s
        self.clock.stop()
        return None if self.clock.flag_fallen == 0 else stop_reason


def new_game(control: TimeControl, config: TimeConfig, draw: random.Random, *, typical_plies: float = 100.0) -> Game:
    time = FakeTime()
    manager = TimeManager(config, typical_plies=typical_plies, now=time)
    return Game(Clock(control, now=time), time, manager, draw)


OVERHEADS_S = st.sampled_from([0.01, 0.05, 0.2])


@st.composite
def ample(draw: st.DrawFn) -> tuple[TimeControl, float]:
    """A control that leaves the overhead for each move, however many there are, often no more; and the overhead."""
    overhead = draw(OVERHEADS_S)
    spare, more = draw(st.sampled_from([0, 0.003, 0.5, 60])), draw(st.sampled_from([0, 0.02, 1]))
    num = draw(st.integers(1, 35))
    kind = draw(st.sampled_from(["session", "increment", "byoyomi", "canadian"]))
    if kind == "session":
        return TimeControl(overhead * num + spare, more, num), overhead
    if kind == "increment":
        return TimeControl(overhead + spare, overhead + more), overhead
    if kind == "byoyomi":
        return TimeControl(spare, 0.0, None, overhead + more, 1, num), overhead
    return TimeControl(spare, 0.0, None, overhead * num + more, num, 1), overhead


@given(
    ample(),
    st.sampled_from([PAPER, ADAPTIVE, TimeConfig(stop_early=False, maximum_factor=20.0)]),
    st.sampled_from([7.2, 60.0, 435.0]),
    st.integers(0, 1 << 30),
)
@settings(max_examples=1000)
def test_no_flag_falls_where_each_move_has_its_overhead(
    control_and_overhead: tuple[TimeControl, float], config: TimeConfig, typical_plies: float, seed: int
) -> None:
    """Each move is late by the whole overhead, which includes the first round of the search."""
    (control, overhead), draw = control_and_overhead, random.Random(seed)
    config = replace(config, overhead_s=overhead)
    game = new_game(control, config, draw, typical_plies=typical_plies)
    for move in range(40):
        left = game.clock.left(0)
        maximum_s = game.begin(2 * move)
        first_s = overhead * draw.random()
        round_s = max(first_s, maximum_s / draw.choice([2, 5]))
        lag_s = overhead - (first_s if maximum_s < round_s else 0.0)
        assert game.think(round_s, lag_s), f"the flag falls at move {move + 1} with {left}"
        assert game.clock.left(0).num_periods == control.num_periods, "a period of byoyomi was lost"


@given(st.floats(0.5, 60), OVERHEADS_S, st.sampled_from([7.2, 60.0, 435.0]), st.booleans(), st.integers(0, 1 << 30))
@settings(max_examples=300)
def test_sudden_death_falls_only_where_answering_at_once_is_too_slow(
    main_s: float, overhead: float, typical_plies: float, is_paper: bool, seed: int
) -> None:
    """No clock lasts for ever; the last turn is one that had less than the overhead left."""
    config = replace(PAPER if is_paper else ADAPTIVE, overhead_s=overhead)
    draw = random.Random(seed)
    game = new_game(TimeControl(main_s), config, draw, typical_plies=typical_plies)
    for move in range(100):
        left = game.clock.left(0)
        maximum_s = game.begin(2 * move)
        if game.think(max(maximum_s / 3, 1e-6), (overhead - 1e-6) * draw.random()) is None:
            assert left.main_s < overhead
            break


@given(
    st.sampled_from(["1+0.05", "2+0.01", "40/5", "5", "3+10/4"]),
    st.sampled_from([ADAPTIVE, TimeConfig(overhead_s=0.05, stop_early=False)]),
    st.floats(0, 0.02),
    st.integers(1, 40),
    st.integers(0, 1 << 30),
)
@settings(max_examples=300)
def test_no_flag_falls_where_one_move_is_later_than_all_before(
    control: str, config: TimeConfig, lag_s: float, late_move: int, seed: int
) -> None:
    """One move is late by the whole overhead, which is more than the share of each of 40 moves."""
    draw = random.Random(seed)
    game = new_game(parse(control), config, draw, typical_plies=60)
    for move in range(1, 41):
        maximum_s = game.begin(2 * move)
        round_s = max(maximum_s / draw.choice([3, 10, 100]), 1e-5)
        limit = game.think(round_s, config.overhead_s - round_s if move == late_move else lag_s * draw.random())
        assert limit, f"the flag falls at move {move}"


@pytest.mark.parametrize(
    ("control", "least_s"), [("1+0.05", 2.0), ("40/5", 3.7), ("2", 1.2), ("10+0.1", 10.0), ("3+10/5", 15.0)]
)
def test_little_time_is_used_where_moves_are_hardly_late(control: str, least_s: float) -> None:
    """Each of 40 moves is late by 5 ms, with an overhead of 100 ms."""
    config = TimeConfig(stop_early=False, settling_share=0.0)
    game, thought_s = new_game(parse(control), config, random.Random(1), typical_plies=80), 0.0
    for move in range(40):
        game.begin(2 * move)
        before_s = game.time.now_s
        assert game.think(0.001, 0.005)
        thought_s += game.time.now_s - before_s - 0.005
    assert thought_s >= least_s


def test_what_turns_are_late_by_is_learned_and_forgotten() -> None:
    game = new_game(parse("10+1"), ADAPTIVE, random.Random(1))
    learned = []
    for move, lag_s in enumerate([0.01, 0.03, 0.5, *[0.02] * 9]):
        game.begin(2 * move)
        learned.append(game.manager.lag_s)
        game.think(0.01, lag_s)
    assert learned[0] is None
    # The overhead at most, of the last eight turns.
    assert learned[1:] == pytest.approx([0.01, 0.03, *[0.05] * 8, 0.02])


def test_nothing_is_learned_where_clocks_begin_anew_or_nobody_thought() -> None:
    time = FakeTime()
    manager = TimeManager(ADAPTIVE, typical_plies=80, now=time)
    turns = (("10", False), ("60", True), ("30", False), ("30+1", False), ("40/30", False))
    for num_plies, (control, is_pondering) in enumerate(turns):
        manager.begin(parse(control).start(), num_plies=num_plies, is_pondering=is_pondering)
        time.now_s += 0.01
        manager.stop_reason(replace(AT_START, best_visits=1))
        assert manager.lag_s is None


@pytest.mark.parametrize("config", [PAPER, ADAPTIVE, TimeConfig(stop_early=False)], ids=["paper", "adaptive", "whole"])
@pytest.mark.parametrize("typical_plies", [20.0, 50.0, 80.0])
@pytest.mark.parametrize("main_s", [1.0, 2.0, 5.0, 60.0])
def test_sudden_death_lasts_for_the_game_if_lags_are_half_the_overhead(
    config: TimeConfig, typical_plies: float, main_s: float
) -> None:
    """Also where the overhead at all moves would take most of the time, or more: 40 times 50 ms of 1 second."""
    num_moves = int(min(typical_plies / 2, main_s / config.overhead_s))
    game = new_game(TimeControl(main_s), config, random.Random(3), typical_plies=typical_plies)
    for move in range(num_moves):
        assert game.turn(2 * move, 0.0005, config.overhead_s / 2 - 0.0005), f"the flag falls at move {move + 1}"


def budget_of(
    config: TimeConfig, left: TimeLeft, *, num_plies: int = 30, typical_plies: float = 80
) -> tuple[float, float]:
    """(optimum, maximum) in seconds of the first turn."""
    manager = TimeManager(config, typical_plies=typical_plies, now=FakeTime())
    manager.begin(left, num_plies=num_plies)
    return manager.optimum_s, manager.maximum_s


lefts = st.builds(
    TimeLeft,
    main_s=st.sampled_from([-5.0, -0.001, 0.0, 0.01]) | st.floats(0, 10_000),
    increment_s=st.sampled_from([0.0, 0.01]) | st.floats(0, 100),
    moves_to_go=st.none() | st.integers(1, 100),
) | st.builds(
    TimeLeft,
    main_s=st.sampled_from([-5.0, -0.001, 0.0, 0.01]) | st.floats(0, 10_000),
    period_s=st.sampled_from([-1.0, 0.0, 0.01]) | st.floats(0, 1000),
    period_moves=st.integers(1, 100),
    num_periods=st.integers(1, 5),
)


@given(lefts, st.sampled_from([PAPER, ADAPTIVE]), st.floats(0, 1), st.integers(0, 500), st.floats(1, 500))
@settings(max_examples=300)
def test_a_budget_leaves_the_overhead(
    left: TimeLeft, config: TimeConfig, overhead: float, num_plies: int, typical_plies: float
) -> None:
    config = replace(config, overhead_s=overhead)
    optimum_s, maximum_s = budget_of(config, left, num_plies=num_plies, typical_plies=typical_plies)
    assert 0 <= optimum_s <= maximum_s
    has_until_s = max(left.main_s, 0.0) + (left.period_s if left.num_periods else 0.0)
    assert maximum_s <= max(has_until_s - overhead, 0.0) + 1e-9
    if left.moves_to_go:
        others = left.moves_to_go - 1
        assert maximum_s <= max(has_until_s - overhead + others * min(0, left.increment_s - overhead), 0) + 1e-9


@given(lefts, st.sampled_from([PAPER, ADAPTIVE]), st.floats(0.001, 100))
@settings(max_examples=300)
def test_more_time_is_never_a_smaller_budget(left: TimeLeft, config: TimeConfig, more_s: float) -> None:
    less, _ = budget_of(config, left, num_plies=10)
    more, _ = budget_of(config, replace(left, main_s=max(left.main_s, 0) + more_s), num_plies=10)
    assert more >= less - 1e-9


def test_without_a_clock_there_is_no_limit() -> None:
    for config in (PAPER, ADAPTIVE):
        time = FakeTime()
        manager = TimeManager(config, typical_plies=80, now=time)
        manager.begin(TimeLeft(), num_plies=0)
        for progress, _ in zip(random_progress(random.Random(1)), range(50), strict=False):
            time.now_s += 1e6
            assert manager.stop_reason(progress) is None


PAPERS_RULE = [
    ("60", 60 / 20 - 0.05),
    ("60+1", 60 / 20 + 1 - 0.05),
    ("10800+15", 10800 / 20 + 15 - 0.05),  # the paper's match with Stockfish: 3 hours and 15 seconds a move
    ("60+1x5", 60 / 20 + 5 - 0.05),
    ("60+25/300", 60 / 20 + 300 / 25 - 0.05),
    ("st=5", 5 - 0.05),
    ("40/60", 60 / 20 - 0.05),
    ("0.9", 0.0),  # 0.045 is less than the overhead
]


@pytest.mark.parametrize(("control", "seconds"), PAPERS_RULE)
def test_papers_rule(control: str, seconds: float) -> None:
    optimum_s, maximum_s = budget_of(PAPER, parse(control).start())
    assert optimum_s == maximum_s == pytest.approx(seconds, abs=1e-12)


OPTIMA = [
    # 25 moves are left of a game of 80 plies. All but the overhead of each, in equal parts.
    ("60", 30, (60 - 25 * 0.05) / 25),
    # The increment pays for the overhead of the others.
    ("60+1", 30, (60 - 0.05) / 25 + 1 - 0.05),
    ("60+1x5", 30, 60 / 25 + 5 - 0.05),
    ("60+25/300", 30, 60 / 25 + 12 - 0.05),
    ("0+25/300", 30, 12 - 0.05),
    ("st=5", 30, 5 - 0.05),
    ("1/60", 30, 60 - 0.05),
    ("20/60", 30, (60 - 20 * 0.05) / 20),
    # More moves than the game has are not waited for, but their overheads are kept.
    ("40/60", 30, (60 - 40 * 0.05) / 25),
    # At least 10 moves, at most 40.
    ("60", 79, (60 - 10 * 0.05) / 10),
    ("60", 300, (60 - 10 * 0.05) / 10),
    ("60+1", 0, (60 - 0.05) / 40 + 1 - 0.05),
    # 25 overheads would be more than half of the time.
    ("2", 30, 1 / 25),
]


@pytest.mark.parametrize(("control", "num_plies", "seconds"), OPTIMA)
def test_adaptive_optimum(control: str, num_plies: int, seconds: float) -> None:
    optimum_s, _ = budget_of(ADAPTIVE, parse(control).start(), num_plies=num_plies)
    assert optimum_s == pytest.approx(seconds, abs=1e-12)


@pytest.mark.parametrize(
    ("control", "factor"), [("60", 3.0), ("60+1", 3.0), ("1/60", 1.0), ("2/60", 1.0), ("st=5", 1.0), ("1", 1.0)]
)
def test_adaptive_maximum(control: str, factor: float) -> None:
    """Three times the optimum, if that is not more than half, and later moves do without."""
    optimum_s, maximum_s = budget_of(ADAPTIVE, parse(control).start())
    assert maximum_s == pytest.approx(factor * optimum_s)


def spread(control: str, config: TimeConfig) -> list[tuple[float, float]]:
    """The time of each of 40 moves, and the clock before it; each is late by half the overhead."""
    time = FakeTime()
    clock, thought = Clock(parse(control), now=time), []
    manager = TimeManager(config, typical_plies=80, now=time)
    for move in range(40):
        left = clock.start(0)
        manager.begin(left, num_plies=2 * move)
        thought.append((manager.optimum_s, left.shown_s))
        time.now_s += manager.optimum_s
        manager.stop_reason(replace(AT_START, best_visits=1))
        time.now_s += config.overhead_s / 2
        clock.stop()
        assert clock.flag_fallen is None
    return thought


def table(control: str) -> str:
    """The time of a game under each manager: what is thought at a move, and of how much on the clock."""
    moves = [1, 5, 10, 15, 20, 25, 30, 35, 40]
    lines = [f"{control:<9}" + "".join(f"{move:>7}" for move in moves)]
    for config in (PAPER, ADAPTIVE):
        thought = spread(control, config)
        for name, column in ((config.manager, 0), ("  of", 1)):
            lines.append(f"{name:<9}" + "".join(f"{thought[move - 1][column]:7.2f}" for move in moves))
    return "\n".join(lines)


TABLES = [
    """\
60             1      5     10     15     20     25     30     35     40
paper       2.95   2.40   1.85   1.43   1.10   0.84   0.65   0.50   0.38
  of       60.00  48.96  38.00  29.52  22.95  17.87  13.94  10.90   8.55
adaptive    1.45   1.47   1.47   1.47   1.47   1.47   1.48   0.96   0.56
  of       60.00  54.02  46.52  39.03  31.53  24.03  16.53   9.87   5.84""",
    """\
60+1           1      5     10     15     20     25     30     35     40
paper       3.95   3.40   2.85   2.43   2.10   1.84   1.65   1.50   1.38
  of       60.00  48.96  38.00  29.52  22.95  17.87  13.94  10.90   8.55
adaptive    2.45   2.47   2.47   2.47   2.47   2.47   2.47   1.96   1.56
  of       60.00  54.03  46.53  39.03  31.54  24.04  16.54   9.89   5.86""",
    """\
40/60          1      5     10     15     20     25     30     35     40
paper       2.95   2.40   1.85   1.43   1.10   0.84   0.65   0.50   0.38
  of       60.00  48.96  38.00  29.52  22.95  17.87  13.94  10.90   8.55
adaptive    1.45   1.47   1.47   1.47   1.47   1.47   1.48   1.48   1.49
  of       60.00  54.02  46.52  39.03  31.53  24.03  16.53   9.03   1.54""",
    """\
60+1x5         1      5     10     15     20     25     30     35     40
paper       7.95   6.47   5.00   4.95   4.95   4.95   4.95   4.95   4.95
  of       60.00  30.41   1.02   5.00   5.00   5.00   5.00   5.00   5.00
adaptive    6.45   5.94   5.18   4.95   4.95   4.95   4.95   4.95   4.95
  of       60.00  34.81   6.44   5.00   5.00   5.00   5.00   5.00   5.00""",
    """\
60+10/50       1      5     10     15     20     25     30     35     40
paper       7.95   6.47   5.00   5.08   4.95   4.97   4.95   4.97   4.95
  of       60.00  30.41   1.02  25.63  50.00  25.09  50.00  25.09  50.00
adaptive    6.45   5.94   5.18   5.11   5.08   4.96   5.00   4.97   4.95
  of       60.00  34.81   6.44  30.80   5.13  30.08   5.05  30.00   5.00""",
    """\
40/5           1      5     10     15     20     25     30     35     40
paper       0.20   0.16   0.12   0.08   0.06   0.04   0.03   0.01   0.01
  of        5.00   4.17   3.34   2.69   2.20   1.81   1.52   1.29   1.11
adaptive    0.08   0.10   0.10   0.10   0.10   0.10   0.10   0.10   0.11
  of        5.00   4.53   3.90   3.28   2.65   2.03   1.40   0.78   0.16""",
    """\
1+0.05         1      5     10     15     20     25     30     35     40
paper       0.05   0.05   0.04   0.04   0.03   0.03   0.03   0.03   0.03
  of        1.00   0.91   0.82   0.74   0.69   0.65   0.61   0.59   0.57
adaptive    0.02   0.05   0.05   0.05   0.05   0.05   0.05   0.04   0.03
  of        1.00   0.93   0.81   0.68   0.56   0.44   0.32   0.21   0.14""",
]


@pytest.mark.parametrize("golden", TABLES, ids=lambda golden: golden.split()[0])
def test_how_a_game_of_40_moves_spends_its_time(golden: str) -> None:
    assert table(golden.split()[0]) == golden


def began(
    control: str | TimeLeft, config: TimeConfig = ADAPTIVE, *, is_pondering: bool = False, num_batches: int = 1
) -> tuple[TimeManager, FakeTime]:
    """A manager at move 15 of a game of 80 plies, with 25 moves ahead. Powers of two make exact sums."""
    time = FakeTime()
    manager = TimeManager(replace(config, overhead_s=1 / 16), typical_plies=80, now=time, num_batches=num_batches)
    left = control if isinstance(control, TimeLeft) else parse(control).start()
    manager.begin(left, num_plies=30, is_pondering=is_pondering)
    return manager, time


def ends(manager: TimeManager, time: FakeTime, progress: Progress, *, every_s: float = 0.125) -> tuple[float, str]:
    """When a search that goes on like that ends, and by which limit; 1000 simulations a second."""
    while True:
        time.now_s += every_s
        more = round(every_s * 1000)
        progress = replace(
            progress,
            best_visits=progress.best_visits + more // 2,
            second_visits=progress.second_visits + more // 2,
            num_simulations=progress.num_simulations + more,
        )
        if stop_reason := manager.stop_reason(progress):
            return round(manager.elapsed_s, 6), stop_reason


# An optimum of 10 seconds, and a maximum of 30.
TEN = str(10 * 25 + 25 / 16)


def test_a_settled_search_ends_at_the_optimum() -> None:
    assert ends(*began(TEN), AT_START) == (10.0, TIME)


def test_a_search_whose_best_move_is_not_the_best_by_value_goes_on() -> None:
    assert ends(*began(TEN), replace(AT_START, is_best_by_value=False)) == (30.0, MAXIMUM)


@pytest.mark.parametrize(("share", "seconds"), [(0.0, 10.0), (0.25, 12.25), (0.5, 18.25)])
def test_a_search_that_has_changed_its_mind_goes_on_until_it_is_settled(share: float, seconds: float) -> None:
    """The best move changes at 9.125 s, so at 12.25 s it has been the best for a quarter of the search."""
    manager, time = began(TEN, TimeConfig(settling_share=share))
    time.now_s = 9.0
    assert manager.stop_reason(replace(AT_START, best_visits=4500, second_visits=4400, num_simulations=9000)) is None
    assert ends(manager, time, replace(AT_START, best_action=8, best_visits=1, num_simulations=9000))[0] == seconds


def test_the_paper_does_neither() -> None:
    for progress in (AT_START, replace(AT_START, is_best_by_value=False), replace(AT_START, num_moves=1)):
        assert ends(*began("200", PAPER), progress) == (9.875, TIME)


@pytest.mark.parametrize(
    ("lead", "expected"),
    [
        (200, (9.875, OVERTAKEN)),
        (7000, (3.0, OVERTAKEN)),
        (9990, (0.125, OVERTAKEN)),
    ],
)
def test_a_lead_that_cannot_be_made_up_ends_the_search(lead: int, expected: tuple[float, str]) -> None:
    """1000 simulations a second, so a lead of 7000 is one of 7 seconds (and one simulation more is too much)."""
    progress = replace(AT_START, best_visits=lead + 1)
    assert ends(*began(TEN), progress) == expected
    assert ends(*began(TEN, TimeConfig(stop_early=False)), progress) == (10.0, TIME)


def test_a_lead_that_could_be_made_up_until_the_maximum_does_not_end_an_unsettled_search() -> None:
    progress = replace(AT_START, best_visits=7001, is_best_by_value=False)
    assert ends(*began(TEN), progress) == (23.0, OVERTAKEN)


def test_the_only_move_is_played_once_it_is_there() -> None:
    manager, time = began(TEN)
    forced = replace(AT_START, num_moves=1)
    assert manager.stop_reason(forced) is None
    assert ends(manager, time, forced) == (0.125, ONLY_MOVE)


@given(st.integers(0, 1 << 30))
@settings(max_examples=200)
def test_who_cannot_be_overtaken_never_is(seed: int) -> None:
    """However the rest of the optimum went: all of it to the second leaves the best move ahead."""
    draw = random.Random(seed)
    manager, time = began(TEN)
    for progress in random_progress(draw):
        time.now_s += 0.1
        stop_reason = manager.stop_reason(progress)
        if stop_reason == OVERTAKEN:
            rest = (manager.optimum_s - manager.elapsed_s) * progress.num_simulations / time.now_s
            assert progress.best_visits > progress.second_visits + rest
        if stop_reason:
            break


def test_pondering_is_not_charged() -> None:
    manager, time = began(TEN, is_pondering=True)
    for _ in range(100):
        time.now_s += 10
        assert manager.stop_reason(replace(AT_START, best_visits=1, num_moves=1)) is None
        assert manager.elapsed_s == 0
    manager.ponderhit()
    assert not manager.is_pondering
    assert ends(manager, time, AT_START) == (10.0, TIME)


def test_what_was_pondered_counts_for_the_lead() -> None:
    """1000 simulations a second for 20 seconds make it sure: the next 10 bring 10,000."""
    manager, time = began(TEN, is_pondering=True)
    for seconds in range(1, 21):
        time.now_s = seconds
        progress = Progress(7, 750 * seconds + 1, 250 * seconds, True, 20, 1000 * seconds)
        assert manager.stop_reason(progress) is None
    manager.ponderhit()
    assert manager.stop_reason(progress) == OVERTAKEN


@pytest.mark.parametrize("main_s", [0.05, 0.01, 0.0, -3.0])
@pytest.mark.parametrize("config", [PAPER, ADAPTIVE], ids=["paper", "adaptive"])
def test_ponderhit_with_hardly_any_time_left_is_answered_at_once(main_s: float, config: TimeConfig) -> None:
    manager, time = began(TEN, config, is_pondering=True)
    time.now_s += 1
    progress = replace(AT_START, best_visits=3, second_visits=2, num_simulations=5, is_best_by_value=False)
    assert manager.stop_reason(progress) is None
    manager.ponderhit(TimeLeft(main_s=main_s, moves_to_go=1))
    assert manager.stop_reason(progress) == TIME
    assert manager.elapsed_s == 0


@pytest.mark.parametrize("config", [PAPER, ADAPTIVE], ids=["paper", "adaptive"])
@pytest.mark.parametrize("left", [TimeLeft(main_s=-1), TimeLeft(main_s=0), TimeLeft(main_s=-9, increment_s=1)])
def test_a_clock_without_time_waits_for_a_first_move_only(left: TimeLeft, config: TimeConfig) -> None:
    manager, time = began(left, config)
    time.now_s += 0.3
    assert manager.stop_reason(AT_START) is None
    assert manager.stop_reason(replace(AT_START, best_visits=1, num_simulations=1)) == TIME


@pytest.mark.parametrize(("num_batches", "seconds"), [(1, 4.5), (2, 4.0), (4, 3.0)])
def test_no_round_begins_that_would_come_too_late(num_batches: int, seconds: float) -> None:
    """5 seconds less the overhead are room for rounds of half a second until 4.5, if one has to be waited for."""
    assert ends(*began("st=5", num_batches=num_batches), AT_START, every_s=0.5) == (seconds, TIME)


def test_the_rounds_of_the_last_search_say_how_long_the_first_will_take() -> None:
    """A kept tree has a move at once, so a round that would take too long does not begin."""
    manager, time = began("st=5")
    ends(manager, time, AT_START, every_s=2.0)
    kept = replace(AT_START, best_visits=50, second_visits=20)
    for seconds, expected in ((1.0, TIME), (3.0, None)):
        manager.begin(parse(f"st={seconds}").start(), num_plies=32)
        assert manager.stop_reason(kept) is expected


def test_settings_are_checked() -> None:
    with pytest.raises(SettingsError, match="time.manager is 'papre': did you mean 'paper'"):
        TimeConfig(manager="papre")
    with pytest.raises(SettingsError, match="time.overhead_s is -1, but must be between 0.0 and 60.0"):
        TimeConfig(overhead_s=-1)

    with pytest.raises(SettingsError, match="time.fewest_moves is 50, more than time.most_moves, 40: change one"):
        TimeConfig(fewest_moves=50)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ({}, (30.0, MAXIMUM)),
        ({"maximum_factor": 2.0}, (20.0, MAXIMUM)),
        ({"fewest_moves": 30}, (24.875, MAXIMUM)),
        ({"most_moves": 20}, (37.5, MAXIMUM)),
        ({"manager": "paper"}, (12.5, TIME)),
    ],
    ids=lambda value: str(value).strip("{}"),
)
def test_each_setting_changes_when_an_unsettled_search_ends(
    setting: dict[str, Any], expected: tuple[float, str]
) -> None:
    assert ends(*began(TEN, TimeConfig(**setting)), replace(AT_START, is_best_by_value=False)) == expected


def test_infinite_budget_is_no_number_of_seconds() -> None:
    assert budget_of(ADAPTIVE, TimeLeft()) == (math.inf, math.inf)
