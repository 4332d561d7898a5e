"""The games of a run as records in the game's own notation, for books and for other programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from zerosum.games import Rules, start_state
from zerosum.notation.record import Move, Record
from zerosum.replay.records import GameRecord, PlyFlag


def played_games(game: Rules, games: Iterable[GameRecord]) -> Iterator[Record]:
    """Games of self-play with their moves as text.

    The moves that begin a game without a search (random ones, or those of an earlier game) are counted by
    `opening_plies`.
    """
    return (_record(game, played) for played in games)


def _record(game: Rules, played: GameRecord) -> Record:
    state, moves = start_state(game, played.start), list[Move]()
    for action in played.plies["action"].tolist():
        moves.append(Move(game.action_text(state, action)))
        state = game.play(state, action)
    num_given = int(np.count_nonzero(played.plies["flags"] & int(PlyFlag.OPENING)))
    name = game.spec.full_name
    return Record(name, tuple(moves), start=played.start, result=played.outcome, opening_plies=num_given)
