"""The command line: its commands, its help, and a sentence for whatever a user may get wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

import zerosum
from commands_for_tests import Answer, Command
from zerosum.cli import app
from zerosum.play.words import DEFAULT_PLAYER

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
        "exam",
        "probe",
        "info",
        "clean",
        "export",
        "trust",
        "report",
        "plot",
        "compare",
        "compare-searches",
        "study",
        "analyse",
        "explain",
        "web",
    ),
    *("games", "show", "perft", "tables", "book", "check-game", "bench"),
)


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


@pytest.mark.parametrize("command", ["uci", "usi", "gtp", "analyse"])
def test_help_names_the_player_that_plays_if_none_is_named(zero: Command, command: str) -> None:
    assert DEFAULT_PLAYER == "the newest run of the game, else the bundled network, else rollouts"
    assert f"By default {DEFAULT_PLAYER}." in zero(command, "--help").words


def test_help_names_every_bench(zero: Command) -> None:
    from zerosum.bench import BENCHES

    words = zero("bench", "--help").words
    assert [name for name in BENCHES if name not in words.partition("--game")[0]] == []


def test_the_version_is_told(zero: Command) -> None:
    assert zero("--version") == Answer(0, f"{zerosum.__version__}\n", "")


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
        ("train connect4 --minutes -1", "training.minutes is -1.0, but must be between 0.01 and"),
        ("train connect4 --run file", "file cannot be "),
        ("train connect4 --run .", ". exists and is not a run: name another directory"),
        ("train file.py:Game", "{here}/file.py has no class 'Game'"),
        ("train own.py", "own.py is a file, but a game is a class in it. Name the class: own.py:Mine."),
        ("train connect4 --set search.c_init=banana", "search.c_init is 'banana', expected a number."),
        (
            "train connect4 --set learner.schedule_steps=x",
            "learner.schedule_steps is 'x', expected whole numbers separated",
        ),
        (
            "train connect4 --set network.num_filters=1000000000",
            "network.num_filters is 1000000000, but must be",
        ),
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
        ("match chess random random --openings nowhere", "openings 'nowhere' are neither a file"),
        ("match connect4 random random --sprt 5,0", "elo0 is 5.0 and elo1 0.0, expected elo0 below elo1"),
        ("match connect4 random random --sprt 5", "the hypotheses '5' are not two numbers: write them as 0,5."),
        (
            "match connect4 random random --sprt 0,5 --model x",
            "model is 'x'; available: normalized, logistic",
        ),
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
