"""The learner of a run."""

from __future__ import annotations

import itertools
import math
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from logs_for_tests import FinishedLog
from runs_for_tests import SETTINGS as TRAINING
from zerosum.base.errors import DataError, RunError
from zerosum.games import make
from zerosum.learner import Learner, StepReport
from zerosum.network import NetworkConfig
from zerosum.network.evaluators import UniformEvaluator
from zerosum.replay import Batch, ReplayConfig, ReplayWindow
from zerosum.replay.game_store import GameStore
from zerosum.run.config import new_config
from zerosum.run.drawing import BatchDrawer, DrawnBatch
from zerosum.run.learning import RunLearner, open_checkpoint
from zerosum.run.metrics import read_metrics
from zerosum.run.run_plan import RunPlan
from zerosum.run.training import train
from zerosum.search import SearchConfig
from zerosum.selfplay import SelfplayConfig, SelfplayTask
from zerosum.selfplay.worker import SelfplayWorker

GAME = make("tictactoe")
SETTINGS = ["network.num_blocks=1", "network.num_filters=4", "training.device=cpu"]


def test_the_cpu_time_of_a_lost_learner_still_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a budget in CPU-minutes would go backwards."""
    monkeypatch.setattr(Learner, "cpu_s", 7.0)
    config = new_config(GAME, "tictactoe", overrides=SETTINGS)
    plan = RunPlan(tmp_path, GAME, config)
    learner = RunLearner(plan, print, *open_checkpoint(plan, print))
    assert learner.cpu_s == 7
    learner.restore(*open_checkpoint(plan, print))
    assert learner.cpu_s == 14


class FakeLearner:
    """A learner that notes what it is given. Its third step has no finite loss, unless it is `sound`."""

    def __init__(self, *, is_on_gpu: bool, sound: bool = True) -> None:
        self.sound = sound
        self.is_on_gpu, self.step_number, self.targets, self.cpu_s = is_on_gpu, 0, frozenset({"policy", "value"}), 0.0
        self.network = NETWORK
        self.seen: list[np.ndarray] = []
        self.threads: set[str] = set()

    def prepare(self, batch: Batch) -> Batch:
        self.threads.add(threading.current_thread().name.partition("_")[0])
        return batch

    def step(self, batch: Batch, *, progress: float) -> StepReport:
        self.seen.append(batch.planes())
        self.step_number += 1
        return StepReport(0.1, {"policy_loss": math.nan if self.step_number == 3 and not self.sound else 0.5})

    def close(self) -> None:
        pass


NETWORK = NetworkConfig(num_blocks=1, num_filters=4)


def window_of_games(num: int, *, seed: int = 0) -> ReplayWindow:
    """At least so many games of tic-tac-toe."""
    log, window = FinishedLog(), ReplayWindow(ReplayConfig())
    task = SelfplayTask(
        game=GAME,
        search=SearchConfig(num_simulations=4),
        config=SelfplayConfig(games_per_worker=2),
        evaluator=UniformEvaluator(),
        log=log,
        seed=seed,
        settings_hash="",
        game_ids=itertools.count(),
    )
    worker = SelfplayWorker(task)
    while len(log.finished) < num:
        worker.play_batch()
    for record in log.finished.values():
        window.add(record)
    return window


def run_learner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake: FakeLearner, *more: str) -> RunLearner:
    config = new_config(GAME, "tictactoe", overrides=[*SETTINGS, "learner.batch_size=8", *more])
    plan = RunPlan(tmp_path, GAME, config)
    monkeypatch.setattr(RunLearner, "_learner_at", lambda *_: fake)
    monkeypatch.setattr(RunLearner, "_is_due_to_grow", lambda *_: False)
    return RunLearner(plan, print, *open_checkpoint(plan, print))


def test_batches_made_ahead_are_those_of_their_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the same window they are the same; a CPU and a deterministic run make each when its step is due."""
    window, seen = window_of_games(5), []
    for is_on_gpu, more in ((False, ()), (True, ()), (True, ("training.deterministic=true", "training.steps=9"))):
        fake = FakeLearner(is_on_gpu=is_on_gpu)
        learner = run_learner(tmp_path, monkeypatch, fake, *more)
        for _ in range(9):
            learner.step(window, progress=0.0)
        learner.close()
        seen.append(fake.seen)
        assert fake.threads == {"batches" if is_on_gpu and not more else "MainThread"}
        assert (learner._drawer.cpu_s > 0) == (is_on_gpu and not more)
    for others in seen[1:]:
        np.testing.assert_array_equal(others, seen[0])


