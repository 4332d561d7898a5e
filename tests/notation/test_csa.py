"""CSA: positions and endings, and a sentence for what is wrong."""

from __future__ import annotations

import dataclasses

import pytest

from fuzz_notation import parsed, written
from records_for_tests import one, texts
from zerosum.notation import Move, kif

EMPTY_ROWS = "".join(f"P{rank}{' * ' * 9}\n" for rank in range(2, 10))


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("PI\n+", ""),
        ("PI82HI22KA\n-", kif.HANDICAPS["二枚落ち"]),
        ("P+59OU\nP-51OU00AL\n+", "4k4/9/9/9/9/9/9/9/4K4 b 2r2b4g4s4n4l18p 1"),
        ("P+59OU00FU00FU\nP-51OU\n-", "4k4/9/9/9/9/9/9/9/4K4 w 2P 1"),
        ("P1-KY * * * * * * * +RY\n" + EMPTY_ROWS + "+", "l7+R/9/9/9/9/9/9/9/9 b - 1"),
        ("P1-KY *  *  *  *  *  *  * +RY \n" + EMPTY_ROWS + "+", "l7+R/9/9/9/9/9/9/9/9 b - 1"),
        ("P1 * -KY *  *  *  *  * +RY *\n" + EMPTY_ROWS + " +", "1l5+R1/9/9/9/9/9/9/9/9 b - 1"),
        ("P1   -KY" + " " * 15 + "+RY   \n" + EMPTY_ROWS.replace("*", " ") + "+ ", "1l5+R1/9/9/9/9/9/9/9/9 b - 1"),
        ("PI 82HI 22KA\n - ", kif.HANDICAPS["二枚落ち"]),
        ("P+ 59OU 00FU\n P- 51OU 00AL\n+", "4k4/9/9/9/9/9/9/9/4K4 b P2r2b4g4s4n4l17p 1"),
        ("PI , +\n", ""),
    ],
)
def test_csa_positions(text: str, start: str) -> None:
    record = one("csa", text)
    assert (record.start, record.errors) == (start, ())


@pytest.mark.parametrize(
    ("text", "result", "ending"),
    [
        ("%TORYO", -1.0, "resignation"),
        ("%KACHI", 1.0, "declaration"),
        ("%SENNICHITE", 0.0, "fourfold repetition"),
        ("%+ILLEGAL_ACTION", -1.0, "illegal move"),
        ("%-ILLEGAL_ACTION", 1.0, "opponent's illegal move"),
        ("+7776FU\n%+ILLEGAL_ACTION", -1.0, "opponent's illegal move"),
        ("+7776FU,T3\n%TORYO,T5", 1.0, "resignation"),
        ("%CHUDAN", None, "interrupted"),
        (" +7776FU , T3,\n%TORYO  T5 ", 1.0, "resignation"),
    ],
)
def test_csa_ends(text: str, result: float | None, ending: str) -> None:
    record = one("csa", f"PI\n+\n{text}")
    assert (record.result, record.ending, record.errors) == (result, ending, ())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("PI\n+\n7776FU", "line 3: '7776FU' is not part of CSA: expected a move such as +7776FU, or %TORYO"),
        ("PI\n+7776FU", "line 2: '+7776FU' before the side to move: expected a line + or - above it"),
        ("PI\n+\n%TORYO\n+7776FU", "line 4: '+7776FU' after the game's end"),
        ("PI\n+\n%RESIGN\n+7776FU", "line 4: '+7776FU' after the game's end"),
        ("PI82KA\n+", "line 1: 'PI82KA': no KA stands on 82 to be taken away"),
        ("P1-KY\n+", "line 1: 'P1-KY': expected nine squares such as -FU or ' * '"),
        ("P+11XX\n+", "line 1: 'P+11XX': 'XX' is not a piece, expected one of FU, "),
        ("N+A", "line 1: a game without a position (PI, P1 to P9) and the side to move (+ or -)"),
    ],
)
def test_csa_says_what_is_wrong(text: str, sentence: str) -> None:
    (error,) = one("csa", text).errors
    assert error.startswith(sentence), error


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("V2.2\nPI\n+\n+7776FU\n%RESIGN", "line 5: '%RESIGN' is not an ending: expected one of %TORYO, "),
        (
            "V2.2\nPI\n+\nT3\n+7776FU",
            "line 4: 'T3' follows no move: expected one time after each move; it is left out",
        ),
        ("V4\nPI\n+\n+7776FU", "line 1: the version 'V4' is unknown: it is read as V3.0"),
    ],
)
def test_csa_reads_on_behind_a_blemish(text: str, sentence: str) -> None:
    record = one("csa", text).checked()
    (warning,) = record.warnings
    assert warning.startswith(sentence) and texts(record.moves) == "+7776FU"


def test_csa_goes_on_with_the_next_game() -> None:
    games = parsed("csa", "PI\n+\nxx\n+7776FU\n/\nPI\n+\n+2726FU\n/\n")
    assert [(texts(game.moves), len(game.errors)) for game in games] == [("", 1), ("+2726FU", 0)]


def test_csa_is_as_old_as_it_can_be() -> None:
    record = one("csa", "N+a\nPI\n+\n+7776FU,T3\n%TORYO")
    assert written(record).startswith("V2.2\nN+a\nPI\n+\n")
    for change in ({"headers": (("N+", "先手"),)}, {"moves": (Move("+7776FU", spent_s=3.5), Move("-3334FU"))}):
        changed = dataclasses.replace(record, **change, ending="", result=None)
        assert written(changed).startswith("'CSA encoding=UTF-8\nV3.0\n")
