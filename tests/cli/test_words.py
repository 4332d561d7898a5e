"""Words that a new user types: a run where a game is expected, another game's preset, a part that is not installed."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

from commands_for_tests import Command
from runs_for_tests import train_a_little
from zerosum.base.errors import GameError, SettingsError
from zerosum.cli import application
from zerosum.games import make
from zerosum.run.config import new_config
from zerosum.run.config_words import words_on_preset
from zerosum.run.training import train
from zerosum.web.library import Library


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of runs with one of a user's own game, "race"."""
    runs = tmp_path_factory.mktemp("own") / "runs"
    file = runs.parent / "race.py"
    file.write_text('from games_for_tests import DoubleMove\n\n\nclass Race(DoubleMove):\n    name = "race"\n')
    train_a_little(f"{file}:Race", runs / "mine")
    return runs


@pytest.mark.parametrize("word", ["mine", "runs/mine"])
def test_a_run_means_its_game_where_a_game_is_expected(
    word: str, zero: Command, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs.parent)
    for command in (
        ("show", word),
        ("perft", word, "2"),
        ("match", word, "random", "random", "--games", "2"),
        ("tournament", word, "random", "rollouts@2", "rollouts@1", "--games", "2"),
        ("check-game", word, "--games", "2"),
        ("play", "rollouts", "--game", word),
    ):
        answer = zero(*command)
        assert answer.status in (0, 3), (command, answer.err)
        assert "unknown game" not in answer.err


def test_a_run_of_a_stranger_does_not_run_its_game(
    zero: Command, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZEROSUM_CONFIG", str(tmp_path))
    for command in (("show", "{}"), ("match", "{}", "random", "random"), ("check-game", "{}"), ("perft", "{}", "1")):
        answer = zero(*(word.format(runs / "mine") for word in command))
        assert answer.status == 2 and "a program that you have not allowed to run on this machine" in answer.err


def test_a_run_of_the_core_means_its_game(zero: Command, learned: Path) -> None:
    assert zero("show", str(learned)).out == zero("show", "tictactoe").out


def test_a_word_that_is_no_run_stays_an_unknown_game(zero: Command, tmp_path: Path) -> None:
    answer = zero("show", "conect4")
    assert (answer.status, answer.out) == (2, "")
    assert "unknown game 'conect4': did you mean 'connect4'" in answer.err


def test_the_pages_say_how_the_game_of_a_run_is_allowed(runs: Path) -> None:
    library = Library([runs])
    for name in ("mine", "race.py:Race", "Race"):
        with pytest.raises(GameError, match=r"has not been allowed to run here.*zerosum web mine.*--game"):
            library.game(name)
    with pytest.raises(GameError, match="unknown game 'conect4': did you mean 'connect4'"):
        library.game("conect4")


@pytest.mark.parametrize(
    ("game", "preset", "said"),
    [
        ("connect4", "chess", "the preset 'chess' is not for connect4: .* or take --preset connect4"),
        ("nim", "chess", r"the preset 'chess' is not for nim: .* Leave out --preset\.$"),
    ],
)
def test_a_preset_of_another_game_is_named(game: str, preset: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=said):
        train(game, tmp_path / "run", preset=preset, minutes=1, report=lambda _: None)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("game", "preset", "said"),
    [
        (
            "shogi",
            "go9",
            "The preset go9 was made for go9, not for shogi: --preset shogi has settings for it.",
        ),
        ("nim", "connect4", "The preset connect4 was made for connect4, not for nim: without --preset the settings"),
        ("shogi", "shogi", ""),
        ("go19", "go9", ""),
        ("shogi", "paper", ""),
    ],
)
def test_a_preset_of_another_game_that_could_be_meant_is_told(game: str, preset: str, said: str) -> None:
    rules = make(game)
    words = words_on_preset(new_config(rules, game, preset=preset), rules)
    assert words.startswith(said) and ("was made for" in words) == bool(said)


def test_a_fault_of_ones_own_is_not_the_preset_s(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^search\.num_simulations"):
        train("connect4", tmp_path / "run", preset="connect4", overrides=["search.num_simulations=0"])


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("torch", "train needs PyTorch, which is not installed: pip install 'zerosum[train]'."),
        ("torch.nn", "train needs PyTorch, which is not installed: pip install 'zerosum[train]'."),
        ("onnx", "train needs onnx, which is not installed: pip install 'zerosum[onnx]'."),
        ("matplotlib", "train needs matplotlib, which is not installed: pip install 'zerosum[plot]'."),
    ],
)
def test_a_missing_part_is_named_with_its_command(
    module: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr(application, "app", fail)
    monkeypatch.setattr(sys, "argv", ["zerosum", "train", "connect4"])
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(SystemExit, match="2"):
        application.main()
    assert capsys.readouterr().err == f"zerosum: {said}\n"


def test_a_part_that_is_there_and_cannot_be_loaded_is_not_called_missing() -> None:
    assert application.missing_package(ImportError("cannot map segment", name="numpy")) == ""
    assert application.missing_package(ModuleNotFoundError("No module named 'no'", name="no")) == ""


def test_every_extra_is_one_of_the_installation() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(application.EXTRAS) <= set(project["optional-dependencies"])


def test_train_without_torch_makes_no_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else found(name))
    with pytest.raises(SettingsError, match=r"train needs PyTorch.*pip install 'zerosum\[train\]'"):
        train("tictactoe", tmp_path / "run", report=lambda _: None)
    assert not (tmp_path / "run").exists()


def test_the_copy_of_moved_rules_is_taken(zero: Command, runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "mine", tmp_path / "mine")
    (tmp_path / "mine" / "config.toml").write_text(
        (runs / "mine" / "config.toml").read_text().replace(str(runs.parent), str(tmp_path / "nowhere"))
    )
    answer = zero("show", str(tmp_path / "mine"))
    assert answer.status == 0 and "keeps a copy of its rules" in answer.err
