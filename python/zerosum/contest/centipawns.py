"""A value as programs for chess and shogi write it: in hundredths of a pawn, by one formula and a coefficient a game.

centipawns = coefficient * ln(p / (1 - p))        p = (1 + value) / 2, the win rate
"""

from __future__ import annotations

import math

COEFFICIENT = 272
"""Lichess's (1 / 0.00368208 in scalachess, `eval.scala`), which so shows our win rates again,"""
COEFFICIENTS = {"shogi": 600, "minishogi": 600}
"""and ShogiHome's default."""
MOST = 10_000
"""A win that is certain."""


def coefficient_of(game: str) -> int:
    """Of a game by its name without options."""
    return COEFFICIENTS.get(game, COEFFICIENT)


def centipawns(value: float, coefficient: int) -> int:
    """Of a value in [-1, 1], for the same player.

    >>> centipawns(0.0, 272), centipawns(0.5, 272), centipawns(-0.5, 600), centipawns(1.0, 272)
    (0, 299, -659, 10000)
    """
    if abs(value) >= 1:
        return MOST if value > 0 else -MOST
    score = coefficient * math.log((1 + value) / (1 - value))
    return round(max(-MOST, min(score, MOST)))


def value_of(score: float, coefficient: int) -> float:
    """The value in [-1, 1] that so many centipawns say, for the same player.

    >>> round(value_of(299, 272), 3), value_of(-10_000, 272)
    (0.5, -1.0)
    """
    return math.copysign(1.0, score) if abs(score) >= MOST else math.tanh(score / (2 * coefficient))
