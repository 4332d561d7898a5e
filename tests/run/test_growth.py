"""A run whose network grows: self-play, learners, workers and players go on with networks of several sizes."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import pytest

import package_network
from commands_for_tests import Command
from runs_for_tests import SETTINGS
from zerosum.base.errors import SettingsError
from zerosum.games import make
from zerosum.network.checkpoint import list_checkpoints, load_checkpoint
from zerosum.play import bundled
from zerosum.replay.game_store import GameStore
from zerosum.run.config import dump_config, load_config, new_config
from zerosum.run.game_import import open_records
from zerosum.run.training import train

GAME = make("tictactoe")
GROWTH = "network.growth=0x4@0, 1x4@0.3, 2x8@0.6"
GROWING = (*(text for text in SETTINGS if "network" not in text), "training.steps=12", GROWTH)
STEPS = {"0x4": range(5), "1x4": range(5, 9), "2x8": range(9, 13)}
"""The steps of a checkpoint of 12 steps whose network has this size: it grows before the first step of a stage."""


def sizes_of(run: Path) -> dict[int, str]:
    """The size of each checkpoint's network by its step."""
    infos = [load_checkpoint(path).info for path in list_checkpoints(run / "checkpoints")]
    return {info.step: info.network.size for info in infos}


def assert_grown(run: Path) -> None:
    sizes = sizes_of(run)
    assert set(sizes.values()) == STEPS.keys()
    assert [step for step, size in sizes.items() if step not in STEPS[size]] == []


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A run that has grown, and what it said."""
    run, said = tmp_path_factory.mktemp("runs") / "run", list[str]()
    train("tictactoe", run, overrides=GROWING, report=said.append)
    return run, said


def test_it_says_what_it_does(grown: tuple[Path, list[str]], zero: Command, tmp_path: Path) -> None:
    run, said = grown
    assert_grown(run)
    assert "then 2 blocks x 8 filters, " in said[1] and "from 60% of the budget on" in said[1]
    assert [line.strip().rpartition(", ")[0] for line in said if "has grown" in line] == [
        "At step 4 the network has grown to 1 block x 4 filters",
        "At step 8 the network has grown to 2 blocks x 8 filters",
    ]
    told = zero("info", run).out
    assert "2 blocks x 8 filters, " in told and "grown in stages (0x4@0, 1x4@0.3, 2x8@0.6)" in told
    assert "step-00000000.json  0x4  " in told and "step-00000012.json  2x8  " in told
    dry = zero("train", "tictactoe", "--run", tmp_path / "dry", "--dry-run", "--steps", "9", "--set", GROWTH).out
    assert "# The network: 0 blocks x 4 filters, " in dry and "All of it with the last network, 2x8." in dry
    plan = zero("plan", "--game", "tictactoe", "--minutes", "5", "--set", GROWTH).out
    assert "network 2x8 (the last of 0x4@0, 1x4@0.3, 2x8@0.6)" in plan


def test_checkpoints_of_all_sizes_play(grown: tuple[Path, list[str]], zero: Command, tmp_path: Path) -> None:
    run, _ = grown
    first, last = list_checkpoints(run / "checkpoints")[:: len(list_checkpoints(run / "checkpoints")) - 1]
    assert zero("match", "tictactoe", first, last, "--games", "2").status == 0
    assert zero("evaluate", run, "--games", "2").status == 0
    answer = zero("report", run, "--out", tmp_path / "report.html")
    assert answer.status == 0, answer.err
    assert "2 blocks × 8 filters, grown" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_it_can_be_packaged(grown: tuple[Path, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_network, "DIRECTORY", tmp_path)
    folder = package_network.package(grown[0], "grown", date="2026-11-25")
    assert load_checkpoint(folder).info.network.size == "2x8"
    assert "--set 'network.growth=0x4@0, 1x4@0.3, 2x8@0.6'" in bundled.read_card(folder).command


def test_worker_processes_play_with_the_grown_network(tmp_path: Path) -> None:
    run = tmp_path / "run"
    processes = ["training.workers=processes", "selfplay.num_workers=2"]
    train("tictactoe", run, overrides=[*GROWING, *processes], report=lambda _: None)
    assert_grown(run)


@pytest.mark.parametrize("backend", ["torch", "onnx"])
def test_every_backend_takes_the_grown_network(tmp_path: Path, backend: str) -> None:
    if backend == "onnx":
        pytest.importorskip("onnxruntime")
    run = tmp_path / "run"
    train("tictactoe", run, overrides=[*GROWING, f"training.backend={backend}"], report=lambda _: None)
    assert_grown(run)


def test_devices_that_learn_together_grow_together(tmp_path: Path) -> None:
    run, said = tmp_path / "run", list[str]()
    devices = ["learner.num_devices=2", "training.device=cpu", "training.clock=cpu"]
    train("tictactoe", run, overrides=[*GROWING, *devices], report=said.append)
    assert_grown(run)
    assert sum("has grown" in line for line in said) == 2


def test_a_gate_compares_networks_of_several_sizes(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train("tictactoe", run, overrides=[*GROWING, "training.gate_games=2"], report=lambda _: None)
    assert_grown(run)
    assert (run / "gate.jsonl").exists()


def test_learning_from_the_games_of_a_run_grows_too(grown: tuple[Path, list[str]], tmp_path: Path) -> None:
    games, run = GameStore(grown[0] / "games", report=lambda _: None), tmp_path / "run"
    run.mkdir()
    store, index = open_records(run, lambda _: None)
    for record in itertools.islice(games.recent(num_games=1000), 300):
        store.add_game(dataclasses.replace(record, game_id=store.next_game_id))
    for closed in (games, store, index):
        closed.close()
    train("tictactoe", run, overrides=[*GROWING, "training.source=records"], report=lambda _: None)
    assert_grown(run)


def test_a_larger_budget_shrinks_nothing(tmp_path: Path) -> None:
    """Half of the new budget is used, where a network that has not grown would be small."""
    run = tmp_path / "run"
    train("tictactoe", run, overrides=[*GROWING, "network.growth=0x4@0, 1x8@0.8"], report=lambda _: None)
    train("tictactoe", run, overrides=["training.steps=24"], report=lambda _: None)
    sizes = sizes_of(run)
    assert sizes[0] == "0x4" and {size for step, size in sizes.items() if step >= 12} == {"1x8"}
    assert max(sizes) == 24


def test_a_run_that_was_made_small_reads_back(tmp_path: Path) -> None:
    config = new_config(GAME, "tictactoe", overrides=["training.steps=9", GROWTH])
    assert (config.network.num_blocks, config.network.num_filters) == (2, 8)
    text = dump_config(config)
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    assert load_config(tmp_path / "config.toml") == config
    before = "\n".join(line for line in text.splitlines() if not line.startswith("growth"))
    (tmp_path / "config.toml").write_text(before, encoding="utf-8")
    assert load_config(tmp_path / "config.toml").network == config.network.at(1.0), "a run of an earlier version"


def test_a_preset_gives_way_and_a_contradiction_does_not() -> None:
    config = new_config(make("connect4"), "connect4", preset="connect4", overrides=["training.minutes=5", GROWTH])
    assert config.network.size == "2x8"
    with pytest.raises(SettingsError, match=r"ends with 2x8, but network.num_blocks is 4 .* leave these two out"):
        new_config(GAME, "tictactoe", overrides=["training.minutes=5", GROWTH, "network.num_blocks=4"])


def test_a_run_that_goes_on_may_grow(tmp_path: Path) -> None:
    """Blocks, filters and global pooling, without growth planned at its beginning; games and steps go on."""
    run, said = tmp_path / "run", list[str]()
    base = [setting for setting in GROWING if "growth" not in setting and "steps" not in setting]
    train("tictactoe", run, steps=3, overrides=[*base, "network.num_blocks=1", "network.num_filters=4"])
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


def test_the_growth_of_a_run_is_fixed(grown: tuple[Path, list[str]]) -> None:
    with pytest.raises(SettingsError, match="network.growth was 0x4@0, 1x4@0.3, 2x8@0.6 and cannot become"):
        train("tictactoe", grown[0], overrides=["network.growth=0x4@0, 2x8@0.6"], report=lambda _: None)
