"""A medley plays each of its games as that game alone does, which has an independent twin."""

from __future__ import annotations

import random

import numpy as np
import pytest

from zerosum.games import make

SIZES = (4, 5, 8)
ALONE = {
    "hex": "hex(size={size})",
    "gomoku": "gomoku(size={size}, length=4)",
    "breakthrough": "breakthrough(size={size})",
}
"""The games of a medley, in the order of their planes, by their names and options outside of it."""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ALONE)
def test_a_game_is_played_as_alone(name: str, size: int) -> None:
    medley, own, rng = make(f"medley(size={size}, games={name})"), make(ALONE[name].format(size=size)), random.Random(1)
    first = size**2 if name == "breakthrough" else 0
    names = [[float(other == name)] for other in ALONE]
    for _ in range(20):
        state, alone = medley.initial_state(), own.initial_state()
        while own.outcome(alone) is None:
            assert medley.legal_actions(state) == [first + action for action in own.legal_actions(alone)]
            assert medley.player(state) == own.player(alone) and medley.outcome(state) is None
            planes = medley.planes(state).reshape(-1, size**2)
            np.testing.assert_array_equal(planes[:2], own.planes(alone)[:2].reshape(2, -1))
            np.testing.assert_array_equal(planes[2:], np.broadcast_to(names, (3, size**2)))
            action = rng.choice(own.legal_actions(alone))
            assert medley.action_text(state, first + action) == own.action_text(alone, action)
            state, alone = medley.play(state, first + action), own.play(alone, action)
        assert medley.outcome(state) == own.outcome(alone) and medley.legal_actions(state) == []
        assert medley.ending(state) == own.ending(alone)


def test_each_game_of_a_medley_is_a_start() -> None:
    medley = make("medley(size=4)")
    starts = [medley.position_text(medley.start(number)) for number in range(medley.num_starts)]
    assert [(text or "").partition(":")[0] for text in starts] == list(ALONE)
