"""SGF: trees, set-up positions and clocks, and a sentence for what is wrong."""

from __future__ import annotations

import tracemalloc

import pytest

from fuzz_notation import parsed, written
from records_for_tests import one, texts
from zerosum.notation.sgf import parse


def test_sgf_clocks_that_are_none_stay_as_they_are() -> None:
    record = one("sgf", "(;B[aa]BL[soon]TE[1];W[bb]WL[-3];B[cc]BL[.5])")
    assert [move.properties for move in record.moves] == [(("BL", "soon"), ("TE", "1")), (("WL", "-3"),), ()]
    assert [move.clock_s for move in record.moves] == [None, None, 0.5]


def test_sgf_clocks_behind_their_move_and_twice() -> None:
    record = one("sgf", "(;B[aa]TE[1];BL[9];WL[8];BL[7])")
    (move,) = record.moves
    assert move.clock_s == 9.0 and move.properties == (("TE", "1"), ("WL", "8"), ("BL", "7"))
    assert parsed("sgf", written(record)) == [record]
    record = one("sgf", "(;B[aa];W[bb](;B[cc])(;BL[5]C[x];B[dd]))")
    assert record.moves[1].variations[0][0].clock_s == 5.0


def test_sgf_trees_and_texts() -> None:
    record = one(
        "sgf",
        "junk (;FF[3]GaMe[1]SiZe[9]PlayerBlack[a\\]b]C[soft \\\nbreak\nhard];B[aa]BL[9.5]C[x]LB[aa:1];C[y](;W[bb];B[])"
        "(;C[first];W[cc](;B[tt])(;B[dd])))",
    )
    assert record.headers == (("PB", "a]b"),) and record.comments == ("soft break\nhard",)
    assert texts(record.moves) == "aa bb pass"
    assert record.moves[0].comments == ("x", "y") and record.moves[0].clock_s == 9.5
    ((variation,), ((deeper,),)) = (record.moves[0].variations, record.moves[0].variations[0][0].variations)
    assert texts(variation) == "cc pass" and variation[0].comments_before == ("first",)
    assert deeper.text == "dd"


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("(;SZ[5])", ""),
        ("(;SZ[5];W[aa])", "5/5/5/5/5 O"),
        ("(;SZ[5]PL[White])", "5/5/5/5/5 O"),
        ("(;SZ[5]HA[2]AB[aa][ee];W[bb])", "X4/5/5/5/4X O"),
        ("(;SZ[5]AB[aa:ca]AW[ee]AE[ba])", "XXX2/5/5/5/4O X"),
        ("(;SZ[5];AB[ba];AE[ba]AW[bb])", "5/1O3/5/5/5 X"),
    ],
)
def test_sgf_set_up_is_the_start(text: str, start: str) -> None:
    record = one("sgf", text)
    assert not record.errors
    assert record.start == start


@pytest.mark.parametrize(
    ("text", "result", "ending"),
    [
        ("B+R", 1.0, "resignation"),
        ("W+Time", -1.0, "time"),
        ("W+0.5", -1.0, "0.5 points"),
        ("B+", 1.0, ""),
        ("0", 0.0, ""),
        ("Void", None, "Void"),
        ("?", None, ""),
    ],
)
def test_sgf_results(text: str, result: float | None, ending: str) -> None:
    record = one("sgf", f"(;RE[{text}])")
    assert (record.result, record.ending) == (result, ending)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("(;B[aa]\n;W[bb];AB[cc])", "line 2: AB after the first move: a record's position is set up before it"),
        ("(;B[aa];B[bb])", "line 1: B[bb]: expected a move of White, whose turn it is, because sides alternate"),
        ("(;B[zz])", "line 1: B[zz]: expected a point of a 19x19 board such as B[dd]"),
        ("(;B[aa]W[bb])", "line 1: B and W in one node: expected one move"),
        ("(;SZ[9:13])", "line 1: the board's size SZ["),
        ("(;SZ[26])", "line 1: the board's size SZ[26]: expected 5 to 25, square"),
        ("(;HA[2];W[aa])", "line 1: HA[2], but no stones are set up: expected AB with 2 points"),
        ("(;GM[2])", "line 1: GM[2] is another game: expected GM[1], Go"),
        ("(;C[open", "line 1: a value of C that is not closed: expected ]"),
        ("(;B[aa]", "line 1: the end of the file: expected '(', ')' or ';'"),
        ("(;B[aa]x)", "line 1: 'x': expected '(', ')' or ';'"),
        ("(;GM[2\n3])", "line 1: GM[2 3] is another game: expected GM[1], Go"),
        ("(;SZ[1\n9])", "line 1: the board's size SZ[1 9]: expected 5 to 25, square"),
        ("(;PL[X\n \nC])", "line 1: PL[X C]: expected B or W"),
        ("(;B[\nz\nz\n])", "line 1: B[z z]: expected a point of a 19x19 board such as B[dd]"),
        ("(;pb[a])", "line 1: 'pb': expected a property's name in upper case"),
    ],
)
def test_sgf_says_what_is_wrong(text: str, sentence: str) -> None:
    (error,) = one("sgf", text).errors
    assert error.startswith(sentence) and error.endswith("; the record stops here") and "\n" not in error


