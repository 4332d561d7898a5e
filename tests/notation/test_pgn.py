"""PGN: moves as people write them, and a sentence for what is wrong."""

from __future__ import annotations

import pytest

from fuzz_notation import parsed, written
from records_for_tests import pgn_moves, texts
from zerosum.notation import Evaluation, Move, Record


def test_pgn_says_much_of_a_move() -> None:
    record = pgn_moves(
        '[Result "*"]\n\n{first} 1. e4!? $14 {[%eval -0.25,20] [%clk 1:02:03.5] good [%csl Ga1]} (1. d4 {a} ; b\n'
        "d5 1-0) 1... e5 { [%eval #-3] [%emt 0:00:05] } *"
    )
    assert record.comments == ("first",)
    move, reply = record.moves
    assert move.nags == (5, 14) and move.comments == ("good [%csl Ga1]",)
    assert (move.clock_s, move.evaluation) == (3723.5, Evaluation(pawns=-0.25, depth=20))
    assert (reply.spent_s, reply.evaluation, reply.comments) == (5.0, Evaluation(mate=-3), ())
    ((d4, d5),) = record.variations
    assert d4.comments == ("a", "b") and d5.ending == "1-0"


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("1.e4 e5 2.Nf3", "e4 e5 Nf3"),
        ("1. e4 1... e5", "e4 e5"),
        ("1. e4 ... e5", "e4 e5"),
        ("e4 e5", "e4 e5"),
        ("1. 0-0 0-0-0", "0-0 0-0-0"),
        ("1. e4 ± e5 +- d4 N", "e4 e5 d4"),
        ("1. e4\n% 1... c5\ne5", "e4 e5"),
        ("1. e4 {a\n% b} e5", "e4 e5"),
    ],
)
def test_pgn_moves_as_people_write_them(text: str, moves: str) -> None:
    assert texts(pgn_moves(text).moves) == moves


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[White "A]\n\n*', 'line 1: \'[White "A]\' is not a tag: expected [Name "value"]; it is left out'),
        ("[White]\n\n*", "line 1: '[White]' is not a tag: expected [Name \"value\"]; it is left out"),
        ('[Event "a "b" c"]\n\n*', 'line 1: \'[Event "a "b" c"]\': a quotation mark in a value is written \\"'),
        ('[Result "2-0"]\n\n*', "line 1: the tag Result is '2-0': expected one of 1-0, 0-1, 1/2-1/2, *"),
        ('[Result "1-0"]\n\n1. e4 0-1', "line 1: the tag Result is 1-0, but the moves end with 0-1; no result"),
        ('[Result "1-0"]\n\n1. e4 *', "line 1: the tag Result is 1-0, but the moves end with *; 1-0 is taken"),
        ('[White "A"]\n[White "B"]\n\n*', "line 2: the tag White stands twice: the first one counts"),
        ('[SetUp "1"]\n\n*', "line 1: SetUp is 1, but there is no tag FEN: the start position is unknown"),
        (
            '[Variant "Atomic"]\n\n*',
            "line 1: the variant 'Atomic' is unknown: expected Chess960",
        ),
        ("1. e4 {open", "line 1: a comment that is not closed: expected }; the record stops here"),
        ("1. e4 (1. d4", "line 1: a variation that is not closed: expected ); the record stops here"),
        ("(1. d4)", "line 1: a variation before a move that it could replace; it is left out"),
        ("1. e4 ) e5", "line 1: ')' without '('; it is left out"),
        ("1. e4 (1. " + "x" * 21 + " 2. c4) e5", f"line 1: '{'x' * 21}' is not a move; the variation stops here"),
        ("1. e4 Nc6* ", "line 1: 'Nc6*': expected a blank before *"),
        ("1. exd5 e.p.", "line 1: 'e.p.': PGN has no word for a capture en passant; e.p. is left out"),
        ("1. exd6e.p.+", "line 1: 'exd6e.p.+': PGN has no word for a capture en passant; e.p. is left out"),
        ("1. a8(Q)+", "line 1: 'a8(Q)+': a promotion is written a8=Q+; it is read as one"),
        ("1. e4 ()", "line 1: a variation without a move"),
        ("1. e4 $999", "line 1: '$999' is not an annotation: expected $0 to $255"),
        ("1. e4!!!", "line 1: 'e4!!!': expected one of ! ? !! ?? !? ?! after a move; !!! is left out"),
        ("1. " + "x" * 50, f"line 1: '{'x' * 40}…' is not a move; the record stops here"),
    ],
)
def test_pgn_says_what_is_wrong(text: str, sentence: str) -> None:
    record = pgn_moves(text)
    loses_moves = (
        sentence.endswith("the record stops here")
        or "unknown: expected" in sentence
        or "start position is unknown" in sentence
    )
    assert any(said.startswith(sentence) for said in (record.errors if loses_moves else record.warnings))
    assert loses_moves or not record.errors


