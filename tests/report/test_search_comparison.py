"""Tree search against alpha-beta with the same evaluator: matches, errors that both see, results that go on."""

from __future__ import annotations

import json

import numpy as np
import pytest

from updatable_for_tests import counting_updatable, saved
from zerosum._core import DeepeningSearch
from zerosum.base.errors import DataError, SettingsError
from zerosum.games import make
from zerosum.network.evaluators import UniformEvaluator
from zerosum.play.player import Player, load_player
from zerosum.report.search_comparison import Condition, NoisyEvaluator, compare_searches, conditions
from zerosum.search import SearchConfig


@pytest.fixture(scope="module")
def player(tmp_path_factory) -> Player:
    game = make("minichess(history=1)")
    values = {"pawns": 0.1, "knights": 0.3, "bishops": 0.3, "rooks": 0.5, "queens": 0.9}
    return load_player(saved(counting_updatable(game, values), tmp_path_factory.mktemp("counting")))


def compare(player: Player, **changes) -> tuple[list, list[str]]:
    lines: list[str] = []
    settings = {"num_games": 2, "evaluations": 20, "seconds": 0.01, "factors": (1, 2), "noises": (0.2,)}
    found = compare_searches(player, **{**settings, **changes}, write=lines.append)
    return found, lines


def test_all_questions_are_asked_and_a_stopped_comparison_goes_on(player: Player, tmp_path) -> None:
    out = tmp_path / "searches.json"
    found, lines = compare(player, out=out)
    assert [row.condition for row in found] == list(conditions((1, 2), (0.2,)))
    assert {row.condition.question for row in found} == {"evaluations", "time", "tree", "alpha-beta", "noise"}
    assert lines[0].startswith("tree against alpha-beta, 20 evaluations a move: ") and len(lines) == len(found)
    values = json.loads(out.read_text())
    assert len(values["matches"]) == len(found)
    # Without its last match the file is completed; the others are not played again.
    values["matches"] = values["matches"][:-1]
    values["matches"][0]["score"] = 0.123
    out.write_text(json.dumps(values))
    again, _ = compare(player, out=out)
    assert again[0].score == 0.123 and len(json.loads(out.read_text())["matches"]) == len(found)
    with pytest.raises(DataError, match=r"has another comparison \(evaluations differ\)"):
        compare(player, out=out, evaluations=30)
    out.write_text("[]")
    with pytest.raises(DataError, match="is not a comparison of searches"):
        compare(player, out=out)


def test_both_searches_see_the_same_errors() -> None:
    game = make("connect4")
    state = game.initial_state()
    after = [game.play(state, action) for action in game.legal_actions(state)]
    noisy = NoisyEvaluator(UniformEvaluator(), 0.3, seed=5)
    values = noisy.evaluate(game.encode(after)).values
    assert np.unique(values).size == 7 and 0.05 < np.abs(values).mean() < 0.6
    np.testing.assert_array_equal(values, noisy.evaluate(game.encode(after)).values)
    search = DeepeningSearch(game, lambda _leaves: 0.0, parts=[], disturbance=0.3, seed=5)
    found = search.think(state, depth=1)
    assert found is not None
    # At depth 1 the best move is the one after which the opponent's value is lowest.
    assert found.line[0] == int(np.argmin(values))
    assert np.tanh(found.value / 800) == pytest.approx(-values.min(), abs=0.002)


def test_a_residual_network_serves_both(tmp_path) -> None:
    player = Player(make("tictactoe"), UniformEvaluator(), SearchConfig(num_simulations=10), name="uniform")
    found, _ = compare(player, factors=(1,), noises=(0.1,), out=tmp_path / "out.json")
    assert [row.condition.question for row in found] == ["evaluations", "time", "noise"]


def test_wrong_numbers_are_refused(player: Player) -> None:
    with pytest.raises(SettingsError, match=r"an error of -0\.1, expected 0 to 1"):
        compare(player, noises=(-0.1,))
    with pytest.raises(SettingsError, match="a factor of 0, expected at least 1"):
        compare(player, factors=(0,))
    assert "an error" not in Condition("evaluations", 1).words(10, 0.1)
