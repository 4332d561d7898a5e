"""The command line: each command at work, its help, and a sentence for whatever a user may get wrong."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree

import pytest
import typer

import zerosum
from commands_for_tests import Answer, Command
from runs_for_tests import SETTINGS, train_a_little
from zerosum._core import core_game_names
from zerosum.arena import play_match
from zerosum.base.errors import GameError, command_text
from zerosum.cli import app
from zerosum.cli.progress import Countdown, Progress
from zerosum.games import make, perft, state_after
from zerosum.games.picture import svg
from zerosum.network.checkpoint import list_checkpoints
from zerosum.play.player import RANDOM
from zerosum.run.config import dump_config, new_config, preset_names
from zerosum.run.metrics import MetricsRow
from zerosum.run.report import larger_budget, transcript

COMMANDS = (
    *(
        "train",
        "import",
        "plan",
        "play",
        "uci",
        "usi",
        "gtp",
        "match",
        "tournament",
        "ladder",
        "levels",
        "tune",
        "generate",
        "evaluate",
        "info",
        "export",
        "report",
        "plot",
        "compare",
        "analyse",
        "explain",
        "web",
    ),
    *("games", "show", "perft", "check-game", "bench"),
)

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


# Help


def test_the_commands_are_these(zero: Command) -> None:
    assert tuple(command.name or command.callback.__name__ for command in app.registered_commands) == COMMANDS  # type: ignore[union-attr]
    overview = zero("--help")
    assert overview.status == 0
    assert all(command in overview.words for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(zero: Command, command: str) -> None:
    answer = zero(command, "--help")
    assert (answer.status, answer.err) == (0, "")
    assert f"Example: zerosum {command} " in answer.words
    assert zero(command, "-h").out == answer.out


def test_names_are_readable_at_60_columns(zero: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    for command in COMMANDS:
        help_text = zero(command, "--help").out
        assert max(map(len, help_text.splitlines())) <= 60
        for option in typer.main.get_command(app).commands[command].params:  # type: ignore[attr-defined]
            if option.param_type_name == "option":
                assert re.search(rf"(?m)^  (-\w, )?{re.escape(option.opts[0])}\b", help_text), option.opts
    assert "--install-completion" in zero("--help").out


def test_flags_take_no_value(zero: Command) -> None:
    assert re.search(r"--second +You move second", zero("play", "--help").words)
    assert re.search(r"--json +Print", zero("info", "--help").words)


def test_the_version_is_told(zero: Command) -> None:
    assert zero("--version") == Answer(0, f"{zerosum.__version__}\n", "")


# Work


def test_train(zero: Command, tmp_path: Path) -> None:
    words = [word for text in SETTINGS for word in ("--set", text)]
    answer = zero("train", "tictactoe", "--run", tmp_path / "run", "--preset", "tictactoe", "--seed", "3", *words)
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.startswith(f"Learning tictactoe in {tmp_path / 'run'} for 2 learner steps, preset tictactoe.")
    assert "Done. To measure it: " in answer.out
    assert f"evaluate {tmp_path / 'run'}" in answer.out


def test_a_dry_run_prints_what_would_be_and_starts_nothing(zero: Command, learned: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    for budget in (("--minutes", "5"), ("--steps", "7")):
        answer = zero("train", "tictactoe", "--run", run, "--dry-run", *budget, "--set", "network.num_filters=8")
        assert answer.status == 0 and not run.exists()
        values = tomllib.loads(answer.out)
        assert values["training"][budget[0].removeprefix("--")] == int(budget[1])
        assert values["network"]["num_filters"] == 8 and values["game"] == "tictactoe"
        assert re.search(r"# Estimate: .*learner steps", answer.out)
    before = (learned / "config.toml").read_text()
    assert tomllib.loads(zero("train", learned, "--dry-run", "--steps", "99").out)["training"]["steps"] == 99
    assert (learned / "config.toml").read_text() == before


def test_a_game_with_options_has_a_directory_of_its_own(
    zero: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [word for text in SETTINGS for word in ("--set", text)]
    answer = zero("train", "tictactoe(max_plies=8)", *words)
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.startswith("Learning tictactoe(max_plies=8) in runs/tictactoe-max_plies-8 for 2 learner steps.")
    told = "`zerosum train 'tictactoe(max_plies=8)' --run runs/tictactoe-max_plies-8 --steps 4` goes on."
    assert told in zero("info", "runs/tictactoe-max_plies-8").out
    answer = zero("train", "tictactoe", "--run", "runs/tictactoe-max_plies-8")
    assert (answer.status, answer.out) == (2, "")
    assert "is a run of tictactoe(max_plies=8), not of tictactoe: name another directory" in answer.err
    answer = zero("match", "tictactoe( max_plies = 8 )", "runs/tictactoe-max_plies-8@4", "random", "--games", "2")
    assert answer.status == 0
    answer = zero("play", "runs/tictactoe-max_plies-8", typed="quit\n")
    assert answer.out.startswith("tictactoe(max_plies=8) against runs/tictactoe-max_plies-8.")


def test_train_deterministically(zero: Command, tmp_path: Path) -> None:
    words = [word for text in SETTINGS if text != "training.steps=2" for word in ("--set", text)]
    command = ("train", "tictactoe", "--run", tmp_path / "run", "--deterministic", *words)
    answer = zero(*command)
    assert answer.status == 2
    assert answer.err.startswith("zerosum: training.deterministic needs a budget in learner steps")
    assert not (tmp_path / "run").exists()
    answer = zero(*command, "--steps", "3")
    assert (answer.status, answer.err) == (0, "")
    assert "for 3 learner steps, deterministic." in answer.out


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_says_how_much_time_is_left() -> None:
    stream, clock = Terminal(), iter([0.0, 10.0, 10.1, 20.0, 30.0, 40.0])
    with Progress("game", stream=stream, clock=lambda: next(clock)) as progress:
        progress.tell(1, 4)
        progress.tell(2, 4)  # too soon after the first
        progress.tell(2, 4)
        progress.tell(1, 2, of_what="file 2, ")
    lines = [line for line in stream.getvalue().split("\r\x1b[K") if line]
    assert lines == ["game 1 of 4, 30 s left", "game 2 of 4, 20 s left", "file 2, game 1 of 2, 10 s left"]
    assert stream.getvalue().endswith("\r\x1b[K")
    quiet = io.StringIO()
    with Progress("game", stream=quiet) as progress:
        progress.tell(1, 4)
    assert not quiet.getvalue()


def test_a_bench_says_how_much_time_is_left() -> None:
    stream, clock = Terminal(), iter([0.0, 0.0, 4.0, 13.0])
    with Countdown("bench search", 5, stream=stream, clock=lambda: next(clock, 13.0)) as countdown:
        countdown.tell()
        countdown.tell()
    lines = [line for line in stream.getvalue().split("\r\x1b[K") if line]
    assert lines[:3] == [
        "bench search: about 5 s left",
        "bench search: about 1 s left",
        "bench search: 8 s more than 5 s",
    ]
    assert stream.getvalue().endswith("\r\x1b[K")
    with Countdown("bench search", 5, stream=(quiet := io.StringIO())):
        pass
    assert not quiet.getvalue()


def test_ctrl_c_before_a_game_has_ended_is_a_sentence(zero: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr("zerosum.arena.match.Match.play_batch", interrupt)
    for line in (
        "match tictactoe random random",
        "match tictactoe random random --json",
        "tournament tictactoe random rollouts@2 alphabeta",
    ):
        assert zero(*line.split()) == Answer(130, "", "Interrupted before a game has ended.\n")


def test_ctrl_c_while_the_program_is_loaded_is_a_sentence(tmp_path: Path) -> None:
    # A library that takes the exception for its own failure.
    (tmp_path / "typer.py").write_text("try: import signal; signal.raise_signal(2)\nexcept BaseException: pass\n")
    program = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program += f"; sys.path.insert(0, {str(tmp_path)!r}); import zerosum.cli"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert answer.returncode and answer.stderr == "zerosum: interrupted before anything began.\n"


def test_ctrl_c_before_a_command_begins_is_a_sentence_and_its_own_from_then_on() -> None:
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import zerosum.cli"
    program += "; assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    program += "; import typer.main; from zerosum.cli import application"
    for place in ("typer.main.get_command", "zerosum.games.perft.perft_lines"):
        module, _, name = place.rpartition(".")
        lines = [program, f"import {module}", f"{module}.{name} = lambda *_, **__: signal.raise_signal(2)"]
        lines += ["import sys; sys.argv = ['zerosum', 'perft', 'connect4', '2']", "application.main()"]
        answer = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False)
        said = "zerosum: interrupted before anything began.\n"
        assert answer.returncode and answer.stderr == (said if "typer" in place else ""), place


def test_info(zero: Command, learned: Path) -> None:
    answer = zero("info", learned)
    assert (answer.status, answer.err) == (0, "")
    assert f"{learned}: learning tictactoe, budget 2 learner steps" in answer.out
    assert "learner step 2" in answer.out and "1 blocks x 8 filters" in answer.out
    checkpoints = list_checkpoints(learned / "checkpoints")
    assert all(path.name in answer.out for path in checkpoints)
    answer = zero("info", checkpoints[-1])
    assert answer.status == 0
    assert "a network for tictactoe, version 1, learner step 2" in answer.out


def test_info_gives_the_command_of_an_engine_that_starts_anywhere(
    zero: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for game, protocol in (("minishogi", "usi"), ("go(size=5)", "gtp"), ("tictactoe", "")):
        run = Path("runs", protocol or "none")
        run.mkdir(parents=True)
        (run / "config.toml").write_text(dump_config(new_config(zerosum.make(game), game)))
        said = zero("info", run).out.splitlines()[-1]
        if protocol:
            assert said == f"As an engine of a board program: {tmp_path / 'zerosum'} {protocol} {run.absolute()}"
        else:
            assert "engine" not in said


def test_bare_info_lists_the_runs(
    zero: Command, learned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert zero("info").out.startswith(f"There are no runs in {tmp_path / 'runs'}. To begin one: ")
    shutil.copytree(learned, tmp_path / "runs" / "mine")
    (tmp_path / "runs" / "broken").mkdir()
    (tmp_path / "runs" / "broken" / "config.toml").write_text("?")
    broken, mine = zero("info").out.splitlines()
    assert broken.startswith("runs/broken: ")
    assert re.match(r"runs/mine: tictactoe, step \d+ after \d+\.\d minutes", mine)


def test_help_names_the_presets_and_no_number_of_19_digits(zero: Command) -> None:
    words = zero("train", "--help").words
    assert all(name in words for name in preset_names())
    assert not re.search(r"\d{19}", words)
    assert "a seed is below 2**63" in zero("train", "connect4", "--seed", str(1 << 63)).err


def test_an_export_into_a_missing_folder_names_it(zero: Command, learned: Path, tmp_path: Path) -> None:
    answer = zero("export", str(learned), str(tmp_path / "nowhere" / "net.onnx"))
    assert answer.status == 2 and f"the folder {tmp_path / 'nowhere'} does not exist" in answer.err


def test_info_says_what_a_used_up_run_needs_to_go_on(zero: Command, learned: Path) -> None:
    assert f"`zerosum train tictactoe --run {learned} --steps 4` goes on." in zero("info", learned).out


def test_a_budget_in_minutes_is_used_up_too(tmp_path: Path) -> None:
    row = MetricsRow(minutes=4.7, step=5, games=1, positions=9, evaluations=9, evaluations_per_second=1.0)
    config = new_config(zerosum.make("tictactoe"), "tictactoe", minutes=5)
    assert larger_budget(config, []) == larger_budget(config, [row]) == {}
    assert larger_budget(config, [replace(row, minutes=4.76)]) == {"minutes": 10.0}


def test_a_command_is_told_as_it_can_be_typed_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script = Path(".venv/bin/zerosum")
    script.parent.mkdir(parents=True)
    script.touch(mode=0o755)
    Path("else").mkdir()
    Path("else/zerosum").touch(mode=0o755)

    def told(program: str | Path, folder: str) -> str:
        monkeypatch.setattr(sys, "argv", [str(program)])
        monkeypatch.setenv("PATH", folder)
        return command_text("play", Path("my runs"))

    for program in (script, script.resolve()):
        assert told(program, str(script.parent.resolve())) == "zerosum play 'my runs'"
        assert told(program, "") == told(program, "else") == ".venv/bin/zerosum play 'my runs'"
    monkeypatch.chdir("else")
    assert told(tmp_path / script, "") == shlex.join([str(tmp_path / script), "play", "my runs"])
    assert told("analysis.py", "") == "zerosum play 'my runs'", "called by a program of the user's"
    assert told("zerosum/__main__.py", "").endswith(" -m zerosum play 'my runs'")


def test_a_game_in_python_ends_without_a_word(games: Path) -> None:
    for name, ending in ((f"{games}:Good", " won."), ("connect4", " won: four in a row.")):
        game = zerosum.make(name)
        result = play_match(game, RANDOM, RANDOM, num_games=2, opening_plies=0, seed=0)
        assert transcript(game, result.games[0], result).endswith(ending)


def test_evaluate(zero: Command, learned: Path) -> None:
    answer = zero("evaluate", learned, "--games", "2", "--simulations", "3", "--seed", "1")
    assert (answer.status, answer.err) == (0, "")
    for opponent in ("random", "rollouts@3", "rollouts@30"):
        assert f"{learned}@3 against {opponent}: " in answer.out
    assert "A game: " in answer.out and f"Play it yourself: zerosum play {learned}" in answer.out
    ratings = re.findall(r"^  (\S+ +)[+-]\d+ ± \d+$", answer.out, re.MULTILINE)
    assert len(ratings) == 4 and len(set(map(len, ratings))) == 1, "one column, however long the run's path"


def test_match(zero: Command, learned: Path) -> None:
    answer = zero("match", "connect4", "rollouts@10", "random", "--games", "4")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.startswith("rollouts@10 against random: ") and " of 4 games\n  Elo            " in answer.out
    assert zero("match", "connect4", "rollouts@10", "random", "--games", "4").out == answer.out, "equal seeds"
    answer = zero("match", "tictactoe", learned, f"{learned}@2", "--games", "2", "--opening-plies", "1")
    assert (answer.status, answer.err) == (0, "")


def test_a_match_of_two_networks_that_are_one(zero: Command, learned: Path) -> None:
    answer = zero("match", "tictactoe", learned, f"{learned}@2", "--games", "4", "--each", "sample=3", "--json")
    (line,) = answer.out.splitlines()
    assert (answer.status, answer.err) == (0, "") and json.loads(line)["failures"]["time"] == [0, 0]


def test_a_match_that_is_kept_goes_on(zero: Command, tmp_path: Path) -> None:
    words = ("match", "connect4", "rollouts@5", "random", "--out", tmp_path / "games.jsonl", "--sprt", "-900,-800")
    answer = zero(*words, "--games", "4")
    assert (answer.status, answer.err) == (0, "") and "H0 -900, H1 -800, normalized" in answer.out
    more = zero(*words, "--games", "6")
    assert more.err == f"{tmp_path / 'games.jsonl'} has 4 games of this match, which count.\n"
    assert " of 6 games" in more.out


def test_a_match_against_an_engine(zero: Command, tmp_path: Path) -> None:
    """An engine makes illegal moves: the match goes on, and the engine is named."""
    script = json.dumps({"uci": ["uciok"], "isready": ["readyok"], "go": ["bestmove a1a1"]})
    engine = shlex.join([sys.executable, "-I", "-S", str(Path(__file__).parents[1] / "fake_engine.py"), script])
    out = tmp_path / "games.pgn"
    words = ("--games", "2", "--second", "depth=1", "--second", "name=Cheat", "--out", out, "--openings", "chess-human")
    answer = zero("match", "chess", "random", f"uci:{engine}", *words)
    assert answer.status == 0 and "failures       Cheat lost 2 by illegal move" in answer.out
    assert answer.err.startswith("Game ") and "lost by illegal move. Cheat answered 'a1a1'" in answer.err
    assert out.read_text(encoding="utf-8").count('[Termination "rules infraction"]') == 2


def test_tournament(zero: Command, tmp_path: Path) -> None:
    words = ("tournament", "tictactoe", "rollouts@20", "random", "rollouts", "nodes=5", "name=weak", "--games", "4")
    answer = zero(*words, "--out", tmp_path / "games.jsonl")
    assert (answer.status, answer.err) == (0, "") and answer.out.splitlines()[0].split() == [
        *("player", "Elo", "points", "games", "1", "2", "3")
    ]
    again = zero(*words, "--out", tmp_path / "games.jsonl", "--json")
    assert again.err.endswith("has 12 games of this match, which count.\n")
    assert [player["games"] for player in json.loads(again.out)["players"]] == [8, 8, 8]
    two = zero("tournament", "tictactoe", "random", "rollouts@5")
    assert two.status == 2 and "a tournament needs three or more players, got 2: `match` plays two" in two.err


def test_levels_are_kept_where_an_engine_finds_them(zero: Command, tmp_path: Path) -> None:
    kept = tmp_path / "levels.json"
    answer = zero("levels", "tictactoe", "rollouts", "--games", "2", "--opponent", "rollouts@10", "--out", kept)
    assert answer.status == 0 and len(answer.out.splitlines()) == 7 and f"Kept in {kept}." in answer.err
    found = json.loads(kept.read_text(encoding="utf-8"))
    assert [level["skill"] for level in found["levels"]] == [0, 5, 10, 15, 19]
    assert "not a search of ours" in zero("levels", "tictactoe", "random").err


def test_ladder(zero: Command, learned: Path, tmp_path: Path) -> None:
    words = ("ladder", "tictactoe", learned, "--player", "nodes=4", "--opening-plies", "1", "--results", tmp_path / "x")
    answer = zero(*words, "--games", "6")
    assert answer.status == 0 and "6 games; random play is 0" in answer.out and ", step 2, of " in answer.out
    assert len(answer.err.splitlines()) == 3, "two games each while little is known"
    again = zero(*words, "--games", "8", "--json")
    step, result = map(json.loads, again.out.splitlines())
    assert step["wins"] + step["draws"] + step["losses"] == 2 and result["games"] == 8 and again.err == ""
    assert zero("ladder", "chess", "--games", "0").status == 0
    assert "--games is 5, expected an even number" in zero("ladder", "tictactoe", "--games", "5").err


def test_analyse(zero: Command, learned: Path, games: Path, tmp_path: Path) -> None:
    answer = zero("analyse", "--game", "tictactoe", "b2 a1", "--player", learned, "-n", "20")
    assert (answer.status, answer.err) == (0, f"Playing with {learned}, step 2.\n")
    assert answer.out.startswith("Game 1: tictactoe. Win rates are the first player's, by ")
    answer = zero("analyse", "--game", f"{games}:Good", "--player", "rollouts", "--moves", "+2 +1", "-n", "20")
    assert (answer.status, answer.err) == (0, "") and "+2" in answer.out
    path = tmp_path / "game.pgn"
    path.write_text("1. e4 e5 *\n\n1. e4 e6 2. Ke3 *\n")
    answer = zero("analyse", path, "--player", "rollouts", "-n", "5", "--format", "same")
    assert answer.status == 2 and "1. e4 " in answer.out
    assert answer.err.startswith(
        f"zerosum: Game 2 is analysed up to move 2: {path}, line 3: 'Ke3', move 3, is not legal"
    )
    assert "leave out WHAT, --last" in zero("analyse", path, "--json-lines", "--last").err
    assert "expected losses of the win rate" in zero("analyse", path, "--blunder", "1").err


def test_import(zero: Command, tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text("1. e4 e5 1-0\n\n1. e4 Ke4 0-1\n")
    answer = zero("import", tmp_path, "--run", tmp_path / "run", "--game", "chess")
    assert answer.status == 0 and "Ke4', move 2, is not legal here" in answer.err
    assert answer.out.startswith("1 games imported from 1 files, 2 positions, 0 of them evaluated; refused 1 damaged")
    answer = zero("import", tmp_path / "a.pgn", "--run", tmp_path / "run")
    assert answer.status == 0 and ", 1 were there; " in answer.out
    assert zero("import", tmp_path / "no.pgn", "--run", tmp_path / "run").status == 2
    assert "not of shogi" in zero("import", tmp_path / "a.pgn", "--run", tmp_path / "run", "--game", "shogi").err


def test_who_analyses_may_bring_a_number_of_simulations(zero: Command) -> None:
    answer = zero("analyse", "--game", "tictactoe", "b2 a1", "--player", "rollouts@7", "--last")
    assert answer.status == 0 and "7 simulations" in answer.out, answer
    assert "leave out --lines" in zero("analyse", "--game", "tictactoe", "b2 a1", "--lines", "2").err
    assert (
        "5 simulations"
        in zero("analyse", "--game", "tictactoe", "b2", "--player", "rollouts@7", "-n", "5", "--last").out
    )


def test_play(zero: Command, learned: Path) -> None:
    for words, seat in ((("play", learned), "first"), (("play", learned, "--second", "-n", "2"), "second")):
        answer = zero(*words, typed="hint\nquit\n")
        assert (answer.status, answer.err) == (0, "")
        assert f"You move {seat}." in answer.out and "best line" in answer.out
    answer = zero("play", "rollouts@5", "--game", "connect4")
    assert answer.status == 0, "a pipe that ends is as good as 'quit'"
    assert "connect4 against rollouts@5." in answer.out
    answer = zero("play", learned, "--position", "XX1/OO1/3 X", typed="c3\nyes\nmoves\nquit\n")
    assert "You win: three in a row, after 1 moves." in answer.out and "c3 c2 a1 b1 c1" in answer.out
    assert zero("play", learned, "--position", "XX1").err.startswith('zerosum: "XX1" lacks the side to move')


def test_games(zero: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    names = core_game_names()
    monkeypatch.setenv("COLUMNS", "80")
    answer = zero("games")
    assert (answer.status, answer.err) == (0, "")
    assert all(len(line) <= 80 for line in answer.out.splitlines())
    for table in answer.out.split("\n\n")[:2]:
        # A row that has not enough room goes on below, behind blanks.
        assert [line.split()[0] for line in table.splitlines()[1:] if not line.startswith(" ")] == names
    entries = {entry["name"]: entry for entry in map(json.loads, zero("games", "--json").out.splitlines())}
    assert list(entries) == names
    assert entries["connect4"]["options"] == [["max_plies", "42", "a number from 1 to 65535"]]


def test_show(zero: Command, tmp_path: Path, games: Path) -> None:
    picture = tmp_path / "board.svg"
    answer = zero("show", "tictactoe", "--moves", "b2 a1 c3", "--svg", picture)
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.splitlines()[-2:] == [
        "Position: 2X/1X1/O2 O",
        "The second player is to move, with 6 legal moves.",
    ]
    assert picture.read_text(encoding="utf-8") == svg(make("tictactoe"), state_after(make("tictactoe"), "b2 a1 c3"))
    answer = zero("show", "tictactoe", "--position", "XX1/OO1/3 X", "--moves", "c3")
    assert answer.out.splitlines()[-1] == "The game is over: the first player wins (three in a row)."
    assert "0 of 12, player 0 to move" in zero("show", f"{games}:Good").out
    answer = zero("show", "tictactoe", "--position", "XX1/OO2/3 X")
    assert (answer.status, answer.out) == (2, "") and answer.err.startswith("zerosum: row 2")
    answer = zero("show", "tictactoe", "--moves", "b2 b2")
    assert answer.err.startswith("zerosum: move 2: 'b2' is not a legal move here")
    answer = zero("show", "tictactoe", "--svg", tmp_path / "no" / "board.svg")
    assert answer.status == 2 and "board.svg cannot be used: No such file or directory" in answer.err


def test_words_that_are_no_text(zero: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes of another encoding, as a shell hands them on."""
    for option in ("--moves", "--position"):
        answer = zero("show", "chess", option, "e4 \udcff")
        assert (
            (answer.status, answer.out) == (2, "") and answer.err.startswith("zerosum: '") and "type it" in answer.err
        )
    monkeypatch.setattr(zerosum.games, "make", lambda _: "\udcff".encode())
    with pytest.raises(UnicodeEncodeError):
        zero("show", "chess")


