"""The study of one network: one for several games of equal board, against separate ones at equal compute.

A medley (`crates/zerosum-core/src/games/medley.rs`) is several games as one: their boards are equal, constant planes
tell them apart, and their actions are one policy. One network learns all its games from n times the CPU-minutes of each
of n networks that learn a game alone, with the same planes, actions, layers and settings. Then it meets each of them in
that game.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zerosum.base.errors import SettingsError
from zerosum.games import make
from zerosum.games.rules import given_options, with_options
from zerosum.report.studies.matches import require_games
from zerosum.report.studies.one_network_findings import one_network_findings
from zerosum.report.studies.one_network_results import JOINT, Taught
from zerosum.report.studies.page import Findings
from zerosum.report.studies.study import Job
from zerosum.report.studies.trainings import EQUAL, meet, opening_seed, trained
from zerosum.report.studies.words import StudyWords, one_game, require_positive
from zerosum.run.config import new_config
from zerosum.run.metrics import read_metrics

MEDLEY = "medley"
SEEDS = 3
MINUTES = 4.0
GAMES = 100
SIMULATIONS = 64
BY_SIZE = {
    "network": ("num_blocks", "num_filters", "policy_head"),
    "search": ("num_simulations", "root_noise_alpha", "cache_positions"),
    "selfplay": ("temperature_plies", "opening_share", "opening_plies", "fast_simulations"),
}
"""Settings whose defaults follow from a game's size, by section: all trainings have those of the medley."""


@dataclass(frozen=True)
class OneNetworkStudy:
    """The options of the study.

    Raises:
        SettingsError: a number is out of range, or the game is no medley of several games.
    """

    game: str = MEDLEY
    """The name of the medley."""
    seeds: int = SEEDS
    """Trainings of each kind."""
    minutes: float = MINUTES
    """CPU-minutes of each game; the joint network has as many for each of its games."""
    games: int = GAMES
    """Games of each match."""
    simulations: int = SIMULATIONS
    """Simulations of each move in matches."""
    seed: int = 0
    """Keys the openings of matches."""

    def __post_init__(self) -> None:
        require_positive({"--seeds": self.seeds, "--minutes": self.minutes, "--simulations": self.simulations})
        if make(self.game).spec.name != MEDLEY or len(self.parts) < 2:
            raise SettingsError(
                f"the study one-network is of several games as one, got {self.game!r}: name a medley of two games or"
                f" more, such as {MEDLEY} or {MEDLEY}(games=hex-gomoku)."
            )

    @classmethod
    def of(cls, words: StudyWords) -> OneNetworkStudy:
        """The study of a medley. Raises SettingsError as the study, and GameError for an unknown game."""
        return cls(
            game=one_game("one-network", words, MEDLEY),
            seeds=SEEDS if words.seeds is None else words.seeds,
            minutes=MINUTES if words.minutes is None else words.minutes,
            games=require_games(words.games, GAMES),
            simulations=SIMULATIONS if words.simulations is None else words.simulations,
            seed=words.seed,
        )

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the medley's games."""
        medley = make(self.game)
        default = next(option.default for option in medley.spec.known_options if option.name == "games")
        return tuple(given_options(medley).get("games", default).split("-"))

    @property
    def kind(self) -> type[Taught]:
        """The result of a training and its match."""
        return Taught

    def about(self) -> Mapping[str, object]:
        """Its name, and everything that a result depends on; more seeds may join later."""
        return {
            "study": "one-network",
            "game": make(self.game).spec.full_name,
            "minutes": self.minutes,
            "games": self.games,
            "simulations": self.simulations,
            "seed": self.seed,
        }

    def jobs(self) -> Sequence[Job[Taught]]:
        """Seed by seed: the joint network, then each game's own network and its match."""
        return [
            Job(f"{name} {seed}", functools.partial(self._learn_and_meet, name, seed))
            for seed in range(self.seeds)
            for name in (JOINT, *self.parts)
        ]

    def findings(self, results: Mapping[str, Taught]) -> Findings:
        """What the trainings and the matches so far say."""
        return one_network_findings(
            list(results.values()),
            self.parts,
            title=f"One network for {len(self.parts)} games, {self.minutes:g} CPU-minutes a game",
            simulations=self.simulations,
        )

    def _learn_and_meet(self, name: str, seed: int, directory: Path) -> Taught | None:
        # The joint network is finished already, unless this job is done alone.
        if not all(self._learn(one, seed, directory) for one in dict.fromkeys((JOINT, name))):
            return None
        run, joint = _run(directory, name, seed), _run(directory, JOINT, seed)
        counts = None
        if name != JOINT:
            openings = opening_seed(self.seed, seed, self.parts.index(name))
            counts = meet(joint, run, simulations=self.simulations, games=self.games, seed=openings)
        last = read_metrics(run / "metrics.csv")[-1]
        return Taught(name, seed, last.games, last.positions, last.step, last.minutes, counts)

    def _learn(self, name: str, seed: int, directory: Path) -> bool:
        medley = make(self.game)
        game = medley if name == JOINT else with_options(medley, games=name)
        minutes = self.minutes * (len(self.parts) if name == JOINT else 1)
        run = _run(directory, name, seed)
        return trained(game.spec.full_name, run, minutes=minutes, seed=seed, settings=self._settings())

    def _settings(self) -> dict[str, Any]:
        """The settings of all trainings: those of the medley by default, for the budget of one game."""
        config = new_config(make(self.game), self.game, minutes=self.minutes, settings=EQUAL)
        by_size = {
            f"{section}.{name}": getattr(getattr(config, section), name)
            for section, names in BY_SIZE.items()
            for name in names
        }
        return EQUAL | by_size


def _run(directory: Path, name: str, seed: int) -> Path:
    return directory / "runs" / f"{name}-{seed}"
