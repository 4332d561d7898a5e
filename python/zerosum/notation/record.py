"""A game as people record it: moves with comments, clocks and variations. It knows no game and no file format.

A line is a sequence of moves. Where a line is left for another one, the other one hangs at the move it follows:

    1. e4 e5 (1... c5 2. Nf3) 2. Nf3        record.moves               e4   e5   Nf3
                                                                       └─ variations: (c5 Nf3,)

so what could have been played instead of the first move hangs at the record itself, and a line can be continued in
variations after its last move (as KIF does after a resignation). The file formats stand beside this one (`pgn.py`,
`sgf.py`, `kif.py`, `csa.py`); `legality.py` holds a record against the rules of its game.
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
"""How deep variations may lie in variations: what is made of a record may walk it by recursion."""


class RecordError(GameError):
    """A record that is illegal or malformed, or that a format cannot say."""

    def __init__(self, message: str, *, record: Record | None = None) -> None:
        super().__init__(message)
        self.record = record
        """What there is of the record, if anything."""


def _require_time(name: str, seconds: float | None) -> None:
    if seconds is not None and not 0 <= seconds < math.inf:
        raise RecordError(f"{name} is {seconds}, expected seconds from 0, or None.")


@dataclass(frozen=True)
class Evaluation:
    """What an engine thought of the position after a move, seen from the first player, whoever is to move."""

    pawns: float | None = None
    """Score in pawns, or None where a mate was found."""
    mate: int | None = None
    """Moves to mate: the first player mates if it is positive, the second if negative, 0 is mate on the board."""
    depth: int | None = None
    """Plies it was searched."""

    def __post_init__(self) -> None:
        if (self.pawns is None) == (self.mate is None) or not math.isfinite(self.pawns or 0):
            raise RecordError(f"an evaluation of {self.pawns} pawns and mate in {self.mate}: expected one of the two.")


@dataclass(frozen=True)
class Move:
    """A move with what was said of it."""

    text: str
    """The move in the game's own notation (UCI, USI, GTP); from a parser alone as the file has it."""
    comments_before: tuple[str, ...] = ()
    """Said before the first move of a variation; () for every other move."""
    comments: tuple[str, ...] = ()
    """Said after the move; lines are separated by "\\n"."""
    nags: tuple[int, ...] = ()
    """Numeric annotation glyphs of the PGN standard: 1 is !, 2 is ?, 3 !!, 4 ??, 5 !?, 6 ?!."""
    clock_s: float | None = None
    """Seconds that the mover has left after the move."""
    spent_s: float | None = None
    """Seconds that the mover took for the move."""
    evaluation: Evaluation | None = None
    """An engine's."""
    properties: tuple[tuple[str, str], ...] = ()
    """(name, value) of what only the record's format knows (SGF's markup), written back in that format alone."""
    ending: str = ""
    """How a variation ends with this move, in the words of `Record.ending`; "" if it says nothing."""
    variations: tuple[tuple[Move, ...], ...] = ()
    """Lines, none of them empty, that leave the record after this move."""
    line: int = field(default=0, compare=False, repr=False)
    """Of the file, counted from 1; 0 for a move that was not read."""

    def __post_init__(self) -> None:
        _require_time("clock_s", self.clock_s)
        _require_time("spent_s", self.spent_s)


EMPTY: dict[str, Any] = {entry.name: entry.default for entry in dataclasses.fields(Move) if entry.name != "text"}
"""What the fields of a move hold if nothing was said."""