def test_perft(zero: Command) -> None:
    assert zero("perft", "connect4", "5").out == "16807\n"
    assert zero("perft", "connect4", "0", "--divide").out == "1\n"
    answer = zero("perft", "tictactoe", "2", "--position", "XX1/OO1/3 X", "--divide")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.splitlines() == ["c3: 0", "c2: 4", "a1: 4", "b1: 4", "c1: 4", "16"]
    lines = [json.loads(line) for line in zero("perft", "tictactoe", "1", "--divide", "--json").out.splitlines()]
    assert [line["move"] for line in lines] == ["a3", "b3", "c3", "a2", "b2", "c2", "a1", "b1", "c1", None]
    assert lines[-1] == {"game": "tictactoe", "position": "3/3/3 X", "depth": 1, "move": None, "count": 9}


def test_perft_ends_before_the_stack_does(zero: Command) -> None:
    assert zero("perft", "tictactoe", "255").out == "0\n"
    answer = zero("perft", "chess", "256")
    assert (answer.status, answer.out) == (2, "") and "Traceback" not in answer.err
    game = make("chess")
    for depth in (-1, 256, 1 << 32):
        with pytest.raises(GameError, match=f"lines of {depth} plies cannot be counted, expected 0 to 255"):
            game.perft(game.initial_state(), depth)


