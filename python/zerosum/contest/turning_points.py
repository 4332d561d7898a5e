"""Sacrifices and sharp changes in a game, from a value and a count of material for each position.

Both are for the first player, as results are. A value that is not known is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEAST_DEFICIT = 1.0
"""Least material that counts: a pawn, where the count is in pawns."""
LASTING_PLIES = 8
"""Positions in a row in which a player stays behind; an exchange is over sooner."""


@dataclass(frozen=True)
class Sacrifice:
    """A player that is behind in material for a while, and whose value stays above 0 meanwhile."""

    player: int
    """0 or 1."""
    first_ply: int
    """Number of moves before the first of these positions."""
    last_ply: int
    """Number of moves before the last of them."""
    deficit: float
    """Material that the player is behind by in all of them, or more."""

    @property
    def words(self) -> str:
        """The sacrifice in words, for people who count moves from 1.

        >>> Sacrifice(player=1, first_ply=23, last_ply=40, deficit=3.0).words
        'from move 23 to 40 the second player was behind by 3 or more in material, with a value above 0'
        """
        who = ("first", "second")[self.player]
        return (
            f"from move {self.first_ply} to {self.last_ply} the {who} player was behind by {self.deficit:g} or more in"
            " material, with a value above 0"
        )


def sacrifice(
    values: NDArray[np.floating],
    materials: NDArray[np.floating],
    *,
    player: int,
    lasting_plies: int = LASTING_PLIES,
) -> Sacrifice | None:
    """The largest sacrifice of a player; None without one.

    Its deficit is the largest by which the player is behind in `lasting_plies` positions in a row, with a known value
    above 0 in each. A player that begins behind has none before it has caught up.

    Args:
        values: [N], in [-1, 1], of the positions before each move.
        materials: [N].
        player: 0 or 1.
        lasting_plies: At least 1.
    """
    sign = 1.0 if player == 0 else -1.0
    deficits = -sign * materials
    behind = np.where(sign * values > 0, deficits, -np.inf)  # a comparison with NaN is False
    level = np.flatnonzero(deficits < LEAST_DEFICIT)
    behind[: level[0] if len(level) else len(behind)] = -np.inf
    if len(behind) < lasting_plies:
        return None
    lasting = np.lib.stride_tricks.sliding_window_view(behind, lasting_plies).min(axis=1)
    start, deficit = int(lasting.argmax()), float(lasting.max())
    if deficit < LEAST_DEFICIT:
        return None
    below = np.flatnonzero(behind[start:] < deficit)
    end = start + int(below[0]) if len(below) else len(behind)
    return Sacrifice(player, start, end - 1, deficit)


@dataclass(frozen=True)
class Change:
    """The sharpest change of a game's value between two neighbours."""

    index: int
    """Index of the value before it."""
    before: float
    after: float


def sharpest_change(values: NDArray[np.floating]) -> Change | None:
    """The sharpest change, the first of equal ones; None without two neighbours that are known."""
    jumps = np.abs(np.diff(values))
    if not np.isfinite(jumps).any():
        return None
    index = int(np.nanargmax(jumps))
    return Change(index, float(values[index]), float(values[index + 1]))
