"""Positions of games in columns, by blocks of consecutive games, from which the window draws.

A *position* is a ply with a policy target.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerosum.replay.owners import FinalOwners, OwnersOf, WholeGames
from zerosum.replay.records import GameRecord, PlyFlag
from zerosum.replay.samples import Policies


def returns_of(record: GameRecord) -> NDArray[np.float32]:
    """[P], the value target of each ply, for the first player: the outcome, or the exact value of the next proven ply.

    A proven value is exact and independent of later moves.
    """
    plies = record.plies
    returns = np.full(len(plies), record.outcome, np.float32)
    first = 0
    for ply in np.flatnonzero(plies["flags"] & int(PlyFlag.PROVEN)).tolist():
        value = plies["search_value"][ply]
        returns[first : ply + 1] = value if plies["player"][ply] == 0 else -value
        first = ply + 1
    return returns


def _has_no_value(flags: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """[P], whether a ply has no search value: an imported one without an evaluation."""
    is_unknown: NDArray[np.bool_] = (flags & int(PlyFlag.RECORDED | PlyFlag.EVALUATED)) == int(PlyFlag.RECORDED)
    return is_unknown


UNITS = 1 << 20
"""Weight 1 in units: sums of whole numbers do not depend on their order."""


ROW = np.dtype(
    [
        ("game_id", np.int64),
        ("game", np.int64),  # its place in the block
        ("first_action", np.int64),  # of the game, in the block's `actions`
        ("ply", np.int64),
        ("return", np.float32),  # for the mover
        ("search_value", np.float32),  # for the mover
        ("draw", np.float32),
        ("weight", np.int64),  # in units
        ("plies_left", np.int64),
        ("first_target", np.int64),  # in the block's target columns
        ("num_targets", np.int64),
        ("row", np.int64),  # its place in this table
        ("first_ply", np.int64),  # of the game's positions
    ]
)


class Block:
    """Positions of consecutive games; no game is split between blocks."""

    def __init__(self) -> None:
        self.starts: list[str] = []
        """The starting position of each game."""
        self.owners = FinalOwners()
        self.rows = _Column(ROW)
        self.actions = _Column(np.dtype(np.uint16))
        self.target_actions = _Column(np.dtype(np.uint16))
        self.target_probabilities = _Column(np.dtype(np.float16))

    def __len__(self) -> int:
        return self.rows.size

    def append(self, record: GameRecord, *, weight: int) -> int:
        """Add a game, whose positions have this weight in units, and return its number of positions."""
        sizes = np.diff(record.target_offsets)
        plies = np.flatnonzero(sizes)
        rows = np.empty(len(plies), ROW)
        rows["game_id"], rows["weight"] = record.game_id, weight
        rows["game"] = len(self.starts)
        self.starts.append(record.start)
        rows["first_action"] = self.actions.size
        rows["ply"] = plies
        returns = returns_of(record)[plies]
        rows["return"] = np.where(record.plies["player"][plies] == 0, returns, -returns)
        is_unknown = _has_no_value(record.plies["flags"][plies])
        rows["search_value"] = np.where(is_unknown, rows["return"], record.plies["search_value"][plies])
        rows["draw"] = 1 - np.abs(returns)
        rows["plies_left"] = record.num_plies - plies
        rows["first_target"] = self.target_actions.size + record.target_offsets[plies]
        rows["num_targets"] = sizes[plies]
        rows["row"] = self.rows.size + np.arange(len(plies))
        rows["first_ply"] = plies[:1]
        self.rows.extend(rows)
        self.actions.extend(record.plies["action"])
        self.target_actions.extend(record.targets["action"])
        self.target_probabilities.extend(record.targets["probability"])
        return len(plies)

    def owners_at_end(self, rows: NDArray[np.void], owners_of: OwnersOf) -> NDArray[np.int8]:
        """[n, S], the owners at the ends of the games of some of its positions, for the first player.

        Raises:
            DataError: a game does not fit the rules.
        """
        unknown, games = self.owners.unknown(rows["game"]), rows["game"]
        if len(unknown):
            order = np.argsort(games)
            of_each = rows[order[np.searchsorted(games, unknown, sorter=order)]]
            sizes = of_each["ply"] + of_each["plies_left"]
            whole = WholeGames(
                game_ids=of_each["game_id"],
                starts=[self.starts[game] for game in unknown.tolist()],
                actions=gathered([self.actions.values] * len(unknown), of_each["first_action"], sizes),
                offsets=offsets_of(sizes),
            )
            self.owners.note(unknown, owners_of(whole))
        return self.owners.get(games)

    def close(self) -> None:
        """Free the memory reserved for growth."""
        for column in (self.rows, self.actions, self.target_actions, self.target_probabilities):
            column.trim()


class _Column:
    """An array that grows at its end, in amortised constant time per entry."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._buffer: NDArray[Any] = np.empty(0, dtype)
        self.size = 0

    @property
    def values(self) -> NDArray[Any]:
        return self._buffer[: self.size]

    def extend(self, values: NDArray[Any]) -> None:
        end = self.size + len(values)
        if end > len(self._buffer):
            grown = np.empty(max(end, 2 * len(self._buffer)), self._buffer.dtype)
            grown[: self.size] = self.values
            self._buffer = grown
        self._buffer[self.size : end] = values
        self.size = end

    def trim(self) -> None:
        self._buffer = self.values.copy()


def offsets_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The beginnings of ragged rows of these sizes, and the end of the last: [n] -> [n + 1]."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def policies_of(
    actions: Sequence[NDArray[np.uint16]],
    probabilities: Sequence[NDArray[np.float16]],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> Policies:
    """The entries of the target columns with these starts and sizes, as sparse policies."""
    return Policies(
        actions=gathered(actions, starts, sizes),
        probabilities=gathered(probabilities, starts, sizes),
        offsets=offsets_of(sizes),
    )


def gathered(columns: Sequence[NDArray[Any]], starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[Any]:
    """The slices of the columns with these starts and sizes, concatenated."""
    runs = zip(columns, starts.tolist(), (starts + sizes).tolist(), strict=True)
    return np.concatenate([column[start:end] for column, start, end in runs])
