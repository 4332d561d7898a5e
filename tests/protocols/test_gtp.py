"""`zerosum gtp`: the protocol's letter, its moves, and thousands of lines that mean nothing.

Players are rollouts with a few simulations; clocks are the tests' own (`gtp_client.py`).
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest

from fuzz_for_tests import rounds
from gtp_client import Client, exact
from zerosum.games import Rules
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations, UniformEvaluator
from zerosum.play.player import Player
from zerosum.protocols.gtp import COMMANDS
from zerosum.protocols.gtp_params import GtpConfig
from zerosum.protocols.gtp_session import GtpSession
from zerosum.search import SearchConfig

# ---- the conversation


def test_a_handshake_needs_no_player() -> None:
    def nobody(game: Rules) -> Player:
        raise AssertionError("asked too early")

    client = Client(choose=nobody)
    answers = client.ask_all("protocol_version; name; known_command genmove; known_command hop; known_command")
    assert answers == ["2", "zerosum", "true", "false", "false"]
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", client.ask("version"))
    assert client.ask("list_commands").split("\n") == list(COMMANDS)
    assert "final_score" in client.ask("gogui-analyze_commands")
    assert client.ask("quit") == "" and client.engine.session.has_quit


def test_commands_that_servers_boards_and_programs_ask_for() -> None:
    asked = """
        protocol_version name version known_command list_commands quit boardsize clear_board komi fixed_handicap
        place_free_handicap set_free_handicap play genmove undo time_settings time_left final_score final_status_list
        loadsgf reg_genmove showboard kgs-genmove_cleanup kgs-time_settings kata-set-rules kata-get-rules
        kata-time_settings lz-analyze kata-analyze lz-genmove_analyze kata-genmove_analyze gogui-analyze_commands
    """
    assert set(asked.split()) <= set(COMMANDS)


def test_lines_are_read_as_the_protocol_has_them() -> None:
    client = Client()
    for silent in ["", "\n", "   ", "\t\r\n", "# a comment", "  # 7 name", "\x01\x02", "#"]:
        assert client.send(silent) == "", repr(silent)
    assert client.send("name") == "= zerosum\n\n"
    assert client.send("0 name # and more\n") == "=0 zerosum\n\n"
    assert client.send("\t12\tname\r\n") == "=12 zerosum\n\n"
    assert client.send("na\x07me\x7f") == "= zerosum\n\n"
    assert client.send("komi 6.5") == "=\n\n" and client.send("3 komi 6.5") == "=3\n\n"
    assert client.send("hop") == "? unknown command\n\n" and client.send("12") == "?12 unknown command\n\n"
    assert client.send("-1 name") == "? unknown command\n\n"
    assert client.send("12name") == "? unknown command\n\n"


def test_serve_ends_with_its_input_or_quit() -> None:
    client = Client()
    client.engine.serve(["name\n", "1 lz-analyze\n"])
    assert client.said[0] == "= zerosum\n\n" and client.said[1] == "=1\n" and client.said[-1] == "\n"
    client.said.clear()
    client.engine.serve(["2 quit\n", "name\n"])
    assert client.said == ["=2\n\n"]


# ---- moves


def test_a_bug_in_a_command_does_not_end_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    def buggy(session: GtpSession, words: list[str]) -> str:
        raise KeyError("a\nb")

    client = Client()
    client.ask("play b C3")
    before = client.position()
    monkeypatch.setitem(COMMANDS, "showboard", buggy)
    client.said.clear()
    client.engine.handle("7 showboard")
    assert client.said == ["?7 internal error: KeyError: 'a\\nb'\n\n"]
    assert any("Traceback" in sentence and "in buggy" in sentence for sentence in client.warnings)
    assert client.position() == before and client.ask("genmove w")


def test_a_client_that_has_gone_is_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    def writing(session: GtpSession, words: list[str]) -> str:
        raise BrokenPipeError

    client = Client()
    monkeypatch.setitem(COMMANDS, "showboard", writing)
    with pytest.raises(BrokenPipeError):
        client.engine.handle("showboard")


def test_genmove_plays_and_reg_genmove_does_not() -> None:
    client = Client()
    vertex = client.ask("genmove b")
    assert list(client.engine.session.board.stones()) == [vertex.upper()]
    before = client.position()
    client.ask("reg_genmove w")
    assert client.position() == before
    assert client.refuse("genmove") == client.refuse("genmove x") == "invalid color"


def test_nobody_has_passed_where_a_colour_is_asked_out_of_turn() -> None:
    """Else Black's pass would be the second one, and win at once."""
    client = Client(config=GtpConfig(simulations=200))
    client.ask("play b c3")
    assert client.ask("genmove b") != "pass"
    client.ask("clear_board")
    client.ask_all("play b c3; play w pass")
    assert client.ask("genmove b") == "pass"


