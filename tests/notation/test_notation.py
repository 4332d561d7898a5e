"""PGN, SGF, KIF and CSA: what people write is read, what is written reads equal, and malformed files get a sentence."""

from __future__ import annotations

import dataclasses
import io
import random
import tracemalloc
from pathlib import Path

import pytest

from fuzz_notation import DATA, FORMATS, fuzz, parsed, random_record, written
from zerosum.base.errors import DataError, ZerosumError
from zerosum.notation import Evaluation, Move, Record, RecordError, game_text, kif, read_games
from zerosum.notation.game_files import read_raw_games
from zerosum.notation.record import MAX_DEPTH, clock_text
from zerosum.notation.shogi_position import START, ShogiPosition

each_format = pytest.mark.parametrize("format", FORMATS)


def one(format: str, text: str) -> Record:
    (record,) = parsed(format, text)
    return record


def texts(line: tuple[Move, ...]) -> str:
    return " ".join(move.text for move in line)


def pgn_moves(text: str) -> Record:
    return one("pgn", text)


# ---- properties


@each_format
def test_what_is_written_reads_equal(format: str) -> None:
    for number in range(400):
        record = random_record(format, random.Random(f"{format} {number}"))
        assert parsed(format, written(record)) == [record]


@each_format
def test_several_games_in_one_text(format: str) -> None:
    if format == "kif":
        pytest.skip("a KIF file holds one game")
    records = [random_record(format, random.Random(f"{format} {number}")) for number in range(40)]
    separator = "/\n" if format == "csa" else ""
    assert parsed(format, separator.join(map(written, records))) == records


@each_format
def test_damaged_files_get_a_sentence(format: str) -> None:
    seen, failures = fuzz(format, seed=0, rounds=iter(range(400)))
    assert not failures, failures[0]
    assert seen["a record with errors"] > 20


@each_format
def test_a_random_text_is_no_record(format: str) -> None:
    rng = random.Random(1)
    for _ in range(300):
        content = bytes(rng.choice(b"()[];{}%*'+- \nPNVB1e4\\\"\xe3\x81") for _ in range(rng.randint(0, 200)))
        try:
            for record in read_games(io.BytesIO(content), format=format):
                assert isinstance(record, Record)
        except ZerosumError:
            pass


@each_format
def test_deep_variations_end_with_a_sentence(format: str) -> None:
    deep = 50 * MAX_DEPTH
    many = {
        "pgn": "1. e4 " + "e5 d4 (" * deep,
        "sgf": "(;" + "(;B[aa])(;B[bb]" * deep,
        "kif": "\n".join(f"変化：{number}手\n{number} ７六歩(77)" for number in range(1, deep)),
        "csa": "PI\n+\n" + "(" * deep,
    }[format]
    assert parsed(format, many)[0].errors or parsed(format, many)[0].warnings


# ---- the record


def test_a_record_is_walked_line_by_line() -> None:
    record = pgn_moves("1. e4 (1. d4 d5 (1... Nf6)) 1... e5 (1... c5 2. Nf3) 2. Nf3 *")
    lines = [(texts(before), texts(line)) for before, line in record.lines()]
    assert lines == [("", "e4 e5 Nf3"), ("", "d4 d5"), ("e4", "c5 Nf3"), ("d4", "Nf6")]
    assert [texts(line) for _, line in record.without("variations").lines()] == ["e4 e5 Nf3"]


def test_headers_by_what_they_say() -> None:
    assert one("pgn", '[White "A"]\n[Black "B"]\n[Date "2026.01.07"]\n\n*').players == ("A", "B")
    assert one("sgf", "(;PB[A]PW[B])").players == ("A", "B")
    assert one("kif", "手合割：角落ち\n下手：A\n上手：B").players == ("A", "B")
    assert one("csa", "N+A\nN-B\n$EVENT:C\nPI\n+").header("event") == "C"


