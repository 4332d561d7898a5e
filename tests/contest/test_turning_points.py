"""Sacrifices and sharp changes against their definitions, written out."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from zerosum.contest.turning_points import LEAST_DEFICIT, Sacrifice, sacrifice, sharpest_change

values = st.sampled_from([-0.5, 0.0, 0.2, 0.8, math.nan])
games = st.lists(st.tuples(values, st.integers(-3, 3)), max_size=14)


def slow_sacrifice(game: list[tuple[float, int]], player: int, lasting: int) -> Sacrifice | None:
    """Every window of positions, as the docstring has it."""
    sign = 1 if player == 0 else -1
    best: Sacrifice | None = None
    for start in range(len(game) - lasting + 1):
        had_been_level = any(-sign * material < LEAST_DEFICIT for _, material in game[:start])
        window = game[start : start + lasting]
        deficit = min(-sign * material for _, material in window)
        if not had_been_level or deficit < LEAST_DEFICIT or not all(sign * value > 0 for value, _ in window):
            continue
        if best is None or deficit > best.deficit:
            end = start + lasting
            while end < len(game) and sign * game[end][0] > 0 and -sign * game[end][1] >= deficit:
                end += 1
            best = Sacrifice(player, start, end - 1, float(deficit))
    return best


@given(games, st.integers(0, 1), st.integers(1, 4))
def test_a_sacrifice_is_the_largest_deficit_that_lasts(
    game: list[tuple[float, int]], player: int, lasting: int
) -> None:
    columns = np.array(game, float).reshape(-1, 2)
    found = sacrifice(columns[:, 0], columns[:, 1], player=player, lasting_plies=lasting)
    assert found == slow_sacrifice(game, player, lasting)


@given(st.lists(values, max_size=8))
def test_the_sharpest_change_is_of_two_known_neighbours(values: list[float]) -> None:
    found = sharpest_change(np.array(values, float))
    pairs = [(abs(b - a), -at) for at, (a, b) in enumerate(itertools.pairwise(values)) if not math.isnan(a + b)]
    if not pairs:
        assert found is None
        return
    assert found is not None
    size, place = max(pairs)
    assert (found.index, abs(found.after - found.before)) == (-place, size)
