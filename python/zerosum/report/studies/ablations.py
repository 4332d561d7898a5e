"""The study of ablations: trainings with one thing changed, against those with a game's defaults.

Each variant changes one thing (`ablation_variants.py`). The defaults and every variant are trained for equal
CPU-minutes with the same seeds. Then each variant's last network meets that of the defaults of the same seed: equal
simulations, equal searches, openings of random plies from both sides. What a change costs or gains in speed is part of
the comparison, as it is in practice.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from zerosum.games import make
from zerosum.report.studies.ablation_findings import ablation_findings
from zerosum.report.studies.ablation_results import DEFAULTS, Ablated
from zerosum.report.studies.ablation_variants import baseline_config, settings_of, variants_for
from zerosum.report.studies.matches import require_games
from zerosum.report.studies.page import Findings
from zerosum.report.studies.study import Job
from zerosum.report.studies.trainings import EQUAL, meet, opening_seed, trained
from zerosum.report.studies.words import StudyWords, one_game, require_positive
from zerosum.run.metrics import read_metrics

GAME = "connect4"
SEEDS = 3
MINUTES = 4.0
GAMES = 100
SIMULATIONS = 64


@dataclass(frozen=True)
class AblationsStudy:
    """The options of the study.

    Raises:
        SettingsError: a number is out of range, a variant is unknown, or the game cannot have it.
    """

    game: str = GAME
    """The game's name."""
    variants: tuple[str, ...] = ()
    """Names of `ablation_variants.VARIANTS`; empty for all that the game can have."""
    seeds: int = SEEDS
    """Trainings of each variant, and of the defaults."""
    minutes: float = MINUTES
    """CPU-minutes of each training."""
    games: int = GAMES
    """Games of each match."""
    simulations: int = SIMULATIONS
    """Simulations of each move in matches."""
    seed: int = 0
    """Keys the openings of matches."""

    def __post_init__(self) -> None:
        require_positive({"--seeds": self.seeds, "--minutes": self.minutes, "--simulations": self.simulations})
        baseline = baseline_config(self.game, self.minutes)
        for name in self.variants:
            settings_of(name, self.game, baseline)
        if not self.variants:
            object.__setattr__(self, "variants", variants_for(self.game, baseline))

    @classmethod
    def of(cls, words: StudyWords) -> AblationsStudy:
        """The study of a game. Raises SettingsError as the study, and GameError for an unknown game."""
        return cls(
            game=one_game("ablations", words, GAME),
            variants=words.variants,
            seeds=SEEDS if words.seeds is None else words.seeds,
            minutes=MINUTES if words.minutes is None else words.minutes,
            games=require_games(words.games, GAMES),
            simulations=SIMULATIONS if words.simulations is None else words.simulations,
            seed=words.seed,
        )

    @property
    def kind(self) -> type[Ablated]:
        """The result of a training and its match."""
        return Ablated

    def about(self) -> Mapping[str, object]:
        """Its name, and everything that a result depends on; more variants and seeds may join later."""
        return {
            "study": "ablations",
            "game": self.game,
            "minutes": self.minutes,
            "games": self.games,
            "simulations": self.simulations,
            "seed": self.seed,
        }

    def jobs(self) -> Sequence[Job[Ablated]]:
        """Seed by seed, so that all variants have a result early: the defaults, then each variant and its match."""
        return [
            Job(f"{name} {seed}", functools.partial(self._learn_and_meet, name, seed))
            for seed in range(self.seeds)
            for name in (DEFAULTS, *self.variants)
        ]

    def findings(self, results: Mapping[str, Ablated]) -> Findings:
        """What the trainings and the matches so far say."""
        return ablation_findings(
            list(results.values()),
            self.variants,
            title=f"Ablations of {make(self.game).spec.full_name}, {self.minutes:g} CPU-minutes a training",
            simulations=self.simulations,
        )

    def _learn_and_meet(self, name: str, seed: int, directory: Path) -> Ablated | None:
        # The defaults are finished already, unless this job is done alone.
        if not all(self._learn(one, seed, directory) for one in dict.fromkeys((DEFAULTS, name))):
            return None
        run, opponent = _run(directory, name, seed), _run(directory, DEFAULTS, seed)
        counts = None
        if name != DEFAULTS:
            openings = opening_seed(self.seed, seed)
            counts = meet(run, opponent, simulations=self.simulations, games=self.games, seed=openings)
        last = read_metrics(run / "metrics.csv")[-1]
        rate = last.evaluations / (60 * last.minutes)
        return Ablated(name, seed, last.games, last.positions, last.step, last.minutes, rate, counts)

    def _learn(self, name: str, seed: int, directory: Path) -> bool:
        settings = EQUAL
        if name != DEFAULTS:
            settings = settings_of(name, self.game, baseline_config(self.game, self.minutes))
        run = _run(directory, name, seed)
        return trained(self.game, run, minutes=self.minutes, seed=seed, settings=settings)


def _run(directory: Path, name: str, seed: int) -> Path:
    return directory / "runs" / f"{name}-{seed}"
