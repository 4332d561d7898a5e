"""Tuning of search settings: ranges, proposals, matches that continue, and a verdict that is not luck."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from commands_for_tests import Command
from networks_for_tests import save_network
from zerosum.arena import MatchResult, PlayedGame, tuning
from zerosum.arena.tuning import DEFAULT_RANGES, FILE, Trial, Tuned, TunedSetting, TuningSettings, tune, tuned_settings
from zerosum.base.errors import DataError, SettingsError
from zerosum.games import make
from zerosum.network.evaluators import UniformEvaluator
from zerosum.play.contestant import SearchContestant
from zerosum.search import SearchConfig

GAME = make("tictactoe")
PLAYER = SearchContestant("me", UniformEvaluator(), SearchConfig(num_simulations=8), network="step 1")
SETTINGS = TuningSettings(
    tuned_settings(["c_init=0.5:6", "num_simulations=2:30"], PLAYER.search),
    num_trials=3,
    games_a_trial=4,
    games_to_confirm=6,
    opening_plies=2,
    seed=1,
)

needs_optuna = pytest.mark.skipif(importlib.util.find_spec("optuna") is None, reason="Optuna is not installed")


def result_of(points: Sequence[float]) -> MatchResult:
    """A match with these points of its games."""
    games = tuple(
        PlayedGame(number, (number,), 0, number % 2, 2 * point - 1, "line") for number, point in enumerate(points)
    )
    return MatchResult("new", "own", games, (0, 0))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("c_int=1:2", "'c_int' is not a number of the search's settings: did you mean 'c_init'"),
        ("unvisited_value=0:1", "is not a number"),
        ("exact_bounds=0:1", "is not a number"),
        ("c_init", "expected NAME=LOWEST:HIGHEST"),
        ("c_init=1", "expected NAME=LOWEST:HIGHEST"),
        ("c_init=a:b", "expected NAME=LOWEST:HIGHEST"),
        ("c_init=nan:2", "the range is empty"),
        ("c_init=2:2", "the range is empty"),
        ("num_simulations=1.5:9", "takes whole numbers only"),
        ("c_init=0:1000", "must be between 0.0 and 100.0"),
    ],
)
def test_a_wrong_range_is_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(SettingsError) as error:
        TunedSetting.parse(text)
    assert sentence in str(error.value)


def test_ranges_have_defaults_that_the_search_uses() -> None:
    assert [each.name for each in tuned_settings((), SearchConfig())] == ["c_init", "c_factor", "unvisited_reduction"]
    assert len(tuned_settings((), SearchConfig(unvisited_value="zero"))) == len(DEFAULT_RANGES) - 1
    assert TunedSetting.parse("search.c_init=1:2") == TunedSetting("c_init", 1, 2, is_whole=False)
    with pytest.raises(SettingsError, match="c_init has two ranges"):
        tuned_settings(["c_init=1:2", "c_init=2:3"], SearchConfig())


@needs_optuna
def test_a_tuning_that_was_stopped_ends_as_one_that_was_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tune(GAME, PLAYER, SETTINGS, tmp_path / "whole")
    assert len(whole.trials) == 3 and {len(trial.result.games) for trial in whole.trials} == {4}
    assert all(0.5 <= trial.values["c_init"] <= 6 for trial in whole.trials)
    assert all(trial.values["num_simulations"] in range(2, 31) for trial in whole.trials)

    # Interrupted in the second match, at its second game.
    ended = []

    def interrupt(*games: object) -> None:
        ended.append(games)
        if len(ended) == 6:
            raise KeyboardInterrupt

    monkeypatch.setattr("zerosum.arena.session._Watch.tell", interrupt)
    stopped = tune(GAME, PLAYER, SETTINGS, tmp_path / "stopped")
    assert stopped.is_interrupted and len(stopped.trials) == 1
    monkeypatch.undo()
    with (tmp_path / "stopped" / FILE).open("a") as file:
        file.write('{"c_init": 99')  # a line that a kill cut off
    said: list[str] = []
    resumed = tune(GAME, PLAYER, SETTINGS, tmp_path / "stopped", say=said.append)
    assert any("tuning.jsonl" in sentence for sentence in said), "what is removed is said"
    assert [(trial.values, trial.result.points) for trial in resumed.trials] == [
        (trial.values, trial.result.points) for trial in whole.trials
    ]
    assert resumed.best is None or whole.best is None or resumed.best.values == whole.best.values


@needs_optuna
def test_another_tuning_in_the_folder_is_refused(tmp_path: Path) -> None:
    tune(GAME, PLAYER, SETTINGS, tmp_path)
    other = SearchContestant("me", UniformEvaluator(), SearchConfig(num_simulations=8), network="step 2")
    with pytest.raises(DataError, match="holds another tuning"):
        tune(GAME, other, SETTINGS, tmp_path)
    (tmp_path / FILE).write_text("not json\n")
    with pytest.raises(DataError, match="holds another tuning"):
        tune(GAME, PLAYER, SETTINGS, tmp_path)


@needs_optuna
def test_the_search_for_the_best_value_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Matches whose score falls with the distance from 2; random values in 0 to 10 would rarely be as near."""
    random = np.random.default_rng(0)

    def play(
        _self: object, values: dict[str, float], _name: str, num_games: int, _seed: int
    ) -> tuple[MatchResult, bool]:
        chance = 0.9 - 0.08 * abs(values["c_init"] - 2)
        return result_of((random.random(num_games) < chance).astype(float).tolist()), False

    monkeypatch.setattr(tuning._Tuning, "play", play)
    settings = TuningSettings(tuned_settings(["c_init=0:10"], PLAYER.search), 16, 100, 100, 0, seed=3)
    found = tune(GAME, PLAYER, settings, tmp_path)
    assert found.best is not None and abs(found.best.values["c_init"] - 2) < 1 and found.has_found
    late = [trial.values["c_init"] for trial in found.trials[-6:]]
    assert sorted(abs(value - 2) for value in late)[2] < 1.5, "half of the late trials are near the best"


