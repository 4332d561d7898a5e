"""The planes of KataGo's networks against a slow twin, in random games on small boards."""

from __future__ import annotations

import random

import numpy as np
import pytest

import zerosum
from go_twin import GoTwin
from katago_planes_twin import PlanesTwin
from zerosum.games import make

VARIANTS = (
    {"komi": 6.5},
    {"komi": 7.0, "superko": "simple"},
    {"komi": -3.0, "superko": "situational", "suicide": True},
    {"komi": 0.5, "scoring": "territory", "superko": "simple"},
)


@pytest.mark.parametrize("size", [5, 6, 7])
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: ",".join(map(str, variant.values())))
def test_planes_are_those_of_a_slow_twin(size, variant):
    options = ", ".join(f"{name}={str(value).lower()}" for name, value in variant.items())
    game, draw, seen = make(f"go(size={size}, planes=katago, {options})"), random.Random(size), np.zeros(41)
    for _ in range(4):
        twin, state = PlanesTwin(GoTwin(size, **variant)), game.initial_state()
        for _ in range(2 * size**2):
            planes, expected = game.encode([state]).planes()[0], twin.planes()
            for number, (plane, other) in enumerate(zip(planes, expected, strict=True)):
                assert np.array_equal(plane, other), (
                    f"plane {number}, {game.spec.planes[number].name}\n{game.draw(state)}\n{plane}\n{other}"
                )
            seen += expected.reshape(41, -1).any(axis=1)
            legal = game.legal_actions(state)
            action = int(draw.choice(legal) if len(legal) > 1 and draw.random() < 0.97 else legal[-1])
            state = game.play(state, action)
            twin.play(action)
            if game.ending(state) is not None:
                break
    # Each kind of plane has come up.
    assert (seen[[1, 2, 3, 4, 5, 9, 13, 14, 15, 16, 17, 22, 27, 36]] > 0).all(), seen
    if variant.get("scoring") != "territory":
        assert (seen[18:20] > 0).all()


def test_what_the_planes_leave_no_choice_of():
    with pytest.raises(zerosum.GameError, match="size is 21, but planes=katago is for boards up to 19"):
        make("go(size=21, planes=katago)")
    for option in ("history=3", "liberties=3", "history_fill=zero"):
        with pytest.raises(zerosum.GameError, match="planes=katago has its own history and liberties"):
            make(f"go(size=9, planes=katago, {option})")


def test_planes_of_positions_that_were_set_up():
    """Without moves before it, a position is its own past."""
    game = make("go(size=7, planes=katago)")
    planes = game.encode([game.parse_position("7/7/7/7/1OX4/2OO3/7 O")]).planes()[0]
    assert not planes[9:14].any()
    for number in (14, 15, 16):
        assert np.argwhere(planes[number]).tolist() == [[4, 2]]
    assert np.argwhere(planes[17]).tolist() == [[3, 2]]
