"""A training by self-play: it plays, learns, saves and rates, as AlphaZero does.

`SelfplayTraining.run` is the loop. `playing.py` has what plays, `pace.py` when the learner makes its steps,
`saved_state.py` what a checkpoint keeps of the run, and `telling.py` what people are told.

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
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from zerosum.base.errors import RunError, SettingsError
from zerosum.base.files import writing
from zerosum.cluster import ClusterDevices, Connection
from zerosum.learner.parallel import LearnerLostError
from zerosum.network import Checkpoint, save_checkpoint
from zerosum.network.checkpoint import mark_best
from zerosum.replay import Batch, ReplayWindow
from zerosum.replay.config import needed
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import GameRecord, require_game
from zerosum.run.budget import USED_UP, Budget, clock_s
from zerosum.run.cluster_raters import ClusterRaters
from zerosum.run.evaluation import run_evaluation
from zerosum.run.gate import Gate
from zerosum.run.learning import RunLearner, new_window, open_checkpoint
from zerosum.run.measures import Measures
from zerosum.run.pace import Pace
from zerosum.run.playing import Playing
from zerosum.run.run_plan import RunPlan
from zerosum.run.saved_state import SavedState
from zerosum.run.storage import Mirror
from zerosum.run.telling import Telling, going_on
from zerosum.selfplay import SelfplayThreads
from zerosum.selfplay.alpha_beta import light_weight, weight_of
from zerosum.selfplay.playing_network import PROGRESS

MOST_LEARNERS_LOST = 3
"""Learners on a cluster that fail in a row, without a checkpoint between them, after which the training ends."""
POLL_S = 0.05
"""Seconds between two looks of the learner's thread at what is due; each takes time from self-play."""


