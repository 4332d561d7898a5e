"""How often a run's checkpoints err in solved positions: strength on an absolute scale while training.

Each rated checkpoint plays a sample of the positions, the last one all of them as far as the time goes. Only for games
that come with solved positions; for others there is nothing to count.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from zerosum.base.files import append_line, read_lines, repair_lines
from zerosum.evaluators import Evaluator
from zerosum.games import Rules
from zerosum.play.player import Player
from zerosum.run.config import RunConfig
from zerosum.run.solved import MistakeRate, mistake_rates, solved_sets

FILE_NAME = "mistakes.jsonl"


@dataclass(frozen=True)
class CheckpointMistakes(MistakeRate):
    """One line of `mistakes.jsonl`: a checkpoint in one set."""

    step: int
    """Of the checkpoint."""


class Mistakes:
    """The mistakes of a run's checkpoints."""

    def __init__(
        self, directory: Path, game: Rules | None, config: RunConfig, *, report: Callable[[str], None] | None = None
    ) -> None:
        """Read what was counted so far; who only reads needs no game.

        With `report` it is the trainer's: damaged lines are taken out of the file, and `report` gets a sentence of it.
        Without, nothing is ever written; damaged lines are left out of what is read.

        Raises:
            RunError: the directory cannot be written.
        """
        self._path, self._rules, self._config = directory / FILE_NAME, game, config
        found = read_lines(self._path, _parse)
        if report is not None:
            repair_lines(self._path, found, report=report)
        self.rates = found.entries

    @property
    def _game(self) -> Rules:
        assert self._rules is not None, "who counts needs a game"
        return self._rules

    @property
    def has_positions(self) -> bool:
        """Whether checkpoints are tried on solved positions: the game has some, and the settings ask for them."""
        return self._config.strength.solved_positions > 0 and bool(solved_sets(self._game))

    def of_step(self, step: int) -> list[CheckpointMistakes]:
        """What a checkpoint was measured at, a line a set; where it was measured twice, the later one."""
        return list({rate.set: rate for rate in self.rates if rate.step == step}.values())

    @property
    def newest(self) -> tuple[float, float] | None:
        """Of the newest checkpoint the mean of the sets' rates, and half its 95 % interval; None if there is none."""
        return mean_rate(self.of_step(self.rates[-1].step)) if self.rates else None

    def count(
        self,
        step: int,
        evaluator: Evaluator,
        *,
        num_evaluations: float = math.inf,
        num_threads: int = 1,
        seconds: float | None = None,
    ) -> None:
        """Let the checkpoint of this step, which `evaluator` runs, choose moves in solved positions.

        Args:
            step: Of the checkpoint. One that was measured is not measured again, but for the last time.
            evaluator: Runs its network.
            num_evaluations: That the run has made so far. Samples take `strength.budget_share` of them at most, so in a
                short run not every checkpoint is measured.
            num_threads: That search.
            seconds: Given for the last checkpoint, which takes all positions as far as so many seconds go; the others
                take a sample.

        Raises:
            RunError: the directory cannot be written.
        """
        strength = self._config.strength
        if strength.solved_positions == 0:
            return
        max_positions = strength.solved_positions if seconds is None else None
        counted = {rate.set: rate.positions for rate in self.of_step(step)}
        sets = solved_sets(self._game)
        sizes = {solved.name: len(solved.positions[:max_positions]) for solved in sets}
        missing = [solved for solved in sets if counted.get(solved.name, 0) < sizes[solved.name]]
        if not missing:
            return
        num_positions = sum(sizes[solved.name] for solved in missing)
        spent = sum(rate.evaluations for rate in self.rates)
        allowed = strength.budget_share * num_evaluations
        if seconds is None and spent + num_positions * strength.solved_simulations > allowed:
            return
        search = replace(self._config.search, num_simulations=strength.solved_simulations, root_noise_fraction=0.0)
        rates = mistake_rates(
            Player(self._game, evaluator, search, name=f"step {step}"),
            missing,
            max_positions=max_positions,
            num_threads=num_threads,
            seconds=math.inf if seconds is None else seconds,
        )
        for rate in rates:
            self.rates.append(CheckpointMistakes(**asdict(rate), step=step))
            append_line(self._path, json.dumps(asdict(self.rates[-1])))


def mean_rate(rates: Sequence[MistakeRate]) -> tuple[float, float]:
    """The mean over sets, each counting as much, and half its 95 % interval."""
    mean = sum(rate.value for rate in rates) / len(rates)
    return mean, math.sqrt(sum(rate.error**2 for rate in rates)) / len(rates)


def _parse(line: str) -> CheckpointMistakes:
    """A line. Raises ValueError or TypeError if it is none."""
    rate = CheckpointMistakes(**json.loads(line))
    if not (isinstance(rate.set, str) and isinstance(rate.step, int) and 0 <= rate.value <= 1 and 0 <= rate.error <= 1):
        raise ValueError("no rate of mistakes")
    return rate