@pytest.mark.parametrize(
    ("format", "game", "names", "told"),
    [
        ("pgn", "chess", ("first player", "ECO"), ('[White "A"]', '[ECO "B"]')),
        ("pgn", "chess", ("White", "date"), ('[White "A"]', '[Date "B"]')),
        ("sgf", "go(size=9)", ("first player", "GC"), ("PB[A]", "GC[B]")),
        ("kif", "shogi", ("second player", "備考"), ("後手：A", "備考：B")),
        ("csa", "shogi", ("event", "N-"), ("$EVENT:A", "N-B")),
    ],
)
def test_headers_of_a_new_record_are_written(
    format: str, game: str, names: tuple[str, str], told: tuple[str, str]
) -> None:
    text = game_text(Record(game, headers=tuple(zip(names, "AB", strict=True))), format=format)
    assert all(words in text for words in told), text


def test_a_record_with_errors_can_be_refused() -> None:
    record = pgn_moves("1. e4 (1. d4")
    with pytest.raises(RecordError, match="line 1: a variation that is not closed") as caught:
        record.checked()
    assert caught.value.record is record
    sound = record.sound_part().checked()
    assert texts(sound.moves) == "e4" and sound.warnings == record.errors
    with pytest.raises(RecordError, match="a variation that is not closed"):
        dataclasses.replace(record, moves=()).sound_part()


# ---- PGN


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


