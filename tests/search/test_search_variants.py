"""The search's variants: Gumbel roots, confidence bounds, several leaves in flight, allowed moves."""

from __future__ import annotations

import math
import random
from collections import deque
from dataclasses import replace

import numpy as np
import pytest

from search_twin import Node, ReferenceSearch
from searches_for_tests import (
    PLAIN,
    FakeNetwork,
    Recorder,
    fake_key,
    fake_network,
    random_position,
)
from zerosum import _core
from zerosum.games import make, parse_action, state_after
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer_all


def test_only_allowed_moves_are_searched_and_played() -> None:
    game = make("tictactoe")
    search = new_search(game, PLAIN)
    search.reset(0, state_after(game, "a1 a2 b1 b2"))
    search.begin(0, 300)
    with pytest.raises(ValueError, match="action 7 is illegal at the root"):
        search.restrict(0, [0, 7])
    search.restrict(0, [5, 0])
    Recorder(game, 1).finish(search)
    root = search.root(0)
    assert root.actions[root.visits > 0].tolist() == [0, 5]
    assert root.best_action == 5, "which does not lose at once; the win is not allowed"
    assert search.best_line(0)[0] == 5
    assert search.best_line(0, 0)[:2] == [0, 5] and search.best_line(0, 2) == []
    search.restrict(0, [])
    search.begin(0, 1000)
    Recorder(game, 1).finish(search)
    assert (search.root(0).best_action, search.root(0).stop_reason) == (8, "proven")


def test_the_settings_of_confidence_bounds_act() -> None:
    """The bolder (no deviation, few visits are enough), the more often the best Q is played, though less visited."""
    game, generator = make("connect4"), random.Random(2)
    states = [random_position(game, generator) for _ in range(40)]

    def best_actions(deviations: float, least_share: float) -> list[int | None]:
        config = replace(PLAIN, move_choice="lcb", lcb_deviations=deviations, lcb_least_share=least_share)
        search = new_search(game, config, num_trees=len(states))
        for tree, state in enumerate(states):
            search.reset(tree, state)
            search.begin(tree, 60)
        Recorder(game, 4).finish(search)
        return [search.root(tree).best_action for tree in range(len(states))]

    visited = best_actions(0.0, 1.0)
    assert len({tuple(visited), tuple(best_actions(0.0, 0.0)), tuple(best_actions(1.0, 0.0))}) == 3


@pytest.mark.parametrize("num_batches", [1, 2, 3])
def test_batches_in_flight_are_searched_like_the_twin(num_batches: int) -> None:
    """Several batches of one tree under way, applied in their order: the same visits however fast each is answered."""
    game = make("connect4")
    config = replace(PLAIN, leaves_in_flight=12, exact_bounds=False)
    twin = ReferenceSearch(game, config)
    twin.begin(300)
    under_way: deque[list[list[Node]]] = deque()
    while True:
        while len(under_way) < num_batches and (paths := twin.gather(5)):
            under_way.append(paths)
        if not under_way:
            break
        for path in under_way.popleft():
            state = path[-1].state
            assert state is not None
            key = fake_key(game.planes(state), game.player(state), 3)
            twin.apply(path, *fake_network(key, game.legal_actions(state)))
    for seconds in (0.0, 0.001):
        search = new_search(game, config)
        search.begin(0, 300)
        leaves = answer_all(search, FakeNetwork(3, seconds=seconds), max_leaves=5, num_batches=num_batches)
        assert search.root(0).visits.tolist() == twin.visits()
        assert search.num_leaves == leaves <= 301


def test_virtual_loss_spreads_leaves() -> None:
    """The more a leaf in flight is worth avoiding, the more leaves a tree finds at a time."""
    game = make("connect4")
    rounds = []
    for virtual_loss in (0.0, 2.0):
        search = new_search(game, replace(PLAIN, leaves_in_flight=16, virtual_loss=virtual_loss))
        search.begin(0, 400)
        rounds.append(0)
        while Recorder(game, 8).answer(search, 16):
            rounds[-1] += 1
    assert rounds[1] < rounds[0]


GUMBEL = replace(PLAIN, root_selection="gumbel", policy_target="completed-q")


