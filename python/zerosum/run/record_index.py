"""The imported games and their origins, to find duplicates among any number of games.

The index is an SQLite table beside the store, so its memory does not grow. It follows from the store's games and is
rebuilt from them if it is missing, damaged or incomplete, for example after a kill between a shard and its lines here.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import DataError, RunError
from zerosum.replay.records import GameRecord
from zerosum.replay.shards import read_manifest, read_shard

IF_MISSING = "IF NOT EXISTS "
TABLE = (
    "CREATE TABLE IF NOT EXISTS games (digest BLOB PRIMARY KEY, game_id INTEGER NOT NULL, origin TEXT NOT NULL)"
    " WITHOUT ROWID"
)
INDEX = "CREATE INDEX IF NOT EXISTS by_game_id ON games (game_id)"


def digest_of(start: str, actions: NDArray[np.uint16], outcome: float) -> bytes:
    """A digest of 16 bytes of a game's start, moves and result, which is equal for equal games."""
    head = f"{start}\n{outcome:g}\n".encode()
    return hashlib.blake2b(head + actions.astype("<u2").tobytes(), digest_size=16).digest()


class RecordIndex:
    """The origins of the games of a store, by their content."""

    def __init__(self, path: Path, store: Path) -> None:
        """Open the index of the open store in a directory, and update it.

        Raises:
            RunError: the index cannot be written.
        """
        self._path = path
        try:
            try:
                self._open(store)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                path.unlink(missing_ok=True)  # damaged
                self._open(store)
        except (sqlite3.Error, OSError) as error:
            raise self._unwritable(error) from error

    def _open(self, store: Path) -> None:
        self._forget_if_foreign()
        self._connection = sqlite3.connect(self._path)
        self._connection.execute("PRAGMA trusted_schema = OFF")
        self._connection.execute(TABLE)
        self._connection.execute(INDEX)
        (last,) = self._connection.execute("SELECT MAX(game_id) FROM games").fetchone()
        manifest = read_manifest(store)
        next_game_id = max((seal.next_game_id for seal in manifest.seals), default=0)
        if last is not None and last >= next_game_id:
            self._connection.execute("DELETE FROM games")  # the index is of another store
            last = None
        for seal in manifest.seals:
            if seal.shard in manifest.aside:
                self._connection.execute(
                    "DELETE FROM games WHERE game_id BETWEEN ? AND ?", (seal.first_game_id, seal.last_game_id)
                )
            elif seal.shard is not None and (last is None or seal.last_game_id > last):
                try:
                    records = read_shard(store / seal.shard)
                except DataError:
                    continue  # the store has reported it
                self._insert(records)
        self._connection.commit()

    def _forget_if_foreign(self) -> None:
        """Remove an index with anything in it that this class does not write, because a run may come from anybody.

        A journal beside it, which a kill leaves, may name another file, which SQLite then removes; a view or a trigger
        in the place of the table would run. The store has all that the index had.
        """
        journals = [Path(f"{self._path}{suffix}") for suffix in ("-journal", "-wal", "-shm")]
        is_own = not any(map(os.path.lexists, journals))
        if is_own and self._path.exists():
            with contextlib.closing(sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=ro", uri=True)) as found:
                schema = {text for (text,) in found.execute("SELECT sql FROM sqlite_master") if text}
            is_own = schema <= {TABLE.replace(IF_MISSING, ""), INDEX.replace(IF_MISSING, "")}
        if not is_own:
            for path in (*journals, self._path):
                path.unlink(missing_ok=True)

    def origin(self, digest: bytes) -> str | None:
        """The origin of a game; None if it was not imported."""
        try:
            found = self._connection.execute("SELECT origin FROM games WHERE digest = ?", (digest,)).fetchone()
        except sqlite3.Error as error:
            raise self._unwritable(error) from error
        return None if found is None else str(found[0])

    def numbers(self, place: str) -> set[int]:
        """The numbers in the origins `PLACE:NUMBER` of games from a place."""
        bounds = (f"{place}:", f"{place};")  # the semicolon follows the colon
        try:
            found = self._connection.execute("SELECT origin FROM games WHERE origin >= ? AND origin < ?", bounds)
            return {int(origin.rpartition(":")[2]) for (origin,) in found}
        except sqlite3.Error as error:
            raise self._unwritable(error) from error

    def add(self, records: Iterable[GameRecord]) -> None:
        """Add games of the store. Raises RunError."""
        try:
            self._insert(records)
            self._connection.commit()
        except sqlite3.Error as error:
            raise self._unwritable(error) from error

    def _insert(self, records: Iterable[GameRecord]) -> None:
        rows = (
            (digest_of(record.start, record.plies["action"], record.outcome), record.game_id, record.settings_hash)
            for record in records
        )
        self._connection.executemany("INSERT OR IGNORE INTO games VALUES (?, ?, ?)", rows)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _unwritable(self, error: Exception) -> RunError:
        return RunError(f"{self._path} cannot be used: {error}. Check the free space and the permissions.")
