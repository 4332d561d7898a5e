"""The games of a run as records in the game's own notation, for books and for other programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from zerosum.games import Rules, make, start_state
from zerosum.notation.record import Move, Record
from zerosum.replay.records import GameRecord, PlyFlag
from zerosum.report.run_data import read_run
from zerosum.run.given_game import recorded_game


def played_games(run: Path) -> Iterator[Record]:
    """The games of a run that its folder keeps, from the first; of a large run an even share, as in reports.

    The moves that begin a game without a search (random ones, or those of an earlier game) are counted by
    `opening_plies`.

    Raises:
        DataError: the folder is no run, or its settings are damaged.
        GameError: the run's game cannot be made here.
    """
    data = read_run(run)
    game = make(recorded_game(run))
    for _, records in data.game_blocks():
        for record in records:
            yield _record(game, record)


def _record(game: Rules, played: GameRecord) -> Record:
    state, moves = start_state(game, played.start), list[Move]()
    for action in played.plies["action"].tolist():
        moves.append(Move(game.action_text(state, action)))
        state = game.play(state, action)
    num_given = int(np.count_nonzero(played.plies["flags"] & int(PlyFlag.OPENING)))
    name = game.spec.full_name
    return Record(name, tuple(moves), start=played.start, result=played.outcome, opening_plies=num_given)
