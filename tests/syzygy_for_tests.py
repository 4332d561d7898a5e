"""Syzygy tables for tests: real ones where `make oracles` or ZEROSUM_SYZYGY has put them, and tiny ones of our own."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

PLACE = Path(os.environ.get("ZEROSUM_SYZYGY") or Path(__file__).resolve().parents[1] / "target" / "syzygy")
"""The tables of three and four men, as python-chess's source package has them."""
needs_tables = pytest.mark.skipif(not any(PLACE.glob("*.rtbw")), reason=f"no Syzygy tables in {PLACE}: make oracles")

MAGIC = {".rtbw": bytes([0x71, 0xE8, 0x23, 0x5D]), ".rtbz": bytes([0xD7, 0x66, 0x0C, 0xA5])}
KINDS = "PNBRQK"


def constant_file(name: str, ending: str, value: int) -> bytes:
    """A table whose positions all have one value: 0 to 4 from loss to win in .rtbw; in .rtbz the distance is 1."""
    first, second = name.split("v")
    # Kings come together where no other piece is alone; here the order of the name does for all.
    pieces = [KINDS.index(letter) + 1 for letter in first] + [KINDS.index(letter) + 9 for letter in second]
    pieces.sort(key=lambda piece: piece & 7 != 1)
    order = bytes([0, *pieces])
    num_files = 4 if "P" in name else 1
    parts = order * num_files
    parts += bytes((5 + len(parts)) % 2)
    codes = bytes([0x80, value]) * num_files
    content = MAGIC[ending] + bytes([0]) + parts + codes
    return content + bytes(-len(content) % 64) + bytes(16)


def random_fen(rng: random.Random, name: str) -> str:
    """A legal position of an ending, either colour having the first side's men, with a legal move."""
    chess = pytest.importorskip("chess")
    while True:
        board = chess.Board(None)
        first, second = name.split("v")
        squares = rng.sample(range(64), len(first) + len(second))
        men = [*first, *second.lower()]
        for square, man in zip(squares, men, strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(man))
        if board.pawns & chess.BB_BACKRANKS:
            continue
        board.turn = rng.random() < 0.5
        if rng.random() < 0.5:
            board = board.mirror()
        if name.count("P") == 2 and "P" in first and "P" in second and rng.random() < 0.3:
            _add_en_passant(rng, board)
        if board.is_valid() and any(board.legal_moves):
            return str(board.fen(en_passant="fen"))


def _add_en_passant(rng: random.Random, board: object) -> None:
    """Put the two pawns beside each other, as after a double step, if the squares are free."""
    import chess

    assert isinstance(board, chess.Board)
    rank, behind = (4, 5) if board.turn else (3, 2)
    file = rng.randrange(7)
    own, other = rng.sample((file, file + 1), 2)
    before = board.copy()
    for square in board.pieces(chess.PAWN, chess.WHITE) | board.pieces(chess.PAWN, chess.BLACK):
        board.remove_piece_at(square)
    for taken_file, color in ((own, board.turn), (other, not board.turn)):
        board.set_piece_at(chess.square(taken_file, rank), chess.Piece(chess.PAWN, color))
    board.ep_square = chess.square(other, behind)
    if len(board.piece_map()) != len(before.piece_map()) or not board.is_valid():
        board.set_fen(before.fen())
