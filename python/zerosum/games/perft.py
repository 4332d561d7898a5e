"""Perft: counts of the lines of play from a position, the usual test of rules, compared with published counts.

`data/perft/GAME.txt` has one position per line: `name | position | d1 d2 d3 ...`, the numbers of lines of 1, 2, 3 ...
plies. An empty position is the initial one. A line that begins with # names the source of the figures.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources

from zerosum.base.errors import SettingsError, nearest
from zerosum.games.rules import Rules, State

FILE_ENDING = ".txt"


@dataclass(frozen=True)
class PerftRow:
    """A position and the numbers of lines from it."""

    name: str
    position: str
    """The position as text; "" for the initial one."""
    counts: tuple[int, ...]
    """Numbers of lines of 1, 2, 3 ... plies."""


@dataclass(frozen=True)
class PerftLine:
    """A number of lines of play: all lines, or those that begin with one move."""

    game: str
    position: str | None
    """The position as text; None if the game has no notation for positions."""
    depth: int
    """Plies of each line, the first move included."""
    move: str | None
    """The first move; None for all lines."""
    count: int

    def json(self) -> str:
        """The entry as one line of JSON."""
        return json.dumps(dataclasses.asdict(self))

    def __str__(self) -> str:
        return str(self.count) if self.move is None else f"{self.move}: {self.count}"


@dataclass(frozen=True)
class PerftCheck:
    """One number of a table and its new count."""

    game: str
    name: str
    """Name of the position."""
    position: str
    depth: int
    count: int
    expected: int
    cpu_seconds: float

    @property
    def is_right(self) -> bool:
        """True if the count equals the table's."""
        return self.count == self.expected

    def json(self) -> str:
        """The entry as one line of JSON."""
        return json.dumps({**dataclasses.asdict(self), "is_right": self.is_right})

    def __str__(self) -> str:
        verdict = "OK" if self.is_right else f"WRONG by {self.count - self.expected:+,}"
        return (
            f"{self.game}, {self.name}, depth {self.depth}: {self.count:,}, expected {self.expected:,}: {verdict}"
            f" ({self.cpu_seconds:.2f} CPU-seconds)"
        )


def perft_games() -> list[str]:
    """The games that have a table, ascending."""
    files = resources.files("zerosum").joinpath("data", "perft").iterdir()
    return sorted(file.name.removesuffix(FILE_ENDING) for file in files if file.name.endswith(FILE_ENDING))


def load_perft(game: str) -> list[PerftRow]:
    """The table of a game, by its name with options.

    Raises:
        SettingsError: the game has no table.
    """
    if game not in perft_games():
        raise SettingsError(f"{game!r} has no perft table{nearest(game, perft_games())}.")
    file = resources.files("zerosum").joinpath("data", "perft", f"{game}{FILE_ENDING}")
    return parse_perft(file.read_text(encoding="utf-8"))


def parse_perft(text: str) -> list[PerftRow]:
    r"""The rows in the text of a file like those in `data/perft/`.

    >>> parse_perft("# by hand\nstart | | 9 72 504")
    [PerftRow(name='start', position='', counts=(9, 72, 504))]
    """
    rows = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            name, position, counts = (part.strip() for part in line.split("|"))
            rows.append(PerftRow(name, position, tuple(map(int, counts.split()))))
    return rows


def divide(game: Rules, state: State, depth: int) -> Iterator[tuple[int, int]]:
    """Each legal action and how many lines of `depth` plies, 1 or more, begin with it. Soft endings do not stop a line.

    Their sum is `game.perft(state, depth)`. They are yielded one by one, so that Ctrl-C works between them.
    """
    for action in game.legal_actions(state, past_soft_endings=True):
        yield action, game.perft(game.play(state, action), depth - 1)


def perft_lines(
    game: Rules,
    state: State,
    depth: int,
    *,
    divided: bool,
    on_move: Callable[[int, int], None] = lambda _done, _all: None,
) -> Iterator[PerftLine]:
    """The number of lines of `depth` plies, at the end; with `divided`, those that begin with each move before it.

    `on_move` gets the number of finished first moves, and of all first moves.
    """
    num_moves = len(game.legal_actions(state))
    name, position, total = game.spec.full_name, game.position_text(state), 0
    for done, (action, count) in enumerate(divide(game, state, depth) if depth else (), start=1):
        total += count
        on_move(done, num_moves)
        if divided:
            yield PerftLine(name, position, depth, game.action_text(state, action), count)
    yield PerftLine(name, position, depth, None, total if depth else 1)


def check_perft(game: Rules, *, max_nodes: int | None = None) -> Iterator[PerftCheck]:
    """Count each number of a game's table again, or those up to `max_nodes`.

    Raises:
        SettingsError: the game has no table.
    """
    name = game.spec.full_name
    for row in load_perft(name):
        state = game.parse_position(row.position) if row.position else game.initial_state()
        for depth, expected in enumerate(row.counts, start=1):
            if max_nodes is None or expected <= max_nodes:
                started = time.process_time()
                count = sum(count for _, count in divide(game, state, depth))
                elapsed = time.process_time() - started
                yield PerftCheck(name, row.name, row.position, depth, count, expected, elapsed)
