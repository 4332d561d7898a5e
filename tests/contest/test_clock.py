"""Time controls of people and protocols are read correctly, and clocks agree with a slow second implementation."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from play_clients import gtp_command, gtp_words
from zerosum.base.errors import SettingsError
from zerosum.contest.clock import RESOLUTION_S, Clock, TimeControl, TimeLeft

parse = TimeControl.parse


class FakeTime:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


seconds = st.integers(1, 10_000).map(lambda milliseconds: milliseconds / 1000)
counts = st.integers(1, 30)
controls = st.one_of(
    st.just(TimeControl()),
    st.builds(TimeControl, seconds, st.just(0.0) | seconds, st.none() | counts),
    st.builds(
        TimeControl,
        main_s=st.just(0.0) | seconds,
        period_s=seconds,
        period_moves=st.just(1),
        num_periods=counts,
    ),
    st.builds(
        TimeControl,
        main_s=st.just(0.0) | seconds,
        period_s=seconds,
        period_moves=counts,
        num_periods=st.just(1),
    ),
)


@given(controls)
def test_what_is_written_is_read_again(control: TimeControl) -> None:
    assert parse(str(control)) == control
    if not control.session_moves:
        command, *words = gtp_command(control).split()
        read = TimeControl.of_gtp if command == "time_settings" else TimeControl.of_kata
        assert read(words) == control


@pytest.mark.parametrize(
    ("text", "pgn", "gtp"),
    [
        ("inf", "-", "time_settings 0 1 0"),
        ("300", "300", "time_settings 300 0 0"),
        ("5:00", "300", "time_settings 300 0 0"),
        ("1:00:00+30", "3600+30", "kata-time_settings fischer 3600 30"),
        ("1+0.05", "1+0.05", "kata-time_settings fischer 1 0.05"),
        ("st=5", "st=5", "time_settings 0 5 1"),
        ("0+1x5", "st=5", "time_settings 0 5 1"),
        ("10+1x5", "10+1x5", "time_settings 10 5 1"),
        ("10+5x3", "10+5x3", "kata-time_settings byoyomi 10 3 5"),
        ("0+5x3", "0+5x3", "kata-time_settings byoyomi 0 3 5"),
        ("10+25/300", "10+25/300", "time_settings 10 300 25"),
    ],
)
def test_how_controls_are_written(text: str, pgn: str, gtp: str) -> None:
    assert parse(text).pgn_text() == pgn
    assert gtp_command(parse(text)) == gtp


def test_sessions_are_pgn() -> None:
    assert parse("40/5+0.1") == TimeControl(5, 0.1, 40)
    assert parse("40/5+0.1").pgn_text() == "40/5+0.1"


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "-1", "5s", "1+", "+1", "40/", "1++1", "1+2x", "1 + 1", "nan", "1e3", "1:2:3:4", "9" * 5000),
        *("st=", "st=-1", "st=5+1", "40/5+3x3", "40/5+10/60"),
    ],
)
def test_no_time_control(text: str) -> None:
    with pytest.raises(SettingsError, match="is not a time control: use seconds as in 300"):
        parse(text)


@pytest.mark.parametrize("text", ["0", "0+1", "40/0"])
def test_no_time_for_the_first_move(text: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(f"'{text}' leaves no time for the first move")):
        parse(text)


@pytest.mark.parametrize("text", ["0/5", "0+0x5", "5+0x5", "5+0/5", "5+3/0", "5+3x0", "st=0"])
def test_numbers_out_of_range(text: str) -> None:
    with pytest.raises(SettingsError):
        parse(text)


def test_overtime_goes_with_main_time_alone() -> None:
    with pytest.raises(SettingsError, match="either overtime after its main time or an increment"):
        TimeControl(5, 1, period_s=1, period_moves=1, num_periods=1)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("0 1 0", "inf"),
        ("600 30 0", "inf"),
        ("600 0 0", "600"),
        ("0 1 1", "st=1"),
        ("5 5 5", "5+5/5"),
        ("600 30 1", "600+1x30"),
        ("0.5 1.5 2", "0.5+2/1.5"),
    ],
)
def test_gtp_time_settings(words: str, text: str) -> None:
    assert TimeControl.of_gtp(words.split()) == parse(text)


def test_gtp_has_a_word_for_no_time_at_all() -> None:
    """An engine must accept any time settings (GTP 2), also unusual ones."""
    assert TimeControl.of_gtp(["0", "0", "0"]).start() == TimeLeft(main_s=0)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("none", "inf"),
        ("absolute 60", "60"),
        ("byoyomi 60 10 3", "60+3x10"),
        ("byoyomi 60 10 0", "60"),
        ("canadian 60 300 25", "60+25/300"),
        ("canadian 60 0 0", "60"),
        ("Fischer 60 1.5", "60+1.5"),
    ],
)
def test_kata_time_settings(words: str, text: str) -> None:
    assert TimeControl.of_kata(words.split()) == parse(text)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "time system ''; available: absolute, byoyomi, canadian, fischer, none"),
        ("fisher 1 2", "time system 'fisher': did you mean 'fischer'"),
        ("fischer 1", "'1' are not time settings: expected main time, increment, each at least 0"),
        ("byoyomi 1 2 x", "'1 2 x' are not time settings: expected main time, period time, periods"),
        ("byoyomi 1 2 1.5", "'1 2 1.5' are not time settings"),
        ("absolute -1", "'-1' are not time settings"),
        ("absolute nan", "'nan' are not time settings"),
        ("none 1", "'1' are not time settings: expected nothing"),
    ],
)
def test_no_kata_time_settings(words: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        TimeControl.of_kata(words.split())


@pytest.mark.parametrize("words", ["", "1 2", "1 2 3 4", "a b c", "1 2 0.5", "inf 0 0"])
def test_no_gtp_time_settings(words: str) -> None:
    with pytest.raises(SettingsError, match="are not time settings: expected main time, period time, stones"):
        TimeControl.of_gtp(words.split())


@pytest.mark.parametrize(
    ("control", "time_left", "expected"),
    [
        ("inf", (5, 0), TimeLeft()),
        ("60+1", (5, 0), TimeLeft(main_s=5, increment_s=1)),
        ("60", (-1, 0), TimeLeft(main_s=-1)),
        ("60", (5, 3), TimeLeft(main_s=5)),
        ("60+25/300", (5, 0), TimeLeft(main_s=5, period_s=300, period_moves=25, num_periods=1)),
        ("60+25/300", (70, 7), TimeLeft(main_s=0, period_s=70, period_moves=7, num_periods=1)),
        ("60+3x10", (5, 0), TimeLeft(main_s=5, period_s=10, period_moves=1, num_periods=3)),
        ("60+3x10", (8, 2), TimeLeft(main_s=0, period_s=8, period_moves=1, num_periods=2)),
    ],
)
def test_gtp_time_left(control: str, time_left: tuple[float, int], expected: TimeLeft) -> None:
    assert parse(control).left_of_gtp(*time_left) == expected


GO = [
    ("wtime 1000 btime 2000 winc 50 binc 60", TimeLeft(main_s=1, increment_s=0.05)),
    ("wtime 5000 btime 5000 movestogo 1", TimeLeft(main_s=5, moves_to_go=1)),
    ("wtime 5000 btime 5000 movestogo 0", TimeLeft(main_s=5)),
    ("wtime -7 btime 5000 winc -3", TimeLeft(main_s=-0.007)),
    ("wtime 0 btime 0", TimeLeft(main_s=0)),
    ("wtime 0 btime 0 byoyomi 1000", TimeLeft(main_s=0, period_s=1, period_moves=1, num_periods=1)),
    ("wtime 9000 byoyomi 1000", TimeLeft(main_s=9, period_s=1, period_moves=1, num_periods=1)),
    ("byoyomi 1000", TimeLeft(main_s=0, period_s=1, period_moves=1, num_periods=1)),
    ("movetime 250 wtime 1000", TimeLeft(main_s=0, period_s=0.25, period_moves=1, num_periods=1)),
    ("movetime -1", TimeLeft(main_s=0, period_s=0, period_moves=1, num_periods=1)),
    ("btime 1000 binc 50", TimeLeft()),
    ("nodes 100 depth 7", TimeLeft()),
    ("", TimeLeft()),
]


@pytest.mark.parametrize(("text", "expected"), GO)
def test_go(text: str, expected: TimeLeft) -> None:
    words = text.split()
    values = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    assert TimeLeft.of_go(values, color="w") == expected


def test_go_has_a_clock_for_each_color() -> None:
    values = {"wtime": 1000, "btime": 2000, "winc": 50, "binc": 60}
    assert TimeLeft.of_go(values, color="b") == TimeLeft(main_s=2, increment_s=0.06)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"increment_s": 1}, "overtime needs a clock"),
        ({"moves_to_go": 3}, "overtime needs a clock"),
        ({"period_s": 3, "period_moves": 1, "num_periods": 1}, "overtime needs a clock"),
        ({"main_s": math.nan}, "main_s=nan.*seconds that are finite"),
        ({"main_s": -math.inf}, "main_s=-inf"),
        ({"main_s": 1, "moves_to_go": 0}, "moves_to_go=0"),
        ({"main_s": 1, "increment_s": -1}, "increment_s=-1"),
        ({"main_s": 1, "increment_s": math.inf}, "increment_s=inf"),
        ({"main_s": 1, "increment_s": math.nan}, "increment_s=nan"),
        ({"main_s": 1, "period_s": math.nan, "period_moves": 1, "num_periods": 1}, "period_s=nan"),
        ({"main_s": 1, "period_moves": 1}, "periods together with their moves"),
        ({"main_s": 1, "num_periods": 1}, "periods together with their moves"),
        ({"main_s": 1, "period_moves": -1, "num_periods": -1}, "periods together with their moves"),
    ],
)
def test_a_clock_that_is_wrong_is_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        TimeLeft(**fields)


def test_protocols_may_report_clocks_below_0() -> None:
    assert TimeLeft(-1, moves_to_go=1).is_limited
    assert TimeLeft(0, period_s=-1, period_moves=2, num_periods=1).is_overtime


def test_a_time_per_move() -> None:
    assert TimeLeft.per_move(5) == parse("st=5").start()
    assert TimeLeft.per_move(0).answer_s == 0
    with pytest.raises(SettingsError, match=r"The time per move is -0.1 seconds, but must be at least 0"):
        TimeLeft.per_move(-0.1)
    for seconds in (math.nan, math.inf):
        with pytest.raises(SettingsError, match="expected seconds that are finite"):
            TimeLeft.per_move(seconds)


def twin(control: TimeControl, moves_ms: list[int]) -> list[TimeLeft | None]:
    """The books of a player, one millisecond after the other, in whole milliseconds."""

    def ms(seconds: float) -> int:
        return round(seconds * 1000)

    main, session = ms(control.main_s), control.session_moves
    period, stones, periods = ms(control.period_s), control.period_moves, control.num_periods
    book: list[TimeLeft | None] = []
    for move_ms in moves_ms:
        began_in_overtime = periods > 0 and main == 0
        for _ in range(move_ms):
            if main > 0:
                main -= 1
            elif period > 0:
                period -= 1
            elif periods > 1:
                periods, period, stones = periods - 1, ms(control.period_s) - 1, control.period_moves
            else:
                return [*book, None]
        is_in_overtime = began_in_overtime or (periods > 0 and period < ms(control.period_s))
        if is_in_overtime:
            stones -= 1
            if stones == 0:
                period, stones = ms(control.period_s), control.period_moves
        else:
            main += ms(control.increment_s)
            if session is not None:
                session -= 1
                if session == 0:
                    main, session = main + ms(control.main_s), control.session_moves
        book.append(TimeLeft(main / 1000, control.increment_s, session, period / 1000, stones, periods))
    return book


short = st.integers(1, 60).map(lambda milliseconds: milliseconds / 1000)
few = st.integers(1, 4)
short_controls = st.one_of(
    st.builds(TimeControl, short, st.just(0.0) | short, st.none() | few),
    st.builds(lambda main, period, num: TimeControl(main, 0.0, None, period, 1, num), st.just(0.0) | short, short, few),
    st.builds(lambda main, period, num: TimeControl(main, 0.0, None, period, num, 1), st.just(0.0) | short, short, few),
)


@given(short_controls, st.lists(st.integers(0, 40) | st.integers(0, 5), max_size=30))
def test_books_are_those_of_a_slow_twin(control: TimeControl, moves_ms: list[int]) -> None:
    time = FakeTime()
    clock = Clock(control, now=time)
    for move_ms, expected in zip(moves_ms, twin(control, moves_ms), strict=False):
        before = clock.start(0)
        time.now_s += move_ms / 1000
        assert clock.stop() == pytest.approx(move_ms / 1000)
        if expected is None:
            assert clock.flag_fallen == 0
            assert clock.left(0) == before
            return
        left = clock.left(0)
        assert clock.flag_fallen is None
        assert (left.moves_to_go, left.period_moves, left.num_periods) == (
            expected.moves_to_go,
            expected.period_moves,
            expected.num_periods,
        )
        assert left.main_s == pytest.approx(expected.main_s, abs=1e-9)
        assert left.period_s == pytest.approx(expected.period_s, abs=1e-9)
        used_s = before.used_until(left)
        assert used_s is None or used_s == pytest.approx(move_ms / 1000, abs=1e-9)
        assert used_s is not None or control.num_periods or control.session_moves


@pytest.mark.parametrize(
    ("control", "expected"),
    [("10", [1.0] * 4), ("2/10", [1.0, None] * 2), ("2+3/9", [1.0, None, 1.0, 1.0]), ("2+9x3", [1.0, None, None])],
)
def test_what_a_turn_took_is_told_by_the_next(control: str, expected: list[float | None]) -> None:
    """Not where time is given again."""
    time = FakeTime()
    clock, used = Clock(parse(control), now=time), []
    for _ in expected:
        before = clock.start(0)
        time.now_s += 1
        clock.stop()
        used.append(before.used_until(clock.left(0)))
    assert used == expected


def transcript(control: str, moves_s: list[float]) -> str:
    """The clock as GTP reports it, move by move."""
    time = FakeTime()
    clock = Clock(parse(control), now=time)
    lines = []
    for move_s in moves_s:
        left = clock.start(0)
        time.now_s += move_s
        clock.stop()
        fallen = "  flag" if clock.flag_fallen is not None else ""
        lines.append(f"{gtp_words(left):>9}  {move_s:g}{fallen}")
    return "\n".join(lines)


def test_byoyomi_is_lost_a_period_at_a_time() -> None:
    assert transcript("10+3x5", [4, 5, 5.5, 5, 5.5, 5, 12]) == (
        """\
     10 0  4
      6 0  5
      1 0  5.5
      5 3  5
      5 3  5.5
      5 2  5
      5 2  12  flag"""
    )


def test_canadian_overtime_begins_anew_after_its_stones() -> None:
    assert transcript("10+3/6", [9, 2, 1, 3, 2, 2, 2.5]) == (
        """\
     10 0  9
      1 0  2
      5 2  1
      4 1  3
      6 3  2
      4 2  2
      2 1  2.5  flag"""
    )


def test_sessions_add_up() -> None:
    assert transcript("2/5+1", [3, 2, 1, 9.5]) == (
        """\
      5 0  3
      3 0  2
      7 0  1
      7 0  9.5  flag"""
    )


def test_a_margin_forgives_and_is_not_charged() -> None:
    time = FakeTime()
    clock = Clock(parse("1+0.5"), now=time, margins_s=(0.1, 0.1))
    clock.start(0)
    time.now_s += 1.0625
    clock.stop()
    assert clock.flag_fallen is None
    assert clock.left(0).main_s == 0.5
    clock.start(0)
    time.now_s += 0.6125
    clock.stop()
    assert clock.flag_fallen == 0


def test_only_the_clock_that_runs_is_charged() -> None:
    time = FakeTime()
    clock = Clock(parse("10"), parse("1+1"), now=time)
    for _ in range(3):
        clock.start(0)
        time.now_s += 2
        clock.stop()
        time.now_s += 100
        clock.start(1)
        time.now_s += 0.5
        clock.stop()
        time.now_s += 100
    assert clock.left(0) == TimeLeft(main_s=4)
    assert clock.left(1) == TimeLeft(main_s=2.5, increment_s=1)


def test_without_a_limit_nothing_runs_out() -> None:
    time = FakeTime()
    clock = Clock(parse("inf"), now=time)
    clock.start(0)
    time.now_s += 1e9
    clock.stop()
    assert clock.flag_fallen is None
    assert clock.left(0) == TimeLeft()
    assert not clock.left(0).is_limited


@given(controls)
def test_gtp_reads_the_clock_that_it_writes(control: TimeControl) -> None:
    if control.session_moves or not control.start().is_limited:
        return
    for left in (control.start(), replace(control.start(), main_s=0.0)):
        word, stones = gtp_words(left).split()
        said = control.left_of_gtp(float(word), int(stones))
        assert said.shown_s == pytest.approx(left.shown_s, abs=1.1e-3)
        assert (said.is_overtime, said.period_moves) == (left.is_overtime, left.period_moves)


def test_a_turn_that_somebody_else_timed() -> None:
    """Charged is what a stopped clock would have taken."""
    time = FakeTime()
    run, charged = (Clock(parse("2/10+1"), parse("5"), now=time, margins_s=(0.25, 0.25)) for _ in range(2))
    for player, seconds in ((0, 3.0), (1, 4.75), (0, 2.5), (1, 0.5), (0, 9.0), (1, 0.75)):
        run.start(player)
        time.now_s += seconds
        run.stop()
        charged.charge(player, seconds)
        assert charged.left(player) == run.left(player) and charged.flag_fallen == run.flag_fallen
    assert charged.flag_fallen == 1


@pytest.mark.parametrize("late", [0.0, RESOLUTION_S / 2])
def test_a_period_that_is_used_to_its_end_is_not_lost(late: float) -> None:
    """The moves that are still due in it stay as they are, too, where a period is for several moves."""
    control = TimeControl(0, period_s=10, period_moves=5, num_periods=3)
    left = TimeLeft(main_s=0, period_s=10, period_moves=3, num_periods=3)
    assert control.after_move(left, 10 + late) == replace(left, period_s=0, period_moves=2)
    assert control.after_move(left, 11) == replace(left, period_s=9, period_moves=4, num_periods=2)
