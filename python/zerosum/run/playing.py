"""What plays in a run: the workers of self-play, their network, and the evaluator of this process."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from zerosum.cluster import ClusterSelfplay, Connection
from zerosum.network import Checkpoint
from zerosum.network.evaluators import make_evaluator
from zerosum.replay import Batch
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import GameRecord
from zerosum.run.forecast import measure
from zerosum.run.run_plan import RunPlan
from zerosum.run.saved_state import SavedState
from zerosum.run.workers import measured, new_selfplay, num_selfplay_workers, plays_in_processes
from zerosum.selfplay import Selfplay, SelfplayTask, SelfplayThreads
from zerosum.selfplay.piece_terms import LearnedWeights
from zerosum.selfplay.playing_network import PlayingNetwork
from zerosum.selfplay.resignation import Resignation, new_resignation, num_games_to_learn_from
from zerosum.selfplay.worker import num_trees


class Playing:
    """Self-play by the newest network, or by the best with a gate, and the evaluator of rating games."""

    def __init__(
        self,
        plan: RunPlan,
        checkpoint: Checkpoint,
        store: GameStore,
        *,
        saved: SavedState,
        evaluations: int,
        first_game_id: int,
        evaluation: LearnedWeights | None,
        cluster: Connection | None,
        report: Callable[[str], None],
    ) -> None:
        """Make the evaluator and the workers, which continue the games in flight, and report them.

        Args:
            plan: The run's plan.
            checkpoint: The network that plays at first.
            store: Gets the games, and has those in flight.
            saved: The run's counts at the newest checkpoint.
            evaluations: Evaluations of earlier processes.
            first_game_id: The number of the first new game.
            evaluation: The learned evaluation of an alpha-beta search, if one plays.
            cluster: Plays the games; this machine without one.
            report: Gets the progress, line by line.
        """
        game, config = plan.game, plan.config
        self._config, self._report = config, report
        self._evaluations_before, self._simulations_before = evaluations, saved.simulations
        measured_config, why = measured(plan, checkpoint, report=report, may_add_workers=cluster is None)
        num_workers, in_processes = num_selfplay_workers(measured_config), plays_in_processes(measured_config, game)
        num_games = measured_config.selfplay.games_per_worker
        assert num_games is not None
        self.evaluator = make_evaluator(
            checkpoint,
            config.training.evaluator,
            num_threads=1 if in_processes or cluster is not None else num_workers,
            batch_size=num_games,
            game=game,
        )
        self.network = PlayingNetwork.of(checkpoint.info)
        self._uncompiled: Checkpoint | None = None  # a newer network than the evaluator's
        self.resignation = self._restored_resignation(store)
        # An alpha-beta search plays one game at a time.
        one_at_a_time = config.network.kind == "updatable" or config.selfplay.depth_at(0.0) > 0
        staggers = config.selfplay.stagger_starts and not one_at_a_time
        task = SelfplayTask(
            game=game,
            search=config.search,
            config=measured_config.selfplay,
            evaluator=self.evaluator,
            log=store,
            seed=config.training.seed,
            settings_hash=config.selfplay_hash,
            num_staggered=num_workers * num_trees(num_games) if staggers else 0,
            game_ids=itertools.count(first_game_id),
            network=lambda: self.network,
            evaluation=evaluation,
            resignation=self.resignation,
        )
        self.workers: Selfplay
        if cluster is not None:
            self.workers = ClusterSelfplay(
                task,
                checkpoint,
                connection=cluster,
                config=config.cluster,
                game=str(config.game),
                store=store,
                directory=plan.directory,
                evaluator=config.training.evaluator,
                report=report,
            )
        else:
            # A deterministic run begins its games in flight anew.
            running = {} if config.training.deterministic else store.running
            self.workers = new_selfplay(task, checkpoint, measured_config, running=running.values(), report=report)
        self._tell_workers(num_workers, in_processes=in_processes, num_games=num_games, why=why, cluster=cluster)
        if (
            config.training.steps is not None
            and not config.training.deterministic
            and config.network.kind != "updatable"
        ):
            report(f"  {measure(measured_config, game, checkpoint, self.evaluator, num_games=num_games)}.")

    def _tell_workers(
        self, num_workers: int, *, in_processes: bool, num_games: int, why: str, cluster: Connection | None
    ) -> None:
        config, report = self._config, self._report
        kind = "process" if in_processes else "thread"
        place = f"workers: {num_workers}" if cluster is None else f"actors of the cluster {cluster.address!r}"
        report(f"  self-play: {num_games} games a {kind}{why}; {place}; evaluator: {self.evaluator.description}.")
        if config.network.kind == "updatable":
            report(
                f"  An alpha-beta search of {config.selfplay.alphabeta_nodes:,} nodes a move plays self-play's games."
            )
        if depth := config.selfplay.depth_at(self.network.progress):
            report(f"  At first {_player_words(depth)} self-play's games.")
        if config.game.origin == "object" and num_workers > 1:
            report(
                "  The workers share one process, because no other process can load"
                f" {config.game.given_object}: a class in a file, path.py:Class, plays in a process a core."
            )

    def _restored_resignation(self, store: GameStore) -> Resignation | None:
        """The threshold of resignations by the games so far; None if the run has none."""
        config = self._config.selfplay
        if config.resign_false_positives is None:
            return None
        games = store.recent(num_games=num_games_to_learn_from(config))
        return new_resignation(config, seed=self._config.training.seed, games=games)

    @property
    def evaluations(self) -> int:
        """Evaluations of the run so far."""
        return self._evaluations_before + self.workers.counts.evaluations

    @property
    def simulations(self) -> int:
        """Simulations of the run so far."""
        return self._simulations_before + self.workers.counts.simulations

    def take(self, record: GameRecord) -> None:
        """Count a finished game for the threshold of resignations."""
        # Threads of this process have told it already.
        if self.resignation is not None and not isinstance(self.workers, SelfplayThreads):
            self.resignation.take(record)

    def play_with(self, checkpoint: Checkpoint, batch: Batch | None) -> None:
        """Give self-play a new network; int8 takes its ranges from the learner's newest batch, if there is one."""
        self._uncompiled = checkpoint
        if isinstance(self.workers, SelfplayThreads):
            self.compile(batch)
        before, self.network = self.network, PlayingNetwork.of(checkpoint.info)
        selfplay = self._config.selfplay
        if (depth := selfplay.depth_at(self.network.progress)) != selfplay.depth_at(before.progress):
            self._report(f"      from now on {_player_words(depth)} self-play's games")
        self.workers.update(checkpoint)

    def compile(self, batch: Batch | None) -> None:
        """Give the evaluator of this process the network that plays. Without threads only rating games use it."""
        if self._uncompiled is not None:
            planes_BCHW = None if batch is None else batch.planes()
            self.evaluator.update(self._uncompiled, planes_BCHW=planes_BCHW)
            self._uncompiled = None


def _player_words(depth: int) -> str:
    return f"an alpha-beta search of depth {depth} plays" if depth else "the network plays"
