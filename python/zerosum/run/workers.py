"""The self-play workers of a run: how many they are, threads or processes, and how many games each plays at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from zerosum.base.settings import num_cores
from zerosum.games import Rules
from zerosum.network import Checkpoint
from zerosum.replay.journal import RunningGame
from zerosum.run.config import RunConfig
from zerosum.selfplay import Selfplay, SelfplayTask
from zerosum.selfplay.calibration import calibrate
from zerosum.selfplay.processes import SelfplayProcesses

DETERMINISTIC_GAMES = 64
"""Games at a time of a deterministic run that says nothing else: what is measured differs from one time to the next."""


def num_selfplay_workers(config: RunConfig) -> int:
    """Self-play's workers: as set, else one a core.

    A deterministic run has one, because which of several ends a game first is up to the operating system.
    """
    return 1 if config.training.deterministic else config.selfplay.num_workers or num_cores()


def plays_in_processes(config: RunConfig, game: Rules) -> bool:
    """Whether the workers are processes: those of a game in Python, if they are several, or else they are threads."""
    return game.is_python and num_selfplay_workers(config) > 1


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
        backend=config.training.backend,
        device=config.training.device,
        precision=config.training.precision,
        report=report,
    )
    return calibration.batch_size, f", {calibration}"


def new_selfplay(
    task: SelfplayTask, checkpoint: Checkpoint, config: RunConfig, *, running: Iterable[RunningGame] = ()
) -> Selfplay | SelfplayProcesses:
    """The workers of a run, threads or processes; games under way are dealt out among them."""
    num_workers, training = num_selfplay_workers(config), config.training
    if not plays_in_processes(config, task.game):
        return Selfplay(task, num_workers=num_workers, running=running)
    return SelfplayProcesses(
        task,
        checkpoint,
        game=config.game,
        num_workers=num_workers,
        running=running,
        backend=training.backend,
        device=training.device,
        precision=training.precision,
    )
