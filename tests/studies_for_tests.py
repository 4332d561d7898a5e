"""Trainings of studies that take a second, and matches that were never played."""

from __future__ import annotations

from zerosum.contest.sprt import MatchCounts, Tally

SMALL = {
    "selfplay.games_per_worker": 8,
    "search.num_simulations": 8,
    "selfplay.fast_simulations": 4,
    "network.num_blocks": 1,
    "network.num_filters": 8,
    "learner.batch_size": 16,
    "training.min_positions": 20,
    "training.steps_per_phase": 8,
}
"""Settings of a training of some CPU-seconds that makes many steps and checkpoints."""


def counts(wins: int, losses: int) -> MatchCounts:
    """A match of so many pairs, each of which was won or lost with both games."""
    return MatchCounts(Tally(2 * wins, 0, 2 * losses), (losses, 0, 0, 0, wins))


def quiet(_line: str) -> None:
    """Nothing is said."""
