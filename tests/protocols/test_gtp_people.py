"""`zerosum gtp` with people: dead stones, Japanese rules, friendly passes, cleaning up; and what boards ask besides."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from go_positions import SEKI, WALLS
from gtp_client import Client, exact
from networks_for_tests import save_network
from zerosum._core import Leaves
from zerosum.base.errors import SettingsError
from zerosum.games import Rules, make
from zerosum.games.rules import with_options
from zerosum.network.evaluators.evaluator import Evaluations
from zerosum.notation.game_files import read_raw_games
from zerosum.notation.go_words import GoRules, stones_of
from zerosum.play.choice import Players
from zerosum.play.player import Player
from zerosum.protocols.gtp import GtpEngine, run_gtp
from zerosum.protocols.gtp_params import GtpConfig
from zerosum.search import SearchConfig


def set_position(client: Client, text: str) -> None:
    words = " ".join(f"{'bw'[player]} {vertex}" for vertex, player in stones_of(text))
    client.ask(f"set_position {words}")


def on(text: str, rules: str, *, size: int = 7, config: GtpConfig | None = None) -> Client:
    client = Client(f"go(size={size})", choose=exact, config=config or GtpConfig(simulations=100))
    client.ask_all(f"kata-set-rules {rules}; komi 0")
    set_position(client, text)
    return client


# ---- dead stones and scores


@pytest.mark.parametrize(
    ("rules", "score", "dead"),
    [("tromp-taylor", "W+15", ""), ("chinese", "B+7", "B3"), ("japanese", "B+8", "B3"), ("aga", "B+7", "B3")],
)
def test_the_score_and_the_dead_stones_are_those_of_the_rules(rules: str, score: str, dead: str) -> None:
    client = on(WALLS, rules)
    assert (client.ask("final_score"), client.ask("final_status_list dead")) == (score, dead)
    alive = set(client.ask("final_status_list alive").split())
    assert alive == {vertex for vertex, _ in stones_of(WALLS)} - {dead} and client.ask("final_status_list seki") == ""


def test_seki_is_told_and_counts_nothing() -> None:
    client = on(SEKI, "japanese", size=9)
    assert client.ask("final_score") == "W+5" and client.ask("final_status_list dead") == ""
    seki, alive = (client.ask(f"final_status_list {status}").split() for status in ("seki", "alive"))
    assert len(seki) == 19 and not set(seki) & set(alive) and len(seki) + len(alive) == len(list(stones_of(SEKI)))


def test_owners_are_told_with_an_analysis() -> None:
    client = on(WALLS, "chinese")
    for colour, sign in (("b", 1), ("w", -1)):
        line = client.ask_lines(f"kata-search_analyze {colour} ownership true ownershipStdev true")[-2]
        owners, deviations = (np.array(numbers(line, name, 49)) for name in ("ownership", "ownershipStdev"))
        assert owners[0] * sign > 0.5 > -0.5 > owners[6] * sign and owners[29] * sign > 0
        np.testing.assert_allclose(owners**2 + deviations**2, 1, atol=1e-5)
    assert not client.warnings and "ownership" not in client.ask_lines("kata-search_analyze b ownership false")[-2]


def test_prisoners_count_for_those_who_took_them() -> None:
    client = Client("go(size=5, komi=0.5)")
    client.ask("kata-set-rules japanese")
    client.ask_all("play w a1; play b a2; play b b1; play w pass")
    assert client.ask("final_score") == "B+23.5", "23 points, and one prisoner"
    client.ask("undo")
    client.ask("undo")
    assert client.ask("final_score") == "B+24.5", "24 points, and one that is dead"
    client.ask_all("play b b1; kata-set-rules chinese; kata-set-rules japanese")
    assert client.ask("final_score") == "B+23.5", "all of the game is played again"


def test_rules_may_be_named_on_the_command_line(tmp_path: Path) -> None:
    said: list[str] = []
    engine = GtpEngine(make("go(size=5)"), exact, rules=GoRules.named("japanese"), write=said.append, warn=said.append)
    engine.handle("kata-get-rules")
    assert '"scoring":"TERRITORY"' in said[0]
    with pytest.raises(SettingsError, match="Unknown rules: 'hop'; available: tromp-taylor, "):
        run_gtp("rollouts", rules="hop")
    with pytest.raises(SettingsError, match="available: .*, korean, aga, bga, french, new-zealand, nz, goe, ing.$"):
        run_gtp("rollouts", rules="hop")
    with pytest.raises(SettingsError, match="a button is not supported"):
        GtpEngine(make("go"), exact, rules=GoRules.named("aga-button"), write=said.append, warn=said.append)
    named = Client("go(size=5, rules=japanese)")
    assert json.loads(named.ask("kata-get-rules"))["friendlyPassOk"] is True


def test_a_network_that_learned_area_says_so_once(tmp_path: Path) -> None:
    path = save_network(tmp_path, make("go(size=5)"))
    client = Client("go(size=5)", choose=Players(str(path)).of, config=GtpConfig(simulations=4))
    sentence = "The network learned area scoring and cannot see that territory scoring applies now."
    client.ask_all("kata-set-rules japanese; play b c3; genmove w; showboard")
    assert client.warnings == [sentence]
    client.ask_all("kata-set-rules chinese; showboard; kata-set-rules japanese; showboard")
    assert client.warnings == [sentence] * 2


# ---- passing


class Restless:
    """Never wants to pass, and believes to lose."""

    def evaluate(self, leaves: Leaves) -> Evaluations:
        size = leaves.planes().shape[-1]
        logits = np.where(leaves.legal_actions == size * size, -30.0, 0.0).astype(np.float32)
        return Evaluations(leaves, logits, np.full(len(leaves), -0.2, np.float32))


def restless(game: Rules) -> Player:
    return Player(game, Restless(), SearchConfig(num_simulations=8), name="restless")


def restless_on(text: str, rules: str, *, komi: float = 0.0) -> Client:
    client = Client("go(size=7)", choose=restless, config=GtpConfig(simulations=8))
    client.ask_all(f"kata-set-rules {rules}; komi {komi}")
    set_position(client, text)
    return client


@pytest.mark.parametrize(
    ("rules", "komi", "passes"),
    [("chinese", 0, True), ("chinese", 7.5, False), ("tromp-taylor", 0, False), ("japanese", 7.5, True)],
)
def test_a_pass_is_answered_by_a_pass_that_wins_without_the_dead_stones(rules: str, komi: float, passes: bool) -> None:
    client = restless_on(WALLS, rules, komi=komi)
    client.ask("play w pass")
    assert (client.ask("reg_genmove b") == "pass") == passes
    assert (client.ask_lines("kata-genmove_analyze b")[-1] == "play pass") == passes


def test_nobody_passes_first_by_area_and_who_counts_territory_does_not_fill_his_own() -> None:
    for rules, passes in (("chinese", False), ("japanese", True)):
        assert (restless_on(WALLS, rules).ask("genmove b") == "pass") == passes
        assert restless_on(WALLS, rules).ask("genmove w") != "pass", "White would lose"
    unfinished = WALLS.replace("/1O1XO2/", "/1O2O2/")
    assert restless_on(unfinished, "japanese").ask("genmove b") != "pass", "a point between both is left"


def test_nobody_passes_first_on_an_open_board() -> None:
    """Though it would win by the count: by the komi, or with stones of its own alone."""
    client = Client("go(size=7, komi=6.5)", choose=restless, config=GtpConfig(simulations=8))
    client.ask("kata-set-rules japanese")
    assert client.ask("reg_genmove w") != "pass"
    client.ask("play w d4")
    assert client.ask("reg_genmove w") != "pass"
    client.ask_all("clear_board; komi -3.5")
    assert client.ask("reg_genmove b") != "pass"


def test_a_pass_that_is_not_considered_is_not_played() -> None:
    client = restless_on(WALLS, "chinese")
    client.ask("play w pass")
    assert client.ask_lines("kata-genmove_analyze b avoid b pass 1")[-1] != "play pass"


def test_cleaning_up_takes_dead_stones_though_a_pass_would_win() -> None:
    client = on(WALLS, "chinese", config=GtpConfig(simulations=1500))
    moves = []
    while "pass" not in moves and len(moves) < 12:
        client.ask("play w pass")
        moves.append(client.ask("kgs-genmove_cleanup b"))
    assert "B3" not in client.engine.session.board.stones() and len(moves) > 3


# ---- boards and files


def test_set_position_has_no_past() -> None:
    client = Client()
    client.ask_all("play b c3; play w d4; set_position B a1 white B2 b a2")
    assert client.stones() == "5/5/5/XO3/X4" and client.position()[5] == 0, "Black is to move"
    assert client.refuse("undo") == "cannot undo"
    assert client.refuse("set_position b") == "expected pairs of colour and vertex"
    for bad in ("b a1 w A1", "b pass", "b a1 b a1"):
        assert client.refuse(f"set_position {bad}").startswith("bad vertex list: ")
    assert client.refuse("set_position x a1") == "invalid color"
    assert client.refuse("set_position b j9") == "invalid vertex"
    assert "no liberty" in client.refuse("set_position b a1 w a2 w b1")
    client.ask("set_position")
    assert client.stones() == "5/5/5/5/5"


def test_a_board_that_is_not_square_is_refused() -> None:
    client = Client()
    assert client.refuse("boardsize 9 7") == "unacceptable size: 9 by 7, only square boards are played"
    assert client.refuse("boardsize 9:7") == client.refuse("rectangular_boardsize 9 7")
    assert client.refuse("boardsize 9 9 9") == client.refuse("boardsize 9 x") == "syntax error"
    for size, command in ((7, "boardsize 7 7"), (6, "rectangular_boardsize 6 6"), (5, "boardsize 5:5")):
        client.ask(command)
        assert client.position()[0] == size


def test_printsgf_is_read_back(tmp_path: Path) -> None:
    client = Client("go(size=9, komi=6.5)")
    client.ask_all("kata-set-rules japanese; set_free_handicap c3 g7; play w e5; play b pass; play b d4; play w pass")
    text = client.ask("printsgf")
    assert re.fullmatch(r"\(;FF\[4\]GM\[1\].*SZ\[9\]KM\[6\.5\]RU\[Japanese\]HA\[2\]AB\[\w\w\]\[\w\w\]PL\[W\].*\)", text)
    path = tmp_path / "a game.sgf"
    client.ask(f"printsgf {path}")
    assert path.read_text(encoding="utf-8") == f"{text}\n" and client.ask("printsgf -") == text
    record = next(read_raw_games(str(path), format="sgf"))
    assert not record.errors and len(record.moves) >= 4
    before = client.stones()
    client.ask_all(f"clear_board; loadsgf {path}")
    assert client.stones() == before and not client.warnings
    assert client.refuse(f"printsgf {tmp_path}").startswith(f"cannot write {tmp_path}: ")
    assert client.ask("get_komi") == "6.5"


# ---- parameters and the network alone


def test_parameters_are_told_and_act() -> None:
    client = Client(config=GtpConfig(simulations=20))
    names = client.ask("kata-list-params").split()
    before = {name: client.ask(f"kata-get-param {name}") for name in names}
    assert before["maxVisits"] == "20" and before["ponderingEnabled"] == "false" and before["maxTime"] == "1e+20"
    for name, value in before.items():
        client.ask(f"kata-set-param {name} {value}")
        assert client.ask(f"kata-get-param {name}") == value
    client.ask_all("kata-set-param maxVisits 7; kata-set-param resignThreshold -0.98; kata-set-param maxTime 5")
    config = client.engine.session.player.config
    assert (config.simulations, config.seconds, round(config.resign_below, 9)) == (7, 5.0, 0.01)
    assert "rootInfo visits 7 " in client.ask_lines("kata-genmove_analyze b rootInfo true")[-2]
    client.ask("kata-set-param allowResignation false")
    assert client.ask("kata-get-param allowResignation") == "false"
    client.ask_all("kata-set-param maxVisits 100; clear_board; play b c3; play w c2")
    most = []
    for value in (0, 90):
        client.ask(f"kata-set-param cpuctExploration {value}")
        line = client.ask_lines("kata-search_analyze b maxmoves 30")[-2]
        most.append(max(map(int, re.findall(r" visits (\d+) ", line))))
    assert most[0] > 2 * most[1], "without exploration one move has most visits"
    for bad in ("hop 3", "maxVisits x", "maxVisits 0.5", "cpuctExploration -1", "ponderingEnabled 1", "maxTime nan"):
        client.refuse(f"kata-set-param {bad}")
    assert client.refuse("kata-get-param hop").startswith("Invalid parameter: 'hop'; available: maxVisits ")
    assert client.refuse("kata-get-param") == client.refuse("kata-set-param maxVisits") == "syntax error"


class Topmost:
    """Wants the first legal action, and is sure that the player to move wins if he has more stones below."""

    def evaluate(self, leaves: Leaves) -> Evaluations:
        logits = -0.3 * leaves.legal_actions.astype(np.float32)
        planes = leaves.planes()
        below = np.linspace(-1, 1, planes.shape[2])[None, :, None]
        values = np.tanh(((planes[:, 0] - planes[:, 1]) * below).sum(axis=(1, 2))).astype(np.float32)
        return Evaluations(leaves, logits, values)


def numbers(text: str, name: str, count: int) -> list[float]:
    words = text.split()
    at = words.index(name)
    return [float(word) for word in words[at + 1 : at + 1 + count]]


def test_the_network_alone_in_all_symmetries() -> None:
    client = Client(choose=lambda game: Player(game, Topmost(), SearchConfig(), name="topmost"))
    client.ask_all("play b a1; play w e4")
    said = [client.ask(f"kata-raw-nn {symmetry}") for symmetry in range(8)]
    assert client.ask("kata-raw-nn all") == "\n".join(said)
    policies = [np.array(numbers(text, "policy", 25)).reshape(5, 5) for text in said]
    for symmetry, (text, policy) in enumerate(zip(said, policies, strict=True)):
        assert numbers(text, "symmetry", 1) == [symmetry]
        white, black = (numbers(text, name, 1)[0] for name in ("whiteWin", "whiteLoss"))
        assert white + black == pytest.approx(1, abs=1e-5)
        assert np.isnan(policy[4, 0]) and np.isnan(policy[1, 4]) and np.isnan(policy).sum() == 2
        assert np.nansum(policy) + numbers(text, "policyPass", 1)[0] == pytest.approx(1, abs=1e-4)
    best = [divmod(int(np.nanargmax(policy)), 5) for policy in policies]
    assert best[:4] == [(0, 0), (4, 1), (0, 4), (4, 4)], "as they are, rows mirrored, columns mirrored, both"
    assert numbers(said[0], "whiteWin", 1)[0] < 0.5 < numbers(said[1], "whiteWin", 1)[0]
    for bad in ("", "8", "-1", "x"):
        assert client.refuse(f"kata-raw-nn {bad}") == "expected a symmetry from 0 to 7, or all"


def test_a_network_with_other_planes_than_the_boards_game_is_asked_in_its_own() -> None:
    """The bundled network for 9x9 Go has planes of liberties, and the board has none."""
    asked = list[int]()

    class Counting(Topmost):
        def evaluate(self, leaves: Leaves) -> Evaluations:
            asked.append(leaves.planes().shape[1])
            return super().evaluate(leaves)

    def choose(game: Rules) -> Player:
        return Player(with_options(game, liberties=3), Counting(), SearchConfig(), name="counting")

    client = Client(choose=choose)
    assert "policy" in client.ask("kata-raw-nn 3")
    assert asked[-1] == len(make("go(size=5, liberties=3)").spec.planes) > len(make("go(size=5)").spec.planes)


def test_searching_plays_nothing_and_names_of_others_do_the_same() -> None:
    client = Client()
    before = client.position()
    lines = client.ask_lines("kata-search_analyze b")
    assert lines[-2].startswith("info move ") and lines[-1] == f"play {client.ask('kata-search b')}"
    assert client.position() == before
    assert client.ask_lines("genmove_analyze b")[-1].startswith("play ") and client.position() != before
    assert client.send("3 analyze 5").startswith("=3\n") and client.send("").endswith("\n")


def test_cputime_is_what_moves_took() -> None:
    client = Client()
    assert client.ask("cputime") == "0.000000"
    client.ask("genmove b")
    first = float(client.ask("cputime"))
    client.ask("showboard")
    assert float(client.ask("gomill-cpu_time")) == first > 0
    client.ask("kata-genmove_analyze w")
    assert float(client.ask("cputime")) > first