def test_a_pass_that_would_lose_is_not_answered_by_a_pass() -> None:
    client = Client(config=GtpConfig(simulations=400))
    client.ask_all("komi 3.5; play b pass")
    assert client.ask("genmove w") == "pass"
    client.ask_all("clear_board; komi -3.5; play b pass")
    assert client.ask("genmove w") != "pass"


def test_a_pass_that_loses_is_not_played_by_a_search_that_has_not_seen_why() -> None:
    """Equal priors need a hundred simulations below the pass to find the other pass."""

    def blind(game: Rules) -> Player:
        return Player(game, LikesPassing(), SearchConfig(num_simulations=4), name="blind")

    client = Client(choose=blind, config=GtpConfig(simulations=4))
    client.ask("play b c3")
    assert client.ask("genmove w") != "pass"
    client.ask("komi 30")
    assert client.ask("genmove w") == "pass", "now it wins"


class LikesPassing:
    """High priors for the pass alone, and even values."""

    def evaluate(self, leaves: Leaves) -> Evaluations:
        logits = np.where(leaves.legal_actions == 25, 5.0, 0.0).astype(np.float32)
        return Evaluations(leaves, logits, np.zeros(len(leaves), np.float32))


def test_resigns_when_it_has_been_hopeless_for_some_moves() -> None:
    lost = "go(size=5, komi=300)"
    client = Client(lost)
    assert [client.ask("genmove b") for _ in range(3)][2] == "resign"
    assert client.position()[3] == 2
    client.ask("clear_board")
    assert client.ask("genmove b") != "resign"
    never = Client(lost, config=GtpConfig(resign_below=0.0))
    assert "resign" not in [never.ask("genmove b") for _ in range(5)]
    at_once = Client(lost, config=GtpConfig(resign_moves=1))
    assert at_once.ask_lines("kata-genmove_analyze b")[-1] == "play resign"


DEAD = "(;SZ[7]KM[0.5]AB[da][db][dc][dd][de][df][dg][bb]AW[ea][eb][ec][ed][ee][ef][eg][be]PL[B])"


def test_cleanup_takes_dead_stones_before_it_passes(tmp_path: Path) -> None:
    path = tmp_path / "dead.sgf"
    path.write_text(DEAD, encoding="utf-8")
    for command, is_taken in (("genmove", False), ("kgs-genmove_cleanup", True)):
        client = Client(choose=exact, config=GtpConfig(simulations=1500))
        client.ask_all(f"loadsgf {path}; komi -20.5")
        moves = []
        while "pass" not in moves and len(moves) < 12:
            client.ask("play w pass")
            moves.append(client.ask(f"{command} b"))
        assert moves[-1] == "pass"
        assert ("B3" not in client.engine.session.board.stones()) == is_taken, command
        assert set(client.engine.session.board.stones().values()) == {0, 1}, "White's wall has room for two eyes"


class Broken:
    def evaluate(self, leaves: Leaves) -> Evaluations:
        raise ValueError("no answer")


