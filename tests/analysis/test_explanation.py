"""The explanation of a search is of the textbook's search, and says what each simulation did."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from commands_for_tests import Command
from searches_for_tests import GAMES, FakeNetwork, random_position
from zerosum.analysis.explanation import Simulation, explain
from zerosum.games import make
from zerosum.search.textbook import search


@pytest.mark.parametrize("game_name", GAMES)
def test_it_explains_the_textbooks_search(game_name: str) -> None:
    game, network = GAMES[game_name](), FakeNetwork(1)
    state = random_position(game, random.Random(2))
    told = list(explain(game, network, state, num_simulations=60, num_choices=99))
    root = search(game, network, state, num_simulations=60)
    first_moves = [simulation.path[0].chosen for simulation in told]
    for action in root.priors:
        expected = root.children[action].visits if action in root.children else 0
        assert first_moves.count(game.action_text(state, action)) == expected
    assert [simulation.number for simulation in told] == list(range(1, 61))
    values = [simulation.value for simulation in told]
    assert root.sign * root.value_sum == pytest.approx(sum(values) + first_value(game, network, state))
    for simulation in told:
        for step in simulation.path:
            assert step.chosen == step.choices[0].move
            assert step.choices[0].q + step.choices[0].u == pytest.approx(max(c.q + c.u for c in step.choices))
            assert 1 + sum(choice.visits for choice in step.choices) == step.visits


def first_value(game, network, state) -> float:
    """The root's own evaluation, for its player to move."""
    return float(network.evaluate(game.encode([state])).values[0])


def test_a_game_that_ends_is_said_to(zero: Command) -> None:
    game = make("tictactoe")
    answer = zero("explain", "tictactoe", "b2 a1 c3 a3 b1", "-n", 40, "--json")
    told = [json.loads(line) for line in answer.out.splitlines()]
    assert len(told) == 40 and any(simulation["is_over"] for simulation in told)
    assert all(abs(simulation["value"]) in (0.0, 1.0) for simulation in told if simulation["is_over"])
    assert set(told[0]) == set(Simulation.__dataclass_fields__)
    legal = {game.action_text(game.initial_state(), action) for action in range(9)}
    assert {step["chosen"] for simulation in told for step in simulation["path"]} <= legal


def test_the_text(zero: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where no run has learned the game
    answer = zero("explain", "connect4", "4 4 3", "-n", 2, "--choices", 2)
    lines = answer.out.splitlines()
    assert len(lines) == 8 and "are backed up" not in answer.out
    assert lines[0].startswith("1. 1: evaluated, ") and lines[1] == "   N(s) = 1"
    assert lines[2].startswith("   * 1      N    0  P 0.143  Q -1.000  U 0.357")
    assert "rollouts" in answer.err


def test_words_that_do_not_fit(zero: Command) -> None:
    assert zero("explain", "conect4").err.startswith("zerosum: unknown player 'conect4': did you mean 'connect4'?")
    assert "is not a legal move" in zero("explain", "connect4", "9").err
    assert "The game is over" in zero("explain", "tictactoe", "a1 a2 b1 b2 c1").err
