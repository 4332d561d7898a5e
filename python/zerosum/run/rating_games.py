"""Rating games between two players that are known by name, played here or by a rater on another machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from zerosum.arena import play_match
from zerosum.games import Rules
from zerosum.network import Checkpoint
from zerosum.network.evaluators import Evaluator, EvaluatorConfig, make_evaluator
from zerosum.network.evaluators.updatable import UpdatableEvaluator
from zerosum.play.contestant import RANDOM, Contestant, rollouts
from zerosum.play.own_contestants import network_contestant
from zerosum.run.config import RunConfig
from zerosum.search import SearchConfig

GAMES_AT_ONCE = 32
ROLLOUTS = "rollouts@"
"""How the name of an anchor begins; the number of its simulations follows."""


@dataclass(frozen=True)
class RatingPlayer:
    """A player of rating games."""

    name: str
    """`RANDOM.name`, `ROLLOUTS` and a number of simulations, or a name for a network."""
    checkpoint: Checkpoint | None = None
    """The network, unless an evaluator runs it already."""
    evaluator: Evaluator | None = None
    """Runs the network in this process."""

    @property
    def is_network(self) -> bool:
        """Whether a network plays."""
        return self.checkpoint is not None or self.evaluator is not None


@dataclass(frozen=True, kw_only=True)
class RatingSetup:
    """What all rating games of a run have in common."""

    search: SearchConfig
    """The search of networks."""
    evaluator: EvaluatorConfig
    opening_plies: int
    """Random plies before the players take over."""
    alphabeta_nodes: int = 1
    """Nodes a move of alpha-beta searches, those of updatable networks."""


@dataclass(frozen=True)
class RatingGames:
    """Finished rating games."""

    games: list[tuple[tuple[int, ...], float]]
    """The actions of each game, and the points of the player named first: 1 a win, half a draw."""
    evaluations: int
    """Positions that networks evaluated for it, on both sides."""
    seconds: float


class PlaysRatingGames(Protocol):
    """Plays rating games."""

    def __call__(self, player: RatingPlayer, opponent: RatingPlayer, *, num_games: int, seed: int) -> RatingGames:
        """Play `num_games`, each opening twice with colours changed; `seed` keys openings and rollouts."""


def rating_search(config: RunConfig) -> SearchConfig:
    """The search of a run's rating games and gate: without noise, with their own simulations if given.

    They measure the network, so forced results are not searched for.
    """
    num_simulations = config.strength.num_simulations or config.search.num_simulations
    return replace(config.search, num_simulations=num_simulations, root_noise_fraction=0.0, proof_nodes=0)


def rating_setup(config: RunConfig) -> RatingSetup:
    """The setup of a run's rating games."""
    return RatingSetup(
        search=rating_search(config),
        evaluator=config.training.evaluator,
        opening_plies=config.strength.opening_plies,
        alphabeta_nodes=config.strength.num_simulations or config.selfplay.alphabeta_nodes,
    )


def play_rating_games(
    game: Rules,
    setup: RatingSetup,
    player: RatingPlayer,
    opponent: RatingPlayer,
    *,
    num_games: int,
    seed: int,
    clock: Callable[[], float] = time.monotonic,
) -> RatingGames:
    """Play rating games in this process, as `PlaysRatingGames`; `clock` counts their seconds."""
    first, second = (_contestant(game, setup, each, seed=seed) for each in (player, opponent))
    started = clock()
    result = play_match(
        game,
        first,
        second,
        num_games=num_games,
        opening_plies=setup.opening_plies,
        seed=seed,
        max_games_at_once=GAMES_AT_ONCE,
    )
    return RatingGames(
        [(played.actions, points) for played, points in zip(result.games, result.points, strict=True)],
        evaluations=sum(
            count for count, each in zip(result.evaluations, (player, opponent), strict=True) if each.is_network
        ),
        seconds=clock() - started,
    )


def _contestant(game: Rules, setup: RatingSetup, player: RatingPlayer, *, seed: int) -> Contestant:
    if player.name == RANDOM.name:
        return RANDOM
    if not player.is_network:
        # Rollouts draw with every call: an evaluator of its own makes a match independent of earlier ones.
        return rollouts(game, int(player.name.removeprefix(ROLLOUTS)), seed=seed)
    evaluator = player.evaluator
    if evaluator is None:
        assert player.checkpoint is not None
        evaluator = make_evaluator(player.checkpoint, setup.evaluator, batch_size=GAMES_AT_ONCE, game=game)
    is_updatable = isinstance(evaluator, UpdatableEvaluator)
    search = replace(setup.search, num_simulations=setup.alphabeta_nodes) if is_updatable else setup.search
    return network_contestant(player.name, evaluator, search, network=player.name)