def test_a_search_that_fails_is_told() -> None:
    def broken(game: Rules) -> Player:
        return Player(game, Broken(), SearchConfig(), name="broken")

    client = Client(choose=broken)
    assert client.refuse("genmove b") == "the search failed: no answer"
    assert client.send("1 lz-analyze") + client.send("") == "=1\n\n"
    assert client.warnings == ["the search failed: no answer"]


# ---- lines that mean nothing


def malformed(draw: random.Random) -> str:
    """A line, of which most are malformed or come at the wrong time."""
    vertex = lambda: draw.choice("abcdefghj") + str(draw.randrange(10))  # noqa: E731
    words = [
        *(
            "b",
            "w",
            "black",
            "x",
            "pass",
            "resign",
            "5",
            "6",
            "7",
            "0",
            "-1",
            "1e9",
            "nan",
            "3.5",
            "true",
            "false",
            "interval",
        ),
        *(
            "avoid",
            "allow",
            "ownership",
            "maxmoves",
            "minmoves",
            "rootInfo",
            "fischer",
            "byoyomi",
            "none",
            "aga",
            "alive",
        ),
        *(
            "{",
            '{"ko":"SIMPLE"}',
            "ko",
            "SIMPLE",
            "#",
            "\t",
            "\x00",
            "é",
            "日本",
            "٣",
            "=",
            "?",
            "/nowhere.sgf",
            "9" * 30,
        ),
    ]
    number = draw.choice(["", "", f"{draw.randrange(1000)} ", "-3 ", "007 ", "1.5 "])
    kind = draw.random()
    if kind < 0.35:
        line = f"play {draw.choice('bwBWx')} {vertex()}"
    elif kind < 0.9:
        name = draw.choice(list(COMMANDS))
        if name in ("quit", "boardsize"):
            name = f"{name}x" if name == "quit" else f"boardsize {draw.choice(['5', '6', '7', '4', '99', 'x'])}"
        arguments = [draw.choice(words) if draw.random() < 0.6 else vertex() for _ in range(draw.randrange(5))]
        line = " ".join([name, *arguments])
    else:
        line = "".join(chr(draw.randrange(1, 400)) for _ in range(draw.randrange(12)))
    if draw.random() < 0.1 and line:
        place = draw.randrange(len(line))
        line = line[:place] + draw.choice("\t\r\x0b# 0z") + line[place + 1 :]
    return f"{number}{line}"


def test_lines_that_mean_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where printsgf writes

    def quick(game: Rules) -> Player:
        return Player(game, UniformEvaluator(), SearchConfig(num_simulations=2), name="quick")

    draw = random.Random(1)
    client = Client(choose=quick, config=GtpConfig(simulations=2, memory_mib=1))
    num_refused = num_answered = 0
    for number in range(rounds(10_000)):
        line = malformed(draw)
        before, was_analysing = client.position(), client.engine.session.is_analysing
        answer = client.send(line)
        if was_analysing:
            _, ended, answer = answer.rpartition("\n=") if "\n=" in answer else answer.rpartition("\n?")
            answer = f"{ended[1:]}{answer}" if ended else ""
        words = re.sub(r"[\x00-\x08\x0a-\x1f\x7f]", "", line).partition("#")[0].split()
        if not words:
            assert not answer, (line, answer)
            continue
        identity = words[0] if re.fullmatch("[0-9]+", words[0]) else ""
        if answer.startswith("?"):
            num_refused += 1
            assert re.fullmatch(rf"\?{identity} [^\n]+\n\n", answer), (line, answer)
            assert client.position() == before, line
        else:
            num_answered += 1
            assert answer.startswith(f"={identity}"), (line, answer)
            assert client.engine.session.is_analysing or answer.endswith("\n\n"), (line, answer)
        if number % 500 == 0:
            client.send("clear_board")
    client.send("quit")
    assert num_refused > rounds(2000) and num_answered > rounds(1000)
