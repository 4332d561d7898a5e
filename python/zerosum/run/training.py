"""A run: a directory that holds all of a training, and `train`, which fills it and goes on where it stopped.

    runs/connect4/
        config.toml      what was asked and every default
        calibration.json how many games a worker plays at a time, as measured
        games/           finished games in Parquet shards, running ones in a journal
        records/         games that were imported (`game_import.py`), in shards of the same kind
        checkpoints/     networks, with what the learner needs to go on
        metrics.csv      a row every few seconds; tensorboard/ has the same as events
        strength.jsonl   rating games of the checkpoints
        holder.lock      held by the process that trains

Self-play has its threads (or processes, for a game in Python), and learning one of its own beside them. Everything that
counts is on disk when it counts, so a kill at any moment costs at most the learner steps since the last checkpoint,
which are made up for.

A deterministic run (`training.deterministic`) does one thing after the other on one thread, and what comes next follows
from counts alone. Before each checkpoint the games under way are played to their ends, so that a checkpoint and the
games before it are all there is to the run. After a kill it begins again there: the games since are played once more,
come out the same, and nothing is written twice. On the same machine with the same versions, two such runs have the same
games, networks, optimiser states, rating games and rows of metrics, bit for bit, but for what tells time.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from zerosum.base.errors import RunError, command_text, printable
from zerosum.base.files import writing
from zerosum.evaluators import make_evaluator
from zerosum.games import Game, Rules
from zerosum.games.source_files import OBJECT
from zerosum.learner import StepReport
from zerosum.network import Checkpoint, NetworkShape, save_checkpoint
from zerosum.network.weights import num_parameters, policy_remark
from zerosum.replay import ReplayWindow
from zerosum.replay.game_store import GameStore
from zerosum.replay.window import needed, require_game
from zerosum.run.config import RunConfig, asked_settings, budget_words, minutes_word, train_text
from zerosum.run.forecast import forecast
from zerosum.run.given_game import GivenGame
from zerosum.run.learning import learn_step, network_now, open_checkpoint, restored_learner
from zerosum.run.metrics import Metrics, MetricsRow
from zerosum.run.mistakes import Mistakes
from zerosum.run.record_training import RecordTraining
from zerosum.run.run_directory import hold, plan, write_config
from zerosum.run.strength import EARLY_SHARE, Strength
from zerosum.run.workers import choose_games, new_selfplay, num_selfplay_workers, plays_in_processes
from zerosum.selfplay import SelfplayTask
from zerosum.selfplay.worker import num_trees

REPORT_SECONDS = 10.0
REPORTS = 100
"""Reports of a deterministic run over its budget."""
LATEST_START = 0.1
"""Share of the budget after which learning begins with fewer positions than `training.min_positions`."""
LONGEST_PHASE = 0.02
"""Share of a budget in minutes after which due learner steps are made, be they fewer than a phase has."""

Report = Callable[[str], None]


def train(
    game: str | Game[Any] | Rules,
    run: str | Path,
    *,
    preset: str = "",
    minutes: float | None = None,
    steps: int | None = None,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
    overrides: Sequence[str] = (),
    report: Report = print,
) -> None:
    """Train an agent for a game in a run directory, from nothing or from where the run stopped.

    Args:
        game: A game's name, with options in brackets if any, or `path.py:Class`; an object of such a class, or what
            `zerosum.make` returned. The self-play of an object whose class no other process can load, such as that of
            a notebook, shares one process.
        run: The run directory; made if it is not there.
        preset: A preset's name, for a new run.
        minutes: The budget; a run that has used it up goes on if it gets a larger one.
        steps: The budget in learner steps, instead of minutes.
        seed: Keys every draw of a new run.
        settings: By name, {"search.num_simulations": 64}, or by section, {"search": {"num_simulations": 64}}.
        overrides: `section.name=value`, as the command line has them; they go before `settings`.
        report: Gets a line at a time of what is going on.

    Raises:
        ZerosumError: whatever the user can mend, in a sentence.
    """
    directory = Path(run)

    def say(line: str) -> None:
        report(printable(line))  # of files that somebody else may have written

    given = GivenGame.of(game)
    for doubt in given.doubts():
        report(f"DOUBT: {doubt} `zerosum check-game` shows more.")
    asked = asked_settings(minutes=minutes, steps=steps, seed=seed, overrides=overrides, settings=settings)

    def planned() -> RunConfig:
        return plan(directory, given.rules, given.name, preset=preset, asked=asked)

    planned()  # refuses what can be refused before the directory is made
    with hold(directory), _stop_on_signals() as stop:
        config = planned()  # what another process left, now that none can change it
        write_config(directory, config)
        given.keep_source(directory, report=say)
        _describe(config, given.rules, directory, say)
        with _repeatable_torch() if config.training.deterministic else contextlib.nullcontext():
            if config.training.source == "selfplay":
                Training(directory, given.rules, config, say, stop).run()
            else:
                RecordTraining(directory, given.rules, config, say, stop).run()


def _describe(config: RunConfig, game: Rules, directory: Path, report: Report) -> None:
    """Say what was chosen."""
    network, training = config.network, config.training
    parameters = num_parameters(network, NetworkShape.of(game.spec))
    report(
        f"Learning {game.spec.full_name} in {directory} for {budget_words(training)}"
        + (f", preset {config.preset}" if config.preset else "")
        + (", deterministic." if training.deterministic else ".")
    )
    report(
        f"  network {network.num_blocks} blocks x {network.num_filters} filters, {parameters:,} parameters;"
        f" {config.search.num_simulations} simulations a move;"
        f" learner {config.learner.optimizer}, batch {config.learner.batch_size}."
    )
    if game.is_python and (remark := policy_remark(network, NetworkShape.of(game.spec))):
        report(f"  {remark}")
    report(f"  Every setting is in {directory / 'config.toml'}.")


@contextlib.contextmanager
def _repeatable_torch() -> Iterator[None]:
    """Have torch take algorithms that give the same bits each time; on GPUs it has quicker ones that do not."""
    import torch

    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it cuBLAS does not repeat, and torch refuses
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


@contextlib.contextmanager
def _stop_on_signals() -> Iterator[threading.Event]:
    """An event that Ctrl-C and a polite kill set, to end the training cleanly; a second Ctrl-C ends it at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def set_stop(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, previous[signal.SIGINT])
        stop.set()

    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for number in previous:
            signal.signal(number, set_stop)
        yield stop
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


