"""Polyglot books: the keys that the format's description publishes, python-chess as the oracle, damage."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from books_for_tests import PUBLISHED, book_file
from zerosum.base.errors import DataError
from zerosum.games import make, parse_action, state_after
from zerosum.notation.polyglot import BookMove, position_key, random_numbers, read_book

GAME = make("chess")
START = GAME.position_text(GAME.initial_state()) or ""


# The test positions of the format's description, by the moves that lead there.
def test_there_are_781_numbers_all_different() -> None:
    assert len(set(random_numbers())) == len(random_numbers()) == 781


@pytest.mark.parametrize(("moves", "key"), PUBLISHED.items())
def test_published_keys(moves: str, key: int) -> None:
    fen = GAME.position_text(state_after(GAME, moves)) or ""
    assert position_key(fen) == key
    assert position_key(fen, last_move=(moves.split() or [""])[-1]) == key


def test_a_pinned_pawn_counts_for_en_passant_though_the_fen_leaves_its_square_out() -> None:
    state = state_after(GAME, "e2e4", position="8/8/8/8/R2p3k/8/4P3/4K3 w - - 0 1")
    fen = GAME.position_text(state) or ""
    assert fen.split()[3] == "-"
    assert position_key(fen, last_move="e2e4") == position_key("8/8/8/8/R2pP2k/8/8/4K3 b - e3 0 1")
    assert position_key(fen, last_move="e2e4") != position_key(fen)
    # A rook's move over the same squares is not a double step.
    assert position_key("8/8/8/8/3pR2k/8/8/4K3 b - - 0 1", last_move="e2e4") == position_key(
        "8/8/8/8/3pR2k/8/8/4K3 b - - 0 1"
    )


def test_keys_of_random_games_are_those_of_python_chess() -> None:
    chess = pytest.importorskip("chess", exc_type=ImportError)
    polyglot = pytest.importorskip("chess.polyglot", exc_type=ImportError)
    generator = random.Random(1)
    num_en_passant = 0
    for _ in range(40):
        state, board, move = GAME.initial_state(), chess.Board(), ""
        while (legal := GAME.legal_actions(state)) and state.plies < 60:
            fen = GAME.position_text(state) or ""
            assert position_key(fen, last_move=move) == polyglot.zobrist_hash(board), board.fen()
            num_en_passant += board.has_pseudo_legal_en_passant()
            action = generator.choice(legal)
            move = GAME.action_text(state, action)
            state = GAME.play(state, action)
            board.push_uci(move)
    assert num_en_passant > 5


def test_moves_of_a_position(tmp_path: Path) -> None:
    other = PUBLISHED["e2e4"]
    path = book_file(
        tmp_path / "a.bin",
        (7, "a2a3", 1),
        (PUBLISHED[""], "e2e4", 3),
        (PUBLISHED[""], "d2d4", 0),
        (other, "e7e8q", 1),
        (other, "a2b1n", 2),
    )
    book = read_book(path)
    assert len(book) == 5
    assert book.moves(START) == (BookMove("e2e4", weight=3, entry=2), BookMove("d2d4", weight=0, entry=3))
    after = GAME.position_text(state_after(GAME, "e4")) or ""
    assert [move.text for move in book.moves(after)] == ["e7e8q", "a2b1n"]
    assert book.moves(GAME.position_text(state_after(GAME, "d4")) or "") == ()


@pytest.mark.parametrize(("move", "written"), [("e1h1", "O-O"), ("e1a1", "O-O-O")])
def test_castling_is_the_king_to_its_rook(tmp_path: Path, move: str, written: str) -> None:
    fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    book = read_book(book_file(tmp_path / "a.bin", (position_key(fen), move, 1)))
    state = GAME.parse_position(fen)
    assert parse_action(GAME, state, book.moves(fen)[0].text) == parse_action(GAME, state, written)


def test_a_book_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    with pytest.raises(DataError, match=r"a\.bin cannot be read: No such file"):
        read_book(path)
    for content in (b"", b"x" * 17):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"bytes: a Polyglot book has 16 for each entry"):
            read_book(path)
    book_file(path, (5, "e2e4", 1), (7, "e2e4", 1), (6, "e2e4", 1))
    with pytest.raises(DataError, match=r"a\.bin, entry 3: its key is smaller than the one before"):
        read_book(path)
