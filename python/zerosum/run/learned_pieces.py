"""Values of pieces: learned from the rules alone by a linear evaluation, and the customary ones of the game's count."""

from __future__ import annotations

import numpy as np

from zerosum.games import Rules
from zerosum.selfplay.evaluation_learning import learn_evaluation
from zerosum.selfplay.piece_terms import PieceTerms
from zerosum.selfplay.tree_strap import learn_by_tree_strap

CUSTOMARY_GAMES = 400
"""Random lines whose last positions tell the customary values."""
MOST_PLIES = 60
ROUNDED = 3
"""Decimals of a customary value: the fit of a count is exact but for rounding."""


def learned_piece_values(game: Rules, *, seed: int, num_nodes: int, by_tree_strap: bool = False) -> dict[str, float]:
    """The values that games of alpha-beta against itself teach a linear evaluation, in logits of winning.

    Args:
        game: The rules; all weights begin at 0.
        seed: Keys the games.
        num_nodes: Positions that the searches visit.
        by_tree_strap: Whether all inner positions of the searches teach, in place of the positions played.

    Raises:
        SettingsError: the game has no planes of pieces.
    """
    if by_tree_strap:
        return learn_by_tree_strap(game, seed=seed, num_nodes=num_nodes)
    found = learn_evaluation(game, seed=seed, num_nodes=num_nodes)
    assert found is not None, "nobody stops it"
    return found.values


def customary_piece_values(game: Rules) -> dict[str, float]:
    """The values with which `Game.material` counts, by the names of `learned_piece_values`: fitted to random positions.

    Raises:
        SettingsError: the game has no planes of pieces.
    """
    terms, rng = PieceTerms(game), np.random.default_rng(0)
    lines = [
        game.draw_opening(game.initial_state(), int(rng.integers(MOST_PLIES)), 0, number)[0]
        for number in range(CUSTOMARY_GAMES)
    ]
    states = [state for state in lines if game.outcome(state) is None]
    inputs = terms.inputs(terms.samples(states))
    kinds, numbers = len(terms.kinds), len(terms.numbers)
    counts = np.concatenate([inputs[:, :kinds], inputs[:, terms.size - 1 - numbers : terms.size - 1]], axis=1)
    materials = game.encode(states).material().astype(np.float64)
    values, *_ = np.linalg.lstsq(counts.astype(np.float64), materials, rcond=None)
    names = [*terms.kinds, *terms.numbers]
    return {name: round(float(value), ROUNDED) + 0.0 for name, value in zip(names, values, strict=True)}
