"""Analysis output of `zerosum gtp`, in the formats of Leela Zero and KataGo."""

from __future__ import annotations

import re
import time

import pytest

from gtp_client import Client, exact
from zerosum.analysis.go_score import deviation, lead
from zerosum.protocols.gtp_params import GtpConfig


def infos(line: str) -> list[dict[str, str]]:
    """Fields as Sabaki reads them: pairs of words, then the line of moves."""
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
        utility = float(move["utility"])
        assert utility == pytest.approx(2 * float(move["winrate"]) - 1, abs=2e-6)
        assert float(move["scoreLead"]) == pytest.approx(lead(utility, 9), abs=1e-4)
        assert move["scoreLead"] == move["scoreMean"] == move["scoreSelfplay"]
    words = line.split("rootInfo ")[1].split()
    root = dict(zip(words[:14:2], words[1:14:2], strict=True))
    assert int(root["visits"]) >= sum(int(move["visits"]) for move in moves)
    assert float(root["scoreLead"]) == pytest.approx(lead(float(root["utility"]), 9), abs=1e-4)
    assert root["scoreStdev"] == f"{deviation(9):.6f}"
    assert len(line.split(" ownership ")[1].split()) == 81
    assert client.warnings == ["movesOwnership is left out: no network knows it."]
    assert len(infos(analysis(client, "kata-analyze 1 minmoves 82")[0])) == 82


def test_any_input_ends_an_analysis() -> None:
    client = Client()
    for line in ("", "\n", "# a comment", "\x01"):
        assert client.send("1 lz-analyze b 1").startswith("=1\n")
        assert client.send(line).endswith("\n") and not client.engine.session.player._engine.is_thinking
        assert client.send(line) == ""
    client.send("1 kata-analyze")
    assert client.send("2 name").endswith("\n=2 zerosum\n\n")


def test_a_solved_position_shows_its_proof() -> None:
    """A second pass ends the game, and Black has won it. The other moves are searched on."""
    client = Client("go(size=5, komi=-30)", choose=exact)
    client.ask("play w pass")
    line = analysis(client, "lz-analyze b 1", least=1)[-1]
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
        assert last.split()[1] in client.engine.session.board.stones()


def test_pondering_is_used_and_never_charged() -> None:
    client = Client("go(size=9)", config=GtpConfig(ponder=True, simulations=50))
    client.ask("genmove b")
    engine = client.engine.session.player._engine
    assert engine is not None and engine.is_thinking
    while engine._followed.search.root(0).num_simulations < 500:
        time.sleep(0.001)
    left = list(client.engine.session.player._left)
    expected = client.engine.session.board.vertex(engine._followed.search.best_line(0)[0])
    assert client.send(f"play w {expected}") == "=\n\n" and not engine.is_thinking
    assert client.engine.session.player._left == left
    assert "visits" in client.ask("kata-genmove_analyze b")
    client.send("quit")
