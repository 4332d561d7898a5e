"""The catalogue of games: the table of `zerosum games` and the page `docs/games.md`.

All of it comes from the games themselves (`GameSpec`, `Description`) and from random games. `python -m
zerosum.games.catalogue` prints the page.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

from zerosum._core import PlaneSpec, core_game_names
from zerosum.games.rules import GameSize, make, measure_game

MEASURED_GAMES = 20
"""Number of random games that measure the typical number of legal moves."""


@dataclass(frozen=True)
class CatalogueEntry:
    """A game of the core as a row of a table."""

    name: str
    same_as: str
    """The game with options that the name is short for; "" if it is a game of its own."""
    board: str
    """Rows x columns."""
    actions: int
    planes: int
    max_plies: int
    legal_moves: float
    """Mean number of legal moves in random games, to one decimal."""
    plies: float
    """Mean length of random games."""
    starts: int
    """Number of positions that a game may begin with."""
    notations: tuple[str, ...]
    """Notations of moves besides the game's own."""
    options: tuple[tuple[str, str, str], ...]
    """(name, default, expected) of each option."""

    def json(self) -> str:
        """The entry as one line of JSON."""
        return json.dumps(asdict(self))


@functools.cache
def measured(name: str) -> GameSize:
    """Measurements from random games, equal in each call."""
    return measure_game(make(name), num_games=MEASURED_GAMES, seed=0)


def entry_of(name: str) -> CatalogueEntry:
    """A game of the core."""
    game, size = make(name), measured(name)
    spec = game.spec
    return CatalogueEntry(
        name=name,
        same_as="" if spec.full_name == name else spec.full_name,
        board="{} x {}".format(*spec.board_shape),
        actions=spec.num_actions,
        planes=len(spec.planes),
        max_plies=spec.max_plies,
        legal_moves=round(size.legal_actions, 1),
        plies=round(size.plies, 1),
        starts=game.num_starts,
        notations=tuple(game.notations),
        options=tuple((option.name, option.default, option.expected) for option in spec.known_options),
    )


def catalogue() -> Iterator[CatalogueEntry]:
    """All games of the core, by name."""
    yield from map(entry_of, sorted(core_game_names()))


COLUMNS = ("game", "board", "actions", "planes", "ply cap", "legal moves", "notations")


def columns_of(entry: CatalogueEntry) -> tuple[str, ...]:
    """An entry as the words under `COLUMNS`."""
    return (
        entry.name,
        entry.board,
        f"{entry.actions:,}",
        str(entry.planes),
        str(entry.max_plies),
        f"{entry.legal_moves:g}",
        ", ".join(entry.notations) or "its own",
    )


def options_of(entry: CatalogueEntry) -> str:
    """The options with their defaults, or the game that the name abbreviates."""
    if entry.same_as:
        return f"short for {entry.same_as}"
    return ", ".join(f"{name}={default}" for name, default, _ in entry.options)


def print_catalogue() -> None:
    """The table of `zerosum games`: sizes, then options; as wide as the terminal, 80 columns are enough."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    sizes = Table(*COLUMNS, box=None, pad_edge=False)
    options = Table("game", "options and defaults", box=None, pad_edge=False)
    for entry in catalogue():
        sizes.add_row(*columns_of(entry))
        options.add_row(entry.name, options_of(entry))
    console.print(sizes)
    console.print()
    console.print(options)
    console.print("\nOptions stand in brackets: 'go(size=7, komi=7.5)'; --json has their values.")


PAGE_HEAD = """\
# Games and their domain knowledge

This page describes each game of the core: board, rules, options, input planes and actions. It is generated from the
games by `python -m zerosum.games.catalogue`; do not edit it.

The page has the domain knowledge of the program, in the sense of the AlphaZero paper (arXiv 1712.01815, *Domain
Knowledge*): the layout of input and output on the board, the rules, the parts of the rules in the planes (castling,
repetition, no progress, moves of pieces, promotions, drops), the typical number of legal moves, which scales the
exploration noise, and the ply cap, after which a game is ended. A test checks that search, self-play, learning and the
defaults of a run name no game. *Material* is for the player `alphabeta`, which learns nothing.