# ---- SGF


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
        ("KM[375]", "go(size=19, komi=3.75)", "the komi KM[375]: expected a number of points; it is read as 3.75"),
        (
            "KM[375]RU[Chinese]",
            "go(size=19, komi=7.5)",
            "the komi KM[375]: expected a number of points; it is read as 7.5",
        ),
        (
            "KM[3.75]RU[chinese]",
            "go(size=19, komi=7.5)",
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


# ---- KIF


@pytest.mark.parametrize("name", list(kif.HANDICAPS))
def test_kif_handicaps(name: str) -> None:
    """Each is the start without White's pieces of the name; they add up to their number."""
    record = one("kif", f"手合割：{name}　　\n   1 ６二銀(71)")
    start = ShogiPosition.from_sfen(record.start or START)
    missing = start.missing()
    number = {"平": 0, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "十": 10}
    assert start.is_black == (name == "平手")
    assert sum(missing.values()) == next(
        (number[sign] for sign in name if sign in number), 2 if name == "飛香落ち" else 1
    )
    assert sum(is_black for is_black, _ in start.board.values()) == 20
    assert bool(missing["R"]) == (name[0] in "飛二三四五六七八十" or name[1] in "五七")
    assert kif.HANDICAPS[name] == start.sfen()


@pytest.mark.parametrize(
    ("line", "move"),
    [
        ("   1 ７六歩(77)   ( 0:16/00:00:16)", "７六歩(77)"),
        ("1 76歩(77)", "７六歩(77)"),
        ("   1 ２二角成(88)+", "２二角成(88)"),
        ("   1 ２二角不成(88)", "２二角(88)"),
        ("   1 ５二成銀(41)", "５二全(41)"),
        ("   1 ５五竜(25) ( 12:05/01:00:16)+", "５五龍(25)"),
        ("   1 ５九王(58)", "５九玉(58)"),
        ("   1 ５二銀打", "５二銀打"),
    ],
)
def test_kif_moves_as_programs_write_them(line: str, move: str) -> None:
    record = one("kif", line)
    assert (texts(record.moves), record.errors) == (move, ())


def test_kif_variations_belong_to_the_line_before_them() -> None:
    (record,) = read_raw(DATA / "game.kifu")
    lines = [(len(before), texts(line)) for before, line in record.lines()]
    assert lines[1:] == [
        (0, "２六歩(27)"),
        (2, "２六歩(27) ４四歩(43) ２五歩(26)"),
        (3, "２二飛(82) ６五角打"),
        (7, "３三銀(22)"),
        (3, "８四歩(83)"),
    ]
    assert record.moves[3].text == "２二銀(31)"
    assert record.moves[1].comments == ("交換は早いか。", "それとも。")
    assert record.moves[4].properties == (("&", "ここまで"),)
    assert record.moves[6].variations[0][-1].ending == "resignation"
    assert (record.result, record.ending, record.ending_spent_s) == (1.0, "resignation", 30.0)


def read_raw(path: Path) -> list[Record]:
    return parsed("kif" if path.suffix.startswith(".kif") else path.suffix[1:], path.read_text(encoding="utf-8-sig"))


def test_kif_boards_are_drawn() -> None:
    (record,) = read_raw(DATA / "diagram.kifu")
    assert record.start == "4k4/9/4P4/9/7+r1/9/9/9/4K1+L2 b R2G12Pg4p 1"
    assert written(record).splitlines()[1:6] == [
        "  ９ ８ ７ ６ ５ ４ ３ ２ １",
        "+---------------------------+",
        "| ・ ・ ・ ・v玉 ・ ・ ・ ・|一",
        "| ・ ・ ・ ・ ・ ・ ・ ・ ・|二",
        "| ・ ・ ・ ・ 歩 ・ ・ ・ ・|三",
    ]


@pytest.mark.parametrize(
    ("text", "result", "ending"),
    [
        ("   1 投了", -1.0, "resignation"),
        ("   1 ７六歩(77)\n   2 投了", 1.0, "resignation"),
        ("手合割：角落ち\n   1 投了", 1.0, "resignation"),
        ("   1 反則勝ち", 1.0, "opponent's illegal move"),
        *((f"   1 {word}", 1.0, "declaration") for word in ("入玉勝ち", "入玉宣言", "入玉宣言勝ち", "宣言勝ち")),
        ("   1 ７六歩(77)\nまで1手で入玉宣言", -1.0, "declaration"),
        ("   1 千日手", 0.0, "fourfold repetition"),
        ("   1 中断", None, "interrupted"),
        ("   1 ７六歩(77)\nまで1手で後手の勝ち", -1.0, ""),
        ("   1 ７六歩(77)\nまで1手で千日手", 0.0, "fourfold repetition"),
        ("   1 ７六歩(77)\nまで1手で投了", 1.0, "resignation"),
        ("   1 ７六歩(77)\n   2 ３四歩(33)\nまで2手で反則負け", -1.0, "illegal move"),
    ],
)
def test_kif_ends(text: str, result: float | None, ending: str) -> None:
    record = one("kif", text)
    assert (record.result, record.ending, record.errors) == (result, ending, ())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("手合割：銀落ち", "line 1: the handicap '銀落ち': expected 平手, 香落ち, "),
        (
            "   1 ７六金歩",
            "line 1: '７六金歩' is not a move: expected one such as ７六歩(77), 同　角成(88) or ５二銀打",
        ),
        ("   1 同　歩(77)", "line 1: '同\\u3000歩(77)': 同 without a move before"),
        ("   2 ７六歩(77)", "line 1: move number 2: expected 1"),
        ("   1 投了\n   2 ７六歩(77)", "line 2: "),
        (
            "   1 ７六歩(77)\n|v香v桂v銀v金v玉v金v銀v桂v香|一",
            "line 2: '|v香v桂v銀v金v玉v金v銀v桂v香|一' after",
        ),
        ("|v香v桂|一", "line 1: row 1 of the board, '|v香v桂|一': expected nine rows of nine squares"),
        ("先手の持駒：玉", "line 1: '玉' in hand: expected pieces such as 飛, 銀二 or 歩十八, or なし"),
        ("nothing", "line 1: 'nothing' is neither a header"),
    ],
)
def test_kif_says_what_is_wrong(text: str, sentence: str) -> None:
    (error,) = one("kif", text).errors
    assert error.startswith(sentence), error


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("変化：3手", "line 3: 変化：3手: expected a number from 1 to 2; the variation stops here"),
        ("変化：1手\n   1 nothing\n   2 ３四歩(33)", "line 4: 'nothing' is not a move: expected one such as"),
        (
            "nothing",
            "line 3: 'nothing' is neither a header (名前：値), a move, a comment nor a part of a board; it is left out",
        ),
        ("   2 ３四歩(33)   ( 0:xx)", "line 3: '( 0:xx)': expected the time taken, ( 0:05/00:01:23); it is left out"),
        ("   2 ３四歩", "line 3: '３四歩' does not name its source, as KIF does: it is read as KI2"),
    ],
)
def test_kif_reads_on_behind_a_blemish(text: str, sentence: str) -> None:
    record = one("kif", f"先手：A\n   1 ７六歩(77)\n{text}\n変化：1手\n   1 ２六歩(27)\n").checked()
    (warning,) = record.warnings
    assert warning.startswith(sentence)
    assert record.moves[0].text == "７六歩(77)" and texts(record.variations[-1]) == "２六歩(27)"