def test_bench_rules_perft(zero: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = zero("bench", "rules", "--game", "tictactoe", "--perft")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.splitlines()[8].startswith("tictactoe, start, depth 9: 127,872, expected 127,872: OK (")
    monkeypatch.setattr(perft, "load_perft", lambda _: perft.parse_perft("start | | 9 71"))
    answer = zero("bench", "rules", "--game", "tictactoe", "--perft", "--json")
    assert answer.status == 1
    assert [json.loads(line)["is_right"] for line in answer.out.splitlines()] == [True, False]
    assert "expected 71: WRONG by +1 (" in zero("bench", "rules", "--game", "tictactoe", "--perft").out
    answer = zero("bench", "search", "--perft")
    assert (answer.status, answer.err) == (2, "zerosum: --perft goes with the bench 'rules', not 'search'.\n")


def test_a_game_and_a_runs_name_stand_for_a_run(
    zero: Command, learned: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ZEROSUM_RUNS", str(learned.parent))
    answer = zero("play", "tictactoe", typed="b2\nsave it.txt\nquit\n")
    assert answer.status == 0 and f"Playing with the newest run, {learned}, step " in answer.err
    assert Path("it.txt").read_text().split()[0] == "b2" and "\x1b" not in answer.out
    assert "connect4 against rollouts@1000" in zero("play", "connect4", typed="quit\n").out
    for word in ("tictactoe", learned.name):
        assert zero("info", word).out.startswith(f"{learned}: learning tictactoe")
        assert zero("evaluate", word, "--games", "0", "--positions", "0", "-n", "2").out.startswith(f"{learned}: 2 ")
        assert zero("explain", word, "-n", "2").status == 0
        assert zero("match", "tictactoe", word, "random", "--games", "2").status == 0
        assert f"{learned}, step " in zero("uci", word, typed="setoption name Backend value torch\nisready\nquit\n").out
    assert zero("evaluate", "connect4").err.startswith(f"zerosum: No run in {learned.parent} has learned connect4")


def test_check_game(zero: Command, games: Path) -> None:
    answer = zero("check-game", f"{games}:Good", "--games", "5", "--seed", "2")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.startswith(f"{games}:Good broke no rule of the protocol in 5 random games, ")
    assert "CPU-time of a new position: " in answer.out and "Is that right?" in answer.out
    assert zero("check-game", "tictactoe", "--games", "5").out.count("\n") == 1, "nobody need look at a game of ours"
    answer = zero("check-game", f"{games}:Bad")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(
        "zerosum: bad: outcome(state) is 7, expected None or a number in [-1, 1]\nat the position"
    )
    assert "Traceback" not in answer.err


# Mistakes


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("train conect4", "unknown game 'conect4': did you mean 'connect4'?"),
        ("train connect4 --preset conect4", "unknown preset 'conect4': did you mean 'connect4'?"),
        ("train connect4 --set serch.c_init=1", "unknown section of settings 'serch': did you mean 'search'?"),
        ("train connect4 --set search.c_inti=1", "unknown setting search.c_inti: did you mean 'c_init'?"),
        ("train connect4 --set search.c_init", "'search.c_init' is not a setting: write section.name=value"),
        ("train connect4 --minutes -1", "training.minutes is -1.0, allowed is 0.01 to"),
        ("train connect4 --run file", "file cannot be "),
        ("train connect4 --run .", ". exists and is not a run: name another directory"),
        ("train file.py:Game", "{here}/file.py has no class 'Game'"),
        ("train own.py", "own.py is a file, but a game is a class in it. Name the class: own.py:Mine."),
        ("train connect4 --set search.c_init=banana", "search.c_init is 'banana', expected a number."),
        (
            "train connect4 --set learner.schedule_steps=x",
            "learner.schedule_steps is 'x', expected whole numbers separated",
        ),
        ("train connect4 --set network.num_filters=1000000000", "network.num_filters is 1000000000, allowed is 1 to"),
        ("train nowhere.py:Game", "the file '{here}/nowhere.py' does not exist"),
        ("play nowhere", "unknown player 'nowhere'"),
        ("play rollouts", "'rollouts' plays any game: name the one to play, such as --game connect4."),
        ("play random", "'random' plays without a search: use 'rollouts@10' instead"),
        ("play random --game connect4", "'random' plays without a search"),
        ("play rollouts --game conect4", "unknown game 'conect4': did you mean 'connect4'?"),
        ("match conect4 random random", "unknown game 'conect4': did you mean 'connect4'?"),
        ("match connect4 rollots random", "unknown player 'rollots': did you mean 'rollouts'?"),
        ("match connect4 random nowhere", "unknown player 'nowhere'"),
        ("match connect4 random random@3", "'random@3': random play does not search"),
        (
            "match connect4 random random --games 3",
            "--games is 3, expected an even number: each opening is played from both",
        ),
        ("match connect4 random random --each nodes=3", "random has 3 nodes, but random play does not search"),
        ("match connect4 random random --first node=3", "'node=3' is not a setting of a player: expected NAME=VALUE"),
        (
            "match chess uci:nothere random --first depth=1",
            "uci:nothere: program 'nothere' is not on the path: install it",
        ),
        ("match chess uci:/no/where random", "uci:/no/where: file '/no/where' does not exist: check the path."),
        ("match chess uci:./file random", "uci:./file: './file' is not executable: name the engine"),
        ("match connect4 random random --shuffle", "--shuffle is for the openings of a file"),
        ("match chess random random --openings nowhere", "openings 'nowhere' are not a file"),
        ("match connect4 random random --sprt 5,0", "elo0 is 5.0 and elo1 0.0, expected elo0 below elo1"),
        ("match connect4 random random --sprt 5", "the hypotheses '5' are not two numbers: write them as 0,5."),
        ("match connect4 random random --sprt 0,5 --model x", "model is 'x', known are normalized, logistic, bayesian"),
        ("match connect4 random random --draw score", "'score' in a rule for draws"),
        ("match connect4 random random --out games.pgn", "games.pgn cannot contain games of connect4"),
        ("match connect4 random", "Missing argument SECOND: a match needs a game and two players."),
        ("match --suite papr", "unknown suite 'papr': did you mean 'paper'?"),
        ("match --suite paper --sprt 0,5", "a --suite says how it is played: leave out --sprt."),
        ("match --suite paper --shuffle --alpha 0", "a --suite says how it is played: leave out --shuffle, --alpha."),
        ("match connect4 random random --time-scale 3", "only a --suite has times to multiply"),
        ("match connect4 random random --model logistic", "there is no --sprt that it would set: leave out --model."),
        ("ladder connect4 --player nodes=3", "there is no PLAYER to have it: leave out --player."),
        (
            "analyse --json-lines --format json --lines 2",
            "--json-lines has each query say what to analyse: leave out --lines, --format.",
        ),
        ("analyse --json-lines --player nobody", "unknown player 'nobody'"),
        ("analyse --game connect4 --parallel 3", "only --json-lines has queries side by side"),
        ("match --suite paper --games 3", "--games is 3, expected an even number"),
        ("evaluate nowhere --games 3", "--games is 3, expected an even number: each opening is played from both sides"),
        ("evaluate nowhere", "nowhere does not exist"),
        ("evaluate .", ". has no undamaged checkpoint"),
        ("info nowhere", "nowhere does not exist"),
        ("info .", ". has no undamaged checkpoint"),
        ("check-game conect4", "unknown game 'conect4': did you mean 'connect4'?"),
        ("check-game nowhere.py:Game", "the file 'nowhere.py' does not exist"),
        ("check-game file.py:Game", "file.py has no class 'Game'"),
    ],
)
def test_a_mistake_gets_one_sentence(
    zero: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("file", "file.py"):
        Path(name).touch()
    Path("own.py").write_text("class Mine: pass\n", encoding="utf-8")
    answer = zero(*line.split())
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"zerosum: {message.format(here=tmp_path.resolve())}")
    assert answer.err.count("\n") == 1 and answer.err.endswith("\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("trian connect4", "No such command 'trian'"),
        ("train connect4 --minuets 3", "No such option: --minuets"),
        ("train connect4 --seed -1", "Invalid value for '--seed'"),
        ("check-game connect4 --games none", "Invalid value for '--games'"),
    ],
)
def test_words_that_do_not_parse(zero: Command, line: str, message: str) -> None:
    answer = zero(*line.split())
    assert answer.status == 2
    assert message in answer.err and "Traceback" not in answer.err


