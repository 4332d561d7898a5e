"""A value as chess and shogi programs write it: in hundredths of a pawn, by one formula and a coefficient a game.

centipawns = coefficient * ln(p / (1 - p))        p = (1 + value) / 2, the win rate
"""

from __future__ import annotations

import math

COEFFICIENTS = {"chess": 1 / 0.00368208, "chess960": 1 / 0.00368208, "shogi": 600.0}
"""Of games by name: Lichess's for chess (scalachess, `eval.scala`), so that its win rates are ours; the usual one
("Ponanza's constant") for shogi."""
OTHER_COEFFICIENT = COEFFICIENTS["chess"]
MOST = 10_000
"""A win that is certain."""


def centipawns(value: float, *, game: str) -> int:
    """Of a value in [-1, 1], for the same player; `game` is a name without options.

    >>> centipawns(0.0, game="chess"), centipawns(0.5, game="chess"), centipawns(-0.5, game="shogi")
    (0, 298, -659)
    >>> centipawns(1.0, game="chess")
    10000
    """
    if abs(value) >= 1:
        return MOST if value > 0 else -MOST
    score = COEFFICIENTS.get(game, OTHER_COEFFICIENT) * math.log((1 + value) / (1 - value))
    return round(max(-MOST, min(score, MOST)))
