"""The description of a match: rules, players, schedule, and how games begin and end.

    plan = MatchPlan(make("connect4"), (one, other), MatchSettings(num_games=100, seed=1, opening_plies=2))

Two players or more: with more than two it is a tournament, whose games `Schedule` lays out.
"""

from __future__ import annotations

import itertools
import zlib
from dataclasses import dataclass
from typing import Any, Literal, get_args

from zerosum.arena.openings import OpeningSource, RandomOpenings
from zerosum.base.errors import SettingsError, nearest
from zerosum.base.settings import num_cores
from zerosum.contest.adjudication import DrawRule
from zerosum.contest.sprt import Sprt
from zerosum.games import Rules
from zerosum.play.contestant import Contestant

Format = Literal["round-robin", "gauntlet"]
FORMATS: tuple[Format, ...] = get_args(Format)

GAMES_AT_ONCE = 64
"""Games at once of our own players without a clock, whose positions share batches."""
COMPARED_OPENINGS = 100
"""Number of openings that have to agree for a match to go on."""


def require_pairs(name: str, num_games: int) -> None:
    """Check that a number of games is even; `name` is the setting's in the error.

    Raises:
        SettingsError: the number is odd.
    """
    if num_games % 2:
        raise SettingsError(f"{name} is {num_games}, expected an even number: each opening is played from both sides.")


@dataclass(frozen=True)
class MatchSettings:
    """Settings of a match that do not depend on its players.

    Raises:
        SettingsError: a number is out of range.
    """

    num_games: int
    """Games of each pairing; even, because each opening is played from both sides."""
    seed: int
    """Keys random openings, random play and sampled moves."""
    opening_plies: int = 0
    """Random moves that begin each pair of games; a game of several starts draws one of them, too."""
    openings: OpeningSource | None = None
    """Source of openings, instead of random moves."""
    openings_name: str = ""
    """Name of the openings, for people."""
    draw: DrawRule | None = None
    """When a draw is agreed; None is never."""
    sprt: Sprt | None = None
    """A test that ends a match of two once the complete pairs decide it, in the order in which they were begun."""
    max_games_at_once: int | None = None
    """Games at a time. By default `GAMES_AT_ONCE`; with programs or clocks one per core, per two if one ponders."""
    format: Format = "round-robin"
    """Pairings of more than two players: all pairs, or the first player against all others."""
    keeps_shares: bool = False
    """Whether thoughts have the shares of visits of our own searches without clocks, which take memory."""

    def __post_init__(self) -> None:
        require_pairs("num_games", self.num_games)
        for name, value, low in (
            ("num_games", self.num_games, 2),
            ("opening_plies", self.opening_plies, 0),
            ("max_games_at_once", self.max_games_at_once, 1),
        ):
            if value is not None and value < low:
                raise SettingsError(f"{name} is {value}, but must be at least {low}.")
        if self.format not in FORMATS:
            raise SettingsError(f"format {self.format!r}{nearest(self.format, FORMATS)}.")

    def num_boards(self, num_games: int, *, has_threads: bool, is_pondering: bool) -> int:
        """Number of games that are played at once.

        Args:
            num_games: Games that are left.
            has_threads: Whether a player thinks in threads of its own, one for each board.
            is_pondering: Whether both sides of a board may think at a time.
        """
        most = max(1, num_cores() // (2 if is_pondering else 1)) if has_threads else GAMES_AT_ONCE
        return min(num_games, self.max_games_at_once or most)


@dataclass(frozen=True)
class Schedule:
    """Which players meet in which game, as numbers of players; games are numbered from 0, 2k and 2k + 1 are a pair.

    A round is a pair of games of every pairing, with the same opening in all of them: after an early stop all players
    have about as many games.
    """

    pairings: tuple[tuple[int, int], ...]
    """The first of the two moves first in the games of even number; results are from its view."""
    num_games_each: int

    @classmethod
    def of(cls, num_players: int, settings: MatchSettings) -> Schedule:
        """The schedule of `settings.format`."""
        others = range(1, num_players)
        pairings = (
            tuple((0, other) for other in others)
            if settings.format == "gauntlet"
            else tuple(itertools.combinations(range(num_players), 2))
        )
        return cls(pairings, settings.num_games)

    @property
    def num_games(self) -> int:
        """Games of all pairings."""
        return len(self.pairings) * self.num_games_each

    def pairing(self, index: int) -> int:
        """The number of the pairing that plays a game."""
        return index // 2 % len(self.pairings)

    def round(self, index: int) -> int:
        """The round that a game belongs to, from 0, which is the number of its opening."""
        return index // 2 // len(self.pairings)

    def sides(self, index: int) -> tuple[int, int]:
        """Numbers of the players that move first and second in a game."""
        first, second = self.pairings[self.pairing(index)]
        return (first, second) if index % 2 == 0 else (second, first)


@dataclass(frozen=True)
class MatchPlan:
    """A match of two players, or a tournament of more.

    Raises:
        SettingsError: there are too few players, or a setting is for two players only.
    """

    game: Rules
    players: tuple[Contestant, ...]
    settings: MatchSettings

    def __post_init__(self) -> None:
        if len(self.players) < 2:
            raise SettingsError(f"{len(self.players)} players: a match has two or more.")
        if self.is_tournament and self.settings.sprt is not None:
            raise SettingsError(f"a sequential test compares two players, and here are {len(self.players)}.")
        names = [player.name for player in self.players]
        if self.is_tournament and (twice := {name for name in names if names.count(name) > 1}):
            raise SettingsError(f"several players are called {min(twice)}: give all but one another name=WORDS.")

    @property
    def is_tournament(self) -> bool:
        """Whether there are more than two players."""
        return len(self.players) > 2

    @property
    def schedule(self) -> Schedule:
        """Players of each game."""
        return Schedule.of(len(self.players), self.settings)

    @property
    def openings(self) -> OpeningSource:
        """Opening of each round."""
        settings = self.settings
        return settings.openings or RandomOpenings(self.game, num_plies=settings.opening_plies, seed=settings.seed)

    @property
    def event(self) -> str:
        """Name of the match in files."""
        if self.is_tournament:
            return f"{self.settings.format} of {len(self.players)} players"
        return " - ".join(player.name for player in self.players)

    def names_at(self, index: int) -> tuple[str, str]:
        """Names of the players that move first and second in a game."""
        first, second = self.schedule.sides(index)
        return self.players[first].name, self.players[second].name

    def description(self) -> dict[str, Any]:
        """All that its games depend on, for JSON; not their number, nor the test that ends the match."""
        openings = [self.openings(number) for number in range(COMPARED_OPENINGS)]
        digest = zlib.crc32(repr([(opening.start, opening.actions) for opening in openings]).encode())
        players = [_described(player) for player in self.players]
        named = (
            {"tournament": self.settings.format, "players": players}
            if self.is_tournament
            else dict(zip(("first", "second"), players, strict=True))
        )
        return {
            "game": self.game.spec.full_name,
            "version": self.game.spec.version,
            **named,
            "openings": self.settings.openings_name,
            "openings digest": f"{digest:08x}",
            "seed": self.settings.seed,
            "draw": str(self.settings.draw or "none"),
        }


def _described(player: Contestant) -> dict[str, Any]:
    return {
        "name": player.name,
        **{"network": "", "search": {}, "program": "", "terms": str(player.terms), "sampled plies": 0},
        **player.description(),
        "resign": str(player.resign or "never"),
    }
