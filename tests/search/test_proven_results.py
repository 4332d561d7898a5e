"""Proven results beside open moves: in selection and in the choice of the move, with any number of leaves in flight."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from search_twin import ReferenceSearch
from searches_for_tests import ALPHA, GAMES, PLAIN, FakeNetwork, Recorder, random_position, run_twin
from zerosum._core import Root
from zerosum.games import adopt, make
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer_all

LEAVES_IN_FLIGHT = (1, 2, 3, 8, 16, 32, 64, 128, 256)

QUEEN_UP = "8/8/8/3k4/8/8/1Q6/K7 b - - 0 1"
TWICE = "d5d6 b2c2 d6d5 c2b2 d5d6 b2c2 d6d5"
"""After these moves c2b2 leads to a position that has occurred twice."""


class Fork:
    """Action 0 draws at once at the start; all other lines have `PLIES` plies and end in a draw."""

    name = "fork"
    num_actions = 4
    board_shape = (1, 16)
    plane_names = ("plies", "draw")

    PLIES = 12

    def initial_state(self) -> tuple[int, ...]:
        return ()

    def player(self, state: tuple[int, ...]) -> int:
        return len(state) % 2

    def legal_actions(self, state: tuple[int, ...]) -> list[int]:
        return [] if self.outcome(state) is not None else [0, 1, 2, 3]

    def play(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (*state, action)

    def outcome(self, state: tuple[int, ...]) -> float | None:
        return 0.0 if state[:1] == (0,) or len(state) == self.PLIES else None

    def planes(self, state: tuple[int, ...]) -> NDArray[np.float32]:
        planes = np.zeros((2, 1, 16), np.float32)
        planes[0, 0, len(state)] = 1
        planes[1, 0, : len(state)] = np.array(state, np.float32) > 0
        return planes

    def action_text(self, state: tuple[int, ...], action: int) -> str:
        return str(action)

    def draw(self, state: tuple[int, ...]) -> str:
        return f"{state}\n"


class FirstIsBetter:
    """Says that the first player's results will be `value`, and that action 0 has a prior of nine tenths or so."""

    def __init__(self, value: float, *, logit: float = 3.3) -> None:
        self._value, self._logit = value, logit

    def evaluate(self, leaves: Leaves) -> Evaluations:
        logits = np.where(leaves.legal_actions == 0, self._logit, 0.0).astype(np.float32)
        values = np.where(leaves.players == 0, self._value, -self._value).astype(np.float32)
        return Evaluations(leaves, logits, values)


class CountsMaterial:
    """Equal priors, and a value by the material."""

    def evaluate(self, leaves: Leaves) -> Evaluations:
        values = np.tanh(leaves.material() / 5).astype(np.float32)
        return Evaluations(leaves, np.zeros(len(leaves.legal_actions), np.float32), values)


@pytest.mark.parametrize("leaves_in_flight", LEAVES_IN_FLIGHT)
@pytest.mark.parametrize("value", [0.05, 0.5, 0.95])
def test_a_draw_at_hand_is_not_taken_when_another_move_is_better(value: float, leaves_in_flight: int) -> None:
    game = adopt(Fork())
    config = replace(PLAIN, leaves_in_flight=leaves_in_flight, root_noise_fraction=0.0)
    search = new_search(game, config)
    for num_simulations in (*range(2, 40), 64, 100, 257):
        search.reset(0, game.initial_state())
        search.begin(0, num_simulations)
        answer_all(search, FirstIsBetter(value), max_leaves=leaves_in_flight)
        root = search.root(0)
        place = f"{num_simulations} simulations, visits {root.visits}"
        assert root.best_action != 0, place
        assert root.visits[0] <= 1, f"{place}: a draw that is known was visited again"


@pytest.mark.parametrize("leaves_in_flight", LEAVES_IN_FLIGHT)
def test_a_draw_at_hand_is_taken_when_the_other_moves_are_worse(leaves_in_flight: int) -> None:
    game = adopt(Fork())
    search = new_search(game, replace(PLAIN, leaves_in_flight=leaves_in_flight, root_noise_fraction=0.0))
    search.begin(0, 300)
    answer_all(search, FirstIsBetter(-0.4, logit=0.0), max_leaves=leaves_in_flight)
    root = search.root(0)
    assert root.best_action == 0 and root.visits[0] == root.visits.max()
    assert root.value > -0.15, "a draw that is taken counts in the value"


