"""AlphaGo Zero's gate: a newer network replaces the best one by winning enough games against it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from zerosum.games import make
from zerosum.network import load_checkpoint
from zerosum.network.checkpoint import checkpoint_path, list_checkpoints
from zerosum.play.runs import network_at
from zerosum.replay.game_store import GameStore
from zerosum.run import gate as gate_module
from zerosum.run.config import load_config
from zerosum.run.gate import Gate, GateMatch
from zerosum.run.info import describe
from zerosum.run.run_plan import RunPlan
from zerosum.run.training import train

SETTINGS = (
    "training.gate_games=100",
    "training.min_positions=50",
    "training.steps_per_phase=2",
    "training.num_checkpoints=4",
    "network.num_blocks=1",
    "network.num_filters=8",
    "search.num_simulations=8",
    "selfplay.games_per_worker=8",
    "selfplay.num_workers=1",
    "learner.batch_size=16",
    "strength.budget_share=0",
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run without a gate, with checkpoints of several steps."""
    run = tmp_path_factory.mktemp("runs") / "run"
    train("tictactoe", run, steps=12, overrides=[*SETTINGS, "training.gate_games=0"], report=lambda _: None)
    return run


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    for path in trained.rglob("*"):
        if path.is_file():
            (tmp_path / path.relative_to(trained)).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path.relative_to(trained)).write_bytes(path.read_bytes())
    return tmp_path


class Judged:
    """A gate whose matches have given points, 32 games at a time."""

    def __init__(
        self, run: Path, monkeypatch: pytest.MonkeyPatch, points: list[float], *, gate_score: float = 0.55
    ) -> None:
        self.said: list[str] = []
        self.played: list[tuple[str, str, int]] = []
        config = load_config(run / "config.toml")
        object.__setattr__(config.training, "gate_games", 100)
        object.__setattr__(config.training, "gate_score", gate_score)

        def play_match(_game: Any, first: Any, second: Any, *, num_games: int, **_: Any) -> Any:
            self.played.append((first.name, second.name, num_games))
            share = points[len(self.played) - 1]
            return SimpleNamespace(points=[share] * num_games)

        monkeypatch.setattr(gate_module, "play_match", play_match)
        self.gate = Gate(RunPlan(run, make("tictactoe"), config), report=self.said.append)

    def judge(self, step: int, *, is_stopped: bool = False) -> int | None:
        best = self.gate.judge(step, is_stopped=lambda: is_stopped)
        return None if best is None else best.info.step


def steps_of(run: Path) -> list[int]:
    return [int(path.stem.removeprefix("step-")) for path in list_checkpoints(run / "checkpoints")]


