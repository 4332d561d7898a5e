"""The learning of a run's teacher, before the run's own (`teacher.py`)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from zerosum.run.config import RunConfig
from zerosum.run.run_directory import hold, plan, write_config
from zerosum.run.run_plan import RunPlan
from zerosum.run.selfplay_training import SelfplayTraining
from zerosum.run.storage.run_files import TEACHER
from zerosum.run.teacher import needs_teacher, progress_of

PRESET = "nnue"
"""The preset of the teacher's run."""


def train_teacher(run: RunPlan, report: Callable[[str], None], stop: threading.Event) -> bool:
    """Learn the run's teacher, from nothing or from where it stopped, if the run has one that is still to play.

    Setting `stop` ends this soon and cleanly. Returns whether the run can begin: False if the teacher was stopped.

    Raises:
        RunError: another process trains the teacher's run, or a file cannot be written.
        ZerosumError: as `teacher_plan`.
    """
    if not needs_teacher(run):
        return True
    teacher = teacher_plan(run)
    directory = teacher.directory
    if progress_of(directory, teacher.config) >= 1:
        return True
    report(f"  The teacher learns first, in {directory}, for {run.config.selfplay.teacher_share:.0%} of the budget.")
    with hold(directory):
        write_config(directory, teacher.config)
        SelfplayTraining(teacher, report, stop, is_part=True).run()
    if stop.is_set():
        return False
    report("  The teacher has learned.")
    return True


def teacher_plan(run: RunPlan) -> RunPlan:
    """The plan of the teacher's run, by its own settings once it has begun. This writes nothing.

    Raises:
        SettingsError: the game has no planes of pieces.
        ZerosumError: the teacher's run is damaged, as `run_directory.plan`.
    """
    directory = run.directory / TEACHER
    is_new = not (directory / "config.toml").exists()
    return plan(
        directory,
        run.game,
        run.config.game,
        preset=PRESET if is_new else "",
        asked=teacher_settings(run.config) if is_new else {},
    )


def teacher_settings(config: RunConfig) -> dict[str, dict[str, Any]]:
    """The settings of a teacher's run that follow from the run's, by section; a share of the budget of either kind."""
    training, share = config.training, config.selfplay.teacher_share
    return {
        "training": {
            "minutes": None if training.minutes is None else share * training.minutes,
            "steps": None if training.steps is None else max(1, round(share * training.steps)),
            "seed": training.seed,
            "clock": training.clock,
            "deterministic": training.deterministic,
            "planes": "",  # those of the run's game
        },
        "selfplay": {
            name: getattr(config.selfplay, name)
            for name in ("num_workers", "alphabeta_nodes", "alphabeta_learning_nodes")
        },
        "strength": {"budget_share": config.strength.budget_share},
    }
