"""The fast search against its readable twin, and the promises of the design: counts, bounds, noise, reuse, tickets."""

from __future__ import annotations

import math
import random
import re
import time
import zlib
from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from games_for_tests import DoubleMove, Loop
from zerosum import _core
from zerosum.answering import answer, answer_all
from zerosum.errors import SettingsError
from zerosum.evaluator import Evaluations, UniformEvaluator
from zerosum.games import Leaves, Rules, State, adopt, make, parse_action, state_after
from zerosum.search import Search, SearchConfig, new_search
from zerosum.search_reference import Estimate, Node, ReferenceSearch

ALPHA = 1.3
PLAIN = SearchConfig(root_noise_alpha=ALPHA)


def fake_key(planes: np.ndarray, player: int, seed: int) -> int:
    return zlib.crc32(planes.tobytes()) * 1000 + 2 * seed + player


def fake_network(key: int, legal: Iterable[int]) -> tuple[list[float], Estimate]:
    """Logits of the legal actions and the rest, from a position's key: deterministic and without meaning."""
    logits = np.float32([4 * _core.uniform(key, action, 0, "logit") - 2 for action in legal])
    value = float(np.float32(2 * _core.uniform(key, 0, 1, "value") - 1))
    draw = float(np.float32(_core.uniform(key, 0, 1, "draw") * (1 - abs(value))))
    return logits.tolist(), Estimate(value, draw, float(np.float32(60 * _core.uniform(key, 0, 1, "moves left"))))


class FakeNetwork:
    """An evaluator that says what `fake_network` says, after a while that differs where that is asked for."""

    def __init__(self, seed: int, *, seconds: float = 0.0) -> None:
        self.seed, self.seconds = seed, seconds

    def evaluate(self, leaves: Leaves) -> Evaluations:
        planes, offsets, legal = leaves.planes(), leaves.legal_offsets, leaves.legal_actions.tolist()
        logits: list[float] = []
        said = []
        for leaf, player in enumerate(leaves.players):
            key = fake_key(planes[leaf], int(player), self.seed)
            of_leaf, estimate = fake_network(key, legal[offsets[leaf] : offsets[leaf + 1]])
            logits += of_leaf
            said.append((estimate.value, estimate.draw, estimate.moves_left))
        values, draws, moves_left = np.float32(said).T.copy()
        wins = (1 + values - draws) / 2
        time.sleep(self.seconds * random.random())
        wdl = np.stack([wins, draws, 1 - wins - draws], axis=1)
        return Evaluations(leaves, np.float32(logits), values, wdl=wdl, moves_left=moves_left)


class Recorder:
    """Answers a search's questions from the fake network; the positions of leaves are found by replaying the twin."""

    def __init__(self, game: Rules, seed: int) -> None:
        self.game, self.seed, self.num_evaluations = game, seed, 0

    def answer(self, search: Search, max_leaves: int) -> int:
        num_leaves = answer(search, FakeNetwork(self.seed), max_leaves)
        self.num_evaluations += num_leaves
        return num_leaves

    def finish(self, search: Search, max_leaves: int = 1 << 16) -> None:
        while self.answer(search, max_leaves):
            pass


def run_twin(twin: ReferenceSearch, seed: int, max_leaves: int = 1 << 16) -> None:
    while True:
        paths = twin.gather(max_leaves)
        if not paths:
            return
        for path in paths:
            state = path[-1].state
            assert state is not None
            key = fake_key(twin.game.planes(state), twin.game.player(state), seed)
            twin.apply(path, *fake_network(key, twin.game.legal_actions(state)))


def random_position(game: Rules, generator: random.Random) -> State:
    """A position after some random moves that is not over."""
    while True:
        state = game.initial_state()
        for _ in range(generator.randrange(12)):
            legal = game.legal_actions(state)
            if not legal:
                break
            state = game.play(state, generator.choice(legal))
        if game.legal_actions(state):
            return state


