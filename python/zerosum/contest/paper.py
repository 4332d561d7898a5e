"""The matches of the AlphaZero paper as data: conditions to play them again by, and results to print beside ours.

`data/paper-matches.toml` holds them, and says which publication each suite is from.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

from zerosum.base.errors import SettingsError, nearest, shown
from zerosum.contest.adjudication import ResignRule
from zerosum.contest.sprt import Tally


@dataclass(frozen=True)
class PaperOpponent:
    """Whom AlphaZero played, as the paper set it up."""

    name: str
    threads: int | None = None
    """None here and below: the paper does not say."""
    hash_mb: int | None = None
    has_tablebases: bool = False
    """Syzygy's, of chess endings."""
    options: tuple[tuple[str, str], ...] = ()
    """(name, value) as the engine's protocol takes them, besides threads and hash."""
    resign: ResignRule | None = None


@dataclass(frozen=True)
class PaperMatch:
    """A match of the paper, from AlphaZero's view."""

    suite: str
    game: str
    opponent: PaperOpponent
    openings: str = ""
    """Of which games began: "" the initial position, "TCEC" those of its superfinals, which the package has not, else
    as `zerosum.arena.openings.packaged_openings` takes it."""
    num_openings: int = 1
    games_per_side: int | None = None
    """From each opening, with each colour."""
    main_s: float | None = None
    """Seconds a player has for a game, and `increment_s` more for each move."""
    increment_s: float | None = None
    move_s: float | None = None
    """Seconds for each move."""
    time_divisor: int = 1
    """AlphaZero had the opponent's time divided by it."""
    resign: ResignRule | None = None
    """AlphaZero's."""
    tally: Tally | None = None
    won_share: float | None = None
    """Of all games, in [0, 1]: where the paper gives no counts."""

    @property
    def num_games(self) -> int | None:
        """Of the whole match."""
        return None if self.games_per_side is None else 2 * self.num_openings * self.games_per_side

    @property
    def result(self) -> str:
        """In words; "" if it is not among the data."""
        if self.tally is not None:
            return str(self.tally)
        return "" if self.won_share is None else f"{self.won_share:.1%} won"

    @property
    def title(self) -> str:
        """Who played whom, and how it differs from the suite's other matches."""
        words = [f"{self.game} against {self.opponent.name}"]
        words += [f"{self.openings} openings"] if self.openings else []
        words += [f"1/{self.time_divisor} of the time"] if self.time_divisor > 1 else []
        return ", ".join(words)

    def __str__(self) -> str:
        return f"{self.title}{': ' if self.result else ''}{self.result}"


def paper_matches(suite: str) -> tuple[PaperMatch, ...]:
    """All matches of a suite, "paper" or "paper-2017".

    Raises:
        SettingsError: there is no such suite.
    """
    known = _suites()
    if suite not in known:
        raise SettingsError(f"unknown suite {shown(suite)}: {nearest(suite, known)}.")
    return known[suite]


@functools.cache
def _suites() -> dict[str, tuple[PaperMatch, ...]]:
    path = resources.files("zerosum") / "data" / "paper-matches.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {suite: tuple(_matches(suite, table)) for suite, table in tables.items()}


def _matches(suite: str, table: dict[str, Any]) -> Iterator[PaperMatch]:
    opponents = {name: _opponent(name, values) for name, values in table["opponents"].items()}
    resign = _resign_rule(table.get("player", {}))
    for values in table["matches"]:
        divisors = values.pop("time_divisors", [1])
        counts = [values.pop(name, None) for name in ("won", "drawn", "lost")]
        opponent = opponents[values.pop("opponent")]
        tally = None if counts[0] is None else Tally(*counts)
        for divisor in divisors:
            yield PaperMatch(suite, opponent=opponent, time_divisor=divisor, resign=resign, tally=tally, **values)


def _opponent(name: str, values: dict[str, Any]) -> PaperOpponent:
    options = tuple(values.get("options", {}).items())
    return PaperOpponent(name, **{**values, "options": options, "resign": _resign_rule(values)})


def _resign_rule(values: dict[str, Any]) -> ResignRule | None:
    return ResignRule(**values["resign"]) if "resign" in values else None
