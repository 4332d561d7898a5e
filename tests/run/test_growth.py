"""A run whose network grows: self-play, learners, workers and players go on with networks of several sizes."""

from __future__ import annotations

import dataclasses
import itertools
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import package_network
from commands_for_tests import Command
from runs_for_tests import SETTINGS
from zerosum.base.errors import SettingsError
from zerosum.network.checkpoint import list_checkpoints, load_checkpoint
from zerosum.replay.game_store import GameStore
from zerosum.run.config import load_config
from zerosum.run.game_import import open_records
from zerosum.run.training import train

BASE = tuple(text for text in SETTINGS if "network" not in text and "training.steps=" not in text)
SIZES = {4: "0x4", 8: "1x4", 12: "2x8"}
"""Sizes of the network by the last step that it makes."""
ONCE = {2: "0x4", 4: "2x8"}


def grow(run: Path, *more: str, sizes: dict[int, str] = SIZES, report: Callable[[str], None] = lambda _: None) -> None:
    """Train a run that is continued with larger networks."""
    for number, (steps, size) in enumerate(sizes.items()):
        blocks, filters = size.split("x")
        asked = [f"network.num_blocks={blocks}", f"network.num_filters={filters}"]
        fresh = () if run.joinpath("config.toml").exists() else BASE
        train("tictactoe", run, steps=steps, overrides=[*fresh, *(() if number else more), *asked], report=report)


def sizes_of(run: Path) -> dict[int, str]:
    """The size of each checkpoint's network by its step."""
    infos = [load_checkpoint(path).info for path in list_checkpoints(run / "checkpoints")]
    return {info.step: info.network.size for info in infos}


def assert_grown(run: Path, expected: dict[int, str] = SIZES) -> None:
    sizes = sizes_of(run)
    assert {step: sizes[step] for step in expected} == expected
    assert all(size == next(expected[last] for last in expected if step <= last) for step, size in sizes.items())


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A run that has grown, and what it said."""
    run, said = tmp_path_factory.mktemp("runs") / "run", list[str]()
    grow(run, report=said.append)
    return run, said


def test_it_says_what_it_does(grown: tuple[Path, list[str]], zero: Command) -> None:
    run, said = grown
    assert_grown(run)
    assert [line.strip().rpartition(", ")[0] for line in said if "has grown" in line] == [
        "At step 4 the network has grown to 1 block x 4 filters",
        "At step 8 the network has grown to 2 blocks x 8 filters",
    ]
    assert "2 blocks x 8 filters, " in zero("info", run).out


def test_checkpoints_of_all_sizes_play(grown: tuple[Path, list[str]], zero: Command, tmp_path: Path) -> None:
    run, _ = grown
    first, last = list_checkpoints(run / "checkpoints")[:: len(list_checkpoints(run / "checkpoints")) - 1]
    assert zero("match", "tictactoe", first, last, "--games", "2").status == 0
    assert zero("evaluate", run, "--games", "2").status == 0
    answer = zero("report", run, "--out", tmp_path / "report.html")
    assert answer.status == 0, answer.err
    assert "2 blocks × 8 filters" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_it_can_be_packaged(grown: tuple[Path, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_network, "DIRECTORY", tmp_path)
    assert load_checkpoint(package_network.package(grown[0], "grown", date="2026-11-25")).info.network.size == "2x8"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has not grown yet."""
    run = tmp_path_factory.mktemp("runs") / "small"
    grow(run, sizes={2: ONCE[2]})
    return run


@pytest.mark.parametrize(
    "settings",
    [
        ["training.workers=processes", "selfplay.num_workers=2"],
        ["training.backend=torch"],
        ["learner.num_devices=2", "training.device=cpu", "training.clock=wall"],
        ["training.gate_games=2"],
    ],
)
def test_all_of_a_training_takes_the_grown_network(small: Path, tmp_path: Path, settings: list[str]) -> None:
    run = shutil.copytree(small, tmp_path / "run")
    grow(run, *settings, sizes={4: ONCE[4]})
    assert_grown(run, ONCE)


def test_learning_from_the_games_of_a_run_grows_too(grown: tuple[Path, list[str]], tmp_path: Path) -> None:
    games, run = GameStore(grown[0] / "games", report=lambda _: None), tmp_path / "run"
    run.mkdir()
    store, index = open_records(run, lambda _: None)
    for record in itertools.islice(games.recent(num_games=1000), 300):
        store.add_game(dataclasses.replace(record, game_id=store.next_game_id))
    for closed in (games, store, index):
        closed.close()
    grow(run, "training.source=records")
    assert_grown(run)


def test_a_run_that_goes_on_may_grow(tmp_path: Path) -> None:
    """Blocks, filters and global pooling; games and steps go on."""
    run, said = tmp_path / "run", list[str]()
    train("tictactoe", run, steps=3, overrides=[*BASE, "network.num_blocks=1", "network.num_filters=4"])
    before = load_checkpoint(run)
    larger = ["network.num_blocks=2", "network.num_filters=6", "network.pooling_interval=1"]
    for steps in (3, 6, 9):  # the second time it has nothing to do, and it grows once
        train("tictactoe", run, steps=steps, overrides=larger, report=said.append)
    words = [line.strip().rpartition(", ")[0] for line in said if "has grown" in line]
    assert words == ["At step 3 the network has grown to 2 blocks x 6 filters with global pooling"]
    network = load_checkpoint(run).info.network
    assert load_checkpoint(run).info.step == 9 and network == load_config(run / "config.toml").network
    assert (before.info.network.size, network.size, network.pooling_interval) == ("1x4", "2x6", 1)
    for setting, was in (("num_blocks=1", "2"), ("pooling_interval=2", "1"), ("value_filters=3", r"\d+")):
        name = setting.partition("=")[0]
        with pytest.raises(SettingsError, match=f"network.{name} was {was} and cannot become"):
            train("tictactoe", run, overrides=[f"network.{setting}"], report=lambda _: None)
