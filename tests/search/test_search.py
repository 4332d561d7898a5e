"""The fast search against its readable twin, and the promises of the design: counts, bounds, noise, reuse, tickets."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from games_for_tests import Loop
from search_twin import ReferenceSearch
from searches_for_tests import (
    ALPHA,
    GAMES,
    PLAIN,
    Recorder,
    random_position,
    run_twin,
)
from zerosum import _core
from zerosum.base.errors import SettingsError
from zerosum.games import adopt, make, state_after
from zerosum.network.evaluators import UniformEvaluator
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer
from zerosum.search.config import tree_mib


def random_config(generator: random.Random) -> SearchConfig:
    root_selection, policy_target = generator.choice(["puct", "gumbel"]), generator.choice(["visits", "completed-q"])
    return SearchConfig(
        num_simulations=generator.choice([1, 2, 7, 40, 120]),
        c_init=generator.choice([0.5, 1.25, 2.5, 2.1]),
        c_base=generator.choice([50.0, 19652.0]),
        c_factor=generator.choice([0.0, 1.0, 2.0]),
        unvisited_value=generator.choice(["loss", "zero", "parent"]),
        unvisited_reduction=generator.choice([0.0, 0.2, 0.5]),
        prior_temperature=generator.choice([1.0, 0.7, 1.5]),
        root_noise_fraction=generator.choice([0.0, 0.25]),
        root_noise_alpha=ALPHA,
        root_selection=root_selection,
        gumbel_actions=generator.choice([2, 4, 16]),
        gumbel_visit_scale=generator.choice([10.0, 50.0]),
        gumbel_value_scale=generator.choice([0.02, 0.1, 1.0]),
        policy_target=policy_target,
        move_choice=generator.choice(["visits", "lcb"]),
        lcb_deviations=generator.choice([0.5, 5.0]),
        lcb_least_share=generator.choice([0.0, 0.15]),
        keep_draws=generator.random() < 0.5,
        exact_bounds=generator.random() < 0.5,
        reuse_tree=generator.random() < 0.5,
        count_reused_visits=generator.random() < 0.5,
        leaves_in_flight=generator.choice([1, 1, 2, 5, 20]),
        virtual_loss=generator.choice([0.0, 0.5, 1.0, 2.0]),
        collision_share=generator.choice([0.0, 0.05, 0.5, 1.0]),
        threads=generator.choice([1, 1, 1, 3]),
        cache_positions=generator.choice([0, 1 << 14]),
    )


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
            if generator.random() < 0.3:
                favoured = [action for action in game.legal_actions(fast.state(0)) if generator.random() < 0.3]
                fast.favour(0, favoured[::-1])
                twin.favour(favoured)
            max_settled = generator.choice([0, 1, 10, 4096])
            Recorder(game, seed, max_settled=max_settled).finish(fast)
            run_twin(twin, seed, max_settled=max_settled)
            root = fast.root(0)
            assert fast.finished().tolist() == [0], f"{config}"
            assert twin.is_finished
            place = f"seed {seed}, ply {ply}, {config}\n{game.draw(fast.state(0))}"
            assert root.visits.tolist() == twin.visits(), place
            assert root.num_simulations == twin.root.visits - 1, place
            assert root.value == pytest.approx(twin.value(), abs=1e-5), place
            assert root.proven == (pytest.approx(twin.value()) if twin.root.is_proven else None), place
            if root.draw_shares is not None:
                children = [child for child in twin.root.children.values() if child.visits]
                expected = [child.draw_sum / child.visits for child in children]
                np.testing.assert_allclose(root.draw_shares[root.visits > 0], expected, rtol=1e-6, err_msg=place)
                assert root.draw_share == pytest.approx(twin.root.draw_sum / twin.root.visits)
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


def test_a_large_tree_is_kept_whole() -> None:
    """One in which other nodes do not keep their actions any more, to spare memory."""
    game = make("go19")
    search = new_search(game, SearchConfig(leaves_in_flight=64, count_reused_visits=False))
    for action in (60, 72):
        search.restrict(0, [action])
        search.begin(0, 2500)
        while answer(search, UniformEvaluator(), 64):
            pass
        search.advance(0, action, keep=True)
        root = search.root(0)
        assert root.num_simulations > 2000
        assert root.actions.tolist() == game.legal_actions(search.state(0))


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
    assert (root.proven, root.value, root.stop_reason) == (value, value, "proven")
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
    assert (search.root(0).proven, search.root(0).stop_reason, search.root(0).num_simulations) == (
        None,
        "simulations",
        500,
    )


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


def test_the_most_visited_part_of_a_tree() -> None:
    """The whole of a small tree, and its beginning."""
    game = make("connect4")
    search = new_search(game, PLAIN)
    search.begin(0, 60)
    Recorder(game, 5).finish(search)
    nodes = search.most_visited(0, 1000)
    visits = [visits for _, _, visits, _ in nodes]
    assert visits == sorted(visits, reverse=True) and visits[0] == 61 and visits[-1] == 1
    below: list[dict[int, int]] = [{} for _ in nodes]
    for parent, action, num, _ in nodes[1:]:
        below[parent][action] = num
    root = search.root(0)
    assert below[0] == {
        action: num for action, num in zip(root.actions.tolist(), root.visits.tolist(), strict=True) if num
    }
    # All visits but the first went on to a child, unless the game was over.
    assert all(sum(children.values()) in (0, num - 1) for children, num in zip(below, visits, strict=True))
    for count in (0, 1, 7, len(nodes)):
        assert search.most_visited(0, count) == nodes[:count]


def test_a_tree_has_room_for_what_it_keeps() -> None:
    """A Gumbel root counts new visits alone, so a tree that is kept grows beyond `num_simulations`."""
    game = make("connect4")
    small = tree_mib(game, PLAIN)
    large = tree_mib(game, replace(PLAIN, count_reused_visits=False))
    assert large > 1.5 * small
    gumbel = replace(PLAIN, root_selection="gumbel")
    assert tree_mib(game, gumbel) == large
    assert tree_mib(game, replace(gumbel, reuse_tree=False)) == small


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
    assert search.root(0).stop_reason in ("simulations", "proven")


@pytest.mark.parametrize(("memory_mib", "stop_reason"), [(1, "memory"), (16, "simulations")])
def test_memory_is_bounded(memory_mib: int, stop_reason: str) -> None:
    """Also where a tree is large enough to ask the rules for actions again."""
    search = new_search(make("othello"), replace(PLAIN, memory_mib=memory_mib))
    search.begin(0, 30_000)
    while answer(search, UniformEvaluator(), 1):
        pass
    assert search.root(0).stop_reason == stop_reason
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
    with pytest.raises(ValueError, match="hold 2 of a share of draws, expected 1"):
        search.apply(leaves.ticket, logits, np.zeros(1, np.float32), draw_shares=np.zeros(2, np.float32))
    search.apply(leaves.ticket, np.zeros(7, np.float32), np.zeros(1, np.float32))


def test_misuse_is_told() -> None:
    search = new_search(make("connect4"), PLAIN)
    search.begin(0, 10)
    leaves = search.gather(1)
    assert leaves.ticket is not None
    with pytest.raises(ValueError, match="1 leaves in flight"):
        search.advance(0, 3, keep=True)
    with pytest.raises(ValueError, match="6 logits and 1 values, expected 7"):
        search.apply(leaves.ticket, np.zeros(6, np.float32), np.zeros(1, np.float32))
    search.apply(leaves.ticket, np.zeros(7, np.float32), np.zeros(1, np.float32))
    with pytest.raises(ValueError, match="not in flight"):
        search.apply(leaves.ticket, np.zeros(7, np.float32), np.zeros(1, np.float32))
    with pytest.raises(ValueError, match="action 9 is illegal"):
        search.advance(0, 9, keep=True)
    with pytest.raises(IndexError, match="tree 4 does not exist"):
        search.root(4)


@pytest.mark.parametrize(
    ("setting", "value", "others"),
    [
        ("c_init", 0.7, {}), ("c_base", 20.0, {}), ("c_factor", 60.0, {}), ("unvisited_value", "zero", {}),
        ("unvisited_value", "loss", {}), ("unvisited_reduction", 0.0, {}), ("root_noise_fraction", 0.6, {}),
        ("root_noise_alpha", 0.05, {}), ("prior_temperature", 3.0, {}),
        ("exact_bounds", False, {}), ("leaves_in_flight", 6, {}),
        ("root_selection", "gumbel", {}),
        ("gumbel_actions", 3, {"root_selection": "gumbel"}),
        ("gumbel_visit_scale", 0.0, {"root_selection": "gumbel"}), ("policy_target", "completed-q", {}),
        ("gumbel_value_scale", 1.0, {"root_selection": "gumbel"}),
        ("gumbel_value_scale", 1.0, {"policy_target": "completed-q"}),
        ("move_choice", "lcb", {}),
        ("keep_draws", True, {}),
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
        found.append((root.policy_target().tolist(), root.best_action, root.draw_share is None))
    assert found[0] != found[1]


def test_the_cores_defaults_are_these() -> None:
    """One fact, two languages: the defaults of `SearchConfig` in Rust and in Python."""
    source = (Path(__file__).parents[2] / "crates/zerosum-core/src/search/config.rs").read_text(encoding="utf-8")
    defaults = source[source.index("fn default()") :]
    for name in (
        "c_init",
        "c_base",
        "c_factor",
        "prior_temperature",
        "gumbel_actions",
        "gumbel_visit_scale",
        "gumbel_value_scale",
        "exact_bounds",
        "count_reused_visits",
        "leaves_in_flight",
        "virtual_loss",
        "collision_share",
        "threads",
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


def test_the_page_of_variants_says_the_defaults() -> None:
    page = (Path(__file__).parents[2] / "docs/search.md").read_text(encoding="utf-8")
    variants = page.partition("\n## Variants\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\|[^|]*\| `(\w+)` \| ([^|]+) \|", variants, flags=re.MULTILINE)
    assert len(rows) > 15
    for name, default in rows:
        value = getattr(SearchConfig(), name)
        assert default == (str(value).lower() if isinstance(value, bool) else str(value) or '""'), name