def random_config(generator: random.Random) -> SearchConfig:
    root_selection, policy_target = generator.choice(["puct", "gumbel"]), generator.choice(["visits", "completed-q"])
    is_plain = (root_selection, policy_target) == ("puct", "visits")
    return SearchConfig(
        num_simulations=generator.choice([1, 2, 7, 40, 120]),
        c_init=generator.choice([0.5, 1.25, 2.5, 2.1]),
        c_base=generator.choice([50.0, 19652.0]),
        c_factor=generator.choice([0.0, 1.0, 2.0]),
        unvisited_value=generator.choice(["loss", "zero", "parent"]),
        unvisited_reduction=generator.choice([0.0, 0.2, 0.5]),
        root_noise_fraction=generator.choice([0.0, 0.25]),
        root_noise_alpha=ALPHA,
        root_selection=root_selection,
        gumbel_actions=generator.choice([2, 4, 16]),
        gumbel_visit_scale=generator.choice([10.0, 50.0]),
        gumbel_value_scale=generator.choice([0.02, 0.1, 1.0]),
        policy_target=policy_target,
        forced_playouts=generator.choice([0.0, 2.0, 9.0]) if is_plain else 0.0,
        move_choice=generator.choice(["visits", "lcb"]),
        lcb_deviations=generator.choice([0.5, 5.0]),
        lcb_least_share=generator.choice([0.0, 0.15]),
        variance_scale=generator.choice([0.0, 0.85]),
        variance_prior=generator.choice([0.2, 0.4]),
        variance_prior_visits=generator.choice([1.0, 2.0]),
        draw_value=generator.choice([0.0, 0.0, -0.3, 0.2]),
        moves_left_effect=generator.choice([0.0, 0.1]),
        moves_left_slope=generator.choice([0.0027, 0.02]),
        moves_left_threshold=generator.choice([0.0, 0.5]),
        keep_draws=generator.random() < 0.5,
        exact_bounds=generator.random() < 0.5,
        reuse_tree=generator.random() < 0.5,
        count_reused_visits=generator.random() < 0.5,
        leaves_in_flight=generator.choice([1, 1, 2, 5]),
        virtual_loss=generator.choice([0.0, 0.5, 1.0, 2.0]),
        cache_positions=generator.choice([0, 1 << 14]),
    )


GAMES = {
    "tictactoe": lambda: make("tictactoe"),
    "connect4": lambda: make("connect4"),
    "double": lambda: adopt(DoubleMove()),
}


@pytest.mark.parametrize("game_name", GAMES)
def test_visits_equal_the_twins(game_name: str) -> None:
    game = GAMES[game_name]()
    generator = random.Random(len(game_name))
    for seed in range(100):
        config, state = random_config(generator), random_position(game, generator)
        fast, twin = new_search(game, config), ReferenceSearch(game, config, noise_alpha=ALPHA)
        fast.reset(0, state)
        twin.reset(state)
        for ply in range(3):
            noise = (seed, 5, ply) if generator.random() < 0.7 else None
            fast.begin(0, config.num_simulations, noise=noise)
            twin.begin(config.num_simulations, noise=noise)
            if ply == 2 and config.root_selection == "puct":
                allowed = [action for action in game.legal_actions(fast.state(0)) if generator.random() < 0.5]
                fast.restrict(0, allowed[::-1])
                twin.restrict(allowed)
            Recorder(game, seed).finish(fast)
            run_twin(twin, seed)
            root = fast.root(0)
            assert fast.finished().tolist() == [0], f"{config}"
            assert twin.is_finished
            place = f"seed {seed}, ply {ply}, {config}\n{game.draw(fast.state(0))}"
            assert root.visits.tolist() == twin.visits(), place
            assert root.num_simulations == twin.root.visits - 1, place
            assert root.value == pytest.approx(twin.value(), abs=1e-5), place
            assert root.proven == (pytest.approx(twin.value()) if twin.root.is_proven else None), place
            if root.draws is not None:
                children = [child for child in twin.root.children.values() if child.visits]
                for name, means in (("draws", root.draws), ("plies_left", root.plies_left)):
                    expected = [getattr(child, name) / child.visits for child in children]
                    np.testing.assert_allclose(means[root.visits > 0], expected, rtol=1e-6, err_msg=place)
                assert root.draw == pytest.approx(twin.root.draws / twin.root.visits)
            target = twin.policy_target()
            np.testing.assert_allclose(root.policy_target(), list(target.values()), atol=1e-6, err_msg=place)
            action = root.best_action
            assert action == twin.best_action(), place
            assert action == next(iter(fast.best_line(0)), action), place
            fast.advance(0, action, keep=config.reuse_tree)
            twin.advance(action, keep=config.reuse_tree)
            if not game.legal_actions(fast.state(0)):
                break