def test_the_verdict_tells_luck_from_strength() -> None:
    trial = Trial(1, {"c_init": 2.5, "num_simulations": 30}, result_of([1, 1, 1, 0]))
    none = tuning.verdict(Tuned((trial,), None, None))
    assert none == "Found nothing: none of 1 trials scores more than half against the run's own."
    luck = Tuned((trial,), trial, result_of([1, 0] * 40 + [1, 1]))
    assert not luck.has_found and tuning.verdict(luck).startswith(
        "Found nothing: in its second match the best, c_init 2.5, num_simulations"
    )
    strong = Tuned((trial,), trial, result_of([1, 1, 1, 0] * 40))
    assert strong.has_found and "  c_init = 2.5\n  num_simulations = 30" in tuning.verdict(strong)
    told = json.loads(json.dumps(tuning.numbers(strong)))
    assert told["best"] == trial.values and told["confirmation"]["wins"] == 120 and told["has_found"]


@needs_optuna
def test_the_command(zero: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = save_network(tmp_path / "net", GAME)
    words = ["--trials", "1", "--games", "2", "--confirm", "2", "-n", "4"]
    refused = zero("tune", str(network), *words)
    assert refused.status and "is not a run directory: name a folder for the tuning with --out" in refused.err
    answer = zero("tune", str(network), *words, "--out", str(tmp_path / "tuning"), "--json")
    assert answer.status == 0 and len(json.loads(answer.out)["trials"]) == 1
    assert "trial 1 of 1: c_init" in answer.err and (tmp_path / "tuning" / "trial-001.jsonl").is_file()
    assert zero("tune", str(network), "--games", "3").status == 2
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    missing = zero("tune", str(network), *words, "--out", str(tmp_path / "other"))
    assert missing.status and "pip install zerosum[tune]" in missing.err
