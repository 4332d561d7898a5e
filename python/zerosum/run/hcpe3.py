"""HCPE3, dlshogi's training data for shogi: games with the evaluations and the visits of each search.

A file is a sequence of games, without a header, in little-endian order:

    32 bytes  starting position (HCP): 256 bits, see `position_of`
    u16       number of moves
    u8        bits 0 and 1: 0 drawn, 1 Black won, 2 White won; then fourfold repetition, declaration, ply cap
    u8        opponent; not read
    then for each move:
    u16       move that was played: bits 0 to 6 target square, bits 7 to 13 square of origin, or 80 + piece for a drop;
              bit 14 promotion
    i16       evaluation in centipawns before the move, for the mover; ±30,000 for a mate
    u16       number of candidates; 0 for a move without a search of its own, which nothing is learned from
    then for each candidate: u16 move, u16 visits

Squares count down the files from 1a: square = 9 * (file - 1) + rank - 1. A record has the moves in USI. The evaluation
and the visits are the properties `EVALUATION` and `VISITS` of a move.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping

from zerosum.base.errors import GameError
from zerosum.games import Rules, State
from zerosum.notation import Move, Record
from zerosum.notation.shogi_position import START, ShogiPosition, Square

FORMAT = "hcpe3"
"""The format's name, which is the suffix of its files, too."""
EVALUATION = "eval"
"""Property of a move: centipawns before it, for its mover."""
VISITS = "visits"
"""Property of a move: the candidates of its search, `7g7f:90 2g2f:10`; empty for a move without a search."""

HEADER = struct.Struct("<32sHBB")
MOVE = struct.Struct("<HhH")
CANDIDATE = struct.Struct("<HH")
DROPS = "PLNSBRG"
"""Pieces in the order of their numbers in drops, from 1."""
ON_BOARD = {"10": "P", "1100": "L", "1110": "N", "1101": "S", "11110": "G", "111110": "B", "111111": "R"}
"""Pieces by their bits in the file's order. The owner (1 is White) and, except for gold, promotion follow."""
IN_HAND = {"00": "P", "1000": "L", "1100": "N", "1010": "S", "1110": "G", "111110": "B", "111111": "R"}
"""Pieces in hand by their bits. The owner follows."""
ENDINGS = ((4, "fourfold repetition"), (8, "declaration"), (16, "ply cap"))
"""Bits of the result, and the endings in the words of `Record.ending`."""


def parse(chunks: Iterable[bytes]) -> Iterator[Record]:
    """The games of a file, given in pieces; a damaged game has an error, and is the last one."""
    reader, number = _Reader(chunks), 0
    while head := reader.take(HEADER.size):
        number += 1
        try:
            yield _game(head, reader, number)
        except _DamagedError as error:
            yield Record("shogi", format=FORMAT, errors=(str(error),), line=number)
            return


class _DamagedError(Exception):
    """Damage of a game, as a sentence."""


