"""Trainings of updatable networks by alpha-beta self-play: whole, resumed, repeated, refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import zerosum
from runs_for_tests import UNRATED
from updatable_for_tests import SETTINGS, train_updatable
from zerosum.base.errors import SettingsError
from zerosum.games import make
from zerosum.network import load_checkpoint
from zerosum.network.evaluators.onnx_graph import export
from zerosum.network.own_network import network_module
from zerosum.play.player import load_player
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import PlyFlag
from zerosum.report.page import write_page
from zerosum.run.config import load_config
from zerosum.run.dry_run import dry_run
from zerosum.run.info import describe
from zerosum.run.report import evaluate


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("updatable") / "run"
    train_updatable("minichess", directory)
    return directory


def games_of(run: Path, tmp_path: Path) -> list:
    copy = tmp_path / "games"
    shutil.copytree(run / "games", copy)
    store = GameStore(copy, report=lambda _: None, games_per_shard=100)
    try:
        return list(store.recent(num_games=1000))
    finally:
        store.close()


def test_a_run_learns_plays_and_is_described(run: Path, tmp_path: Path) -> None:
    config = load_config(run / "config.toml")
    assert (config.network.kind, config.network.opponent_view) == ("updatable", "flipped")
    checkpoint = load_checkpoint(run)
    assert checkpoint.info.step == 4
    lines: list[str] = []
    describe(run, write=lines.append, write_json=lambda _: None)
    text = "\n".join(lines)
    assert "network an updatable network of 2 x 16 units" in text and "values of pieces: pawns" in text
    found = load_player(run).analyse(num_simulations=300)
    assert found.best_move and found.depth >= 1
    records = games_of(run, tmp_path)
    assert records
    quiet = tactical = 0
    for record in records:
        flags = record.plies["flags"]
        assert all(flag & int(PlyFlag.EVALUATED) or flag & int(PlyFlag.OPENING) for flag in flags.tolist())
        has_target = np.diff(record.target_offsets) > 0
        quiet += int(has_target.sum())
        tactical += int((~has_target).sum())
    assert quiet and tactical, "positions in the middle of exchanges are not learned from"


def test_a_run_goes_on(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    num_games = len(games_of(run, tmp_path))
    zerosum.train("minichess", copy, overrides=["training.steps=7"], report=lambda _: None)
    assert load_checkpoint(copy).info.step == 7
    assert len(games_of(copy, tmp_path / "after")) >= num_games


def test_a_deterministic_run_repeats(tmp_path: Path) -> None:
    settings = ("training.deterministic=true", "training.num_checkpoints=2", UNRATED)
    for name in ("one", "two"):
        train_updatable("minichess", tmp_path / name, *settings)
    one, two = (load_checkpoint(tmp_path / name) for name in ("one", "two"))
    for name, weight in one.weights.items():
        np.testing.assert_array_equal(weight, two.weights[name])
    first, second = (games_of(tmp_path / name, tmp_path / f"{name}-games") for name in ("one", "two"))
    assert [record.plies["action"].tolist() for record in first] == [
        record.plies["action"].tolist() for record in second
    ]
    evaluations = [json.loads((tmp_path / name / "evaluation.json").read_text()) for name in ("one", "two")]
    assert evaluations[0] == evaluations[1]


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("training.workers=processes", "leave out training.workers=processes"),
        ("training.gate_games=10", "leave out training.gate_games"),
        ("learner.importance_limit=1", "leave out learner.importance_limit"),
        ("training.leaf_values=rollouts", "leave out training.leaf_values"),
        ("selfplay.alphabeta_depth=2", "leave out selfplay.alphabeta_depth"),
        ("selfplay.resign_false_positives=0.05", "leave out selfplay.resign_false_positives"),
        ("network.updatable_units=17", "expected a multiple of 16"),
        ("network.updatable_lines=6", "a board of 5 x 5 squares has no such line"),
        ("network.kind=small", "network.kind is 'small'"),
    ],
)
def test_settings_that_do_not_fit_are_refused(setting: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=words):
        zerosum.train("minichess", tmp_path / "run", preset="nnue", overrides=[*SETTINGS, setting])
    assert not (tmp_path / "run").exists()


def test_a_game_without_pieces_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="planes of pieces"):
        train_updatable("nim", tmp_path / "run")


def test_the_network_alone_can_be_learned_from_records(tmp_path: Path, run: Path) -> None:
    """Games of the run's own directory are learned from without playing more."""
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    zerosum.train("minichess", copy, overrides=["training.source=games", "training.steps=6"], report=lambda _: None)
    assert load_checkpoint(copy).info.step == 6
    assert make("minichess").spec.name == load_checkpoint(copy).info.game


def test_other_commands_take_the_run(run: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    findings = write_page([run], page, say=lambda _: None)
    assert page.read_text(encoding="utf-8").count("updatable, 2 × 16") >= 1
    assert not any("Left out" in finding.text for finding in findings)
    words: list[str] = []
    dry_run("minichess", tmp_path / "new", preset="nnue", asked={}, report=words.append)
    assert any("Self-play is an alpha-beta search" in text for text in words)
    said: list[str] = []
    found = evaluate(run, num_games=2, num_positions=1, num_simulations=300, write=said.append)
    assert said[0].endswith(": 300 positions a move.")
    assert [result.second for result in found.matches] == ["random", "rollouts@3", "rollouts@30"], "equal time"


def test_an_exported_network_gives_the_values_of_the_learner(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("openvino")
    checkpoint = load_checkpoint(run)
    export(checkpoint, tmp_path / "net.onnx")
    game = make("minichess(history=1)")
    states = [game.initial_state()]
    for action in game.legal_actions(states[0])[:3]:
        states.append(game.play(states[0], action))
    planes = game.encode(states).planes()
    exact = {"INFERENCE_PRECISION_HINT": "f32"}  # where a CPU has bf16, OpenVINO takes it
    found = runtime.compile_model(str(tmp_path / "net.onnx"), "CPU", exact)([planes])["value_logits"]
    module = network_module(checkpoint.info.network, checkpoint.info.shape, checkpoint.weights)
    module.eval()
    with torch.no_grad():
        expected = module(torch.from_numpy(planes)).logits["value"].numpy()
    np.testing.assert_allclose(found, expected, atol=1e-4)
