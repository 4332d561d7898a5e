"""CSA, the game record of computer shogi: text to records and back, without the rules of shogi.

Sources: the CSA's standards V2.2 (2008) and V3.0 (2024). A file may hold several games, separated by lines of "/".
Moves are read unchanged (`+7776FU`). Comments are lines that begin with ', which is removed; comments for programs keep
their `*`. The names of players are the headers "N+" and "N-"; other headers are written after $. The writer uses V2.2
if it suffices, else V3.0 (for fractions of seconds, or names that are not ASCII).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from zerosum.base.errors import shown
from zerosum.notation.record import (
    Draft,
    Record,
    RecordError,
    finished,
    headers_in,
    one_line,
    refuse,
    require_result,
    result_of,
)
from zerosum.notation.shogi_position import NUM_PIECES, PIECES, START, ShogiPosition

SPECIAL = {
    "%TORYO": "resignation",
    "%KACHI": "declaration",
    "%HIKIWAKE": "agreement",
    "%SENNICHITE": "fourfold repetition",
    "%JISHOGI": "impasse",
    "%MAX_MOVES": "ply cap",
    "%TIME_UP": "time",
    "%ILLEGAL_MOVE": "illegal move",
    "%TSUMI": "checkmate",
    "%FUZUMI": "no checkmate",
    "%CHUDAN": "interrupted",
    "%MATTA": "taken back",
    "%ERROR": "error",
}
"""Endings of games. %+ILLEGAL_ACTION and %-ILLEGAL_ACTION name the side that broke the rules."""

NAMES = {name: piece for piece, (_, name) in PIECES.items()}

MOVE = re.compile(r"[+-](?:00|[1-9]{2})[1-9]{2}[A-Z]{2}", re.ASCII)
TIME = re.compile(r"T(\d{1,9}(?:\.\d{1,9})?)", re.ASCII)
SEPARATOR = re.compile(r",|\s+(?=T\d)")
HEADER = re.compile(r"\$([^:]{1,40}):(.*)")
CELL = re.compile(r"\s*(?:\*|([+-])([A-Z]{2}))\s*")
SQUARES = re.compile(r"(\d)(\d)([A-Z]{2})", re.ASCII)


class _CsaError(Exception):
    """An error in a line, as a sentence."""


def parse(lines: Iterable[str]) -> Iterator[Record]:
    """The games of a file, one at a time. Errors of a game are in its `errors`; reading continues."""
    reader = _GameReader()
    for number, line in enumerate(lines, start=1):
        text = line.rstrip("\r\n")
        if text.strip() == "/":
            if reader.has_content:
                yield reader.finish()
            reader = _GameReader()
            continue
        text = text.lstrip()
        if not text or reader.errors:
            continue
        reader.line = reader.line or number
        # Several statements may share a line, but texts have commas of their own.
        statements = [text] if text[0] in "'N$" else SEPARATOR.split(text)
        for statement in filter(None, map(str.lstrip, statements)):
            try:
                reader.read(statement, number)
            except _CsaError as error:
                reader.errors.append(f"line {number}: {error}; the record stops here")
                break
    if reader.has_content:
        yield reader.finish()


class _GameReader:
    """One game, statement by statement."""

    def __init__(self) -> None:
        self.line = 0
        self.headers: list[tuple[str, str]] = []
        self.position = ShogiPosition()
        self.takes_rest: bool | None = None
        """Whether Black (True) or White holds all remaining pieces (AL); None if nobody does."""
        self.has_turn = self.has_position = self.has_content = False
        self.root = Draft()
        self.moves: list[Draft] = []
        self.ending = ""
        self.spent_s: float | None = None
        self.errors: list[str] = []
        self.warnings: list[str] = []

    def warn(self, number: int, what: str) -> None:
        self.warnings.append(f"line {number}: {what}")

    def read(self, text: str, number: int) -> None:
        # A row of the board may end in empty squares that are blanks.
        text = text if re.match(r"P[1-9]", text) else text.rstrip()
        if text.startswith("'"):
            if self.has_content or not text.startswith("'CSA encoding="):
                self.has_content = True
                (self.moves[-1] if self.moves else self.root).comments.append(text[1:])
            return
        if text.startswith("V") and not self.has_content:
            self.has_content = True
            if text not in ("V2", "V2.1", "V2.2", "V3", "V3.0"):
                self.warn(number, f"the version {shown(text)} is unknown: it is read as V3.0")
            return
        self.has_content = True
        if text.startswith(("N+", "N-")):
            self.headers.append((text[:2], text[2:].strip()))
        elif found := HEADER.fullmatch(text):
            self.headers.append((found[1], found[2].strip()))
        elif text.startswith("P"):
            self._require_start(text)
            self._read_pieces(text)
        elif text in ("+", "-"):
            self._require_start(text)
            self.position.is_black, self.has_turn = text == "+", True
        elif MOVE.fullmatch(text):
            self._require_turn(text)
            self.moves.append(Draft(text, number))
        elif text.startswith("%"):
            self._require_turn(text)
            self._end(text, number)
        elif found := TIME.fullmatch(text):
            self._read_time(text, float(found[1]), number)
        else:
            raise _CsaError(f"{shown(text)} is not part of CSA: expected a move such as +7776FU, or %TORYO")

    def _require_start(self, what: str) -> None:
        if self.moves or self.ending or self.has_turn:
            raise _CsaError(f"{shown(what)} after the start position: expected a move")

    def _require_turn(self, what: str) -> None:
        if not self.has_turn:
            raise _CsaError(f"{shown(what)} before the side to move: expected a line + or - above it")
        if self.ending:
            raise _CsaError(f"{shown(what)} after the game's end")

    def _read_time(self, text: str, seconds: float, number: int) -> None:
        if self.ending and self.spent_s is None:
            self.spent_s = seconds
        elif self.moves and not self.ending and self.moves[-1].spent_s is None:
            self.moves[-1].spent_s = seconds
        else:
            self.warn(number, f"{shown(text)} follows no move: expected one time after each move; it is left out")

    def _end(self, text: str, number: int) -> None:
        if text in ("%+ILLEGAL_ACTION", "%-ILLEGAL_ACTION"):
            is_own = (text[1] == "+") == self.position.is_black_after(len(self.moves))
            self.ending = "illegal move" if is_own else "opponent's illegal move"
        elif text in SPECIAL:
            self.ending = SPECIAL[text]
        else:
            self.ending = text[1:] or "%"
            self.warn(number, f"{shown(text)} is not an ending: expected one of {', '.join(SPECIAL)}")

    def _read_pieces(self, text: str) -> None:
        self.has_position = True
        kind, rest = text[1:2], text[2:]
        if kind == "I":
            self.position.board = ShogiPosition.from_sfen(START).board
            for square, name in _squares(text, rest):
                if self.position.board.pop(square, (None, ""))[1] != name:
                    raise _CsaError(
                        f"{shown(text)}: no {PIECES[name][1]} stands on {square[0]}{square[1]} to be taken away"
                    )
        elif kind in ("+", "-"):
            self._put(text, rest, kind == "+")
        elif kind and kind in "123456789":
            for file, (sign, name) in zip(range(9, 0, -1), _cells(text, rest), strict=True):
                if sign:
                    self.position.board[file, int(kind)] = (sign == "+", _piece(text, name))
        else:
            raise _CsaError(f"{shown(text)}: expected PI, P1 to P9, P+ or P-")

    def _put(self, text: str, rest: str, is_black: bool) -> None:
        if rest.endswith("00AL"):
            if self.takes_rest is not None:
                raise _CsaError(f"{shown(text)}: the rest of the pieces is given away twice")
            self.takes_rest, rest = is_black, rest[:-4]
        for square, name in _squares(text, rest):
            if square == (0, 0) and name not in NUM_PIECES:
                raise _CsaError(f"{shown(text)}: no {PIECES[name][1]} can be in hand")
            if square == (0, 0):
                self.position.hands[is_black][name] += 1
            elif 0 in square or square in self.position.board:
                raise _CsaError(f"{shown(text)}: {square[0]}{square[1]} is not an empty square")
            else:
                self.position.board[square] = (is_black, name)

    def finish(self) -> Record:
        if self.takes_rest is not None:
            self.position.hands[self.takes_rest].update(self.position.missing())
        start = self.position.sfen() if self.has_position else START
        if not (self.has_position and self.has_turn) and not self.errors:
            self.errors.append(
                f"line {self.line}: a game without a position (PI, P1 to P9) and the side to move (+ or -)"
            )
        is_first = self.position.is_black_after(len(self.moves))
        return Record(
            game="shogi",
            moves=finished(self.moves),
            headers=tuple(self.headers),
            start="" if start == START else start,
            comments=tuple(self.root.comments),
            result=result_of(self.ending, is_first=is_first),
            ending=self.ending,
            ending_spent_s=self.spent_s,
            format="csa",
            errors=tuple(self.errors),
            warnings=tuple(self.warnings),
            line=self.line,
        )


def _piece(text: str, name: str) -> str:
    if name not in NAMES:
        raise _CsaError(f"{shown(text)}: {shown(name)} is not a piece, expected one of {', '.join(NAMES)}")
    return NAMES[name]


def _cells(text: str, rest: str) -> list[tuple[str, str]]:
    """The nine squares of a row; ("", "") for an empty one, which is written with a star or with blanks."""
    cells = [(found[1] or "", found[2] or "") for found in CELL.finditer(rest)]
    if len(cells) == 9 and not CELL.sub("", rest):
        return cells
    columns = [rest[at : at + 3].strip(" *") for at in range(0, 27, 3)]
    if len(rest) != 27 or not all(re.fullmatch("(?:[+-][A-Z]{2})?", cell) for cell in columns):
        raise _CsaError(f"{shown(text)}: expected nine squares such as -FU or ' * '")
    return [(cell[:1], cell[1:]) for cell in columns]


def _squares(text: str, rest: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Squares and pieces such as 82HI."""
    rest = "".join(rest.split())
    if SQUARES.sub("", rest):
        raise _CsaError(f"{shown(text)}: expected squares with pieces such as 82HI")
    for file, rank, name in SQUARES.findall(rest):
        yield (int(file), int(rank)), _piece(text, name)


