"""Learners compared on the games of a run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import relearn
from zerosum import train
from zerosum.base.errors import RunError, SettingsError
from zerosum.replay.game_store import GameStore
from zerosum.run.config import load_config
from zerosum.run.run_directory import hold


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("relearn") / "run"
    settings = ["network.num_blocks=1", "network.num_filters=16", "search.num_simulations=16", "learner.batch_size=16"]
    settings += ["strength.budget_share=0", "selfplay.games_per_worker=16", "training.min_positions=32"]
    settings += ["training.deterministic=true"]
    # An ordinary run's games depend on the load of the machine, and so does what can be learned from them.
    train("tictactoe", path, steps=240, overrides=settings, report=lambda _: None)
    return path


def rows(text: str) -> dict[str, list[str]]:
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]
    return {name: values for name, *values in cells}


def test_a_learner_that_learns_predicts_better_than_one_that_does_not(run: Path) -> None:
    variants = {"own": [], "none": ["learner.learning_rate=0"], "half": ["learner.samples_per_position=3"]}
    found = rows(relearn.table(run, variants, num_seeds=1))
    steps = {name: int(values[0].replace(",", "")) for name, values in found.items()}
    entropy = {name: float(values[2]) for name, values in found.items()}
    assert steps["own"] == steps["none"] and abs(steps["own"] - 2 * steps["half"]) <= 1
    assert entropy["own"] < entropy["none"] - 0.05


def test_held_out_games_are_not_learned_from(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[int] = set()
    original = relearn.learn_step

    def watched(learner, window, *args, **kwargs):
        seen.update(window.sample(64, seed=1, step=learner.step_number).game_ids.tolist())
        return original(learner, window, *args, **kwargs)

    monkeypatch.setattr(relearn, "learn_step", watched)
    store = GameStore(run / "games", report=print)
    games = list(store.recent(num_games=store.num_games))
    store.close()
    relearn.relearn(load_config(run / "config.toml"), games)
    held_out = {game.game_id for index, game in enumerate(games) if 4 * index >= 3 * len(games) and index % 12 == 0}
    assert held_out and not seen & held_out


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["search.num_simulations=8"], "changes the section 'search', but games .* allowed are learner, network, re"),
        (["learner.batch_size=0"], "learner.batch_size is 0"),
    ],
)
def test_settings_that_games_cannot_show_are_refused(run: Path, settings: list[str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        relearn.table(run, {"own": settings}, num_seeds=1)


def test_a_run_in_training_and_one_without_games_are_refused(run: Path) -> None:
    with hold(run), pytest.raises(RunError, match="is held by process"):
        relearn.table(run, {"own": []}, num_seeds=1)
    with pytest.raises(SettingsError, match="too few to hold some out"):
        relearn.relearn(load_config(run / "config.toml"), [])


def test_the_command(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    path = tmp_path / "variants.toml"
    path.write_text('"own" = []')
    monkeypatch.setattr(sys, "argv", ["relearn.py", str(run), "--variants", str(path), "--seeds", "2"])
    relearn.main()
    name, *values = capsys.readouterr().out.splitlines()[-1].strip("| ").split(" | ")
    assert name == "own" and all("±" in value for value in values[1:])
    monkeypatch.setattr(sys, "argv", ["relearn.py", str(tmp_path / "none"), "--variants", str(path)])
    with pytest.raises(SystemExit):
        relearn.main()
    assert "none" in capsys.readouterr().err
