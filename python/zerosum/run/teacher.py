"""The teacher of a run: a network for alpha-beta search that plays self-play's first games (`selfplay.teacher_share`).

It is a run of its own, `teacher` in the run's directory, so it can be played, measured and reported by that name. What
it takes from the budget is the time that its run has used.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from zerosum.base.errors import DataError, RunError
from zerosum.network import load_checkpoint
from zerosum.network.checkpoint import list_checkpoints
from zerosum.network.description import require_encoder
from zerosum.network.evaluators.updatable import UpdatableEvaluator
from zerosum.run.config import RunConfig
from zerosum.run.metrics import read_metrics
from zerosum.run.run_plan import RunPlan
from zerosum.run.storage.run_files import TEACHER


@dataclass(frozen=True)
class Teacher:
    """A teacher that has learned."""

    evaluator: UpdatableEvaluator
    elapsed_s: float
    """Seconds of the run's budget that its learning has used."""


def needs_teacher(plan: RunPlan) -> bool:
    """Whether the teacher has games to play: the run has one, and its share of the budget is not used up."""
    selfplay = plan.config.selfplay
    return selfplay.is_taught(progress_of(plan.directory, plan.config))


def read_teacher(plan: RunPlan) -> Teacher | None:
    """The teacher of a run, if it has games to play.

    Raises:
        RunError: it has learned nothing.
        DataError: its checkpoint is damaged, or is a network of another kind or game.
    """
    if not needs_teacher(plan):
        return None
    directory = plan.directory / TEACHER
    checkpoint = load_checkpoint(directory) if list_checkpoints(directory / "checkpoints") else None
    if checkpoint is None or not checkpoint.info.step:
        raise RunError(
            f"{directory} has learned nothing, so nothing teaches the run: start a new one with more time, or without a"
            " teacher, --set selfplay.teacher_share=0."
        )
    if checkpoint.info.network.kind != "updatable":
        raise DataError(
            f"{directory} has a network of kind {checkpoint.info.network.kind!r}, expected 'updatable', for alpha-beta"
            " search: restore it from a copy, or remove the folder, and the teacher learns again."
        )
    require_encoder(checkpoint.info, plan.game.spec)
    return Teacher(UpdatableEvaluator(checkpoint, plan.game), elapsed_of(directory))


def progress_of(directory: Path, config: RunConfig) -> float:
    """The used share of a run's budget by its metrics, in [0, 1]."""
    rows = read_metrics(directory / "metrics.csv")
    if not rows:
        return 0.0
    seconds = config.learning_seconds
    used = rows[-1].step / (config.training.steps or 1) if seconds is None else 60 * rows[-1].minutes / seconds
    return min(used, 1.0)


def elapsed_of(directory: Path) -> float:
    """Seconds that a run has used by its metrics."""
    rows = read_metrics(directory / "metrics.csv")
    return 60 * rows[-1].minutes if rows else 0.0