# ---- writing


def write(record: Record, *, version: str | None = None) -> str:
    """A record with moves in CSA's notation (`+7776FU`) as a file.

    `version` is V2.2 or V3.0; None chooses by the record, and "" omits it, for a game after the first.

    Raises:
        RecordError: CSA cannot express a part of the record, which the message names.
    """
    refuse(record, "CSA", "nags", "clock_s", "evaluation", "comments_before", "variations", "ending")
    if record.variations:
        raise RecordError("CSA has no words for variations: record.without('variations').", record=record)
    lines = [
        f"{name if name in ('N+', 'N-') else f'${name}:'}{one_line(value)}"
        for name, value in sorted(headers_in(record, "csa"), key=lambda header: header[0] not in ("N+", "N-"))
    ]
    position = ShogiPosition.from_sfen(record.start or START)
    lines.extend(_position_lines(position))
    lines.extend(_comment_lines(record.comments))
    for move in record.moves:
        lines.append(move.text)
        lines.extend(_time_lines(move.spent_s))
        lines.extend(_comment_lines(move.comments))
    lines.extend(_end_lines(record, position.is_black_after(len(record.moves))))
    lines.extend(_time_lines(record.ending_spent_s))
    text = "\n".join(lines) + "\n"
    if version is None:
        is_new = not text.isascii() or any("." in line for line in lines if line.startswith("T"))
        version = "V3.0" if is_new else "V2.2"
    head = {"": "", "V2.2": "V2.2\n", "V3.0": "'CSA encoding=UTF-8\nV3.0\n"}
    return head[version] + text


