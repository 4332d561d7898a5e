"""The record of a game: moves with comments, clocks and variations, independent of game and file format.

A line is a sequence of moves. A variation is attached to the move that it follows:

    1. e4 e5 (1... c5 2. Nf3) 2. Nf3        record.moves               e4   e5   Nf3
                                                                       └─ variations: (c5 Nf3,)

Alternatives to the first move are attached to the record itself, and variations can continue a line after its last move
(as in KIF after a resignation). The file formats are in `pgn.py`, `sgf.py`, `kif.py` and `csa.py`; `legality.py` checks
a record by the rules of its game.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from zerosum.base.errors import GameError

MAX_DEPTH = 60
"""Largest depth of nested variations, so that recursion through a record is safe."""


class RecordError(GameError):
    """A record is illegal or malformed, or cannot be expressed in a format."""

    def __init__(self, message: str, *, record: Record | None = None) -> None:
        super().__init__(message)
        self.record = record
        """The readable part of the record, if any."""


def _require_time(name: str, seconds: float | None) -> None:
    if seconds is not None and not 0 <= seconds < math.inf:
        raise RecordError(f"{name} is {seconds}, expected seconds from 0, or None.")


@dataclass(frozen=True)
class Evaluation:
    """An engine's evaluation of the position after a move, for the first player."""

    pawns: float | None = None
    """Score in pawns; None for a mate."""
    mate: int | None = None
    """Moves to mate: the first player mates if it is positive, the second if negative, 0 is mate on the board."""
    depth: int | None = None
    """Depth of the search in plies."""

    def __post_init__(self) -> None:
        if (self.pawns is None) == (self.mate is None) or not math.isfinite(self.pawns or 0):
            raise RecordError(f"an evaluation of {self.pawns} pawns and mate in {self.mate}: expected one of the two.")


@dataclass(frozen=True, slots=True)
class Move:
    """A move with its annotations."""

    text: str
    """The move in the game's own notation (UCI, USI, GTP); after parsing alone, in the file's notation."""
    comments_before: tuple[str, ...] = ()
    """Comments before the first move of a variation; () for all other moves."""
    comments: tuple[str, ...] = ()
    """Comments after the move; lines are separated by "\\n"."""
    nags: tuple[int, ...] = ()
    """Numeric annotation glyphs of the PGN standard: 1 is !, 2 is ?, 3 !!, 4 ??, 5 !?, 6 ?!."""
    clock_s: float | None = None
    """Seconds that the mover has left after the move."""
    spent_s: float | None = None
    """Seconds that the mover took for the move."""
    evaluation: Evaluation | None = None
    """Evaluation by an engine."""
    properties: tuple[tuple[str, str], ...] = ()
    """(name, value) of annotations that only the record's format has (SGF's markup)."""
    ending: str = ""
    """Ending of a variation with this move, in the words of `Record.ending`; "" if none."""
    variations: tuple[tuple[Move, ...], ...] = ()
    """Variations after this move; none is empty."""
    line: int = field(default=0, compare=False, repr=False)
    """Line number in the file, from 1; 0 for a move that was not read."""

    def __post_init__(self) -> None:
        if self.clock_s is not None or self.spent_s is not None:
            _require_time("clock_s", self.clock_s)
            _require_time("spent_s", self.spent_s)

    def with_text(self, text: str) -> Move:
        """The same move in another notation, with its annotations."""
        if self.text == text:
            return self
        if self.is_bare:
            return Move(text, line=self.line)
        return dataclasses.replace(self, text=text)

    @property
    def is_bare(self) -> bool:
        """Whether the move has no annotation and no variation."""
        said = self.comments or self.comments_before or self.nags or self.properties or self.variations or self.ending
        return not said and self.clock_s is None and self.spent_s is None and self.evaluation is None


EMPTY: dict[str, Any] = {entry.name: entry.default for entry in dataclasses.fields(Move) if entry.name != "text"}
"""The values of a move's fields without annotations."""


