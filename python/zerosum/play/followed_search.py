"""A search that follows a game: its tree is kept while the game goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from zerosum.base.errors import GameError
from zerosum.games import Rules, State
from zerosum.search import SearchConfig, new_search

T = TypeVar("T")


def continuation(known: Sequence[T], moves: Sequence[T]) -> Sequence[T] | None:
    """The moves after the known ones; None if the known ones are not their beginning."""
    return moves[len(known) :] if moves[: len(known)] == known else None


class FollowedSearch:
    """A tree and the position at its root, at first the initial one."""

    def __init__(self, game: Rules, config: SearchConfig) -> None:
        self.search = new_search(game, config)
        self._start = self.state = game.initial_state()
        self._actions: list[int] = []

    def set_position(self, start: State, actions: Sequence[int], *, keep: bool = True) -> None:
        """Go to the position after `actions` from `start`.

        With `keep` the tree is kept if the actions continue those of the latest position and `start` is the same
        object.

        Raises:
            GameError: an action is illegal; the position stays.
        """
        actions = list(actions)
        new = continuation(self._actions, actions) if start is self._start else None
        state = start if new is None else self.state
        for action in actions if new is None else new:
            state = self._played(state, action)
        if new is None:
            self.search.reset(0, state)
        else:
            for action in new:
                self.search.advance(0, action, keep=keep)
        self._start, self._actions, self.state = start, actions, state

    def advance(self, action: int, *, keep: bool = True) -> None:
        """Make one legal action, in a time that does not grow with the game.

        Raises:
            GameError: it is illegal; the position stays.
        """
        self.state = self._played(self.state, action)
        self.search.advance(0, action, keep=keep)
        self._actions.append(action)

    def _played(self, state: State, action: int) -> State:
        game = self.search.game
        if action not in game.legal_actions(state, past_soft_endings=True):
            raise GameError(f"Action {action} is illegal in\n{game.draw(state)}")
        return game.play(state, action)

    def forget(self) -> None:
        """Drop the tree; the position stays."""
        self.search.reset(0, self.state)

    def change(self, config: SearchConfig) -> None:
        """Make a new tree with other settings; the position stays."""
        self.search = new_search(self.search.game, config)
        self.forget()
