"""Game records in all formats: what is written reads equal, and malformed files get a sentence."""

from __future__ import annotations

import dataclasses
import io
import random
import sys

import pytest

from fuzz_notation import FORMATS, fuzz, parsed, random_record, written
from records_for_tests import one, pgn_moves, texts
from zerosum.base.errors import ZerosumError
from zerosum.notation import Evaluation, Move, Record, RecordError, game_text, read_games
from zerosum.notation.legality import check_record
from zerosum.notation.record import MAX_DEPTH, clock_text

each_format = pytest.mark.parametrize("format", FORMATS)


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


def test_a_long_game_takes_little_memory_a_move() -> None:
    """A move without annotations is one object of fixed size, and equal texts are one string."""
    (record,) = parsed("pgn", "Nf3 Nf6 Ng1 Ng8 " * 500)
    assert len(record.moves) == 2000 and len({id(move.text) for move in record.moves}) == 4
    assert not hasattr(record.moves[0], "__dict__") and sys.getsizeof(record.moves[0]) <= 150
    checked = check_record(record)
    assert len({id(move.text) for move in checked.moves}) == 4
