"""An installation for playing alone: without the extra `train`, and without the library of the records."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("openvino")

MISSING = ("torch", "tensorboard", "pyarrow")
PROGRAM = """
import sys

class Hiding:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in {missing!r} else self.finder.find_spec(name, path, target)
    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = map(Hiding, sys.meta_path)
{program}
"""


def without(missing: tuple[str, ...], program: str, *words: str) -> subprocess.CompletedProcess[str]:
    code = PROGRAM.format(missing=missing, program=program)
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)


def test_a_network_plays_without_them() -> None:
    program = (
        "import zerosum\nplayer = zerosum.load('connect4')\nprint(player.evaluator.description)\n"
        "print(player.analyse('4 4 3', num_simulations=30).best_move)"
    )
    alone, usual = without(MISSING, program), without((), program)
    assert alone.returncode == 0, alone.stderr
    assert alone.stdout == usual.stdout and alone.stdout.startswith("OpenVINO")


def test_training_names_what_it_needs(tmp_path: Path) -> None:
    run = tmp_path / "run"
    said = without(("torch",), "import zerosum.cli\nzerosum.cli.main()", "train", "tictactoe", "--run", str(run))
    assert said.returncode == 2
    assert said.stderr == "zerosum: train needs PyTorch, which is not installed: pip install 'zerosum[train]'.\n"
    assert not run.exists()
