"""A position as every protocol takes it: with the game that led to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from zerosum.base.errors import GameError
from zerosum.games import Rules, State, start_state


@dataclass(frozen=True)
class EnginePosition:
    """A position with the game that led to it: what all protocols want to hear."""

    game: Rules
    start: str
    """As `zerosum.games.start_state` takes it; "" for the game's own."""
    moves: tuple[tuple[int, str], ...]
    """(player, move in the game's own notation: UCI, USI, GTP) since the start."""
    state: State
    """After the moves."""

    @classmethod
    def after(cls, game: Rules, start: str, actions: Sequence[int]) -> EnginePosition:
        """The position after these actions.

        Raises:
            GameError: the start is no position, an action is illegal, or the game is over then.
        """
        position = cls.replayed(game, start, actions)
        if (ending := game.ending(position.state)) is not None:
            raise GameError(f"The game is over ({ending}), there is no move to ask an engine for.")
        return position

    @classmethod
    def replayed(cls, game: Rules, start: str, actions: Sequence[int]) -> EnginePosition:
        """The same of a game that may be over. Raises GameError for all else."""
        state, moves = start_state(game, start), []
        for action in actions:
            moves.append((game.player(state), game.action_text(state, action)))
            state = game.play(state, action)
        return cls(game, start, tuple(moves), state)

    @property
    def player(self) -> int:
        """Who is to move."""
        return self.game.player(self.state)
