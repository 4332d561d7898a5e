"""The score of Go in points, as an analysis tells it.

Values that the network does not predict have surrogates:

    lead       SCALE * side * ln(p / (1 - p)) points for a win rate p, at most as for 0.999. With a head of the score or
               of ownership the position's lead is what the network expects, and a move's is moved as far. After two
               passes it is the score by the rules, without dead stones where they have friendly passes
    deviation  that of the logistic distribution behind the lead: pi / sqrt(3) * SCALE * side; the network's, if it has
               a head of the score
    ownership  the owner of a point at the end, by the network or by random games (`Player.ownership`)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerosum.games import Rules, State
from zerosum.games.rules import options_of
from zerosum.network.evaluators.ownership import Points
from zerosum.notation.go_status import TWO_PASSES, final_count
from zerosum.play.player import Player

SCALE = 0.25
"""Points of lead per line of the board and unit of log odds (not measured)."""
MOST_CERTAIN = 0.999


@dataclass(frozen=True)
class Leads:
    """Turns the values of one search into leads in points, both for the player to move at its root."""

    size: int
    """Lines of the board."""
    root_value: float = 0.0
    """The root's value, in [-1, 1]."""
    expected: Points | None = None
    """The root's score by the network, if it has a head of the score or of ownership."""

    def of(self, value: float) -> float:
        """The lead at a value of the search."""
        added = 0.0 if self.expected is None else self.expected.lead - lead(self.root_value, self.size)
        return lead(value, self.size) + added

    @property
    def deviation(self) -> float:
        """The standard deviation of the score."""
        return deviation(self.size) if self.expected is None else self.expected.deviation


def points_lost(before: float | None, after: float | None, *, player: int, is_best: bool) -> float | None:
    """The points that a move lost, at least 0; None where a lead is not known.

    Args:
        before: The first player's lead in points before the move.
        after: The first player's lead after it.
        player: The player of the move, 0 (first) or 1.
        is_best: Whether it is the search's best move, which loses nothing.

    >>> points_lost(3.0, 1.0, player=0, is_best=False), points_lost(3.0, 1.0, player=1, is_best=False)
    (2.0, 0.0)
    """
    if before is None or after is None:
        return None
    return 0.0 if is_best else round(max(0.0, (before - after) * (1 if player == 0 else -1)), 1)


def lead(value: float, size: int) -> float:
    """A surrogate of the player's lead in points, from the player's value in [-1, 1].

    >>> round(lead(0.5, 19), 2), round(lead(-0.5, 9), 2), round(lead(1.0, 19), 1)
    (5.22, -2.47, 32.8)
    """
    rate = min(max((1 + value) / 2, 1 - MOST_CERTAIN), MOST_CERTAIN)
    return SCALE * size * math.log(rate / (1 - rate))


def deviation(size: int) -> float:
    """The standard deviation of `lead`, in points."""
    return math.pi / math.sqrt(3) * SCALE * size


def exact_lead(game: Rules, state: State, *, friendly_pass: bool) -> float | None:
    """Black's lead in points if two passes have ended the game, else None."""
    if game.ending(state) != TWO_PASSES:
        return None
    return final_count(game, state, friendly_pass=friendly_pass).score


def ownership(player: Player, state: State, num_games: int) -> NDArray[np.float64]:
    """[points] in [-1, 1], 1 for Black, as `Player.ownership`."""
    owners = player.ownership(state, num_games=num_games)
    assert owners is not None, "points of Go have owners"
    return owners


def expected_points(player: Player, state: State, owners: NDArray[np.float64] | None = None) -> Points | None:
    """Black's expected score by the network; None for a network that knows neither the score nor the owners of points.

    Args:
        player: Whose network is asked.
        state: The position.
        owners: [points], the owners of the points for Black, if they are known already.
    """
    if (points := player.points(state)) is not None or not player.knows_owners:
        return points
    owners = ownership(player, state, 0) if owners is None else owners
    lead = float(owners.sum()) - float(options_of(player.game)["komi"])
    return Points(lead, lead, deviation(player.game.spec.board_shape[0]))
