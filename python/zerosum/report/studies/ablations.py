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

from zerosum.report.studies.ablation_findings import ablation_findings
from zerosum.report.studies.ablation_results import DEFAULTS, Ablated
from zerosum.report.studies.ablation_variants import VARIANTS, baseline_config, settings_of, variants_for
from zerosum.report.studies.page import Findings
from zerosum.report.studies.study import Job
from zerosum.report.studies.trainings import EQUAL, Extent
from zerosum.report.studies.words import StudyWords
from zerosum.run.metrics import read_metrics

DEFAULT = Extent(minutes=4.0, games=100)


@dataclass(frozen=True)
class AblationsStudy:
    """The options of the study.

    Raises:
        SettingsError: a variant is unknown, or the game cannot have it.
    """

    extent: Extent = DEFAULT
    variants: tuple[str, ...] = ()
    """Names of `ablation_variants.VARIANTS`; empty for all that the game can have."""

    def __post_init__(self) -> None:
        game = self.extent.game
        baseline = baseline_config(game, self.extent.minutes)
        for name in self.variants:
            settings_of(name, game, baseline)
        if not self.variants:
            object.__setattr__(self, "variants", variants_for(game, baseline))

    @classmethod
    def of(cls, words: StudyWords) -> AblationsStudy:
        """The study of a game. Raises SettingsError as the study, and GameError for an unknown game."""
        return cls(DEFAULT.given("ablations", words), words.variants)

    @property
    def kind(self) -> type[Ablated]:
        """The result of a training and its match."""
        return Ablated

    def about(self) -> Mapping[str, object]:
        """Its name, and everything that a result depends on; more variants and seeds may join later."""
        return self.extent.about("ablations")

    def jobs(self) -> Sequence[Job[Ablated]]:
        """Seed by seed, so that all variants have a result early: the defaults, then each variant and its match."""
        return [
            Job(f"{name} {seed}", functools.partial(self._learn_and_meet, name, seed))
            for seed in range(self.extent.seeds)
            for name in (DEFAULTS, *self.variants)
        ]

    def findings(self, results: Mapping[str, Ablated]) -> Findings:
        """What the trainings and the matches so far say."""
        return ablation_findings(
            list(results.values()),
            self.variants,
            title=f"Ablations of {self.extent.subject} a training",
            simulations=self.extent.simulations,
        )

    def _learn_and_meet(self, name: str, seed: int, directory: Path) -> Ablated | None:
        # The defaults are finished already, unless this job is done alone.
        if not all(self._learn(one, seed, directory) for one in dict.fromkeys((DEFAULTS, name))):
            return None
        run, opponent = _run(directory, name, seed), _run(directory, DEFAULTS, seed)
        counts = None
        if name != DEFAULTS:
            leaf_values = VARIANTS[name].settings.get("training.leaf_values", "network")
            counts = self.extent.meet(run, opponent, seed, leaf_values=leaf_values)
        last = read_metrics(run / "metrics.csv")[-1]
        rate = last.evaluations / (60 * last.minutes)
        return Ablated(name, seed, last.games, last.positions, last.step, last.minutes, rate, counts)

    def _learn(self, name: str, seed: int, directory: Path) -> bool:
        settings = EQUAL
        if name != DEFAULTS:
            game = self.extent.game
            settings = settings_of(name, game, baseline_config(game, self.extent.minutes))
        return self.extent.train(_run(directory, name, seed), seed=seed, settings=settings)


def _run(directory: Path, name: str, seed: int) -> Path:
    return directory / "runs" / f"{name}-{seed}"