def test_rounding_moves_few_visits() -> None:
    """Against a twin in float64 that rounds no prior: 16-bit priors are off by a thousandth, so few visits move."""
    game, generator, moved, total = make("connect4"), random.Random(4), 0, 0
    config = replace(PLAIN, num_simulations=100)
    for seed in range(10):
        state = random_position(game, generator)
        fast, exact = new_search(game, config), ReferenceSearch(game, config, noise_alpha=ALPHA, number=np.float64)
        fast.reset(0, state)
        exact.reset(state)
        fast.begin(0, 100)
        exact.begin(100)
        Recorder(game, seed).finish(fast)
        run_twin(exact, seed)
        moved += int(np.abs(fast.root(0).visits.astype(int) - np.array(exact.visits())).sum()) // 2
        total += 100
    assert moved / total < 0.05


def test_batch_size_changes_nothing() -> None:
    """Many trees, gathered one by one or all at once: the same visits."""
    game = make("connect4")
    found = []
    for max_leaves in (1, 3, 64):
        search = new_search(game, PLAIN, num_trees=16)
        generator = random.Random(1)
        for tree in range(16):
            search.reset(tree, random_position(game, generator))
            search.begin(tree, 50 + tree, noise=(9, tree, 0))
        Recorder(game, 3).finish(search, max_leaves)
        assert search.finished().tolist() == list(range(16))
        found.append([search.root(tree).visits.tolist() for tree in range(16)])
    assert found[0] == found[1] == found[2]


def test_number_of_evaluations_is_what_the_design_says() -> None:
    """Simulations + 1 - terminal: counted by a spy on a position where no line ends within the search."""
    game, spy = make("connect4"), Recorder(make("connect4"), 0)
    search = new_search(game, PLAIN)
    search.begin(0, 20)
    spy.finish(search)
    assert spy.num_evaluations == 21
    assert search.root(0).visits.sum() == search.root(0).num_simulations == 20
    search.advance(0, search.root(0).best_action or 0, keep=True)
    kept = search.root(0).num_simulations
    search.begin(0, 20)
    spy.finish(search)
    assert search.root(0).num_reused == kept
    assert spy.num_evaluations == 21 + 20 - kept, "a reused root is not evaluated again and its visits count"


def test_uncounted_reuse_adds_all_simulations() -> None:
    game, spy = make("connect4"), Recorder(make("connect4"), 0)
    search = new_search(game, replace(PLAIN, count_reused_visits=False))
    for _ in range(2):
        search.begin(0, 20)
        spy.finish(search)
        search.advance(0, search.root(0).best_action or 0, keep=True)
    assert spy.num_evaluations == 21 + 20


@pytest.mark.parametrize(
    ("moves", "value"),
    [("a3 b3 a2 b2", 1.0), ("a3 b3 a2 b2 c1", 1.0), ("a3 b3 a2 c1 b1 c3", 1.0)],
)
def test_wins_are_proven(moves: str, value: float) -> None:
    game = make("tictactoe")
    search = new_search(game, PLAIN)
    search.reset(0, state_after(game, moves))
    search.begin(0, 10_000)
    Recorder(game, 1).finish(search)
    root = search.root(0)
    assert (root.proven, root.value, root.limit) == (value, value, "proven")
    winning = [action for action, low in zip(root.actions, root.lower, strict=True) if low == value]
    assert root.best_action in winning
    target = root.policy_target()
    assert target.sum() == pytest.approx(1)
    assert {int(action) for action in root.actions[target > 0]} == set(winning)


def test_tictactoe_is_proven_a_draw() -> None:
    # Proven draws are still visited where they look best; much exploration reaches every line all the same.
    search = new_search(make("tictactoe"), replace(PLAIN, c_init=50.0))
    search.reset(0, state_after(make("tictactoe"), "b2 a1"))
    search.begin(0, 300_000)
    Recorder(make("tictactoe"), 1).finish(search)
    assert search.root(0).proven == 0.0


def test_a_proven_loss_gets_no_visits_and_no_target() -> None:
    game = make("tictactoe")
    search = new_search(game, replace(PLAIN, num_simulations=300))
    # O to move must block at a1; everything else loses at once.
    search.reset(0, state_after(game, "a3 b2 a2"))
    search.begin(0, 300)
    Recorder(game, 2).finish(search)
    root = search.root(0)
    lost = [int(action) for action, up in zip(root.actions, root.upper, strict=True) if up == -1]
    assert lost
    assert root.policy_target()[[list(root.actions).index(action) for action in lost]].sum() == 0
    assert root.best_action not in lost


def test_a_proven_draw_is_played_where_it_is_proven() -> None:
    """X holds the draw by a2 or by c2; a1 was visited most, and is only known not to win."""
    game = make("tictactoe")
    search = new_search(game, replace(PLAIN, num_simulations=400))
    search.reset(0, state_after(game, "b2 a3 b3 b1 c1 c3"))
    search.begin(0, 400)
    Recorder(game, 3411).finish(search)
    root = search.root(0)
    played = root.actions == root.best_action
    assert root.proven == 0 and root.lower[played] == 0
    assert root.visits[played] < root.visits.max()