@pytest.mark.parametrize(
    "line",
    [
        "train tictactoe",
        "match tictactoe random random",
        "ladder tictactoe",
        "evaluate nowhere",
        "check-game tictactoe",
    ],
)
def test_a_seed_has_bounds(zero: Command, line: str) -> None:
    assert "is too large: a seed is below 2**63" in " ".join(
        zero(*line.split(), "--seed", str(1 << 63)).err.replace("│", " ").split()
    )


# Pictures


def test_curves_are_drawn_beside_their_labels(zero: Command, learned: Path, tmp_path: Path) -> None:
    for suffix, head in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        path = tmp_path / f"curves{suffix}"
        assert zero("plot", learned, learned, "--out", path) == Answer(0, f"{path} has the curves.\n", "")
        assert path.read_bytes().startswith(head)
    text = (tmp_path / "curves.svg").read_text()
    assert "random play" in text and zerosum.curves(learned)._repr_svg_().startswith("<?xml")
    figure = zerosum.curves(learned).figure()
    figure.savefig(tmp_path / "curves.png")  # which puts everything in its place
    strength = figure.axes[0]
    assert strength.texts and all(
        label.get_window_extent().x0 > strength.get_window_extent().x1 for label in strength.texts
    )
    assert "name a file that ends in .svg, .png, .pdf" in zero("plot", learned, "--out", tmp_path / "x.gif").err
    assert "does not exist" in zero("plot", tmp_path / "nobody").err


def test_notebooks_show_states_and_analyses() -> None:
    for name, moves in (("connect4", "4 4 3"), ("chess", "e4")):
        game = make(name)
        state = state_after(game, moves)
        *_, analysis = zerosum.analyse(state, game=game, player="rollouts@20")
        assert ElementTree.fromstring(analysis._repr_svg_()).tag == "{http://www.w3.org/2000/svg}svg"
        assert "for the player to move" in analysis._repr_svg_()
        assert isinstance(analysis.best_action, int) and isinstance(analysis.value, float)
        assert type(analysis.visits[0]) is int and type(analysis.values[0]) is float
        assert json.dumps([analysis.visits, analysis.priors, analysis.actions, analysis.best_move])
