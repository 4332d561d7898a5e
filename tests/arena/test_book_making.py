"""Books made of games: counts, weights, castling, and what is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands_for_tests import Command
from zerosum.arena.book_making import MOST_WEIGHT, BookOfGames
from zerosum.notation import read_games
from zerosum.notation.polyglot import position_key, read_book

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
