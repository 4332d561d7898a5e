"""The tool that says what a precision costs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import compare_precisions
from networks_for_tests import FakeLeaves
from runs_for_tests import train_a_little
from zerosum.network.evaluators import Evaluations

openvino = pytest.importorskip("openvino")


def test_differences_by_hand() -> None:
    leaves = FakeLeaves(np.zeros((2, 1, 1, 2), np.float32), [False], [[0, 1], [1]])

    def answer(first: float, value: float) -> Evaluations:
        policy = np.log(np.array([first, 1 - first, 0.5], np.float32)) + 3
        return Evaluations(leaves, policy, np.array([value, 0], np.float32))

    # Of the first position 0.75 ln 3 + 0.25 ln 1/3 = 0.549306, of the second 0.
    text = compare_precisions.differences(leaves, answer(0.75, 0.5), answer(0.25, 0.3))
    assert text.startswith("divergence 0.274653, same move 50.00%, value differs by 0.1000, 99 % by at most 0.19")


def test_a_line_for_each_precision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    capabilities = openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    if not {"BF16", "INT8"} <= set(capabilities):
        pytest.skip("a CPU without bfloat16 or int8")
    train_a_little("tictactoe", tmp_path / "run")
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["compare_precisions.py", str(tmp_path / "run"), "--positions", "20"])
    compare_precisions.main()
    game, f32, *others = capsys.readouterr().out.splitlines()
    assert game == "tictactoe, 1x8, step 2"
    assert f32.startswith("f32: divergence 0.000000, same move 100.00%, value differs by 0.0000")
    assert [re.match(r"\w+", line)[0] for line in others] == ["bf16", "int8"]  # type: ignore[index]
