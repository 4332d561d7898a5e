"""The interface of an exam: a part makes tasks, a task is a position with a judge of the moves played from it.

A judge looks at each move of the player. It ends the task, or makes the reply of the other side:

    position ──> player's move ──> judge ──> right, or wrong with the reason
        ^                            │
        └────────── reply <──────────┘
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from zerosum.games import Rules, State
from zerosum.search import SearchConfig, new_search

FORCED_POSITIONS = 200_000
"""Positions that are searched for a forced win after a move that is not one of those asked for."""


@dataclass(frozen=True)
class Step:
    """What a judge says about a move."""

    is_right: bool | None = None
    """Whether the task is done right; None if it continues."""
    reason: str = ""
    """Why the move or the game is wrong, in words; "" otherwise."""
    reply: int | None = None
    """The legal move of the other side, after which the player is to move; None if the task is over."""

    @classmethod
    def right(cls) -> Step:
        """The task is done."""
        return cls(is_right=True)

    @classmethod
    def wrong(cls, reason: str) -> Step:
        """The task is failed for this reason."""
        return cls(is_right=False, reason=reason)


class Judge(Protocol):
    """The judge of a task; it keeps no state, so that tasks may be repeated."""

    def judge(self, game: Rules, state: State, action: int, *, num_moves: int) -> Step:
        """What a move means.

        Args:
            game: The rules.
            state: The position before the move, with the history of the task.
            action: The player's legal move in it.
            num_moves: The player's moves in this task, this one included.
        """


@dataclass(frozen=True)
class ExamTask:
    """A position in which the player is to move."""

    start: str
    """The position, as `zerosum.games.start_state` takes it."""
    judge: Judge


@dataclass(frozen=True)
class Part:
    """A part of an exam: tasks of one kind."""

    name: str
    """A short name in lower case, such as "mate in 2"."""
    question: str
    """What the player is asked to do, in a sentence."""
    wanted: float
    """The share of right answers that is wanted, in (0, 1]."""
    num_tasks: int
    """Number of tasks if no other is asked for."""
    make_tasks: Callable[[Rules, int, int], list[ExamTask]]
    """Makes tasks of a game from their number and a seed; equal arguments make equal tasks."""


@dataclass(frozen=True)
class RightMoves:
    """A judge of one move: it is right if it is one of a set."""

    actions: frozenset[int]
    """The right moves."""

    def judge(self, game: Rules, state: State, action: int, *, num_moves: int) -> Step:
        """As `Judge.judge`; the task ends with the first move."""
        if action in self.actions:
            return Step.right()
        texts = sorted(game.action_text(state, right) for right in self.actions)
        return Step.wrong(f"{game.action_text(state, action)} instead of {' or '.join(texts)}")


def wins_by_force(game: Rules, state: State, player: int) -> bool:
    """Whether a player, 0 or 1, who is not to move has won or wins by force, as a bounded search sees."""
    if game.outcome(state) is not None:
        return is_won(game, state, player)
    search = new_search(game, SearchConfig(root_noise_alpha=1.0))
    search.reset(0, state)
    search.prove(0, FORCED_POSITIONS)
    forced = search.forced(0)
    return forced is not None and forced[0] == -1


def is_won(game: Rules, state: State, player: int) -> bool:
    """Whether the game is over and this player, 0 or 1, has won."""
    return game.outcome(state) == (1 if player == 0 else -1)