@pytest.mark.parametrize(
    ("hand", "sfen"),
    [
        ("飛　角　金二　歩十八", "RB2G18P"),
        ("歩18 金2", "2G18P"),
        ("歩１８　金２", "2G18P"),
        ("銀四歩十", "4S10P"),
        ("なし", "-"),
    ],
)
def test_kif_hands_in_numerals_of_all_kinds(hand: str, sfen: str) -> None:
    record = one("kif", f"{'|' + ' ・' * 9 + '|'}\n" * 9 + f"先手の持駒：{hand}").checked()
    assert record.start.split()[2] == sfen


@pytest.mark.parametrize("hand", ["歩19", "歩二十", "歩0", "2", "歩1234", "歩十二三", "歩" + "9" * 5000])
def test_kif_hands_that_are_none(hand: str) -> None:
    (error,) = one("kif", f"先手の持駒：{hand}").errors
    assert "in hand: expected pieces such as" in error


def test_ki2_is_read_as_kif() -> None:
    record = one(
        "kif",
        "先手：A\n▲７六歩    △３四歩  ▲２二角成\n*交換\n△同　銀 ▲５八金右\nまで5手で先手の勝ち\n\n"
        "変化：2手\n△８四歩　▲2六歩 △投了\n",
    ).checked()
    assert texts(record.moves) == "▲７六歩 △３四歩 ▲２二角成 △２二銀 ▲５八金右"
    assert record.moves[2].comments == ("交換",) and record.result == 1.0
    ((variation),) = record.moves[0].variations
    assert texts(variation) == "△８四歩 ▲２六歩" and variation[-1].ending == "resignation"
    assert one("kif", "☗同銀").errors == ("line 1: '同銀': 同 without a move before; the record stops here",)
    assert "'nothing' is not a move" in one("kif", "▲７六歩 △nothing").errors[0]
    assert "'３四歩' after the game's end" in one("kif", "▲投了 △３四歩").errors[0]


# ---- CSA

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


# ---- what a format cannot say


@pytest.mark.parametrize(
    ("format", "change", "sentence"),
    [
        ("sgf", {"nags": (1,)}, "aa: SGF has no words for nags. Leave it out: record.without('nags')."),
        ("kif", {"clock_s": 3.0}, "aa: KIF has no words for clock_s"),
        ("kif", {"spent_s": 0.5}, "aa took 0.5 s: KIF has whole seconds."),
        ("csa", {"variations": ((Move("bb"),),)}, "aa: CSA has no words for variations"),
        (
            "pgn",
            {"variations": ((Move("bb"),),)},
            "a variation after the line's last move, aa: PGN has no",
        ),
        ("sgf", {"variations": ((Move("bb"),),)}, "a variation after a line's last move: SGF would take it"),
    ],
)
def test_nothing_is_left_out_in_silence(format: str, change: dict[str, object], sentence: str) -> None:
    move = dataclasses.replace(Move("aa"), **change)
    with pytest.raises(RecordError, match="^" + sentence.replace("(", "\\(").replace(")", "\\)")):
        written(Record("go(size=9)", (move,), format=format))


