"""The study of stability: what continual learning does when something goes wrong.

AlphaZero's self-play always has the newest network; AlphaGo Zero's had a gate. The study trains a run, copies it, and
continues each copy under a stress (`stresses.py`), one of which is none. Checkpoints on the way meet the last one
before the stress, at equal simulations: so one sees how deep the strength dips, how many steps until the dip is gone,
and how many checkpoints a gate would have kept from self-play.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from zerosum.base.errors import SettingsError, nearest
from zerosum.network.checkpoint import list_checkpoints, read_info
from zerosum.report.studies.page import Findings
from zerosum.report.studies.stability_findings import stability_findings
from zerosum.report.studies.stability_results import Course, Point
from zerosum.report.studies.stresses import CONTROL, RATE, RATE_FACTOR, STRESSES, stressed_copy
from zerosum.report.studies.study import Job
from zerosum.report.studies.trainings import EQUAL, Extent
from zerosum.report.studies.words import StudyWords
from zerosum.run.config import load_config
from zerosum.run.training import train

DEFAULT = Extent(minutes=6.0, games=40)
POINTS = 8
"""Checkpoints that are measured after the stress began."""
STRESSED_POINTS = 2
"""Checkpoints until the learning rate is as before."""
STEPS_SHARE = 0.5
"""Steps under a stress and after it, as a share of those before."""


@dataclass(frozen=True)
class StabilityStudy:
    """The options of the study.

    Raises:
        SettingsError: a stress is unknown.
    """

    extent: Extent = DEFAULT
    """Its minutes are those before the stress."""
    stresses: tuple[str, ...] = tuple(STRESSES)
    """Names of `STRESSES`; the control is always among them."""

    def __post_init__(self) -> None:
        for name in self.stresses:
            if name not in STRESSES:
                raise SettingsError(f"unknown stress {name!r}{nearest(name, STRESSES)}.")
        object.__setattr__(self, "stresses", tuple(dict.fromkeys((CONTROL, *self.stresses))))

    @classmethod
    def of(cls, words: StudyWords) -> StabilityStudy:
        """The study of a game. Raises SettingsError as the study, and GameError for an unknown game."""
        return cls(DEFAULT.given("stability", words), words.variants or tuple(STRESSES))

    @property
    def kind(self) -> type[Course]:
        """The result of a training under a stress."""
        return Course

    def about(self) -> Mapping[str, object]:
        """Its name, and everything that a result depends on; more stresses and seeds may join later."""
        return self.extent.about("stability")

    def jobs(self) -> Sequence[Job[Course]]:
        """Seed by seed: the control, then each stress, with the matches of its checkpoints."""
        return [
            Job(f"{stress} {seed}", functools.partial(self._stress, stress, seed))
            for seed in range(self.extent.seeds)
            for stress in self.stresses
        ]

    def findings(self, results: Mapping[str, Course]) -> Findings:
        """What the trainings and the matches so far say."""
        return stability_findings(
            list(results.values()),
            self.stresses,
            title=f"Stability in {self.extent.subject} before the stress",
            simulations=self.extent.simulations,
        )

    def _stress(self, stress: str, seed: int, directory: Path) -> Course | None:
        before, run = (directory / "runs" / f"{name}-{seed}" for name in ("before", stress))
        # The rate stays, so that what follows the stress is not the end of a schedule.
        settings = EQUAL | {"learner.schedule": "constant"}
        if not self.extent.train(before, seed=seed, settings=settings):
            return None
        last = list_checkpoints(before / "checkpoints")[-1]
        if not run.exists():
            stressed_copy(before, run, stress, seed=seed)
        if not self._go_on(run, before, stress):
            return None
        return self._measure(run, last, stress, seed)

    def _go_on(self, run: Path, before: Path, stress: str) -> bool:
        """Go on with a copy until its steps are made. Returns False after a stop by a signal."""
        begun = read_info(list_checkpoints(before / "checkpoints")[-1]).step
        spacing, config = _spacing(begun), load_config(before / "config.toml")
        rate = config.learner.learning_rate
        ends = [(POINTS, rate)]
        if stress == RATE:
            ends.insert(0, (STRESSED_POINTS, RATE_FACTOR * rate))
        for points, learning_rate in ends:
            steps = begun + points * spacing
            if read_info(list_checkpoints(run / "checkpoints")[-1]).step >= steps:
                continue
            settings = {
                "training.num_checkpoints": max(1, round(steps / spacing)),
                # A checkpoint follows a phase: phases as long as the spacing would leave some out.
                "training.steps_per_phase": min(config.training.steps_per_phase, max(1, spacing // 2)),
                "learner.learning_rate": learning_rate,
            }
            if train(self.extent.game, run, steps=steps, settings=settings, report=lambda _line: None) is not None:
                return False
        return True

    def _measure(self, run: Path, last: Path, stress: str, seed: int) -> Course:
        begun, points = read_info(last).step, list[Point]()
        for number, (steps, path) in enumerate(_points(run, begun)):
            # The openings are the same for all stresses.
            points.append(Point(steps, self.extent.meet(path, last, seed, number)))
        return Course(stress, seed, begun, tuple(points))


def _spacing(begun: int) -> int:
    """Steps between two measured checkpoints."""
    return max(1, round(STEPS_SHARE * begun / POINTS))


def _points(run: Path, begun: int) -> Iterator[tuple[int, Path]]:
    """The measured checkpoints with their steps since the stress began: the first at or after each distance."""
    all_of_them = [(read_info(path).step - begun, path) for path in list_checkpoints(run / "checkpoints")]
    after = [(steps, path) for steps, path in all_of_them if steps > 0]
    wanted = [number * _spacing(begun) for number in range(1, POINTS + 1)]
    found = [next((one for one in after if one[0] >= steps), after[-1]) for steps in wanted]
    yield from dict.fromkeys(found)
