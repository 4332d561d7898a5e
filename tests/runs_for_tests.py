"""A run that has learned a little, for whatever reads, plays or measures one."""

from __future__ import annotations

from pathlib import Path

import zerosum

SETTINGS = (
    "network.num_blocks=1",
    "network.num_filters=8",
    "training.steps=2",
    "training.min_positions=20",
    "training.steps_per_phase=1",
    "learner.batch_size=8",
    "search.num_simulations=4",
    "selfplay.games_per_worker=4",
    "selfplay.num_workers=1",
    "strength.rollout_simulations=1",
    "strength.solved_positions=0",  # a budget in steps has time for all of Connect Four's: ninety CPU-seconds
)
UNRATED = "strength.budget_share=0"
"""Without rating games, which take most of a tiny training: 4 of 5 CPU-seconds in chess, 13 of 17 in Go."""


def train_a_little(game: str, run: str | Path, *, is_rated: bool = False) -> None:
    """Two steps of a tiny network, with rating games if a test reads them."""
    zerosum.train(game, run, overrides=SETTINGS if is_rated else (*SETTINGS, UNRATED), report=lambda _: None)
