"""Runs that learn the rules: repeated bit for bit, played, matched, and refused where they have no meaning."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands_for_tests import Command
from games_for_tests import DoubleMove
from web_for_tests import Page, with_page
from zerosum.arena import play_match
from zerosum.base.errors import DataError, SettingsError
from zerosum.games import adopt, make
from zerosum.network import Checkpoint, load_checkpoint
from zerosum.network.checkpoint import checkpoint_path, save_checkpoint
from zerosum.play.contestant import RANDOM
from zerosum.play.own_contestants import parse_player
from zerosum.play.player import load_player
from zerosum.replay.game_store import GameStore
from zerosum.report.learned_rules import KINDS, knowledge, knowledge_picture
from zerosum.report.page import write_page
from zerosum.report.run_data import read_run
from zerosum.run.config import load_config, new_config
from zerosum.run.played_games import newest_games
from zerosum.run.report import evaluate
from zerosum.run.training import train
from zerosum.web.library import Library
from zerosum.web.limits import Limits
from zerosum.web.server import new_house

SETTINGS = (
    "training.steps=6",
    "training.deterministic=true",
    "training.min_positions=40",
    "training.steps_per_phase=3",
    "training.num_checkpoints=2",
    "network.num_filters=8",
    "network.num_blocks=1",
    "network.dynamics_blocks=1",
    "search.num_simulations=6",
    "selfplay.games_per_worker=6",
    "learner.batch_size=16",
    "strength.rollout_simulations=2",
)


def learned(run: Path) -> Path:
    train("tictactoe", run, preset="muzero", overrides=SETTINGS, report=lambda _: None)
    return run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return learned(tmp_path_factory.mktemp("muzero") / "run")


def test_a_run_repeats_bit_for_bit(run: Path, tmp_path: Path) -> None:
    again = learned(tmp_path / "again")
    one, other = load_checkpoint(run), load_checkpoint(again)
    assert one.info.step == 6
    assert one.weights.keys() == other.weights.keys()
    for name, weight in one.weights.items():
        assert np.array_equal(weight, other.weights[name]), name
    assert any(name.startswith("dynamics.") for name in one.weights)


def test_it_searches_by_what_it_has_learned(run: Path) -> None:
    player = load_player(run)
    assert player.config.rules == "learned"
    analysis = player.analyse("", num_simulations=40)
    assert analysis.num_simulations == 40
    assert analysis.best_move
    # A position with one legal move, beside which the tree knows eight others.
    assert player.analyse("a3 b3 c3 a2 c2 b2 b1 c1", num_simulations=30).best_move == "a1"


def test_a_checkpoint_outside_of_a_run_does_too(run: Path, tmp_path: Path) -> None:
    checkpoint = load_checkpoint(run)
    save_checkpoint(tmp_path, checkpoint, learner_state={}, learner_info={})
    player = load_player(checkpoint_path(tmp_path, checkpoint.info.step))
    assert player.config.rules == "learned"
    assert player.analyse("", num_simulations=8).num_simulations == 8


def test_it_resumes(run: Path, tmp_path: Path) -> None:
    again = learned(tmp_path / "longer")
    train("tictactoe", again, overrides=["training.steps=9"], report=lambda _: None)
    assert load_checkpoint(again).info.step == 9
    assert load_config(again / "config.toml").learner.later_weight == 3


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["search.rules=known"], "need each other: --preset muzero sets both"),
        (["network.kind=residual"], "need each other: --preset muzero sets both"),
        (["search.exact_bounds=true"], "search.exact_bounds is True: no result is proven"),
        (["search.cache_positions=100"], "search.cache_positions is 100: a cache knows positions"),
        (["learner.mask_illegal=true"], "learner.mask_illegal is True: the policy must learn"),
        (["learner.num_devices=2"], "learner.num_devices is 2: its learner has one device"),
        (["training.leaf_symmetries=true"], "training.leaf_symmetries is True: no symmetry turns"),
        (["learner.importance_limit=1"], "learner.importance_limit is 1.0: losses of unrolled steps"),
        (["training.leaf_values=mean"], "training.leaf_values is 'mean': no game is played from a hidden state"),
        (["training.source=records"], "training.source is 'records': it learns from its own games"),
        (["learner.unroll_steps=65"], "learner.unroll_steps is 65"),
        (["learner.unroll_steps=10"], "a game of tictactoe has at most 9 plies: expected 1 to 9"),
        (["selfplay.alphabeta_depth=2"], "selfplay.alphabeta_depth is 2: an alpha-beta search needs the rules"),
    ],
)
def test_what_such_a_run_cannot_have_is_refused(overrides: list[str], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        new_config(make("tictactoe"), "tictactoe", preset="muzero", overrides=overrides)


def test_a_game_in_which_a_side_moves_twice_is_refused() -> None:
    game: Any = adopt(DoubleMove())
    with pytest.raises(SettingsError, match="a side may move twice in a row"):
        new_config(game, "double", preset="muzero")
    assert new_config(game, "double").network.kind == "residual"


def test_it_plays_matches(run: Path) -> None:
    game = make("tictactoe")
    player = parse_player(f"{run}@10", game)
    result = play_match(game, player, RANDOM, num_games=6, opening_plies=1, seed=1)
    assert [played.index for played in result.games] == list(range(6))


def test_what_it_knows_is_evaluated(run: Path) -> None:
    said, figures = list[str](), list[str]()
    evaluate(run, num_games=2, num_positions=0, write=said.append, write_json=figures.append)
    words = "\n".join(said)
    assert [line.split()[1] for line in said if line.startswith(("  played", "  policy", "  random"))].count("0") == 3
    assert "6 simulations a move" in words
    assert re.search(r"\d% of 384 simulations pass through an illegal move, .* 1\.17 network calls", words)
    assert "searched by the rules that it has learned and by those of the game" in words
    read = [json.loads(line, parse_constant=pytest.fail) for line in figures]
    assert {"model", "model_search"} <= {figure["metric"] for figure in read}
    assert any(figure["metric"] == "model" and figure["end_error"] is None for figure in read)


def test_its_newest_games_are_those_of_its_store(run: Path, tmp_path: Path) -> None:
    store = GameStore(run / "games", report=pytest.fail)
    recorded = [record.header.game_id for record in store.recent(num_games=store.num_games)]
    store.close()
    newest = [record.header.game_id for record in newest_games(run)]
    assert newest and newest == recorded[-len(newest) :]
    assert newest_games(tmp_path) == newest_games(run / "config.toml") == []


def test_the_report_shows_what_each_checkpoint_knows(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.html"
    write_page([run], page, most_simulations=100, say=pytest.fail)
    content = page.read_text(encoding="utf-8")
    assert "The learned rules" in content and "The rules as run knows them" in content
    assert "Step 6. Searches by the learned rules from 64 positions" in content
    for words in KINDS.values():
        assert f"<td>{words}</td>" in content
    found = knowledge(read_run(run), make("tictactoe"), newest_games(run))
    assert [one.step for one in found] == [0, 3, 6]
    assert knowledge_picture(read_run(run), []) is None


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("network.kind=residual", "a network of kind 'muzero' and learned rules need each other"),
        ("search.rules=known", "a network of kind 'muzero' and learned rules need each other"),
        ("network.num_filters=16", "network.num_filters was 8 and cannot become 16.*can only gain blocks"),
        ("search.exact_bounds=true", "no result is proven without the rules"),
        ("selfplay.alphabeta_depth=2", "an alpha-beta search needs the rules"),
        ("learner.unroll_steps=10", "a game of tictactoe has at most 9 plies"),
        ("training.precision=int8", "training.precision is 'int8': it runs in 'bf16' or 'f32'"),
    ],
)
def test_what_such_a_run_cannot_become_is_refused(run: Path, override: str, words: str, tmp_path: Path) -> None:
    """Before anything is written."""
    again = shutil.copytree(run, tmp_path / "run")
    before = (again / "config.toml").read_bytes()
    with pytest.raises(SettingsError, match=words):
        train("tictactoe", again, overrides=["training.steps=9", override], report=lambda _: None)
    assert (again / "config.toml").read_bytes() == before


def test_a_precision_that_its_backend_lacks_makes_no_directory(tmp_path: Path) -> None:
    overrides = ["training.steps=3", "training.backend=torch", "training.precision=bf16"]
    with pytest.raises(SettingsError, match="precision of the torch backend for a MuZero network is 'bf16'"):
        train("tictactoe", tmp_path / "run", preset="muzero", overrides=overrides, report=lambda _: None)
    assert not (tmp_path / "run").exists()


def test_a_checkpoint_without_its_dynamics_is_refused(run: Path) -> None:
    whole = load_checkpoint(run)
    weights = {name: weight for name, weight in whole.weights.items() if not name.startswith("dynamics.")}
    with pytest.raises(DataError, match=r"has no weights named dynamics\.blocks\.0\.first\.bias"):
        Checkpoint(whole.info, weights)


def test_commands_take_it_as_any_other(run: Path, tmp_path: Path, zero: Command) -> None:
    words = ("ladder", "tictactoe", run, "--player", "nodes=4", "--opening-plies", "1", "--results", tmp_path / "x")
    answer = zero(*words, "--games", "2")
    assert answer.status == 0 and "2 games; random play is 0" in answer.out
    answer = zero("info", run)
    assert answer.status == 0 and "MuZero" in answer.out
    answer = zero("export", run, tmp_path / "net.onnx")
    assert answer.status == 0 and "net.initial.onnx and " in answer.out
    assert (tmp_path / "net.recurrent.onnx").stat().st_size > 1000


def test_it_plays_in_the_browser(run: Path) -> None:
    opened = new_house(Library([run], (), Limits()))

    async def work(page: Page) -> None:
        table = await page.ask("play.open", game="tictactoe", side="1", vs="run@20")
        assert "error" not in table, table
        assert len((await page.event("table"))["history"]) == 1
        hint = await page.ask("play.hint")
        assert "error" not in hint, hint

    try:
        with_page(opened, work)
    finally:
        opened.searches.close()
