"""Kills on a real Ray cluster of this machine, by `tools/kill_cluster.py`."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None, reason="Ray is missing: pip install 'zerosum[cluster]'"
    ),
    pytest.mark.skipif(os.name == "nt", reason="POSIX only: Ray's clusters on Windows are experimental"),
]


def test_kills_of_actors_nodes_and_learners_lose_nothing() -> None:
    """A separate process, because Ray's processes belong to the one that starts them."""
    tool = Path(__file__).parents[2] / "tools" / "kill_cluster.py"
    command = [sys.executable, str(tool), "--victims", "actor", "learner", "node", "hung", "device", "rater"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kills: actor 1, learner 1, node 1, hung 1, device 1, rater 1" in done.stdout and done.stdout.endswith(
        "0 faults\n"
    )
