"""The matches of the AlphaZero paper as data: conditions for replaying them, and results to print beside ours.

`data/paper-matches.toml` contains them and names the publication of each suite.
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

LONG_CLOCK_S = 10800.0
"""Seconds of a player and game in most matches of the paper."""


@dataclass(frozen=True)
class PaperOpponent:
    """An opponent of AlphaZero, with the paper's settings."""

    name: str
    threads: int | None = None
    """Number of threads; None here and below means that the paper does not say."""
    hash_mb: int | None = None
    has_tablebases: bool = False
    """Whether the opponent used Syzygy tablebases of chess endings."""
    options: tuple[tuple[str, str], ...] = ()
    """Other options as (name, value) in the engine's protocol, without threads and hash."""
    resign: ResignRule | None = None
    has_book: bool = False
    """Whether it played from an opening book of its own."""
    positions_per_second: int | None = None
    """Positions that it searched in a second (table S4)."""


@dataclass(frozen=True)
class PaperMatch:
    """A match of the paper, from AlphaZero's perspective."""

    suite: str
    game: str
    opponent: PaperOpponent
    openings: str = ""
    """Openings of the games: "" is the initial position, "TCEC" those of its superfinals, which the package does not
    contain; else a name for `zerosum.arena.openings.packaged_openings`."""
    num_openings: int = 1
    games_per_side: int | None = None
    """Games from each opening with each colour."""
    main_s: float | None = None
    """Seconds per player and game; each move adds `increment_s`."""
    increment_s: float | None = None
    move_s: float | None = None
    """Seconds per move."""
    time_divisor: int = 1
    """AlphaZero had the opponent's time divided by this number."""
    resign: ResignRule | None = None
    """AlphaZero's rule of resignation."""
    tally: Tally | None = None
    won_share: float | None = None
    """Share of games that AlphaZero won, in [0, 1], if the paper gives no counts."""
    sampled_plies: int = 0
    """AlphaZero drew its moves in so many first plies of a game."""
    sampled_within: float | None = None
    """The winning chance in [0, 1] that such a move lacked to the best one at most."""
    as_first: tuple[float, float, float] | None = None
    """Percentages of games that AlphaZero won, drew and lost when it moved first; None if the paper has none."""
    as_second: tuple[float, float, float] | None = None
    positions_per_second: int | None = None
    """Positions that AlphaZero searched in a second (table S4)."""

    @property
    def num_games(self) -> int | None:
        """Number of games of the match; None if unknown."""
        return None if self.games_per_side is None else 2 * self.num_openings * self.games_per_side

    @property
    def result(self) -> str:
        """The result as text; "" if unknown."""
        if self.tally is not None:
            return str(self.tally)
        return "" if self.won_share is None else f"{self.won_share:.1%} won"

    @property
    def title(self) -> str:
        """The players, and the difference from the suite's other matches."""
        words = [f"{self.game} against {self.opponent.name}"]
        words += [f"{self.openings} openings"] if self.openings else []
        words += [f"1/{self.time_divisor} of the time"] if self.time_divisor > 1 else []
        words += [f"clock of {self.main_s:g} + {self.increment_s or 0:g} s"] if self._has_own_clock else []
        words += [f"moves of the first {self.sampled_plies} plies drawn"] if self.sampled_plies else []
        return ", ".join(words)

    @property
    def _has_own_clock(self) -> bool:
        return self.main_s not in (None, LONG_CLOCK_S)

    def __str__(self) -> str:
        return f"{self.title}{': ' if self.result else ''}{self.result}"


def paper_matches(suite: str) -> tuple[PaperMatch, ...]:
    """All matches of a suite, "paper" or "paper-2017".

    Raises:
        SettingsError: the suite is unknown.
    """
    known = _suites()
    if suite not in known:
        raise SettingsError(f"unknown suite {shown(suite)}{nearest(suite, known)}.")
    return known[suite]


@functools.cache
def _suites() -> dict[str, tuple[PaperMatch, ...]]:
    path = resources.files("zerosum") / "data" / "paper-matches.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {suite: tuple(_matches(suite, table)) for suite, table in tables.items()}


def _matches(suite: str, table: dict[str, Any]) -> Iterator[PaperMatch]:
    opponents = {name: _opponent(name, values) for name, values in table["opponents"].items()}
    player = table.get("player", {})
    resign, speeds = _resign_rule(player), player.get("positions_per_second", {})
    for values in table["matches"]:
        divisors = values.pop("time_divisors", [1])
        counts = [values.pop(name, None) for name in ("won", "drawn", "lost")]
        opponent = opponents[values.pop("opponent")]
        values |= {name: tuple(values[name]) for name in ("as_first", "as_second") if name in values}
        tally = None if counts[0] is None else Tally(*counts)
        for divisor in divisors:
            yield PaperMatch(
                suite,
                opponent=opponent,
                time_divisor=divisor,
                resign=resign,
                tally=tally,
                positions_per_second=speeds.get(values["game"]),
                **values,
            )


def _opponent(name: str, values: dict[str, Any]) -> PaperOpponent:
    options = tuple(values.get("options", {}).items())
    return PaperOpponent(name, **{**values, "options": options, "resign": _resign_rule(values)})


def _resign_rule(values: dict[str, Any]) -> ResignRule | None:
    return ResignRule(**values["resign"]) if "resign" in values else None