class _Reader:
    """Takes bytes from pieces."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self.chunks, self.rest = iter(chunks), b""

    def take(self, size: int) -> bytes:
        """The next bytes; fewer at the end."""
        while len(self.rest) < size and (piece := next(self.chunks, b"")):
            self.rest += piece
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def unpack(self, form: struct.Struct) -> tuple[int, ...]:
        """The next numbers. Raises `_DamagedError` at the end of the file."""
        if len(taken := self.take(form.size)) < form.size:
            raise _DamagedError("the file ends within the game")
        return form.unpack(taken)


def _game(head: bytes, reader: _Reader, number: int) -> Record:
    if len(head) < HEADER.size:
        raise _DamagedError("the file ends within the game")
    packed, num_moves, result, _opponent = HEADER.unpack(head)
    if result & 3 == 3:
        raise _DamagedError("the result is 3, expected 0 to 2; is this an HCPE3 file?")
    position = position_of(packed)
    moves = tuple(_move(reader) for _ in range(num_moves))
    sfen = position.sfen()
    return Record(
        "shogi",
        moves,
        start="" if sfen == START else sfen,
        result=(0.0, 1.0, -1.0)[result & 3],
        ending=next((ending for bit, ending in ENDINGS if result & bit), ""),
        format=FORMAT,
        line=number,
    )


def _move(reader: _Reader) -> Move:
    played, centipawns, num_candidates = reader.unpack(MOVE)
    found = [reader.unpack(CANDIDATE) for _ in range(num_candidates)]
    visits = " ".join(f"{_usi(move)}:{count}" for move, count in found)
    return Move(_usi(played), properties=((EVALUATION, str(centipawns)), (VISITS, visits)))


def shares_of(visits: str, state: State, game: Rules) -> dict[int, float]:
    """Each candidate's share of the visits (the property `VISITS`), by its action; empty for a move without a search.

    Raises:
        GameError: a candidate is illegal.
    """
    counts = {}
    for candidate in visits.split():
        text, _, count = candidate.partition(":")
        if (action := game.parse_action(state, text)) is None:
            raise GameError(f"the candidate {text} is not legal")
        counts[action] = int(count)
    total = sum(counts.values())
    return {action: count / total for action, count in counts.items() if count}


def _usi(move: int) -> str:
    to, origin = move & 0x7F, move >> 7 & 0x7F
    if to > 80 or origin > 80 + len(DROPS):
        raise _DamagedError(f"the move {move:#06x} is on no square; is this an HCPE3 file?")
    if origin > 80:
        return f"{DROPS[origin - 81]}*{_text(to)}"
    return f"{_text(origin)}{_text(to)}{'+' if move >> 14 & 1 else ''}"


def _square(number: int) -> Square:
    return number // 9 + 1, number % 9 + 1


def _text(number: int) -> str:
    file, rank = _square(number)
    return f"{file}{'abcdefghi'[rank - 1]}"


def position_of(packed: bytes) -> ShogiPosition:
    """The position of an HCP: the side to move, the squares of both kings, the other squares, the hands.

    Args:
        packed: 32 bytes; the lowest bit of each is the first one.

    Raises:
        _DamagedError: the bits are not a position.
    """
    bits = _Bits(packed)
    position = ShogiPosition(is_black=not bits.take(1))
    for is_black in (True, False):
        if (king := bits.take(7)) > 80:
            raise _DamagedError(f"a king is on square {king}, expected 0 to 80; is this an HCPE3 file?")
        position.board[_square(king)] = (is_black, "K")
    for square in map(_square, range(81)):
        if square not in position.board and bits.take(1):
            piece, is_white = bits.piece(ON_BOARD, "1"), bits.take(1)
            is_promoted = piece != "G" and bits.take(1)
            position.board[square] = (not is_white, "+" + piece if is_promoted else piece)
    while bits.is_left:
        piece = bits.piece(IN_HAND)
        position.hands[not bits.take(1)][piece] += 1
    return position


class _Bits:
    """The bits of an HCP in their order."""

    def __init__(self, packed: bytes) -> None:
        self.left, self.size = int.from_bytes(packed, "little"), 8 * len(packed)

    @property
    def is_left(self) -> bool:
        return self.size > 0

    def take(self, size: int) -> int:
        """The number in the next bits, lowest first."""
        if size > self.size:
            raise _DamagedError("the starting position ends within a piece; is this an HCPE3 file?")
        taken, self.left = self.left & ((1 << size) - 1), self.left >> size
        self.size -= size
        return taken

    def piece(self, codes: Mapping[str, str], code: str = "") -> str:
        """The piece of the next code, which begins with the bits of `code`."""
        while code not in codes:
            if len(code) == 6:
                raise _DamagedError(f"no piece has the bits {code}; is this an HCPE3 file?")
            code += str(self.take(1))
        return codes[code]