@dataclass(frozen=True)
class Record:
    """A game with everything that its file says of it."""

    game: str = ""
    """As `zerosum.make` takes it, `go(size=9, komi=5.5)`; "" if no game of ours is meant (see `errors`)."""
    moves: tuple[Move, ...] = ()
    """The game that was played: the main line."""
    headers: tuple[tuple[str, str], ...] = ()
    """(name, value) in the file's order, a name any number of times, in the words of `format` (see `headers_in`).

    Without those that say what this class says: the game, its start, its result and its ending.
    """
    start: str = ""
    """The position before the first move as the game writes it; "" for the game's own."""
    comments: tuple[str, ...] = ()
    """Said before the first move."""
    properties: tuple[tuple[str, str], ...] = ()
    """As of a move: what the format says of the start position."""
    variations: tuple[tuple[Move, ...], ...] = ()
    """Lines that could have been played instead of the first move."""
    result: float | None = None
    """The first player's in [-1, 1]: 1 won, 0 drawn; None while the game goes on, or if the file does not say."""
    ending: str = ""
    """How it ended: a word of `ENDINGS`, the margin in Go ("3.5 points"), or the file's own word; "" if not said."""
    ending_spent_s: float | None = None
    """Seconds that the player to move took before the game ended without a move."""
    format: str = ""
    """Of the file: "pgn", "sgf", "kif" or "csa"; "" for a record that was not read."""
    errors: tuple[str, ...] = ()
    """Why the game that was played is not known or not known to its end: what is wrong, on which line, and what was
    expected. `moves` ends before its first illegal move."""
    warnings: tuple[str, ...] = field(default=(), compare=False)
    """Blemishes that leave `moves` whole: line and word of the file, and how it was read or what was left out."""
    line: int = field(default=0, compare=False, repr=False)
    """Of the file, on which the record begins, counted from 1."""
    file: str = field(default="", compare=False, repr=False)
    """The path that it was read from, if it has one."""

    def __post_init__(self) -> None:
        _require_time("ending_spent_s", self.ending_spent_s)

    def header(self, name: str, default: str = "") -> str:
        """The first value with this name, or of the name that the format has for it (see `HEADER_NAMES`)."""
        names = [*HEADER_NAMES.get(name, {}).get(self.format, ()), name]
        return next((value for own in names for found, value in self.headers if found == own), default)

    @property
    def players(self) -> tuple[str, str]:
        """Names of the first and the second player (Black moves first in Go and shogi); "" if not known."""
        return self.header("first player"), self.header("second player")

    def lines(self) -> Iterator[tuple[tuple[Move, ...], tuple[Move, ...]]]:
        """(moves before it, line) for the main line and every variation, the deeper ones after theirs."""
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
        """The record itself.

        Raises:
            RecordError: something is wrong with it.
        """
        if self.errors:
            raise RecordError(self.errors[0], record=self)
        return self

    def sound_part(self) -> Record:
        """The record as far as it is known: without errors, which become warnings, and without the game's ending.

        Raises:
            RecordError: no move of the game is known.
        """
        if not self.errors:
            return self
        if not self.moves:
            self.checked()
        # KIF and CSA say a result by its ending alone.
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
"""What several formats can say, and each one's names for it; the first is written."""

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
"""Words for endings, and the result that each means for the player to move where a format gives no other."""


def result_of(ending: str, *, is_first: bool) -> float | None:
    """The first player's result by an ending, `is_first` if that player is to move; None where it does not say."""
    result = ENDINGS.get(ending)
    return result if is_first or not result else -result


def require_result(record: Record, format: str, *, is_first: bool) -> None:
    """Hold a record's result against its ending, for a format that says the ending alone.

    Raises:
        RecordError: the ending means another result, which the message has.
    """
    if record.result != (expected := result_of(record.ending, is_first=is_first)):
        raise RecordError(
            f"the result {record.result} by {record.ending}: {format} takes it for {expected}.", record=record
        )


def headers_in(record: Record, format: str) -> list[tuple[str, str]]:
    """A record's headers in the words of a format: its own as they are, of another's those of `HEADER_NAMES`.

    A record that was not read may have either's words, of `HEADER_NAMES` or of the format that it is written in.
    """
    if record.format == format:
        return list(record.headers)
    if not record.format:
        return [(HEADER_NAMES.get(name, {}).get(format, (name,))[0], value) for name, value in record.headers]
    found = [(names.get(format, ("",))[0], record.header(name)) for name, names in HEADER_NAMES.items()]
    return [(name, value) for name, value in found if name and value]


def refuse(record: Record, format: str, *names: str) -> None:
    """Hold a record against what a format can say of a move.

    Raises:
        RecordError: one of the named fields of some move says something.
    """
    for _, line in record.lines():
        for move in line:
            for name in names:
                if getattr(move, name) != EMPTY[name]:
                    raise RecordError(
                        f"{move.text}: {format} has no words for {name}. Leave it out: record.without({name!r}).",
                        record=record,
                    )


@dataclass
class Draft:
    """A move that is being read; of a record, what stands before its first move (`text` is "" then)."""

    text: str = ""
    line: int = 0
    comments_before: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    nags: list[int] = field(default_factory=list)
    clock_s: float | None = None
    spent_s: float | None = None
    evaluation: Evaluation | None = None
    properties: list[tuple[str, str]] = field(default_factory=list)
    ending: str = ""
    variations: list[list[Draft]] = field(default_factory=list)

    def finish(self) -> Move:
        """The move, with its variations."""
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
        """The lines that leave here, without those in which nothing was played."""
        return tuple(tuple(move.finish() for move in line) for line in self.variations if line)


def one_line(text: str) -> str:
    """A text for a format whose values end with their line."""
    return re.sub(r"[\r\n]+", " ", text)


def clock_text(seconds: float) -> str:
    """Hours, minutes and seconds, `0:02:59.5`; thousandths where there are any."""
    minutes, milliseconds = divmod(round(seconds * 1000), 60_000)
    whole, rest = divmod(milliseconds, 1000)
    return f"{minutes // 60}:{minutes % 60:02}:{whole:02}" + (f".{rest:03}".rstrip("0") if rest else "")
