"""Games that a training is given as objects, and the rules that a run keeps."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import games_for_tests
import zerosum
from runs_for_tests import SETTINGS
from zerosum.base.errors import GameError, RunError, SettingsError
from zerosum.games.names import GameName
from zerosum.games.source_files import differing, kept_name, rules_files, source_of
from zerosum.play.choice import open_player
from zerosum.run.info import describe

NESTED = {"network": {"num_blocks": 1, "num_filters": 8}, "learner.batch_size": 8, "search.num_simulations": 4}
TINY = {
    **NESTED,
    "training": {"min_positions": 20, "steps_per_phase": 1},
    "selfplay": {"games_per_worker": 4, "num_workers": 2},
    "strength.rollout_simulations": [1],
}


def train(game: Any, run: Path, **options: Any) -> str:
    said: list[str] = []
    zerosum.train(game, run, report=said.append, **{"settings": TINY, "steps": 2, **options})
    return "\n".join(said)


def test_an_object_of_a_class_that_nobody_else_can_load_is_trained_and_played(tmp_path: Path) -> None:
    class Mine(games_for_tests.DoubleMove):
        name = "mine"

    run = tmp_path / "run"
    said = train(Mine(), run)
    assert "The workers share one process, because no other process can load mine" in said
    assert f"Done. To play it, in Python: zerosum.load({str(run)!r}, game=game)" in said
    with pytest.raises(GameError, match="learned 'mine', a game that was given as an object: give it again"):
        zerosum.load(run)
    analysis = zerosum.load(run, game=Mine()).analyse("+1")
    assert analysis.best_move in analysis.moves
    *_, last = zerosum.analyse("+1", game=Mine(), player=run, num_simulations=5)
    assert last.num_visits == 5 or last.proven is not None
    words: list[str] = []
    describe(run, write=words.append)
    assert (
        words[-1].startswith(f"`zerosum.load({str(run)!r}, game=game)` plays it,") and "zerosum play" not in words[-1]
    )
    assert f"zerosum.train(game, {str(run)!r}, steps=4)" in words[-1]
    assert "Resuming: " in train(Mine(), run, steps=3)
    assert "class Mine" in (run / "game" / "Mine.txt").read_text()


def test_an_object_of_a_file_plays_in_processes() -> None:
    name = f"{Path(games_for_tests.__file__).resolve()}:DoubleMove"
    assert str(source_of(games_for_tests.DoubleMove())) == name
    changed = games_for_tests.DoubleMove()
    changed.name = "other"  # type: ignore[misc]
    assert source_of(changed) is None, "its constructor makes another one"


def test_settings_are_a_mapping(tmp_path: Path) -> None:
    for settings, message in (
        ({"search.c_inti": 1.0}, "unknown setting search.c_inti: did you mean 'c_init'"),
        ({"serch": {}}, "unknown section of settings 'serch'"),
        ({"search": 5}, "'search' is not a setting"),
        ({"search.c_init": "banana"}, "search.c_init is 'banana', expected a number"),
    ):
        with pytest.raises(SettingsError, match=message):
            train("tictactoe", tmp_path / "run", settings=settings)
    with pytest.raises(SettingsError, match=r"the budget is either training.minutes or training.steps"):
        zerosum.train("tictactoe", tmp_path / "run", minutes=1, steps=1)


@pytest.fixture
def own_run(tmp_path: Path) -> Path:
    """A run of a game in a file, which imports another file beside it."""
    text = Path(games_for_tests.__file__).read_text(encoding="utf-8")
    (tmp_path / "helper.py").write_text("NAME = 'race'\n")
    (tmp_path / "race.py").write_text(f"{text}\nfrom helper import NAME\n\nDoubleMove.name = NAME\n", encoding="utf-8")
    zerosum.train(f"{tmp_path}/race.py:DoubleMove", tmp_path / "run", overrides=SETTINGS, report=lambda _: None)
    return tmp_path / "run"


def test_a_run_keeps_its_rules(own_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, kept = own_run.parent / "race.py", own_run / "game" / "race.py"
    name = GameName.parse(f"{file}:DoubleMove")
    assert set(rules_files(file)) == {"race.py", "helper.py"} and kept.read_text() == file.read_text()
    assert differing(own_run, rules_files(file)) == [] and str(kept_name(own_run, name)) == f"{kept}:DoubleMove"
    file.write_text(f"{file.read_text()}\n# changed\n")
    assert zerosum.load(own_run).game.spec.name == "race"
    said = capsys.readouterr().err
    assert f"race.py changed since {own_run} was trained" in said and f"--game {kept}:DoubleMove" in said
    assert open_player(str(own_run), game=f"{kept}:DoubleMove").game.spec.name == "race"
    again = train(str(name), own_run, steps=3, settings=None)
    assert "NOTE: race.py changed since this run was trained" in again
    assert kept.read_text() == file.read_text()
    capsys.readouterr()
    (own_run.parent / "helper.py").unlink()
    shutil.move(file, own_run.parent / "moved.py")
    assert zerosum.load(own_run).game.spec.name == "race"
    assert f"{file} is not there any more: {own_run} keeps a copy of its rules" in capsys.readouterr().err


def test_a_run_of_another_game_is_refused(own_run: Path) -> None:
    with pytest.raises(RunError, match="is a run of"):
        train("tictactoe", own_run)