def test_without_exact_bounds_nothing_is_proven() -> None:
    game = make("tictactoe")
    search = new_search(game, replace(PLAIN, exact_bounds=False))
    search.reset(0, state_after(game, "a3 b3 a2 b2"))
    search.begin(0, 500)
    Recorder(game, 1).finish(search)
    assert (search.root(0).proven, search.root(0).limit, search.root(0).num_simulations) == (None, "simulations", 500)


def test_noise_differs_between_roots_and_has_the_right_mean() -> None:
    draws = np.array([_core.dirichlet_noise(7, game, 3, ALPHA, 7) for game in range(4000)])
    assert len({draw.tobytes() for draw in draws}) == 4000
    assert np.abs(draws.mean(axis=0) - 1 / 7).max() < 0.01


def test_noise_acts_and_is_not_reported_as_prior() -> None:
    game = make("connect4")
    roots = []
    for noise in (None, (1, 1, 1), (1, 1, 1), (1, 2, 1)):
        search = new_search(game, PLAIN)
        search.begin(0, 60, noise=noise)
        Recorder(game, 0).finish(search)
        roots.append(search.root(0))
    plain, first, again, other = (root.visits.tolist() for root in roots)
    assert plain != first
    assert first == again
    assert first != other
    assert roots[0].priors.tolist() == roots[1].priors.tolist()


def test_cancelled_leaves_leave_no_trace() -> None:
    game = make("connect4")
    config = replace(PLAIN, leaves_in_flight=4)
    plain, disturbed = new_search(game, config), new_search(game, config)
    for search in (plain, disturbed):
        search.begin(0, 80)
    while True:
        leaves = disturbed.gather(3)
        if leaves.ticket is not None and len(leaves):
            disturbed.cancel(leaves.ticket)
        if not Recorder(game, 5).answer(disturbed, 4):
            break
    Recorder(game, 5).finish(plain)
    assert plain.root(0).visits.tolist() == disturbed.root(0).visits.tolist()


def test_leaves_stay_as_they_were() -> None:
    """The search uses the memory of answered leaves again, but not of those that somebody still looks at."""
    game = make("connect4")
    search, kept = new_search(game, PLAIN, num_trees=3), []
    for tree in range(3):
        search.begin(tree, 40, noise=(0, tree, 0))
    while len(leaves := search.gather(3)):
        if len(kept) % 3 == 0:
            kept.append((leaves, leaves.planes(), leaves.legal_actions, leaves.trees))
        else:
            kept.append(None)
        assert leaves.ticket is not None
        search.apply(leaves.ticket, np.zeros(len(leaves.legal_actions), np.float32), np.zeros(len(leaves), np.float32))
    for leaves, planes, legal_actions, trees in filter(None, kept):
        assert np.array_equal(leaves.planes(), planes) and np.array_equal(leaves.legal_actions, legal_actions)
        assert np.array_equal(leaves.trees, trees)
    assert len({planes.tobytes() for _, planes, _, _ in filter(None, kept)}) > 10


def test_tickets_of_different_trees_apply_in_any_order() -> None:
    game = make("connect4")
    found = []
    for is_reversed in (False, True):
        search = new_search(game, PLAIN, num_trees=8)
        for tree in range(8):
            search.begin(tree, 30, noise=(0, tree, 0))
        while True:
            batches = [search.gather(3) for _ in range(3)]
            batches = [leaves for leaves in batches if len(leaves)]
            if not batches:
                break
            for leaves in reversed(batches) if is_reversed else batches:
                values = np.linspace(-0.5, 0.5, 1000, dtype=np.float32)[leaves.trees * 7]
                assert leaves.ticket is not None
                search.apply(leaves.ticket, np.zeros(len(leaves.legal_actions), np.float32), values)
        found.append([search.root(tree).visits.tolist() for tree in range(8)])
    assert found[0] == found[1]


def test_a_game_with_cycles_ends() -> None:
    game = adopt(Loop())
    search = new_search(game, replace(PLAIN, num_simulations=2000))
    search.begin(0, 2000)
    Recorder(game, 1).finish(search)
    assert search.root(0).limit in ("simulations", "proven")


