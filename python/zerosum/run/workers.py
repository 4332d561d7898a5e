"""The self-play workers of a run: their number, threads or processes, and games at a time of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from zerosum.base.errors import SettingsError
from zerosum.base.settings import num_cores
from zerosum.games import Rules, measure_game
from zerosum.network import Checkpoint
from zerosum.replay.records import RunningGame
from zerosum.run.config import RunConfig, changed
from zerosum.run.run_plan import RunPlan
from zerosum.selfplay import Selfplay, SelfplayTask, SelfplayThreads
from zerosum.selfplay.calibration import NEARLY, Calibration, calibrate
from zerosum.selfplay.processes import SelfplayProcesses
from zerosum.selfplay.worker import num_trees

DETERMINISTIC_GAMES = 64
"""Default games at a time of a deterministic run, which cannot depend on a measurement."""
GENERATION_SHARE = 0.05
"""Largest share of the games of a budget that are in flight at a time."""
SMALLER_BATCHES = (4, 8)
"""Games at a time that calibration does not measure, for short budgets or long games."""


def num_selfplay_workers(config: RunConfig) -> int:
    """The number of workers: the setting, or else one per core (on a GPU `measured` sets it).

    A deterministic run has one worker: with several, the operating system decides which one ends a game first.
    """
    return 1 if config.training.deterministic else config.selfplay.num_workers or num_cores()


def plays_in_processes(config: RunConfig, game: Rules) -> bool:
    """Whether the workers are processes instead of threads: as set, or several workers of a game in Python.

    A game that was given as an object has threads, because no other process can load its class.

    Raises:
        SettingsError: processes are asked for, and the game was given as an object.
    """
    is_object, kind = config.game.origin == "object", config.training.workers
    if kind == "processes" and is_object:
        raise SettingsError(
            f"training.workers is 'processes', but no other process can load {config.game.given_object}: give"
            " the game as a class in a file, path.py:Class, or leave 'auto'."
        )
    if kind != "auto":
        return kind == "processes"
    if config.network.kind == "updatable":
        return False
    return game.is_python and num_selfplay_workers(config) > 1 and not is_object


def measured(
    plan: RunPlan, checkpoint: Checkpoint, *, report: Callable[[str], None], may_add_workers: bool = True
) -> tuple[RunConfig, str]:
    """The plan's settings with the games that a worker plays at a time, as set or measured, and the reason in words.

    On a GPU the number of threads is set, too, unless `may_add_workers` is False.
    """
    game, config = plan.game, plan.config
    selfplay, in_processes = config.selfplay, plays_in_processes(config, game)
    on_gpu = config.training.evaluator.on_gpu
    adds_workers = may_add_workers and on_gpu and not in_processes and selfplay.num_workers is None
    if config.network.kind == "updatable":  # a worker plays one game at a time
        return changed(config, {"selfplay": {"games_per_worker": 1}}), ""
    if config.training.deterministic:
        return changed(config, {"selfplay": {"games_per_worker": selfplay.games_per_worker or DETERMINISTIC_GAMES}}), ""
    if selfplay.games_per_worker is not None and not adds_workers:
        return config, ""
    calibration = calibrate(
        plan.directory / "calibration.json",
        game,
        checkpoint,
        config.search,
        selfplay,
        num_threads=1 if in_processes else None if adds_workers else num_selfplay_workers(config),
        evaluator=config.training.evaluator,
        report=report,
    )
    if on_gpu:
        num_workers, size = most_productive(config, game, calibration)
        selected: dict[str, Any] = {"games_per_worker": size} | ({"num_workers": num_workers} if adds_workers else {})
        return changed(config, {"selfplay": selected}), ", which finish the most games in the budget"
    size, why = most_games(config, game, calibration), f", {calibration}"
    if size < calibration.batch_size:
        why = f", which end within {GENERATION_SHARE:.0%} of the budget"
    return changed(config, {"selfplay": {"games_per_worker": size}}), why


def most_games(config: RunConfig, game: Rules, calibration: Calibration) -> int:
    """The number of games that a worker plays at a time on a CPU: the calibration's, or fewer in a short run.

    Games in flight at the end of a run are lost, and the first games in flight are all played by the first network.
    All games in flight together are therefore at most `GENERATION_SHARE` of the games that the budget is expected to
    play. Games are assumed to be as long as random games, which is nearly true at the beginning of a run.
    """
    num_workers, plies = num_selfplay_workers(config), measure_game(game).plies
    training, selfplay, learner = config.training, config.selfplay, config.learner

    def num_expected(evaluations_per_second: float) -> float:
        if training.minutes is None:
            positions = (training.steps or 0) * learner.batch_size / learner.samples_per_position
            return positions / (plies * selfplay.full_search_share)
        # The measured rate is per core.
        num_cores = 1 if training.clock == "cpu" else num_workers
        return 60 * training.minutes * num_cores * evaluations_per_second / (plies * evaluations_per_ply(config))

    slowest = calibration.rates[min(calibration.rates)]
    rates = {**dict.fromkeys(SMALLER_BATCHES, slowest), **calibration.rates}
    fitting = [
        size
        for size, rate in rates.items()
        if size <= calibration.batch_size and num_workers * num_trees(size) <= GENERATION_SHARE * num_expected(rate)
    ]
    return max(fitting, default=min(rates))


def most_productive(config: RunConfig, game: Rules, calibration: Calibration) -> tuple[int, int]:
    """The number of workers and of games of each with which a run on a GPU finishes the most games.

    A GPU is many times slower with small batches, so games in flight cannot be a fixed small share of those of the
    budget, as on a CPU (`most_games`). They are lost at the end of a run: of the games that the budget pays for at the
    measured rate of a pair, those in flight are taken off. Of pairs that are nearly as good, the one with the fewest
    games in flight is chosen.
    """
    training, plies = config.training, measure_game(game).plies
    seconds, evaluations = 60 * (training.minutes or 0), plies * evaluations_per_ply(config)
    positions = (training.steps or 0) * config.learner.batch_size / config.learner.samples_per_position
    needed = positions / (plies * config.selfplay.full_search_share)
    fixed = config.selfplay.num_workers

    def in_flight(pair: tuple[int, int]) -> int:
        return (fixed or pair[0]) * num_trees(pair[1])

    def useful_rate(pair: tuple[int, int]) -> float:
        """Evaluations a second for games that end: the budget is seconds, or the games that steps need."""
        lost, rate = in_flight(pair), calibration.pair_rates[pair]
        return rate - lost * evaluations / seconds if seconds else rate * needed / (needed + lost)

    useful = {pair: useful_rate(pair) for pair in calibration.pair_rates}
    best = max(useful.values())
    good = [pair for pair, rate in useful.items() if rate >= NEARLY * best] if best > 0 else list(useful)
    return min(good, key=lambda pair: (in_flight(pair), -useful[pair]))


def evaluations_per_ply(config: RunConfig) -> float:
    """Largest mean number of evaluations per ply of self-play."""
    share = config.selfplay.full_search_share
    return share * config.search.num_simulations + (1 - share) * config.selfplay.fast_simulations + 1


def new_selfplay(
    task: SelfplayTask,
    checkpoint: Checkpoint,
    config: RunConfig,
    *,
    running: Iterable[RunningGame] = (),
    report: Callable[[str], None] = print,
) -> Selfplay:
    """The workers of a run, threads or processes. Games in flight are distributed among them.

    `report` gets a sentence for each process that is replaced.
    """
    num_workers = num_selfplay_workers(config)
    if not plays_in_processes(config, task.game):
        return SelfplayThreads(task, num_workers=num_workers, running=running)
    return SelfplayProcesses(
        task,
        checkpoint,
        game=str(config.game),
        num_workers=num_workers,
        running=running,
        evaluator=config.training.evaluator,
        report=report,
    )