class Training:
    """One process's part in a run."""

    def __init__(self, directory: Path, game: Rules, config: RunConfig, report: Report, stop: threading.Event) -> None:
        """Open what is there of the run and go on from it. Whoever sets `stop` ends it soon and cleanly."""
        self._directory, self._game, self._config, self._report = directory, game, config, report
        self._stop = stop
        self._metrics = Metrics(directory, report=report)
        self._store = GameStore(directory / "games", report=report, games_per_shard=config.replay.games_per_shard)
        checkpoint, learner_state, learner_info = open_checkpoint(directory, game, config, report)
        first_game_id, num_matches = self._store.next_game_id, None
        if self._is_deterministic:
            first_game_id, num_matches = learner_info.get("games", 0), learner_info.get("rating_matches", 0)
            self._replay_from(first_game_id, checkpoint.info.step)
        self._window = ReplayWindow(config.replay)
        # First the games, then their number: reading a damaged shard sets it aside.
        recent = list(self._store.recent(**needed(self._store.num_positions, config.replay)))
        for known in (*recent, *(running.header for running in self._store.running.values())):
            require_game(known, game.spec)
        num_positions = self._store.num_positions
        self._window.load(recent, total_positions=num_positions)
        # By earlier processes.
        self._elapsed_before, self._evaluations_before, self._simulations_before = 0.0, 0, 0
        self._learner_cpu_s = 0.0
        self._workers_cpu_s: Callable[[], float] = lambda: 0.0  # of processes that play
        self._saved_step, self._saved_progress = 0, 0.0
        self._go_on_learning(checkpoint, learner_state, learner_info)
        self._strength = Strength(
            directory, game, config, report=report, num_matches=num_matches, clock=self._clock_of_this_thread
        )
        self._mistakes = Mistakes(directory, game, config, report=report)
        num_workers, in_processes = num_selfplay_workers(config), plays_in_processes(config, game)
        num_games, why = choose_games(directory, game, checkpoint, config, report=report)
        self._evaluator = make_evaluator(
            checkpoint,
            config.training.evaluator,
            num_threads=1 if in_processes else num_workers,
            batch_size=num_games,
        )
        self._network_step = checkpoint.info.step
        # A deterministic run begins them anew.
        running = {} if self._is_deterministic else self._store.running
        task = SelfplayTask(
            game=game,
            search=config.search,
            config=dataclasses.replace(config.selfplay, games_per_worker=num_games),
            evaluator=self._evaluator,
            log=self._store,
            seed=config.training.seed,
            settings_hash=config.selfplay_hash,
            num_staggered=num_workers * num_trees(num_games) if config.selfplay.stagger_starts else 0,
            game_ids=itertools.count(first_game_id),
            network_step=lambda: self._network_step,
        )
        self._selfplay = new_selfplay(task, checkpoint, config, running=running.values(), report=report)
        if num_positions:
            report(
                f"Going on: {self._store.num_games:,} games and {num_positions:,} positions recorded,"
                f" {len(running)} games under way, learner step {self._learner.step_number:,},"
                f" {self._elapsed_before / 60:.1f} {minutes_word(config.training)} used."
            )
        kind = "process" if in_processes else "thread"
        report(
            f"  self-play: {num_games} games a {kind}{why}; workers: {num_workers}; evaluator:"
            f" {self._evaluator.description}."
        )
        if config.game.startswith(OBJECT) and num_workers > 1:
            report(
                "  The workers share one process, because no other process can load"
                f" {config.game.removeprefix(OBJECT)}: a class in a file, path.py:Class, plays in a process a core."
            )
        if config.training.steps is not None and not self._is_deterministic:
            report(f"  {forecast(config, game, checkpoint, self._evaluator, num_games=num_games)}.")
        self._started = self._clock()
        self._reported = time.monotonic()
        self._reported_evaluations = 0
        self._reported_progress = self._progress()
        self._steps_seen: list[StepReport] = []
        self._has_reported_short_searches = False

    @property
    def _is_deterministic(self) -> bool:
        return self._config.training.deterministic

    def run(self) -> None:
        """Train until the budget is used up or `stop` is set."""
        try:
            if self._progress() >= 1:
                self._report("The budget is used up: give a larger one, with --minutes or --steps, to go on.")
                return
            if self._is_deterministic:
                self._play_and_learn_in_turn()
            else:
                self._play_and_learn()
                if self._stop.is_set():
                    self._report("Stopping: this is being saved (Ctrl-C again ends at once).")
                self._save()
                if not self._stop.is_set():
                    self._rate(is_last=True)
                self._report_progress()
            if self._stop.is_set():
                go_on = train_text(self._config, self._directory)
                here = f"the checkpoint of step {self._saved_step:,}" if self._is_deterministic else "here"
                self._report(f"Stopped. To go on from {here}: {go_on}")
            else:
                self._report(self._last_words())
        finally:
            self._store.close()
            self._metrics.close()

    # The schedule: how self-play and learning share the machine.

    def _play_and_learn(self) -> None:
        """Self-play on its threads, learning, saving and rating on this one."""
        with ThreadPoolExecutor(1) as pool:
            is_ended = threading.Event()
            playing = pool.submit(self._selfplay.play, is_ended.is_set, self._window.add, is_paused=self._is_behind)
            try:
                while not self._is_over() and not playing.done():
                    if self._is_due_to_learn():
                        self._learn()
                    else:
                        time.sleep(0.01)
                    if not self._is_over():
                        self._housekeep()
            finally:
                is_ended.set()
            playing.result()

    def _play_and_learn_in_turn(self) -> None:
        """As `_play_and_learn`, one after the other on this thread: what happens next depends on counts alone."""
        num_steps = self._config.training.steps_per_phase
        while not self._is_over():
            self._selfplay.play(lambda: self._stop.is_set() or self._num_steps_due() >= num_steps, self._window.add)
            self._learn()
            if self._is_due_to_save():
                self._selfplay.play_out(self._stop.is_set, self._window.add)
                if not self._stop.is_set():
                    self._rate(is_last=self._progress() >= 1)
                    self._report_progress()
                    self._save()
            elif not self._stop.is_set() and self._is_due_to_report():  # a phase cut short has no row of its own
                self._report_progress()

    def _housekeep(self) -> None:
        if self._is_due_to_save():
            self._save()
            self._rate()
        if self._is_due_to_report():
            self._report_progress()

    def _elapsed(self) -> float:
        return self._elapsed_before + self._clock() - self._started

    def _clock(self) -> float:
        """Seconds, of the clock that the budget is counted by."""
        if self._config.training.clock == "cpu":
            return time.process_time() + self._workers_cpu_s()
        return time.monotonic()

    def _clock_of_this_thread(self) -> float:
        """Seconds of what this thread does, by the same clock; self-play goes on beside it."""
        return time.thread_time() if self._config.training.clock == "cpu" else time.monotonic()

    def _progress(self) -> float:
        """The share of the budget that is used, from 0 to 1."""
        if (seconds := self._config.learning_seconds) is not None:
            return min(self._elapsed() / seconds, 1.0)
        return min(self._learner.step_number / (self._config.training.steps or 1), 1.0)

    def _is_over(self) -> bool:
        return self._stop.is_set() or self._progress() >= 1

    def _num_steps_due(self) -> int:
        """Learner steps that the recorded positions allow and that were not made yet."""
        positions, learner = self._window.total_positions, self._config.learner
        if positions < self._num_first_positions():
            return 0
        return int((positions * learner.samples_per_position - self._num_samples) / learner.batch_size)

    def _num_first_positions(self) -> int:
        """Recorded positions from which on there are learner steps: as set, or fewer where the budget is small."""
        training, learner = self._config.training, self._config.learner
        if training.steps is not None:
            needed_positions = training.steps * learner.batch_size / learner.samples_per_position
            return min(training.min_positions, math.ceil(LATEST_START * needed_positions))
        # The steps of a batch, once, are the least that can be learned.
        least = math.ceil(learner.batch_size / learner.samples_per_position)
        return training.min_positions if self._progress() < LATEST_START else min(training.min_positions, least)

    def _is_due_to_learn(self) -> bool:
        """A phase's steps are due, or some are and the last phase is long ago, where positions come slowly."""
        num_steps = self._num_steps_due()
        is_long_ago = (
            self._config.training.minutes is not None and self._progress() - self._learned_progress >= LONGEST_PHASE
        )
        return num_steps >= (1 if is_long_ago else self._config.training.steps_per_phase)

    def _is_behind(self) -> bool:
        """The learner cannot keep up: self-play waits for it, and leaves it the machine."""
        return self._num_steps_due() > 4 * self._config.training.steps_per_phase

    def _is_due_to_report(self) -> bool:
        if self._is_deterministic:
            return int(self._progress() * REPORTS) > int(self._reported_progress * REPORTS)
        return time.monotonic() - self._reported >= REPORT_SECONDS

    def _is_due_to_save(self) -> bool:
        num = self._config.training.num_checkpoints
        return (
            int(self._progress() * num) > int(self._saved_progress * num)
            and self._learner.step_number > self._saved_step
        )

    # What is done.

    def _learn(self) -> None:
        """The steps of one phase, as far as they are due, then the new weights for self-play."""
        started, planes_BCHW = time.thread_time(), None
        for _ in range(min(self._config.training.steps_per_phase, self._num_steps_due())):
            if self._is_over():
                break
            if not self._is_deterministic and self._is_due_to_report():
                self._report_progress()
            report, batch = learn_step(self._learner, self._window, self._game, self._config, progress=self._progress())
            self._steps_seen.append(report)
            planes_BCHW = batch.planes
            self._num_samples += self._config.learner.batch_size
        checkpoint = self._checkpoint()
        self._learner_cpu_s += time.thread_time() - started
        self._learned_progress = self._progress()
        if planes_BCHW is None:
            return
        self._evaluator.update(checkpoint, planes_BCHW=planes_BCHW)
        self._network_step = self._learner.step_number
        self._selfplay.update(checkpoint)

    def _checkpoint(self) -> Checkpoint:
        """The network as it is now, and what it was made of."""
        training = {
            "games": self._store.num_games,
            "positions": self._window.total_positions,
            "evaluations": self._num_evaluations(),
            "minutes": round(self._elapsed() / 60, 3),
        }
        return network_now(self._learner, self._game, self._config, training=training)

    def _num_evaluations(self) -> int:
        return self._evaluations_before + self._selfplay.counts.evaluations

    def _save(self) -> None:
        """Save a checkpoint and the games that it has seen, unless nothing was learned since the last one."""
        self._saved_progress = self._progress()
        if self._learner.step_number == self._saved_step:
            return
        self._store.sync()
        with writing(self._directory):
            save_checkpoint(
                self._directory / "checkpoints",
                self._checkpoint(),
                learner_state=self._learner.state(),
                learner_info={
                    "elapsed_s": self._elapsed(),
                    "evaluations": self._num_evaluations(),
                    "simulations": self._simulations_before + self._selfplay.counts.simulations,
                    "learner_cpu_s": self._learner_cpu_s,
                    "samples": self._num_samples,
                    "samples_per_position": self._config.learner.samples_per_position,
                    "optimizer": self._config.learner.optimizer,
                    "games": self._store.num_games,
                    "rating_matches": len(self._strength.matches),
                },
            )
        self._saved_step = self._learner.step_number

    def _rate(self, *, is_last: bool = False) -> None:
        """Let the network as it is now play rating games, as far as the budget for them goes, and solved positions."""
        step, num_evaluations = self._learner.step_number, self._num_evaluations()
        # A deterministic run must not depend on how long its games take.
        elapsed_s = math.inf if self._is_deterministic else self._elapsed()
        if is_last and step > 0:
            seconds = self._seconds_to_rate_last(elapsed_s)
            self._strength.rate_last(step, self._evaluator, num_evaluations=num_evaluations, seconds=seconds)
        elif not is_last:
            self._strength.rate(step, self._evaluator, num_evaluations=num_evaluations, elapsed_s=elapsed_s)
        self._mistakes.count(
            step,
            self._evaluator,
            num_evaluations=num_evaluations,
            num_threads=num_selfplay_workers(self._config) if is_last else 1,
            seconds=self._seconds_left() if is_last else None,
        )

    def _seconds_left(self) -> float:
        """The rest of a budget in minutes."""
        minutes = self._config.training.minutes
        return math.inf if minutes is None else 60 * minutes - self._elapsed()

    def _seconds_to_rate_last(self, elapsed_s: float) -> float:
        """The time for the last checkpoint's rating games: what solved positions leave of a budget in minutes."""
        if math.isinf(left := self._seconds_left()):
            return 2 * (1 - EARLY_SHARE) * self._config.strength.budget_share * elapsed_s
        return left / 2 if self._mistakes.has_positions else left

    def _last_words(self) -> str:
        """What a person wants to know at the end of the budget: how good the player is, and what to do with it."""
        step, training = self._learner.step_number, self._config.training
        if step == 0:
            go_on = train_text(
                self._config, self._directory, minutes=10 * training.minutes if training.minutes else None
            )
            return (
                f"The budget is used up, and nothing was learned: learning begins at {self._num_first_positions():,}"
                f" positions, and {self._window.total_positions:,} were recorded. Go on with more time: {go_on}"
            )
        evaluate, play = (command_text(word, self._directory) for word in ("evaluate", "play"))
        commands = f"To measure it: {evaluate}\nTo play it: {play}"
        summary = self._strength.summary(step)
        return f"Done. {commands}" + (f"\nThe network of step {step:,} {summary}." if summary else "")

    def _report_progress(self) -> None:
        now, evaluations = time.monotonic(), self._selfplay.counts.evaluations
        rate = (evaluations - self._reported_evaluations) / max(now - self._reported, 1e-9)
        self._reported, self._reported_evaluations = now, evaluations
        self._reported_progress = self._progress()
        seen, self._steps_seen = self._steps_seen, []
        columns = {field.name for field in dataclasses.fields(MetricsRow)}
        told = [{"learning_rate": report.learning_rate, **report.measures} for report in seen]
        means = {
            name: sum(measures[name] for measures in told) / len(told)
            for name in (told[0] if told else ())
            if name in columns
        }
        rating, mistakes = self._strength.newest, self._mistakes.newest
        row = MetricsRow(
            minutes=self._elapsed() / 60,
            step=self._learner.step_number,
            games=self._store.num_games,
            positions=self._window.total_positions,
            evaluations=self._num_evaluations(),
            evaluations_per_second=rate,
            elo=None if rating is None else rating.elo,
            elo_error=None if rating is None else rating.error,
            mistakes=None if mistakes is None else mistakes[0],
            mistakes_error=None if mistakes is None else mistakes[1],
            **means,
        )
        # What is played again after a kill has its rows already.
        last = self._metrics.last
        if not self._is_deterministic or last is None or last.step < row.step:
            with writing(self._directory):
                self._metrics.add(row)
        steps = self._strength.rated_steps
        text = progress_line(
            row,
            progress=self._progress(),
            verdict=self._strength.verdict(),
            rated_step=steps[-1] if steps else None,
            unit="CPU-min" if self._config.training.clock == "cpu" else "min",
        )
        self._report(text)
        if not row.step:
            self._report(
                f"      learning begins at {self._num_first_positions():,} positions ({row.positions:,} so far)"
            )
        self._report_short_searches()
        if not row.games and (under_way := self._store.running):
            plies = sum(len(game.plies) for game in under_way.values()) / len(under_way)
            self._report(f"      no game has ended yet: {len(under_way)} are under way, at move {plies:.0f} on average")

    def _report_short_searches(self) -> None:
        """Say once if trees are full before their simulations are done: fewer of them make another player."""
        counts = self._selfplay.counts
        if counts.short_searches and not self._has_reported_short_searches:
            self._has_reported_short_searches = True
            self._report(
                f"      {counts.short_searches:,} of self-play's {counts.plies:,} searches ended early, because"
                f" search.memory_mib = {self._config.search.memory_mib} holds no more of their trees: give more, or"
                " play fewer games at a time (selfplay.games_per_worker)."
            )

    def _replay_from(self, first_game_id: int, step: int) -> None:
        """Have the games since the checkpoint of this step, which the first so many went before, played again."""
        recorded = self._store.num_games
        self._store.replay_from(first_game_id)
        num_games = self._store.num_games
        if num_games != first_game_id:
            raise RunError(
                f"{self._directory} is deterministic, and of the {first_game_id} games before its checkpoint of step"
                f" {step} only {num_games} are there: it cannot go on as if nothing had happened. Put the missing ones"
                " back, or go on without repeating: --set training.deterministic=false."
            )
        if recorded > num_games:
            self._report(f"The {recorded - num_games:,} games since the checkpoint of step {step:,} are played again.")

    def _go_on_learning(self, checkpoint: Checkpoint, state: dict[str, Any], info: dict[str, Any]) -> None:
        """A learner, and counts of what was done, that go on from a checkpoint and the games in the window."""
        config = self._config
        self._learner = restored_learner(config, self._game, checkpoint, state, info, self._report)
        # With another number of samples a position nothing is owed, or learned in advance, for positions before.
        owed = self._window.total_positions * config.learner.samples_per_position
        is_same_rate = info.get("samples_per_position") == config.learner.samples_per_position
        self._num_samples = min(float(info["samples"]), owed) if is_same_rate else owed if info else 0.0
        # The table is written more often than checkpoints are: time and evaluations since the last one still count.
        last = self._metrics.last
        self._elapsed_before = max(float(info.get("elapsed_s", 0.0)), 60 * last.minutes if last else 0.0)
        self._evaluations_before = int(info.get("evaluations", 0))
        self._simulations_before = int(info.get("simulations", 0))
        self._learner_cpu_s = float(info.get("learner_cpu_s", 0.0))
        if last and not self._is_deterministic:
            self._evaluations_before = max(self._evaluations_before, last.evaluations)
        self._started = self._clock()
        self._saved_step, self._saved_progress = checkpoint.info.step, self._progress()
        self._learned_progress = self._saved_progress