@pytest.mark.parametrize(
    ("text", "game", "sentence"),
    [
        ("KM[6,5]", "go(size=19, komi=6.5)", "the komi KM[6,5]: expected a number of points; it is read as 6.5"),
        ("KM[375]", "go(size=19, komi=7.5)", "the komi KM[375]: expected a number of points; it is read as 7.5"),
        (
            "KM[375]RU[Chinese]",
            "go(size=19, komi=7.5, superko=simple)",
            "the komi KM[375]: expected a number of points; it is read as 7.5",
        ),
        (
            "KM[3.75]RU[chinese]",
            "go(size=19, komi=7.5, superko=simple)",
            "the komi KM[3.75]: expected a number of points; it is read as 7.5",
        ),
        (
            "KM[650]RU[Japanese]",
            "go(size=19, komi=6.5, superko=simple)",
            "the komi KM[650]: expected a number of points",
        ),
        ("KM[six\nseven]", "go(size=19)", "the komi KM[six seven]: expected a number of points; it is left out"),
        ("HA[x]", "go(size=19)", "the handicap HA[x]: expected a number of stones; it is left out"),
        ("PB[a]PB[b]", "go(size=19)", "'PB' stands twice in a node: its values are taken together"),
        (
            "AB[dd]B[aa]",
            "go(size=19)",
            "AB and B in one node: expected a move or a set-up; the position is set up before",
        ),
        (";KM[6.5]RE[B+R]", "go(size=19)", "KM[6.5] and RE[B+R] after the first node: expected in it; it is left out"),
    ],
)
def test_sgf_reads_on_behind_a_blemish(text: str, game: str, sentence: str) -> None:
    record = one("sgf", f"(;{text};{'W' if 'B[aa]' in text else 'B'}[bb])").checked()
    (warning,) = record.warnings
    assert warning.startswith(f"line 1: {sentence}") and "\n" not in warning
    assert record.game == game and record.moves[-1].text == "bb"


def test_sgf_stones_behind_the_first_move_end_their_line_alone() -> None:
    record = one("sgf", "(;B[aa](;W[bb];B[cc])(;W[dd];AB[ee];B[ff]))").checked()
    assert texts(record.moves) == "aa bb cc" and texts(record.moves[0].variations[0]) == "dd"
    assert record.warnings == (
        "line 1: AB after the first move: a record's position is set up before it; the variation stops here",
    )
    record = one("sgf", "(;B[aa];W[bb];AB[ee];B[ff])")
    assert texts(record.moves) == "aa bb" and "AB after the first move" in record.errors[0]


def test_sgf_goes_on_with_the_next_game() -> None:
    games = parsed("sgf", "(;B[aa];B[bb];W[cc])(;C[a(]x;B[aa])(;B[cc])")
    assert [texts(game.moves) for game in games] == ["aa", "", "cc"]
    assert [len(game.errors) for game in games] == [1, 1, 0]


def test_variations_take_little_memory() -> None:
    """Each is finished where it is closed: the drafts of all of them took 580 bytes a move."""
    text = f"(;GM[1]SZ[19];B[aa]{'(;W[])' * 20_000})"
    tracemalloc.start()
    try:
        (record,) = parse(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(record.moves) == 2 and len(record.moves[0].variations) == 19_999
    assert peak / 20_000 < 300, peak / 20_000
