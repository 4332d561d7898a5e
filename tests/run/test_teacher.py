"""Runs whose teacher learns first: one command, one budget, resumed at any time, refused where it cannot be."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

import zerosum
from zerosum.base.errors import DataError, RunError, SettingsError
from zerosum.games import make
from zerosum.network import load_checkpoint
from zerosum.play.player import load_player
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import GameRecord, PlyFlag
from zerosum.run.config import load_config, new_config
from zerosum.run.metrics import read_metrics
from zerosum.run.run_directory import plan
from zerosum.run.run_plan import RunPlan
from zerosum.run.storage.run_files import TEACHER, complete_files
from zerosum.run.teacher import elapsed_of, needs_teacher, progress_of, read_teacher
from zerosum.run.teacher_training import teacher_settings, train_teacher

SETTINGS = (
    "training.steps=40",
    "training.planes=history=1",
    "training.min_positions=20",
    "training.steps_per_phase=2",
    "training.num_checkpoints=2",
    "network.num_blocks=1",
    "network.num_filters=8",
    "network.value_hidden=8",
    "learner.batch_size=16",
    "search.num_simulations=4",
    "selfplay.num_workers=1",
    "selfplay.games_per_worker=4",
    "selfplay.teacher_share=0.4",
    "selfplay.alphabeta_share=0.6",
    "selfplay.alphabeta_nodes=20",
    "selfplay.alphabeta_learning_nodes=3000",
    "strength.budget_share=0",
)


def learned(run: Path, *overrides: str, lines: list[str] | None = None) -> Path:
    said = [] if lines is None else lines
    zerosum.train("minichess", run, overrides=[*SETTINGS, *overrides], report=said.append)
    return run


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return []


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> Path:
    return learned(tmp_path_factory.mktemp("taught") / "run", lines=lines)


def games_of(run: Path) -> list[GameRecord]:
    store = GameStore(run / "games", report=lambda _: None, games_per_shard=100)
    try:
        return list(store.recent(num_games=1000))
    finally:
        store.close()


def plan_of(run: Path) -> RunPlan:
    config = load_config(run / "config.toml")
    return plan(run, make(config.game), config.game, asked={})


def test_a_teacher_learns_plays_and_gives_way(run: Path, lines: list[str]) -> None:
    teacher = run / TEACHER
    assert load_checkpoint(teacher).info.step == 16, "a share of the steps"
    assert load_checkpoint(teacher).info.network.kind == "updatable"
    assert load_checkpoint(run).info.step == 40
    assert load_player(teacher).analyse(num_simulations=50).best_move, "it is a run as any other"
    taught = [bool((game.plies["flags"] & int(PlyFlag.RECORDED)).any()) for game in games_of(run)]
    assert taught[0] and not taught[-1]
    text = "\n".join(lines)
    assert f"The teacher learns first, in {teacher}, for 40% of the budget." in text
    assert "At first the teacher's alpha-beta search of 20 nodes a move plays self-play's games." in text
    assert "from now on the network plays self-play's games" in text
    assert text.count("Done. ") == 1, "the last words are the run's"


def test_the_share_of_minutes_is_the_teacher_s(tmp_path: Path) -> None:
    """The run's clock begins where the teacher's ends, and its learning rate at the beginning."""
    config = new_config(
        make("minichess"),
        "minichess",
        overrides=["training.minutes=10", "selfplay.teacher_share=0.4", "selfplay.alphabeta_share=0.6"],
    )
    asked = teacher_settings(config)
    assert (asked["training"]["minutes"], asked["training"]["steps"]) == (4, None)
    said = list[str]()
    zerosum.train(
        "minichess",
        tmp_path / "run",
        overrides=[*SETTINGS, "training.steps=none", "training.minutes=0.08", "training.clock=cpu"],
        report=said.append,
    )
    first = read_metrics(tmp_path / "run" / "metrics.csv")[0]
    teacher_s = elapsed_of(tmp_path / "run" / TEACHER)
    assert 60 * first.minutes >= teacher_s >= 0.4 * 60 * 0.08
    assert progress_of(tmp_path / "run", load_config(tmp_path / "run" / "config.toml")) == 1


def test_a_stop_at_any_time_is_resumed(tmp_path: Path, run: Path) -> None:
    config = load_config(run / "config.toml")
    stop = threading.Event()
    fresh = RunPlan(tmp_path / "run", make(config.game), config)

    def stop_soon(line: str) -> None:
        if "learning begins" in line or "Learned values" in line:
            stop.set()

    fresh.directory.mkdir()
    train_teacher(fresh, stop_soon, stop)
    assert stop.is_set() and progress_of(fresh.directory / TEACHER, config) < 1
    with pytest.raises(RunError, match="has learned nothing, so nothing teaches the run"):
        read_teacher(fresh)
    said = list[str]()
    train_teacher(fresh, said.append, threading.Event())
    assert load_checkpoint(fresh.directory / TEACHER).info.step == 16
    assert "  The teacher has learned." in said
    said.clear()
    train_teacher(fresh, said.append, threading.Event())
    assert not said, "it learns once"
    found = read_teacher(fresh)
    assert found is not None and found.elapsed_s == elapsed_of(fresh.directory / TEACHER)


def test_a_training_that_is_stopped_while_its_teacher_learns_says_how_it_goes_on(tmp_path: Path) -> None:
    run, said = tmp_path / "run", list[str]()

    def say(line: str) -> None:
        said.append(line)
        if "Learned values" in line:
            (run / "stop").touch()

    zerosum.train("minichess", run, overrides=[*SETTINGS, "selfplay.alphabeta_nodes=2000"], report=say)
    assert said[-1].startswith("Stopped. To resume from here: ") and "zerosum train" in said[-1]
    assert said[-1].endswith(f"--run {run}")
    assert not (run / "checkpoints").exists() and load_checkpoint(run / TEACHER).info.step < 16


def test_a_run_past_its_teacher_does_without(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    shutil.rmtree(copy / TEACHER)
    assert not needs_teacher(plan_of(copy)) and read_teacher(plan_of(copy)) is None
    zerosum.train("minichess", copy, overrides=["training.steps=44"], report=lambda _: None)
    assert load_checkpoint(copy).info.step == 44
    assert not (copy / TEACHER).exists()


def test_a_copy_has_the_teacher_s_complete_files(run: Path) -> None:
    found = {file.path for file in complete_files(run)}
    assert {"teacher/config.toml", "teacher/metrics.csv", "teacher/checkpoints/step-00000016.json"} <= found
    assert not any("journal" in path or "tensorboard" in path or "holder" in path for path in found)
    assert found >= {f"teacher/{file.path}" for file in complete_files(run / TEACHER)}


def test_another_network_in_the_teacher_s_place_is_told(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    shutil.rmtree(copy / TEACHER)
    shutil.copytree(run, copy / TEACHER, ignore=lambda *_: [TEACHER])
    (copy / "metrics.csv").unlink()
    with pytest.raises(DataError, match="has a network of kind 'residual', expected 'updatable'"):
        read_teacher(plan_of(copy))


def test_a_deterministic_run_repeats(tmp_path: Path) -> None:
    asked = ("training.deterministic=true", "training.steps=12", "selfplay.games_per_worker=none")
    one, two = (learned(tmp_path / name, *asked) for name in ("one", "two"))
    weights = load_checkpoint(two).weights
    for name, weight in load_checkpoint(one).weights.items():
        np.testing.assert_array_equal(weight, weights[name])
    assert load_config(one / TEACHER / "config.toml").training.deterministic


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["selfplay.alphabeta_depth=2"], "one search plays the first games: set one of them to 0"),
        (["selfplay.teacher_share=0.6"], "the teacher would play no games: alphabeta_share must be larger"),
        (["selfplay.teacher_share=1"], "selfplay.teacher_share"),
        (["training.workers=processes"], "leave out training.workers=processes"),
        (["network.kind=updatable", "training.planes=history=1"], "leave out selfplay.teacher_share"),
    ],
)
def test_what_a_taught_run_cannot_have_is_refused(overrides: list[str], words: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=words):
        learned(tmp_path / "run", *overrides)
    assert not (tmp_path / "run").exists()


def test_games_and_clusters_that_cannot_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="planes of pieces"):
        zerosum.train("nim", tmp_path / "run", overrides=["selfplay.teacher_share=0.2"], report=lambda _: None)
    with pytest.raises(SettingsError, match="leave out --cluster, or --set selfplay.teacher_share=0"):
        zerosum.train("minichess", tmp_path / "run", overrides=SETTINGS, cluster="127.0.0.1:1", report=lambda _: None)
    with pytest.raises(SettingsError, match="an alpha-beta search needs the rules"):
        new_config(make("minichess"), "minichess", preset="muzero", overrides=["selfplay.teacher_share=0.2"])
