"""A shogi position square by square, for conversion between SFEN, KIF and CSA, without rules."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"

PIECES = {
    "P": ("歩", "FU"),
    "L": ("香", "KY"),
    "N": ("桂", "KE"),
    "S": ("銀", "GI"),
    "G": ("金", "KI"),
    "B": ("角", "KA"),
    "R": ("飛", "HI"),
    "K": ("玉", "OU"),
    "+P": ("と", "TO"),
    "+L": ("杏", "NY"),
    "+N": ("圭", "NK"),
    "+S": ("全", "NG"),
    "+B": ("馬", "UM"),
    "+R": ("龍", "RY"),
}
"""SFEN's name of a piece: one sign of KIF, and CSA's name."""

SIGNS = {sign: piece for piece, (sign, _) in PIECES.items()}
SIGNS |= {"王": "K", "竜": "+R", "成香": "+L", "成桂": "+N", "成銀": "+S"}
"""Pieces by KIF's signs for them."""

NUM_PIECES = {"R": 2, "B": 2, "G": 4, "S": 4, "N": 4, "L": 4, "P": 18}
"""Number of pieces of each kind, in the order in which hands are written."""

DIGITS = "０１２３４５６７８９"
KANJI_DIGITS = "〇一二三四五六七八九"

Square = tuple[int, int]
"""File 1 to 9 from the right and rank 1 to 9 from the top, as shogi players count."""


def square_of(file: str, rank: str) -> Square:
    """The square of two numerals of any kind.

    >>> square_of("5", "八"), square_of("5", "8")
    ((5, 8), (5, 8))
    """
    return int(file), KANJI_DIGITS.find(rank) if rank in KANJI_DIGITS else int(rank)


@dataclass
class ShogiPosition:
    """Pieces by SFEN's names in upper case, with True for Black (who moves up the board)."""

    board: dict[Square, tuple[bool, str]] = field(default_factory=dict)
    hands: tuple[Counter[str], Counter[str]] = field(default_factory=lambda: (Counter(), Counter()))
    """The hands of White and Black, indexed by False and True."""
    is_black: bool = True
    """Whether Black is to move."""
    number: int = 1
    """Number of the next move, from 1."""

    @classmethod
    def from_sfen(cls, sfen: str) -> ShogiPosition:
        """The position of a valid SFEN."""
        rows, side, hand, number = sfen.split()
        position = cls(is_black=side == "b", number=int(number))
        for rank, row in enumerate(rows.split("/"), start=1):
            cells = re.sub(r"\d", lambda found: "." * int(found[0]), row)
            for file, cell in zip(range(9, 0, -1), re.findall(r"\+?\w|\.", cells), strict=False):
                if cell != ".":
                    position.board[file, rank] = (cell.isupper(), cell.upper())
        for count, piece in re.findall(r"(\d*)([A-Za-z])", hand):
            position.hands[piece.isupper()][piece.upper()] += int(count or 1)
        return position

    def sfen(self) -> str:
        """The position as SFEN."""
        rows = []
        for rank in range(1, 10):
            cells = (self.board.get((file, rank)) for file in range(9, 0, -1))
            row = "".join("." if cell is None else cell[1] if cell[0] else cell[1].lower() for cell in cells)
            rows.append(re.sub(r"\.+", lambda found: str(len(found[0])), row))
        hand = ""
        for is_black in (True, False):
            for piece in NUM_PIECES:
                count = self.hands[is_black][piece]
                name = piece if is_black else piece.lower()
                hand += f"{count if count > 1 else ''}{name}" if count else ""
        return f"{'/'.join(rows)} {'b' if self.is_black else 'w'} {hand or '-'} {self.number}"

    def is_black_after(self, num_moves: int) -> bool:
        """Whether Black is to move after `num_moves` moves."""
        return self.is_black == (num_moves % 2 == 0)

    def missing(self) -> Counter[str]:
        """Pieces of a set that are neither on the board nor in hand."""
        left = Counter(NUM_PIECES)
        left.subtract(piece[-1] for _, piece in self.board.values() if piece != "K")
        for hand in self.hands:
            left.subtract(hand)
        return +left
