"""Positions from random games, for measurements before any games have been played, and random openings."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator

from zerosum._core import uniform
from zerosum.games.rules import Leaves, Rules, State, start_state


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
    return functools.reduce(game.play, line, game.initial_state())


def random_opening(game: Rules, *, num_plies: int, seed: int, pair: int, start: str = "") -> tuple[int, ...]:
    """Uniformly random legal moves, none of which ends the game; fewer if every further move would end it."""
    state = start_state(game, start)
    opening: list[int] = []
    for ply in range(num_plies):
        ahead = {action: game.play(state, action) for action in game.legal_actions(state)}
        open_actions = [action for action, after in ahead.items() if game.outcome(after) is None]
        if not open_actions:
            break
        opening.append(open_actions[int(uniform(seed, pair, ply, "opening") * len(open_actions))])
        state = ahead[opening[-1]]
    return tuple(opening)
