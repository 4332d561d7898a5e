"""Images of samples: the same games on a turned or mirrored board, with their actions permuted."""

import random
from collections import Counter

import pytest

from games_recorded import random_game, record_of
from samples_for_tests import columns_of, rows
from zerosum._core import Game
from zerosum.replay import ReplayConfig, ReplayWindow
from zerosum.replay.samples import permuted


@pytest.mark.parametrize("name", ["connect4", "tictactoe"])
def test_an_image_is_the_same_game_with_its_actions_permuted(name: str):
    game, window, draw = Game(name), ReplayWindow(ReplayConfig()), random.Random(9)
    for game_id in range(6):
        window.add(random_game(game_id, draw, name))
    samples = window.sample(300, seed=1, step=2)
    images = permuted(samples, game.spec.symmetries, seed=1, step=2)
    identity = list(range(game.spec.num_actions))
    num_moved = 0
    for (moves, target), (image_moves, image_target) in zip(rows(samples), rows(images), strict=True):
        # One symmetry takes moves and target along; where a position has few moves, several may fit.
        assert any(
            [symmetry[action] for action in moves] == image_moves
            and [symmetry[action] for action in target] == image_target
            for symmetry in (identity, *game.spec.symmetries)
        )
        state = game.initial_state()
        for action in image_moves:
            state = game.play(state, action)
        assert set(image_target) <= set(game.legal_actions(state))
        num_moved += (moves, target) != (image_moves, image_target)
    assert 0 < num_moved < 300
    images_columns = columns_of(images)
    for column, values in columns_of(samples).items():
        assert (images_columns[column] is values) == (column not in ("actions", "policies.actions")), column


def test_a_sample_and_its_images_have_equal_chances():
    """A first move beside a corner and a second one into it look different in all eight images."""
    window, symmetries = ReplayWindow(ReplayConfig()), Game("tictactoe").spec.symmetries
    window.add(record_of(0, [1, 0, 4], targets=[{}, {}, {4: 1.0}]))
    samples = window.sample(4000, seed=5, step=6)
    seen = Counter((*moves, *target) for moves, target in rows(permuted(samples, symmetries, seed=5, step=6)))
    assert set(seen) == {(symmetry[1], symmetry[0], 4) for symmetry in (list(range(9)), *symmetries)}
    assert sum((count - 500) ** 2 / 500 for count in seen.values()) < 24.3  # 7 degrees of freedom: 0.1 % of seeds fail


def test_which_image_is_shown_does_not_depend_on_which_position_was_drawn():
    """Both are drawn with the same seed and step. With one stream for both, a position would have one image only."""
    window, symmetries = ReplayWindow(ReplayConfig()), Game("tictactoe").spec.symmetries
    for game_id in range(8):
        window.add(record_of(game_id, [1, 0, 4], targets=[{}, {}, {4: 1.0}]))
    samples = window.sample(6400, seed=5, step=6)
    images = [tuple(moves) for moves, _ in rows(permuted(samples, symmetries, seed=5, step=6))]
    pairs = Counter(zip(samples.game_ids.tolist(), images, strict=True))
    assert len(pairs) == 64
    assert sum((count - 100) ** 2 / 100 for count in pairs.values()) < 103.4  # 63 degrees of freedom: 0.1 % fail


def test_images_are_a_function_of_seed_and_step():
    window, symmetries = ReplayWindow(ReplayConfig()), Game("connect4").spec.symmetries
    window.add(record_of(0, [0, 1, 2]))
    samples = window.sample(64, seed=0, step=0)
    first, again = (permuted(samples, symmetries, seed=1, step=2).actions.tolist() for _ in range(2))
    assert first == again
    assert len({tuple(permuted(samples, symmetries, seed=1, step=step).actions.tolist()) for step in range(5)}) == 5
    assert permuted(samples, [], seed=1, step=2) is samples


def test_only_games_from_starts_that_symmetries_keep_have_images():
    window, symmetries = ReplayWindow(ReplayConfig()), Game("connect4").spec.symmetries
    for game_id, start in enumerate(("", "kept", "other")):
        window.add(record_of(game_id, [0, 1, 2], start=start))
    samples = window.sample(300, seed=0, step=0)
    images = permuted(samples, symmetries, starts={"kept"}, seed=1, step=2)
    changed = {
        start
        for start, before, after in zip(samples.starts, rows(samples), rows(images), strict=True)
        if before != after
    }
    assert changed == {"", "kept"}
