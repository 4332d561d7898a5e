"""The owner of each square at the end of a game: found once for each game that is drawn from, for it takes all moves.

Letters: G games, S squares of the board.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import DataError, GameError
from zerosum.games import start_state

if TYPE_CHECKING:
    from zerosum._core import Game


@dataclass(frozen=True, kw_only=True, eq=False)
class WholeGames:
    """The moves of G games from their starts to their ends."""

    game_ids: NDArray[np.int64]
    """[G], the numbers of the games."""
    starts: Sequence[str]
    """[G], their starting positions, as `zerosum.games.start_state` takes them."""
    actions: NDArray[np.uint16]
    """[sum of plies], their moves, concatenated."""
    offsets: NDArray[np.int64]
    """[G + 1], game g has the moves actions[offsets[g]:offsets[g + 1]]."""


class OwnersOf(Protocol):
    """What finds the owners at the ends of games: `owners_by_rules`."""

    def __call__(self, games: WholeGames, /) -> NDArray[np.int8]:
        """[G, S], the owner of each square: 1 the first player, -1 the second, 0 neither.

        Raises:
            DataError: a game does not fit the rules.
        """
        ...


def owners_by_rules(game: Game) -> OwnersOf:
    """Owners by the rules of a game whose squares have owners."""

    def owners_of(games: WholeGames) -> NDArray[np.int8]:
        try:
            starts = game.encode([start_state(game, start) for start in games.starts])
            owners_GS = starts.owners_after(games.actions, games.offsets)
        except GameError:
            _raise_for_first(game, games)
            raise
        assert owners_GS is not None, "the run has asked the game"
        return np.where(starts.players == 0, 1, -1).astype(np.int8)[:, None] * owners_GS

    return owners_of


def _raise_for_first(game: Game, games: WholeGames) -> None:
    """Raise DataError for the first of some games that does not fit the rules."""
    for number, (game_id, start) in enumerate(zip(games.game_ids.tolist(), games.starts, strict=True)):
        moves = games.actions[games.offsets[number] : games.offsets[number + 1]]
        try:
            game.encode([start_state(game, start)]).owners_after(moves, np.array([0, len(moves)]))
        except GameError as error:
            raise DataError(
                f"Game {game_id} does not fit the rules of {game.spec.full_name}: {error}. Set its file aside to train"
                " on the others."
            ) from error


class FinalOwners:
    """The owners at the ends of a block's games, one byte a square, for the games that were asked about."""

    _UNKNOWN = 2

    def __init__(self) -> None:
        self._owners_GS = np.empty((0, 0), np.int8)

    def unknown(self, games: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of these games, by their places in the block, whose owners are to be noted; each once, ascending."""
        games, size = np.unique(games), len(self._owners_GS)
        is_known = games < size
        if size:
            is_known &= self._owners_GS[np.minimum(games, size - 1), 0] != self._UNKNOWN
        return games[~is_known]

    def note(self, games: NDArray[np.int64], owners_GS: NDArray[np.int8]) -> None:
        """Keep the owners of these games."""
        size, num_squares = len(self._owners_GS), owners_GS.shape[1]
        if (needed := int(games.max()) + 1) > size:
            grown = np.full((max(needed, 2 * size), num_squares), self._UNKNOWN, np.int8)
            grown[:size] = self._owners_GS.reshape(size, num_squares)
            self._owners_GS = grown
        self._owners_GS[games] = owners_GS

    def get(self, games: NDArray[np.int64]) -> NDArray[np.int8]:
        """[n, S], the owners of these games, which were noted."""
        return self._owners_GS[games]
