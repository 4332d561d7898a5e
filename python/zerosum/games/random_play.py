"""Positions from random games, for measurements before any games have been played."""

from __future__ import annotations

import random
from collections.abc import Iterator

from zerosum.games.rules import Leaves, Rules, State


def random_leaves(game: Rules, num: int) -> Leaves:
    """Positions of random games that are not over."""
    return game.encode([state_of(game, line) for line in random_lines(game, num=num, seed=1)])


def random_lines(game: Rules, *, num: int, seed: int) -> Iterator[list[int]]:
    """Moves that lead to positions that are not over: random numbers of moves of random games."""
    generator = random.Random(seed)
    for _ in range(num):
        state, line = game.initial_state(), list[int]()
        while legal := game.legal_actions(state):
            line.append(generator.choice(legal))
            state = game.play(state, line[-1])
        yield line[: generator.randrange(len(line))]


def state_of(game: Rules, line: list[int]) -> State:
    """The position after these moves."""
    state = game.initial_state()
    for action in line:
        state = game.play(state, action)
    return state
