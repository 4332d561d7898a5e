"""A run that begins with a network in place of random weights."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import package_network
from commands_for_tests import Command
from runs_for_tests import SETTINGS, train_a_little
from zerosum.base.errors import DataError, RunError, SettingsError
from zerosum.games import make
from zerosum.games.names import GameName
from zerosum.network import Checkpoint, load_checkpoint
from zerosum.network.checkpoint import checkpoint_path, list_checkpoints, load_learner_state
from zerosum.network.residual_tower import ResidualTower
from zerosum.play import bundled
from zerosum.run.config import load_config, new_config
from zerosum.run.run_directory import plan
from zerosum.run.training import train

PACKAGED = bundled.DIRECTORY
GAME = make("tictactoe")
OTHERS = tuple(text for text in SETTINGS if "network" not in text)


@pytest.fixture
def packaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "DIRECTORY", PACKAGED)


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "learned"
    train_a_little("tictactoe", run)
    return run


def first_network(run: Path) -> Checkpoint:
    return load_checkpoint(checkpoint_path(run / "checkpoints", 0))


def logits(checkpoint: Checkpoint) -> list[np.ndarray]:
    """The outputs of all heads for random planes."""
    info = checkpoint.info
    shape = (5, info.shape.num_planes, info.shape.height, info.shape.width)
    planes = np.random.default_rng(0).random(shape, np.float32)
    tower = ResidualTower(info.network, info.shape, checkpoint.weights).eval()
    with torch.inference_mode():
        return [logits.numpy() for logits in tower(torch.from_numpy(planes)).logits.values()]


@pytest.mark.parametrize("as_checkpoint", [False, True])
def test_a_run_begins_with_the_weights_and_the_layers_of_another(
    learned: Path, tmp_path: Path, as_checkpoint: bool
) -> None:
    given = list_checkpoints(learned / "checkpoints")[-1] if as_checkpoint else learned
    run, said = tmp_path / "run", list[str]()
    train("tictactoe", run, overrides=[*OTHERS, f"training.initial_network={given}"], report=said.append)
    before, first = load_checkpoint(learned), first_network(run)
    assert before.info.step == 2 and first.info.step == 0 and first.info.network == before.info.network
    assert first.weights.keys() == before.weights.keys()
    assert all(np.array_equal(first.weights[name], before.weights[name]) for name in before.weights)
    state, _ = load_learner_state(checkpoint_path(run / "checkpoints", 0))
    assert not state, "the optimiser begins afresh"
    assert any(f"begins with the network {given}" in line for line in said)
    last = load_checkpoint(run)
    assert last.info.step == 2
    assert any(not np.array_equal(last.weights[name], before.weights[name]) for name in before.weights), (
        "it has learned"
    )


def test_a_larger_network_begins_with_the_same_answers(learned: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    larger = ["network.num_blocks=2", "network.num_filters=12", f"training.initial_network={learned}"]
    train("tictactoe", run, overrides=[*OTHERS, *larger], report=lambda _: None)
    first = first_network(run)
    assert first.info.network.size == "2x12"
    for ours, theirs in zip(logits(first), logits(load_checkpoint(learned)), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_the_same_command_goes_on(
    learned: Path, tmp_path: Path, zero: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by another path of the same network, and without the option."""
    monkeypatch.chdir(learned.parent)
    words = [word for text in OTHERS if "steps=2" not in text for word in ("--set", text)]
    run = tmp_path / "run"
    for steps, options in (("2", ["learned"]), ("3", [f"../{learned.parent.name}/learned"]), ("4", [])):
        options = options and ["--from-network", *options]
        answer = zero("train", "tictactoe", "--run", run, "--steps", steps, *options, *words)
        assert answer.status == 0, answer.err
    assert load_checkpoint(run).info.step == 4
    assert load_config(run / "config.toml").training.initial_network == str(learned)
    assert f"begun with {learned}" in zero("info", run).out
    empty = zero("train", "tictactoe", "--run", tmp_path / "other", "--from-network", "")
    assert empty.status and "--from-network is empty" in empty.err and not (tmp_path / "other").exists()
    other = zero("train", "tictactoe", "--run", run, "--steps", "5", "--from-network", run)
    assert other.status and "cannot be changed" in other.err