def test_more_than_the_share_of_the_points_replaces_the_best(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, first, second, *_ = steps_of(run)
    judged = Judged(run, monkeypatch, [0.5, 0.5, 0.6, 1.0, 0.5, 0.5, 0.5, 0.5])
    assert judged.gate.best_step == 0 and load_checkpoint(run).info.step == 0
    assert judged.judge(first) == first, "16 + 16 + 19.2 + 4 = 55.2 of 100 points"
    assert judged.played == [(f"step {first}", "step 0", games) for games in (32, 32, 32, 4)]
    assert load_checkpoint(run).info.step == first == network_at(run).step
    assert judged.judge(second) is None, "half of the points"
    assert load_checkpoint(run).info.step == first
    lines = list[str]()
    describe(run, write=lines.append)
    assert [line.split()[0] for line in lines if line.endswith("  the best, which plays")] == [f"step-{first:08d}.json"]
    assert judged.said[0] == f"      gate: step {first} replaces it: 55.2 of 100 points against step 0"
    assert judged.said[1] == f"      gate: step {second} does not replace it: 48 of 96 points against step {first}"


@pytest.mark.parametrize("percent", [50, 55, 57, 58, 99])
def test_exactly_the_share_is_not_enough_and_half_a_point_more_is(
    run: Path, monkeypatch: pytest.MonkeyPatch, percent: int
) -> None:
    """Also where the share of 100 games is no whole number of points in floating point, as with 0.55 and 0.57."""
    step = steps_of(run)[1]
    third = (percent - 2) // 3
    before = [third / 32, third / 32, (percent - 2 - 2 * third) / 32]
    for points, passes in ((percent, False), (percent + 0.5, True)):
        # The last four games decide.
        judged = Judged(run, monkeypatch, [*before, (points - percent + 2) / 4], gate_score=percent / 100)
        assert judged.judge(step) == (step if passes else None), points
        assert f"{points:g} of 100 points" in judged.said[0]
        (run / "gate.jsonl").unlink()
        (run / "checkpoints" / "best").unlink(missing_ok=True)


@pytest.mark.parametrize(("points", "num_games", "passes"), [([1.0, 1.0], 64, True), ([0.0, 0.0], 64, False)])
def test_a_match_ends_when_its_verdict_is_certain(
    run: Path, monkeypatch: pytest.MonkeyPatch, points: list[float], num_games: int, passes: bool
) -> None:
    step = steps_of(run)[1]
    judged = Judged(run, monkeypatch, points)
    assert judged.judge(step) == (step if passes else None)
    assert sum(games for *_, games in judged.played) == num_games


def test_a_stopped_match_is_played_again(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step = steps_of(run)[1]
    judged = Judged(run, monkeypatch, [1.0, 1.0])
    assert judged.judge(step, is_stopped=True) is None and not (run / "gate.jsonl").exists()
    assert judged.judge(step) == step
    assert judged.judge(step) is None, "it has its verdict"
    assert len(judged.played) == 2


def test_the_verdicts_are_read_back(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, first, second, *_ = steps_of(run)
    judged = Judged(run, monkeypatch, [1.0, 1.0, 0.0, 0.0])
    judged.judge(first)
    judged.judge(second)
    (run / "checkpoints" / "best").unlink()  # as if a kill had come before it was written
    again = Judged(run, monkeypatch, [])
    assert again.gate.best_step == first == load_checkpoint(run).info.step
    assert again.judge(second) is None and again.judge(first) is None


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "[]",
        '{"step": 4, "best": 4, "points": 1, "num_games": 2, "is_passed": true}',
        '{"step": 4, "best": 0, "points": 3, "num_games": 2, "is_passed": true}',
        '{"step": 4, "best": 0, "points": 2, "num_games": 2, "is_passed": 1}',
        '{"step": true, "best": 0, "points": 2, "num_games": 2, "is_passed": true}',
        '{"step": 4, "best": 0, "points": NaN, "num_games": 2, "is_passed": true}',
    ],
)
def test_a_damaged_line_is_removed_and_reported(run: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    step = steps_of(run)[1]
    good = json.dumps({"step": step, "best": 0, "points": 60.0, "num_games": 100, "is_passed": True})
    (run / "gate.jsonl").write_text(f"{line}\n{good}\n")
    judged = Judged(run, monkeypatch, [])
    assert judged.gate.best_step == step
    assert re.search(r"gate\.jsonl is damaged in line 1: it is removed", judged.said[0])
    assert (run / "gate.jsonl").read_text() == f"{good}\n"


def test_a_damaged_best_network_leaves_the_newest_to_players(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step = steps_of(run)[1]
    judged = Judged(run, monkeypatch, [1.0, 1.0])
    judged.judge(step)
    checkpoint_path(run / "checkpoints", step).write_text("{")
    said: list[str] = []
    assert load_checkpoint(run, report=said.append).info.step == steps_of(run)[-1]
    assert "Another checkpoint is used instead" in said[0]


def test_self_play_has_the_best_network(tmp_path: Path) -> None:
    """A whole run, stopped by its budget and continued: each game names a network that had passed."""
    run, said = tmp_path / "run", list[str]()
    settings = [*SETTINGS, "training.gate_games=8", "training.gate_score=0.5"]
    train("tictactoe", run, steps=16, overrides=settings, report=said.append)
    train("tictactoe", run, steps=32, overrides=[], report=said.append)
    matches = [GateMatch(**json.loads(line)) for line in (run / "gate.jsonl").read_text().splitlines()]
    assert [match.step for match in matches] == steps_of(run)[1:]
    passed = [match.step for match in matches if match.is_passed]
    store = GameStore(run / "games", report=pytest.fail)
    steps = {int(step) for game in store.recent(num_games=store.num_games) for step in game.plies["checkpoint_step"]}
    store.close()
    assert {0} < steps <= {0, *passed}
    assert load_checkpoint(run).info.step == max([0, *passed])
    assert sum("gate: step" in line for line in said) == len(matches)


def test_without_its_gate_a_run_plays_with_the_newest(tmp_path: Path) -> None:
    run = tmp_path / "run"
    settings = [*SETTINGS, "training.gate_games=20", "training.gate_score=0.99"]
    train("tictactoe", run, steps=4, overrides=settings, report=lambda _: None)
    assert load_checkpoint(run).info.step == 0, "no network wins all of 20 games"
    train("tictactoe", run, steps=8, overrides=["training.gate_games=0"], report=lambda _: None)
    assert load_checkpoint(run).info.step == 8
