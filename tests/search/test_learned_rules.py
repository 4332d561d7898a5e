"""Searches by learned rules: visits equal the twin's, slots, and the rules asked at the root alone."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from games_for_tests import DoubleMove
from hidden_rules import FakeHiddenNetwork, Hidden, HiddenRules, run_hidden_twin
from search_twin import ReferenceSearch
from searches_for_tests import ALPHA, FakeNetwork, random_position
from zerosum.base.errors import SettingsError
from zerosum.games import adopt, make, state_after
from zerosum.network.evaluators import RolloutEvaluator, UniformEvaluator
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer, answer_all

LEARNED = SearchConfig(
    rules="learned", exact_bounds=False, proof_nodes=0, reuse_tree=False, root_noise_alpha=ALPHA, num_simulations=30
)
GAMES = {"tictactoe": lambda: make("tictactoe"), "connect4": lambda: make("connect4"), "go": lambda: make("go(size=5)")}


def random_config(generator: random.Random) -> SearchConfig:
    return replace(
        LEARNED,
        num_simulations=generator.choice([1, 2, 7, 40, 150]),
        c_init=generator.choice([0.5, 1.25, 2.5]),
        unvisited_value=generator.choice(["loss", "zero", "parent"]),
        root_noise_fraction=generator.choice([0.0, 0.25]),
        root_selection=generator.choice(["puct", "gumbel"]),
        policy_target=generator.choice(["visits", "completed-q"]),
        gumbel_actions=generator.choice([2, 4, 16]),
        move_choice=generator.choice(["visits", "lcb"]),
        leaves_in_flight=generator.choice([1, 1, 2, 9]),
        prior_temperature=generator.choice([1.0, 1.5]),
    )


@pytest.mark.parametrize("game_name", GAMES)
def test_visits_equal_the_twins(game_name: str) -> None:
    game, generator = GAMES[game_name](), random.Random(len(game_name))
    for seed in range(60):
        config, state = random_config(generator), random_position(game, generator)
        rules: Any = HiddenRules(game)
        fast, network = new_search(game, config), FakeHiddenNetwork(seed)
        twin = ReferenceSearch(rules, config, noise_alpha=ALPHA)
        fast.reset(0, state)
        for ply in range(3):
            twin.reset(Hidden(fast.state(0)))  # type: ignore[arg-type]
            noise = (seed, 5, ply) if generator.random() < 0.7 else None
            fast.begin(0, config.num_simulations, noise=noise)
            twin.begin(config.num_simulations, noise=noise)
            answer_all(fast, network, max_leaves=1 << 16)
            run_hidden_twin(twin, game, seed)
            root = fast.root(0)
            assert root.visits.tolist() == twin.visits()
            assert root.value == pytest.approx(twin.value(), abs=1e-6)
            assert root.best_action == twin.best_action()
            expected = list(twin.policy_target().values())
            assert root.policy_target().tolist() == pytest.approx(expected, abs=1e-5)
            fast.advance(0, root.best_action, keep=True)
            if game.outcome(fast.state(0)) is not None:
                break


class Watched(DoubleMove):
    """A game that refuses questions about its rules while it is told to."""

    is_silent = False

    def legal_actions(self, state: Any) -> Any:
        assert not self.is_silent, "the search asked for legal moves below the root"
        return super().legal_actions(state)

    def play(self, state: Any, action: int) -> Any:
        assert not self.is_silent, "the search made a move"
        return super().play(state, action)

    def outcome(self, state: Any) -> Any:
        assert not self.is_silent, "the search asked for an outcome"
        return super().outcome(state)


def test_the_rules_are_asked_at_the_root_alone() -> None:
    rules = Watched()
    game = adopt(rules)
    search, network = new_search(game, replace(LEARNED, num_simulations=200)), FakeHiddenNetwork(1)
    search.begin(0, 200)
    assert answer(search, network, 8) == 1  # the root
    Watched.is_silent = True
    try:
        while answer(search, network, 8):
            pass
        root = search.root(0)
    finally:
        Watched.is_silent = False
    assert root.num_simulations == 200
    assert root.deepest > 2
    assert network.num_leaves == 201, "a simulation is one evaluation"


def test_a_known_search_of_the_same_game_would_ask() -> None:
    game = adopt(Watched())
    search = new_search(game, SearchConfig(root_noise_alpha=ALPHA))
    search.begin(0, 50)
    answer(search, FakeNetwork(1), 8)
    Watched.is_silent = True
    try:
        with pytest.raises(Exception, match=r"the search (asked|made)"):
            answer_all(search, FakeNetwork(1), max_leaves=8)
    finally:
        Watched.is_silent = False


def test_slots_are_used_again_by_the_next_search() -> None:
    game = make("connect4")
    search, network = new_search(game, LEARNED, num_trees=3), FakeHiddenNetwork(2)
    for _ in range(4):
        for tree in range(3):
            search.begin(tree, 30)
        answer_all(search, network, max_leaves=64)
        for tree in range(3):
            search.advance(tree, search.root(tree).best_action, keep=True)
    assert network.slots == set(range(1, 3 * 31 + 1))


def test_a_line_of_best_play_is_legal() -> None:
    game = make("tictactoe")
    for seed in range(30):
        search = new_search(game, replace(LEARNED, num_simulations=300))
        search.begin(0, 300)
        answer_all(search, FakeHiddenNetwork(seed), max_leaves=64)
        line, state = search.best_line(0), game.initial_state()
        assert line[0] == search.root(0).best_action
        for action in line:
            assert action in game.legal_actions(state)
            state = game.play(state, action)


def test_a_drawn_position_with_moves_has_a_line() -> None:
    """Who looks at a game that was drawn by the count of moves sees what would have been played."""
    game = make("chess")
    state = game.parse_position("8/8/8/3k4/8/8/8/K6R w - - 100 80")
    assert game.outcome(state) == 0
    search = new_search(game, LEARNED)
    search.reset(0, state)
    search.begin(0, 30)
    answer_all(search, FakeHiddenNetwork(1), max_leaves=1)
    best = search.root(0).best_action
    assert best is not None and search.best_line(0) == [best], "the line ends where the game still is drawn"


def test_places_of_logits_are_the_moves_of_hidden_states() -> None:
    game = make("chess(planes=lc0)")
    state = state_after(game, "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5")  # White may castle: the king takes its rook there
    leaves = game.encode([state])
    places = dict(zip(leaves.legal_actions.tolist(), leaves.logit_actions.tolist(), strict=True))
    assert any(action != place for action, place in places.items())
    search = new_search(game, replace(LEARNED, num_simulations=60))
    castling = next(action for action, place in places.items() if action != place)
    search.reset(0, state)
    search.begin(0, 60)
    search.restrict(0, [castling])
    asked = set[int]()
    root_slot = -1
    while len(found := search.gather(1)):
        hidden = found.hidden()
        assert hidden is not None
        (parent,), (action,), (slot,) = hidden
        root_slot = int(slot) if parent == 0 else root_slot
        if parent == root_slot:
            asked.add(int(action))
        answers = UniformEvaluator().evaluate(found)
        assert found.ticket is not None
        search.apply(found.ticket, answers.logits, answers.values)
    root = search.root(0)
    visited = {places[action] for action, visits in zip(root.actions.tolist(), root.visits, strict=True) if visits}
    assert asked == visited == {places[castling]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"exact_bounds": True}, "search.exact_bounds is True"),
        ({"proof_nodes": 1}, "search.proof_nodes is 1"),
        ({"reuse_tree": True}, "search.reuse_tree is True"),
        ({"cache_positions": 1}, "search.cache_positions is 1"),
    ],
)
def test_what_needs_the_rules_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=rf"search.rules is 'learned', but {words}: .* --preset muzero"):
        replace(LEARNED, **changes)


def test_proofs_are_for_known_rules() -> None:
    assert LEARNED.proving(proof_nodes=9) == LEARNED
    proving = replace(SearchConfig(), exact_bounds=False).proving(proof_nodes=9)
    assert (proving.exact_bounds, proving.proof_nodes) == (True, 9)


def test_evaluators_of_positions_refuse_hidden_states() -> None:
    search = new_search(make("tictactoe"), LEARNED)
    search.begin(0, 3)
    with pytest.raises(ValueError, match="only the evaluator of a MuZero network"):
        answer(search, RolloutEvaluator(), 1)
    with pytest.raises(ValueError, match="does not know the rules"):
        search.prove(0, 10)


def test_leaves_of_known_rules_have_no_hidden_states() -> None:
    game = make("tictactoe")
    assert game.encode([game.initial_state()]).hidden() is None
    search = new_search(game, SearchConfig())
    search.begin(0, 1)
    leaves = search.gather(1)
    assert leaves.hidden() is None
    assert leaves.memory == {}
    assert np.array_equal(leaves.planes(), game.encode([game.initial_state()]).planes())
