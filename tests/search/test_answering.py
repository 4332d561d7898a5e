"""The loop between a search and an evaluator: sizes of batches, how many are under way, its end, its counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from searches_for_tests import ALPHA, PLAIN, FakeNetwork
from zerosum._core import Leaves, Search
from zerosum.games import make
from zerosum.network.evaluators.evaluator import Evaluations
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer, answer_all, answered

GAME = make("connect4")


class Counting(FakeNetwork):
    """A network that remembers the sizes of its batches."""

    def __init__(self) -> None:
        super().__init__(3)
        self.sizes: list[int] = []

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """Answer."""
        self.sizes.append(len(leaves))
        return super().evaluate(leaves)


def begun(num_simulations: int = 300, **changes: object) -> Search:
    config = replace(PLAIN, root_noise_alpha=ALPHA, num_simulations=num_simulations, **changes)  # type: ignore[arg-type]
    search = new_search(GAME, config)
    search.begin(0, num_simulations)
    return search


@pytest.mark.parametrize("num_batches", [1, 2, 3])
@pytest.mark.parametrize("leaves_in_flight", [1, 6, 48])
def test_all_leaves_are_answered_and_counted(num_batches: int, leaves_in_flight: int) -> None:
    search, network = begun(leaves_in_flight=leaves_in_flight), Counting()
    asked: list[int] = []

    def most(num_leaves: int) -> int:
        asked.append(num_leaves)
        return 1 + num_leaves % 5

    found = answer_all(search, network, max_leaves=most, num_batches=num_batches)
    assert found == sum(network.sizes)
    assert search.root(0).stop_reason == "simulations" and search.root(0).num_simulations >= 300
    assert all(0 < size <= 5 for size in network.sizes)
    # It is asked with the leaves that were answered before.
    assert asked == sorted(asked) and asked[0] == 0 and 0 <= found - asked[-1] <= 5 * num_batches
    if num_batches == 1:
        assert set(asked) <= {0, *np.cumsum(network.sizes).tolist()}
        assert all(
            size <= 1 + before % 5 for size, before in zip(network.sizes, [0, *np.cumsum(network.sizes)], strict=False)
        )
    plain = Counting()
    again = answer_all(begun(leaves_in_flight=leaves_in_flight), plain, max_leaves=4, num_batches=num_batches)
    assert again == sum(plain.sizes) and max(plain.sizes) <= 4


@pytest.mark.parametrize("num_batches", [1, 2])
def test_it_ends_when_it_is_told(num_batches: int) -> None:
    """Evaluations under way are applied first; the search can continue afterwards."""
    for most in (0, 1, 2, 7):
        search, network = begun(leaves_in_flight=16), Counting()
        looks = iter(range(1000))
        found = answer_all(
            search,
            network,
            max_leaves=4,
            num_batches=num_batches,
            is_over=lambda: next(looks) >= most,  # noqa: B023
        )
        assert found == sum(network.sizes) and len(network.sizes) <= most
        assert (found > 0) == (most > 0)
        assert search.root(0).stop_reason is None
        more = answer_all(search, network, max_leaves=4, num_batches=num_batches)
        assert found + more == sum(network.sizes)
        assert search.root(0).stop_reason == "simulations"


def test_one_round_returns_the_number_of_its_leaves() -> None:
    search, network, counts = begun(leaves_in_flight=8), Counting(), list[int]()
    while count := answer(search, network, 3):
        counts.append(count)
    assert counts == network.sizes and max(counts) == 3
    assert search.root(0).stop_reason == "simulations"
    assert answer(search, network, 3) == 0
    assert len(answered(search, network, 3)) == 0 and counts == network.sizes


class OneMoveLeft(FakeNetwork):
    """A network that must not be asked again."""

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """Answer the root alone."""
        assert len(leaves) == 1
        return super().evaluate(leaves)


@pytest.mark.parametrize("num_batches", [0, 1, 2])
def test_simulations_without_leaves_go_on_to_their_number(num_batches: int) -> None:
    """A board with one free square: all but the root are ends, more of them than one `gather` makes."""
    game, state = make("tictactoe"), make("tictactoe").initial_state()
    for action in (0, 1, 2, 4, 3, 5, 7, 6):
        state = game.play(state, action)
    config = replace(SearchConfig(), exact_bounds=False, num_simulations=20_000, root_noise_alpha=ALPHA)
    search = new_search(game, config)
    search.reset(0, state)
    search.begin(0, 20_000)
    if num_batches:
        assert answer_all(search, OneMoveLeft(1), max_leaves=4, num_batches=num_batches) == 1
    else:
        assert (answer(search, OneMoveLeft(1), 4), answer(search, OneMoveLeft(1), 4)) == (1, 0)
    assert search.root(0).num_simulations >= 20_000