@dataclass(frozen=True)
class Record:
    """A game with all data of its file."""

    game: str = ""
    """The game's name with options, such as `go(size=9, komi=5.5)`; "" for an unknown game (see `errors`)."""
    moves: tuple[Move, ...] = ()
    """The main line."""
    headers: tuple[tuple[str, str], ...] = ()
    """(name, value) in the file's order, with names of `format` (see `headers_in`); names may repeat.

    Headers with the data of other fields (game, start, result, ending) are left out.
    """
    start: str = ""
    """The starting position in the game's notation; "" for the initial one."""
    comments: tuple[str, ...] = ()
    """Comments before the first move."""
    properties: tuple[tuple[str, str], ...] = ()
    """Properties of the starting position, like those of a move."""
    variations: tuple[tuple[Move, ...], ...] = ()
    """Variations that replace the first move."""
    result: float | None = None
    """The first player's result in [-1, 1]: 1 won, 0 drawn; None if the game is not over or it is unknown."""
    ending: str = ""
    """Kind of ending: a word of `ENDINGS`, the margin in Go ("3.5 points"), or the file's word; "" if unknown."""
    opening_plies: int = 0
    """Number of moves that were given to the players; 0 if unknown. Only files of matches (`.jsonl`) say it."""
    ending_spent_s: float | None = None
    """Seconds that the player to move took before the game ended without a move."""
    format: str = ""
    """Format of the file: "pgn", "sgf", "kif" or "csa"; "" for a record that was not read from one of these."""
    errors: tuple[str, ...] = ()
    """Errors in the game or its main line, each with the line number and the expectation. `moves` ends before the first
    illegal move."""
    warnings: tuple[str, ...] = field(default=(), compare=False)
    """Faults that do not affect `moves`: line and word of the file, and how it was read or what was left out."""
    line: int = field(default=0, compare=False, repr=False)
    """Line number of the record's beginning in the file, from 1."""
    file: str = field(default="", compare=False, repr=False)
    """The path of the file; "" if it has none."""

    def __post_init__(self) -> None:
        _require_time("ending_spent_s", self.ending_spent_s)

    def header(self, name: str, default: str = "") -> str:
        """The first value of a header, by its name in the format or in `HEADER_NAMES`."""
        names = [*HEADER_NAMES.get(name, {}).get(self.format, ()), name]
        return next((value for own in names for found, value in self.headers if found == own), default)

    @property
    def players(self) -> tuple[str, str]:
        """Names of the first and the second player (Black moves first in Go and shogi); "" if not known."""
        return self.header("first player"), self.header("second player")

    def lines(self) -> Iterator[tuple[tuple[Move, ...], tuple[Move, ...]]]:
        """(moves before it, line) for the main line and every variation, nested ones after their parents."""
        ahead = deque[tuple[tuple[Move, ...], tuple[Move, ...]]]()
        ahead.extend(((), line) for line in (self.moves, *self.variations))
        while ahead:
            before, line = ahead.popleft()
            yield before, line
            for number, move in enumerate(line, start=1):
                ahead.extend(((*before, *line[:number]), variation) for variation in move.variations)

    def without(self, *names: str) -> Record:
        """The record with these fields of its moves empty: `record.without("variations", "nags")`."""

        def strip(line: tuple[Move, ...]) -> tuple[Move, ...]:
            return tuple(
                dataclasses.replace(
                    move,
                    **{"variations": tuple(map(strip, move.variations)), **{name: EMPTY[name] for name in names}},
                )
                for move in line
            )

        variations = () if "variations" in names else tuple(map(strip, self.variations))
        return dataclasses.replace(self, moves=strip(self.moves), variations=variations)

    def checked(self) -> Record:
        """The record, if it has no errors.

        Raises:
            RecordError: it has errors.
        """
        if self.errors:
            raise RecordError(self.errors[0], record=self)
        return self

    def sound_part(self) -> Record:
        """The undamaged part of the record: errors become warnings, and the ending is removed.

        Raises:
            RecordError: no move of the game is known.
        """
        if not self.errors:
            return self
        if not self.moves:
            self.checked()
        # KIF and CSA express a result by its ending alone.
        result = None if self.format in ("kif", "csa") else self.result
        return dataclasses.replace(
            self, errors=(), warnings=(*self.warnings, *self.errors), result=result, ending="", ending_spent_s=None
        )


HEADER_NAMES: dict[str, dict[str, tuple[str, ...]]] = {
    "first player": {"pgn": ("White",), "sgf": ("PB",), "kif": ("先手", "下手"), "csa": ("N+",)},
    "second player": {"pgn": ("Black",), "sgf": ("PW",), "kif": ("後手", "上手"), "csa": ("N-",)},
    "event": {"pgn": ("Event",), "sgf": ("EV",), "kif": ("棋戦",), "csa": ("EVENT",)},
    "site": {"pgn": ("Site",), "sgf": ("PC",), "kif": ("場所",), "csa": ("SITE",)},
    "date": {"pgn": ("Date",), "sgf": ("DT",), "kif": ("開始日時", "対局日"), "csa": ("START_TIME",)},
    "round": {"pgn": ("Round",), "sgf": ("RO",)},
}
"""Headers of several formats, with the names in each; the first is written."""

ENDINGS: dict[str, float | None] = {
    "resignation": -1.0,
    "time": -1.0,
    "checkmate": -1.0,
    "no legal move": -1.0,
    "illegal move": -1.0,
    "forfeit": -1.0,
    "declaration": 1.0,
    "opponent's illegal move": 1.0,
    "opponent's forfeit": 1.0,
    "fourfold repetition": 0.0,
    "impasse": 0.0,
    "ply cap": 0.0,
    "agreement": 0.0,
    "interrupted": None,
    "abandoned": None,
    "no checkmate": None,
    "taken back": None,
    "error": None,
}
"""Words for endings, with the result of each for the player to move, unless a format has another one."""