@pytest.mark.parametrize(("memory_mib", "limit"), [(1, "memory"), (16, "simulations")])
def test_memory_is_bounded(memory_mib: int, limit: str) -> None:
    """Also where a tree is large enough to ask the rules for actions again."""
    search = new_search(make("othello"), replace(PLAIN, memory_mib=memory_mib))
    search.begin(0, 30_000)
    while answer(search, UniformEvaluator(), 1):
        pass
    assert search.root(0).limit == limit
    assert (memory_mib == 1) == (search.root(0).num_simulations < 30_000)
    assert (1 << 19) < search.num_bytes <= memory_mib << 20


def test_too_little_memory_is_refused() -> None:
    with pytest.raises(SettingsError, match="search.memory_mib is 1, less than 64 KiB for each of 17 trees: give"):
        new_search(make("connect4"), replace(PLAIN, memory_mib=1), num_trees=17)
    new_search(make("connect4"), replace(PLAIN, memory_mib=1), num_trees=16)


def test_a_tree_that_forgets_actions_is_searched_like_its_twin() -> None:
    """Beyond a sixteenth of its memory a tree asks the rules again for the actions of a position, also a reused one."""
    game, config = make("othello"), replace(PLAIN, memory_mib=1)
    search, twin, recorder = new_search(game, config, num_trees=4), ReferenceSearch(game, config), Recorder(game, 1)
    for num_simulations in (1000, 1500):
        search.begin(0, num_simulations)
        recorder.finish(search)
        twin.begin(num_simulations)
        run_twin(twin, recorder.seed)
        assert search.root(0).visits.tolist() == twin.visits()
        action = twin.best_action()
        search.advance(0, action, keep=True)
        twin.advance(action, keep=True)


@pytest.mark.parametrize(
    ("logit", "value", "message"),
    [
        (float("nan"), 0.0, "logits of leaf 0 hold NaN"),
        (float("inf"), 0.0, "inf"),
        (0.0, float("nan"), "value of leaf 0"),
        (0.0, 1.5, "1.5, not in"),
    ],
)
def test_broken_evaluations_are_refused_by_name(logit: float, value: float, message: str) -> None:
    search = new_search(make("connect4"), PLAIN)
    search.begin(0, 10)
    leaves = search.gather(1)
    assert leaves.ticket is not None
    logits = np.zeros(7, np.float32)
    logits[3] = logit
    with pytest.raises(ValueError, match=message):
        search.apply(leaves.ticket, logits, np.array([value], np.float32))
    search.apply(leaves.ticket, np.zeros(7, np.float32), np.zeros(1, np.float32))


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
    assert (search.root(0).best_action, search.root(0).limit) == (8, "proven")


def test_moves_left_are_asked_for_by_name() -> None:
    search = new_search(make("connect4"), replace(PLAIN, moves_left_effect=0.1))
    search.begin(0, 10)
    with pytest.raises(SettingsError, match="for networks with a moves-left head, and this one has none"):
        answer(search, UniformEvaluator(), 1)
    with pytest.raises(ValueError, match="does not say how many moves are left"):
        search.apply(0, np.zeros(7, np.float32), np.zeros(1, np.float32))
    with pytest.raises(ValueError, match="number of moves left of leaf 0 is -1"):
        search.apply(0, np.zeros(7, np.float32), np.zeros(1, np.float32), moves_left=-np.ones(1, np.float32))
    with pytest.raises(ValueError, match="hold 2 of a share of draws, expected 1"):
        search.apply(0, np.zeros(7, np.float32), np.zeros(1, np.float32), draws=np.zeros(2, np.float32))


def test_misuse_is_told() -> None:
    search = new_search(make("connect4"), PLAIN)
    search.begin(0, 10)
    leaves = search.gather(1)
    assert leaves.ticket is not None
    with pytest.raises(ValueError, match="1 leaves in flight"):
        search.advance(0, 3, keep=True)
    with pytest.raises(ValueError, match="6 logits and 1 values, expected 7"):
        search.apply(leaves.ticket, np.zeros(6, np.float32), np.zeros(1, np.float32))
    search.cancel(leaves.ticket)
    with pytest.raises(ValueError, match="not in flight"):
        search.cancel(leaves.ticket)
    with pytest.raises(ValueError, match="action 9 is illegal"):
        search.advance(0, 9, keep=True)
    with pytest.raises(IndexError, match="tree 4 does not exist"):
        search.root(4)
    with pytest.raises(ValueError, match="state is of another game"):
        search.reset(0, make("tictactoe").initial_state())


