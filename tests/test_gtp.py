"""`zerosum gtp`: the protocol's letter, what boards do with it, clocks, and thousands of lines that mean nothing.

Players are rollouts with a few simulations; clocks are the tests' own. GNU Go, where it is installed, is the oracle for
what is common, and an opponent.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from test_player import save_network
from zerosum.clock import Clock, TimeControl
from zerosum.errors import SettingsError
from zerosum.evaluator import Evaluations, RolloutEvaluator, UniformEvaluator
from zerosum.external.engine import EngineCommand, EngineLimits, ExternalEngine
from zerosum.external.opponents import find_opponent, opponents_of
from zerosum.games import Leaves, Rules, make
from zerosum.go_words import SHORTHANDS
from zerosum.play.choice import Players
from zerosum.play.player import Player, rollouts
from zerosum.protocols.gtp import COMMANDS, GtpEngine
from zerosum.protocols.gtp_board import GtpBoard
from zerosum.protocols.gtp_player import GtpConfig
from zerosum.search import SearchConfig

GNUGO = next(opponent for opponent in opponents_of(make("go9")) if opponent.name == "gnugo")
needs_gnugo = pytest.mark.skipif(not GNUGO.is_installed, reason=GNUGO.how_to_install)


def roll(game: Rules) -> Player:
    return rollouts(game, 30, seed=0).player(game)


def exact(game: Rules) -> Player:
    """Rollouts, but what is proven counts."""
    return Player(game, RolloutEvaluator(), SearchConfig(num_simulations=50), name="exact")


class Client:
    """An engine on a board of 5x5 if no other is named, and what it said."""

    def __init__(
        self,
        game: str = "go(size=5, komi=7.5)",
        *,
        choose: Callable[[Rules], Player] = roll,
        config: GtpConfig | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.said: list[str] = []
        self.warnings: list[str] = []
        # Every look at this clock is a millisecond.
        ticks = itertools.count()
        self.engine = GtpEngine(
            make(game),
            choose,
            write=self.said.append,
            warn=self.warnings.append,
            config=config,
            clock=clock or (lambda: next(ticks) / 1000),
        )

    def send(self, line: str) -> str:
        """What is written until the line has been dealt with."""
        self.said.clear()
        self.engine.handle(line)
        return "".join(self.said)

    def ask(self, command: str) -> str:
        """The answer to a command, which has one and only one."""
        text = self.send(f"7 {command}")
        found = re.fullmatch(r"=7 ?((?:.+\n|\n(?=.))*.+)?\n\n", text)
        assert found, (command, text)
        return found[1] or ""

    def refuse(self, command: str) -> str:
        """Why a command is refused; the position is as before."""
        before = self.position()
        text = self.send(f"8 {command}\r\n")
        found = re.fullmatch(r"\?8 (.+)\n\n", text)
        assert found, (command, text)
        assert self.position() == before
        return found[1]

    def ask_lines(self, command: str) -> list[str]:
        """Of a genmove_analyze."""
        head, *lines = self.ask(command).split("\n")
        assert not head
        return lines

    def ask_all(self, commands: str) -> list[str]:
        return [self.ask(command.strip()) for command in commands.split(";")]

    def position(self) -> tuple[object, ...]:
        board = self.engine._board
        return board.size, board.komi, board.rules, board.num_moves, board.game.position_text(board.state), board.mover

    def stones(self) -> str:
        """Rows from the top."""
        return str(self.engine._board.game.position_text(self.engine._board.state)).split(" ")[0]


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
    assert client.ask("quit") == "" and client.engine.has_quit


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


# ---- the board


def test_a_colour_may_move_twice_and_after_two_passes() -> None:
    client = Client()
    client.ask_all("play b c3; play B d3; play BLACK c2; play white D2; play w a1; play w pass; play w PASS; play b b5")
    assert client.stones() == "1X3/5/2XX1/2XO1/O4"
    client.ask("undo")
    client.ask("undo")
    client.ask_all("play b pass; play w pass; play b pass; play w pass; play b e5")
    assert client.stones() == "4X/5/2XX1/2XO1/O4"
    for _ in range(11):
        client.ask("undo")
    assert client.stones() == "5/5/5/5/5" and client.refuse("undo") == "cannot undo"


def test_illegal_moves_are_refused_with_the_reason() -> None:
    client = Client()
    client.ask_all("play w c3; play b a4; play b b5")
    assert client.refuse("play w C3") == client.refuse("play b c3") == "illegal move: the point is taken"
    assert client.refuse("play w a5") == "illegal move: suicide"
    for bad in ["f1", "i3", "a0", "a6", "c03", "3c", "c", "c3x", "cc", "\u0663"]:
        assert client.refuse(f"play w {bad}") == "invalid vertex"
    assert client.refuse("play x c1") == "invalid color"
    assert client.refuse("play w") == client.refuse("play") == "syntax error"


KO = "play b c4; play b b3; play b c2; play w d4; play w e3; play w d2; play b d3; play w c3"


def test_superko_is_kept_where_a_colour_moves_out_of_turn() -> None:
    client = Client()
    client.ask_all(KO)
    assert client.stones() == "5/2XO1/1XO1O/2XO1/5"
    assert client.refuse("play b d3") == "illegal move: superko"
    client.ask("play w a1")
    client.ask("play b d3")
    assert client.stones() == "5/2XO1/1X1XO/2XO1/O4"
    client.ask("undo")
    client.ask("undo")
    client.ask("play w pass")
    assert client.refuse("play b d3") == "illegal move: superko", "the board would be as it was"


def random_boards(num_boards: int) -> Iterator[tuple[GtpBoard, random.Random]]:
    draw = random.Random(7)
    for number in range(num_boards):
        rules = ["", ", superko=situational", ", superko=simple", ", suicide=true"][number % 4]
        board = GtpBoard(make(f"go(size=5{rules})"))
        for _ in range(draw.randrange(60)):
            player = draw.randrange(2) if draw.random() < 0.2 else board.mover
            board.play(player, draw.choice(board.legal_actions(player)))
        yield board, draw


def test_whose_turn_it_is_makes_no_other_position() -> None:
    """What may be played out of turn is what may be played after a pass, and both ways lead to the same board."""
    num_banned = 0
    for board, draw in random_boards(150):
        for player in (0, 1):
            start, actions = board.root(player)
            assert board.root(player)[0] is start
            state = start
            for action in actions:
                state = board.game.play(state, action)
            assert board.game.player(state) == player
            legal = board.game.legal_actions(state, past_soft_endings=True)
            assert legal == board.legal_actions(player)
            ahead = board.state if board.mover == player else board.game.play(board.state, 25)
            assert set(legal) == set(board.game.legal_actions(ahead, past_soft_endings=True)), board.rules
            num_banned += "ko=" in str(board.game.position_text(state))
            before = board.stones()
            board.play(player, draw.choice(legal))
            board.undo()
            assert board.stones() == before
    assert num_banned


def test_rules_and_komi_may_change_in_the_middle_of_a_game() -> None:
    for board, draw in random_boards(40):
        stones, num_moves = board.stones(), board.num_moves
        for rules in (rules for rules in SHORTHANDS.values() if not rules.unsupported):
            board.set_rules(rules)
            board.set_komi(draw.randrange(-20, 20) / 2)
            assert (board.stones(), board.num_moves, board.rules) == (stones, num_moves, rules)


def test_board_sizes() -> None:
    client = Client()
    for size in (5, 9, 13):
        client.ask(f"boardsize {size}")
        client.ask("play w a1")
        assert client.ask("showboard").split("\n")[0] == ""
        assert client.position()[0] == size
    for size in ("4", "26", "0", "-9", "1000000"):
        assert client.refuse(f"boardsize {size}").startswith("unacceptable size")
    for text in ("", "nine", "9.5", "1e3", "99999999999999", "٩"):
        assert client.refuse(f"boardsize {text}") == "syntax error"


def test_a_network_takes_boards_of_its_size_and_any_komi(tmp_path: Path) -> None:
    path = save_network(tmp_path, make("go(size=5)"))
    warnings: list[str] = []
    players = Players(str(path), say=warnings.append)
    client = Client("go(size=5)", choose=players.of, config=GtpConfig(simulations=4))
    assert client.ask("clear_board") == ""
    assert client.refuse("boardsize 9").startswith("unacceptable size: ")
    client.ask_all("boardsize 5; komi 7.5; play b c3")
    assert warnings == [f"Playing with {path}, step 7."] and not client.warnings
    client.ask("komi 0.5")
    assert client.warnings == ["The network learned Go with komi 7.5 and does not see that it is 0.5 now."]
    assert client.ask("final_score") == "B+24.5"
    client.engine._board.action(client.ask("genmove w"))
    assert client.refuse("komi") == client.refuse("komi x") == client.refuse("komi nan") == "syntax error"
    assert client.refuse("komi 2000") == "komi is 2000, allowed is -375 to 375"


def test_only_go_without_handicap_is_played() -> None:
    with pytest.raises(SettingsError, match="GTP is for Go, not for connect4"):
        Client("connect4")
    with pytest.raises(SettingsError, match="leave the option handicap out"):
        Client("go(size=9, handicap=2)")


def test_handicap_stones() -> None:
    client = Client("go(size=9)")
    assert sorted(client.ask("fixed_handicap 5").split()) == ["C3", "C7", "E5", "G3", "G7"]
    assert client.position()[5] == 1, "White begins"
    assert client.refuse("fixed_handicap 2") == client.refuse("set_free_handicap a1 b1") == "board not empty"
    client.ask("clear_board")
    for bad in ("fixed_handicap 1", "fixed_handicap 10", "place_free_handicap 1", "set_free_handicap a1"):
        assert client.refuse(bad) == "invalid number of stones"
    assert client.refuse("set_free_handicap a1 a1") == client.refuse("set_free_handicap a1 pass") == "bad vertex list"
    client.ask("set_free_handicap A1 b1 e5")
    assert client.stones() == "9/9/9/9/4X4/9/9/9/XX7"
    assert client.engine._board.game.planes(client.engine._board.state).sum() == 3, "nothing was there before"
    client.ask("clear_board")
    assert len(client.ask("place_free_handicap 20").split()) == 9
    client.ask_all("kata-set-rules chinese; komi 0.5")
    assert client.ask("final_score") == "B+71.5", "nine points for nine stones"
    client.ask("kata-set-rule whiteHandicapBonus N-1")
    assert client.ask("final_score") == "B+72.5"
    client.ask("boardsize 5")
    assert client.refuse("place_free_handicap 2") == "invalid number of stones"


def test_scores_are_those_of_tromp_and_taylor() -> None:
    client = Client()
    client.ask("komi 7")
    assert client.ask("final_score") == "W+7"
    client.ask_all("play b c3; play w a1; komi 0")
    assert client.ask("final_score") == "0", "one stone each, all else is between them"
    client.ask("komi -3.5")
    assert client.ask("final_score") == "B+3.5"
    assert [client.ask(f"final_status_list {word}") for word in ("alive", "dead", "seki")] == ["C3 A1", "", ""]
    assert client.refuse("final_status_list") == client.refuse("final_status_list lost") == "syntax error"


def test_rules_are_those_of_katago_that_count_area() -> None:
    client = Client()
    rules = json.loads(client.ask("kata-get-rules"))
    assert (rules["ko"], rules["scoring"], rules["suicide"]) == ("POSITIONAL", "AREA", False)
    client.ask("kata-set-rules tromp-taylor")
    assert json.loads(client.ask("kata-get-rules")) == rules | {"suicide": True}
    client.ask('kata-set-rules {"ko": "SIMPLE", "scoring": "AREA", "suicide": false}')
    assert json.loads(client.ask("kata-get-rules")) == rules | {"ko": "SIMPLE"}
    client.ask("kata-set-rule ko situational")
    client.ask("kata-set-rule suicide true")
    assert json.loads(client.ask("kata-get-rules")) == rules | {"ko": "SITUATIONAL", "suicide": True}
    client.ask("kgs-rules chinese")
    assert json.loads(client.ask("kata-get-rules")) == rules | {"whiteHandicapBonus": "N"}
    for name in ("japanese", "korean", "stone-scoring", "aga-button", "hop", ""):
        assert client.refuse(f"kata-set-rules {name}").startswith("unsupported rules")
    for bad in ('{"scoring": "TERRITORY"}', '{"tax": 3}', '{"hop": 1}', '{"ko": []}', '{"suicide": 1.5}'):
        assert client.refuse(f"kata-set-rules {bad}").startswith("unsupported rules")
    assert client.refuse("kata-set-rule ko none").endswith("must be one of SIMPLE, POSITIONAL, SITUATIONAL, not 'none'")
    assert client.refuse("kata-set-rule friendlyPassOk true").startswith("unsupported rules")
    client.ask("kata-set-rule friendlyPassOk false")
    assert client.refuse("kata-set-rules {") == client.refuse("kata-set-rule ko") == "syntax error"
    client.ask_all("play b a4; play b b4; play b c5; play w a5; play b e1")
    assert client.refuse("play w b5") == "illegal move: suicide"
    client.ask("kata-set-rules tromp-taylor")
    client.ask("play w b5")
    assert client.stones() == "2X2/XX3/5/5/4X"


# ---- files


def test_loadsgf(tmp_path: Path) -> None:
    path = tmp_path / "a game.sgf"
    path.write_text("(;GM[1]SZ[9]KM[5.5];B[ee];W[cc];B[tt];W[aa])", encoding="utf-8")
    client = Client()
    client.ask(f"loadsgf {path}")
    assert client.stones() == "O8/9/2O6/9/4X4/9/9/9/9" and client.position()[:2] == (9, 5.5)
    client.ask("undo")
    client.ask(f"loadsgf {path} 2")
    assert client.stones() == "9/9/9/9/4X4/9/9/9/9"
    client.ask(f"loadsgf {path} 1")
    assert client.stones() == "9/9/9/9/9/9/9/9/9" and not client.warnings
    assert client.refuse("loadsgf") == "syntax error"
    for place in (tmp_path / "nowhere", tmp_path):
        assert re.fullmatch("cannot load file: .* cannot be read: .*", client.refuse(f"loadsgf {place}"))
    path.write_text("(;GM[2]SZ[9];B[ee])", encoding="utf-8")
    assert client.refuse(f"loadsgf {path}").startswith("cannot load file: ")
    path.write_text("hop", encoding="utf-8")
    assert client.refuse(f"loadsgf {path}").startswith("cannot load file: ")
    path.write_text("(;SZ[9]HA[2]AB[cc][gg]KM[0.5];W[ee];B[ff])", encoding="utf-8")
    client.ask(f"loadsgf {path}")
    assert client.stones() == "9/9/2X6/9/4O4/5X3/6X2/9/9"


def test_what_was_played_is_loaded_though_our_rules_forbid_it(tmp_path: Path) -> None:
    path = tmp_path / "forbidden.sgf"
    setup = "(;SZ[5]AB[cb][bc][cd][dc]AW[db][ec][dd]PL[W]"
    path.write_text(f"{setup};W[cc];B[dc];W[aa];B[dc])", encoding="utf-8")
    client = Client()
    client.ask(f"loadsgf {path}")
    assert client.warnings == [
        f"{path}: black D3 is forbidden here (superko), and was played.",
        f"{path}: move 4: illegal move: the point is taken; the record stops here.",
    ]
    assert client.stones() == "O4/2XO1/1X1XO/2XO1/5"
    path.write_text("(;SZ[5]AB[ab][bb][ca]PL[W];W[aa];B[ee];W[ba])", encoding="utf-8")
    client.ask(f"loadsgf {path}")
    assert client.warnings[2:] == [f"{path}: white B5 is forbidden here (suicide), and was played."]
    assert client.stones() == "2X2/XX3/5/5/4X"


# ---- moves


def test_genmove_plays_and_reg_genmove_does_not() -> None:
    client = Client()
    vertex = client.ask("genmove b")
    assert list(client.engine._board.stones()) == [vertex.upper()]
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
    """With equal priors it takes a hundred simulations below the pass to find the other pass."""

    def blind(game: Rules) -> Player:
        return Player(game, LikesPassing(), SearchConfig(num_simulations=4), name="blind")

    client = Client(choose=blind, config=GtpConfig(simulations=4))
    client.ask("play b c3")
    assert client.ask("genmove w") != "pass"
    client.ask("komi 30")
    assert client.ask("genmove w") == "pass", "now it wins"


class LikesPassing:
    """Priors that are high for the pass alone, and no opinion on who wins."""

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
        assert ("B3" not in client.engine._board.stones()) == is_taken, command
        assert set(client.engine._board.stones().values()) == {0, 1}, "White's wall has room for two eyes"


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


# ---- analysis


def infos(line: str) -> list[dict[str, str]]:
    """As Sabaki reads them: words in pairs, but for the line."""
    moves = []
    for text in line.split("rootInfo")[0].split("info ")[1:]:
        pairs, _, pv = text.partition(" pv ")
        words = pairs.split()
        moves.append({**dict(zip(words[::2], words[1::2], strict=True)), "pv": pv.strip()})
    return moves


def analysis(client: Client, command: str, *, least: int = 2) -> list[str]:
    """The lines of an analysis, of which there are at least so many, and no word after its end."""
    client.said.clear()
    client.engine.handle(f"3 {command}")
    while len(client.said) < 1 + least:
        time.sleep(0.001)
    client.engine.handle("")
    assert client.said[0] == "=3\n" and client.said[-1] == "\n"
    return client.said[1:-1]


def test_analysis_speaks_as_leela_zero() -> None:
    client = Client("go(size=9)")
    client.ask("play b e5")
    line = analysis(client, "lz-analyze 5")[-1]
    moves = infos(line)
    assert [move["order"] for move in moves] == [str(number) for number in range(len(moves))]
    for move in moves:
        assert move["pv"].split()[0] == move["move"]
        for name in ("winrate", "prior", "lcb"):
            assert 0 <= int(move[name]) <= 10_000
        assert int(move["lcb"]) <= int(move["winrate"]) and int(move["visits"]) > 0
    visits = [int(move["visits"]) for move in moves[1:]]
    assert visits == sorted(visits, reverse=True)


def test_analysis_speaks_as_katago() -> None:
    client = Client("go(size=9)")
    line = analysis(client, "kata-analyze w interval 5 maxmoves 4 rootInfo true ownership true movesOwnership true")[-1]
    moves = infos(line)
    assert len(moves) == 4
    for move in moves:
        for name in ("winrate", "prior", "lcb"):
            assert re.fullmatch(r"[01]\.\d{6}", move[name]), "Sabaki knows it by its dot"
        assert float(move["utility"]) == pytest.approx(2 * float(move["winrate"]) - 1, abs=2e-6)
    root = line.split("rootInfo ")[1].split()
    assert int(root[1]) >= sum(int(move["visits"]) for move in moves)
    assert client.warnings == [f"{name} is left out: no network knows it." for name in ("ownership", "movesOwnership")]
    assert len(infos(analysis(client, "kata-analyze 1 minmoves 82")[0])) == 82


def test_any_input_ends_an_analysis() -> None:
    client = Client()
    for line in ("", "\n", "# a comment", "\x01"):
        assert client.send("1 lz-analyze b 1").startswith("=1\n")
        assert client.send(line).endswith("\n") and not client.engine._player._engine.is_thinking
        assert client.send(line) == ""
    client.send("1 kata-analyze")
    assert client.send("2 name").endswith("\n=2 zerosum\n\n")


def test_a_solved_position_is_told_once() -> None:
    """A second pass ends the game, and Black has won it."""
    client = Client("go(size=5, komi=-30)", choose=exact)
    client.ask("play w pass")
    (line,) = analysis(client, "lz-analyze b 10000", least=1)
    assert infos(line)[0]["move"] == "pass" and infos(line)[0]["winrate"] == "10000"


def test_moves_may_be_avoided_or_allowed() -> None:
    client = Client()
    avoided = "avoid b c3,c4,pass 1 avoid w a1 1"
    assert not {"C3", "C4", "pass"} & {
        move["move"] for move in infos(analysis(client, f"kata-analyze b 1 {avoided}")[-1])
    }
    allowed = "allow b c3,d4 1"
    assert {move["move"] for move in infos(analysis(client, f"lz-analyze b 5 {allowed}")[-1])} == {"C3", "D4"}
    answer = client.ask_lines(f"kata-genmove_analyze b 1 {allowed} avoid b C3 50")
    assert answer[-1] == "play D4" and {move["move"] for line in answer[:-1] for move in infos(line)} <= {"D4"}
    client.ask("play b c3")
    assert client.refuse("lz-analyze b allow b c3 1") == "no legal move is left to choose from"
    for bad in (
        "lz-analyze hop",
        "lz-analyze b interval",
        "lz-analyze b interval x",
        "lz-analyze avoid b c3",
        "lz-analyze avoid x c3 1",
        "lz-analyze avoid b c3 0",
        "kata-analyze ownership",
        "kata-analyze b ownership 3",
        "kata-genmove_analyze 1 2 3",
        "lz-genmove_analyze b -5",
    ):
        assert client.refuse(bad) == "syntax error", bad
    assert client.refuse("lz-analyze avoid b z9 1") == "invalid vertex"


def test_genmove_analyze_ends_with_the_move() -> None:
    client = Client()
    for name in ("lz", "kata"):
        *lines, last = client.ask_lines(f"{name}-genmove_analyze b 1")
        assert lines and all(line.startswith("info move ") for line in lines)
        assert last == f"play {infos(lines[-1])[0]['move']}"
        assert last.split()[1] in client.engine._board.stones()


def test_pondering_is_used_and_never_charged() -> None:
    client = Client("go(size=9)", config=GtpConfig(ponder=True, simulations=50))
    client.ask("genmove b")
    engine = client.engine._player._engine
    assert engine is not None and engine.is_thinking
    while engine._search.root(0).num_simulations < 500:
        time.sleep(0.001)
    left = list(client.engine._player._left)
    expected = client.engine._board.vertex(engine._search.best_line(0)[0])
    assert client.send(f"play w {expected}") == "=\n\n" and not engine.is_thinking
    assert client.engine._player._left == left
    assert "visits" in client.ask("kata-genmove_analyze b")
    client.send("quit")


# ---- time

SYSTEMS = {
    "time_settings 0 1 1": "0+1x1",
    "time_settings 0 5 5": "0+5/5",
    "time_settings 3 0 0": "3",
    "time_settings 2 1 3": "2+3/1",
    "kata-time_settings fischer 2 0.1": "2+0.1",
    "kata-time_settings absolute 3": "3",
    "kgs-time_settings byoyomi 1 0.5 3": "1+3x0.5",
    "kgs-time_settings canadian 0 2 4": "0+4/2",
}


@pytest.mark.parametrize("tells_left", [True, False], ids=["time_left", "own clock"])
@pytest.mark.parametrize("command", SYSTEMS)
def test_no_flag_falls(command: str, tells_left: bool) -> None:
    ticks = itertools.count()

    def now() -> float:
        return next(ticks) / 200

    client = Client(clock=now, config=GtpConfig(resign_below=0.0))
    client.ask_all(f"boardsize 5; clear_board; {command}")
    control = TimeControl.parse(SYSTEMS[command])
    clock = Clock(control, now=now)
    lengths = []
    for ply in range(24):
        player = ply % 2
        if tells_left:
            words = clock.left(player).gtp_words()
            client.ask(f"time_left {'bw'[player]} {words}")
        clock.start(player)
        client.ask(f"genmove {'bw'[player]}")
        lengths.append(clock.stop())
        assert clock.flag_fallen is None, (ply, lengths)
    assert max(lengths) > 0.05


def test_time_settings_are_read() -> None:
    client = Client()
    for text in ("time_settings 0 1 0", "kata-time_settings none", "kgs-time_settings none"):
        client.ask("time_settings 1 0 0")
        client.ask(text)
        assert not client.engine._player._left[0].is_limited
    assert client.ask("kata-list_time_settings").split() == ["none", "absolute", "byoyomi", "canadian", "fischer"]
    client.ask("time_settings 60 10 5")
    client.ask("time_left b 12.5 0")
    client.ask("time_left w 7 3")
    black, white = client.engine._player._left
    assert (black.main_s, black.num_periods) == (12.5, 1)
    assert (white.main_s, white.period_s, white.period_moves) == (0.0, 7.0, 3)
    client.ask("clear_board")
    assert client.engine._player._left[1].main_s == 60
    for bad in ("time_settings", "time_settings 1 2", "time_settings 1 2 x", "time_settings -1 0 0"):
        assert "no time settings" in client.refuse(bad)
    assert client.refuse("kata-time_settings hop 1").startswith("time system 'hop'")
    assert client.refuse("time_left b 1") == client.refuse("time_left b x 1") == "syntax error"
    assert client.refuse("time_left") == "invalid color"


def test_limits_of_the_command_hold_whatever_the_clock_says() -> None:
    ticks = itertools.count()
    client = Client(config=GtpConfig(seconds=0.05), clock=lambda: next(ticks) / 1000)
    client.ask_all("boardsize 5; time_settings 1000 0 0")
    before = next(ticks)
    client.ask("genmove b")
    assert next(ticks) - before < 100
    few = Client(config=GtpConfig(simulations=7))
    few.ask("time_settings 1000 0 0")
    root = few.ask("kata-genmove_analyze b rootInfo true").split("rootInfo ")[1].split()
    assert root[1] == "7"


def test_a_time_that_is_over_is_answered_at_once() -> None:
    client = Client()
    client.ask_all("time_settings 10 0 0; time_left b 0 0")
    assert client.ask("genmove b")
    client.ask("time_left w -3 0")
    assert client.ask("genmove w")


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


def test_ten_thousand_lines_that_mean_nothing() -> None:
    def quick(game: Rules) -> Player:
        return Player(game, UniformEvaluator(), SearchConfig(num_simulations=2), name="quick")

    draw = random.Random(1)
    client = Client(choose=quick, config=GtpConfig(simulations=2, memory_mib=1))
    num_refused = num_answered = 0
    for number in range(10_000):
        line = malformed(draw)
        before, was_analysing = client.position(), client.engine._is_analysing
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
            assert client.engine._is_analysing or answer.endswith("\n\n"), (line, answer)
        if number % 500 == 0:
            client.send("clear_board")
    client.send("quit")
    assert num_refused > 2000 and num_answered > 1000


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
        """As Sabaki asks: each command with an id, one after the other."""
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
        _, errors = self.process.communicate(timeout=60)
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
            move = engine.think("", moves, EngineLimits())
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
    """On where handicap stones go, and on the score of boards that are played out."""
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
        self.process.communicate(timeout=60)


@needs_gnugo
def test_a_game_against_gnu_go() -> None:
    game = make("go(size=9)")
    ours = EngineCommand.parse(f"{sys.executable} -m zerosum gtp rollouts@10", protocol="gtp")
    theirs = find_opponent("gnugo", game)
    theirs = EngineCommand((*theirs.argv, "--level", "0"), "gtp")
    moves: list[int] = []
    with ExternalEngine(ours, game) as one, ExternalEngine(theirs, game) as other:
        for engine in (one, other):
            engine.new_game()
        state = game.initial_state()
        while game.legal_actions(state) and len(moves) < 60:
            move = (one, other)[len(moves) % 2].think("", moves, EngineLimits())
            if move.action is None:
                assert move.ending == "resignation"
                break
            moves.append(move.action)
            state = game.play(state, move.action)
    assert len(moves) > 4