@pytest.mark.parametrize(
    ("text", "moves", "headers"),
    [
        ('[Event "The "Big" Open"]\n[Site "C:\\dir"]\n\n1. e4 *', "e4", ('The "Big" Open', "C:\\dir")),
        ('[Event "a \\"b\\" \\\\"] [Site "x"]\n\n1. e4 *', "e4", ('a "b" \\', "x")),
        ('[Event "a "b""] [Site "x"]\n\n1. e4 *', "e4", ('a "b"', "x")),
        ('[Event "a\\"]\n\n1. e4 *', "e4", ("a\\", "")),
        ("[Event]\n\n1. e4 *", "e4", ("", "")),
        ("1. e4 e5 2. d4 exd4 e.p. 3. c3 Nc6*", "e4 e5 d4 exd4 c3 Nc6", ("", "")),
        ("1. exd6e.p. cxd6 (e.p.) 2. a8(Q)# 1-0", "exd6 cxd6 a8=Q#", ("", "")),
        ("1. e4 (1. xxxxxxxxxxxxxxxxxxxxxxxx 1... e5 (1... c5) 2. Nf3) 1... e5 2. Nf3!!! *", "e4 e5 Nf3", ("", "")),
        ("1. e4 e5 (1... (2. d4) c5) 2. Nf3 $300 ) Nc6 *", "e4 e5 Nf3 Nc6", ("", "")),
    ],
)
def test_pgn_reads_on_behind_a_blemish(text: str, moves: str, headers: tuple[str, str]) -> None:
    record = pgn_moves(text).checked()
    assert texts(record.moves) == moves
    assert (record.header("Event"), record.header("Site")) == headers
    assert not any("x" * 24 in move.text for _, line in record.lines() for move in line)


@pytest.mark.parametrize(
    ("tag", "end", "result"),
    [("1-0", "*", 1.0), ("*", "0-1", -1.0), ("1-0", "0-1", None), ("2-0", "1-0", 1.0), ("2-0", "", None)],
)
def test_pgn_results_that_contradict_one_another(tag: str, end: str, result: float | None) -> None:
    record = pgn_moves(f'[Result "{tag}"]\n\n1. e4 {end}').checked()
    assert record.result == result and "the tag Result is" in record.warnings[0]


def test_pgn_goes_on_with_the_next_game() -> None:
    text = '[Event "A"]\n\n1. e4 {open\n\n[Event "B"]\n\n1. d4 ) e4\n1-0\n\n[Event "C"]\n\n1. c4 *\n'
    games = parsed("pgn", text)
    assert [game.header("event") for game in games] == ["A", "B", "C"]
    assert [texts(game.moves) for game in games] == ["e4", "d4 e4", "c4"]
    assert [(len(game.errors), len(game.warnings)) for game in games] == [(1, 0), (0, 1), (0, 0)]
    assert [game.line for game in games] == [1, 5, 10]


def test_pgn_is_written_as_the_standard_has_it() -> None:
    moves = tuple(Move("Nf3" if ply % 2 == 0 else "Nc6") for ply in range(60))
    record = Record("chess", moves, (("ECO", "A00"), ("Black", "B"), ("Annotator", "C")), result=0.0, format="pgn")
    head, _, body = written(record).partition("\n\n")
    names = [line.split()[0][1:] for line in head.splitlines()]
    assert names == ["Event", "Site", "Date", "Round", "White", "Black", "Result", "Annotator", "ECO"]
    assert max(map(len, body.splitlines())) <= 80 and min(map(len, body.splitlines()[:-2])) > 70
    assert body.startswith("1. Nf3 Nc6 2. Nf3 ") and body.endswith("30. Nf3 Nc6 1/2-1/2\n\n")


def test_pgn_keeps_brackets_in_comments_apart_from_those_of_variations() -> None:
    said = ("a ( b )", "( c", ") d (", "e } (")
    moves = (Move("e4", comments=said, variations=((Move("c5", comments=("f (",)),), (Move("d5", comments=("}",)),))),)
    record = Record("chess", (*moves, Move("e5")), format="pgn")
    assert parsed("pgn", written(record)) == [record]
