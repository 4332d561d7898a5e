"""Blind spots: exact results of small games, and networks whose errors are known."""

from __future__ import annotations

import json
from functools import reduce
from pathlib import Path

import numpy as np
import pytest

from commands_for_tests import Command
from games_for_tests import DoubleMove
from networks_for_tests import save_network
from zerosum.base.errors import SettingsError
from zerosum.games import Rules, adopt, make
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations, Evaluator, UniformEvaluator
from zerosum.play.player import Player
from zerosum.report.blind_spots import ExactPosition, probe_blind_spots, solve
from zerosum.search import SearchConfig


class Knower:
    """Evaluates positions exactly, but errs in those with a given text."""

    def __init__(self, game: Rules, wrong: str = "") -> None:
        self.game, self.wrong = game, wrong
        self.exact = {game.position_text(position.state): position for position in solve(game)}
        self.by_planes = {
            leaves.planes().tobytes() + leaves.legal_actions.tobytes(): position
            for position in self.exact.values()
            for leaves in [game.encode([position.state])]
        }

    def evaluate(self, leaves: Leaves) -> Evaluations:
        planes, offsets = leaves.planes(), leaves.legal_offsets
        logits, values = [], []
        for number in range(len(leaves)):
            legal = leaves.legal_actions[offsets[number] : offsets[number + 1]]
            position = self.by_planes[planes[number].tobytes() + legal.tobytes()]
            sign = -1 if self.game.position_text(position.state) == self.wrong else 1
            logits += [sign * 5 * position.results[int(action)] for action in legal]
            values.append(sign * position.value)
        return Evaluations(leaves, np.array(logits, np.float32), np.array(values, np.float32))


def player(game: Rules, evaluator: Evaluator) -> Player:
    return Player(game, evaluator, SearchConfig(root_noise_fraction=0.0), name="a network")


def test_nim_is_solved_by_arithmetic() -> None:
    """The player to move wins unless the sizes cancel by exclusive or (Bouton 1901)."""
    game = make("nim(heaps=1-3-5)")
    positions = solve(game)
    for position in positions:
        text = game.position_text(position.state)
        assert text is not None
        sizes = [int(size) for size in text.split()[0].split("-")]
        assert (position.value > 0) == (reduce(lambda a, b: a ^ b, sizes) != 0), text
    assert len({game.position_text(position.state) for position in positions}) == len(positions)


def test_tic_tac_toe_is_a_draw_and_moves_twice_are_solved() -> None:
    game = make("tictactoe")
    positions = solve(game)
    assert len(positions) == 4520
    assert next(one for one in positions if one.state == game.initial_state()).value == 0
    own = adopt(DoubleMove())
    assert all(isinstance(position, ExactPosition) for position in solve(own))


def test_one_that_knows_everything_has_no_blind_spot() -> None:
    game = make("nim(heaps=1-2-3)")
    found = probe_blind_spots(player(game, Knower(game)), simulations=(1, 50))
    assert found.is_whole and not found.worst
    assert found.network.right == found.network.of > 0
    assert found.signs.right == found.signs.of == found.num_positions
    assert found.value_error == 0
    assert all(share.right == share.of for share in found.searched.values())
    assert found.met is None and "1-2-3" in found.text()


def test_a_blind_spot_is_found_drawn_and_repaired_by_search() -> None:
    game = make("nim(heaps=1-2-3)")
    wrong = "1-2-2 O"
    assert wrong in {game.position_text(position.state) for position in solve(game)}
    found = probe_blind_spots(player(game, Knower(game, wrong)), simulations=(1, 200))
    (spot,) = found.worst
    assert (spot.exact, spot.after_favourite, spot.value, spot.visits) == (1, -1, -1, None)
    assert spot.repaired_at == 200
    assert found.network.of - found.network.right == 1
    assert found.searched[200].right == found.searched[200].of
    assert spot.favourite not in spot.best
    for words in (spot.favourite, "which loses", "The search finds it with 200 simulations."):
        assert words in found.text()


def test_of_a_large_game_the_solved_positions_are_taken() -> None:
    game = make("connect4")
    found = probe_blind_spots(player(game, UniformEvaluator()), simulations=(1,), num_worst=1)
    assert not found.is_whole and found.num_positions > 1000
    assert 0.1 < found.by_chance < 0.9
    with pytest.raises(
        SettingsError, match=r"chess has more than 200,000 positions, .*: probe a smaller game, or connect4"
    ):
        probe_blind_spots(player(make("chess"), UniformEvaluator()))
    with pytest.raises(SettingsError, match=r"simulations are \[5, 1\]"):
        probe_blind_spots(player(game, UniformEvaluator()), simulations=(5, 1))


def test_the_command(zero: Command, tmp_path: Path) -> None:
    path = save_network(tmp_path / "checkpoints", make("tictactoe"))
    answer = zero("probe", str(path), "-n", "10", "--worst", "1")
    assert answer.status == 0
    assert "all 4,520 solved positions" in answer.words and "The worst blind spots:" in answer.out
    numbers = json.loads(zero("probe", str(path), "-n", "10", "--json").out)
    assert numbers["num_positions"] == 4520 and len(numbers["worst"]) == 5
    path = save_network(tmp_path / "shogi", make("shogi"))
    answer = zero("probe", str(path))
    assert answer.status == 2 and "too many to solve it here" in answer.err
