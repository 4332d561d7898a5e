"""The learner of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from zerosum.games import make
from zerosum.learner import Learner
from zerosum.run.config import new_config
from zerosum.run.learning import RunLearner, open_checkpoint

GAME = make("tictactoe")
SETTINGS = ["network.num_blocks=1", "network.num_filters=4", "training.device=cpu"]


def test_the_cpu_time_of_a_lost_learner_still_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a budget in CPU-minutes would go backwards."""
    monkeypatch.setattr(Learner, "cpu_s", 7.0)
    config = new_config(GAME, "tictactoe", overrides=SETTINGS)
    learner = RunLearner(GAME, config, print, *open_checkpoint(tmp_path, GAME, config, print))
    assert learner.cpu_s == 7
    learner.restore(*open_checkpoint(tmp_path, GAME, config, print))
    assert learner.cpu_s == 14
