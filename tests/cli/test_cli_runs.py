"""The commands of runs: train, info and export; progress, Ctrl-C, and how a run goes on."""

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

import pytest

import zerosum
from commands_for_tests import Answer, Command
from runs_for_tests import SETTINGS
from zerosum.arena import play_match
from zerosum.base.errors import command_text
from zerosum.cli.progress import Countdown, Progress
from zerosum.network.checkpoint import list_checkpoints
from zerosum.play.contestant import RANDOM
from zerosum.run.config import dump_config, new_config
from zerosum.run.info import larger_budget
from zerosum.run.metrics import MetricsRow
from zerosum.run.presets import preset_names
from zerosum.run.report import transcript

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
    words = ("--dry-run", "--steps", "7", "--set", "selfplay.alphabeta_depth=1")
    assert "Those of the alpha-beta search take less time." in zero("train", "tictactoe", *words).out
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
    assert "--preset" not in answer.out  # the preset is for the usual rules
    told = "`zerosum train 'tictactoe(max_plies=8)' --run runs/tictactoe-max_plies-8 --steps 4` resumes it."
    assert told in zero("info", "runs/tictactoe-max_plies-8").out
    answer = zero("train", "tictactoe", "--run", "runs/tictactoe-max_plies-8")
    assert (answer.status, answer.out) == (2, "")
    assert "is a run of tictactoe(max_plies=8), not of tictactoe: name another directory" in answer.err
    answer = zero("match", "tictactoe( max_plies = 8 )", "runs/tictactoe-max_plies-8@4", "random", "--games", "2")
    assert answer.status == 0
    answer = zero("play", "runs/tictactoe-max_plies-8", typed="quit\n")
    assert answer.out.startswith("tictactoe(max_plies=8) against runs/tictactoe-max_plies-8.")


def test_a_new_run_without_a_preset_says_that_the_game_has_one(zero: Command, tmp_path: Path) -> None:
    words = [word for text in SETTINGS for word in ("--set", text)]
    hint = "--preset tictactoe has others for this game"
    assert hint in zero("train", "tictactoe", "--run", tmp_path / "run", *words, "--dry-run").out
    assert hint in zero("train", "tictactoe", "--run", tmp_path / "run", *words).out
    assert hint not in zero("train", "tictactoe", "--run", tmp_path / "run", "--steps", "3", "--dry-run").out
    assert hint not in zero("train", "tictactoe", "--run", tmp_path / "run", "--steps", "3").out
    assert hint not in zero("train", "tictactoe", "--run", tmp_path / "other", "--preset", "tictactoe", *words).out


def test_a_new_run_says_which_preset_is_the_strongest_on_a_cpu(zero: Command, tmp_path: Path) -> None:
    hint = "On a CPU the strongest player of this game came from --preset nnue"
    words = ("--run", tmp_path / "run", "--set", "training.device=cpu", "--dry-run")
    assert hint in zero("train", "chess", *words).out
    assert hint in zero("train", "chess", "--preset", "chess", *words).out
    assert hint not in zero("train", "chess", "--preset", "nnue", *words).out
    assert hint not in zero("train", "tictactoe", *words).out


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
    assert "learner step 2" in answer.out and "1 block x 8 filters" in answer.out
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


def test_games_without_a_training_are_described(zero: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("games.pgn").write_text("1. e4 e5 2. Nf3 1-0\n\n1. d4 d5 1/2-1/2\n")
    zero("import", "games.pgn", "--run", "runs/records")
    said = "runs/records: 2 games of chess to learn from, 5 positions; no training yet"
    assert zero("info").out.splitlines() == [said]
    learn = "`zerosum train chess --run runs/records --from-records` learns from them."
    for word in ("records", "runs/records"):
        assert zero("info", word).out.splitlines() == [said, learn]
    figures = [json.loads(line) for line in zero("info", "records", "--json").out.splitlines()]
    assert [(figure["metric"], figure["value"]) for figure in figures] == [
        ("record_games", 2),
        ("record_positions", 5),
    ]


def test_help_names_the_presets_and_no_number_of_19_digits(zero: Command) -> None:
    words = zero("train", "--help").words
    assert all(name in words for name in preset_names())
    assert not re.search(r"\d{19}", words)
    assert "a seed is below 2**63" in zero("train", "connect4", "--seed", str(1 << 63)).err


def test_an_export_into_a_missing_folder_names_it(zero: Command, learned: Path, tmp_path: Path) -> None:
    answer = zero("export", str(learned), str(tmp_path / "nowhere" / "net.onnx"))
    assert answer.status == 2 and f"the folder {tmp_path / 'nowhere'} does not exist" in answer.err


def test_an_export_replaces_networks_alone(zero: Command, learned: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    for command in (("export", learned, notes), ("report", learned, "--quick", "--out", notes)):
        answer = zero(*command)
        assert answer.status == 2 and f"{notes} exists and does not end in ." in answer.err
        assert zero(*command[:-1], tmp_path).err.startswith(f"zerosum: {tmp_path} is a folder")
    assert notes.read_text() == "mine" and list(tmp_path.iterdir()) == [notes]
    for _ in range(2):
        assert zero("export", learned, tmp_path / "net.onnx").status == 0


def test_a_run_goes_on_by_its_name(zero: Command, learned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(learned.parent)
    monkeypatch.setenv("ZEROSUM_RUNS", str(learned.parent))
    learned.rename("mine")
    try:
        monkeypatch.chdir("mine")
        for words in (("train", "mine"), ("train", "tictactoe", "--run", "mine")):
            answer = zero(*words)
            assert answer.status == 0 and f"in {learned.parent / 'mine'} for 2 learner steps" in answer.out
        assert not Path("mine").exists()
    finally:
        (learned.parent / "mine").rename(learned)


def test_info_names_damaged_checkpoints(zero: Command, learned: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(learned, run)
    *_, older, newest = list_checkpoints(run / "checkpoints")
    assert "  damaged" not in zero("info", run).out
    older.write_text("{")
    weights = newest.with_suffix(".safetensors")
    weights.write_bytes(weights.read_bytes()[:100])
    lines = zero("info", run).out.splitlines()
    damaged = [line.split()[0] for line in lines if line.endswith("  damaged")]
    assert damaged == [older.name, newest.name]


def test_info_says_what_a_used_up_run_needs_to_go_on(zero: Command, learned: Path) -> None:
    assert f"`zerosum train tictactoe --run {learned} --steps 4` resumes it." in zero("info", learned).out


def test_a_budget_in_minutes_is_used_up_too(tmp_path: Path) -> None:
    row = MetricsRow(minutes=4.7, step=5, games=1, positions=9, evaluations=9, evaluations_per_second=1.0)
    config = new_config(zerosum.make("tictactoe"), "tictactoe", minutes=5)
    assert larger_budget(config, []) == larger_budget(config, [row]) == {}
    assert larger_budget(config, [replace(row, minutes=4.76)]) == {"minutes": 10.0}
    assert larger_budget(config, [replace(row, minutes=31.5)]) == {"minutes": 63.0}, "its budget was lowered since"


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
