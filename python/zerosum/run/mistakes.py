"""Mistakes of a run's checkpoints in solved positions: strength on an absolute scale while training.

Each rated checkpoint plays a sample of the positions, and the last one as many as its time allows. The positions are
those of `strength.table_files` or the bundled ones; games without either have no such measurements.
"""

from __future__ import annotations

import functools
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from zerosum.base.files import append_line, read_lines, repair_lines
from zerosum.games import Rules
from zerosum.network.evaluators import Evaluator
from zerosum.play.player import Player
from zerosum.run.config import RunConfig
from zerosum.run.solved import MistakeRate, SolvedSet, mistake_rates, solved_sets
from zerosum.run.table_positions import table_sets

FILE_NAME = "mistakes.jsonl"


@dataclass(frozen=True)
class CheckpointMistakes(MistakeRate):
    """One line of `mistakes.jsonl`: a checkpoint in one set."""

    step: int
    """Learner step of the checkpoint."""


class Mistakes:
    """The mistakes of a run's checkpoints."""

    def __init__(
        self, directory: Path, game: Rules | None, config: RunConfig, *, report: Callable[[str], None] | None = None
    ) -> None:
        """Read the measurements so far. Reading alone needs no game.

        With `report`, damaged lines are removed from the file, and `report` gets a sentence about them. Without it,
        nothing is written, and damaged lines are skipped.

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
        assert self._rules is not None, "counting needs a game"
        return self._rules

    @functools.cached_property
    def _sets(self) -> list[SolvedSet]:
        """Solved positions of the tables that the settings name, or the bundled ones."""
        paths = self._config.strength.table_files
        return table_sets(self._game, paths) if paths else solved_sets(self._game)

    @property
    def has_positions(self) -> bool:
        """Whether there are solved positions, and the settings ask for tests on them."""
        return self._config.strength.solved_positions > 0 and bool(self._sets)

    def of_step(self, step: int) -> list[CheckpointMistakes]:
        """The rates of a checkpoint, one per set: the later of two measurements."""
        return list({rate.set: rate for rate in self.rates if rate.step == step}.values())

    @property
    def newest(self) -> tuple[float, float] | None:
        """The newest checkpoint's mean rate over the sets and half the width of its 95 % interval, if there is one."""
        return mean_rate(self.of_step(self.rates[-1].step)) if self.rates else None

    def count(
        self,
        step: int,
        evaluator: Evaluator,
        *,
        num_evaluations: float = math.inf,
        num_threads: int = 1,
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Let the checkpoint of this step, which `evaluator` runs, choose moves in solved positions.

        Args:
            step: Learner step of the checkpoint. Only the last checkpoint is measured again.
            evaluator: Runs its network.
            num_evaluations: Evaluations of the run so far. Samples take at most `strength.budget_share` of them, so a
                short run does not measure every checkpoint.
            num_threads: Threads that search.
            seconds: Time of the last checkpoint, which plays all positions within it; None for the other checkpoints,
                which play a sample.
            clock: Counts these seconds, from any thread.

        Raises:
            RunError: the directory cannot be written.
        """
        strength = self._config.strength
        if strength.solved_positions == 0:
            return
        max_positions = strength.solved_positions if seconds is None else None
        counted = {rate.set: rate.positions for rate in self.of_step(step)}
        sets = self._sets
        sizes = {solved.name: len(solved.positions[:max_positions]) for solved in sets}
        missing = [solved for solved in sets if counted.get(solved.name, 0) < sizes[solved.name]]
        if not missing:
            return
        num_positions = sum(sizes[solved.name] for solved in missing)
        spent = sum(rate.evaluations for rate in self.rates)
        allowed = strength.budget_share * num_evaluations
        if seconds is None and spent + num_positions * strength.solved_simulations > allowed:
            return
        # A search that has the results itself would be measured by nothing.
        search = replace(
            self._config.search, num_simulations=strength.solved_simulations, root_noise_fraction=0.0, table_files=""
        )
        rates = mistake_rates(
            Player(self._game, evaluator, search, name=f"step {step}"),
            missing,
            max_positions=max_positions,
            num_threads=num_threads,
            seconds=math.inf if seconds is None else seconds,
            clock=clock,
        )
        for rate in rates:
            self.rates.append(CheckpointMistakes(**asdict(rate), step=step))
            append_line(self._path, json.dumps(asdict(self.rates[-1])))


def mean_rate(rates: Sequence[MistakeRate]) -> tuple[float, float]:
    """The mean over the sets with equal weights, and half the width of its 95 % interval."""
    mean = sum(rate.value for rate in rates) / len(rates)
    return mean, math.sqrt(sum(rate.error**2 for rate in rates)) / len(rates)


def _parse(line: str) -> CheckpointMistakes:
    """A line as a rate. Raises ValueError or TypeError if it is not one."""
    rate = CheckpointMistakes(**json.loads(line))
    if not (isinstance(rate.set, str) and isinstance(rate.step, int) and 0 <= rate.value <= 1 and 0 <= rate.error <= 1):
        raise ValueError("not a rate of mistakes")
    return rate