@pytest.mark.parametrize(
    ("setting", "value", "others"),
    [
        ("c_init", 0.7, {}), ("c_base", 20.0, {}), ("c_factor", 60.0, {}), ("unvisited_value", "zero", {}),
        ("unvisited_value", "loss", {}), ("unvisited_reduction", 0.0, {}), ("root_noise_fraction", 0.6, {}),
        ("root_noise_alpha", 0.05, {}), ("exact_bounds", False, {}), ("leaves_in_flight", 6, {}),
        ("forced_playouts", 2.0, {}), ("root_selection", "gumbel", {}),
        ("gumbel_actions", 3, {"root_selection": "gumbel"}),
        ("gumbel_visit_scale", 0.0, {"root_selection": "gumbel"}), ("policy_target", "completed-q", {}),
        ("gumbel_value_scale", 1.0, {"root_selection": "gumbel"}),
        ("gumbel_value_scale", 1.0, {"policy_target": "completed-q"}),
        ("move_choice", "lcb", {}),
        ("variance_scale", 0.85, {}), ("variance_prior", 0.1, {"variance_scale": 0.85}),
        ("variance_prior_visits", 50.0, {"variance_scale": 0.85}), ("draw_value", -0.3, {}),
        ("moves_left_effect", 0.2, {}), ("moves_left_slope", 0.02, {"moves_left_effect": 0.2}),
        ("moves_left_threshold", 0.0, {"moves_left_effect": 0.2}), ("keep_draws", True, {}),
    ],
)  # fmt: skip
def test_every_setting_acts(setting: str, value: Any, others: dict[str, Any]) -> None:
    game = make("connect4")
    found = []
    for config in (replace(PLAIN, **others), replace(PLAIN, **{**others, setting: value})):
        search = new_search(game, config)
        search.reset(0, state_after(game, "4 4 3 3" if setting == "exact_bounds" else "4 4 4 4 2 3"))
        search.begin(0, 2000 if setting == "max_nodes" else 200, noise=(1, 0, 0))
        Recorder(game, 8).finish(search)
        root = search.root(0)
        found.append((root.policy_target().tolist(), root.best_action, root.draw is None))
    assert found[0] != found[1]


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
    """Several batches of one tree under way, applied in their order: the same visits for any number of threads."""
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
    for num_threads in (1, 2, 7):
        search = new_search(game, config)
        search.begin(0, 300)
        leaves = answer_all(
            search, FakeNetwork(3, seconds=0.001), max_leaves=5, num_batches=num_batches, num_threads=num_threads
        )
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


def test_the_cores_defaults_are_these() -> None:
    """One fact, two languages: the defaults of `SearchConfig` in Rust and in Python."""
    source = (Path(__file__).parents[1] / "crates/zerosum-core/src/search/config.rs").read_text(encoding="utf-8")
    defaults = source[source.index("fn default()") :]
    for name in (
        "c_init",
        "c_base",
        "c_factor",
        "gumbel_actions",
        "gumbel_visit_scale",
        "gumbel_value_scale",
        "forced_playouts",
        "exact_bounds",
        "count_reused_visits",
        "leaves_in_flight",
        "virtual_loss",
        "cache_positions",
    ):
        value = getattr(SearchConfig(), name)
        assert f"{name}: {str(value).lower()}," in defaults, name
    assert "RootSelection::Puct" in defaults and SearchConfig().root_selection == "puct"
    assert "PolicyTarget::Visits" in defaults and SearchConfig().policy_target == "visits"
    assert f"Parent {{ reduction: {SearchConfig().unvisited_reduction} }}" in defaults


def test_without_exact_bounds_the_root_knows_visits_alone() -> None:
    """A move that wins at once is not chosen for that, but for its visits: the paper's search."""
    game = make("connect4")
    search = new_search(game, replace(PLAIN, exact_bounds=False))
    search.reset(0, state_after(game, "4 1 4 1 4 2"))
    search.begin(0, 30, noise=(3, 1, 0))
    Recorder(game, 1).finish(search)
    root = search.root(0)
    assert (root.lower == -1).all()
    assert (root.upper == 1).all()
    assert root.best_action == int(root.actions[root.visits.argmax()])


