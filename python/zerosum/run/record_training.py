"""Learning from games that are there, without playing: `zerosum train GAME --run RUN --from-records`.

The games are those that were imported or generated (`training.source=records`), or those that the run has played itself
(`training.source=games`). They are split by game; dev is measured at each checkpoint, test at the end
(`held_out.py`). Where they are more than fit into memory, part follows part in random order.

Which positions a step learns from follows from the seed, the step and the games alone, so a run that was killed repeats
the steps since its last checkpoint; with `training.deterministic`, and a budget in steps, it does so bit for bit.
"""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from zerosum.base.errors import RunError, command_text
from zerosum.base.files import writing
from zerosum.evaluators import make_evaluator
from zerosum.games import Rules
from zerosum.learner import StepReport
from zerosum.network import Checkpoint, save_checkpoint
from zerosum.replay import ReplayWindow
from zerosum.replay.record_source import Part, RecordSource
from zerosum.replay.window import require_game
from zerosum.run.config import RunConfig, minutes_word, train_text
from zerosum.run.held_out import BATCH_SIZE, HeldOutFile, held_out_table, measure
from zerosum.run.learning import learn_step, network_now, open_checkpoint, restored_learner
from zerosum.run.metrics import Metrics, MetricsRow
from zerosum.run.mistakes import Mistakes
from zerosum.run.run_directory import RECORDS
from zerosum.run.strength import EARLY_SHARE, Strength

REPORT_SECONDS = 10.0
REPORTS = 100
"""Reports of a deterministic run over its budget."""
SAMPLE_EVALUATIONS = 3
"""Evaluations that learning from a sample is counted as, for the share of rating games: forward and backward."""


