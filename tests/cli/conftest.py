"""A run and a file of games for the tests of the commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs_for_tests import train_a_little

GAMES = """\
from games_for_tests import DoubleMove


class Good(DoubleMove):
    name = "good"


class Bad(DoubleMove):
    name = "bad"

    def outcome(self, state):
        return None if state[0] < 12 else 7
"""


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of tic-tac-toe."""
    run = tmp_path_factory.mktemp("runs") / "tictactoe"
    train_a_little("tictactoe", run)
    return run


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """A file with games of a user's own."""
    path = tmp_path / "games.py"
    path.write_text(GAMES, encoding="utf-8")
    return path
