"""Trainings as parts of a study, and matches between their networks, pooled over seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from zerosum.arena import play_match
from zerosum.contest.elo import EloDifference
from zerosum.contest.sprt import MatchCounts, Tally, match_statistics
from zerosum.games import make
from zerosum.network.evaluators.rollout_values import LeafValues
from zerosum.play.contestant import SearchContestant
from zerosum.play.player import load_player
from zerosum.report.studies.estimates import NO_DIFFERENCE, Estimate
from zerosum.report.studies.matches import OPENING_PLIES, require_games
from zerosum.report.studies.words import StudyWords, one_game, require_positive
from zerosum.run.metrics import read_metrics
from zerosum.run.training import train

Settings = Mapping[str, Any]
"""Values by `section.name`."""

EQUAL: dict[str, Any] = {
    "training.clock": "cpu",
    "selfplay.num_workers": 1,
    "selfplay.games_per_worker": 32,
    "strength.budget_share": 0.0,
    "strength.solved_positions": 0,
}
"""Settings of all trainings. They count CPU-minutes, and nothing is measured of the machine, so that trainings are
alike on a busy one; rating games would only take time."""
BATCH = 64
"""Positions of a network's batch in matches."""
MOST_ELO = 800.0
"""Ends of an interval that is drawn: beyond them lie all points, or none."""


@dataclass(frozen=True)
class Extent:
    """How much a study of one game trains and plays.

    Raises:
        SettingsError: a number is not above 0.
    """

    minutes: float
    """CPU-minutes of each training."""
    games: int
    """Games of each match."""
    game: str = "connect4"
    """The game's name."""
    seeds: int = 3
    """Trainings of each kind."""
    simulations: int = 64
    """Simulations of each move in matches."""
    seed: int = 0
    """Keys the openings of matches."""

    def __post_init__(self) -> None:
        require_positive({"--seeds": self.seeds, "--minutes": self.minutes, "--simulations": self.simulations})

    def given(self, study: str, words: StudyWords) -> Extent:
        """This one with what was typed after the study's name. Raises SettingsError, and GameError for the game."""
        return Extent(
            game=one_game(study, words, self.game),
            seeds=self.seeds if words.seeds is None else words.seeds,
            minutes=self.minutes if words.minutes is None else words.minutes,
            games=require_games(words.games, self.games),
            simulations=self.simulations if words.simulations is None else words.simulations,
            seed=words.seed,
        )

    def about(self, study: str) -> Mapping[str, object]:
        """The study's name, and all that a result depends on: not the number of seeds, more of them may join later."""
        return {
            "study": study,
            "game": self.game,
            "minutes": self.minutes,
            "games": self.games,
            "simulations": self.simulations,
            "seed": self.seed,
        }

    @property
    def subject(self) -> str:
        """The game and the budget, as in titles."""
        return f"{make(self.game).spec.full_name}, {self.minutes:g} CPU-minutes"

    def train(self, run: Path, *, seed: int, settings: Settings) -> bool:
        """Train from nothing, or go on where a stop or a kill has left it; what is finished is left as it is.

        Args:
            run: The run's directory.
            seed: The training's.
            settings: All settings that are not the game's defaults.

        Returns:
            Whether the budget is used up; False after a stop by a signal.

        Raises:
            ZerosumError: as `zerosum.run.training.train`.
        """
        rows = read_metrics(run / "metrics.csv")
        if rows and rows[-1].minutes >= self.minutes:
            return True
        stopped = train(self.game, run, minutes=self.minutes, seed=seed, settings=settings, report=lambda _line: None)
        return stopped is None

    def meet(self, first: Path, second: Path, *key: int, leaf_values: LeafValues = "network") -> MatchCounts:
        """A match of two networks with the same search, that of the second's run.

        Args:
            first: A run, or a checkpoint's JSON.
            second: The same; the two may have other planes.
            key: A seed of the trainings, and whatever else tells matches apart: those of equal keys have the same
                openings. Each opening of random plies is played from both sides.
            leaf_values: Where the values of the first one's leaves come from (`training.leaf_values`); those of the
                second's are the network's.

        Raises:
            DataError: a checkpoint is missing or damaged.
        """
        # One precision for all: the fastest one is measured, and may differ between two runs.
        one, other = (
            load_player(path, num_simulations=self.simulations, precision="auto", batch_size=BATCH, leaf_values=values)
            for path, values in ((first, leaf_values), (second, "network"))
        )
        search = replace(other.config, proof_nodes=0, syzygy_path="", table_files="")
        contestants = (
            SearchContestant(name, player.evaluator, search, planes_of=player.game)
            for name, player in (("first", one), ("second", other))
        )
        openings = int(np.random.SeedSequence((self.seed, *key)).generate_state(1)[0])
        return play_match(
            other.game, *contestants, num_games=self.games, opening_plies=OPENING_PLIES, seed=openings
        ).counts


@dataclass(frozen=True)
class Pooled:
    """Matches of the same two kinds of networks, one of each seed, from the view of the first."""

    by_seed: tuple[MatchCounts, ...]

    @property
    def counts(self) -> MatchCounts:
        """All games together."""
        return sum(self.by_seed, start=MatchCounts(Tally(0, 0, 0)))

    @property
    def elo(self) -> EloDifference:
        """The difference with its 95 % interval over the pairs of games; it may be infinite."""
        found = match_statistics(self.counts).elo
        assert found is not None, "a match has games"
        return found

    @property
    def points(self) -> Estimate:
        """Mean points in [0, 1], with the interval over the seeds."""
        return Estimate.of([_score(counts.games) for counts in self.by_seed])

    @property
    def is_clear(self) -> bool:
        """Whether the games tell the networks apart, and the seeds the trainings; one seed has only games."""
        points, elo = self.points, self.elo
        are_seeds_clear = points.error is None or abs(points.mean - 0.5) > points.error
        return (elo.low > 0 or elo.high < 0) and are_seeds_clear

    @property
    def verdict(self) -> str:
        """The difference in Elo with its interval, and the words for one that is not shown."""
        return elo_words(self.elo) + ("" if self.is_clear else f", {NO_DIFFERENCE}")

    @property
    def cells(self) -> tuple[str, str, str, str, str]:
        """The cells of a table with `POOLED_HEAD`."""
        games = self.counts.games
        return f"{games.wins}", f"{games.draws}", f"{games.losses}", elo_words(self.elo), self.points.percent


POOLED_HEAD = ("won", "drawn", "lost", "Elo (95 % over games)", "points (95 % over seeds)")


def _score(games: Tally) -> float:
    return (games.wins + games.draws / 2) / (games.wins + games.draws + games.losses)


def elo_words(found: EloDifference) -> str:
    """A difference with its interval.

    >>> elo_words(EloDifference(10, -20, 40)), elo_words(EloDifference(math.inf, 350, math.inf))
    ('+10 Elo (95 %: -20 to +40)', 'all points (95 %: above +350 Elo)')
    """
    if math.isinf(found.elo):
        return (
            f"all points (95 %: above {found.low:+.0f} Elo)"
            if found.elo > 0
            else f"no points (95 %: below {found.high:+.0f} Elo)"
        )
    return f"{found.elo:+.0f} Elo (95 %: {found.low:+.0f} to {found.high:+.0f})"


def drawn(elos: Sequence[float]) -> list[float]:
    """Elo as a figure shows it: within `MOST_ELO`.

    >>> drawn([-math.inf, 3.0, 900.0])
    [-800.0, 3.0, 800.0]
    """
    return [min(max(elo, -MOST_ELO), MOST_ELO) for elo in elos]
