"""Values of pieces, learned from the inner nodes of searches: TreeStrap.

Veness, Silver, Uther and Blair (2009, "Bootstrapping from Game Tree Search", TreeStrap(alpha-beta)) let each node of a
search teach: its evaluation moves towards its own search value, or towards a bound that it is beyond. Here the features
are the counts of pieces, and the evaluation is a logit (`Game.tree_errors`). All weights begin at 0, so that the first
to teach are games that end within a search.
"""

from __future__ import annotations

import numpy as np

from zerosum.games import Rules
from zerosum.selfplay.evaluation_learning import MOST_OPENING_PLIES, RANDOM_SHARE
from zerosum.selfplay.piece_terms import PieceTerms

DEPTH = 2
"""Depth of both sides' searches, in plies; chosen with the learning rate by the measurements in docs/log.md."""
LEARNING_RATE = 1e-3
"""What the sum of a tree's errors is multiplied with at first; it falls to 0 in proportion to the positions left."""


def learn_by_tree_strap(game: Rules, *, seed: int, num_nodes: int) -> dict[str, float]:
    """Learn values of pieces in games of alpha-beta against itself: a pure function of game, seed and `num_nodes`.

    Args:
        game: The rules.
        seed: Keys the games.
        num_nodes: Positions that the searches visit.

    Returns:
        The value of each kind and number (`PieceTerms`) in logits of the expected result.

    Raises:
        SettingsError: the game has no planes of pieces.
    """
    terms, rng = PieceTerms(game), np.random.default_rng([seed, num_nodes])
    weights, num_visited, game_id = np.zeros(terms.size), 0, 0
    evaluation = terms.evaluation(weights.astype(np.float32))
    while num_visited < num_nodes:
        state = game.draw_opening(game.initial_state(), int(rng.integers(MOST_OPENING_PLIES + 1)), seed, game_id)[0]
        while game.outcome(state) is None:
            if rng.random() < RANDOM_SHARE:
                actions = game.legal_actions(state)
                state = game.play(state, actions[int(rng.integers(len(actions)))])
                num_visited += len(actions)
                continue
            errors = game.tree_errors(state, depth=DEPTH, seed=seed, game=game_id, evaluation=evaluation)
            num_visited += errors.num_nodes
            if errors.num_wrong:
                step = LEARNING_RATE * max(0.0, 1 - num_visited / num_nodes) * terms.of_errors(errors)
                step[terms.of_squares] = 0
                weights += step
                evaluation = terms.evaluation(weights.astype(np.float32))
            state = game.play(state, errors.action)
        game_id += 1
    names = [*terms.kinds, *terms.numbers]
    counts = [*weights[: len(terms.kinds)], *weights[terms.of_squares.stop : -1]]
    return dict(zip(names, map(float, counts), strict=True))