class RecordTraining:
    """One process's part in a run that learns from records."""

    def __init__(
        self, directory: Path, game: Rules, config: RunConfig, report: Callable[[str], None], stop: threading.Event
    ) -> None:
        """Open what is there of the run and go on from it. Whoever sets `stop` ends it soon and cleanly.

        Raises:
            RunError: there are no games to learn from.
            DataError: the games are of another game or version.
        """
        self._directory, self._game, self._config, self._report = directory, game, config, report
        self._stop = stop
        is_imported = config.training.source == "records"
        self._source = RecordSource(directory / (RECORDS if is_imported else "games"), config.replay, report=report)
        first = self._source.first_game()
        if first is None:
            raise RunError(
                f"{directory} has no games to learn from: "
                + (
                    "`zerosum import` reads people's, `zerosum generate` has engines play some."
                    if is_imported
                    else "training.source=games learns from games that the run has played, and it has played none."
                )
            )
        require_game(first, game.spec)
        self._held_out = self._source.held_out()
        self._parts = self._source.parts
        self._schedule = _Schedule(self._parts, config)
        self._window, self._part = ReplayWindow(config.replay), -1
        self._metrics = Metrics(directory, report=report)
        checkpoint, state, info = open_checkpoint(directory, game, config, report)
        self._learner = restored_learner(config, game, checkpoint, state, info, report)
        last = self._metrics.last
        self._elapsed_before = max(float(info.get("elapsed_s", 0.0)), 60 * last.minutes if last else 0.0)
        self._notes = info
        self._is_deterministic = config.training.deterministic
        num_matches = int(info.get("rating_matches", 0)) if self._is_deterministic else None
        self._strength = Strength(directory, game, config, report=report, num_matches=num_matches, clock=self._clock)
        self._mistakes = Mistakes(directory, game, config, report=report)
        self._file = HeldOutFile(directory, report=report)
        self._evaluator = make_evaluator(
            checkpoint,
            config.training.evaluator,
            batch_size=BATCH_SIZE,
        )
        self._started = self._clock()
        self._reported, self._reported_step = time.monotonic(), self._learner.step_number
        self._saved_step = checkpoint.info.step
        self._saved_progress = self._reported_progress = self._progress()
        self._seen: list[StepReport] = []
        held_out = {name: window.total_positions for name, window in self._held_out.items()}
        report(
            f"  {self._source.num_games:,} games, {self._source.num_positions:,} positions: dev"
            f" {held_out['dev']:,}, test {held_out['test']:,}, the others to learn from"
            + (f", in {len(self._parts)} parts of what fits into memory." if len(self._parts) > 1 else ".")
        )
        for name, number in held_out.items():
            if not number:
                report(f"  There are too few games for a split {name}: nothing is measured on it.")

    def run(self) -> None:
        """Learn until the budget is used up or `stop` is set."""
        try:
            if self._progress() >= 1:
                self._report("The budget is used up: give a larger one, with --minutes or --steps, to go on.")
                return
            while not self._is_over():
                self._learn()
                if self._is_due_to_report():
                    self._report_progress()
                if self._is_due_to_save() and not self._is_over():
                    self._save()
                    self._measure("dev")
                    self._rate(is_last=False)
            self._save()
            if self._stop.is_set():
                go_on = train_text(self._config, self._directory)
                self._report(f"Stopped. To go on from here: {go_on}")
                return
            for split in ("dev", "test"):
                self._measure(split)
            self._rate(is_last=True)
            self._report_progress()
            self._report(self._last_words())
        finally:
            self._metrics.close()

    # The budget, as in a run that plays.

    def _clock(self) -> float:
        return time.process_time() if self._config.training.clock == "cpu" else time.monotonic()

    def _elapsed(self) -> float:
        return self._elapsed_before + self._clock() - self._started

    def _progress(self) -> float:
        if (seconds := self._config.learning_seconds) is not None:
            return min(self._elapsed() / seconds, 1.0)
        return min(self._learner.step_number / (self._config.training.steps or 1), 1.0)

    def _is_over(self) -> bool:
        return self._stop.is_set() or self._progress() >= 1

    def _is_due_to_report(self) -> bool:
        if self._is_deterministic:
            return int(self._progress() * REPORTS) > int(self._reported_progress * REPORTS)
        return time.monotonic() - self._reported >= REPORT_SECONDS

    def _is_due_to_save(self) -> bool:
        num = self._config.training.num_checkpoints
        return int(self._progress() * num) > int(self._saved_progress * num)

    # What is done.

    def _learn(self) -> None:
        part = self._schedule.part(self._learner.step_number)
        if part != self._part:
            self._window, self._part = ReplayWindow(self._config.replay), part  # the one before leaves the memory
            self._window = self._source.window(self._parts[part])
            if not self._window.num_positions:
                raise RunError(
                    f"{self._directory} has too few games to learn from: all are held out. Import or generate more."
                )
        report, batch = learn_step(self._learner, self._window, self._game, self._config, progress=self._progress())
        self._seen.append(report)
        self._planes = batch.planes

    def _network(self) -> Checkpoint:
        training = {"minutes": round(self._elapsed() / 60, 3), "samples": self._num_samples}
        return network_now(self._learner, self._game, self._config, training=training)

    @property
    def _num_samples(self) -> int:
        return self._learner.step_number * self._config.learner.batch_size

    def _save(self) -> None:
        self._saved_progress = self._progress()
        if self._learner.step_number == self._saved_step:
            return
        network = self._network()
        # A run that plays goes on from the same notes. Nothing was learned from what it will play.
        notes: dict[str, Any] = {
            **{name: self._notes.get(name, 0) for name in ("evaluations", "simulations", "learner_cpu_s", "games")},
            "elapsed_s": self._elapsed(),
            "optimizer": self._config.learner.optimizer,
            "rating_matches": len(self._strength.matches),
        }
        with writing(self._directory):
            save_checkpoint(
                self._directory / "checkpoints", network, learner_state=self._learner.state(), learner_info=notes
            )
        self._evaluator.update(network, planes_BCHW=self._planes)
        self._saved_step = self._learner.step_number

    def _measure(self, split: str) -> None:
        window, step = self._held_out[split], self._learner.step_number
        if not window.num_positions or self._file.has(step, split):
            return
        replay = self._config.replay
        line = measure(
            self._game,
            self._evaluator,
            window,
            step=step,
            split=split,
            num_positions=replay.held_out_positions,
            seed=self._config.training.seed,
        )
        self._file.add(line)
        self._report(
            f"      {split} at step {step:,}: best move {line.top1:.1%} (no knowledge {line.uniform_top1:.1%}),"
            f" cross-entropy {line.cross_entropy:.2f} ({line.uniform_cross_entropy:.2f}),"
            f" value error {line.value_error:.3f} ({line.constant_value_error:.3f})"
        )

    def _rate(self, *, is_last: bool) -> None:
        """Rating games of the checkpoint, as in a run that plays, with what learning costs as the evaluations."""
        step, num_evaluations = self._learner.step_number, SAMPLE_EVALUATIONS * self._num_samples
        elapsed_s = math.inf if self._is_deterministic else self._elapsed()
        minutes, seconds = self._config.training.minutes, 2 * (1 - EARLY_SHARE) * self._config.strength.budget_share
        left_s = seconds * elapsed_s if minutes is None else max(60 * minutes - self._elapsed(), 0.0)
        if is_last:
            self._strength.rate_last(step, self._evaluator, num_evaluations=num_evaluations, seconds=left_s)
        else:
            self._strength.rate(step, self._evaluator, num_evaluations=num_evaluations, elapsed_s=elapsed_s)
        self._mistakes.count(
            step, self._evaluator, num_evaluations=num_evaluations, seconds=left_s if is_last else None
        )

    def _report_progress(self) -> None:
        now, step = time.monotonic(), self._learner.step_number
        rate = (step - self._reported_step) / max(now - self._reported, 1e-9)
        self._reported, self._reported_step, self._reported_progress = now, step, self._progress()
        seen, self._seen = self._seen, []
        columns = {field.name for field in dataclasses.fields(MetricsRow)}
        told = [{"learning_rate": report.learning_rate, **report.measures} for report in seen]
        means = {name: float(np.mean([measures[name] for measures in told])) for name in (told[0] if told else ())}
        rating, mistakes = self._strength.newest, self._mistakes.newest
        row = MetricsRow(
            minutes=self._elapsed() / 60,
            step=step,
            games=self._source.num_games,
            positions=self._source.num_positions,
            evaluations=0,
            evaluations_per_second=0.0,
            elo=None if rating is None else rating.elo,
            elo_error=None if rating is None else rating.error,
            mistakes=None if mistakes is None else mistakes[0],
            mistakes_error=None if mistakes is None else mistakes[1],
            **{name: value for name, value in means.items() if name in columns},
        )
        last = self._metrics.last
        if not self._is_deterministic or last is None or last.step < row.step:
            with writing(self._directory):
                self._metrics.add(row)
        self._report(self._line(row, rate))

    def _line(self, row: MetricsRow, rate: float) -> str:
        progress = self._progress()
        left = f", {row.minutes / progress - row.minutes:.1f} left" if 0 < progress < 1 else ""
        unit = "CPU-min" if self._config.training.clock == "cpu" else "min"
        parts = [
            f"{row.minutes:5.1f} {unit} ({progress:.0%}){left}",
            f"step {row.step:,}, {rate * self._config.learner.batch_size:,.0f} samples/s",
            f"{row.step / self._schedule.steps_per_pass:.2f} passes",
        ]
        if row.policy_loss is not None and row.value_error is not None:
            parts.append(f"policy {row.policy_loss:.2f}, value {row.value_error:.3f}")
        if row.elo is not None and row.elo_error is not None:
            parts.append(f"Elo of step {self._strength.rated_steps[-1]:,} {row.elo:.0f} ± {row.elo_error:.0f}")
        return " | ".join(parts)

    def _last_words(self) -> str:
        step = self._learner.step_number
        lines = [line for split in ("dev", "test") if (line := self._file.newest(split)) is not None]
        evaluate, play = (command_text(word, self._directory) for word in ("evaluate", "play"))
        more = ["--set", "training.source=selfplay"]
        budget = self._config.training
        more += (
            ["--minutes", f"{2 * budget.minutes:g}"] if budget.minutes else ["--steps", f"{2 * (budget.steps or 1)}"]
        )
        go_on = command_text("train", self._config.game, "--run", self._directory, *more)
        summary = self._strength.summary(step)
        return "\n".join(
            [
                held_out_table(lines),
                f"Done in {self._elapsed() / 60:.1f} {minutes_word(budget)}. To measure it: {evaluate}",
                f"To play it: {play}",
                f"To go on by self-play: {go_on}",
                *([f"The network of step {step:,} {summary}."] if summary else []),
            ]
        )


class _Schedule:
    """Which part each step learns from: in every pass all parts in another order, each as long as it has positions."""

    def __init__(self, parts: list[Part], config: RunConfig) -> None:
        self._seed = config.training.seed
        self._steps = np.array([max(1, round(part.num_positions / config.learner.batch_size)) for part in parts])
        self.steps_per_pass = int(self._steps.sum())

    def part(self, step: int) -> int:
        """The number of the part that a step learns from."""
        number, left = divmod(step, self.steps_per_pass)
        key = np.array([self._seed, number], np.uint64)
        order = np.random.Generator(np.random.Philox(key=key).jumped(2)).permutation(len(self._steps))
        ends = np.cumsum(self._steps[order])
        return int(order[np.searchsorted(ends, left, side="right")])
