"""A training from recorded games, without playing: `zerosum train GAME --run RUN --from-records`.

The games were imported or generated (`training.source=records`), or the run has played them (`training.source=games`).
They are split by game into training, dev and test games. The network is measured on dev at each checkpoint and on test
at the end (`held_out.py`). Games that do not fit into memory are read in parts, in random order.

The positions of a step depend on the seed, the step and the games alone, so after a kill a run repeats the steps since
its last checkpoint; with `training.deterministic`, and a budget in steps, it repeats them bit for bit.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from zerosum.base.errors import RunError, command_text
from zerosum.base.files import writing
from zerosum.network import Checkpoint, save_checkpoint
from zerosum.network.evaluators import make_evaluator
from zerosum.replay import ReplayWindow
from zerosum.replay.record_source import Part, RecordSource
from zerosum.replay.records import require_game
from zerosum.run.budget import USED_UP, Budget, clock_s, time_text
from zerosum.run.config import RunConfig
from zerosum.run.config_words import minutes_word, train_text
from zerosum.run.held_out import BATCH_SIZE, HeldOutFile, held_out_table, measure
from zerosum.run.learning import RunLearner, open_checkpoint
from zerosum.run.measures import Measures
from zerosum.run.metrics import MetricsRow
from zerosum.run.run_directory import RECORDS
from zerosum.run.run_plan import RunPlan
from zerosum.selfplay.playing_network import PROGRESS

SAMPLE_EVALUATIONS = 3
"""Cost of learning from a sample, forward and backward, in evaluations. Rating games take a share of the total."""


def require_games(directory: Path, config: RunConfig) -> None:
    """Check that a run has a store of the games that it is to learn from, unless it plays them itself.

    Raises:
        RunError: it has none.
    """
    if config.training.source != "selfplay" and not _store_of(directory, config).is_dir():
        raise _no_games(directory, config)


def _store_of(directory: Path, config: RunConfig) -> Path:
    return directory / (RECORDS if config.training.source == "records" else "games")


def _no_games(directory: Path, config: RunConfig) -> RunError:
    """The error of a run without games to learn from."""
    return RunError(
        f"{directory} has no games to learn from: "
        + (
            "`zerosum import` reads people's, `zerosum generate` has engines play some"
            if config.training.source == "records"
            else "training.source=games learns from games that the run has played, and it has played none"
        )
        + ". With --set training.source=selfplay it plays its own."
    )


class RecordTraining:
    """One process's part in a run that learns from records."""

    def __init__(self, plan: RunPlan, report: Callable[[str], None], stop: threading.Event) -> None:
        """Open the run and continue it. Setting `stop` ends the training soon and cleanly.

        Raises:
            RunError: the run has no games to learn from.
            DataError: the games are of another game or version.
        """
        self._plan, self._report = plan, report
        self._directory, self._game, self._config = plan.directory, plan.game, plan.config
        self._stop = stop
        with contextlib.ExitStack() as opened:
            self._open(opened)
            self._opened = opened.pop_all()

    def _open(self, opened: contextlib.ExitStack) -> None:
        """Open the run and continue it; `opened` closes what is to be closed at the end."""
        directory, game, config, report = self._directory, self._game, self._config, self._report
        self._source = RecordSource(_store_of(directory, config), config.replay, report=report)
        first = self._source.first_game()
        if first is None:
            raise _no_games(directory, config)
        require_game(first, game.spec)
        self._held_out = self._source.held_out()
        self._parts = self._source.parts
        self._schedule = _Schedule(self._parts, config)
        self._window, self._part = ReplayWindow(config.replay), -1
        checkpoint, state, saved = open_checkpoint(self._plan, report)
        self._learner = RunLearner(self._plan, report, checkpoint, state, saved)
        opened.callback(self._learner.close)
        self._saved = saved
        self._measures = Measures(self._plan, saved=saved, report=report, clock=lambda: clock_s(config.training))
        opened.callback(self._measures.close)
        self._budget = Budget(
            config,
            elapsed_s=self._measures.elapsed_before,
            num_steps=lambda: self._learner.step_number,
            others_cpu_s=lambda: self._learner.cpu_s,
        )
        self._held_out_file = HeldOutFile(directory, report=report)
        self._evaluator = make_evaluator(checkpoint, config.training.evaluator, batch_size=BATCH_SIZE, game=game)
        self._reported_step = self._saved_step = checkpoint.info.step
        held_out = {name: window.total_positions for name, window in self._held_out.items()}
        report(
            f"  {self._source.num_games:,} games, {self._source.num_positions:,} positions: dev"
            f" {held_out['dev']:,}, test {held_out['test']:,}, the others to learn from"
            + (f", in {len(self._parts)} parts of what fits into memory." if len(self._parts) > 1 else ".")
        )
        if config.replay.steps_per_1000_games is not None:
            report(f"  A pass of all games is {self._schedule.steps_per_pass:,} steps.")
        for name, number in held_out.items():
            if not number:
                report(f"  There are too few games for a split {name}: nothing is measured on it.")

    def run(self) -> None:
        """Learn until the budget is used up or `stop` is set."""
        with self._opened:
            if self._budget.progress >= 1:
                self._report(USED_UP)
                return
            self._measures.watch_cores(self._budget)
            while not self._is_over():
                self._learn()
                if self._budget.is_due_to_save and not self._is_over():
                    self._save_and_measure("dev")
                if self._budget.is_due_to_report:
                    self._report_progress()
            if self._stop.is_set():
                self._save()
                go_on = train_text(self._config, self._directory)
                self._report(f"Stopped. To resume from here: {go_on}")
                return
            self._save_and_measure("dev", "test", is_last=True)
            self._report(self._last_words())

    def _is_over(self) -> bool:
        return self._stop.is_set() or self._budget.progress >= 1

    def _learn(self) -> None:
        part = self._schedule.part(self._learner.step_number)
        if part != self._part:
            self._learner.forget_window()
            self._window, self._part = ReplayWindow(self._config.replay), part  # frees the memory of the part before
            self._window = self._source.window(self._parts[part])
            if not self._window.num_positions:
                raise RunError(
                    f"{self._directory} has too few games to learn from: all are held out. Import or generate more."
                )
        report, batch = self._learner.step(self._window, progress=self._budget.progress)
        self._measures.add_step(report)
        self._batch = batch

    def _network(self) -> Checkpoint:
        training = {
            "minutes": round(self._budget.elapsed_s / 60, 3),
            "samples": self._num_samples,
            PROGRESS: self._budget.progress,
        }
        return self._learner.network(training=training)

    @property
    def _num_samples(self) -> int:
        return self._learner.step_number * self._config.learner.batch_size

    def _save_and_measure(self, *splits: str, is_last: bool = False) -> None:
        """Save the current network, and measure it on these splits and in rating games.

        A deterministic run saves last: what follows a checkpoint is repeated after a kill, and what comes before it is
        part of it. Other runs save first, because measuring takes time that a kill should not cost.
        """
        is_deterministic = self._config.training.deterministic
        self._evaluator.update(self._network(), planes_BCHW=self._batch.planes())
        if not is_deterministic:
            self._save()
        for split in splits:
            self._measure(split)
        self._rate(is_last=is_last)
        if is_deterministic or is_last:
            self._report_progress()
        if is_deterministic:
            self._save()

    def _save(self) -> None:
        self._budget.note_saved()
        if self._learner.step_number == self._saved_step:
            return
        # Self-play can continue from the same notes. It owes learner steps only for positions that it plays itself.
        state = replace(
            self._saved,
            optimizer=self._config.learner.optimizer,
            elapsed_s=self._budget.elapsed_s,
            rating_matches=len(self._measures.strength.matches),
            samples_per_position=None,
        )
        with writing(self._directory):
            save_checkpoint(
                self._directory / "checkpoints",
                self._network(),
                learner_state=self._learner.state(),
                learner_info=state.to_json(),
            )
        self._saved_step = self._learner.step_number

    def _measure(self, split: str) -> None:
        window, step = self._held_out[split], self._learner.step_number
        if not window.num_positions or self._held_out_file.has(step, split):
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
        self._held_out_file.add(line)
        self._report(
            f"      {split} at step {step:,}: best move {line.top1:.1%} (no knowledge {line.uniform_top1:.1%}),"
            f" cross-entropy {line.cross_entropy:.2f} ({line.uniform_cross_entropy:.2f}),"
            f" value error {line.value_error:.3f} ({line.constant_value_error:.3f})"
        )

    def _rate(self, *, is_last: bool = False) -> None:
        """Measure the current network. The cost of learning stands for the evaluations of self-play."""
        self._measures.rate(
            self._learner.step_number,
            self._evaluator,
            self._budget,
            num_evaluations=SAMPLE_EVALUATIONS * self._num_samples,
            is_last=is_last,
        )

    def _report_progress(self) -> None:
        """Write a row of metrics and report it."""
        step = self._learner.step_number
        rate = (step - self._reported_step) / self._budget.note_reported()
        self._reported_step = step
        row = self._measures.add_row(
            step, self._budget, games=self._source.num_games, positions=self._source.num_positions
        )
        self._report(self._line(row, rate))

    def _line(self, row: MetricsRow, steps_per_second: float) -> str:
        parts = [
            time_text(
                row.minutes,
                progress=self._budget.progress,
                minutes_left=self._budget.minutes_left,
                unit=self._budget.unit,
            ),
            f"step {row.step:,}, {steps_per_second * self._config.learner.batch_size:,.0f} samples/s",
            f"{row.step / self._schedule.steps_per_pass:.2f} passes",
        ]
        if row.policy_loss is not None and row.value_error is not None:
            parts.append(f"policy {row.policy_loss:.2f}, value {row.value_error:.3f}")
        if row.elo is not None and row.elo_error is not None:
            rated_step = self._measures.strength.rated_steps[-1]
            parts.append(f"Elo of step {rated_step:,} {row.elo:.0f} ± {row.elo_error:.0f}")
        return " | ".join(parts)

    def _last_words(self) -> str:
        step = self._learner.step_number
        lines = [line for split in ("dev", "test") if (line := self._held_out_file.newest(split)) is not None]
        evaluate, play = (command_text(word, self._directory) for word in ("evaluate", "play"))
        more = ["--set", "training.source=selfplay"]
        budget = self._config.training
        more += (
            ["--minutes", f"{2 * budget.minutes:g}"] if budget.minutes else ["--steps", f"{2 * (budget.steps or 1)}"]
        )
        go_on = command_text("train", self._config.game, "--run", self._directory, *more)
        summary = self._measures.strength.summary(step)
        return "\n".join(
            [
                held_out_table(lines),
                *filter(None, [self._measures.words_on_cores()]),
                f"Done in {self._budget.elapsed_s / 60:.1f} {minutes_word(budget)}. To measure it: {evaluate}",
                f"To play it: {play}",
                f"To continue by self-play: {go_on}",
                *([f"The network of step {step:,} {summary}."] if summary else []),
            ]
        )


class _Schedule:
    """The part that each step learns from. A pass has all parts in random order.

    Each part has as many steps as draw each of its positions once on average, or `ReplayConfig.steps_per_1000_games`.
    """

    def __init__(self, parts: list[Part], config: RunConfig) -> None:
        self._seed = config.training.seed
        by_games = config.replay.steps_per_1000_games
        steps = [
            part.num_positions / config.learner.batch_size if by_games is None else part.num_games * by_games / 1000
            for part in parts
        ]
        self._steps = np.array([max(1, round(number)) for number in steps])
        self.steps_per_pass = int(self._steps.sum())

    def part(self, step: int) -> int:
        """The number of the part that a step learns from."""
        number, left = divmod(step, self.steps_per_pass)
        key = np.array([self._seed, number], np.uint64)
        order = np.random.Generator(np.random.Philox(key=key).jumped(2)).permutation(len(self._steps))
        ends = np.cumsum(self._steps[order])
        return int(order[np.searchsorted(ends, left, side="right")])
