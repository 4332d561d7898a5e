"""Bundled networks: they are whole, small and described, and play where no run has learned the game."""

from __future__ import annotations

import importlib.util
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import package_network
from commands_for_tests import Command
from networks_for_tests import save_network as save_checkpoint
from runs_for_tests import train_a_little
from zerosum.base.errors import DataError
from zerosum.games import make
from zerosum.network import Checkpoint, load_checkpoint
from zerosum.network.checkpoint import checkpoint_path, save_network
from zerosum.play import bundled
from zerosum.play.bundled import NetworkCard
from zerosum.play.choice import choose_player, describe_network, open_player
from zerosum.play.own_contestants import existing_run
from zerosum.play.player import load_player
from zerosum.play.runs import PlayerWord
from zerosum.play.skill import LEVELS_FILE, levels_of
from zerosum.run.exam import has_exam

PACKAGED = bundled.DIRECTORY
NAMES = sorted(path.parent.name for path in PACKAGED.glob("*/card.toml"))


@pytest.fixture
def packaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "DIRECTORY", PACKAGED)


def test_weights_in_float16_are_read_as_float32(tmp_path: Path) -> None:
    game = make("tictactoe")
    whole = load_checkpoint(save_checkpoint(tmp_path / "whole", game))
    path = save_network(tmp_path / "halves", whole)
    assert sorted(file.name for file in path.parent.iterdir()) == ["step-00000007.json", "step-00000007.safetensors"]
    halves = load_checkpoint(path)
    assert halves.info == whole.info
    for name, weight in whole.weights.items():
        assert halves.weights[name].dtype == np.float32
        np.testing.assert_allclose(halves.weights[name], weight, rtol=1e-3, atol=1e-7)
    large = {name: np.full_like(weight, 1e6) for name, weight in whole.weights.items()}
    with pytest.raises(DataError, match="do not fit float16"):
        save_network(tmp_path / "large", Checkpoint(whole.info, large))
    with pytest.raises(FileExistsError):
        save_network(tmp_path / "halves", whole)


@pytest.mark.usefixtures("packaged")
@pytest.mark.parametrize("name", NAMES)
def test_a_network_of_the_package_is_whole_and_small_and_has_a_card(name: str) -> None:
    directory = PACKAGED / name
    player = load_player(directory)
    others = [other for other in NAMES if other.removesuffix("-alphabeta") == name.removesuffix("-alphabeta")]
    strongest = max(others, key=lambda other: bundled.read_card(PACKAGED / other).elo)
    assert player.step > 0 and bundled.bundled_network(player.game) == PACKAGED / strongest
    assert checkpoint_path(directory / "checkpoints", player.step).with_suffix(".safetensors").stat().st_size <= 4e6
    card = bundled.read_card(directory)
    for field in fields(card):
        optional = field.name in ("earlier", "evaluations_per_second", "exam")
        assert optional or getattr(card, field.name), f"the card says nothing of {field.name}"
    assert bool(card.exam) == has_exam(player.game), "networks of games with an exam have sat it"
    assert ("--from-records" in card.command) != bool(card.evaluations_per_second), "it has no games or self-play"
    assert bool(card.earlier) == any(word in card.command for word in ("--from-records", "--from-network"))
    files = {file.name for file in directory.iterdir()}
    assert files - {LEVELS_FILE} == {"card.toml", "checkpoints", "config.toml"}
    if LEVELS_FILE in files:
        levels = levels_of(player.game, directory)
        assert levels is not None, "the levels are of another network: measure them again"


@pytest.mark.parametrize(
    ("rating", "elo"), [("Elo +2222 ± 232", 2222), ("Elo −30 ± 9", -30), ("90 of 100 points", 0), ("", 0)]
)
def test_the_strongest_is_found_by_its_card(rating: str, elo: int) -> None:
    assert NetworkCard("", "", "", (), 0, rating, "").elo == elo


@pytest.mark.usefixtures("packaged")
@pytest.mark.parametrize("name", ["chess", "shogi"])
def test_chess_and_shogi_are_played_by_what_learned_from_the_rules_alone(name: str, tmp_path: Path) -> None:
    said: list[str] = []
    assert choose_player(make(name), runs=tmp_path, say=said.append).is_alpha_beta
    assert f"the network {name}-alphabeta that comes with" in said[0]
    assert not bundled.read_card(PACKAGED / f"{name}-alphabeta").earlier, "no games of others"


def test_a_line_that_ends_the_game_early_is_an_answer() -> None:
    """The table had the mate at nine plies, and the line's parts, searched one by one, were mated in five."""
    player = load_player(PACKAGED / "chess-alphabeta")
    state = player.game.parse_position("rnb1kbnr/1pp2ppp/p3p3/8/2N5/1P5B/PBPp1P1P/3qNK1R b kq - 1 11")
    best = player.analyse(state, num_simulations=2000).lines[0]
    assert best.texts() == ("d2e1q", "f1g2", "e1e4", "g2g3", "d1f3") and best.proven


