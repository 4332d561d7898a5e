"""The games of a run: its newest ones, and all as records in the game's own notation, for books and other programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from zerosum.base.errors import DataError
from zerosum.base.files import read_bytes
from zerosum.games import Rules
from zerosum.games.playthrough import Playthrough
from zerosum.notation.record import Move, Record
from zerosum.replay.journal import parse_journal
from zerosum.replay.records import GameRecord, PlyFlag
from zerosum.replay.shards import MOST_BYTES, read_manifest, read_shard


def newest_games(run: Path) -> list[GameRecord]:
    """The newest games of a run, some thousand: those not yet in a shard, else those of the newest readable shard.

    None if this is a checkpoint, or a run without games. The run may be training; nothing is written.
    """
    directory = run / "games"
    try:
        manifest = read_manifest(directory)
        journal = read_bytes(directory / manifest.journal, most_bytes=MOST_BYTES)
    except (OSError, DataError):
        return []
    if finished := parse_journal(journal).finished:
        return finished
    for seal in reversed(manifest.shards):
        try:
            return read_shard(directory / seal.shard) if seal.shard else []
        except DataError:  # `zerosum train` reports it and sets it aside
            continue
    return []


def played_games(game: Rules, games: Iterable[GameRecord]) -> Iterator[Record]:
    """Games of self-play with their moves as text.

    The moves that begin a game without a search (random ones, or those of an earlier game) are counted by
    `opening_plies`.
    """
    return (_record(game, played) for played in games)


def _record(game: Rules, played: GameRecord) -> Record:
    moves = map(Move, Playthrough.of(game, played.start, played.plies["action"].tolist()).texts)
    num_given = int(np.count_nonzero(played.plies["flags"] & int(PlyFlag.OPENING)))
    name = game.spec.full_name
    return Record(name, tuple(moves), start=played.start, result=played.outcome, opening_plies=num_given)
