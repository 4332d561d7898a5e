"""Go on boards of several sizes is played as Go on each of them alone, which has an independent twin."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from go_twin import GoTwin
from zerosum.games import make
from zerosum.games.rules import drawn_start, own_starts, start_state

FRAME, HISTORY = 11, 2
GAME = f"mixedgo(sizes=5-7-{FRAME}, komi_spread=1, history={HISTORY}, suicide=true)"


def framed(points: np.ndarray, size: int) -> np.ndarray:
    margin = (FRAME - size) // 2
    return np.pad(points.reshape(size, size), margin)


@pytest.mark.parametrize("start", range(15))
def test_a_board_is_played_as_its_twin(start: int) -> None:
    game, rng = make(GAME), random.Random(start)
    state = game.start(start)
    sizes, komis = zip(*((word.split("=")[1] for word in (game.position_text(state) or "").split()[:2]),), strict=True)
    size, komi = int(sizes[0]), float(komis[0])
    twin = GoTwin(size, komi=komi, suicide=True, history=HISTORY, liberties=3)
    numbers = np.pad(np.arange(size * size).reshape(size, size), (FRAME - size) // 2, constant_values=-1).ravel()
    own = {action: int(point) for action, point in enumerate(numbers) if point >= 0} | {FRAME**2: size * size}
    while game.legal_actions(state):
        assert [own[action] for action in game.legal_actions(state)] == twin.legal_actions()
        planes, expected = game.planes(state), twin.planes()
        np.testing.assert_array_equal(planes[0], framed(np.ones(size * size), size))
        for plane, points in zip(planes[1:-4], expected[:-1], strict=True):
            np.testing.assert_array_equal(plane, framed(points, size))
        own_komi = komi if game.player(state) == 1 else -komi
        assert planes[-3].ravel() == pytest.approx(own_komi / 20) and planes[-1].ravel() == pytest.approx(size / 19)
        action = rng.choice(game.legal_actions(state))
        state = game.play(state, action)
        twin.play(own[action])
    assert (game.outcome(state), game.ending(state)) == twin.outcome() and game.score(state) == twin.score()


def test_boards_are_drawn_alike() -> None:
    game = make(GAME)
    texts = [drawn_start(game, seed=1, number=number) for number in range(3000)]
    counts = Counter(game.position_text(start_state(game, text)) for text in texts)
    assert len(counts) == game.num_starts == 15 and min(counts.values()) > 130


def test_the_side_of_a_board_is_a_share_of_nineteen() -> None:
    names = [plane.name for plane in make(GAME).spec.planes]
    assert names[0] == "points of the board" and names[-4:] == [
        "1 if the last move was a pass",
        "own komi / 20",
        "how far own komi is from a draw, as a wave",
        "side of the board / 19",
    ]


def test_symmetries_keep_every_start() -> None:
    """Samples of games from every start are learned from in all images, which must be positions of the game."""
    game, rng = make(GAME), random.Random(3)
    starts = own_starts(game)
    assert len(starts) == game.num_starts
    for start in sorted(starts):
        for symmetry in game.spec.symmetries:
            state = image = start_state(game, start)
            for _ in range(12):
                legal = game.legal_actions(state)
                assert sorted(symmetry[action] for action in legal) == game.legal_actions(image)
                action = rng.choice(legal)
                state, image = game.play(state, action), game.play(image, symmetry[action])
            assert game.outcome(state) == game.outcome(image)
