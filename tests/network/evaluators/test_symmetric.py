"""Random symmetries of each leaf, against the games with permuted moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from networks_for_tests import F32_TOLERANCE, SMALL, make_checkpoint
from zerosum.games import Game, Rules, adopt, make
from zerosum.games.random_play import random_lines, state_of
from zerosum.network import Checkpoint, CheckpointInfo
from zerosum.network.evaluators import EvaluatorConfig, make_evaluator
from zerosum.network.evaluators.symmetric import SymmetricEvaluator, Symmetries
from zerosum.network.evaluators.torch import TorchEvaluator


class Row(Game[tuple[int, ...]]):
    """Two players mark the squares of a row of five in turn; nobody wins. Its mirror is the same game."""

    name = "row"
    version = 1
    num_actions = 5
    board_shape = (1, 5)
    plane_names = ("first", "second")
    max_plies = 5
    symmetries = ((4, 3, 2, 1, 0),)

    def initial_state(self) -> tuple[int, ...]:
        return ()

    def player(self, state: tuple[int, ...]) -> int:
        return len(state) % 2

    def legal_actions(self, state: tuple[int, ...]) -> list[int]:
        return [action for action in range(5) if action not in state]

    def play(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (*state, action)

    def outcome(self, state: tuple[int, ...]) -> float | None:
        return 0.0 if len(state) == 5 else None

    def planes(self, state: tuple[int, ...]) -> Any:
        planes = np.zeros((2, 1, 5), np.float32)
        for ply, square in enumerate(state):
            planes[ply % 2, 0, square] = 1
        return planes


class Leaning(Row):
    """The same game with a plane that marks a corner, so its planes are not mirrored."""

    plane_names = ("first", "second", "corner")

    def planes(self, state: tuple[int, ...]) -> Any:
        corner = np.zeros((1, 1, 5), np.float32)
        corner[0, 0, 0] = 1
        return np.concatenate([super().planes(state), corner])


SYMMETRIC = [make(name) for name in ("tictactoe", "connect4", "breakthrough", "othello", "gomoku", "hex(size=5)")]
SYMMETRIC += [make("go(size=5)"), make("go(size=9, handicap=2)"), adopt(Row())]


def network_of(game: Rules) -> Checkpoint:
    return make_checkpoint(CheckpointInfo.describe(game.spec, SMALL, step=7))


@pytest.mark.parametrize("game", SYMMETRIC, ids=lambda game: game.spec.full_name)
def test_the_squares_of_every_symmetry_are_found(game: Rules) -> None:
    found = Symmetries.of(game)
    assert [list(actions) for actions in found.actions[1:]] == [list(image) for image in game.spec.symmetries]
    assert len(found) > 1
    assert all(sorted(source) == list(range(len(source))) for source in found.sources)


def test_a_symmetry_that_the_planes_do_not_have_is_left_out() -> None:
    assert adopt(Leaning()).spec.symmetries
    assert len(Symmetries.of(adopt(Leaning()))) == 1
    assert len(Symmetries.of(make("chess"))) == 1


@pytest.mark.parametrize("backend", ["openvino", "torch"])
@pytest.mark.parametrize("game", SYMMETRIC, ids=lambda game: game.spec.full_name)
def test_a_position_is_evaluated_as_its_image_is(game: Rules, backend: str) -> None:
    """The readable twin: play the game with permuted moves, ask the network, and read the answers of permuted moves."""
    if backend == "openvino":
        pytest.importorskip("openvino")
    plain = make_evaluator(network_of(game), EvaluatorConfig(backend, "cpu", "f32"), batch_size=32)
    symmetries = Symmetries.of(game)
    evaluator = SymmetricEvaluator(plain, symmetries, seed=3, step=7)
    lines = list(random_lines(game, num=24, seed=5))
    leaves = game.encode([state_of(game, line) for line in lines])
    chosen, answers, start = evaluator.chosen(leaves), evaluator.evaluate(leaves), 0
    assert len(set(chosen)) > 1
    for number, line in enumerate(lines):
        image = symmetries.actions[chosen[number]]
        leaf = game.encode([state_of(game, [int(image[action]) for action in line])])
        answer = plain.evaluate(leaf)
        logit_of = dict(zip(leaf.legal_actions.tolist(), answer.logits, strict=True))
        legal = leaves.legal_actions[leaves.legal_offsets[number] : leaves.legal_offsets[number + 1]]
        expected = [logit_of[int(image[action])] for action in legal]
        np.testing.assert_allclose(answers.logits[start : start + len(legal)], expected, atol=F32_TOLERANCE)
        np.testing.assert_allclose(answers.values[number], answer.values[0], atol=F32_TOLERANCE)
        start += len(legal)


def test_the_choice_depends_on_the_position_the_seed_and_the_network() -> None:
    game = make("go(size=9)")
    leaves = game.encode([state_of(game, line) for line in random_lines(game, num=400, seed=1)])
    reversed_leaves = game.encode(
        [state_of(game, line) for line in reversed(list(random_lines(game, num=400, seed=1)))]
    )

    def chosen(seed: int, step: int, of: Any = leaves) -> Any:
        evaluator = TorchEvaluator(network_of(game), device="cpu", precision="f32")
        return SymmetricEvaluator(evaluator, Symmetries.of(game), seed=seed, step=step).chosen(of)

    first = chosen(0, 0)
    assert np.bincount(first, minlength=8).min() >= 20, "each is drawn in about one of eight"
    assert (chosen(0, 0, reversed_leaves) == first[::-1]).all()
    for other in (chosen(1, 0), chosen(0, 1)):
        assert 0.05 < (other == first).mean() < 0.25, "other draws agree by chance alone"


def test_a_new_network_draws_anew() -> None:
    game = make("connect4")
    evaluator = make_evaluator(
        network_of(game), EvaluatorConfig("torch", "cpu", symmetry_seed=0), batch_size=8, game=game
    )
    assert isinstance(evaluator, SymmetricEvaluator)
    leaves = game.encode([state_of(game, line) for line in random_lines(game, num=64, seed=1)])
    before = evaluator.chosen(leaves)
    evaluator.update(make_checkpoint(CheckpointInfo.describe(game.spec, SMALL, step=8)))
    assert (evaluator.chosen(leaves) != before).any()


def test_a_game_without_symmetries_is_evaluated_as_it_is() -> None:
    game = make("chess")
    evaluator = make_evaluator(
        network_of(game), EvaluatorConfig("torch", "cpu", symmetry_seed=0), batch_size=8, game=game
    )
    assert isinstance(evaluator, TorchEvaluator)


def test_no_leaves_are_no_trouble() -> None:
    game = make("connect4")
    evaluator = SymmetricEvaluator(
        TorchEvaluator(network_of(game), device="cpu", precision="f32"), Symmetries.of(game), seed=0, step=0
    )
    assert len(evaluator.evaluate(game.encode([])).values) == 0
