"""Forced mates of a few plies, for any game in which `Game.alpha_beta` sees them.

The positions come from games between weak players that search one and two plies and often move at random. The length of
a mate is that of a search of all lines.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

from zerosum.games import Rules, State
from zerosum.run.exam.task import ExamTask, Judge, Part, Step, is_won

RANDOM_SHARE = 0.4
"""Share of random moves in the games."""
FIRST_PLY = 10
"""Plies of a game before its positions are looked at."""


def mate_part(name: str, plies: int, *, wanted: float, num_tasks: int = 200) -> Part:
    """A part of mates in exactly so many plies, an odd number, played out against the longest defence."""
    question = f"Give mate in {plies} {'ply' if plies == 1 else 'plies'} against the longest defence."

    def make_tasks(game: Rules, number: int, seed: int) -> list[ExamTask]:
        found = itertools.islice(mates(game, plies, seed=seed), number)
        return [ExamTask(game.position_text(state) or "", Mate(plies)) for state in found]

    return Part(name, question, wanted, num_tasks, make_tasks)


def mates(game: Rules, plies: int, *, seed: int) -> Iterator[State]:
    """Positions whose player to move wins in exactly so many plies, one of each game, without end."""
    generator = random.Random(f"{seed} mates {plies}")
    for number in itertools.count():
        state = game.initial_state()
        while game.outcome(state) is None:
            if state.plies >= FIRST_PLY:
                found = game.alpha_beta(state, depth=plies, seed=seed, game=number)
                if found.result == 1 and found.delay == -plies:
                    yield state
                    break
            if generator.random() < RANDOM_SHARE:
                action = generator.choice(game.legal_actions(state))
            else:
                depth = 2 if game.player(state) == number % 2 else 1
                action = game.alpha_beta(state, depth=depth, seed=seed, game=number).action
            state = game.play(state, action)


@dataclass(frozen=True)
class Mate(Judge):
    """The player must win within so many plies, and each of its moves must keep to that."""

    plies: int

    def judge(self, game: Rules, state: State, action: int, *, num_moves: int) -> Step:
        """As `Judge.judge`; the reply is the longest defence."""
        after, left = game.play(state, action), self.plies - 2 * num_moves + 1
        if is_won(game, after, game.player(state)):
            return Step.right()
        text = game.action_text(state, action)
        if left == 0 or game.outcome(after) is not None:
            return Step.wrong(f"{text} does not mate")
        found = game.alpha_beta(after, depth=left, seed=0)
        if found.result == -1 and found.delay <= left:
            return Step(reply=found.action)
        return Step.wrong(f"{text} does not mate in {left + 1} plies")
