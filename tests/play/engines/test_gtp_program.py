"""`zerosum gtp` as a program: a client with the habits of Sabaki, our own, and GNU Go where it is installed."""

from __future__ import annotations

import itertools
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gtp_client import Client
from zerosum.contest.mover import MoveLimits
from zerosum.games import make
from zerosum.play.engines.engine import EngineCommand, ExternalEngine
from zerosum.play.engines.known_engines import find_engine, known_engines

GNUGO = next(engine for engine in known_engines(make("go9")) if engine.name == "gnugo")
needs_gnugo = pytest.mark.skipif(not GNUGO.is_installed, reason=GNUGO.how_to_install)


# ---- as a program

COMMAND = f"{sys.executable} -m zerosum gtp rollouts@20 --game go(size=5)"


class Program:
    """`zerosum gtp` as a board program starts it."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "zerosum", "gtp", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        )
        self.number = 0

    def ask(self, command: str) -> str:
        """Commands as Sabaki sends them: each with an id, one after the other."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.number += 1
        self.process.stdin.write(f"{self.number} {command}\n")
        self.process.stdin.flush()
        lines = []
        while (line := self.process.stdout.readline()) not in ("\n", ""):
            lines.append(line.rstrip("\n"))
        assert lines and lines[0].startswith(f"={self.number}"), (command, lines)
        return "\n".join(lines).removeprefix(f"={self.number}").strip()

    def quit(self) -> str:
        assert self.ask("quit") == ""
        _, errors = self.process.communicate()
        assert self.process.returncode == 0
        return errors


def test_sabaki_plays_a_game(tmp_path: Path) -> None:
    program = Program("rollouts@20")
    assert [program.ask(word) for word in ("name", "protocol_version")] == ["zerosum", "2"]
    commands = program.ask("list_commands").split()
    for command in ("boardsize 9", "clear_board", "komi 5.5"):
        program.ask(command)
    assert sorted(program.ask("fixed_handicap 2").split()) == ["C3", "G7"]
    assert {"kata-genmove_analyze", "kata-analyze", "undo", "loadsgf", "set_free_handicap"} <= set(commands)
    for number in range(8):
        answer = program.ask(f"kata-genmove_analyze {'WB'[number % 2]} interval 10").split("\n")[-1]
        assert re.fullmatch(r"play ([A-HJ][1-9]|pass|resign)", answer)
    program.ask("undo")
    program.ask("undo")
    # What Sabaki does where its board and the engine's differ: all over again.
    record = tmp_path / "game.sgf"
    record.write_text("(;GM[1]FF[4]SZ[9]KM[5.5];B[ee];W[cc])", encoding="utf-8")
    program.ask(f"loadsgf {record}")
    for command in ("boardsize 9", "komi 5.5", "clear_board", "set_free_handicap C3 G7 E5", "play W D4", "play W D6"):
        program.ask(command)
    assert program.process.stdin is not None and program.process.stdout is not None
    program.number += 1
    program.process.stdin.write(f"{program.number} kata-analyze B 10\n")
    program.process.stdin.flush()
    assert program.process.stdout.readline() == f"={program.number}\n"
    assert program.process.stdout.readline().startswith("info move ")
    program.process.stdin.write("\n")
    program.process.stdin.flush()
    while program.process.stdout.readline() != "\n":
        pass
    assert re.fullmatch(r"[BW]\+[\d.]+", program.ask("final_score"))
    assert program.quit() == ""


def test_our_own_client_plays_a_game() -> None:
    game = make("go(size=5)")
    command = EngineCommand.parse(f"{sys.executable} -m zerosum gtp rollouts@20 --resign 0", protocol="gtp")
    with ExternalEngine(command, game) as engine:
        assert engine.reported_name.startswith("zerosum ")
        engine.new_game()
        moves: list[int] = []
        state = game.initial_state()
        while game.legal_actions(state) and len(moves) < 12:
            move = engine.think("", moves, MoveLimits())
            assert move.action is not None
            moves.append(move.action)
            state = game.play(state, move.action)


def test_a_player_that_nobody_knows_is_named_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "zerosum", "gtp", "nobody"], input="name\n", capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "unknown player 'nobody'" in done.stderr and not done.stdout


# ---- GNU Go


@needs_gnugo
def test_gnu_go_agrees() -> None:
    """Both engines agree on the places of handicap stones, and on the score of finished boards."""
    answers = ExternalOracle([GNUGO.command.program or "", *GNUGO.command.argv[1:], "--level", "0"])
    client = Client("go(size=9)")
    for size in (7, 8, 9, 10, 13, 18, 19):
        for number in range(2, 10):
            for one in (client.send, answers.ask):
                one(f"boardsize {size}")
                one("clear_board")
            ours, theirs = client.send(f"fixed_handicap {number}"), answers.ask(f"fixed_handicap {number}")
            assert ours[0] == theirs[0], (size, number)
            assert ours[0] == "?" or sorted(ours[1:].split()) == sorted(theirs[1:].split()), (size, number)
    draw = random.Random(3)
    for _ in range(8):
        client.send("boardsize 7")
        for line in ("boardsize 7", "clear_board", "komi 3.5"):
            answers.ask(line)
        client.send("komi 3.5")
        wall = draw.randrange(2, 5)
        for row, column in itertools.product(range(1, 8), range(7)):
            has_eye = column in (0, 6) and row in (2, 6)
            if not has_eye:
                line = f"play {'b' if column < wall else 'w'} {'ABCDEFG'[column]}{row}"
                assert client.send(line) == "=\n\n"
                answers.ask(line)
        assert float_score(client.send("final_score")) == float_score(answers.ask("final_score"))
    answers.close()


def float_score(answer: str) -> float:
    text = answer.lstrip("= ").strip()
    return 0.0 if text == "0" else float(text[2:]) * (1 if text[0] == "B" else -1)


class ExternalOracle:
    """GNU Go, asked line by line."""

    def __init__(self, argv: list[str]) -> None:
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line: str) -> str:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        lines = []
        while (text := self.process.stdout.readline()) not in ("\n", ""):
            lines.append(text)
        return "".join(lines)

    def close(self) -> None:
        self.ask("quit")
        self.process.communicate()


@needs_gnugo
def test_a_game_against_gnu_go() -> None:
    game = make("go(size=9)")
    ours = EngineCommand.parse(f"{sys.executable} -m zerosum gtp rollouts@10", protocol="gtp")
    theirs = find_engine("gnugo", game)
    theirs = EngineCommand((*theirs.argv, "--level", "0"), "gtp")
    moves: list[int] = []
    with ExternalEngine(ours, game) as one, ExternalEngine(theirs, game) as other:
        for engine in (one, other):
            engine.new_game()
        state = game.initial_state()
        while game.legal_actions(state) and len(moves) < 60:
            move = (one, other)[len(moves) % 2].think("", moves, MoveLimits())
            if move.action is None:
                assert move.ending == "resignation"
                break
            moves.append(move.action)
            state = game.play(state, move.action)
    assert len(moves) > 4
