"""The style of recorded games: how far the kings travel, and how patient the players are.

Both are read from the planes of pieces, so any game with such planes has them, and only from moves that a search of
the run's network chose: not from random openings, and not from games of another search.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerosum.games import Rules, State
from zerosum.games.piece_kinds import king_planes
from zerosum.games.playthrough import Playthrough
from zerosum.network.piece_planes import PiecePlanes, View, pairs, seen_by_opponent
from zerosum.network.updatable import opponent_view
from zerosum.replay.records import GameRecord, PlyFlag

TRAVEL = "squares a king travels"
FIRST_CAPTURE = "plies before a capture"
QUIET = "quiet moves at value above 0"
RANDOM_GAMES = 20
"""Random games that tell whether a game has captures."""


@dataclass(frozen=True)
class Boards:
    """The pieces in the positions of a game."""

    counts: NDArray[np.int64]
    """[positions, players, kinds], pieces on the board."""
    kings: NDArray[np.int64]
    """[positions, players, 2], row and column of each king as the first player sees them; -1 without a king."""

    @classmethod
    def of(cls, game: Rules, states: Sequence[State]) -> Boards:
        """The pieces in some positions. Raises SettingsError if the game has no planes of pieces."""
        planes = PiecePlanes.of([(plane.name, plane.is_constant) for plane in game.spec.planes])
        shape = game.spec.board_shape
        bits = np.unpackbits(game.encode(states).packed_planes, axis=2, bitorder="little")[:, :, : shape[0] * shape[1]]
        movers = np.array([game.player(state) for state in states])
        own, opponent = [kind.own for kind in planes.kinds], [kind.opponent for kind in planes.kinds]
        seen = [bits[:, indices].sum(axis=2, dtype=np.int64) for indices in (own, opponent)]
        counts = np.stack([np.where(movers[:, np.newaxis] == player, *seen) for player in (0, 1)], axis=1)
        kings = np.full((len(states), 2, 2), -1, np.int64)
        if (channels := king_planes(game)) is not None:
            turned = seen_by_opponent(_view(game), shape)
            for place, mover in enumerate(movers.tolist()):
                for player in (0, 1):
                    squares = np.flatnonzero(bits[place, planes.channels[0].index(channels[int(player != mover)])])
                    if len(squares):
                        square = squares[0] if mover == 0 else turned[squares[0]]
                        kings[place, player] = divmod(int(square), shape[1])
        return cls(counts, kings)

    def is_capture(self, ply: int, mover: int) -> bool:
        """Whether the opponent has fewer pieces after a move, and the board no more: discs that are turned stay."""
        before, after = self.counts[ply], self.counts[ply + 1]
        return bool(after[1 - mover].sum() < before[1 - mover].sum() and after.sum() <= before.sum())

    def is_promotion(self, ply: int, mover: int) -> bool:
        """Whether the mover has as many pieces after a move, but of other kinds."""
        before, after = self.counts[ply, mover], self.counts[ply + 1, mover]
        return bool(after.sum() == before.sum() and (after != before).any())

    def travel(self, ply: int, mover: int) -> int:
        """Squares that the mover's king goes by a move, as a king steps: the larger of rows and columns."""
        before, after = self.kings[ply, mover], self.kings[ply + 1, mover]
        return 0 if (before < 0).any() or (after < 0).any() else int(np.abs(after - before).max())


@functools.lru_cache(maxsize=8)
def _view(game: Rules) -> View:
    return opponent_view(game)


@functools.lru_cache(maxsize=8)
def has_captures(game: Rules) -> bool:
    """Whether pieces of one player are taken by moves of the other: looked for in random games.

    >>> from zerosum.games import make
    >>> [has_captures(make(name)) for name in ("chess", "go9", "breakthrough", "othello", "connect4", "nim")]
    [True, True, True, False, False, False]
    """
    if not pairs([plane.name for plane in game.spec.planes if not plane.is_constant]):
        return False
    random = np.random.default_rng(0)
    for _ in range(RANDOM_GAMES):
        states = [game.start(int(random.integers(game.num_starts)))]
        while legal := game.legal_actions(states[-1]):
            states.append(game.play(states[-1], legal[int(random.integers(len(legal)))]))
        boards = Boards.of(game, states)
        if any(boards.is_capture(ply, game.player(state)) for ply, state in enumerate(states[:-1])):
            return True
    return False


def style_of(game: Rules, records: Sequence[GameRecord]) -> dict[str, float]:
    """The style of some games, as far as the game has kings and captures and a network's search chose moves.

    Returns:
        `TRAVEL`: the mean over games and both sides of the squares that a king went. `FIRST_CAPTURE`: the mean over
        games of the moves before the first capture, all moves if there is none. `QUIET`: of the moves that a search
        valued above 0 for their player, the share that neither takes nor promotes a piece.

    Raises:
        GameError: a move of a record is illegal.
    """
    has_king, captures = king_planes(game) is not None, has_captures(game)
    travels, firsts, quiet = list[int](), list[int](), list[bool]()
    for record in records if has_king or captures else ():
        chosen = np.flatnonzero((record.plies["flags"] & int(PlyFlag.OPENING | PlyFlag.RECORDED)) == 0).tolist()
        if not chosen:
            continue
        boards = Boards.of(game, Playthrough.of(game, record.start, record.plies["action"].tolist()).states)
        movers, values = record.plies["player"].tolist(), record.plies["search_value"].tolist()
        taking = [boards.is_capture(ply, movers[ply]) for ply in chosen]
        firsts.append([*taking, True].index(True))
        travels.append(sum(boards.travel(ply, movers[ply]) for ply in chosen))
        quiet += [
            not takes and not boards.is_promotion(ply, movers[ply])
            for ply, takes in zip(chosen, taking, strict=True)
            if values[ply] > 0
        ]
    figures = {TRAVEL: np.mean(travels) / 2} if has_king and travels else {}
    if captures and firsts:
        figures[FIRST_CAPTURE] = np.mean(firsts)
        figures |= {QUIET: np.mean(quiet)} if quiet else {}
    return {name: float(value) for name, value in figures.items()}
