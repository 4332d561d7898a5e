"""The exported network: equal to the plain one wherever it is read, and it says what it belongs to."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from networks_for_tests import (
    EVERY_ARCHITECTURE,
    F32_TOLERANCE,
    SMALL,
    make_checkpoint,
    make_info,
    make_leaves,
    with_opinions,
)
from zerosum.base.errors import SettingsError
from zerosum.cli import app
from zerosum.games import make
from zerosum.games.random_play import random_leaves
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig, initial_weights, save_checkpoint
from zerosum.network.evaluators import onnx_graph
from zerosum.network.evaluators.onnx_graph import export
from zerosum.network.evaluators.openvino_requests import openvino_core
from zerosum.network.muzero_module import MuZeroModule
from zerosum.network.residual_tower import ResidualTower

onnx = pytest.importorskip("onnx")


@pytest.mark.parametrize("reader", ["openvino", "onnxruntime"])
@pytest.mark.parametrize("info", EVERY_ARCHITECTURE.values(), ids=EVERY_ARCHITECTURE)
def test_other_programs_read_the_file(info, reader, tmp_path):
    library = pytest.importorskip(reader)
    checkpoint = make_checkpoint(info)
    path = tmp_path / "net.onnx"
    export(checkpoint, path)
    if reader == "openvino":  # by the one core, as cores that end in the order of their making harm signals
        network = openvino_core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        assert len(network.outputs) == 2
    else:
        session = library.InferenceSession(path, providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        assert len(names) == 2

        def network(planes):
            return dict(zip(names, session.run(None, {"planes": planes}), strict=True))

    tower = ResidualTower(info.network, info.shape, checkpoint.weights).eval()
    for size in (1, 5):
        planes = make_leaves(info, size).planes()
        with torch.inference_mode():
            expected = tower(torch.from_numpy(planes))
        found = network(planes)
        for name, logits in expected.logits.items():
            np.testing.assert_allclose(
                found[f"{name}_logits"], logits.numpy(), atol=F32_TOLERANCE * max(1, logits.std(correction=0)), rtol=0
            )


@pytest.mark.parametrize("reader", ["openvino", "onnxruntime"])
@pytest.mark.parametrize("name", ["connect4", "go(size=5)"])
def test_other_programs_walk_by_learned_rules(name, reader, tmp_path):
    """A MuZero network is two files, with moves of columns, and on squares with a pass."""
    library = pytest.importorskip(reader)
    game = make(name)
    network = NetworkConfig(kind="muzero", num_blocks=1, dynamics_blocks=1, num_filters=8)
    info = CheckpointInfo.describe(game.spec, network, step=7)
    checkpoint = with_opinions(Checkpoint(info, initial_weights(network, info.shape, seed=1)), seed=1)
    paths = export(checkpoint, tmp_path / "net.onnx")
    assert paths == [tmp_path / "net.initial.onnx", tmp_path / "net.recurrent.onnx"]
    assert sorted(tmp_path.iterdir()) == paths
    programs = []
    for path in paths:
        onnx.checker.check_model(onnx.load(path), full_check=True)
        if reader == "openvino":
            programs.append(openvino_core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"}))
        else:
            session = library.InferenceSession(path, providers=["CPUExecutionProvider"])
            names = [output.name for output in session.get_outputs()]
            programs.append(
                lambda inputs, run=session, names=names: dict(zip(names, run.run(None, inputs), strict=True))
            )
    initial, recurrent = programs
    module = MuZeroModule(network, info.shape, checkpoint.weights).eval()
    planes = random_leaves(game, 5).planes()
    moves = np.array([0, 1, 2, info.num_actions - 1, info.num_actions - 2])
    with torch.inference_mode():
        states = [module.represent(torch.from_numpy(planes))]
        states.append(module.advance(states[0], torch.from_numpy(moves)))
        expected = [module.predict(state) for state in states]
    first = initial({"planes": planes})
    second = recurrent({"hidden": first["hidden"], "moves": moves})
    for found, hidden, state, logits in zip((first, second), ("hidden", "next_hidden"), states, expected, strict=True):
        np.testing.assert_allclose(found[hidden], state.numpy(), atol=1e-5)
        assert len(found) == 3
        for head, values in logits.items():
            np.testing.assert_allclose(found[f"{head}_logits"], values.numpy(), atol=1e-4)


def test_the_command_writes_what_onnx_holds_valid(tmp_path, capsys):
    checkpoint = make_checkpoint(make_info(SMALL))
    save_checkpoint(tmp_path, checkpoint, learner_state={}, learner_info={})
    path = tmp_path / "net.onnx"
    app(["export", str(tmp_path), str(path)], standalone_mode=False)
    assert capsys.readouterr().out == f"{path}: the network of step 0 for fake.\n"
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    properties = {each.key: each.value for each in model.metadata_props}
    assert json.loads(properties.pop("planes")) == ["plane 0", "plane 1", "plane 2"]
    assert properties == {
        "game": "fake",
        "game_options": "",
        "game_version": "1",
        "encoder_id": "fake-1",
        "step": "0",
    }


def test_a_missing_library_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(onnx_graph.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match="ONNX is not installed: 'pip install onnx'"):
        export(make_checkpoint(make_info(SMALL)), tmp_path / "net.onnx")
