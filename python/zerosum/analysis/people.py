"""The moves that people would play, as networks predict them that learned from people's games, such as Maia's.

Letters: B positions, L legal actions of a position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zerosum.games import Rules, State
from zerosum.play.player import Player

BATCH = 64
"""Positions that are evaluated at a time."""


@dataclass(frozen=True)
class PeoplesShare:
    """The share of people who play a move, and of those who find the best one."""

    by: str
    """The name of the network that predicts them."""
    played: float
    """In [0, 1]."""
    best: float | None
    """In [0, 1]; None if the move was the best."""

    def numbers(self) -> dict[str, object]:
        """The shares, ready for JSON."""
        return {
            "by": self.by,
            "played": round(self.played, 6),
            "best": None if self.best is None else round(self.best, 6),
        }


def peoples_shares(
    player: Player, game: Rules, states: Sequence[State], played: Sequence[int], best: Sequence[int | None]
) -> list[PeoplesShare]:
    """What a network predicts of B moves: softmax of its policy over the legal moves, without a search.

    Args:
        player: The player with the network; it must know the game (DataError if not).
        game: The game of the states.
        states: The positions before the moves, none of which is over.
        played: The moves that were played.
        best: The best moves; None where the played one was best, or nobody knows.
    """
    rules, name = player.with_rules(game).game, Path(player.own_name).name.removesuffix(".pb.gz")
    shares = list[PeoplesShare]()
    for first in range(0, len(states), BATCH):
        leaves = rules.encode(list(states[first : first + BATCH]))
        logits, offsets = player.evaluator.evaluate(leaves).logits, leaves.legal_offsets
        for number in range(len(leaves)):
            legal = slice(offsets[number], offsets[number + 1])
            weights_L = np.exp(logits[legal].astype(np.float64) - float(logits[legal].max()))
            share = dict(zip(leaves.legal_actions[legal].tolist(), (weights_L / weights_L.sum()).tolist(), strict=True))
            wanted = best[first + number]
            found = None if wanted is None else share[wanted]
            shares.append(PeoplesShare(name, share[played[first + number]], found))
    return shares
