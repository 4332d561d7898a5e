"""Exact results of nearly filled boards of Go, by a search of all lines in the few points that are still open.

The rest of the board is a frame: for each side one chain with eyes that live whatever happens. Only moves in the hole
that the frame leaves, and passes, are searched. Stones count as alive after two passes, as the rules say, so that dead
ones must be taken where that matters. A position is searched once, whatever led to it: where superko forbids a move in
one line and not in another, the first line that was searched counts.
"""

from __future__ import annotations

import functools
from collections.abc import Set
from dataclasses import dataclass

from zerosum.games import Rules, State
from zerosum.run.exam.task import Judge, Step, is_won

MOST_POSITIONS = 4_000
"""Positions that are searched for one result before it counts as unknown."""

NO_LIMIT = 1 << 60
"""For results that must be known: superko ends every search."""
AFTER_A_PASS = " passes=1"
"""What the text of a position says after a pass."""


class TooLargeError(Exception):
    """A result takes more positions than allowed."""


@dataclass(frozen=True)
class Hole:
    """The open points of a game, as actions, and a search in them."""

    game: Rules
    points: frozenset[int]
    max_positions: int = MOST_POSITIONS

    def result(self, state: State) -> int:
        """The result for the player to move: 1, 0 or -1. Raises TooLargeError."""
        return self._search.best(state, -1, 1, self.max_positions)

    @functools.cached_property
    def _search(self) -> _Search:
        return _Search(self.game, self.points | {self.game.spec.num_actions - 1})

    def after(self, state: State, action: int) -> int:
        """The result of a move for its player. Raises TooLargeError."""
        after = self.game.play(state, action)
        outcome = self.game.outcome(after)
        if outcome is not None:
            return _sign(outcome if self.game.player(state) == 0 else -outcome)
        return -self.result(after)

    def right_moves(self, state: State) -> frozenset[int]:
        """All moves, also outside of the hole, with the best result. Raises TooLargeError."""
        results = {action: self.after(state, action) for action in self.game.legal_actions(state)}
        return frozenset(action for action, result in results.items() if result == max(results.values()))


def _sign(result: float) -> int:
    return (result > 0) - (result < 0)


class _Search:
    """Alpha-beta searches that share a table of bounds."""

    def __init__(self, game: Rules, moves: Set[int]) -> None:
        self._game, self._moves, self._left = game, moves, 0
        self._bounds: dict[str, tuple[int, int]] = {}
        """Bounds of the result of a position for its player to move."""

    def best(self, state: State, low: int, high: int, max_positions: int) -> int:
        """The result within these bounds."""
        self._left = max_positions
        return self._best(state, low, high)

    def _best(self, state: State, low: int, high: int) -> int:
        game = self._game
        outcome = game.outcome(state)
        if outcome is not None:
            return _sign(outcome if game.player(state) == 0 else -outcome)
        key = game.position_text(state) or ""
        least, most = self._bounds.get(key, (-1, 1))
        if least == most or least >= high:
            return least
        if most <= low:
            return most
        low, high = max(low, least), min(high, most)
        self._left -= 1
        if self._left < 0:
            raise TooLargeError
        found = -1
        for action in self._ordered(state, key):
            found = max(found, -self._best(game.play(state, action), -high, -max(low, found)))
            if found >= high:
                break
        if found >= high:
            least = max(least, found)
        elif found <= low:
            most = min(most, found)
        else:
            least = most = found
        self._bounds[key] = least, most
        return found

    def _ordered(self, state: State, text: str) -> list[int]:
        """The moves in the hole, and the pass: last, because it rarely shows anything, but first after a pass."""
        found = [action for action in self._game.legal_actions(state) if action in self._moves]
        return found[::-1] if AFTER_A_PASS in text else found


@dataclass(frozen=True)
class KeepsWin(Judge):
    """The player must win the game that it wins by exact play, to the second pass."""

    points: frozenset[int]
    """The points of the hole."""

    def judge(self, game: Rules, state: State, action: int, *, num_moves: int) -> Step:
        """As `Judge.judge`; the reply leaves the fewest right answers."""
        player, after, hole = game.player(state), game.play(state, action), Hole(game, self.points, NO_LIMIT)
        text = game.action_text(state, action)
        if game.outcome(after) is not None:
            return Step.right() if is_won(game, after, player) else Step.wrong(f"{text} ends the game without a win")
        if hole.result(after) >= 0:
            return Step.wrong(f"{text} gives the win away")
        moves = self.points | {game.spec.num_actions - 1}
        replies = [reply for reply in game.legal_actions(after) if reply in moves]
        reply = min(replies, key=lambda reply: self._num_answers(hole, game.play(after, reply)))
        if game.outcome(game.play(after, reply)) is not None:
            return Step.right()
        return Step(reply=reply)

    def _num_answers(self, hole: Hole, state: State) -> float:
        """The number of moves in the hole, with the pass, that still win; infinite if the game is over."""
        if hole.game.outcome(state) is not None:
            return float("inf")
        moves = self.points | {hole.game.spec.num_actions - 1}
        return sum(hole.after(state, action) > 0 for action in hole.game.legal_actions(state) if action in moves)
