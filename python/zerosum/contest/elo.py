"""Elo ratings, and the Elo difference that the results of one match show.

`ratings.py` rates many players from all their results together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

ELO_PER_LOGIT = 400 / math.log(10)

NORMAL_95 = 1.959964
"""Half the width of a 95 % interval in standard deviations."""


MOST_ELO_ERROR = 800.0
"""Largest error with which a rating is told: an interval of ±800 Elo goes from 1 % to 99 % of the points."""
TOO_FEW_GAMES = "too few games to tell"


@dataclass(frozen=True)
class Rating:
    """A rating relative to the zero of its scale: a player, or the mean of all players."""

    elo: float
    error: float
    """Half the width of the 95 % interval of the difference to the zero."""

    def __str__(self) -> str:
        """The rating with its interval, or the words for one that says nothing (`MOST_ELO_ERROR`).

        >>> str(Rating(902, 416)), str(Rating(902, 1485))
        ('+902 ± 416', 'too few games to tell')
        """
        return f"{self.elo:+z.0f} ± {self.error:.0f}" if self.error <= MOST_ELO_ERROR else TOO_FEW_GAMES


def win_probability(elo_difference: float) -> float:
    """The expected score, in [0, 1], of a player that is stronger by this difference.

    >>> round(win_probability(200), 3)
    0.76
    """
    return 1 / (1 + 10 ** (-elo_difference / 400))


@dataclass(frozen=True)
class EloDifference:
    """The Elo difference of two players with its 95 % interval; each number may be infinite."""

    elo: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.elo:+.1f} (95 %: {self.low:+.1f} to {self.high:+.1f})"


def elo_of_points(
    points: Sequence[float], *, counts: Sequence[float] | None = None, games_each: int = 1
) -> EloDifference:
    """The Elo difference that the points of a match show, each in [0, 1]; at least one game.

    The interval is Wilson's for the score (Journal of the American Statistical Association 22, 1927), which stays
    sensible at 100:0, over as many games as would have the points' own variance (with draws: trinomial) if they were
    wins and losses. Half a win and half a loss are added to that variance, or else 100 draws would leave no doubt.

    Args:
        points: Points of games, or mean points of units of `games_each` games that depend on each other.
        counts: How often each occurred; by default once.
        games_each: Games per unit, by which the weight of the half win and half loss shrinks.
    """
    values, weights = np.asarray(points, float), np.ones(len(points)) if counts is None else np.asarray(counts, float)
    size, score = float(weights.sum()), float(np.average(values, weights=weights))
    padded = np.array([0.0, 1.0, *values])
    padded_weights = [0.5 / games_each, 0.5 / games_each, *weights]
    mean = np.average(padded, weights=padded_weights)
    variance = np.average((padded - mean) ** 2, weights=padded_weights)
    doubt = NORMAL_95**2 * float(variance / (mean * (1 - mean))) / size  # z^2 / n in Wilson's formula
    middle = (score + doubt / 2) / (1 + doubt)
    error = math.sqrt(score * (1 - score) * doubt + doubt**2 / 4) / (1 + doubt)
    return EloDifference(_elo_of_score(score), _elo_of_score(middle - error), _elo_of_score(middle + error))


def _elo_of_score(score: float) -> float:
    """The inverse of `win_probability`; infinite within a rounding error of 0 and 1."""
    if not 1e-12 < score < 1 - 1e-12:
        return math.copysign(math.inf, score - 0.5)
    return ELO_PER_LOGIT * math.log(score / (1 - score))
