"""Values in centipawns, as programs for chess and shogi write them: one formula, with a coefficient for each game.

centipawns = coefficient * ln(p / (1 - p))        p = (1 + value) / 2, the win rate
"""

from __future__ import annotations

import math

COEFFICIENT = 272
"""Lichess's coefficient (1 / 0.00368208 in scalachess, `eval.scala`), so that Lichess shows our win rates."""
COEFFICIENTS = {"shogi": 600, "minishogi": 600}
"""Coefficients of other games: ShogiHome's default."""
MOST = 10_000
"""The score of a certain win."""


def coefficient_of(game: str) -> int:
    """The coefficient of a game, by its name without options."""
    return COEFFICIENTS.get(game, COEFFICIENT)


def centipawns(value: float, coefficient: int) -> int:
    """The score of a value in [-1, 1], for the same player.

    >>> centipawns(0.0, 272), centipawns(0.5, 272), centipawns(-0.5, 600), centipawns(1.0, 272)
    (0, 299, -659, 10000)
    """
    if abs(value) >= 1:
        return MOST if value > 0 else -MOST
    score = coefficient * math.log((1 + value) / (1 - value))
    return round(max(-MOST, min(score, MOST)))


def value_of(score: float, coefficient: int) -> float:
    """The value in [-1, 1] of a score in centipawns, for the same player.

    >>> round(value_of(299, 272), 3), value_of(-10_000, 272)
    (0.5, -1.0)
    """
    return math.copysign(1.0, score) if abs(score) >= MOST else math.tanh(score / (2 * coefficient))
