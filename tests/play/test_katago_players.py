"""A file of KataGo wherever a run is named: each board, the score in GTP, the pages, matches and export."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import zerosum
from gtp_client import Client
from katago_files import NESTED, KatagoFile
from zerosum.base.errors import DataError, SettingsError
from zerosum.games import make
from zerosum.network.fit import fits
from zerosum.network.katago import SEARCH
from zerosum.play.choice import Players, open_player
from zerosum.play.own_contestants import parse_player
from zerosum.play.runs import network_at
from zerosum.protocols.gtp_params import GtpConfig
from zerosum.run.initial_network import load_initial_network
from zerosum.web.library import Library

FILE = KatagoFile(version=14, activation="ACTIVATION_MISH", kinds=(NESTED,))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return FILE.write(tmp_path_factory.mktemp("katago") / "network.bin.gz")


def test_the_board_of_a_player_is_the_one_asked_for(path):
    assert zerosum.load(path).game.spec.full_name == "go(planes=katago)"
    assert zerosum.load(path, game="go(size=7, komi=5.5)").game.spec.full_name == "go(size=7, komi=5.5, planes=katago)"
    player = zerosum.load(path, game="go9", num_simulations=4)
    assert player.analyse("E5 C3").num_simulations == 4
    assert (player.config.c_init, player.config.c_base) == (SEARCH["c_init"], SEARCH["c_base"])
    assert open_player(str(path), game="go(size=6)").game.spec.board_shape == (6, 6)
    assert parse_player(f"{path}@3", make("go(size=5)")).name == f"{path}@3"
    with pytest.raises(SettingsError, match="does not exist"):
        open_player("nowhere/network.bin.gz", game="go9")


def test_rules_may_change_and_boards_may_not(path):
    player = zerosum.load(path, game="go9")
    japanese = player.with_rules(make("go(size=9, rules=japanese, komi=0.5)"))
    assert japanese.game.spec.full_name == "go(size=9, scoring=territory, komi=0.5, superko=simple, planes=katago)"
    for other in ("go(size=13)", "go(size=21)", "chess"):
        assert not player.knows(make(other))
        with pytest.raises(DataError, match="does not fit"):
            player.with_rules(make(other))


def test_it_fits_every_board_up_to_19(path):
    info = network_at(path)
    found = {size: fits(info, make(f"go(size={size}, liberties=3)")) for size in (5, 9, 19, 21)}
    assert found == {5: True, 9: True, 19: True, 21: False}
    assert not fits(info, make("hex(size=19)"))


def test_one_word_means_a_player_for_each_board(path):
    said = list[str]()
    players = Players(f"{path}@2", say=said.append)
    sizes = [
        players.of(make(f"go(size={size}, komi={komi})")).game.spec.board_shape[0] for size in (5, 6) for komi in (1, 2)
    ]
    assert (sizes, len(said)) == ([5, 5, 6, 6], 2)
    with pytest.raises(DataError, match="boards up to 19"):
        players.of(make("go(size=20)"))


def client(path: Path, size: int = 7) -> Client:
    return Client(f"go(size={size})", choose=Players(str(path), say=lambda _: None).of, config=GtpConfig(simulations=4))


def test_gtp_changes_boards_and_rules_without_a_warning(path):
    gtp = client(path)
    for command in ("boardsize 9", "komi 5.5", "kata-set-rules japanese", "genmove b", "boardsize 6", "genmove b"):
        gtp.ask(command)
    assert gtp.warnings == []
    assert "boards up to 19" in gtp.send("boardsize 20") or "boards up to 19" in gtp.send("genmove b")


def test_raw_outputs_in_gtp_are_those_of_the_file(path):
    gtp, game = client(path), make("go(size=7, planes=katago)")
    gtp.ask("play b c3")
    lines = gtp.ask("kata-raw-nn 0").splitlines()
    state = zerosum.games.state_after(game, "C3")
    expected = FILE.evaluate(game.encode([state]).planes())
    told = dict(line.split() for line in lines if len(line.split()) == 2)
    win, loss, none = expected["shares"][0]
    for name, value in (("whiteWin", win), ("whiteLoss", loss), ("noResult", none)):
        assert float(told[name]) == pytest.approx(value, abs=2e-5)
    mean, deviation, lead = expected["score"][0] * np.array([25, 1, 30])
    assert float(told["whiteLead"]) == pytest.approx(lead, abs=2e-2)
    assert float(told["whiteScoreSelfplay"]) == pytest.approx(mean, abs=2e-2)
    square = mean**2 + (15 * np.log1p(np.exp(deviation))) ** 2
    assert float(told["whiteScoreSelfplaySq"]) == pytest.approx(square, rel=1e-3)
    owners = np.array([line.split() for line in lines[lines.index("whiteOwnership") + 1 :]], float)
    np.testing.assert_allclose(owners.reshape(-1), expected["owners"][0], atol=1e-4)
    policy = lines[lines.index("policy") + 1 :][:7]
    shown = np.array([line.split() for line in policy], float).reshape(-1)
    legal = ~np.isnan(shown)
    logits = expected["policy"][0][:-1][legal]
    ratios = np.exp(logits - logits.max())
    np.testing.assert_allclose(shown[legal] / shown[legal].max(), ratios, atol=1e-3)


@pytest.mark.parametrize("moves", [(), ("play b c3",)])
def test_the_lead_of_an_analysis_is_the_network_s(path, moves):
    gtp = client(path)
    for move in moves:
        gtp.ask(move)
    told = dict(line.split() for line in gtp.ask("kata-raw-nn 0").splitlines() if len(line.split()) == 2)
    *_, last = gtp.ask_lines("kata-genmove_analyze rootInfo true")[:-1]
    words = last.partition("rootInfo")[2].split()
    found = {name: float(value) for name, value in zip(words[::2], words[1::2], strict=True)}
    sign = -1 if gtp.engine.session.board.mover == 1 else 1  # the move has been played
    assert found["scoreLead"] == pytest.approx(sign * float(told["whiteLead"]), abs=2e-2)
    variance = float(told["whiteScoreSelfplaySq"]) - float(told["whiteScoreSelfplay"]) ** 2
    assert found["scoreStdev"] == pytest.approx(np.sqrt(variance), rel=1e-2)


def test_points_are_the_first_player_s_and_end_with_the_game(path):
    player = zerosum.load(path, game="go(size=5)")
    game = player.game
    state = game.initial_state()
    mover = FILE.evaluate(game.encode([state]).planes())["score"][0][2] * 30
    assert player.points(state).lead == pytest.approx(mover, rel=1e-4)
    state = zerosum.games.state_after(game, "C3")
    mover = FILE.evaluate(game.encode([state]).planes())["score"][0][2] * 30
    assert player.points(state).lead == pytest.approx(-mover, rel=1e-4)
    assert player.points(zerosum.games.state_after(game, "C3 pass pass")) is None
    assert zerosum.load("bundled/connect4").points(make("connect4").initial_state()) is None


def test_the_pages_offer_it_on_each_board(path):
    library = Library([path])
    for size in (5, 9, 19):
        assert library.opponents(make(f"go(size={size})"))[0]["name"] == str(path)
    assert str(path) not in [one["name"] for one in library.opponents(make("go(size=21)"))]
    assert library.analyst(f"{path}@2", make("go(size=5)")).game.spec.full_name == "go(size=5, planes=katago)"


def test_it_is_not_trained(path):
    with pytest.raises(SettingsError, match="a network of KataGo, which plays and is not trained"):
        load_initial_network(str(path))