@pytest.mark.parametrize("game_name", GAMES)
@pytest.mark.parametrize("cache_positions", [2, 64, 1 << 16])
def test_a_cache_changes_nothing_but_the_number_of_evaluations(game_name: str, cache_positions: int) -> None:
    """Many trees of like positions over several plies, kept and forgotten trees: visit by visit what it was without."""
    game = GAMES[game_name]()
    found, asked, cached = [], [], []
    for config in (PLAIN, replace(PLAIN, cache_positions=cache_positions)):
        search, recorder = new_search(game, config, num_trees=6), Recorder(game, 3)
        found.append([])
        for ply in range(3):
            for tree in range(6):
                if game.legal_actions(search.state(tree)):
                    search.begin(tree, 30 + 10 * tree, noise=(1, tree, ply))
            recorder.finish(search, 4)
            assert search.finished().tolist() == list(range(6)), "no tree waits for another"
            for tree in range(6):
                root = search.root(tree)
                found[-1].append((root.visits.tolist(), root.value, root.net_value, root.priors.tolist()))
                if root.best_action is not None:
                    search.advance(tree, root.best_action, keep=tree % 2 == 0)
        asked.append(recorder.num_evaluations)
        cached.append(search.num_cached)
    assert found[0] == found[1]
    assert asked[0] == asked[1] + cached[1] and cached[0] == 0
    assert cached[1] > (0 if cache_positions == 2 else asked[0] // 5)


def test_a_search_of_known_positions_asks_nothing() -> None:
    game = make("connect4")
    search, recorder = new_search(game, replace(PLAIN, cache_positions=10_000), num_trees=2), Recorder(game, 3)
    visits = []
    for tree in range(2):
        search.begin(tree, 300)
        recorder.finish(search, 1)
        assert search.finished().tolist() == list(range(tree + 1))
        visits.append(search.root(tree).visits.tolist())
    assert visits[0] == visits[1]
    before, num_bytes = recorder.num_evaluations, search.num_bytes
    assert before < 300
    search.reset(0, game.initial_state())
    search.begin(0, 300)
    assert len(search.gather(1)) == 0 and search.finished().tolist() == [0, 1], "the first gather settles it"
    search.clear_cache()
    search.reset(0, game.initial_state())
    search.begin(0, 300)
    recorder.finish(search, 1)
    assert recorder.num_evaluations == 2 * before, "all is asked again"
    assert search.num_bytes >= num_bytes > new_search(game, PLAIN, num_trees=2).num_bytes + 40 * before


def test_evaluations_on_their_way_are_not_kept_by_a_cleared_cache() -> None:
    """They are the old network's, whenever they arrive."""
    game = make("tictactoe")
    search = new_search(game, replace(PLAIN, cache_positions=1000), num_trees=2)
    search.begin(0, 10)
    leaves = search.gather(1)
    search.clear_cache()
    assert leaves.ticket is not None
    search.apply(leaves.ticket, np.zeros(9, np.float32), np.zeros(1, np.float32))
    search.begin(1, 10)
    assert 1 in search.gather(2).trees


def test_the_cache_knows_positions_by_what_the_network_sees() -> None:
    """1 2 3 and 3 2 1 are one question; the same stones the other way round, or another stone, are another."""
    game = make("connect4")
    search, recorder = new_search(game, replace(PLAIN, cache_positions=1000)), Recorder(game, 3)
    questions = ("1 2 3", True), ("3 2 1", False), ("1 2 3 4", True), ("2 1 4 3", True), ("3 4 1 2", False)
    for moves, is_new in questions:
        before = recorder.num_evaluations
        search.reset(0, state_after(game, moves))
        search.begin(0, 0)
        recorder.finish(search)
        assert recorder.num_evaluations == before + is_new, moves


def test_forced_playouts_are_made_and_not_learned() -> None:
    """A move that only noise proposes gets its sqrt(k * P * N) visits, and the target forgets them."""
    game, k, noise = make("connect4"), 4.0, (2, 0, 0)
    visits: dict[tuple[bool, bool], list[int]] = {}
    for forced_playouts, key in ((0.0, None), (k, None), (0.0, noise), (k, noise)):
        search = new_search(game, replace(PLAIN, forced_playouts=forced_playouts, c_init=0.1, c_factor=0.0))
        search.begin(0, 400, noise=key)
        Recorder(game, 1).finish(search)
        root = search.root(0)
        visits[forced_playouts > 0, key is not None] = root.visits.tolist()
        learned = root.visit_policy()
        assert learned.tolist() == root.policy_target().tolist()
        if key is None or forced_playouts == 0:
            np.testing.assert_allclose(learned, root.visits / root.visits.sum(), rtol=1e-6)
    assert visits[False, False] == visits[True, False], "without noise nothing is forced"
    assert visits[False, True] != visits[True, True]
    # The last search is the one that forced its playouts.
    counted = learned / learned.max() * root.visits.max()
    owed = np.sqrt(k * (0.75 * root.priors + 0.25 * _core.dirichlet_noise(*noise, ALPHA, 7)) * root.visits.sum())
    seen = root.visits > 0
    assert (root.visits[seen] >= np.floor(owed[seen])).all()
    assert (counted <= root.visits + 1e-3).all() and (counted >= root.visits - owed - 1 - 1e-3).all()
    assert counted.sum() < root.visits.sum() - 10
    assert not ((counted > 0.5) & (counted < 1.5)).any(), "a single visit goes as well"


@pytest.mark.parametrize("other", [{"root_selection": "gumbel"}, {"policy_target": "completed-q"}])
def test_forced_playouts_are_for_puct_and_visits(other: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=r"forced_playouts is 2.0, which is for root_selection 'puct'"):
        SearchConfig(forced_playouts=2.0, **other)


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
    search = new_search(game, replace(GUMBEL, gumbel_actions=2, exact_bounds=False, count_reused_visits=False))
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
        sigma = (50 + visits.max()) * 0.1 * np.where(seen, q, mixed_value)
        weights = priors * np.exp(sigma)
        np.testing.assert_allclose(root.policy_target(), weights / weights.sum(), rtol=1e-4)
        if config is GUMBEL:
            scores = np.log(priors) + sigma + _core.gumbel_noise(1, 1, 1, 7)
            assert root.best_action == int(root.actions[np.where(seen, scores, -np.inf).argmax()])
        np.testing.assert_allclose(root.visit_policy(), visits / visits.sum(), rtol=1e-6)


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
    assert all(root.has_gumbel_noise for root in roots)
    search.reset(0, game.initial_state())
    search.begin(0, 4)
    Recorder(game, 4).finish(search)
    assert not search.root(0).has_gumbel_noise
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


def test_halving_visits_a_single_move() -> None:
    game = make("tictactoe")
    search = new_search(game, replace(GUMBEL, exact_bounds=False))
    search.reset(0, state_after(game, "b2 a1 a2 c2 c3 b3 b1 a3"))
    search.begin(0, 9)
    Recorder(game, 1).finish(search)
    assert search.root(0).visits.tolist() == [9]


def test_a_root_past_a_soft_ending_is_searched() -> None:
    """The rules stop a game there, and whoever asks about the position wants to know more than that."""
    game = make("connect4(max_plies=3)")
    state = state_after(game, "1 2 3")
    assert game.ending(state) == "ply cap"
    search = new_search(game, SearchConfig(num_simulations=30, exact_bounds=False), num_trees=1)
    search.reset(0, state)
    search.begin(0, 30)
    Recorder(game, 0).finish(search)
    root = search.root(0)
    assert (root.limit, len(root.actions), int(root.visits.sum())) == ("simulations", 7, 30)
    assert np.nanmax(np.abs(root.q)) == 0, "below the root a soft ending is a leaf with its result"
    search.advance(0, 3, keep=True)
    assert search.state(0).plies == 4


def twofold_search(state: State, game: Rules, *, twofold_draw: bool) -> tuple[list[int], list[int]]:
    """Visits of a search in which kings walk to and fro, and those of its twin."""
    config = replace(PLAIN, num_simulations=600, exact_bounds=False, twofold_draw=twofold_draw, c_init=0.5)
    fast, twin = new_search(game, config), ReferenceSearch(game, config, noise_alpha=ALPHA)
    fast.reset(0, state)
    twin.reset(state)
    fast.begin(0, config.num_simulations)
    twin.begin(config.num_simulations)
    Recorder(game, 1).finish(fast)
    run_twin(twin, 1)
    return fast.root(0).visits.tolist(), twin.visits()


def test_a_position_that_comes_again_is_a_draw_where_it_is_asked_for() -> None:
    game = make("minichess")
    state = game.parse_position("k4/5/5/P4/K4 w - - 0 1")
    found = {twofold_draw: twofold_search(state, game, twofold_draw=twofold_draw) for twofold_draw in (False, True)}
    assert all(visits == twins for visits, twins in found.values())
    assert found[True] != found[False]
    with pytest.raises(SettingsError, match=r"search.twofold_draw is a guess"):
        SearchConfig(twofold_draw=True)


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


def test_the_page_of_variants_says_the_defaults() -> None:
    page = (Path(__file__).parents[1] / "docs/search.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|[^|]*\| `(\w+)` \| ([^|]+) \|", page, flags=re.MULTILINE)
    assert len(rows) > 15
    for name, default in rows:
        value = getattr(SearchConfig(), name)
        assert default == (str(value).lower() if isinstance(value, bool) else str(value)), name
