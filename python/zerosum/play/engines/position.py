"""A position with its game, which all protocols need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from zerosum.base.errors import GameError
from zerosum.games import Rules, State
from zerosum.games.playthrough import Playthrough


@dataclass(frozen=True)
class EnginePosition:
    """A position with the game that led to it."""

    game: Rules
    start: str
    """The start position as `zerosum.games.start_state` takes it; "" is the game's own."""
    moves: tuple[tuple[int, str], ...]
    """(player, move in the game's own notation: UCI, USI, GTP) since the start."""
    state: State
    """The state after the moves."""

    @classmethod
    def after(cls, game: Rules, start: str, actions: Sequence[int]) -> EnginePosition:
        """The position after these actions.

        Raises:
            GameError: the start is invalid, an action is illegal, or the game is over.
        """
        position = cls.replayed(game, start, actions)
        if (ending := game.ending(position.state)) is not None:
            raise GameError(f"The game is over ({ending}), there is no move to ask an engine for.")
        return position

    @classmethod
    def replayed(cls, game: Rules, start: str, actions: Sequence[int]) -> EnginePosition:
        """As `after`, but the game may be over."""
        so_far = Playthrough.of(game, start, actions)
        return cls(game, start, tuple(zip(so_far.players, so_far.texts, strict=True)), so_far.state)

    @property
    def player(self) -> int:
        """The player to move."""
        return self.game.player(self.state)
