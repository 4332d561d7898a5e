"""The study of thinking time: Elo against the size of the search, for a run's player and for an alpha-beta search.

As figure 2 of AlphaZero's first paper (arXiv 1712.01815), which scales the time of both sides. Here the sizes are
simulations and nodes, which do not depend on the load of the machine: from a thirtieth to thirty times a base. Each
size plays the next one of its own side, and both sides play each other at each size; all matches together give the
ratings.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from zerosum.arena import play_match
from zerosum.base.errors import SettingsError
from zerosum.contest.elo import NORMAL_95, Rating
from zerosum.contest.mover import Terms
from zerosum.contest.ratings import Ratings, fit_ratings
from zerosum.play.contestant import Contestant, SearchContestant
from zerosum.play.own_contestants import contestant_of
from zerosum.play.player import POSITIONS_PER_SIMULATION, Player
from zerosum.report.drawings import COLOURS, Picture, figure, picture
from zerosum.report.studies.estimates import NO_DIFFERENCE
from zerosum.report.studies.matches import HEAD, OPENING_PLIES, Played, engine_of, require_games
from zerosum.report.studies.page import Findings, Table
from zerosum.report.studies.study import Job
from zerosum.report.studies.words import StudyWords, about_matches, study_player, subject

GAMES = 40
SIMULATIONS = 40
FACTORS = {"1/30": 1 / 30, "1/10": 1 / 10, "1/3": 1 / 3, "1": 1.0, "3": 3.0, "10": 10.0, "30": 30.0}
LEAST_SIMULATIONS = 30
"""The base of which a thirtieth is one simulation."""
PLAYER, ENGINE = "player", "engine"


@dataclass(frozen=True)
class ThinkingTimeStudy:
    """The options of the study."""

    player: Player = field(repr=False)
    opponent: str = ""
    """A word of `zerosum match`; "" for our alpha-beta search that counts material."""
    games: int = GAMES
    """Games of each match."""
    seed: int = 0
    factors: tuple[str, ...] = tuple(FACTORS)

    @classmethod
    def of(cls, words: StudyWords) -> ThinkingTimeStudy:
        """The study of a run. Raises SettingsError or DataError if the words do not name one."""
        games, simulations = require_games(words.games, GAMES), words.simulations or SIMULATIONS
        if simulations < LEAST_SIMULATIONS:
            raise SettingsError(
                f"--simulations is {simulations}, expected at least {LEAST_SIMULATIONS}: the study searches a thirtieth"
                " of it, too."
            )
        player = study_player("thinking-time", replace(words, simulations=simulations), batch_size=64)
        study = cls(player, words.opponent, games, words.seed)
        engine_of(study.opponent, player.game, study.size(ENGINE, "1"), name=ENGINE)  # raises before any work
        return study

    @property
    def kind(self) -> type[Played]:
        """The result of a match."""
        return Played

    def size(self, side: str, factor: str) -> int:
        """Simulations of a tree search, or positions of an alpha-beta search, at a factor."""
        simulations = self.player.config.num_simulations
        base = POSITIONS_PER_SIMULATION * simulations if side == ENGINE else self.player.visits_for(simulations)
        return max(1, round(FACTORS[factor] * base))

    @property
    def _unit(self) -> str:
        return "positions" if self.player.is_alpha_beta else "simulations"

    def about(self) -> Mapping[str, object]:
        """Its name, and everything that its results depend on."""
        return about_matches("thinking-time", self.player, opponent=self.opponent, games=self.games, seed=self.seed)

    def jobs(self) -> Sequence[Job[Played]]:
        """The matches: both sides at each factor, then each side against its own next smaller size."""
        pairs = [((PLAYER, factor), (ENGINE, factor)) for factor in self.factors]
        for side in (PLAYER, ENGINE):
            steps = zip(self.factors, self.factors[1:], strict=False)
            pairs += [((side, larger), (side, smaller)) for smaller, larger in steps]
        return [
            Job(f"{_name(*first)} against {_name(*second)}", functools.partial(self._play, first, second))
            for first, second in pairs
        ]

    def _play(self, first: tuple[str, str], second: tuple[str, str], _directory: Path) -> Played:
        one, other = self._contestant(*first), self._contestant(*second)
        result = play_match(
            self.player.game, one, other, num_games=self.games, opening_plies=OPENING_PLIES, seed=self.seed
        )
        return Played.of(result, _name(*first), _name(*second))

    def _contestant(self, side: str, factor: str) -> Contestant:
        name, size = _name(side, factor), self.size(side, factor)
        if side == ENGINE:
            return engine_of(self.opponent, self.player.game, size, name=name)
        own = contestant_of(self.player, name)
        if isinstance(own, SearchContestant):
            return replace(own, search=replace(own.search, num_simulations=size))
        return replace(own, terms=Terms(nodes=size))

    def findings(self, results: Mapping[str, Played]) -> Findings:
        """What the matches so far say."""
        matches, tables = list(results.values()), list[Table]()
        pictures, sentences = list[Picture](), ["Too few matches are played to rate all sizes."]
        if len(matches) == len(self.jobs()):
            ratings = fit_ratings([match.pair_score for match in matches], zero=_name(ENGINE, "1"))
            tables.append(self._table(ratings))
            pictures.append(self._curves(ratings))
            sentences = self._sentences(ratings)
        tables.append(Table("Matches", HEAD, tuple(match.row for match in matches)))
        return Findings(
            f"Thinking time: {subject(self.player)}",
            " ".join(sentences),
            tuple(tables),
            tuple(pictures),
            (f"{self.games} games a match, each pair begins with {OPENING_PLIES} random plies. Intervals: 95 %.",),
        )

    def _table(self, ratings: Ratings) -> Table:
        rows = tuple(
            (
                f"x {factor}",
                *(
                    cell
                    for side in (PLAYER, ENGINE)
                    for cell in (f"{self.size(side, factor):,}", str(ratings.rating(_name(side, factor))))
                ),
            )
            for factor in self.factors
        )
        return Table("Elo by the size of the search", ("factor", self._unit, "player", "positions", "engine"), rows)

    def _curves(self, ratings: Ratings) -> Picture:
        drawn, (axes,) = figure(1, width=6.5)
        values = [FACTORS[factor] for factor in self.factors]
        for colour, side in zip(COLOURS, (PLAYER, ENGINE), strict=False):
            found = [ratings.rating(_name(side, factor)) for factor in self.factors]
            elos, errors = [one.elo for one in found], [one.error for one in found]
            axes.errorbar(values, elos, yerr=errors, color=colour, marker="o", markersize=3, capsize=2, label=side)
        axes.set_xscale("log")
        axes.set_xticks(values, list(self.factors))
        axes.minorticks_off()
        axes.set(xlabel="factor of the search", ylabel="Elo, the engine at factor 1 is 0")
        axes.legend(fontsize=7)
        return picture(drawn, "Elo by the size of the search", "Both sides, with 95 % intervals.")

    def _sentences(self, ratings: Ratings) -> list[str]:
        small, large = self.factors[0], self.factors[-1]
        gains = {side: gain(ratings, _name(side, large), _name(side, small)) for side in (PLAYER, ENGINE)}
        parts = " and ".join(f"{one.elo:+.0f} ± {one.error:.0f} Elo for the {side}" for side, one in gains.items())
        apart = gains[PLAYER].elo - gains[ENGINE].elo
        is_clear = abs(apart) > math.hypot(*(one.error for one in gains.values()))
        verdict = f"the {PLAYER if apart > 0 else ENGINE} gains more" if is_clear else NO_DIFFERENCE
        found = [f"From x {small} to x {large} the search is worth {parts}: {verdict}."]
        for factor in (small, large):
            one = gain(ratings, _name(PLAYER, factor), _name(ENGINE, factor))
            words = "" if abs(one.elo) > one.error else f", {NO_DIFFERENCE}"
            distance = f"{abs(one.elo):.0f} ± {one.error:.0f} Elo {'ahead of' if one.elo >= 0 else 'behind'}"
            found.append(f"At x {factor} the player is {distance} the engine{words}.")
        return found


def gain(ratings: Ratings, one: str, other: str) -> Rating:
    """The difference of two ratings with half its 95 % interval, their correlation included."""
    index, against = ratings.names.index(one), ratings.names.index(other)
    covariance = ratings.covariance
    variance = covariance[index, index] + covariance[against, against] - 2 * covariance[index, against]
    elo = float(ratings.elos[index] - ratings.elos[against])
    return Rating(elo, NORMAL_95 * math.sqrt(max(float(variance), 0.0)))


def _name(side: str, factor: str) -> str:
    return f"{side} x {factor}"
