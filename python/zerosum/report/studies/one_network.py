"""The study of one network: one for several games of equal board, against separate ones at equal compute.

A medley (`crates/zerosum-core/src/games/medley.rs`) is several games as one: their boards are equal, constant planes
tell them apart, and their actions are one policy. One network learns all its games from n times the CPU-minutes of each
of n networks that learn a game alone, with the same planes, actions, layers and settings. Then it meets each of them in
that game.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from zerosum.base.errors import SettingsError
from zerosum.games import make
from zerosum.games.rules import given_options, with_options
from zerosum.report.studies.one_network_findings import one_network_findings
from zerosum.report.studies.one_network_results import JOINT, Taught
from zerosum.report.studies.page import Findings
from zerosum.report.studies.study import Job
from zerosum.report.studies.trainings import EQUAL, Extent
from zerosum.report.studies.words import StudyWords
from zerosum.run.config import new_config
from zerosum.run.metrics import read_metrics

MEDLEY = "medley"
DEFAULT = Extent(minutes=4.0, games=100, game=MEDLEY)
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
        SettingsError: the game is not a medley of several games.
    """

    extent: Extent = DEFAULT
    """The minutes are those of each game; the joint network has as many for each of its games."""

    def __post_init__(self) -> None:
        if make(self.extent.game).spec.name != MEDLEY or len(self.parts) < 2:
            raise SettingsError(
                f"the study one-network is of several games as one, got {self.extent.game!r}: name a medley of two"
                f" games or more, such as {MEDLEY} or {MEDLEY}(games=hex-gomoku)."
            )

    @classmethod
    def of(cls, words: StudyWords) -> OneNetworkStudy:
        """The study of a medley. Raises SettingsError as the study, and GameError for an unknown game."""
        return cls(DEFAULT.given("one-network", words))

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the medley's games."""
        medley = make(self.extent.game)
        default = next(option.default for option in medley.spec.known_options if option.name == "games")
        return tuple(given_options(medley).get("games", default).split("-"))

    @property
    def kind(self) -> type[Taught]:
        """The result of a training and its match."""
        return Taught

    def about(self) -> Mapping[str, object]:
        """Its name, and everything that a result depends on; more seeds may join later."""
        return self.extent.about("one-network")

    def jobs(self) -> Sequence[Job[Taught]]:
        """Seed by seed: the joint network, then each game's own network and its match."""
        return [
            Job(f"{name} {seed}", functools.partial(self._learn_and_meet, name, seed))
            for seed in range(self.extent.seeds)
            for name in (JOINT, *self.parts)
        ]

    def findings(self, results: Mapping[str, Taught]) -> Findings:
        """What the trainings and the matches so far say."""
        return one_network_findings(
            list(results.values()),
            self.parts,
            title=f"One network for {len(self.parts)} games, {self.extent.minutes:g} CPU-minutes a game",
            simulations=self.extent.simulations,
        )

    def _learn_and_meet(self, name: str, seed: int, directory: Path) -> Taught | None:
        # The joint network is finished already, unless this job is done alone.
        if not all(self._learn(one, seed, directory) for one in dict.fromkeys((JOINT, name))):
            return None
        run, joint = _run(directory, name, seed), _run(directory, JOINT, seed)
        counts = None if name == JOINT else self.extent.meet(joint, run, seed, self.parts.index(name))
        last = read_metrics(run / "metrics.csv")[-1]
        return Taught(name, seed, last.games, last.positions, last.step, last.minutes, counts)

    def _learn(self, name: str, seed: int, directory: Path) -> bool:
        extent = replace(self.extent, minutes=self.extent.minutes * len(self.parts))
        if name != JOINT:
            extent = replace(self.extent, game=with_options(make(self.extent.game), games=name).spec.full_name)
        return extent.train(_run(directory, name, seed), seed=seed, settings=self._settings())

    def _settings(self) -> dict[str, Any]:
        """The settings of all trainings: those of the medley by default, for the budget of one game."""
        config = new_config(make(self.extent.game), self.extent.game, minutes=self.extent.minutes, settings=EQUAL)
        by_size = {
            f"{section}.{name}": getattr(getattr(config, section), name)
            for section, names in BY_SIZE.items()
            for name in names
        }
        return EQUAL | by_size


def _run(directory: Path, name: str, seed: int) -> Path:
    return directory / "runs" / f"{name}-{seed}"