Two choices come besides. Defaults follow from a game's size, and differ for games whose squares have owners (Go):
planes of liberties, an ownership head, narrower searches, openings ([settings by game](settings.md#defaults-by-game)).
A preset with the name of a game was made for this game ([presets](settings.md#presets)). In the presets `chess`,
`minishogi`, `nnue` and `shogi` self-play begins with an alpha-beta search; the run learns the values of its pieces from
the rules alone. The preset `paper` has none of this.

Planes are in the order of the network's input, row by row from the top left; "own" is the player to move. A plane is
bits (0 or 1 on each square) or one number on all squares. The numbers of legal moves and of plies are means of {games}
uniformly random games.
"""


def page() -> str:
    """The text of `docs/games.md`."""
    entries = list(catalogue())
    parts = [PAGE_HEAD.format(games=MEASURED_GAMES), *_table((*COLUMNS, "options"), map(_row, entries)), ""]
    for entry in entries:
        parts += [*_section(entry), ""]
    return "\n".join(parts)


def _row(entry: CatalogueEntry) -> tuple[str, ...]:
    return *columns_of(entry), options_of(entry)


def _section(entry: CatalogueEntry) -> Iterator[str]:
    yield f"## {entry.name}\n"
    if entry.same_as:
        yield f"Short for `{entry.same_as}`; `zerosum games` has its sizes."
        return
    game = make(entry.name)
    description = game.description
    yield f"**Board.** {description.board} Planes are {entry.board}."
    yield f"\n**Rules.** {description.rules}"
    if entry.starts > 1:
        yield f"\n{entry.starts:,} positions that a game may begin with."
    if entry.options:
        yield "\nOptions, in brackets behind the name:\n"
        yield from _table(("option", "default", "values"), entry.options)
    yield f"\n**Planes.** {description.planes}\n"
    yield from plane_table(game.spec.planes)
    yield f"\n**Actions.** {description.actions} {entry.actions:,} actions."
    if entry.notations:
        yield f"Moves are also read and written as {', '.join(entry.notations)}."
    if description.material:
        yield f"\n**Material.** {description.material}"
    yield (
        f"\n**Size.** {entry.legal_moves:g} legal moves, {entry.plies:g} plies; a game is ended after"
        f" {entry.max_plies:,} plies. Version {game.spec.version}."
    )


def plane_table(planes: Sequence[PlaneSpec]) -> Iterator[str]:
    """Index, meaning and kind of each plane. Planes of an earlier position that repeat a later one's share a row."""
    yield from _table(("plane", "meaning", "holds"), _plane_rows(planes))


def _plane_rows(planes: Sequence[PlaneSpec]) -> Iterator[tuple[str, str, str]]:
    # Per plane: meaning, age of its position in plies, kind.
    parsed = [(_AGE.sub("", plane.name), _age(plane.name), plane.is_constant) for plane in planes]
    first, newest = 0, (0, 0)  # of the frame that others are as: where it begins, and where the last of those ends
    for age, group in groupby(parsed, key=lambda plane: plane[1]):
        size = len(list(group))
        frame, before = ([(what, kind) for what, _, kind in parsed[i : i + size]] for i in (first, first - size))
        if age and first >= size and frame == before:
            newest = newest if newest[1] == first else (first - size, first)
            newest = (newest[0], first + size)
            what = f"as plane{'s' * (size > 1)} {_span(newest[0], size)}, {_ago(age)}"
            yield _span(first, size), what, "as there"
        else:
            for index in range(first, first + size):
                yield str(index), planes[index].name, "one number" if planes[index].is_constant else "bits"
        first += size


def _span(first: int, size: int) -> str:
    return f"{first} to {first + size - 1}" if size > 1 else str(first)


_AGE = re.compile(r",? *(\d+) (?:ply|plies) ago")


def _age(name: str) -> int:
    """Age in plies of the position that a plane shows."""
    found = _AGE.search(name)
    return int(found[1]) if found else 0


def _ago(age: int) -> str:
    return "1 ply ago" if age == 1 else f"{age} plies ago"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    head = list(head)
    yield line(head)
    yield "|" + "---|" * len(head)
    yield from map(line, rows)


if __name__ == "__main__":
    print(page(), end="")