def test_a_kill_before_the_first_checkpoint_loses_nothing(learned: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train("tictactoe", run, overrides=[*OTHERS, f"training.initial_network={learned}"], report=lambda _: None)
    for part in ("checkpoints", "games"):
        shutil.rmtree(run / part)
    train("tictactoe", run, report=lambda _: None)
    before, first = load_checkpoint(learned), first_network(run)
    assert all(np.array_equal(first.weights[name], before.weights[name]) for name in before.weights)


@pytest.mark.usefixtures("packaged")
def test_planes_and_searches_follow_from_the_network() -> None:
    """The packaged Go network has planes of liberties; the preset chess begins with an alpha-beta search."""
    go = new_config(make("go9"), "go9", overrides=["training.initial_network=go9", "training.planes=liberties=3"])
    assert go == new_config(make("go9"), "go9", overrides=["training.initial_network=go9"])
    assert str(go.game) == "go(size=9, liberties=3)" and go.network.ownership_head
    assert new_config(make("chess"), "chess", preset="chess").selfplay.alphabeta_depth
    chess = new_config(make("chess"), "chess", preset="chess", overrides=["training.initial_network=chess"])
    assert (chess.selfplay.alphabeta_depth, str(chess.game)) == (0, "chess(history=1)")
    kept = new_config(
        make("chess"), "chess", overrides=["training.initial_network=chess", "selfplay.alphabeta_depth=2"]
    )
    assert kept.selfplay.alphabeta_depth, "what is asked for comes first"
    words = ["training.initial_network=chess-alphabeta"]
    small = new_config(make("chess"), "chess", preset="nnue", overrides=words)
    assert (small.network.kind, small.plays_alpha_beta) == ("updatable", False), "no linear evaluation at first"
    words += ["selfplay.alphabeta_share=0.2"]
    assert new_config(make("chess"), "chess", preset="nnue", overrides=words).plays_alpha_beta


@pytest.mark.usefixtures("packaged")
@pytest.mark.parametrize(
    ("game", "settings", "sentence"),
    [
        ("go9", ["training.initial_network=gogo"], "neither the path of a run or of a checkpoint's JSON"),
        ("go9", ["training.initial_network=chess"], "does not fit go"),
        ("go(size=9, history=2)", ["training.initial_network=go9"], "does not fit go"),
        ("go9", ["training.initial_network=go9", "training.source=records"], "does not fit go"),
        ("go9", ["training.initial_network=go9", "network.num_filters=32"], "has 64: ask for at least as many"),
        ("go9", ["training.initial_network=go9", "network.value_head=scalar"], "has wdl: leave the setting out"),
    ],
)
def test_a_network_that_does_not_fit_is_refused_before_anything_is_written(
    tmp_path: Path, game: str, settings: list[str], sentence: str
) -> None:
    with pytest.raises((DataError, SettingsError), match=sentence):
        train(game, tmp_path / "run", overrides=settings, report=lambda _: None)
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("packaged")
def test_a_copy_of_a_network_of_the_package_does_not_continue(tmp_path: Path) -> None:
    """It has no learner state. Before, its checkpoint was set aside as damaged, and learning began with nothing."""
    run = tmp_path / "copy"
    shutil.copytree(bundled.DIRECTORY / "connect4", run)
    before = sorted(path.name for path in run.rglob("*"))
    with pytest.raises(DataError, match="network for playing only.*--from-network"):
        train("connect4", run, report=lambda _: None)
    assert set(before) <= {path.name for path in run.rglob("*")}


def test_a_run_directory_of_strangers_is_still_refused(learned: Path, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("hello")
    asked = {"training": {"initial_network": str(learned)}}
    with pytest.raises(RunError, match="is not a run"):
        plan(tmp_path, GAME, GameName.parse("tictactoe"), asked=asked)


def test_its_card_has_the_commands_and_the_cost_of_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (bundled, package_network):
        monkeypatch.setattr(module, "DIRECTORY", tmp_path / "networks")
    runs = [tmp_path / "first", tmp_path / "second"]
    words = ["training.steps=2", "training.clock=cpu"]
    train("tictactoe", runs[0], overrides=[*SETTINGS, *words], report=lambda _: None)
    package_network.package(runs[0], "ours", date="2026-01-01")
    train("tictactoe", runs[1], overrides=[*OTHERS, *words, "training.initial_network=ours"], report=lambda _: None)
    for run, minutes in zip(runs, (3, 4), strict=True):  # a hundredth of a minute would be rounded to 0
        metrics = run / "metrics.csv"
        *before, last = metrics.read_text().splitlines()
        metrics.write_text("\n".join([*before, f"{minutes},{last.partition(',')[2]}", ""]))
    package_network.package(runs[0], "ours", date="2026-01-01")
    first = bundled.read_card(tmp_path / "networks" / "ours")
    second = bundled.read_card(package_network.package(runs[1], "ours", date="2026-01-02"))
    assert second.commands == [first.command, second.command]
    assert "--from-network ours" in second.command and "num_blocks" not in second.command
    assert (first.budget, second.budget) == ("3 CPU-minutes", "7 CPU-minutes")
    third = bundled.read_card(package_network.package(runs[1], "ours", date="2026-01-03"))
    assert third.budget == "11 CPU-minutes" and third.commands[:2] == second.commands, "it began with the second"
    outside = tmp_path / "third"
    train("tictactoe", outside, overrides=[*OTHERS, f"training.initial_network={runs[0]}"], report=lambda _: None)
    with pytest.raises(DataError, match="whose commands are unknown"):
        package_network.package(outside, "other", date="2026-01-02")
