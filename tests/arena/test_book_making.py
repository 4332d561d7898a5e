"""Books made of games: counts, weights, castling, lines of moves, runs, and what is left out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from commands_for_tests import Command
from runs_for_tests import train_a_little
from web_for_tests import record_games, untrained_run
from zerosum.arena.book_making import MOST_WEIGHT, BookOfGames, LinesOfGames
from zerosum.arena.openings import read_openings
from zerosum.games import make
from zerosum.notation import read_games
from zerosum.notation.polyglot import position_key, read_book
from zerosum.notation.record import Move, Record
from zerosum.report.run_data import read_run
from zerosum.run.played_games import played_games

GAMES = """[Result "1-0"]

1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O Nf6 1-0

[Result "1/2-1/2"]

1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O d6 1/2-1/2

[Result "0-1"]

1. d4 d5 0-1

[Result "*"]

1. c4 *

[FEN "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"]
[SetUp "1"]
[Result "1-0"]

1. O-O 1-0
"""
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
ITALIAN = "r1bqk1nr/pppp1ppp/2n5/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4"


def made(path: Path, *, plies: int = 24, least: int = 1) -> dict[str, dict[str, int]]:
    games = path / "games.pgn"
    games.write_text(GAMES, encoding="utf-8")
    book = BookOfGames(plies)
    book.add_all(read_games(games))
    assert (book.num_games, book.num_left_out) == (3, 2)
    file = path / "book.bin"
    file.write_bytes(book.content(least_games=least))
    found = read_book(file)
    return {fen: {move.text: move.weight for move in found.moves(fen)} for fen in (START, ITALIAN)}


def test_weights_are_the_half_points_of_the_mover(tmp_path: Path) -> None:
    assert made(tmp_path) == {START: {"e2e4": 3}, ITALIAN: {"e1h1": 3}}


def test_moves_that_were_played_too_seldom_or_too_late_are_left_out(tmp_path: Path) -> None:
    assert made(tmp_path, least=2, plies=6) == {START: {"e2e4": 3}, ITALIAN: {}}
    assert BookOfGames(24).content(least_games=1) == b""


def test_large_weights_are_scaled_for_each_position_alike() -> None:
    book = BookOfGames(1)
    key = position_key(START)
    book._moves[key]["e2e4"].games, book._moves[key]["e2e4"].half_points = 100_000, 4 * MOST_WEIGHT
    book._moves[key]["d2d4"].games, book._moves[key]["d2d4"].half_points = 9, 8
    content = book.content(least_games=1)
    assert [int.from_bytes(content[at + 10 : at + 12], "big") for at in (0, 16)] == [MOST_WEIGHT, 2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("book.bin", "missing.pgn"), "missing.pgn"),
        (("book.bin", "games.pgn", "--least-games", "9"), "No move was played in 9 games (3 games, 2 left out)"),
        (("no/such/book.bin", "games.pgn"), "book.bin"),
    ],
)
def test_the_command_says_what_is_wrong(
    tmp_path: Path, zero: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], message: str
) -> None:
    (tmp_path / "games.pgn").write_text(GAMES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    answer = zero("book", *words)
    assert answer.status == 2
    assert message in answer.words + answer.err


def test_the_command(tmp_path: Path, zero: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "games.pgn").write_text(GAMES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert zero("book", "book.bin", "games.pgn", "--least-games", "1").out == (
        "book.bin: 9 moves from 3 games, 2 left out.\n"
    )


def games_of(run: Path, name: str = "connect4") -> list[Record]:
    return list(played_games(make(name), read_run(run).games()))


def test_given_moves_are_in_no_book() -> None:
    """After them the players choose, and these moves count."""
    texts = ("e2e4", "e7e5", "g1f3")
    book = BookOfGames(24)
    book.add(Record("chess", tuple(map(Move, texts)), result=1.0, opening_plies=2))
    assert {key: list(moves) for key, moves in book._moves.items()} == {
        position_key("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"): ["g1f3"]
    }


def test_lines_are_sorted_by_how_often_they_were_played() -> None:
    def game(moves: str, *, name: str = "connect4", opening_plies: int = 0) -> Record:
        return Record(name, tuple(map(Move, moves.split())), opening_plies=opening_plies)

    lines = LinesOfGames(2)
    lines.add_all([game("1 2 3"), game("4 4 1"), game("4 4 2"), game("3 3 3"), game("7 7 7"), game("3 3 1 1")])
    lines.add_all([game("4 4"), game("4 4 4", opening_plies=1), game("4 4 4", name="connect4(rows=8)")])
    assert (lines.num_games, lines.num_left_out) == (6, 3)
    assert lines.content(least_games=1) == b"3 3\n4 4\n1 2\n7 7\n"
    assert lines.content(least_games=2) == b"3 3\n4 4\n"
    assert lines.content(least_games=3) == b""


def test_lines_of_files_are_openings_of_a_match(tmp_path: Path, zero: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("games.txt").write_text("4 4 3 3 5\n4 4 3 2\n# a remark\n1. 4 4 3 7\n1 1 1 1 1\n4 4 8 1\n", encoding="utf-8")
    answer = zero("book", "lines.TXT", "games.txt", "--game", "connect4", "--plies", "3")
    assert answer.out == "lines.TXT: 1 lines from 4 games, 1 left out.\n", answer
    (opening,) = read_openings("lines.TXT", make("connect4"))
    assert [make("connect4").action_text(make("connect4").initial_state(), action) for action in opening.actions] == [
        *("4", "4", "3")
    ]
    answer = zero("book", "lines.txt", "games.txt", "--plies", "3")
    assert answer.status == 2 and "games.txt begins like no known game record" in answer.err
    answer = zero("book", "lines.txt", "games.txt", "--game", "connect4")
    assert (
        answer.status == 2
        and "No line of 8 plies was played in 2 games (0 games, 5 left out)" in answer.words + answer.err
    )
    Path("games.pgn").write_text(GAMES, encoding="utf-8")
    assert (
        zero("book", "lines.txt", "games.pgn", "--plies", "4").out == "lines.txt: 1 lines from 2 games, 3 left out.\n"
    )
    assert Path("lines.txt").read_text(encoding="utf-8") == "e2e4 e7e5 g1f3 b8c6\n"


def test_games_of_a_run_are_read_as_they_were_played(tmp_path: Path) -> None:
    run = untrained_run(tmp_path / "run", steps=(0,))
    record_games(run, number=40)
    game, records = make("connect4"), games_of(run)
    assert len(records) == 40
    for record in records:
        state = game.initial_state()
        for move in record.moves:
            action = game.parse_action(state, move.text)
            assert action is not None
            state = game.play(state, action)
        assert game.outcome(state) == record.result


def test_a_run_gives_lines_and_a_book(tmp_path: Path, zero: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = untrained_run(tmp_path / "four", steps=(0,))
    record_games(run, number=40)
    assert zero("book", "lines.txt", "four", "--plies", "1").status == 0
    firsts = Counter(record.moves[0].text for record in games_of(run) if len(record.moves) > 1)
    expected = sorted(((-number, text) for text, number in firsts.items() if number > 1))
    assert Path("lines.txt").read_text(encoding="utf-8").split() == [text for _, text in expected]
    assert zero("book", "four.bin", "four").status == 2, "not chess"
    answer = zero("book", "lines.txt", str(tmp_path))
    assert answer.status == 2 and "is not a run" in answer.err


def test_a_run_of_chess_gives_a_book(tmp_path: Path, zero: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Self-play itself: the weights are the half points of the movers, without random moves."""
    monkeypatch.chdir(tmp_path)
    train_a_little("chess(max_plies=40)", tmp_path / "run")
    answer = zero("book", "own.bin", "run", "--plies", "40", "--least-games", "1")
    assert answer.status == 0, answer.err
    points, num_given = 0, 0
    for record in games_of(tmp_path / "run", "chess(max_plies=40)"):
        assert record.result is not None
        num_given += record.opening_plies
        for ply in range(record.opening_plies, len(record.moves)):
            points += 1 + round(record.result if ply % 2 == 0 else -record.result)
    content = Path("own.bin").read_bytes()
    weights = [int.from_bytes(content[at + 10 : at + 12], "big") for at in range(0, len(content), 16)]
    assert sum(weights) == points > 0
    assert num_given > 0, "the preset opens some games at random"
