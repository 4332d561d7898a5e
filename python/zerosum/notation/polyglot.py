"""Polyglot opening books (.bin): chess positions by their 64-bit keys, and the book's moves.

Source: M. Van den Bergh's description of the format, http://hgm.nubati.net/book_format.html. An entry has 16 bytes, the
highest byte of each number first, and entries are sorted by ascending key:

    key 8 | move 2 | weight 2 | learn 4        move: 0 ppp rrr fff RRR FFF, from rank r and file f to R and F
                                                     promoting to nothing, knight, bishop, rook, queen (0 to 4)

Positions are FENs and moves have UCI's notation; `zerosum.arena.openings` plays through a book.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import DataError

SUFFIX = ".bin"
PIECES = "pPnNbBrRqQkK"
"""Pieces in the order of the random numbers: 64 per piece, rank by rank from White's side."""
CASTLING = {"K": 768, "Q": 769, "k": 770, "q": 771}
EN_PASSANT = 772
"""Index of the random number for en passant on file a; the other files follow."""
WHITE_TO_MOVE = 780

ENTRY = np.dtype([("key", ">u8"), ("move", ">u2"), ("weight", ">u2"), ("learn", ">u4")])


@dataclass(frozen=True)
class BookMove:
    """A move that a book has for a position."""

    text: str
    """The move in UCI's notation; castling is the king's move to its own rook's square."""
    weight: int
    """Frequency relative to the other moves of the position; 0 for never."""
    entry: int
    """Number of the entry in the book, from 1."""


@functools.cache
def random_numbers() -> tuple[int, ...]:
    """The format's 781 random numbers."""
    path = resources.files("zerosum") / "data" / "polyglot-random.txt"
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(int(word, 16) for line in lines if not line.startswith("#") for word in line.split())


def position_key(fen: str, *, last_move: str = "") -> int:
    """The key of a chess position.

    Args:
        fen: The position; its first four fields count.
        last_move: The last move in UCI's notation. A FEN may name an en passant square only if the capture is legal,
            but the key includes its file whenever a pawn stands beside, even a pinned one.
    """
    placement, turn, castling, en_passant = fen.split()[:4]
    board = dict(_pieces(placement))
    numbers = random_numbers()
    key = numbers[WHITE_TO_MOVE] if turn == "w" else 0
    for square, piece in board.items():
        key ^= numbers[64 * PIECES.index(piece) + square]
    for right in castling.strip("-"):
        key ^= numbers[CASTLING[right]]
    own, rank = ("P", 4) if turn == "w" else ("p", 3)
    pushed = _double_step(last_move, board) if en_passant == "-" else 8 * rank + "abcdefgh".index(en_passant[0])
    if pushed is not None:
        file = pushed % 8
        if any(board.get(8 * rank + beside) == own for beside in (file - 1, file + 1) if 0 <= beside < 8):
            key ^= numbers[EN_PASSANT + file]
    return key


def _pieces(placement: str) -> Iterator[tuple[int, str]]:
    """(8 * rank + file, piece) of a FEN's first field."""
    for rank, row in zip(range(7, -1, -1), placement.split("/"), strict=True):
        file = 0
        for character in row:
            if character.isdigit():
                file += int(character)
            else:
                yield 8 * rank + file, character
                file += 1


def _double_step(move: str, board: dict[int, str]) -> int | None:
    """The target square of a pawn's double step; None for another move."""
    if (move[1:2] + move[3:4]) not in ("24", "75"):
        return None
    square = 8 * (int(move[3]) - 1) + "abcdefgh".index(move[2])
    return square if board.get(square) in ("P", "p") else None


class PolyglotBook:
    """A book in memory."""

    def __init__(self, name: str, entries: NDArray[Any]) -> None:
        """`entries` is [N] of `ENTRY`, by ascending key; `name` is the file's name, for messages."""
        self.name, self._entries = name, entries

    def __len__(self) -> int:
        """Number of entries."""
        return len(self._entries)

    def moves(self, fen: str, *, last_move: str = "") -> tuple[BookMove, ...]:
        """The moves of a position (see `position_key`), in the book's order; () if it is not in the book."""
        key = np.uint64(position_key(fen, last_move=last_move))
        first, last = (int(np.searchsorted(self._entries["key"], key, side)) for side in ("left", "right"))
        return tuple(
            BookMove(_move_text(int(entry["move"])), weight=int(entry["weight"]), entry=number)
            for number, entry in enumerate(self._entries[first:last], start=first + 1)
        )

    def drawn(self, fen: str, *, last_move: str = "", number: float) -> BookMove | None:
        """The move of a position that a number in [0, 1) draws by the weights; None if the book has none to play."""
        moves = [move for move in self.moves(fen, last_move=last_move) if move.weight]
        ticket = int(number * sum(move.weight for move in moves))
        for move in moves:
            ticket -= move.weight
            if ticket < 0:
                return move
        return None


def _move_text(code: int) -> str:
    to_file, to_rank, file, rank, promotion = ((code >> 3 * digit) & 7 for digit in range(5))
    return f"{'abcdefgh'[file]}{rank + 1}{'abcdefgh'[to_file]}{to_rank + 1}{' nbrq???'[promotion].strip()}"


def _move_code(text: str) -> int:
    file, rank, to_file, to_rank = (ord(text[0]) - 97, int(text[1]) - 1, ord(text[2]) - 97, int(text[3]) - 1)
    return to_file | to_rank << 3 | file << 6 | rank << 9 | " nbrq".index(text[4:] or " ") << 12


def book_content(weights: Mapping[int, Mapping[str, int]]) -> bytes:
    """The file of a book: moves and weights of each key, sorted by key and then by falling weight.

    >>> len(book_content({7: {"e2e4": 3, "d2d4": 1}}))
    32
    """
    entries = np.zeros(sum(map(len, weights.values())), ENTRY)
    number = 0
    for key in sorted(weights):
        for text, weight in sorted(weights[key].items(), key=lambda move: -move[1]):
            entries[number] = (key, _move_code(text), weight, 0)
            number += 1
    return entries.tobytes()


def read_book(path: str | os.PathLike[str]) -> PolyglotBook:
    """A book from its file.

    Raises:
        DataError: the file cannot be read, or is not a Polyglot book.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
    if not content or len(content) % ENTRY.itemsize:
        raise DataError(
            f"{path} has {len(content):,} bytes: a Polyglot book has 16 for each entry. Copy the file again."
        )
    entries = np.frombuffer(content, ENTRY).astype(ENTRY.newbyteorder("="))
    falls = np.flatnonzero(entries["key"][1:] < entries["key"][:-1])
    if len(falls):
        raise DataError(
            f"{path}, entry {falls[0] + 2}: its key is smaller than the one before, and a Polyglot book is sorted by"
            " key. It is damaged, or in another format."
        )
    return PolyglotBook(str(path), entries)
