"""Playing weaker than one can: which moves are drawn, what skills are worth, and how that is measured."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from line_clients import LineClient, answers, strings, value_of
from networks_for_tests import save_network
from zerosum._core import Root, Search
from zerosum.arena.ladder.placement import LadderSettings
from zerosum.arena.ladder.skills import level_table, measure_levels
from zerosum.base.errors import DataError, SettingsError
from zerosum.games import make, state_after
from zerosum.network.evaluators.evaluator import RolloutEvaluator, UniformEvaluator
from zerosum.play.engines.uci_client import EngineOption
from zerosum.play.entries import Entry, enter
from zerosum.play.player import network_name
from zerosum.play.runs import network_at
from zerosum.play.skill import LEVELS_FILE, MOST_SKILL, Level, Levels, drawn_action, levels_of, read_levels
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer_all

CONNECT4 = make("connect4")


def searched(moves: str, num_simulations: int, **config: object) -> Root:
    search: Search = new_search(CONNECT4, SearchConfig(root_noise_fraction=0.0, **config))  # type: ignore[arg-type]
    search.reset(0, state_after(CONNECT4, moves))
    search.begin(0, num_simulations)
    answer_all(search, RolloutEvaluator(seed=3), max_leaves=1)
    return search.root(0)


# Moves


@pytest.mark.parametrize("temperature", [0.25, 1.0, 4.0])
def test_moves_are_drawn_as_the_formula_has_it(temperature: float) -> None:
    root = searched("4 4", 40)
    weights = (root.visits + root.priors.astype(np.float64)) ** (1 / temperature)
    count = 20_000
    drawn = [drawn_action(root, (at + 0.5) / count, temperature=temperature) for at in range(count)]
    found = np.array([drawn.count(action) for action in root.actions.tolist()]) / count
    np.testing.assert_allclose(found, weights / weights.sum(), atol=2e-4)
    allowed = [0, 6]
    assert {drawn_action(root, at / 99, temperature=9.0, allowed=allowed) for at in range(99)} == set(allowed)


@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_after_one_simulation_the_policy_alone_is_drawn_from(temperature: float) -> None:
    root = searched("4 4", 1)
    priors = np.arange(1, 8) / 28
    policy_alone = cast(Root, SimpleNamespace(**{name: getattr(root, name) for name in ROOT}, priors=priors))
    count = 20_000
    drawn = [drawn_action(policy_alone, (at + 0.5) / count, temperature=temperature) for at in range(count)]
    found = np.array([drawn.count(action) for action in root.actions.tolist()]) / count
    weights = priors ** (1 / temperature)
    np.testing.assert_allclose(found, weights / weights.sum(), atol=2e-4)


ROOT = ("actions", "best_action", "lower", "upper", "visits", "num_simulations")


def test_a_temperature_of_0_plays_the_best() -> None:
    root = searched("4 4", 40)
    assert {drawn_action(root, at / 9, temperature=0.0) for at in range(9)} == {root.best_action}


def test_proven_wins_are_played_and_proven_losses_are_not() -> None:
    won = searched("1 2 1 2 1 2", 200)
    assert {drawn_action(won, at / 99, temperature=10.0) for at in range(99)} == {0}
    threatened = searched("1 2 1 2 1", 2000)
    losses = set(threatened.actions[threatened.upper == -1].tolist())
    drawn = {drawn_action(threatened, at / 99, temperature=10.0) for at in range(99)}
    assert losses and drawn == set(threatened.actions.tolist()) - losses


# Levels


LEVELS = Levels(
    "chess", "rollouts", (Level(0, 100.0, 50.0, 20), Level(10, 300.0, 60.0, 20), Level(19, 280.0, 60.0, 20))
)


def test_an_elo_lies_between_those_that_were_measured(tmp_path: Path) -> None:
    assert [LEVELS.skill_for(elo) for elo in (0, 100, 200, 250)] == [0, 0, 5, 7.5]
    assert LEVELS.skill_for(300) >= 10, "more skill is never taken for less"
    assert (LEVELS.lowest, LEVELS.highest) == (100, 300)
    LEVELS.write(tmp_path / "levels.json")
    assert read_levels(tmp_path / "levels.json") == LEVELS
    for damage in (
        "",
        "{}",
        '{"game": "chess", "player": "", "levels": []}',
        '{"game": "chess", "player": "", "levels": [1, 2]}',
    ):
        (tmp_path / "levels.json").write_text(damage, encoding="utf-8")
        with pytest.raises(DataError, match="is damaged .* measure again with `zerosum levels`"):
            read_levels(tmp_path / "levels.json")
    assert read_levels(tmp_path / "none.json") is None


def test_levels_are_of_one_game_and_one_network(tmp_path: Path) -> None:
    known = levels_of(make("chess"), None)
    assert known is not None and known.player == "rollouts" and known.lowest < known.highest
    assert levels_of(make("chess(max_plies=65535)"), None) == known
    assert levels_of(make("shogi(entering_king=csa24-wins)"), None) == levels_of(make("shogi"), None) is not None
    assert levels_of(make("shogi(policy=flat)"), None) is None
    assert levels_of(make("connect4(max_plies=30)"), None) is None, "nobody has measured them"
    run = tmp_path / "run"
    checkpoint = save_network(run / "checkpoints", make("tictactoe"))
    for player, is_known in ((network_name(network_at(run)), True), ("step 8", False)):  # it has learned on
        Levels("tictactoe", player, LEVELS.levels).write(run / LEVELS_FILE)
        for path in (run, run / "checkpoints", checkpoint):
            assert (levels_of(make("tictactoe"), path) is not None) == is_known


def test_levels_are_measured_on_the_ladder(tmp_path: Path) -> None:
    said: list[str] = []
    results = tmp_path / "results.jsonl"
    settings = LadderSettings(num_games=8, opening_plies=1)
    opponents = ["rollouts@10"]
    found = measure_levels(
        "tictactoe", "rollouts", settings, skills=(0, 15), opponents=opponents, results=results, say=said.append
    )
    assert [(level.skill, level.num_games) for level in found.levels] == [(0, 8), (15, 8)]
    assert (found.game, found.player) == ("tictactoe", "rollouts") and len(level_table(found).splitlines()) == 4
    assert {json.loads(line)["placed"] for line in results.read_text(encoding="utf-8").splitlines()} == {
        "rollouts, skill 0",
        "rollouts, skill 15",
    }
    played = len(said)
    again = measure_levels(
        "tictactoe", "rollouts", settings, skills=(0, 15), opponents=opponents, results=results, say=said.append
    )
    assert again == found and len(said) - played == 2, "nothing is played twice"
    with pytest.raises(SettingsError, match="a level needs games, and --games is 0"):
        measure_levels("tictactoe", "rollouts", LadderSettings(num_games=0), opponents=opponents)


def test_a_player_with_a_skill() -> None:
    limited = enter(Entry.parse("rollouts", ["skill=10"]), CONNECT4)
    assert (limited.name, limited.search.num_simulations, limited.temperature) == ("rollouts, skill 10", 40, 0.5)
    assert limited.search.exact_bounds and limited.search.leaves_in_flight == 1
    assert enter(Entry.parse("rollouts", [f"skill={MOST_SKILL}"]), CONNECT4).temperature == 0
    for word, settings, message in (
        ("rollouts", ["skill=21"], "skill is 21, expected a number from 0 to 20"),
        ("rollouts", ["skill=much"], "skill is 'much', expected a number"),
        ("rollouts@20", ["skill=2"], "leave out other limits"),
        ("random", ["skill=2"], "random is not a search of ours"),
        ("rollouts", ["skill=2", "sample=4"], "set one of them only"),
        ("uci:engine", ["skill=2", "nodes=1"], "for our own searches"),
    ):
        with pytest.raises(SettingsError, match=message):
            enter(Entry.parse(word, settings), CONNECT4)


# Engines


def client(**more: object) -> LineClient:
    return LineClient("uci", "chess", **more)  # type: ignore[arg-type]


def nodes(said: list[str]) -> int:
    return int(value_of([line for line in said if line.startswith("info depth")][-1], "nodes"))


def test_a_skill_limits_games_and_no_analysis() -> None:
    engine = client()
    engine.tell("setoption name Skill Level value 5", "setoption name Threads value 4")
    assert nodes(engine.ask("ucinewgame", "go wtime 60000 btime 60000")) == 13
    assert engine.engine._config.leaves_in_flight == 1
    assert nodes(engine.ask("ucinewgame", "go nodes 7")) == 7
    engine.ask("ucinewgame", "setoption name Simulations value 5000", "go infinite")
    assert nodes(engine.said) > 13 and engine.engine._config.leaves_in_flight > 1
    engine.tell("stop", "setoption name Skill Level value 20")
    assert nodes(engine.ask("ucinewgame", "go nodes 60")) == 60


def test_an_elo_is_a_skill_where_it_was_measured() -> None:
    engine = client()
    listed = {
        option.name: option
        for line in engine.tell("uci")
        if line.startswith("option ")
        for option in [EngineOption.parse(line)]
    }
    low, high = int(listed["UCI_Elo"].low), int(listed["UCI_Elo"].high)
    assert listed["UCI_Elo"].default == str(high) and "UCI_LimitStrength" in listed
    setup = engine.engine.setup
    engine.tell(f"setoption name UCI_Elo value {low}")
    assert setup.skill == MOST_SKILL, "until the strength is to be limited"
    engine.tell("setoption name UCI_LimitStrength value true")
    assert setup.skill == 0 and nodes(engine.ask("go wtime 60000")) == 4
    engine.tell(f"setoption name UCI_Elo value {(low + high) // 2}")
    assert 0 < setup.skill < 19
    assert "expected an integer" in engine.tell(f"setoption name UCI_Elo value {high + 1}")[0]
    assert "UCI_Elo" not in LineClient("uci", "connect4").engine.setup.options


def test_the_levels_of_a_run_are_those_of_its_newest_network(tmp_path: Path) -> None:
    from zerosum.network.checkpoint import read_info

    run = tmp_path / "run"
    path = save_network(run / "checkpoints", make("tictactoe"))
    assert "UCI_Elo" not in LineClient("uci", "tictactoe", weights=run).engine.setup.options
    Levels("tictactoe", network_name(read_info(path)), LEVELS.levels).write(run / LEVELS_FILE)
    engine = LineClient("uci", "tictactoe", weights=run)
    engine.tell("setoption name UCI_LimitStrength value true", "setoption name UCI_Elo value 200")
    assert engine.engine.setup.skill == 5
    assert nodes(engine.ask("go wtime 60000")) <= 13
    said = strings(engine.ask("setoption name WeightsFile value <newest>", "ucinewgame", "go nodes 5"))
    assert any("UCI_Elo has no effect" in line for line in said), "rollouts of this game were not measured"


def test_temperature_draws_moves_by_a_seed() -> None:
    def moves(seed: int) -> list[str]:
        engine = client()
        engine.tell("setoption name Temperature value 2.5", f"setoption name Seed value {seed}", "isready")
        return [engine.answer("ucinewgame", "go nodes 60") for _ in range(12)]

    first, again, other = moves(5), moves(5), moves(6)
    assert first == again != other and len(set(first)) > 4
    engine = client()
    assert len({engine.answer("ucinewgame", "go nodes 60") for _ in range(4)}) == 1, "the best, unless it is asked for"
    engine.tell("setoption name Temperature value 9")
    assert engine.answer("go nodes 60 searchmoves a2a3") == "bestmove a2a3"
    for wrong in ("-1", "11", "warm", "nan", "1e1", ""):
        assert "expected a number from 0 to 10" in engine.tell(f"setoption name Temperature value {wrong}")[0]


def test_what_is_pondered_on_follows_the_drawn_move() -> None:
    engine = client(evaluator=UniformEvaluator())
    engine.tell("setoption name Temperature value 3", "setoption name Seed value 2", "setoption name Ponder value true")
    game = engine.engine.setup.game
    followed = 0
    for _ in range(6):
        _, move, *ponder = engine.answer("ucinewgame", "go nodes 300").split()
        state = game.play(game.initial_state(), game.parse_action(game.initial_state(), move) or 0)
        if ponder:
            assert game.parse_action(state, ponder[1]) is not None
            followed += 1
    assert followed and len(answers(engine.said)) == 6