def test_batches_of_another_window_or_step_are_made_again() -> None:
    """A run of records has a window for each part, and a learner that was lost goes back."""
    first, second, drawn = window_of_games(2), window_of_games(2, seed=7), list[tuple[int, int]]()

    def draw(window: ReplayWindow, step: int) -> DrawnBatch:
        if step == 99:
            raise DataError("no such game")
        drawn.append((id(window), step))
        return DrawnBatch(batch=step, inputs=window)  # type: ignore[arg-type]

    drawer = BatchDrawer(draw, ahead=2)
    for window, step in ((first, 0), (first, 1), (second, 2), (second, 3), (second, 4), (first, 5), (first, 3)):
        found = drawer.batch(window, step)
        assert (found.batch, found.inputs) == (step, window)
    drawer.forget()
    assert {(id(first), step) for step in (0, 1, 2, 3)} < set(drawn)
    assert len(drawn) <= 3 + 1 + 5 + 3 + 3
    with pytest.raises(DataError, match="no such game"):
        drawer.batch(first, 99)
    with pytest.raises(DataError, match="no such game"):
        drawer.batch(first, 97) and drawer.batch(first, 98) and drawer.batch(first, 99)
    drawer.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("batches")]


def test_a_loss_that_is_known_later_is_checked_before_the_network_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake, window = FakeLearner(is_on_gpu=True, sound=False), window_of_games(3)
    learner = run_learner(tmp_path, monkeypatch, fake)
    monkeypatch.setattr(StepReport, "is_known", False)
    for _ in range(4):
        learner.step(window, progress=0.0)
    with pytest.raises(RunError, match="not finite at learner step 2"):
        learner.network(training={})
    learner.close()


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "CUDA error: unspecified launch failure\nCompile with",
            "failed during a learner step .CUDA error: unspecified",
        ),
        ("CUDA out of memory. Tried to allocate 2 GiB", "no memory left for a learner step"),
    ],
)
def test_a_device_that_fails_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: str, expected: str
) -> None:
    fake, window = FakeLearner(is_on_gpu=True), window_of_games(3)
    learner = run_learner(tmp_path, monkeypatch, fake)

    def fail(*_: object, **__: object) -> StepReport:
        raise RuntimeError(message)

    monkeypatch.setattr(fake, "step", fail)
    with pytest.raises(RunError, match=f"the learner's device .*{expected}.*Everything recorded is kept"):
        learner.step(window, progress=0.0)
    learner.close()


def test_a_device_without_memory_for_the_learner_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program fills it, so the training does not even begin; the same command begins it later."""
    run, fails = tmp_path / "run", [True]
    to, more = torch.nn.Module.to, [*TRAINING, "training.steps=2", "training.num_checkpoints=2"]

    def has_no_memory(module: torch.nn.Module, *args: Any, **keywords: Any) -> torch.nn.Module:
        if fails:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB")
        return to(module, *args, **keywords)

    monkeypatch.setattr(torch.nn.Module, "to", has_no_memory)
    with pytest.raises(RunError, match="the learner's device has no memory left .*CUDA out of memory.* is kept"):
        train("tictactoe", run, overrides=more, report=lambda _: None)
    fails.clear()
    train("tictactoe", run, overrides=more, report=lambda _: None)
    assert read_metrics(run / "metrics.csv")[-1].step == 2


def test_a_training_whose_device_fails_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends with a sentence, keeps its games and its checkpoint, and goes on from there."""
    run, step = tmp_path / "run", Learner.step
    more = [*TRAINING, "training.steps=6", "training.num_checkpoints=6"]

    def fail(learner: Learner, *args: Any, **keywords: Any) -> StepReport:
        if learner.step_number == 4:
            raise RuntimeError("CUDA error: the launch timed out and was terminated")
        return step(learner, *args, **keywords)

    monkeypatch.setattr(Learner, "step", fail)
    with pytest.raises(RunError, match="the launch timed out"):
        train("tictactoe", run, overrides=more, report=lambda _: None)
    monkeypatch.setattr(Learner, "step", step)
    before = GameStore(run / "games", report=print, games_per_shard=1024)
    num_games = before.num_games
    before.close()
    train("tictactoe", run, report=lambda _: None)
    assert read_metrics(run / "metrics.csv")[-1].step == 6
    assert read_metrics(run / "metrics.csv")[-1].games >= num_games > 0
