"""What a training measures of itself: the table of metrics, rating games, and mistakes in solved positions."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, fields
from typing import Any

from zerosum.base.errors import counted
from zerosum.base.files import writing
from zerosum.learner import StepReport
from zerosum.network.evaluators import Evaluator
from zerosum.run.budget import Budget, time_text
from zerosum.run.cluster_raters import ClusterRaters, RaterLostError
from zerosum.run.config import RunConfig
from zerosum.run.core_use import CoreClock, CoreUse, mean_use
from zerosum.run.metrics import Metrics, MetricsRow
from zerosum.run.mistakes import Mistakes
from zerosum.run.run_plan import RunPlan
from zerosum.run.saved_state import SavedState
from zerosum.run.strength import EARLY_SHARE, Strength
from zerosum.run.workers import num_selfplay_workers

COLUMNS = {field.name for field in fields(MetricsRow)}
ROWS_JUDGED = 3
"""Rows of metrics whose mean use of the cores is judged: a shorter burst of another program is not worth a word."""


class Measures:
    """The measurements of one training."""

    def __init__(
        self,
        plan: RunPlan,
        *,
        saved: SavedState,
        report: Callable[[str], None],
        clock: Callable[[], float],
        raters: ClusterRaters | None = None,
    ) -> None:
        """Read what earlier processes measured.

        Args:
            plan: The run's plan.
            saved: The run's counts at the newest checkpoint.
            report: Gets a sentence for each damaged line that is removed, and one before the last rating games.
            clock: Seconds of rating games, counted as the budget counts them.
            raters: Play the rating games, beside the learner; this process does if there are none.

        Raises:
            RunError: the directory cannot be written.
            DataError: the table's columns are not those of this version.
        """
        directory, game, config = plan.directory, plan.game, plan.config
        self._directory, self._config, self._report = directory, config, report
        self.metrics = Metrics(directory, report=report)
        # A deterministic run repeats the rating games since its last checkpoint.
        num_matches = saved.rating_matches if config.training.deterministic else None
        self.strength = Strength(
            directory,
            game,
            config,
            report=report,
            num_matches=num_matches,
            clock=clock,
            play=raters.play if raters is not None else None,
        )
        self._raters = raters
        self._rating = _nothing()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="rating games")
        self.mistakes = Mistakes(directory, game, config, report=report)
        # Metrics are written more often than checkpoints: time since the last checkpoint counts, too.
        last = self.metrics.last
        self.elapsed_before = max(saved.elapsed_s, 60 * last.minutes if last else 0.0)
        """Seconds of the budget that earlier processes have used."""
        self._steps: list[StepReport] = []
        self._cores: CoreClock | None = None
        self._measuring_s = 0.0
        self._core_uses = list[CoreUse]()
        self._reported_causes = set[str]()
        self._is_last = False

    def watch_cores(self, budget: Budget) -> None:
        """Begin to measure the use of the cores. On a cluster, whose machines have the work, nothing calls this."""
        self._cores = CoreClock(budget.cpu_s)

    def counting_pauses(self, is_paused: Callable[[], bool]) -> Callable[[], bool]:
        """The question whether self-play is to wait, with its answers counted if the cores are watched."""
        return is_paused if self._cores is None else self._cores.counting(is_paused)

    def close(self) -> None:
        """End the raters, and close the files."""
        if self._raters is not None:
            self._raters.close()
        self._pool.shutdown()
        self.metrics.close()

    @property
    def cpu_s(self) -> float:
        """CPU-seconds of the raters' processes."""
        return self._raters.cpu_s if self._raters is not None else 0.0

    def add_step(self, report: StepReport) -> None:
        """Include a learner step in the means of the next row."""
        self._steps.append(report)

    def rate(
        self, step: int, evaluator: Evaluator, budget: Budget, *, num_evaluations: int, is_last: bool = False
    ) -> None:
        """Let the checkpoint of this step play rating games, as far as their budget goes, and solved positions.

        Raters play beside the learner: this waits for their games at the end of the training only. A checkpoint whose
        turn comes while they play is not rated.

        Args:
            step: The checkpoint's.
            evaluator: Runs its network.
            budget: The run's.
            num_evaluations: Evaluations of the run so far. Measurements take a share of them.
            is_last: Whether the training ends with this checkpoint: it gets the time that is left.
        """
        self._is_last = is_last
        started = time.thread_time()
        self._rate_and_count(step, evaluator, budget, num_evaluations=num_evaluations, is_last=is_last)
        self._measuring_s += time.thread_time() - started

    def _rate_and_count(
        self, step: int, evaluator: Evaluator, budget: Budget, *, num_evaluations: int, is_last: bool
    ) -> None:
        # A deterministic run must not depend on how long its games take.
        elapsed_s = math.inf if self._config.training.deterministic else budget.elapsed_s
        if not is_last:
            self._rate(step, evaluator, num_evaluations=num_evaluations, elapsed_s=elapsed_s)
        elif step > 0:
            self._rating.result()
            seconds = self._seconds_to_rate_last(budget, elapsed_s)
            # A budget in minutes has time for these games: a share of the evaluations, which are few if the rules are
            # slow or the cache answers, would leave it unused.
            most = num_evaluations if math.isinf(budget.seconds_left) else math.inf
            if self._config.strength.budget_share > 0:
                self._report(f"      step {step:,} plays the last rating games")
            here = evaluator if self._raters is None else None
            with self._without_lost_raters():
                self.strength.rate_last(step, here, num_evaluations=most, seconds=seconds)
        self.mistakes.count(
            step,
            evaluator,
            num_evaluations=num_evaluations,
            num_threads=num_selfplay_workers(self._config) if is_last else 1,
            seconds=budget.seconds_left if is_last else None,
            clock=lambda: budget.elapsed_s,
        )

    def _rate(self, step: int, evaluator: Evaluator, *, num_evaluations: int, elapsed_s: float) -> None:
        """Let a checkpoint play rating games, here and now or by the raters."""
        if self._raters is None:
            self.strength.rate(step, evaluator, num_evaluations=num_evaluations, elapsed_s=elapsed_s)
            return
        if not self._rating.done():
            return
        self._rating.result()  # raises what it raised

        def rate() -> None:
            with self._without_lost_raters():
                self.strength.rate(step, None, num_evaluations=num_evaluations, elapsed_s=elapsed_s)

        self._rating = self._pool.submit(rate)

    @contextlib.contextmanager
    def _without_lost_raters(self) -> Iterator[None]:
        """Report the failure of a rater, which ends a checkpoint's rating games and nothing else."""
        try:
            yield
        except RaterLostError as error:
            self._report(f"{error}. The checkpoint's other rating games are left out.")

    def _seconds_to_rate_last(self, budget: Budget, elapsed_s: float) -> float:
        """Seconds for the last checkpoint's rating games; solved positions get as many of a budget in minutes."""
        if math.isinf(left := budget.seconds_left):
            return 2 * (1 - EARLY_SHARE) * self._config.strength.budget_share * elapsed_s
        return left / 2 if self.mistakes.has_positions else left

    def add_row(
        self,
        step: int,
        budget: Budget,
        *,
        games: int,
        positions: int,
        evaluations: int = 0,
        evaluations_per_second: float = 0.0,
        learning_cpu_s: float = 0.0,
    ) -> MetricsRow:
        """Write a row: these counts, means over the learner steps since the last row, and the newest measurements.

        Raises:
            RunError: the directory cannot be written.
        """
        seen, self._steps = self._steps, []
        told = [{"learning_rate": report.learning_rate, **report.measures} for report in seen]
        means: dict[str, Any] = {
            name: sum(measures[name] for measures in told) / len(told)
            for name in (told[0] if told else ())
            if name in COLUMNS
        }
        rating, mistakes = self.strength.newest, self.mistakes.newest
        use = None
        if self._cores is not None:
            use = self._cores.lap(learning_s=learning_cpu_s, measuring_s=self._measuring_s)
        row = MetricsRow(
            minutes=budget.elapsed_s / 60,
            step=step,
            games=games,
            positions=positions,
            evaluations=evaluations,
            evaluations_per_second=evaluations_per_second,
            elo=None if rating is None else rating.elo,
            elo_error=None if rating is None else rating.error,
            mistakes=None if mistakes is None else mistakes[0],
            mistakes_error=None if mistakes is None else mistakes[1],
            **means,
            **({} if use is None else asdict(use)),
        )
        # A deterministic run that repeats steps after a kill has their rows already.
        last = self.metrics.last
        if not self._config.training.deterministic or last is None or last.step < row.step:
            with writing(self._directory):
                self.metrics.add(row)
        if use is not None and not self._is_last:  # self-play has ended when the last checkpoint is measured
            self._core_uses.append(use)
            self._report_cores()
        return row

    def words_on_cores(self) -> str:
        """A sentence on the use of the cores since this process began; "" if it was not measured."""
        use = mean_use(self._core_uses)
        return "" if use is None else use.summary(has_selfplay=self._config.training.source == "selfplay")

    def _report_cores(self) -> None:
        """Report that the training gets less of the cores than it could, once for each cause."""
        use = mean_use(self._core_uses[-ROWS_JUDGED:])
        if use is None or len(self._core_uses) < ROWS_JUDGED:
            return
        is_for_all = _works_on_all_cores(self._config)
        causes = set(use.causes(is_for_all_cores=is_for_all))
        if causes and causes != self._reported_causes:
            self._report(f"      {use.words(is_for_all_cores=is_for_all)}")
        self._reported_causes = causes


