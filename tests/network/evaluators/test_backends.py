"""The choice of the evaluator on a machine; unavailable choices are refused by name."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from networks_for_tests import SMALL, make_checkpoint, make_info
from zerosum.base.errors import SettingsError
from zerosum.games import make
from zerosum.network import CheckpointInfo
from zerosum.network.evaluators import EvaluatorConfig, backends, device, make_evaluator, openvino_requests
from zerosum.network.evaluators.openvino import OpenVinoEvaluator
from zerosum.network.evaluators.torch import TorchEvaluator

pytest.importorskip("openvino")


def test_the_machine_chooses_its_backend(monkeypatch):
    checkpoint = make_checkpoint(make_info(SMALL))

    def chosen(**choice):
        return type(make_evaluator(checkpoint, EvaluatorConfig(**choice), batch_size=4))

    monkeypatch.setattr(device, "_has_gpu_driver", lambda: False)
    assert chosen() is OpenVinoEvaluator
    assert chosen(backend="torch") is TorchEvaluator
    assert chosen(device="cpu") is OpenVinoEvaluator
    assert chosen(device="cpu", backend="openvino") is OpenVinoEvaluator
    if not (torch.cuda.is_available() or torch.backends.mps.is_available()):  # a driver without a usable GPU
        monkeypatch.setattr(device, "_has_gpu_driver", lambda: True)
        with pytest.warns(RuntimeWarning, match="The CPU is used"):
            assert chosen() is OpenVinoEvaluator
    monkeypatch.setattr(device, "_has_gpu_driver", lambda: False)
    monkeypatch.setattr(backends.importlib.util, "find_spec", lambda name: None)
    assert chosen() is TorchEvaluator
    with pytest.raises(SettingsError, match="OpenVINO is not installed"):
        chosen(backend="openvino")


def test_a_choice_that_cannot_be_is_named():
    checkpoint = make_checkpoint(make_info(SMALL))
    with pytest.raises(SettingsError, match="backend is 'openvin': did you mean 'openvino'"):
        make_evaluator(checkpoint, EvaluatorConfig(backend="openvin"), batch_size=4)
    with pytest.raises(SettingsError, match="device is 'cuda', but the openvino backend"):
        make_evaluator(checkpoint, EvaluatorConfig("openvino", "cuda"), batch_size=4)
    with pytest.raises(SettingsError, match="device is 'abacus', which torch cannot use here"):
        make_evaluator(checkpoint, EvaluatorConfig(device="abacus"), batch_size=4)
    with pytest.raises(SettingsError, match="openvino backend is 'f16': .* Available: auto, bf16, f32, int8"):
        make_evaluator(checkpoint, EvaluatorConfig(device="cpu", precision="f16"), batch_size=4)
    with pytest.raises(SettingsError, match="batch_size is 0, but must be at least 1"):
        make_evaluator(checkpoint, EvaluatorConfig(device="cpu"), batch_size=0)


def test_fast_is_int8_where_the_cpu_and_the_game_allow_it(monkeypatch):
    def chosen(info, **choice):
        config = EvaluatorConfig(device="cpu", precision="fast", **choice)
        return make_evaluator(make_checkpoint(info), config, batch_size=4).description

    core_game = CheckpointInfo.describe(make("connect4").spec, make_info(SMALL).network, step=0)
    monkeypatch.setattr(openvino_requests, "cpu_capabilities", lambda: {"FP32", "INT8"})
    monkeypatch.setattr(openvino_requests, "has_int8_products", lambda: True)
    assert chosen(core_game) == "OpenVINO, CPU, int8"
    assert chosen(make_info(SMALL)) == "OpenVINO, CPU, f32"  # positions of a user's game are not known
    monkeypatch.setattr(openvino_requests, "has_int8_products", lambda: False)
    assert chosen(core_game) == "OpenVINO, CPU, f32", "named for every CPU, and slow without instructions for it"
    for capabilities, computes in (({"FP32", "BF16", "INT8"}, True), ({"FP32", "BF16"}, False)):
        monkeypatch.setattr(openvino_requests, "cpu_capabilities", lambda found=capabilities: found)
        assert openvino_requests.computes_int8() == computes
    monkeypatch.setattr(openvino_requests, "cpu_capabilities", lambda: {"FP32", "INT8"})
    assert chosen(core_game, backend="torch").startswith("PyTorch, ")


def test_openvino_plays_without_torch(tmp_path):
    """Importing the module imports neither; loading and running a checkpoint on a CPU never imports torch."""
    from zerosum.network import save_checkpoint

    path = save_checkpoint(tmp_path, make_checkpoint(make_info(SMALL)), learner_state={}, learner_info={})
    program = f"""
import sys
from pathlib import Path
from zerosum.network.evaluators import backends
from zerosum.network.evaluators import device
from zerosum.network.checkpoint import load_checkpoint
assert not {{"torch", "openvino", "onnx", "onnxruntime"}} & sys.modules.keys()
device._has_gpu_driver = lambda: False
checkpoint = load_checkpoint(Path({str(path)!r}))
print(backends.make_evaluator(checkpoint, batch_size=4).description)
assert "torch" not in sys.modules
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("OpenVINO, CPU, ")
