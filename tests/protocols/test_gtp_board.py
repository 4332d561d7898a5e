"""The board behind `zerosum gtp`: moves, rules, sizes, handicaps, scores, and games from files."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gtp_client import Client
from networks_for_tests import save_network
from zerosum.base.errors import SettingsError
from zerosum.games import make
from zerosum.notation.go_words import SHORTHANDS
from zerosum.play.choice import Players
from zerosum.protocols.gtp_board import GtpBoard
from zerosum.protocols.gtp_params import GtpConfig


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
    """Moves out of turn are legal exactly after a pass, and both ways lead to the same board."""
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
    assert client.warnings == ["The network learned Go with komi 7.5 and cannot see that it is 0.5 now."]
    assert client.ask("final_score") == "B+24.5"
    client.engine.session.board.action(client.ask("genmove w"))
    assert client.refuse("komi") == client.refuse("komi x") == client.refuse("komi nan") == "syntax error"
    assert client.refuse("komi 2000") == "komi is 2000, but must be between -375 and 375"


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
    assert client.engine.session.board.game.planes(client.engine.session.board.state).sum() == 3, (
        "nothing was there before"
    )
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


def test_rules_are_those_of_katago() -> None:
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
    assert json.loads(client.ask("kata-get-rules")) == rules | {"whiteHandicapBonus": "N", "friendlyPassOk": True}
    japanese = {"ko": "SIMPLE", "scoring": "TERRITORY", "tax": "SEKI", "friendlyPassOk": True}
    for name in ("japanese", "korean", json.dumps(japanese)):
        client.ask("kata-set-rules tromp-taylor")
        client.ask(f"kata-set-rules {name}")
        assert json.loads(client.ask("kata-get-rules")) == rules | japanese | {"suicide": name[0] == "{"}
    client.ask("kata-set-rules chinese")
    for name in ("stone-scoring", "aga-button", "hop", ""):
        assert client.refuse(f"kata-set-rules {name}").startswith("unsupported rules")
    for bad in ('{"scoring": "TERRITORY"}', '{"tax": 3}', '{"hop": 1}', '{"ko": []}', '{"suicide": 1.5}'):
        assert client.refuse(f"kata-set-rules {bad}").startswith("unsupported rules")
    assert client.refuse("kata-set-rule ko none").endswith("must be one of SIMPLE, POSITIONAL, SITUATIONAL, not 'none'")
    assert client.refuse("kata-set-rule friendlyPassOk 3").startswith("unsupported rules")
    client.ask("kata-set-rule friendlyPassOk true")
    assert json.loads(client.ask("kata-get-rules"))["friendlyPassOk"] is True
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