@pytest.mark.parametrize("leaves_in_flight", [1, 4, 16, 64, 256])
def test_a_queen_up_the_third_repetition_is_not_chosen(leaves_in_flight: int) -> None:
    game = make("chess")
    state = game.parse_position(QUEEN_UP)
    for text in TWICE.split():
        action = game.parse_action(state, text)
        assert action is not None
        state = game.play(state, action)
    search = new_search(game, replace(PLAIN, leaves_in_flight=leaves_in_flight, root_noise_fraction=0.0))
    # Every move that repeats a position for the third time is a draw.
    draws = [action for action in game.legal_actions(state) if game.outcome(game.play(state, action)) == 0]
    assert draws
    for num_simulations in range(8, 101, 4):
        search.reset(0, state)
        search.begin(0, num_simulations)
        answer_all(search, CountsMaterial(), max_leaves=leaves_in_flight)
        assert search.root(0).best_action not in draws, num_simulations


def better_moves(root: Root) -> list[int]:
    """The open moves whose Q less 1 / sqrt(N) is above the result of the move to play, if that is proven and no win."""
    index = root.actions.tolist().index(root.best_action)
    if root.lower[index] < root.upper[index] or root.lower[index] > 0 or root.proven is not None:
        return []
    is_open = (root.lower < root.upper) & (root.visits > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return root.actions[is_open & (root.q - 1 / np.sqrt(root.visits) > root.lower[index])].tolist()


@pytest.mark.parametrize("game_name", GAMES)
def test_the_move_to_play_is_never_proven_and_clearly_worse_than_an_open_one(game_name: str) -> None:
    game, generator, num_mixed = GAMES[game_name](), random.Random(7), 0
    for seed in range(150):
        config = SearchConfig(
            root_noise_alpha=ALPHA,
            root_noise_fraction=generator.choice([0.0, 0.25]),
            leaves_in_flight=generator.choice(LEAVES_IN_FLIGHT),
            c_init=generator.choice([0.5, 1.75, 3.0]),
            move_choice=generator.choice(["visits", "lcb"]),
            root_selection=generator.choice(["puct", "puct", "gumbel"]),
        )
        search = new_search(game, config)
        search.reset(0, random_position(game, generator))
        search.begin(0, generator.choice([2, 5, 17, 40, 100]))
        answer_all(search, FakeNetwork(seed), max_leaves=config.leaves_in_flight)
        root = search.root(0)
        num_mixed += 0 < int((root.lower == root.upper).sum()) < len(root.actions)
        assert not better_moves(root), f"{config}\n{root.visits} {root.q} {root.lower} {root.upper}"
    assert num_mixed > 5


@pytest.mark.parametrize("leaves_in_flight", [1, 8])
def test_visits_equal_the_twins_beside_results_from_elsewhere(leaves_in_flight: int) -> None:
    game, generator, num_noted = make("connect4"), random.Random(2), 0
    config = replace(PLAIN, leaves_in_flight=leaves_in_flight, root_noise_fraction=0.0)
    for seed in range(60):
        state = random_position(game, generator)
        fast, twin = new_search(game, config), ReferenceSearch(game, config, noise_alpha=ALPHA)
        fast.reset(0, state)
        twin.reset(state)
        for num_simulations in (10, 120):
            fast.begin(0, num_simulations)
            twin.begin(num_simulations)
            Recorder(game, seed).finish(fast)
            run_twin(twin, seed)
            before = fast.root(0)
            assert before.visits.tolist() == twin.visits()
            fast.prove(0, 3000)
            after = fast.root(0)
            is_noted = (before.lower < before.upper) & (after.lower == after.upper)
            for action, result in zip(after.actions[is_noted].tolist(), after.lower[is_noted].tolist(), strict=True):
                num_noted += 1
                twin.note_result(action, result)
        assert fast.root(0).best_action == twin.best_action() or after.proven is not None
    assert num_noted > 10