class SelfplayTraining:
    """One process's part in a run that learns from self-play."""

    def __init__(
        self,
        plan: RunPlan,
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
        self._plan, self._report = plan, report
        self._directory, self._game, self._config = plan.directory, plan.game, plan.config
        self._stop, self._mirror, self._cluster = stop, mirror, cluster
        self._is_deterministic = plan.config.training.deterministic
        with contextlib.ExitStack() as opened:
            self._open(opened)
            self._opened = opened.pop_all()

    def _open(self, opened: contextlib.ExitStack) -> None:
        """Open the run and continue it; `opened` closes what is to be closed at the end."""
        directory, config, report = self._directory, self._config, self._report
        cluster = self._cluster
        if cluster is not None and config.network.kind == "updatable":
            raise SettingsError(
                "network.kind is 'updatable', whose self-play is an alpha-beta search in the threads of one process:"
                " train without a cluster."
            )
        self._store = GameStore(directory / "games", report=report, games_per_shard=config.replay.games_per_shard)
        opened.callback(self._store.close)
        checkpoint, state, saved = open_checkpoint(self._plan, report)
        self._saved_step, self._learner_cpu_s = checkpoint.info.step, saved.learner_cpu_s
        raters = None if cluster is None or not config.cluster.num_raters else ClusterRaters(cluster, config)
        self._measures = Measures(
            self._plan, saved=saved, report=report, clock=self._clock_of_this_thread, raters=raters
        )
        opened.callback(self._measures.close)
        first_game_id = self._store.next_game_id
        if self._is_deterministic:
            first_game_id = saved.games
            self._replay_from(first_game_id, checkpoint.info.step)
        self._gate = None
        if config.training.gate_games:
            self._gate = Gate(self._plan, report=report)
        else:
            mark_best(directory / "checkpoints", None)
        self._window = self._full_window(saved)
        self._learner = RunLearner(self._plan, report, checkpoint, state, saved, devices=self._devices_of_cluster)
        opened.callback(self._learner.close)
        self._batch: Batch | None = None  # the learner's newest batch; int8 takes its ranges from it
        started = clock_s(config.training)
        evaluation = run_evaluation(self._plan, report=report, is_stopped=self._stop.is_set)
        elapsed_s = self._measures.elapsed_before + clock_s(config.training) - started
        if words := going_on(self._store, config, step=self._saved_step, elapsed_s=self._measures.elapsed_before):
            report(words)
        last = self._measures.metrics.last
        self._playing = Playing(
            self._plan,
            self._gate.best() if self._gate else checkpoint,
            self._store,
            saved=saved,
            # Metrics are written more often than checkpoints.
            evaluations=max(saved.evaluations, last.evaluations if last and not self._is_deterministic else 0),
            first_game_id=first_game_id,
            evaluation=evaluation,
            cluster=cluster,
            report=report,
        )
        self._budget = Budget(
            config,
            elapsed_s=elapsed_s,
            num_steps=lambda: self._learner.step_number,
            others_cpu_s=lambda: self._playing.workers.cpu_s + self._learner.cpu_s + self._measures.cpu_s,
        )
        self._pace = Pace(config, self._window, self._budget, saved)
        parts = (self._store, self._window, self._playing, self._pace, self._budget, self._measures)
        self._telling = Telling(self._plan, *parts, report=report)
        self._learners_lost: list[int] = []  # the saved step at each loss since the newest checkpoint

    def _full_window(self, saved: SavedState) -> ReplayWindow:
        """The window of the newest recorded games."""
        config, rate, missing_weight = self._config, self._config.alpha_beta_samples, saved.missing_weight
        window = new_window(config)
        least_weight = light_weight(rate) if missing_weight or config.selfplay.alphabeta_depth else 1.0
        recent = list(self._store.recent(**needed(self._store.num_positions, config.replay, least_weight=least_weight)))
        for known in (*recent, *(running.header for running in self._store.running.values())):
            require_game(known, self._game.spec)
        num_newer = self._store.num_games - saved.games
        for record in recent[max(0, len(recent) - num_newer) :]:
            missing_weight += (1 - weight_of(record, samples_per_position=rate)) * record.num_positions
        # Counted after the games are read: reading a damaged shard sets it aside.
        window.load(recent, total_positions=self._store.num_positions, missing_weight=missing_weight)
        return window

    def _devices_of_cluster(self) -> ClusterDevices | None:
        """The learner's devices if they are on the cluster."""
        if self._cluster is None or self._config.cluster.gpus_per_learner is None:
            return None
        return ClusterDevices(self._cluster, self._config.cluster, self._config.learner.num_devices)

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
                self._telling.stopped(self._saved_step)
            else:
                self._telling.done(self._learner.step_number)

    # The schedule: how self-play and learning share the machine.

    def _play_and_learn(self) -> None:
        """Play on self-play's threads; learn, save and rate on this one."""
        if self._is_over():  # stopped while the evaluation was learned, without which its search cannot play
            return
        with ThreadPoolExecutor(1) as pool:
            is_ended = threading.Event()
            is_paused = self._measures.counting_pauses(self._pace.is_behind)
            playing = pool.submit(self._playing.workers.play, is_ended.is_set, self._take, is_paused=is_paused)
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
        self._playing.take(record)

    def _play_and_learn_in_turn(self) -> None:
        """Do the same one after the other, in an order that depends on counts alone."""
        selfplay, num_steps = self._playing.workers, self._config.training.steps_per_phase
        assert isinstance(selfplay, SelfplayThreads), "a deterministic run has one worker, and one worker is a thread"
        while not self._is_over():
            selfplay.play(lambda: self._stop.is_set() or self._pace.num_steps_due >= num_steps, self._take)
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
        if self._pace.is_phase_due:
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
            checkpoint, state, saved = open_checkpoint(self._plan, self._report)
            self._learner.restore(checkpoint, state, saved)
            self._saved_step = checkpoint.info.step
            self._pace.restore(saved)
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

    def _is_due_to_save(self) -> bool:
        return self._budget.is_due_to_save and self._learner.step_number > self._saved_step

    # The work.

    def _learn(self) -> None:
        """Make the due steps of one phase, then give self-play the new weights, unless a gate decides that."""
        started, first_step = self._learner.clock_s, self._learner.step_number
        for _ in range(min(self._config.training.steps_per_phase, self._pace.num_steps_due)):
            if self._is_over():
                break
            if not self._is_deterministic and self._budget.is_due_to_report:
                self._report_progress()
            report, batch = self._learner.step(self._window, progress=self._budget.progress)
            self._measures.add_step(report)
            if not self._is_deterministic:  # a resumed run has no batch yet
                self._batch = batch
            self._pace.count_step()
        checkpoint = self._checkpoint()
        self._learner_cpu_s += self._learner.clock_s - started
        self._pace.end_phase()
        if self._learner.step_number > first_step and self._gate is None:
            self._playing.play_with(checkpoint, self._batch)

    def _judge(self) -> None:
        """Let the newest saved network try for self-play's place, if the run has a gate."""
        if self._gate is not None and (best := self._gate.judge(self._saved_step, is_stopped=self._stop.is_set)):
            self._playing.play_with(best, self._batch)

    def _checkpoint(self) -> Checkpoint:
        """The current network, and what it was trained on."""
        training = {
            "games": self._store.num_games,
            "positions": self._window.total_positions,
            "evaluations": self._playing.evaluations,
            "minutes": round(self._budget.elapsed_s / 60, 3),
            PROGRESS: self._budget.progress,
        }
        return self._learner.network(training=training)

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
                learner_info=self._state().to_json(),
            )
        self._saved_step = self._learner.step_number
        if self._mirror:
            self._mirror.wake()

    def _state(self) -> SavedState:
        """What a checkpoint keeps of the run now."""
        learner = self._config.learner
        return SavedState(
            optimizer=learner.optimizer,
            elapsed_s=self._budget.elapsed_s,
            games=self._store.num_games,
            evaluations=self._playing.evaluations,
            simulations=self._playing.simulations,
            learner_cpu_s=self._learner_cpu_s,
            rating_matches=len(self._measures.strength.matches),
            samples=self._pace.num_samples,
            samples_per_position=learner.samples_per_position,
            missing_weight=self._window.missing_weight,
        )

    def _rate(self, *, is_last: bool = False) -> None:
        """Measure the network that plays."""
        self._playing.compile(self._batch)
        self._measures.rate(
            self._playing.network.step,
            self._playing.evaluator,
            self._budget,
            num_evaluations=self._playing.evaluations,
            is_last=is_last,
        )

    def _report_progress(self) -> None:
        """Write a row of metrics and report it."""
        self._telling.progress(self._learner.step_number, learner_cpu_s=self._learner_cpu_s)

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
