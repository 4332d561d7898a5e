"""A training by self-play: the schedule of playing, learning, saving and rating.

Self-play has its own threads (or processes, for a game in Python), and learning has one thread beside them. Everything
that counts is on disk when it counts, so a kill at any moment costs at most the learner steps since the last
checkpoint, and these are made again.

A deterministic run (`training.deterministic`) does one thing after the other on one thread, in an order that depends on
counts alone. Before each checkpoint the games in flight are played to their ends, so that a checkpoint and the games
before it are the whole state of the run. After a kill the run begins again there: the later games are played again, are
the same, and nothing is written twice. On the same machine with the same versions, two such runs have the same games,
networks, optimiser states, rating games and rows of metrics, bit for bit, except for times.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from zerosum.base.errors import RunError, SettingsError, command_text
from zerosum.base.files import writing
from zerosum.cluster import ClusterDevices, ClusterSelfplay, Connection
from zerosum.games import Rules
from zerosum.learner.parallel import LearnerLostError
from zerosum.network import Checkpoint, save_checkpoint
from zerosum.network.checkpoint import mark_best
from zerosum.network.evaluators import make_evaluator
from zerosum.replay import Batch
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import GameRecord
from zerosum.replay.window import needed, require_game
from zerosum.run.budget import USED_UP, Budget, clock_s
from zerosum.run.cluster_raters import ClusterRaters
from zerosum.run.config import RunConfig, minutes_word, train_text
from zerosum.run.evaluation import run_evaluation
from zerosum.run.forecast import measure
from zerosum.run.gate import Gate
from zerosum.run.learning import RunLearner, new_window, open_checkpoint
from zerosum.run.measures import Measures, progress_line
from zerosum.run.storage import Mirror
from zerosum.run.workers import measured, new_selfplay, num_selfplay_workers, plays_in_processes
from zerosum.selfplay import Selfplay, SelfplayTask, SelfplayThreads
from zerosum.selfplay.alpha_beta import light_weight, weight_of
from zerosum.selfplay.playing_network import PROGRESS, PlayingNetwork
from zerosum.selfplay.resignation import Resignation, new_resignation, num_games_to_learn_from
from zerosum.selfplay.worker import num_trees

LATEST_START = 0.1
"""Share of the budget after which learning begins with fewer positions than `training.min_positions`."""
MOST_LEARNERS_LOST = 3
"""Learners on a cluster that fail in a row, without a checkpoint between them, after which the training ends."""
POLL_S = 0.05
"""Seconds between two looks of the learner's thread at what is due; each takes time from self-play."""
LONGEST_PHASE = 0.02
"""Share of a budget in minutes after which the due learner steps are made, even if they are fewer than a phase has."""


