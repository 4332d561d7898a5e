"""The work of a run: what a game, a recorded position, a sample and a checkpoint cost, from the settings alone."""

from __future__ import annotations

from dataclasses import dataclass

from zerosum.capacity.assumptions import Assumptions
from zerosum.games import Rules, measure_game
from zerosum.network import NetworkShape
from zerosum.network.weights import num_operations, num_parameters
from zerosum.run.config import RunConfig
from zerosum.run.solved import solved_games

STATE_SIZES = {"sgd": 1, "adam": 2, "adamw": 2}
"""Numbers that an optimiser keeps for each weight."""


@dataclass(frozen=True)
class Work:
    """The work of self-play for a game, and of the learner for a recorded position."""

    plies: float
    """Searched plies of a game."""
    positions: float
    """Positions of a game that are learned from."""
    simulations: float
    """Simulations of a game."""
    evaluations: float
    """Evaluations of a game, without those of ratings."""
    rating_share: float
    """Evaluations of ratings and solved positions, as a share of self-play's."""
    samples: float
    """Samples of the learner for each recorded position."""
    operations: float
    """Operations of an evaluation."""
    game_bytes: float
    """Bytes of a game in a shard."""
    network_bytes: int
    """Bytes of the network's weights, as they are sent to self-play."""
    checkpoint_bytes: int
    """Bytes of a checkpoint with the learner's state."""


def searched_plies(config: RunConfig, game: Rules) -> float:
    """Searched plies of a game as long as random games, without its random opening moves."""
    plies, selfplay = measure_game(game).plies, config.selfplay
    most = selfplay.opening_plies
    # An opening of k of 1 to `most` moves leaves at least one ply to search, because none of its moves ends the game.
    left = sum(max(plies - k, 1.0) for k in range(1, most + 1)) / most
    return (1 - selfplay.opening_share) * plies + selfplay.opening_share * left


def work_of(config: RunConfig, game: Rules, numbers: Assumptions) -> Work:
    """The work of a run with these settings."""
    selfplay, shape = config.selfplay, NetworkShape.of(game.spec)
    plies, share = numbers.plies, selfplay.full_search_share
    # The first position after an opening is always searched in full.
    full = share * plies + selfplay.opening_share * (1 - share)
    fast = max(plies - full, 0.0)
    simulations = numbers.new_simulations * (full * config.search.num_simulations + fast * selfplay.fast_simulations)
    strength = config.strength
    rates = 1 + (strength.solved_positions > 0 and game.spec.name in solved_games())
    num_weights = num_parameters(config.network, shape)
    return Work(
        plies=plies,
        positions=full,
        simulations=simulations,
        # The root of a new tree is evaluated, too.
        evaluations=simulations * numbers.evaluations_per_simulation + (plies if numbers.new_simulations == 1 else 0),
        rating_share=strength.budget_share * rates,
        samples=config.learner.samples_per_position,
        operations=num_operations(config.network, shape),
        game_bytes=plies * numbers.ply_bytes,
        network_bytes=4 * num_weights,
        checkpoint_bytes=4 * num_weights * (1 + STATE_SIZES[config.learner.optimizer]),
    )
