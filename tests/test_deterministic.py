"""A deterministic run: the same bit for bit each time, however often and wherever it is interrupted."""

from __future__ import annotations

import itertools
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kill_training import result
from zerosum.checkpoint import list_checkpoints, load_checkpoint
from zerosum.errors import RunError, SettingsError
from zerosum.learner import Learner
from zerosum.metrics import read_metrics
from zerosum.run import Training, train
from zerosum.selfplay import SelfplayWorker
from zerosum.strength import Strength

STEPS = 24
SETTINGS = (
    "training.deterministic=true",
    "training.min_positions=50",
    "training.steps_per_phase=3",
    "training.num_checkpoints=4",
    "network.num_blocks=1",
    "network.num_filters=8",
    "search.cache_positions=20",
    "selfplay.opening_share=0.2",
    "search.num_simulations=8",
    "selfplay.games_per_worker=4",
    "learner.batch_size=16",
    "learner.samples_per_position=4",
    "replay.games_per_shard=7",
    "replay.window_min_positions=60",
    "strength.rollout_simulations=2",
    "strength.budget_share=0.2",
)


def go_on(run: Path, *overrides: str, steps: int = STEPS, report: Callable[[str], None] = lambda _: None) -> None:
    """Train until the end, or as far as it gets."""
    fresh = () if (run / "config.toml").exists() else SETTINGS
    train("tictactoe", run, overrides=[*fresh, f"training.steps={steps}", *overrides], report=report)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing interrupted."""
    run = tmp_path_factory.mktemp("runs") / "whole"
    go_on(run)
    return run


def assert_same(run: Path, other: Path) -> None:
    one, two = result(run), result(other)
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []


class Killed(BaseException):
    """Ends a training as far as it can tell."""


@pytest.fixture
def killed_after(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Lets the training die after so many more batches of self-play, learner steps, rating matches and saves."""
    left = itertools.count(1 << 30, -1)

    def set_left(count: int) -> None:
        nonlocal left
        left = itertools.count(count, -1)

    def mortal(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if next(left) == 0:
                raise Killed
            result = function(*arguments, **named)
            if next(left) == 0:
                raise Killed
            return result

        return call

    for owner, name in (
        (SelfplayWorker, "play_batch"),
        (Learner, "step"),
        (Strength, "_play"),
        (Training, "_save"),
        (Training, "_report_progress"),
    ):
        monkeypatch.setattr(owner, name, mortal(getattr(owner, name)))
    yield set_left
    set_left(1 << 30)


def test_two_runs_are_the_same(whole: Path, tmp_path: Path) -> None:
    go_on(tmp_path / "run")
    assert_same(tmp_path / "run", whole)
    assert len(list_checkpoints(whole / "checkpoints")) == 5
    kinds = {"weights": "*0024.safetensors", "shards": "*.parquet"}
    assert all(list(whole.rglob(pattern)) for pattern in kinds.values())
    assert len(read_metrics(whole / "metrics.csv")) == 8 and len(result(whole)["strength.jsonl"]) > 5, (
        "all kinds are there"
    )
    go_on(tmp_path / "other", "training.seed=1")
    theirs, ours = (load_checkpoint(run).weights for run in (tmp_path / "other", whole))
    assert not np.array_equal(theirs["stem.conv.weight"], ours["stem.conv.weight"])


def test_interruptions_change_nothing(whole: Path, tmp_path: Path, killed_after: Callable[[int], None]) -> None:
    """Killed at places drawn at random, and stopped once by Ctrl-C."""
    run, generator, num_kills, said = tmp_path / "run", np.random.default_rng(1), 0, list[str]()

    def take(line: str) -> None:
        said.append(line)
        if "(75%)" in line:
            signal.raise_signal(signal.SIGINT)

    while not said or not said[-1].startswith("Stopped. To go on from the checkpoint of step "):
        killed_after(int(generator.integers(1000)))
        try:
            go_on(run, report=take)
        except Killed:
            num_kills += 1
    assert num_kills > 2 and load_checkpoint(run).info.step < STEPS
    killed_after(1 << 30)
    go_on(run)
    assert_same(run, whole)


def test_a_used_up_run_goes_on_with_more(whole: Path, tmp_path: Path, killed_after: Callable[[int], None]) -> None:
    runs = [tmp_path / name for name in ("at once", "killed")]
    for run in runs:
        shutil.copytree(whole, run)
        before = result(run)
        go_on(run)
        assert result(run) == before
    go_on(runs[0], steps=36)
    for life in (40, 160):
        killed_after(life)
        with pytest.raises(Killed):
            go_on(runs[1], steps=36)
    killed_after(1 << 30)
    go_on(runs[1], steps=36)
    assert_same(*runs)


def test_what_it_cannot_keep_is_refused(whole: Path, tmp_path: Path, killed_after: Callable[[int], None]) -> None:
    run = tmp_path / "run"
    with pytest.raises(SettingsError, match="needs a budget in learner steps.*--steps 2000"):
        train("tictactoe", run, overrides=SETTINGS)
    assert not run.exists()
    killed_after(1000)
    with pytest.raises(Killed):
        go_on(run)
    for change in ("learner.learning_rate=0.1", "training.steps=99"):
        with pytest.raises(SettingsError, match="its settings stay until its budget of 24 steps is used up"):
            go_on(run, change)
    free = tmp_path / "free"
    shutil.copytree(whole, free)
    go_on(free, "training.deterministic=false")
    with pytest.raises(SettingsError, match="began without training.deterministic"):
        go_on(free, "training.deterministic=true")


def test_what_comes_out_different_is_told(
    tmp_path: Path, killed_after: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    killed_after(1150)
    with pytest.raises(Killed):
        go_on(run)
    killed_after(1 << 30)
    finished = result(run).keys()
    with monkeypatch.context() as patch:
        patch.setattr("zerosum.selfplay.choose_action", lambda root, *_, **__: (int(root.actions[0]), False))
        with pytest.raises(RunError, match=r"Game \d+ was played again and is not the game recorded in .*=false"):
            go_on(run)
    assert result(run).keys() == finished
    shard = sorted(run.glob("games/*.parquet"))[0]
    shard.rename(tmp_path / shard.name)
    with pytest.raises(RunError, match=r"of the \d+ games before its checkpoint of step \d+ only \d+ are there"):
        go_on(run)
    (tmp_path / shard.name).rename(shard)
    lines = (run / "strength.jsonl").read_text().splitlines(keepends=True)
    go_on(run, "training.deterministic=false")
    assert (run / "strength.jsonl").read_text().splitlines(keepends=True)[: len(lines)] == lines