def _works_on_all_cores(config: RunConfig) -> bool:
    """Whether a training has work for every core: it plays itself, on CPUs, with a worker for each."""
    training = config.training
    is_usual = training.source == "selfplay" and not training.deterministic and config.selfplay.num_workers is None
    return is_usual and not training.evaluator.on_gpu


def _nothing() -> Future[None]:
    """A call that has ended."""
    done: Future[None] = Future()
    done.set_result(None)
    return done


def progress_line(
    row: MetricsRow,
    *,
    progress: float,
    minutes_left: float,
    verdict: str,
    rated_step: int | None = None,
    unit: str = "min",
) -> str:
    """A row of the metrics of a run that plays, for people: two lines for a terminal.

    Args:
        row: The row.
        progress: Used share of the budget, in [0, 1].
        minutes_left: The rest of it, in minutes; infinite if that is not known yet.
        verdict: The answer to "learning?".
        rated_step: The learner step of the checkpoint that the row's Elo belongs to.
        unit: The unit of the row's minutes.
    """
    head = (
        f"{time_text(row.minutes, progress=progress, minutes_left=minutes_left, unit=unit)}"
        f" | {row.games:,} games, {row.positions:,} positions"
        f" | {row.evaluations_per_second:,.0f} evaluations/s | step {row.step:,}"
    )
    if row.cores is not None and row.cores_used is not None:
        head += f" | {row.cores_used:.0%} of {counted(row.cores, 'core')}"
    parts = []
    if row.policy_loss is not None and row.policy_entropy is not None and row.value_error is not None:
        parts.append(f"policy {row.policy_loss:.2f} (best {row.policy_entropy:.2f}), value {row.value_error:.3f}")
    if row.elo is not None and row.elo_error is not None:
        of_step = "" if rated_step is None else f" of step {rated_step:,}"
        parts.append(f"Elo{of_step} {row.elo:.0f} ± {row.elo_error:.0f}")
    if row.mistakes is not None and row.mistakes_error is not None:
        parts.append(f"mistakes {row.mistakes:.1%} ± {row.mistakes_error:.1%}")
    return "\n".join([head, "      " + " | ".join([*parts, f"learning? {verdict}"])])