class SelfplayTraining:
    """One process's part in a run that learns from self-play."""

    def __init__(
        self,
        directory: Path,
        game: Rules,
        config: RunConfig,
        report: Callable[[str], None],
        stop: threading.Event,
        *,
        cluster: Connection | None = None,
        mirror: Mirror | None = None,
    ) -> None:
        """Open the run and continue it. Setting `stop` ends the training soon and cleanly.

        Self-play is on the `cluster`, and the learner and the raters as `config.cluster` says; without one all is on
        this machine. `mirror` copies the run to object storage; it has only sealed games, so the games are sealed
        before each checkpoint.
        """
        self._directory, self._game, self._config, self._report = directory, game, config, report
        self._stop, self._mirror, self._cluster = stop, mirror, cluster
        with contextlib.ExitStack() as opened:
            self._open(opened)
            self._opened = opened.pop_all()

    def _open(self, opened: contextlib.ExitStack) -> None:
        """Open the run and continue it; `opened` closes what is to be closed at the end."""
        directory, game, config, report = self._directory, self._game, self._config, self._report
        if self._cluster is not None and config.network.kind == "updatable":
            raise SettingsError(
                "network.kind is 'updatable', whose self-play is an alpha-beta search in the threads of one process:"
                " train without a cluster."
            )
        self._store = GameStore(directory / "games", report=report, games_per_shard=config.replay.games_per_shard)
        opened.callback(self._store.close)
        checkpoint, state, info = open_checkpoint(directory, game, config, report)
        cluster = self._cluster
        raters = None if cluster is None or not config.cluster.num_raters else ClusterRaters(cluster, config)
        self._measures = Measures(
            directory,
            game,
            config,
            learner_info=info,
            report=report,
            clock=self._clock_of_this_thread,
            raters=raters,
        )
        opened.callback(self._measures.close)
        first_game_id = self._store.next_game_id
        if self._is_deterministic:
            first_game_id = int(info.get("games", 0))
            self._replay_from(first_game_id, checkpoint.info.step)
        self._gate = None
        if config.training.gate_games:
            self._gate = Gate(directory, game, config, report=report)
        else:
            mark_best(directory / "checkpoints", None)
        self._load_window(info)
        self._learner = RunLearner(game, config, report, checkpoint, state, info, devices=self._devices_of_cluster)
        opened.callback(self._learner.close)
        self._restore_samples(checkpoint, info)
        self._restore_counts(info)
        self._batch: Batch | None = None  # the learner's newest batch; int8 takes its ranges from it
        started = clock_s(config.training)
        self._evaluation = run_evaluation(directory, game, config, report=report, is_stopped=self._stop.is_set)
        learning_s = clock_s(config.training) - started
        self._begin_selfplay(self._gate.best() if self._gate else checkpoint, first_game_id)
        self._budget = Budget(
            config,
            elapsed_s=self._measures.elapsed_before + learning_s,
            num_steps=lambda: self._learner.step_number,
            others_cpu_s=lambda: self._selfplay.cpu_s + self._learner.cpu_s + self._measures.cpu_s,
        )
        self._learned_progress = self._budget.progress
        self._learners_lost: list[int] = []  # the saved step at each loss since the newest checkpoint
        self._reported_evaluations = 0
        self._has_reported_short_searches = False

    def _load_window(self, info: dict[str, Any]) -> None:
        """Fill the window with the newest recorded games. `info` is the checkpoint's."""
        config, rate = self._config, self._config.alpha_beta_samples
        self._window = new_window(config)
        missing_weight = float(info.get("missing_weight", 0.0))
        least_weight = light_weight(rate) if missing_weight or config.selfplay.alphabeta_depth else 1.0
        recent = list(self._store.recent(**needed(self._store.num_positions, config.replay, least_weight=least_weight)))
        for known in (*recent, *(running.header for running in self._store.running.values())):
            require_game(known, self._game.spec)
        num_newer = self._store.num_games - int(info.get("games", 0))
        for record in recent[max(0, len(recent) - num_newer) :]:
            missing_weight += (1 - weight_of(record, samples_per_position=rate)) * record.num_positions
        # Counted after the games are read: reading a damaged shard sets it aside.
        self._window.load(recent, total_positions=self._store.num_positions, missing_weight=missing_weight)

    def _restore_samples(self, checkpoint: Checkpoint, info: dict[str, Any]) -> None:
        """Continue the count of samples at a checkpoint."""
        self._saved_step = checkpoint.info.step
        # With another number of samples per position, earlier positions leave no steps owed or made in advance.
        rate = self._config.learner.samples_per_position
        owed, is_same_rate = self._owed_samples(), info.get("samples_per_position") == rate
        self._num_samples = min(float(info["samples"]), owed) if is_same_rate else owed if info else 0.0

    def _devices_of_cluster(self) -> ClusterDevices | None:
        """The learner's devices if they are on the cluster."""
        if self._cluster is None or self._config.cluster.gpus_per_learner is None:
            return None
        return ClusterDevices(self._cluster, self._config.cluster, self._config.learner.num_devices)

    def _restore_counts(self, info: dict[str, Any]) -> None:
        """Continue the counts of earlier processes."""
        last = self._measures.metrics.last
        self._evaluations_before = int(info.get("evaluations", 0))
        if last and not self._is_deterministic:
            # Metrics are written more often than checkpoints.
            self._evaluations_before = max(self._evaluations_before, last.evaluations)
        self._simulations_before = int(info.get("simulations", 0))
        self._learner_cpu_s = float(info.get("learner_cpu_s", 0.0))

    def _begin_selfplay(self, checkpoint: Checkpoint, first_game_id: int) -> None:
        """Make the evaluator and the workers, which continue the games in flight, and report them."""
        game, report, cluster = self._game, self._report, self._cluster
        config, why = measured(
            self._directory, game, checkpoint, self._config, report=report, may_add_workers=cluster is None
        )
        num_workers, in_processes = num_selfplay_workers(config), plays_in_processes(config, game)
        num_games = config.selfplay.games_per_worker
        assert num_games is not None
        self._evaluator = make_evaluator(
            checkpoint,
            config.training.evaluator,
            num_threads=1 if in_processes or cluster is not None else num_workers,
            batch_size=num_games,
            game=game,
        )
        self._playing = PlayingNetwork.of(checkpoint.info)
        self._uncompiled: Checkpoint | None = None  # a newer network than the evaluator's
        self._resignation = self._restored_resignation()
        # An alpha-beta search plays one game at a time.
        one_at_a_time = config.network.kind == "updatable" or config.selfplay.depth_at(0.0) > 0
        staggers = config.selfplay.stagger_starts and not one_at_a_time
        task = SelfplayTask(
            game=game,
            search=config.search,
            config=config.selfplay,
            evaluator=self._evaluator,
            log=self._store,
            seed=config.training.seed,
            settings_hash=self._config.selfplay_hash,
            num_staggered=num_workers * num_trees(num_games) if staggers else 0,
            game_ids=itertools.count(first_game_id),
            network=lambda: self._playing,
            evaluation=self._evaluation,
            resignation=self._resignation,
        )
        # A deterministic run begins its games in flight anew.
        running = {} if self._is_deterministic else self._store.running
        self._selfplay: Selfplay
        if cluster is not None:
            self._selfplay = ClusterSelfplay(
                task,
                checkpoint,
                connection=cluster,
                config=config.cluster,
                game=str(config.game),
                store=self._store,
                directory=self._directory,
                evaluator=config.training.evaluator,
                report=report,
            )
        else:
            self._selfplay = new_selfplay(task, checkpoint, config, running=running.values(), report=report)
        if num_positions := self._store.num_positions:
            report(
                f"Going on: {self._store.num_games:,} games and {num_positions:,} positions recorded,"
                f" {len(running)} games under way, learner step {self._learner.step_number:,},"
                f" {self._measures.elapsed_before / 60:.1f} {minutes_word(config.training)} used."
            )
        kind = "process" if in_processes else "thread"
        place = f"workers: {num_workers}" if cluster is None else f"actors of the cluster {cluster.address!r}"
        report(f"  self-play: {num_games} games a {kind}{why}; {place}; evaluator: {self._evaluator.description}.")
        if config.network.kind == "updatable":
            report(
                f"  An alpha-beta search of {config.selfplay.alphabeta_nodes:,} nodes a move plays self-play's games."
            )
        if depth := config.selfplay.depth_at(self._playing.progress):
            report(f"  At first {_player_words(depth)} self-play's games.")
        if config.game.origin == "object" and num_workers > 1:
            report(
                "  The workers share one process, because no other process can load"
                f" {config.game.given_object}: a class in a file, path.py:Class, plays in a process a core."
            )
        is_tree_search = config.network.kind != "updatable"
        if config.training.steps is not None and not self._is_deterministic and is_tree_search:
            report(f"  {measure(config, game, checkpoint, self._evaluator, num_games=num_games)}.")

    def _restored_resignation(self) -> Resignation | None:
        """The threshold of resignations by the games so far; None if the run has none."""
        config = self._config.selfplay
        if config.resign_false_positives is None:
            return None
        games = self._store.recent(num_games=num_games_to_learn_from(config))
        return new_resignation(config, seed=self._config.training.seed, games=games)

    @property
    def _is_deterministic(self) -> bool:
        return self._config.training.deterministic

    def run(self) -> None:
        """Train until the budget is used up or `stop` is set."""
        with self._opened:
            self._judge()  # a kill may have come between a checkpoint and its match
            if self._budget.progress >= 1:
                self._report(USED_UP)
                return
            if self._cluster is None:  # elsewhere the cores of other machines have the work
                self._measures.watch_cores(self._budget)
            if self._is_deterministic:
                self._play_and_learn_in_turn()
            else:
                self._play_and_learn()
                if self._stop.is_set():
                    self._report("Stopping: the run is being saved (Ctrl-C again ends at once).")
                self._save()
                self._judge()
                if not self._stop.is_set():
                    self._rate(is_last=True)
                self._report_progress()
            if self._stop.is_set():
                go_on = train_text(self._config, self._directory)
                here = f"the checkpoint of step {self._saved_step:,}" if self._is_deterministic else "here"
                stopped = f"Stopped. To resume from {here}: {go_on}"
                self._report("\n".join(filter(None, [self._measures.words_on_cores(), stopped])))
            else:
                self._report(self._last_words())

    # The schedule: how self-play and learning share the machine.

    def _play_and_learn(self) -> None:
        """Play on self-play's threads; learn, save and rate on this one."""
        if self._is_over():  # stopped while the evaluation was learned, without which its search cannot play
            return
        with ThreadPoolExecutor(1) as pool:
            is_ended = threading.Event()
            is_paused = self._measures.counting_pauses(self._is_behind)
            playing = pool.submit(self._selfplay.play, is_ended.is_set, self._take, is_paused=is_paused)
            try:
                while not self._is_over() and not playing.done():
                    try:
                        self._learn_and_housekeep()
                    except LearnerLostError as error:
                        self._replace_learner(error)
            finally:
                is_ended.set()
            playing.result()

    def _take(self, record: GameRecord) -> None:
        """Learn from a finished game from now on."""
        self._window.add(record)
        # Threads of this process have told it already.
        if self._resignation is not None and not isinstance(self._selfplay, SelfplayThreads):
            self._resignation.take(record)

    def _play_and_learn_in_turn(self) -> None:
        """Do the same one after the other, in an order that depends on counts alone."""
        selfplay, num_steps = self._selfplay, self._config.training.steps_per_phase
        assert isinstance(selfplay, SelfplayThreads), "a deterministic run has one worker, and one worker is a thread"
        while not self._is_over():
            selfplay.play(lambda: self._stop.is_set() or self._num_steps_due() >= num_steps, self._take)
            self._learn()
            if self._is_due_to_save():
                selfplay.play_out(self._stop.is_set, self._take)
                if not self._stop.is_set():
                    self._rate(is_last=self._budget.progress >= 1)
                    self._report_progress()
                    self._save()
                    self._judge()
            elif not self._stop.is_set() and self._budget.is_due_to_report:  # an interrupted phase has no row
                self._report_progress()

    def _learn_and_housekeep(self) -> None:
        if self._is_due_to_learn():
            self._learn()
        else:
            time.sleep(POLL_S)
        if not self._is_over():
            self._housekeep()

    def _replace_learner(self, error: LearnerLostError) -> None:
        """Go on from the last checkpoint with another learner, unless learners fail again and again."""
        step = self._saved_step
        self._learners_lost = [lost for lost in (*self._learners_lost, step) if lost == step]
        if len(self._learners_lost) >= MOST_LEARNERS_LOST:
            raise RunError(
                f"{error}. {MOST_LEARNERS_LOST} learners in a row have ended since the checkpoint of step {step:,}. The"
                " games are saved: remove the cause and continue by the same command."
            ) from error
        self._report(f"{error}. Another one resumes from the checkpoint of step {step:,}.")
        try:
            checkpoint, state, info = open_checkpoint(self._directory, self._game, self._config, self._report)
            self._learner.restore(checkpoint, state, info)
            self._restore_samples(checkpoint, info)
        except LearnerLostError as again:
            self._replace_learner(again)

    def _housekeep(self) -> None:
        if self._is_due_to_save():
            self._save()
            self._judge()
            self._rate()
        if self._budget.is_due_to_report:
            self._report_progress()

    def _clock_of_this_thread(self) -> float:
        """Seconds of this thread's work, without the self-play beside it, by the budget's kind of clock."""
        return time.thread_time() if self._config.training.clock == "cpu" else time.monotonic()

    def _is_over(self) -> bool:
        return self._stop.is_set() or self._budget.progress >= 1

    def _num_steps_due(self) -> int:
        """Learner steps that the recorded positions allow and that have not been made yet."""
        positions, learner = self._window.total_positions, self._config.learner
        if positions < self._num_first_positions():
            return 0
        return int((self._owed_samples() - self._num_samples) / learner.batch_size)

    def _owed_samples(self) -> float:
        """Samples to be learned from since the beginning of the run."""
        return self._window.total_weight * self._config.learner.samples_per_position

    def _num_first_positions(self) -> int:
        """Recorded positions at which learning begins: the setting, or fewer if the budget is small."""
        training, learner = self._config.training, self._config.learner
        if training.steps is not None:
            needed_positions = training.steps * learner.batch_size / learner.samples_per_position
            return min(training.min_positions, math.ceil(LATEST_START * needed_positions))
        # Learning needs the positions of at least one step.
        least = math.ceil(learner.batch_size / learner.samples_per_position)
        return training.min_positions if self._budget.progress < LATEST_START else min(training.min_positions, least)

    def _is_due_to_learn(self) -> bool:
        """Whether a phase's steps are due, or fewer steps if positions come slowly and the last phase is long ago."""
        num_steps = self._num_steps_due()
        is_long_ago = (
            self._config.training.minutes is not None
            and self._budget.progress - self._learned_progress >= LONGEST_PHASE
        )
        return num_steps >= (1 if is_long_ago else self._config.training.steps_per_phase)

    def _is_behind(self) -> bool:
        """Whether the learner cannot keep up. Self-play then waits and leaves the machine to the learner."""
        return self._num_steps_due() > 4 * self._config.training.steps_per_phase

    def _is_due_to_save(self) -> bool:
        return self._budget.is_due_to_save and self._learner.step_number > self._saved_step

    # The work.

    def _learn(self) -> None:
        """Make the due steps of one phase, then give self-play the new weights, unless a gate decides that."""
        started, first_step = self._learner.clock_s, self._learner.step_number
        for _ in range(min(self._config.training.steps_per_phase, self._num_steps_due())):
            if self._is_over():
                break
            if not self._is_deterministic and self._budget.is_due_to_report:
                self._report_progress()
            report, batch = self._learner.step(self._window, progress=self._budget.progress)
            self._measures.add_step(report)
            if not self._is_deterministic:  # a resumed run has no batch yet
                self._batch = batch
            self._num_samples += self._config.learner.batch_size
        checkpoint = self._checkpoint()
        self._learner_cpu_s += self._learner.clock_s - started
        self._learned_progress = self._budget.progress
        if self._learner.step_number > first_step and self._gate is None:
            self._play_with(checkpoint)

    def _play_with(self, checkpoint: Checkpoint) -> None:
        """Give self-play a new network."""
        self._uncompiled = checkpoint
        if isinstance(self._selfplay, SelfplayThreads):
            self._compile()
        before, self._playing = self._playing, PlayingNetwork.of(checkpoint.info)
        self._report_stage(before)
        self._selfplay.update(checkpoint)

    def _compile(self) -> None:
        """Give the evaluator of this process the network that plays. Without threads only rating games use it."""
        if self._uncompiled is not None:
            planes_BCHW = None if self._batch is None else self._batch.planes()
            self._evaluator.update(self._uncompiled, planes_BCHW=planes_BCHW)
            self._uncompiled = None

    def _report_stage(self, before: PlayingNetwork) -> None:
        """Report that another search plays than with the network before."""
        selfplay = self._config.selfplay
        if (depth := selfplay.depth_at(self._playing.progress)) != selfplay.depth_at(before.progress):
            self._report(f"      from now on {_player_words(depth)} self-play's games")

    def _judge(self) -> None:
        """Let the newest saved network try for self-play's place, if the run has a gate."""
        if self._gate is not None and (best := self._gate.judge(self._saved_step, is_stopped=self._stop.is_set)):
            self._play_with(best)

    def _checkpoint(self) -> Checkpoint:
        """The current network, and what it was trained on."""
        training = {
            "games": self._store.num_games,
            "positions": self._window.total_positions,
            "evaluations": self._num_evaluations(),
            "minutes": round(self._budget.elapsed_s / 60, 3),
            PROGRESS: self._budget.progress,
        }
        return self._learner.network(training=training)

    def _num_evaluations(self) -> int:
        return self._evaluations_before + self._selfplay.counts.evaluations

    def _save(self) -> None:
        """Save a checkpoint and the games it has learned from, if anything was learned since the last one."""
        self._budget.note_saved()
        if self._mirror:
            self._store.seal()
        if self._learner.step_number == self._saved_step:
            return
        self._store.sync()
        with writing(self._directory):
            save_checkpoint(
                self._directory / "checkpoints",
                self._checkpoint(),
                learner_state=self._learner.state(),
                learner_info={
                    "elapsed_s": self._budget.elapsed_s,
                    "evaluations": self._num_evaluations(),
                    "simulations": self._simulations_before + self._selfplay.counts.simulations,
                    "learner_cpu_s": self._learner_cpu_s,
                    "samples": self._num_samples,
                    "missing_weight": self._window.missing_weight,
                    "samples_per_position": self._config.learner.samples_per_position,
                    "optimizer": self._config.learner.optimizer,
                    "games": self._store.num_games,
                    "rating_matches": len(self._measures.strength.matches),
                },
            )
        self._saved_step = self._learner.step_number
        if self._mirror:
            self._mirror.wake()

    def _rate(self, *, is_last: bool = False) -> None:
        """Measure the network that plays."""
        self._compile()
        self._measures.rate(
            self._playing.step,
            self._evaluator,
            self._budget,
            num_evaluations=self._num_evaluations(),
            is_last=is_last,
        )

    def _last_words(self) -> str:
        """The end of the training, for people: how strong the player is, and how to use it."""
        training = self._config.training
        if self._learner.step_number == 0:
            go_on = train_text(
                self._config, self._directory, minutes=10 * training.minutes if training.minutes else None
            )
            return (
                f"The budget is used up, and nothing was learned: learning begins at {self._num_first_positions():,}"
                f" positions, and {self._window.total_positions:,} were recorded. Go on with more time: {go_on}"
            )
        if self._config.game.origin == "object":
            commands = f"To play it, in Python: zerosum.load({str(self._directory)!r}, game=game)"
        else:
            evaluate, play = (command_text(word, self._directory) for word in ("evaluate", "play"))
            commands = f"To measure it: {evaluate}\nTo play it: {play}"
        step = self._playing.step
        summary = self._measures.strength.summary(step)
        network = f"The network of step {step:,} {summary}." if summary else ""
        return "\n".join(filter(None, [self._measures.words_on_cores(), f"Done. {commands}", network]))

    def _report_progress(self) -> None:
        """Write a row of metrics and report it."""
        evaluations = self._selfplay.counts.evaluations
        rate = (evaluations - self._reported_evaluations) / self._budget.note_reported()
        self._reported_evaluations = evaluations
        row = self._measures.add_row(
            self._learner.step_number,
            self._budget,
            games=self._store.num_games,
            positions=self._window.total_positions,
            evaluations=self._num_evaluations(),
            evaluations_per_second=rate,
            learning_cpu_s=self._learner_cpu_s,
        )
        steps = self._measures.strength.rated_steps
        text = progress_line(
            row,
            progress=self._budget.progress,
            minutes_left=self._budget.minutes_left,
            verdict=self._measures.strength.verdict(),
            rated_step=steps[-1] if steps else None,
            unit=self._budget.unit,
        )
        self._report(text)
        if not row.step:
            first = self._num_first_positions()
            text = f"      learning begins at {first:,} position{'s' * (first != 1)} ({row.positions:,} so far)"
            is_early = self._config.training.minutes is not None and self._budget.progress < LATEST_START
            self._report(text + (f", or with fewer at {LATEST_START:.0%} of the budget" if is_early else ""))
        self._report_short_searches()
        if self._resignation is not None:
            self._report(f"      {self._resignation}")
        if not row.games and (under_way := self._store.running):
            plies = sum(len(game.plies) for game in under_way.values()) / len(under_way)
            self._report(f"      no game has ended yet: {len(under_way)} are under way, at move {plies:.0f} on average")

    def _report_short_searches(self) -> None:
        """Report once if trees are full before their simulations are done, which changes the player."""
        counts = self._selfplay.counts
        if counts.short_searches and not self._has_reported_short_searches:
            self._has_reported_short_searches = True
            self._report(
                f"      {counts.short_searches:,} of self-play's {counts.plies:,} searches ended early, because their"
                f" trees filled search.memory_mib = {self._config.search.memory_mib}: give more memory, or play fewer"
                " games at a time (selfplay.games_per_worker)."
            )

    def _replay_from(self, first_game_id: int, step: int) -> None:
        """Have the games from this number on played again: those since the checkpoint of this step."""
        recorded = self._store.num_games
        self._store.replay_from(first_game_id)
        num_games = self._store.num_games
        if num_games != first_game_id:
            raise RunError(
                f"{self._directory} is deterministic, but only {num_games} of the {first_game_id} games before its"
                f" checkpoint of step {step} exist, so it cannot repeat. Restore the missing games, or continue without"
                " repeating: --set training.deterministic=false."
            )
        if recorded > num_games:
            self._report(f"The {recorded - num_games:,} games since the checkpoint of step {step:,} are played again.")


def _player_words(depth: int) -> str:
    return f"an alpha-beta search of depth {depth} plays" if depth else "the network plays"