def _position_lines(position: ShogiPosition) -> Iterator[str]:
    if position.number != 1:
        raise RecordError(f"a position before move {position.number}: CSA counts from 1.")
    if position.board == ShogiPosition.from_sfen(START).board:
        yield "PI"
    else:
        for rank in range(1, 10):
            cells = (position.board.get((file, rank)) for file in range(9, 0, -1))
            yield f"P{rank}" + "".join(
                f"{'+' if cell[0] else '-'}{PIECES[cell[1]][1]}" if cell else " * " for cell in cells
            )
    for is_black in (True, False):
        hand: Counter[str] = position.hands[is_black]
        pieces = "".join(f"00{PIECES[piece][1]}" * hand[piece] for piece in NUM_PIECES)
        if pieces:
            yield f"P{'+' if is_black else '-'}{pieces}"
    yield "+" if position.is_black else "-"


def _comment_lines(comments: Iterable[str]) -> list[str]:
    return [f"'{line}" for comment in comments for line in comment.split("\n")]


def _time_lines(seconds: float | None) -> list[str]:
    return [] if seconds is None else [f"T{seconds:.3f}".rstrip("0").rstrip(".")]


def _end_lines(record: Record, is_black: bool) -> list[str]:
    if not record.ending:
        if record.result is not None:
            raise RecordError(
                f"the result {record.result:g}: CSA expresses it by the ending, and the record's ending is empty.",
                record=record,
            )
        return []
    special = next((text for text, word in SPECIAL.items() if word == record.ending), "")
    if record.ending == "opponent's illegal move":
        special = f"%{'-' if is_black else '+'}ILLEGAL_ACTION"
    if not special:
        raise RecordError(f"the ending {record.ending!r}: CSA knows {', '.join(SPECIAL.values())}.", record=record)
    require_result(record, "CSA", is_first=is_black)
    return [special]
