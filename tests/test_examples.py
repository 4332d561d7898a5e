"""The examples run, on small games and for seconds."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import zerosum

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_example_is_run_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {"learn_and_play", "own_network", "read_games"}


def test_learn_and_play(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = example("learn_and_play").learn_and_play("tictactoe", 0.1, str(tmp_path / "run"))
    assert result in (0, 1), "the network does not lose a game of tic-tac-toe to random moves"
    assert "X" in capsys.readouterr().out


def test_own_network(tmp_path: Path) -> None:
    player = example("own_network").learn("tictactoe", 0.05, str(tmp_path / "run"))
    assert len(player.analyse("b2 a1", num_simulations=20).actions) == 7
    assert "Mixer" in (tmp_path / "run" / "config.toml").read_text(encoding="utf-8")


def test_read_games(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    settings = {"training.min_positions": 20, "network.num_filters": 8, "replay.games_per_shard": 4}
    settings |= {"search.num_simulations": 4, "selfplay.games_per_worker": 4, "strength.budget_share": 0}
    zerosum.train("tictactoe", tmp_path / "run", steps=4, settings=settings, report=lambda line: None)
    module = example("read_games")
    games = module.games_of(tmp_path / "run")
    assert games["game_id"].to_list() == sorted(set(games["game_id"]))
    assert module.endings(games)["games"].sum() == len(games)
    table = module.first_moves(games, parts=2)
    assert sum(table.select(column).sum().item() for column in table.columns[1:]) == len(games)
    assert set(table["first move"]) <= set(range(9))
