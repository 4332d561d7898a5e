"""A network of one's own learns, resumes, plays, is exported, and does not run from a stranger's run."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import zerosum
from commands_for_tests import Command
from runs_for_tests import SETTINGS
from zerosum.base.errors import SettingsError
from zerosum.games import make
from zerosum.network import NetworkConfig, load_checkpoint
from zerosum.network.config import parse_shapes, shapes_text
from zerosum.network.evaluators import make_evaluator
from zerosum.network.evaluators.onnx_graph import onnx_model
from zerosum.run.config import new_config
from zerosum.run.training import train

SOURCE = """\
import torch
from torch import nn


class Tiny(nn.Module):
    def __init__(self, num_planes, board_shape, num_logits, units=16):
        super().__init__()
        inputs = num_planes * board_shape[0] * board_shape[1]
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(inputs, units), nn.BatchNorm1d(units), nn.ReLU())
        self.heads = nn.ModuleDict({name: nn.Linear(units, width) for name, width in num_logits.items()})

    def forward(self, planes):
        features = self.body(planes)
        return {name: head(features) for name, head in self.heads.items()}


class Wrong(Tiny):
    def forward(self, planes):
        return {"policy": super().forward(planes)["policy"]}


class NoModule:
    def __init__(self, **_):
        pass
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mine") / "mynet.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def learn(run: Path, *settings: str, steps: int = 3) -> list[str]:
    said = list[str]()
    train("tictactoe", run, steps=steps, overrides=[*SETTINGS[2:], *settings], report=said.append)
    return said


@pytest.fixture(scope="module")
def learned(file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "own"
    said = learn(run, f"network.module={file}:Tiny(units=8)")
    assert any("a network of its own" in line for line in said)
    return run


def test_it_learns_and_goes_on(learned: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(learned, tmp_path / "run"))
    before = load_checkpoint(run)
    assert before.info.step == 3 and before.info.network.module.endswith("mynet.py:Tiny(units=8)")
    train("tictactoe", run, steps=5, report=lambda _: None)
    after = load_checkpoint(run)
    assert after.info.step == 5 and after.weights.keys() == before.weights.keys()
    assert any((after.weights[name] != before.weights[name]).any() for name in after.weights)


def test_it_sees_the_planes_that_a_run_adds(file: Path) -> None:
    """In Go a new run adds planes to those of the game's name."""
    asked = [f"network.module={file}:Tiny(units=8)", "network.ownership_head=false"]
    config = new_config(make("go(size=5)"), "go(size=5)", overrides=asked)
    num_inputs = parse_shapes(config.network.module_weights)["module.body.1.weight"][1]
    assert num_inputs == 25 * len(make(config.game).spec.planes) > 25 * len(make("go(size=5)").spec.planes)


def test_it_plays_everywhere(learned: Path, zero: Command) -> None:
    player = zerosum.load(learned, num_simulations=8)
    assert player.analyse("b2").num_simulations == 8
    for command in (
        ("match", "tictactoe", f"{learned}@4", "random", "--games", "2"),
        ("evaluate", learned, "--games", "2", "--positions", "0", "--simulations", "4"),
        ("analyse", "--player", learned, "--game", "tictactoe", "--moves", "b2 a1", "--simulations", "4"),
        ("info", learned),
    ):
        answer = zero(*command)
        assert answer.status == 0, (command, answer.err)


def test_it_is_exported(learned: Path, tmp_path: Path, zero: Command) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    answer = zero("export", learned, tmp_path / "net.onnx")
    assert answer.status == 0, answer.err
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx", providers=["CPUExecutionProvider"])
    checkpoint = load_checkpoint(learned)
    shape = checkpoint.info.shape
    planes = np.random.default_rng(0).random((5, shape.num_planes, shape.height, shape.width), np.float32)
    policy, value = session.run(["policy_logits", "value_logits"], {"planes": planes})
    assert policy.shape == (5, 9) and value.shape == (5, 3)
    import torch

    from zerosum.network.own_network import OwnNetwork

    network = OwnNetwork(checkpoint.info.network, shape, checkpoint.weights).eval()
    with torch.inference_mode():
        expected = network(torch.from_numpy(planes)).logits["policy"].numpy()
    np.testing.assert_allclose(policy, expected, atol=1e-5)


def test_a_module_that_torch_cannot_export_is_told(learned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("an operator is missing\nand much more")

    pytest.importorskip("onnx")
    monkeypatch.setattr(torch.onnx, "export", fail)
    with pytest.raises(SettingsError, match=r"torch cannot write .*:Tiny.* as ONNX: an operator is missing\.$"):
        onnx_model(load_checkpoint(learned))


def test_the_same_seed_begins_alike(file: Path, tmp_path: Path) -> None:
    weights = []
    for number, seed in enumerate((1, 1, 2)):
        run = tmp_path / str(number)
        learn(run, f"network.module={file}:Tiny", f"training.seed={seed}", "strength.budget_share=0", steps=1)
        first = next(iter(sorted((run / "checkpoints").glob("*.json"))))
        weights.append(load_checkpoint(first).weights["module.heads.policy.weight"])
    assert (weights[0] == weights[1]).all() and (weights[0] != weights[2]).any()


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("nowhere.py:Net", "does not exist"),
        ("mynet.py", "expected a torch module as path.py:Class"),
        ("mynet.py:Wrong", r"answers \{'policy': \[2, 9\]\}, expected a dictionary of logits"),
        ("mynet.py:NoModule", "is a NoModule, expected a torch.nn.Module"),
        ("mynet.py:Tiny(width=3)", "Tiny has no option 'width'"),
    ],
)
def test_a_wrong_module_is_refused_before_anything_is_written(
    setting: str, said: str, file: Path, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match=said):
        learn(tmp_path / "run", f"network.module={file.parent / setting}")
    assert not (tmp_path / "run").exists()