@pytest.mark.usefixtures("packaged")
def test_the_page_has_the_cards() -> None:
    before, after = package_network.CARDS
    cards = package_network.PAGE.read_text(encoding="utf-8").partition(before)[2].partition(after)[0]
    assert cards == package_network.cards_text(), "write it anew: python tools/package_network.py"


@pytest.mark.usefixtures("packaged")
def test_it_plays_where_no_run_has_learned_the_game(tmp_path: Path) -> None:
    game = make("connect4")
    said: list[str] = []
    for player in (choose_player(game, runs=tmp_path, say=said.append), open_player("connect4", runs=tmp_path)):
        assert player.step is not None and player.step > 0 and player.name == "zerosum's network"
    assert said[0].startswith("Playing with the network connect4 that comes with zerosum (")
    assert existing_run(PlayerWord("connect4", runs=tmp_path)) == PACKAGED / "connect4", "matches take it, too"
    info = describe_network(game, runs=tmp_path)
    assert info is not None and info.step == player.step
    save_checkpoint(tmp_path / "mine" / "checkpoints", game)
    assert choose_player(game, runs=tmp_path).step == 7, "a run of one's own comes first"
    assert choose_player(make("nim"), runs=tmp_path / "none").step is None


def test_a_run_becomes_a_network_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "DIRECTORY", tmp_path / "networks")
    monkeypatch.setattr(package_network, "DIRECTORY", tmp_path / "networks")
    monkeypatch.setattr(package_network, "PAGE", tmp_path / "networks.md")
    page = "before\n", *package_network.CARDS, "after\n"
    package_network.PAGE.write_text("".join(page))
    run, words = tmp_path / "run", ["--date", "2026-01-01", "--played", "4 simulations a move"]
    with pytest.raises(SystemExit, match="does not exist"):
        package_network.main([str(run), *words])
    train_a_little("tictactoe", run)
    exam = tmp_path / "exam.jsonl"
    exam.write_text('{"part": "mate in 2", "right": 3, "asked": 4}\n{"part": "seki", "right": 1, "asked": 1}\n')
    for rating in ("Elo 1", "Elo 2"):  # the second one replaces the first
        package_network.main([str(run), *words, "--rating", rating, "--exam", str(exam)])
    assert "| tictactoe | mate in 2 3 of 4, seki 1 of 1 |" in package_network.cards_text()
    assert package_network.PAGE.read_text() == "".join((*page[:2], package_network.cards_text(), *page[2:]))
    assert "| Elo 2 | 4 simulations a move |" in package_network.cards_text()
    [directory] = bundled.bundled_networks()
    assert directory.name == "tictactoe" and bundled.read_card(directory).rating == "Elo 2"
    said: list[str] = []
    assert choose_player(make("tictactoe"), runs=tmp_path / "none", say=said.append).step == 2
    assert "Elo 2 above random play at 4 simulations a move" in said[0]
    with pytest.raises(SystemExit, match="learned from selfplay: do without --records"):
        package_network.main([str(run), *words, "--records", "zerosum import games.pgn"])
    exam.write_text("no JSON")
    with pytest.raises(SystemExit, match="is not the output of `zerosum exam --json`"):
        package_network.main([str(run), *words, "--exam", str(exam)])
    monkeypatch.setattr(package_network, "MOST_BYTES", 1000)
    with pytest.raises(SystemExit, match="take a smaller one"):
        package_network.main([str(run), *words])


@pytest.mark.usefixtures("packaged")
def test_a_game_without_a_run_is_evaluated_described_and_exported_by_the_network_of_the_package(
    zero: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = zero("evaluate", "connect4", "--games", "2", "--positions", "0", "--simulations", "4")
    assert answer.status == 0 and f"{PACKAGED / 'connect4'}: 4 simulations a move" in answer.out
    if importlib.util.find_spec("onnx"):
        assert zero("export", "connect4", "net.onnx").status == 0 and Path("net.onnx").stat().st_size > 100_000
    described = zero("info", "connect4").out
    card = bundled.read_card(PACKAGED / "connect4")
    assert card.command in described and f"{card.rating} above random play at {card.played}" in described
    assert "simulations a move\n" in zero("info", "go9").out, "points against an opponent are on no scale"
    assert load_player("connect4", num_simulations=4).step
    assert f"--run {PACKAGED}" not in described, "a training belongs into a run of one's own"
    served: list[object] = []
    monkeypatch.setattr("zerosum.web.server.serve", lambda house, **_: served.append(house))
    assert zero("web", "connect4").status == 0 and len(served) == 1
    refused = zero("export", "hex(size=5)", "net.onnx")
    assert refused.status and "No run in" in refused.err and "train one" in refused.err
