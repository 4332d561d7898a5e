"""Settings of a search: batches, memory, noise."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hidden_rules import FakeHiddenNetwork
from zerosum.base.errors import SettingsError
from zerosum.games import make, measure_game
from zerosum.network.evaluators import UniformEvaluator
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer
from zerosum.search.config import MIN_TREE_KIB, MOST_MEMORY_MIB, natural_noise_alpha, tree_mib, with_room


@given(st.integers(1, 4096), st.integers(1, 256))
def test_batches_in_flight_hold_the_leaves_in_flight(num_leaves: int, num_batches: int) -> None:
    """Parts have nearly equal sizes, and none is empty."""
    config = SearchConfig(leaves_in_flight=num_leaves, batches_in_flight=num_batches)
    assert config.num_batches == (num_batches if num_leaves >= num_batches else num_leaves)
    assert config.num_batches * config.leaves_a_batch >= num_leaves > config.num_batches * (config.leaves_a_batch - 1)


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "chess", "go9"])
def test_noise_goes_by_the_number_of_moves(name: str) -> None:
    game = make(name)
    alpha = natural_noise_alpha(game)
    assert alpha * measure_game(game).legal_actions == pytest.approx(10, rel=0.005)


def test_who_has_noise_at_the_root() -> None:
    assert SearchConfig().has_root_noise
    assert not SearchConfig(root_noise_fraction=0.0).has_root_noise
    assert SearchConfig(root_noise_fraction=0.0, root_selection="gumbel").has_root_noise


def test_memory_grows_with_the_trees_up_to_a_limit() -> None:
    game, config = make("chess"), SearchConfig(num_simulations=800, memory_mib=1)
    grown = with_room(game, config, 100)
    assert 100 * tree_mib(game, config) <= grown.memory_mib < 100 * tree_mib(game, config) + 1
    assert replace(grown, memory_mib=1) == config, "nothing else changes"
    assert with_room(game, SearchConfig(memory_mib=4096), 1).memory_mib == 4096
    assert with_room(game, config, 10**9).memory_mib == MOST_MEMORY_MIB


@pytest.mark.parametrize(
    ("name", "leaves_in_flight"), [("go19", 1), ("go19", 64), ("chess", 256), ("othello", 1), ("tictactoe", 16)]
)
def test_a_tree_has_the_memory_for_its_simulations(name: str, leaves_in_flight: int) -> None:
    """The memory of many trees, so that whole mebibytes round little."""
    game, num_trees = make(name), 4
    config = SearchConfig(num_simulations=300, memory_mib=1, leaves_in_flight=leaves_in_flight, proof_nodes=0)
    trees = new_search(game, with_room(game, config, num_trees), num_trees=num_trees)
    for tree in range(num_trees):
        trees.begin(tree, 300)
    while answer(trees, UniformEvaluator(), leaves_in_flight):
        pass
    assert {trees.root(tree).stop_reason for tree in range(num_trees)} <= {"simulations", "proven"}


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(SettingsError, match="search.num_simulations is 0, but must be between 1 and"):
        SearchConfig(num_simulations=0)


def test_too_many_trees_are_refused() -> None:
    game, config = make("connect4"), SearchConfig(memory_mib=1)
    most = 1024 // MIN_TREE_KIB
    new_search(game, config, num_trees=most)
    with pytest.raises(SettingsError, match=rf"memory_mib is 1, less than {MIN_TREE_KIB} KiB for each of {most + 1}"):
        new_search(game, config, num_trees=most + 1)


def test_more_moves_visits_and_leaves_need_more_memory() -> None:
    """Every action is a move below the root by learned rules."""
    game, known = make("chess"), SearchConfig(num_simulations=800, reuse_tree=False, proof_nodes=0, exact_bounds=False)
    least = tree_mib(game, known)
    assert tree_mib(game, replace(known, rules="learned")) > 5 * least
    assert tree_mib(game, replace(known, num_simulations=1600)) > 1.5 * least
    assert tree_mib(game, replace(known, leaves_in_flight=known.leaves_in_flight + 64)) > least
    # Kept visits count as simulations, or come beside them.
    keeps = replace(known, reuse_tree=True)
    assert tree_mib(game, replace(keeps, count_reused_visits=True)) == least
    for twice in (
        replace(keeps, count_reused_visits=False),
        replace(keeps, count_reused_visits=True, root_selection="gumbel"),
    ):
        assert tree_mib(game, twice) == pytest.approx(tree_mib(game, replace(known, num_simulations=1600)))
    for changes in ({"count_reused_visits": False}, {"root_selection": "gumbel"}):
        assert tree_mib(game, replace(known, **changes)) == least  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["tictactoe", "othello"])
def test_a_tree_of_learned_rules_has_the_memory_for_its_simulations(name: str) -> None:
    game, num_trees = make(name), 4
    config = SearchConfig(
        num_simulations=300, memory_mib=1, rules="learned", exact_bounds=False, proof_nodes=0, reuse_tree=False
    )
    trees = new_search(game, with_room(game, config, num_trees), num_trees=num_trees)
    for tree in range(num_trees):
        trees.begin(tree, 300)
    while answer(trees, FakeHiddenNetwork(1), 4):
        pass
    assert {trees.root(tree).stop_reason for tree in range(num_trees)} == {"simulations"}


def test_an_error_without_tables_is_not_blamed_on_tables() -> None:
    with pytest.raises(ValueError, match="at least one tree") as refused:
        new_search(make("chess"), SearchConfig(), num_trees=0)
    assert not isinstance(refused.value, SettingsError)
