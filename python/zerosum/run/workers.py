"""The self-play workers of a run: how many they are, threads or processes, and how many games each plays at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from zerosum.base.settings import num_cores
from zerosum.games import Rules, measure_game
from zerosum.games.source_files import OBJECT
from zerosum.network import Checkpoint
from zerosum.replay.records import RunningGame
from zerosum.run.config import RunConfig
from zerosum.selfplay import Selfplay, SelfplayTask, SelfplayThreads
from zerosum.selfplay.calibration import Calibration, calibrate
from zerosum.selfplay.processes import SelfplayProcesses
from zerosum.selfplay.worker import num_trees

DETERMINISTIC_GAMES = 64
"""Games at a time of a deterministic run that says nothing else: what is measured differs from one time to the next."""
GENERATION_SHARE = 0.05
"""Games under way, of all games that a budget pays for, at most."""
SMALLER_BATCHES = (4, 8)
"""Games at a time that are not measured: for budgets so short, or games so long, that fewer have to do."""


def num_selfplay_workers(config: RunConfig) -> int:
    """Self-play's workers: as set, else one a core.

    A deterministic run has one, because which of several ends a game first is up to the operating system.
    """
    return 1 if config.training.deterministic else config.selfplay.num_workers or num_cores()


def plays_in_processes(config: RunConfig, game: Rules) -> bool:
    """Whether the workers are processes: those of a game in Python, if they are several, or else they are threads.

    A game that was given as an object, whose class no other process can load, has threads, too.
    """
    return game.is_python and num_selfplay_workers(config) > 1 and not config.game.startswith(OBJECT)


def choose_games(
    directory: Path, game: Rules, checkpoint: Checkpoint, config: RunConfig, *, report: Callable[[str], None]
) -> tuple[int, str]:
    """How many games a worker plays at a time, as asked for or as measured, and in words why."""
    if config.selfplay.games_per_worker is not None:
        return config.selfplay.games_per_worker, ""
    if config.training.deterministic:
        return DETERMINISTIC_GAMES, ""
    calibration = calibrate(
        directory / "calibration.json",
        game,
        checkpoint,
        config.search,
        config.selfplay,
        num_threads=1 if plays_in_processes(config, game) else num_selfplay_workers(config),
        evaluator=config.training.evaluator,
        report=report,
    )
    size = most_games(config, game, calibration)
    if size < calibration.batch_size:
        return size, f", as many as play their games within {GENERATION_SHARE:.0%} of the budget"
    return size, f", {calibration}"


def most_games(config: RunConfig, game: Rules, calibration: Calibration) -> int:
    """The games that a worker plays at a time: the calibration's, or fewer where these would take too much of the run.

    What the games under way learn and teach is lost at the end of a run, and the network that the first of them hear of
    is that of their beginning. So all of them together are at most `GENERATION_SHARE` of the games that the budget is
    expected to pay for. Games are taken to be as long as random ones, which the first of a run nearly are.
    """
    num_workers, plies = num_selfplay_workers(config), measure_game(game).plies
    training, selfplay, learner = config.training, config.selfplay, config.learner

    def num_expected(evaluations_per_second: float) -> float:
        if training.minutes is None:
            positions = (training.steps or 0) * learner.batch_size / learner.samples_per_position
            return positions / (plies * selfplay.full_search_share)
        # On a CPU the rate is that of a core.
        num_cores = 1 if training.evaluator.on_gpu or training.clock == "cpu" else num_workers
        return 60 * training.minutes * num_cores * evaluations_per_second / (plies * evaluations_per_ply(config))

    slowest = calibration.rates[min(calibration.rates)]
    rates = {**dict.fromkeys(SMALLER_BATCHES, slowest), **calibration.rates}
    fitting = [
        size
        for size, rate in rates.items()
        if size <= calibration.batch_size and num_workers * num_trees(size) <= GENERATION_SHARE * num_expected(rate)
    ]
    return max(fitting, default=min(rates))


def evaluations_per_ply(config: RunConfig) -> float:
    """Evaluations that self-play makes, at most, for a ply, on average."""
    share = config.selfplay.full_search_share
    return share * (config.search.num_simulations + 1) + (1 - share) * (config.selfplay.fast_simulations + 1)


def new_selfplay(
    task: SelfplayTask,
    checkpoint: Checkpoint,
    config: RunConfig,
    *,
    running: Iterable[RunningGame] = (),
    report: Callable[[str], None] = print,
) -> Selfplay:
    """The workers of a run, threads or processes; games under way are dealt out among them.

    `report` gets a sentence for a process that is replaced.
    """
    num_workers = num_selfplay_workers(config)
    if not plays_in_processes(config, task.game):
        return SelfplayThreads(task, num_workers=num_workers, running=running)
    return SelfplayProcesses(
        task,
        checkpoint,
        game=config.game,
        num_workers=num_workers,
        running=running,
        evaluator=config.training.evaluator,
        report=report,
    )