def considered_visits(num_actions: int, num_simulations: int) -> list[int]:
    """The visit count that each simulation's move has to have: the table of mctx (seq_halving.py), written anew."""
    rounds, visits, sequence = math.ceil(math.log2(num_actions)), [0] * num_actions, list[int]()
    num_left = num_actions
    while len(sequence) < num_simulations:
        for _ in range(max(1, num_simulations // (rounds * num_left))):
            sequence += visits[:num_left]
            visits[:num_left] = [count + 1 for count in visits[:num_left]]
        num_left = max(2, num_left // 2)
    return sequence[:num_simulations]


@pytest.mark.parametrize("num_actions", [2, 3, 4, 5, 7])
@pytest.mark.parametrize("num_simulations", [1, 5, 16, 50, 100, 131])
def test_halving_keeps_the_published_schedule(num_actions: int, num_simulations: int) -> None:
    game = make("connect4")
    search = new_search(game, replace(GUMBEL, gumbel_actions=num_actions, exact_bounds=False))
    search.begin(0, num_simulations, noise=(1, 2, 3))
    Recorder(game, num_simulations).finish(search)
    counts = [0] * 7
    for visits in considered_visits(num_actions, num_simulations):
        counts[counts.index(visits)] += 1
    assert sorted(search.root(0).visits.tolist()) == sorted(counts)


def test_a_reused_tree_is_halved_by_its_new_visits() -> None:
    """Each of two moves gets half of what this search adds, whatever they had."""
    game = make("connect4")
    search = new_search(game, replace(GUMBEL, gumbel_actions=2, exact_bounds=False))
    search.begin(0, 200)
    Recorder(game, 2).finish(search)
    search.advance(0, search.root(0).best_action or 0, keep=True)
    before = search.root(0).visits.astype(int)
    search.begin(0, 60)
    Recorder(game, 2).finish(search)
    assert sorted((search.root(0).visits - before).tolist()) == [0, 0, 0, 0, 0, 30, 30]


def test_the_improved_policy_is_the_papers() -> None:
    """softmax(logit + sigma(q)) with the mixed value of equation 33, by hand, from what the root tells of itself."""
    game = make("connect4")
    for config in (GUMBEL, replace(GUMBEL, root_selection="puct")):
        search = new_search(game, config)
        search.begin(0, 5, noise=(1, 1, 1))
        Recorder(game, 4).finish(search)
        root = search.root(0)
        priors, visits, q = (column.astype(float) for column in (root.priors, root.visits, root.q))
        seen = visits > 0
        assert not seen.all()
        mean_q = (priors[seen] * q[seen]).sum() / priors[seen].sum()
        mixed_value = (root.net_value + visits.sum() * mean_q) / (1 + visits.sum())
        completed_q = np.where(seen, q, mixed_value)
        # as mctx's qtransform_completed_by_mix_value does by default
        completed_q = (completed_q - completed_q.min()) / (completed_q.max() - completed_q.min())
        sigma = (50 + visits.max()) * 0.1 * completed_q
        weights = priors * np.exp(sigma)
        np.testing.assert_allclose(root.policy_target(), weights / weights.sum(), rtol=1e-4)
        if config is GUMBEL:
            scores = np.log(priors) + sigma + _core.gumbel_noise(1, 1, 1, 7)
            assert root.best_action == int(root.actions[np.where(seen, scores, -np.inf).argmax()])
        np.testing.assert_allclose(root.visit_policy(), visits / visits.sum(), rtol=1e-6)
        drawn_from = root.policy_target() if config is GUMBEL else root.visit_policy()
        assert root.move_policy().tolist() == drawn_from.tolist()


def test_a_gumbel_roots_moves_are_drawn_from_the_improved_policy_whatever_is_learned() -> None:
    """Halving ends with two moves of equal visits, of which the better one is to be played much more often."""
    game = make("connect4")
    search = new_search(game, replace(GUMBEL, policy_target="visits"))
    search.reset(0, state_after(game, "1 4 1 4 2"))  # 4 threatens to win
    search.begin(0, 40)
    Recorder(game, 4).finish(search)
    root = search.root(0)
    best = int(root.actions.tolist().index(root.best_action))
    assert root.policy_target().tolist() == root.visit_policy().tolist()
    assert root.visit_policy()[best] < 0.5 < root.move_policy()[best]
    learning = new_search(game, GUMBEL)
    learning.reset(0, state_after(game, "1 4 1 4 2"))
    learning.begin(0, 40)
    Recorder(game, 4).finish(learning)
    assert root.move_policy().tolist() == learning.root(0).policy_target().tolist()


def test_gumbel_noise_draws_from_the_policy() -> None:
    """Gumbel's trick: where q weighs nothing, the move played is a draw from the priors."""
    game, num_games = make("connect4"), 3000
    search = new_search(game, replace(GUMBEL, gumbel_value_scale=0.0), num_trees=num_games)
    for tree in range(num_games):
        search.begin(tree, 4, noise=(11, tree, 0))
    Recorder(game, 4).finish(search)
    roots = [search.root(tree) for tree in range(num_games)]
    played = np.bincount([root.best_action or 0 for root in roots], minlength=7) / num_games
    assert np.abs(played - roots[0].priors).max() < 0.03
    search.reset(0, game.initial_state())
    search.begin(0, 4)
    Recorder(game, 4).finish(search)
    assert search.root(0).best_action == int(search.root(0).priors.argmax())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("leaves_in_flight", [1, 4])
def test_halving_begins_anew_where_all_considered_moves_lose(seed: int, leaves_in_flight: int) -> None:
    """O has to block at a1, whatever the noise makes it consider first."""
    game = make("tictactoe")
    search = new_search(game, replace(GUMBEL, gumbel_actions=2, leaves_in_flight=leaves_in_flight))
    search.reset(0, state_after(game, "a3 b2 a2"))
    search.begin(0, 300, noise=(seed, 0, 0))
    Recorder(game, 2).finish(search)
    root = search.root(0)
    assert root.best_action is not None and game.action_text(search.state(0), root.best_action) == "a1"
    assert root.policy_target()[root.actions == root.best_action] == 1


def test_halving_decides_at_a_gumbel_root() -> None:
    """Settings of confidence bounds have no effect at a Gumbel root."""
    game, num_trees = make("connect4"), 30
    found = []
    for move_choice in ("visits", "lcb"):
        config = replace(GUMBEL, move_choice=move_choice, lcb_deviations=0.0, lcb_least_share=0.0)
        search = new_search(game, config, num_trees=num_trees)
        for tree in range(num_trees):
            search.begin(tree, 40, noise=(5, tree, 0))
        Recorder(game, 3).finish(search)
        found.append([search.root(tree).best_action for tree in range(num_trees)])
    assert found[0] == found[1]


def test_halving_visits_a_single_move() -> None:
    game = make("tictactoe")
    search = new_search(game, replace(GUMBEL, exact_bounds=False))
    search.reset(0, state_after(game, "b2 a1 a2 c2 c3 b3 b1 a3"))
    search.begin(0, 9)
    Recorder(game, 1).finish(search)
    assert search.root(0).visits.tolist() == [9]


def test_a_root_past_a_soft_ending_is_searched() -> None:
    """A root at a soft ending is searched past the ending."""
    game = make("connect4(max_plies=3)")
    state = state_after(game, "1 2 3")
    assert game.ending(state) == "ply cap"
    search = new_search(game, SearchConfig(num_simulations=30, exact_bounds=False), num_trees=1)
    search.reset(0, state)
    search.begin(0, 30)
    Recorder(game, 0).finish(search)
    root = search.root(0)
    assert (root.stop_reason, len(root.actions), int(root.visits.sum())) == ("simulations", 7, 30)
    assert np.nanmax(np.abs(root.q)) == 0, "below the root a soft ending is a leaf with its result"
    search.advance(0, 3, keep=True)
    assert search.state(0).plies == 4


def test_repetitions_are_counted() -> None:
    for name, cycle in (("chess", "g1f3 g8f6 f3g1 f6g8"), ("shogi", "5i5h 5a5b 5h5i 5b5a")):
        game = make(name)
        state = game.initial_state()
        assert game.num_repetitions(state) == 0
        for count in (1, 2):
            for move in cycle.split():
                state = game.play(state, parse_action(game, state, move))
            assert game.num_repetitions(state) == count
    assert make("connect4").num_repetitions(make("connect4").initial_state()) == 0


@pytest.mark.parametrize("policy_target", ["visits", "completed-q"])
def test_a_lost_root_teaches_what_the_network_knew(policy_target: str) -> None:
    """The visits before the proof came from noise, so they are not a policy to learn."""
    game = make("tictactoe")
    search = new_search(game, replace(PLAIN, policy_target=policy_target))
    search.reset(0, state_after(game, "a1 b1 c3 a3 c1"))  # X threatens twice
    search.begin(0, 100, noise=(1, 2, 3))
    Recorder(game, 2).finish(search)
    root = search.root(0)
    assert root.proven == -1 and len(set(root.priors.tolist())) > 1
    np.testing.assert_allclose(root.policy_target(), root.priors, rtol=1e-6)
    assert not np.allclose(root.visits / root.visits.sum(), root.priors, atol=0.02)
