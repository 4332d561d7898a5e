"""The score of Go in points, as an analysis tells it.

Values that the network does not predict have surrogates:

    lead       SCALE * side * ln(p / (1 - p)) points for a win rate p, at most as for 0.999. With an ownership head the
               position's lead is what the network expects, and a move's is moved as far. After two passes it is the
               score by the rules, without dead stones where they have friendly passes
    deviation  that of the logistic distribution behind the lead: pi / sqrt(3) * SCALE * side
    ownership  the owner of a point at the end, by the network or by random games (`Player.ownership`)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerosum.games import Rules, State
from zerosum.notation.go_status import TWO_PASSES, final_count
from zerosum.notation.legality import options_of
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
    expected: float | None = None
    """The root's lead by the network, if it has an ownership head."""

    def of(self, value: float) -> float:
        """The lead at a value of the search."""
        added = 0.0 if self.expected is None else self.expected - lead(self.root_value, self.size)
        return lead(value, self.size) + added


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


def expected_lead(player: Player, state: State) -> float | None:
    """Black's expected lead in points by the network's ownership; None for a network without it."""
    if not player.knows_owners:
        return None
    return lead_by(ownership(player, state, 0), player.game)


def lead_by(owners: NDArray[np.float64], game: Rules) -> float:
    """Black's lead in points if the points, [points] in [-1, 1], have these owners."""
    return float(owners.sum()) - float(options_of(game)["komi"])