def test_results_that_a_format_cannot_say() -> None:
    for format, record in [
        ("pgn", Record("chess", result=0.5)),
        ("sgf", Record("go(size=9)", result=0.0, ending="triple ko")),
        ("kif", Record("shogi", result=0.0)),
        ("kif", Record("shogi", result=1.0, ending="resignation")),
        ("csa", Record("shogi", result=1.0)),
        ("csa", Record("shogi", result=-1.0, ending="perpetual check")),
    ]:
        with pytest.raises(RecordError):
            written(dataclasses.replace(record, format=format))


def test_times_and_evaluations_are_numbers() -> None:
    for wrong, sentence in (
        (lambda: Move("e4", clock_s=-1.0), "clock_s is -1.0, expected seconds from 0, or None."),
        (lambda: Move("e4", spent_s=float("nan")), "spent_s is nan, expected seconds"),
        (lambda: Record("chess", ending_spent_s=float("inf")), "ending_spent_s is inf, expected seconds"),
        (lambda: Evaluation(), "an evaluation of None pawns and mate in None: expected one of the two."),
        (lambda: Evaluation(pawns=1.0, mate=3), "an evaluation of 1.0 pawns and mate in 3"),
        (lambda: Evaluation(pawns=float("nan")), "an evaluation of nan pawns"),
    ):
        with pytest.raises(RecordError) as caught:
            wrong()
        assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("seconds", [0.0, 59.5, 3600.0, 86399.999])
def test_clocks(seconds: float) -> None:
    hours, minutes, rest = clock_text(seconds).split(":")
    assert 3600 * int(hours) + 60 * int(minutes) + float(rest) == pytest.approx(seconds, abs=1e-9)


# ---- files