def test_a_stranger_s_network_does_not_run(
    learned: Path, tmp_path: Path, zero: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZEROSUM_CONFIG", str(tmp_path))
    for command in (("play", learned), ("export", learned, tmp_path / "x.onnx"), ("evaluate", learned)):
        answer = zero(*command)
        assert answer.status == 2 and "a program that you have not allowed to run on this machine" in answer.err
    with pytest.raises(SettingsError, match="have not allowed"):
        train("tictactoe", learned, steps=9, report=lambda _: None)
    assert zero("info", learned).status == 0, "which runs nothing"
    told = zero("trust", learned, "--yes")
    assert told.status == 0 and "mynet.py, which plays" in told.out
    assert zero("export", learned, tmp_path / "x.onnx").status == 0


def test_a_class_that_has_changed_is_told(file: Path, tmp_path: Path) -> None:
    own = Path(shutil.copy(file, tmp_path / "changing.py"))
    learn(tmp_path / "run", f"network.module={own}:Tiny", steps=1)
    own.write_text(SOURCE.replace("units=16", "units=12"), encoding="utf-8")
    with pytest.raises(SettingsError, match="has other weights than the checkpoint"):
        zerosum.load(tmp_path / "run")


def test_another_backend_and_a_grown_network_are_refused(learned: Path) -> None:
    from zerosum.network.evaluators.backends import EvaluatorConfig

    with pytest.raises(SettingsError, match="backend of a network of one's own"):
        make_evaluator(load_checkpoint(learned), EvaluatorConfig("openvino"), batch_size=4)
    with pytest.raises(SettingsError, match="no network.ownership_head"):
        NetworkConfig(module="x.py:Net", ownership_head=True)


def test_shapes_are_read_back() -> None:
    shapes = {"a.b_1": (3, 4), "scale": (), "x": (1, 2, 3, 4)}
    assert parse_shapes(shapes_text(shapes)) == shapes
    for wrong in ("a", "a:0", "a:3 a:4", "a:3x", "a:-1", "a b:3", "a:99999999"):
        with pytest.raises(SettingsError, match="module_weights has"):
            parse_shapes(wrong)
