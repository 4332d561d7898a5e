"""Matches as jobs of a study: their figures, their ratings, and their bars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from zerosum.arena import MatchResult, require_pairs
from zerosum.base.errors import SettingsError
from zerosum.contest.elo import Rating
from zerosum.contest.mover import Terms
from zerosum.contest.ratings import PairScore, fit_ratings
from zerosum.games import Rules
from zerosum.play.contestant import Contestant, ProgramContestant
from zerosum.play.deepening_mover import DeepeningProgram
from zerosum.play.entries import Entry, enter
from zerosum.report.drawings import Picture, figure, picture
from zerosum.report.studies.estimates import NO_DIFFERENCE

OPENING_PLIES = 4
"""Random plies that open each pair of games; without them two players repeat one game."""
COLOURS = {"won": "#2e7d4f", "drawn": "#a9b0b8", "lost": "#b3412e"}


@dataclass(frozen=True)
class Played:
    """The figures of a match, from the view of the player named first."""

    first: str
    second: str
    wins: int
    draws: int
    losses: int
    num_distinct: int
    """Different games: a repeated one is no new information."""
    information: float
    """Share of the games that count for intervals: repeated pairs count once."""
    elo: float | None
    """Difference of the two; None if all games ended alike."""
    low: float | None
    high: float | None
    """The 95 % interval of the difference; None for an end that is not bounded."""

    @classmethod
    def of(cls, result: MatchResult, first: str, second: str) -> Played:
        """The figures of a match of two players of these names."""
        tally, numbers = result.tally(), result.statistics.numbers()
        elo, low, high = (numbers[name] for name in ("elo", "elo_low", "elo_high"))
        return cls(
            first,
            second,
            tally.wins,
            tally.draws,
            tally.losses,
            result.num_distinct,
            float(result.counts.information),
            elo,
            low,
            high,
        )

    @property
    def num_games(self) -> int:
        """All games."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Mean points, in [0, 1]."""
        return (self.wins + self.draws / 2) / self.num_games

    @property
    def pair_score(self) -> PairScore:
        """The result as `fit_ratings` takes it."""
        return PairScore(self.first, self.second, self.wins, self.draws, self.losses).weighted(self.information)

    @property
    def verdict(self) -> str:
        """The difference in Elo with its interval, or the words for one that is not shown."""
        if self.elo is None or self.low is None or self.high is None:
            return "all points" if self.score == 1 else "no points" if self.score == 0 else "no interval"
        words = f"{self.elo:+.0f} Elo (95 %: {self.low:+.0f} to {self.high:+.0f})"
        return words if self.low > 0 or self.high < 0 else f"{words}, {NO_DIFFERENCE}"

    @property
    def row(self) -> tuple[str, ...]:
        """The row of a table with `HEAD`."""
        counts = (f"{self.wins}", f"{self.draws}", f"{self.losses}")
        return (f"{self.first} against {self.second}", *counts, f"{100 * self.score:.1f} %", self.verdict)


HEAD = ("match", "won", "drawn", "lost", "points", "difference")


def require_games(games: int | None, default: int) -> int:
    """The number of games of a match of a study. Raises SettingsError if it is odd."""
    games = default if games is None else games
    require_pairs("--games", games)
    return games


def ratings_of(matches: Iterable[Played], zero: str) -> dict[str, Rating]:
    """The ratings of all players of matches that are connected; `zero` has 0."""
    return fit_ratings([match.pair_score for match in matches], zero=zero).by_name


def bars(matches: Sequence[Played], title: str, caption: str) -> Picture:
    """A bar of wins, draws and losses for each match."""
    drawn, (axes,) = figure(1, height=0.9 + 0.38 * len(matches), width=8.5)
    for place, match in enumerate(reversed(matches)):
        left = 0.0
        for (name, colour), count in zip(COLOURS.items(), (match.wins, match.draws, match.losses), strict=True):
            share = 100 * count / match.num_games
            axes.barh(place, share, left=left, color=colour, height=0.7, label=name if not place else None)
            if share >= 6:
                axes.text(left + share / 2, place, f"{share:.0f}", ha="center", va="center", color="white", fontsize=8)
            left += share
    axes.set_axisbelow(True)
    axes.set_yticks(range(len(matches)), [f"{match.first} – {match.second}" for match in reversed(matches)])
    axes.set(xlim=(0, 100), xlabel="percent of the games")
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return picture(drawn, title, caption)


def require_tree_search(study: str, name: str, *, is_alpha_beta: bool) -> None:
    """Refuse a run without a policy. Raises SettingsError."""
    if is_alpha_beta:
        raise SettingsError(
            f"{name} has an updatable network, which has no policy and plays by alpha-beta: the study {study} needs a"
            " run of tree search."
        )


def engine_of(opponent: str, game: Rules, nodes: int, *, name: str) -> Contestant:
    """An opponent with a limit of nodes: our alpha-beta search that counts material, or a player that is named.

    Args:
        opponent: A word of `zerosum match`; "" for ours.
        game: The rules.
        nodes: Positions, or simulations, of a move.
        name: Its name in results.

    Raises:
        SettingsError: the word is unknown, or the player takes no nodes.
        DataError: a checkpoint is damaged, or its network does not fit the game.
    """
    if not opponent:
        return ProgramContestant(name, DeepeningProgram("material", nodes=nodes), Terms(nodes=nodes))
    return enter(Entry.parse(opponent, [f"nodes={nodes}", f"name={name}"]), game)
