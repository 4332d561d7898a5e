"""Exact results of boards of Go that are filled but for a hole, by proof-number search with the rules of the game.

The rest of the board is a frame: for each side one chain with eyes that live whatever happens. Only moves in the hole
that the frame leaves, and passes, are searched, to the second pass or until a side has enough points for certain
(`go_life.py`). Stones count as alive after two passes, as the rules say, so that dead ones must be taken where that
matters. The search is depth-first with a table (Nagai 2002, "Df-pn algorithm for searching AND/OR trees"). The numbers
of a position are kept whatever led to it: where superko forbids a move in one line and not in another, the first line
that was searched counts.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Set
from dataclasses import dataclass

from typing_extensions import override

from zerosum.games import Rules, State
from zerosum.run.exam.go_life import BOARD, beside, certain_points, stones, whole_chain
from zerosum.run.exam.task import Judge, Step, is_won

MOST_POSITIONS = 800
"""Positions that are searched for one result before it counts as unknown."""
MOST_OF_A_CHAIN = 300
"""The same for the fate of a chain."""
NO_LIMIT = 1 << 60
"""For results that must be known: superko ends every line."""


class TooLargeError(Exception):
    """A result takes more positions than allowed."""


@dataclass(frozen=True)
class Hole:
    """The open points of a game, as actions, and a search in them."""

    game: Rules
    points: frozenset[int]
    max_positions: int = MOST_POSITIONS

    def wins(self, state: State, player: int) -> bool:
        """Whether a player, 0 or 1, wins by exact play; a draw is not a win. Raises TooLargeError."""
        return self._searches[player].wins(state, self.max_positions)

    def wins_by(self, state: State, action: int) -> bool:
        """Whether the player to move wins after its move. Raises TooLargeError."""
        return self.wins(self.game.play(state, action), self.game.player(state))

    def winning_moves(self, state: State) -> frozenset[int]:
        """All moves, also outside of the hole, with which the player to move wins. Raises TooLargeError."""
        return frozenset(action for action in self.game.legal_actions(state) if self.wins_by(state, action))

    def moves(self, state: State) -> list[int]:
        """The legal moves in the hole, and the pass."""
        return _moves_in(self.game, self.points, state)

    @functools.cached_property
    def _searches(self) -> tuple[_Wins, _Wins]:
        moves = self.points | {self.game.spec.num_actions - 1}
        return _Wins(self.game, moves, 0), _Wins(self.game, moves, 1)


@dataclass(frozen=True)
class Fate:
    """Whether a chain in a hole can be captured, by an exact search of all moves in the hole and passes."""

    game: Rules
    points: frozenset[int]
    target: int
    """A point of the chain."""
    owner: int
    """The player, 0 or 1, whose chain it is."""
    max_positions: int = MOST_OF_A_CHAIN

    def is_captured(self, state: State) -> bool:
        """Whether the other side captures the chain by force. Raises TooLargeError."""
        return self._search.wins(state, self.max_positions)

    def is_kept_by(self, state: State, action: int) -> bool:
        """Whether the player to move gets its way with the chain after its move. Raises TooLargeError."""
        is_captured = self.is_captured(self.game.play(state, action))
        return is_captured is (self.game.player(state) != self.owner)

    def moves(self, state: State) -> list[int]:
        """The legal moves in the hole, and the pass."""
        return _moves_in(self.game, self.points, state)

    @functools.cached_property
    def _search(self) -> _Captures:
        moves = self.points | {self.game.spec.num_actions - 1}
        return _Captures(self.game, moves, self.target, self.owner)


def _moves_in(game: Rules, points: frozenset[int], state: State) -> list[int]:
    searched = points | {game.spec.num_actions - 1}
    return [action for action in game.legal_actions(state) if action in searched]


PROVEN = 1 << 40
"""The number of what is impossible: beyond the sum of all others."""
WON, LOST = (0, PROVEN), (PROVEN, 0)

Numbers = tuple[int, int]
"""The least numbers of open positions that must turn out well for the winner, and badly, for it to win or not to."""


class _Search(ABC):
    """The proof-number search for the goal of one player, with the numbers of all positions that it has met."""

    def __init__(self, game: Rules, moves: Set[int], winner: int) -> None:
        """`moves` are searched, for the goal of `winner`."""
        self._game, self._moves, self._winner, self._left = game, moves, winner, 0
        self._table: dict[str, Numbers] = {}

    def wins(self, state: State, max_positions: int) -> bool:
        """Whether the winner reaches its goal. Raises TooLargeError."""
        self._left = max_positions
        key = self._key(state)
        if 0 not in self._numbers(state, key):
            self._open(state, key, WON[1], LOST[0])
        return self._table[key] == WON

    def _key(self, state: State) -> str:
        text = self._game.position_text(state)
        assert text is not None, "a position of Go has a text"
        return text

    def _numbers(self, state: State, key: str) -> Numbers:
        known = self._table.get(key)
        if known is None:
            known = self._table[key] = self._of_new(state, key)
        return known

    @abstractmethod
    def _of_new(self, state: State, key: str) -> Numbers:
        """The numbers of a position that was not met before."""

    def _open(self, state: State, key: str, most_proof: int, most_disproof: int) -> None:
        """Search below a position until one of its numbers has reached its bound."""
        self._left -= 1
        if self._left < 0:
            raise TooLargeError
        game, is_winners = self._game, self._game.player(state) == self._winner
        after = [game.play(state, action) for action in game.legal_actions(state) if action in self._moves]
        children = [(child, self._key(child)) for child in after]
        while True:
            # The side to move chooses the child with its least number; the other's numbers add up.
            numbers = [self._numbers(*child) for child in children]
            chosen = [proof if is_winners else disproof for proof, disproof in numbers]
            others = [disproof if is_winners else proof for proof, disproof in numbers]
            least, total = min(chosen), min(sum(others), PROVEN)
            if least == 0:
                total = PROVEN
            self._table[key] = found = (least, total) if is_winners else (total, least)
            if 0 in found or found[0] >= most_proof or found[1] >= most_disproof:
                return
            best = chosen.index(least)
            second = min((number for at, number in enumerate(chosen) if at != best), default=PROVEN)
            # A quarter more than the second best, so that two children do not take turns at each step.
            bound_least = min(most_proof if is_winners else most_disproof, second + 1 + second // 4)
            bound_other = (most_disproof if is_winners else most_proof) - total + others[best]
            bounds = (bound_least, bound_other) if is_winners else (bound_other, bound_least)
            self._open(*children[best], *bounds)


class _Wins(_Search):
    """The search for the wins of a player."""

    @override
    def __init__(self, game: Rules, moves: Set[int], winner: int) -> None:
        super().__init__(game, moves, winner)
        score = game.score(game.initial_state())
        assert score is not None, "a position of Go has a score"
        # Black's lead is twice its points less those of the board and komi.
        total = BOARD.bit_count() + (-score if winner == 0 else score)
        self._enough = int(total // 2) + 1
        """Points with which the winner wins."""
        self._too_many = BOARD.bit_count() - self._enough + 1
        """Points of the other side with which the winner does not."""

    @override
    def _of_new(self, state: State, key: str) -> Numbers:
        outcome = self._game.outcome(state)
        if outcome is not None:
            return WON if (outcome if self._winner == 0 else -outcome) > 0 else LOST
        sides = stones(key)
        own, other = sides[self._winner], sides[1 - self._winner]
        missing = self._enough - certain_points(own, other).bit_count()
        if missing <= 0:
            return WON
        spare = self._too_many - certain_points(other, own).bit_count()
        return LOST if spare <= 0 else (1 + missing // 2, 1 + spare // 2)


class _Captures(_Search):
    """The search for the capture of a chain: it is safe once it lives unconditionally, or the game is over."""

    @override
    def __init__(self, game: Rules, moves: Set[int], target: int, owner: int) -> None:
        super().__init__(game, moves, 1 - owner)
        self._target = target

    @override
    def _of_new(self, state: State, key: str) -> Numbers:
        sides = stones(key)
        own, other = sides[1 - self._winner], sides[self._winner]
        if not own >> self._target & 1:
            return WON
        if self._game.outcome(state) is not None or certain_points(own, other) >> self._target & 1:
            return LOST
        return (beside(whole_chain(own, self._target)) & ~other).bit_count(), 1


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
        if not hole.wins(after, player):
            return Step.wrong(f"{text} gives the win away")
        reply = hardest(hole, after, hole.moves(after))
        return Step.right() if game.outcome(game.play(after, reply)) is not None else Step(reply=reply)


def hardest(hole: Hole, state: State, replies: list[int]) -> int:
    """The reply that leaves the fewest winning answers in the hole; one that ends the game only if all do."""
    game = hole.game

    def num_answers(reply: int) -> float:
        after = game.play(state, reply)
        if game.outcome(after) is not None:
            return float("inf")
        return sum(hole.wins_by(after, action) for action in hole.moves(after))

    return min(replies, key=num_answers)
