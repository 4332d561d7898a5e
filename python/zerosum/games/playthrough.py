"""A game so far: its beginning, its moves, the positions between them, and whether a player has resigned.

Boards, engines, records and reviews hold one instead of lists that have to fit each other. For the position at the end
of a line of moves alone, `functools.reduce(game.play, actions, state)` is enough.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace

from zerosum.games.rules import Rules, State, start_state
from zerosum.games.written_moves import read_moves


@dataclass(frozen=True, eq=False)
class Playthrough:
    """The positions and the moves of a game so far. A change makes a new one, which shares the positions."""

    game: Rules
    states: tuple[State, ...]
    """The position before each move, and the one after the last."""
    actions: tuple[int, ...] = ()
    resigned: int | None = None
    """The player who has resigned, 0 or 1."""

    @staticmethod
    def of(game: Rules, start: State | str = "", actions: Iterable[int] = ()) -> Playthrough:
        """The game after these moves; `start` is a position, or its text as `start_state` takes it.

        >>> from zerosum.games import make
        >>> so_far = Playthrough.of(make("connect4"), actions=(3, 3, 2))
        >>> so_far.texts, so_far.players, so_far.player, so_far.back_to(1).actions
        (('4', '4', '3'), (0, 1, 0), 1, (3,))

        Raises:
            GameError: the start is invalid, or a move is illegal.
        """
        first, actions = start_state(game, start) if isinstance(start, str) else start, tuple(actions)
        return Playthrough(game, tuple(itertools.accumulate(actions, game.play, initial=first)), actions)

    @staticmethod
    def read(game: Rules, texts: Iterable[str], start: State | str = "") -> Playthrough:
        """The game after moves as people or programs write them.

        Raises:
            GameError: the start is invalid, or a move is illegal; the message has its number from 1.
        """
        return Playthrough.of(game, start).read_on(texts)

    @property
    def start(self) -> State:
        """The position before the first move."""
        return self.states[0]

    @property
    def state(self) -> State:
        """The position after the last move."""
        return self.states[-1]

    @property
    def before(self) -> State | None:
        """The position before the last move; None without one."""
        return self.states[-2] if self.actions else None

    @property
    def player(self) -> int:
        """The player to move, 0 or 1."""
        return self.game.player(self.state)

    @property
    def players(self) -> tuple[int, ...]:
        """The player of each move."""
        return tuple(map(self.game.player, self.states[:-1]))

    @property
    def texts(self) -> tuple[str, ...]:
        """The moves in the game's own notation."""
        return self.texts_in(None)

    def texts_in(self, notation: str | None) -> tuple[str, ...]:
        """The moves in one of the game's notations; None is its own."""
        plies = zip(self.states, self.actions, strict=False)
        return tuple(self.game.action_text(state, action, notation) for state, action in plies)

    @property
    def outcome(self) -> float | None:
        """The first player's result, in [-1, 1]; None while the game goes on."""
        if self.resigned is not None:
            return -1.0 if self.resigned == 0 else 1.0
        return self.game.outcome(self.state)

    def play(self, action: int) -> Playthrough:
        """The game after a further move."""
        state = self.game.play(self.state, action)
        return replace(self, states=(*self.states, state), actions=(*self.actions, action))

    def read_on(self, texts: Iterable[str]) -> Playthrough:
        """The game after further moves as texts. Raises GameError as `read`."""
        states, actions = [*self.states], [*self.actions]
        for action, state in read_moves(self.game, states[-1], texts, first=len(states)):
            actions.append(action)
            states.append(state)
        return replace(self, states=tuple(states), actions=tuple(actions))

    def back_to(self, ply: int) -> Playthrough:
        """The game after its first moves, before anyone resigned."""
        return Playthrough(self.game, self.states[: ply + 1], self.actions[:ply])

    def resign(self) -> Playthrough:
        """The game after the player to move has resigned."""
        return replace(self, resigned=self.player)


def state_after(game: Rules, moves: str, *, position: str = "") -> State:
    """The position after moves, as texts separated by blanks, from the initial state or another position.

    >>> from zerosum.games import make
    >>> print(make("tictactoe").draw(state_after(make("tictactoe"), "b2 a1")), end="")
    3  . . .
    2  . X .
    1  O . .
       a b c
    >>> print(make("tictactoe").draw(state_after(make("tictactoe"), "c3", position="3/3/OX1 X")), end="")
    3  . . X
    2  . . .
    1  O X .
       a b c

    Raises:
        GameError: a move is illegal, or the game cannot read the position.
    """
    return Playthrough.read(game, moves.split(), game.parse_position(position) if position else "").state