def progress_line(
    row: MetricsRow, *, progress: float, verdict: str, rated_step: int | None = None, unit: str = "min"
) -> str:
    """A row of the metrics as a person reads it: two lines for a terminal.

    Args:
        row: The row.
        progress: Share of the budget that is used, in [0, 1].
        verdict: The answer to "learning?".
        rated_step: The learner step of the checkpoint that the row's Elo belongs to.
        unit: Of the row's minutes.
    """
    left = f", {row.minutes / progress - row.minutes:.1f} left" if 0 < progress < 1 else ""
    lines = [
        f"{row.minutes:5.1f} {unit} ({progress:.0%}){left} | {row.games:,} games, {row.positions:,} positions"
        f" | {row.evaluations_per_second:,.0f} evaluations/s | step {row.step:,}"
    ]
    parts = []
    if row.policy_loss is not None and row.policy_entropy is not None and row.value_error is not None:
        parts.append(f"policy {row.policy_loss:.2f} (best {row.policy_entropy:.2f}), value {row.value_error:.3f}")
    if row.elo is not None and row.elo_error is not None:
        of_step = "" if rated_step is None else f" of step {rated_step:,}"
        parts.append(f"Elo{of_step} {row.elo:.0f} ± {row.elo_error:.0f}")
    if row.mistakes is not None and row.mistakes_error is not None:
        parts.append(f"mistakes {row.mistakes:.1%} ± {row.mistakes_error:.1%}")
    return "\n".join([*lines, "      " + " | ".join([*parts, f"learning? {verdict}"])])