def test_a_long_file_is_read_game_by_game() -> None:
    """Two thousand games: the first comes before the file is read, and memory stays that of a few games."""
    game = b'[Event "A"]\n[Result "1-0"]\n\n1. e4 {a comment} e5 (1... c5) 2. Nf3 1-0\n\n'

    class Endless(io.RawIOBase):
        num_read = 0

        def read(self, size: int = -1) -> bytes:
            self.num_read += 1
            return game * 100 if self.num_read <= 20 else b""

    stream, num_games = Endless(), 0
    tracemalloc.start()
    for number, record in enumerate(read_raw_games(stream, format="pgn")):
        assert texts(record.moves) == "e4 e5 Nf3"
        if number == 0:
            assert stream.num_read <= 2
        num_games += 1
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert num_games == 2000
    assert peak < 400_000


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ('[White "Zoë"]\n\n*\n'.encode(), "Zoë"),
        (b"\xef\xbb\xbf" + '[White "Zoë"]\n\n*\n'.encode(), "Zoë"),
        ('[White "Zoë"]\n\n*\n'.encode("latin-1"), "Zoë"),
        ("(;PB[Zoë])".encode(), "Zoë"),
        ("(;PB[Zoë])".encode("latin-1"), "Zoë"),
        *(
            (f"(;CA[{name}]PB[{text}])".encode(name), text)
            for name, text in (("Shift_JIS", "棋士"), ("GB2312", "棋士"), ("Big5", "棋士"), ("EUC-KR", "기사"))
        ),
        *((f"(;CA[{name}]PB[Zoë])".encode(name), "Zoë") for name in ("ISO-8859-1", "windows-1252", "UTF-8")),
        ("先手：棋士\n".encode(), "棋士"),
        ("先手：棋士\r\n".encode("cp932"), "棋士"),
        ("#KIF version=2.0 encoding=Shift_JIS\n先手：棋士\n".encode("cp932"), "棋士"),
        (b"\xef\xbb\xbf" + "#KIF version=2.0 encoding=UTF-8\n先手：棋士\n".encode(), "棋士"),
        ("'CSA encoding=SHIFT_JIS\nV3.0\nN+棋士\nPI\n+\n".encode("cp932"), "棋士"),
        ("V2.2\nN+棋士\nPI\n+\n".encode("cp932"), "棋士"),
    ],
)
def test_formats_and_encodings_are_found(content: bytes, name: str) -> None:
    (record,) = read_raw_games(io.BytesIO(content))
    assert record.players[0] == name


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"hello", "the stream begins like no known game record: name its format, pgn, sgf, kif, csa."),
        (b"", "the stream begins like no known game record"),
        ("(;GM[1])".encode("utf-16"), "the text is UTF-16: save it as UTF-8."),
        *(
            (f"(;CA[{name}])".encode(), f"the character set CA[{name}] is unknown: save the file as UTF-8.")
            for name in ("klingon", "unicode_escape", "hex", "idna", "utf-7", "utf-16")
        ),
        (b"#KIF version=2.0 encoding=EUC-JP\n", "line 1: the encoding 'euc_jp' is neither UTF-8 nor Shift_JIS."),
    ],
)
def test_files_that_are_refused(content: bytes, sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        list(read_games(io.BytesIO(content)))
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (
            b'[Event "A"]\n[White "Zo\xeb"]\n\n*',
            "Zo\xeb",
            "line 2: the byte 0xEB is not UTF-8: the line is read, and others",
        ),
        (
            b'[White "\xe6\xa3\x8b"]\n[Black "x\xff"]\n\n*',
            "棋",
            "line 2: the byte 0xFF is not UTF-8: the line is read as Latin-1; save",
        ),
        (
            b"(;CA[UTF-8]PB[\xe6\xa3\x8b]\nC[\xff])",
            "棋",
            "line 2: the byte 0xFF is not UTF-8: it is read as \ufffd; save",
        ),
        (b"(;PB[\xe6\xa3\x8b]\nC[\xff])", "棋", "line 2: the byte 0xFF is not UTF-8: the line is read as Latin-1"),
        ("(;CA[Big5]PB[棋]C[".encode("big5") + b"\xff])", "棋", "line 1: the byte 0xFF is not CP950: it is read as"),
        ("先手：棋\n".encode() + b"*\xff\n", "棋", "line 2: the byte 0xFF is not UTF-8: it is read as \ufffd"),
        (
            b"#KIF encoding=Shift_JIS\n" + "先手：棋\n*".encode("cp932") + b"\x85",
            "棋",
            "line 3: the byte 0x85 is not Shift_JIS",
        ),
        ("V2.2\nN+棋\nPI\n+\n'".encode() + b"\xff\n", "棋", "line 5: the byte 0xFF is not UTF-8"),
    ],
)
def test_a_byte_that_is_no_character_is_named(content: bytes, name: str, sentence: str) -> None:
    (record,) = read_raw_games(io.BytesIO(content))
    (warning,) = record.checked().warnings
    assert record.players[0] == name and warning.startswith(sentence)


def test_wider_character_sets_are_read_without_a_word() -> None:
    for named, written_in, text in (("GB2312", "gbk", "囍"), ("Shift_JIS", "cp932", "①"), ("EUC-KR", "cp949", "똠")):
        (record,) = read_raw_games(io.BytesIO(f"(;CA[{named}]PB[{text}])".encode(written_in)))
        assert record.players[0] == text and not record.warnings


def test_a_byte_that_is_no_character_is_told_with_its_game() -> None:
    games = b'[Event "\xe6\xa3\x8b"]\n\n1. e4 {\xff} *\n\n[Event "B"]\n\n*\n\n[Event "\xff"]\n\n*\n'
    found = [record.warnings for record in read_raw_games(io.BytesIO(games))]
    assert [len(warnings) for warnings in found] == [1, 0, 1]
    assert found[0][0].startswith("line 3: ") and found[2][0].startswith("line 9: ")


def test_paths_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no.pgn cannot be read: No such file or directory\."):
        list(read_games(tmp_path / "no.pgn"))
    with pytest.raises(DataError, match="unknown format 'ki2': expected one of pgn, sgf, kif, csa"):
        list(read_games(tmp_path / "no.pgn", format="ki2"))
    (tmp_path / "no.sgf").write_text("nothing")
    with pytest.raises(DataError, match="^.*no.sgf, no game begins here"):
        list(read_games(tmp_path / "no.sgf"))