def result_of(ending: str, *, is_first: bool) -> float | None:
    """The first player's result by an ending, `is_first` if that player is to move; None if it does not decide."""
    result = ENDINGS.get(ending)
    return result if is_first or not result else -result


def require_result(record: Record, format: str, *, is_first: bool) -> None:
    """Compare a record's result with its ending, for a format that has only the ending.

    Raises:
        RecordError: the ending means another result, which the message names.
    """
    if record.result != (expected := result_of(record.ending, is_first=is_first)):
        raise RecordError(
            f"the result {record.result} by {record.ending}: {format} takes it for {expected}.", record=record
        )


def headers_in(record: Record, format: str) -> list[tuple[str, str]]:
    """A record's headers with the names of a format. Headers of another format are limited to `HEADER_NAMES`.

    A record that was not read may have names of `HEADER_NAMES` or of the format.
    """
    if record.format == format:
        return list(record.headers)
    if not record.format:
        return [(HEADER_NAMES.get(name, {}).get(format, (name,))[0], value) for name, value in record.headers]
    found = [(names.get(format, ("",))[0], record.header(name)) for name, names in HEADER_NAMES.items()]
    return [(name, value) for name, value in found if name and value]


def refuse(record: Record, format: str, *names: str) -> None:
    """Check that a format can express the moves of a record.

    Raises:
        RecordError: one of the named fields of a move is not empty.
    """
    lines = deque((record.moves, *record.variations))
    while lines:
        for move in lines.popleft():
            lines.extend(move.variations)
            for name in () if move.is_bare else names:
                if getattr(move, name) != EMPTY[name]:
                    raise RecordError(
                        f"{move.text}: {format} has no words for {name}. Leave it out: record.without({name!r}).",
                        record=record,
                    )


class Draft:
    """A move during reading, or the place before a record's first move (with `text` "").

    Its lists are made when something asks for them: most moves have nothing but their text.
    """

    __slots__ = ("clock_s", "ending", "evaluation", "line", "lists", "spent_s", "text")

    def __init__(self, text: str = "", line: int = 0, *, spent_s: float | None = None) -> None:
        self.text, self.line, self.ending = text, line, ""
        self.clock_s: float | None = None
        self.spent_s = spent_s
        self.evaluation: Evaluation | None = None
        self.lists: dict[str, list[Any]] | None = None

    def _list(self, name: str) -> list[Any]:
        if self.lists is None:
            self.lists = {}
        return self.lists.setdefault(name, [])

    @property
    def comments_before(self) -> list[str]:
        """As `Move.comments_before`."""
        return self._list("comments_before")

    @property
    def comments(self) -> list[str]:
        """As `Move.comments`."""
        return self._list("comments")

    @property
    def nags(self) -> list[int]:
        """As `Move.nags`."""
        return self._list("nags")

    @property
    def properties(self) -> list[tuple[str, str]]:
        """As `Move.properties`."""
        return self._list("properties")

    @property
    def variations(self) -> list[list[Draft] | tuple[Move, ...]]:
        """As `Move.variations`, finished or not; empty ones are left out at the end."""
        return self._list("variations")

    def place_comments_before(self) -> None:
        """Make its comments those before the first move of a variation."""
        if self.lists is not None and (comments := self.lists.pop("comments", None)):
            self.comments_before.extend(comments)

    def finish(self) -> Move:
        """The move, with its variations."""
        if self.lists is None and self.clock_s is None and self.spent_s is None and not self.ending:
            return Move(self.text, evaluation=self.evaluation, line=self.line)
        return Move(
            self.text,
            comments_before=tuple(self.comments_before),
            comments=tuple(self.comments),
            nags=tuple(self.nags),
            clock_s=self.clock_s,
            spent_s=self.spent_s,
            evaluation=self.evaluation,
            properties=tuple(self.properties),
            ending=self.ending,
            variations=self.finish_variations(),
            line=self.line,
        )

    def finish_variations(self) -> tuple[tuple[Move, ...], ...]:
        """The variations from here, without empty ones."""
        lines = (self.lists or {}).get("variations", ())
        return tuple(line if isinstance(line, tuple) else finished(line) for line in lines if line)


def finished(line: list[Draft]) -> tuple[Move, ...]:
    """The moves of a line, which is empty afterwards: a long game does not need the memory of both."""
    line.reverse()
    moves = []
    while line:
        moves.append(line.pop().finish())
    return tuple(moves)


def one_line(text: str) -> str:
    """A text in one line, for formats whose values end with the line."""
    return re.sub(r"[\r\n]+", " ", text)


def clock_text(seconds: float) -> str:
    """Hours, minutes and seconds, `0:02:59.5`; with thousandths if necessary."""
    minutes, milliseconds = divmod(round(seconds * 1000), 60_000)
    whole, rest = divmod(milliseconds, 1000)
    return f"{minutes // 60}:{minutes % 60:02}:{whole:02}" + (f".{rest:03}".rstrip("0") if rest else "")
