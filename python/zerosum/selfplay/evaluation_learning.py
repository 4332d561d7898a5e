"""The evaluation of an alpha-beta search, learned from the rules alone by play against itself.

All weights begin at 0. Random games come first, then games in which both sides search with the weights so far, in
rounds. After each round the weights are fitted anew to the latest rounds by logistic regression, so the values of
pieces grow out of the results. A position's target is the return of TD(lambda) (Sutton 1988; for the values of pieces
in chess Beal and Smith 1999): a mean of the result and of the search's values later in the game.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerosum.games import Rules, State
from zerosum.selfplay.piece_terms import LearnedWeights, PieceTerms, Samples

ROUNDS = ((0, 0.05), (1, 0.1), (1, 0.15), (2, 0.2), (2, 0.25), (2, 0.25))
"""Depth of both sides' searches in each round, 0 for random moves, and its share of the nodes."""
MOST_OPENING_PLIES = 16
"""Most random moves at the beginning of a game; their number is drawn from 0 to this."""
RANDOM_SHARE = 0.05
"""Share of random moves in the games of a search."""
NOISE = 0.3
"""Noise of a search in these games, in spreads of the evaluation: games must differ, and few may be drawn."""
PLAYING_NOISE = 0.05
"""The same in the games that the network learns from."""
SPREAD_SAMPLES = 4096
"""Samples by which the spread is measured."""
DISCOUNT = 0.99
"""Factor of a result for each ply to the end: who stood better forty moves ago, says it less."""
LAMBDA = 0.9
"""Weight of what comes after a position in the targets of those before it; the rest is the search's value of it. A
result says little about a position forty moves earlier, and a search's value much about the position before."""
FIRST_BOOTSTRAPPED = 2
"""The first round with such targets; the searches before it know too little."""
STRIDE = 3
"""Number of positions in a row of which one is learned from."""
ROUNDS_KEPT = 2
"""Rounds that the weights are fitted to: earlier games are of weaker players."""

EPOCHS = 6
BATCH_SIZE = 1024
LEARNING_RATE = 0.02
"""Adam's first rate, which falls to 0."""
PENALTY = 1.0
"""Half the weight of a kind's squared value, in samples; a tiny one."""
SQUARE_PENALTY = 30.0
"""The same for the correction of a kind on one square, so that few samples of a square leave it near 0."""


@dataclass(frozen=True)
class Round:
    """The positions of one round, with what they are to tell."""

    samples: Samples
    targets: NDArray[np.float32]
    """[N], the return r for the player to move (`returns`) as (1 + r) / 2."""
    num_games: int
    num_decided: int
    """Games with a winner."""


def learn_evaluation(
    game: Rules,
    *,
    seed: int,
    num_nodes: int,
    report: Callable[[str], None] = lambda line: None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> LearnedWeights | None:
    """Learn a game's evaluation: a pure function of game, seed and `num_nodes`; None if it was stopped.

    Args:
        game: The rules.
        seed: The run's seed.
        num_nodes: Positions that the searches of all rounds visit.
        report: Receives a line after each round.
        is_stopped: Asked between two games.

    Raises:
        SettingsError: the game has no planes of pieces.
    """
    terms, rng = PieceTerms(game), np.random.default_rng([seed, num_nodes])
    weights, spread, rounds = np.zeros(terms.size, np.float32), 0.0, list[Round]()
    for number, (depth, share) in enumerate(ROUNDS):
        player = _Player(terms, weights, depth, NOISE * spread, seed)
        lambda_ = LAMBDA if number >= FIRST_BOOTSTRAPPED else 1.0
        played = _play_round(
            player, rng, num_nodes=round(share * num_nodes), first_game=number << 32, lambda_=lambda_, stop=is_stopped
        )
        if played is None:
            return None
        rounds = [*rounds, played][-ROUNDS_KEPT:]
        samples = Samples.joined([earlier.samples for earlier in rounds])
        targets = np.concatenate([earlier.targets for earlier in rounds])
        if len(targets):
            weights = fitted(terms, samples, targets, weights, rng)
            spread = _spread(terms, samples, weights)
        values = terms.values(weights, samples)
        report(
            f"      {_player_words(depth)}, {played.num_games:,} games ({played.num_decided:,} decided):"
            f" {values_text(values)}"
        )
    return LearnedWeights(game.spec.encoder_id, tuple(weights.tolist()), spread, values)


def values_text(values: dict[str, float]) -> str:
    """Values of pieces, for people, in units of the least valuable kind that is worth anything.

    >>> values_text({"pawns": 0.1, "rooks": 0.5, "king": -0.001})
    'pawns 1.0, rooks 5.0, king 0.0'
    """
    unit = min((value for value in values.values() if value > 0.1 * max(values.values())), default=1.0)
    return ", ".join(f"{name} {value / unit:z.1f}" for name, value in values.items())


def _player_words(depth: int) -> str:
    return f"alpha-beta of depth {depth}" if depth else "random moves"


class _Player:
    """Both sides of the games of a round."""

    def __init__(self, terms: PieceTerms, weights: NDArray[np.float32], depth: int, noise: float, seed: int) -> None:
        self.terms, self.game, self.seed = terms, terms.game, seed
        self._evaluation, self._depth, self._noise = terms.evaluation(weights), depth, noise

    def move(self, state: State, game_id: int, rng: np.random.Generator) -> tuple[int, int, float | None]:
        """A move, the positions visited for it, and the search's value for the player to move; None if it is random."""
        if not self._depth or rng.random() < RANDOM_SHARE:
            actions = self.game.legal_actions(state)
            return actions[int(rng.integers(len(actions)))], len(actions), None
        found = self.game.alpha_beta(
            state, depth=self._depth, seed=self.seed, game=game_id, evaluation=self._evaluation, noise=self._noise
        )
        return found.action, found.num_nodes, found.result or math.tanh(found.evaluation / 2)


def _play_round(
    player: _Player,
    rng: np.random.Generator,
    *,
    num_nodes: int,
    first_game: int,
    lambda_: float,
    stop: Callable[[], bool],
) -> Round | None:
    """Play games until they have visited so many positions; None if stopped."""
    game, parts, targets = player.game, list[Samples](), list[float]()
    num_visited, num_decided, game_id = 0, 0, first_game
    while num_visited < num_nodes or not parts:
        if stop():
            return None
        num_opening = int(rng.integers(MOST_OPENING_PLIES + 1))
        state = game.draw_opening(game.initial_state(), num_opening, player.seed, game_id)[0]
        states, values = [], []
        while (outcome := game.outcome(state)) is None:
            action, num_moved, value = player.move(state, game_id, rng)
            states.append(state)
            values.append(value if value is None or game.player(state) == 0 else -value)
            num_visited += num_moved
            state = game.play(state, action)
        chosen = range(int(rng.integers(STRIDE)), len(states), STRIDE)
        if chosen:
            parts.append(player.terms.samples([states[ply] for ply in chosen]))
            of_first = returns(outcome, values, lambda_=lambda_)
            targets += [(1 + of_first[ply] * (1 if game.player(states[ply]) == 0 else -1)) / 2 for ply in chosen]
        num_decided += outcome != 0
        game_id += 1
    num_games = game_id - first_game
    return Round(Samples.joined(parts), np.array(targets, np.float32), num_games, num_decided)


def returns(outcome: float, values: Sequence[float | None], *, lambda_: float) -> list[float]:
    """The discounted lambda return of each position of a game, for the first player.

    >>> [round(value, 3) for value in returns(1.0, [None, 0.5, None], lambda_=1.0)]
    [0.97, 0.98, 0.99]
    >>> [round(value, 3) for value in returns(1.0, [None, 0.5, None], lambda_=0.0)]
    [0.495, 0.98, 0.99]

    Args:
        outcome: The result of the game.
        values: The search's value of each position for the first player; None if it was not searched.
        lambda_: The weight of what comes after a position in the returns of those before it.
    """
    following, found = outcome, list[float]()
    for value in reversed(values):
        following *= DISCOUNT
        found.append(following)
        if value is not None:
            following = lambda_ * following + (1 - lambda_) * value
    return found[::-1]


def fitted(
    terms: PieceTerms,
    samples: Samples,
    targets: NDArray[np.float32],
    weights: NDArray[np.float32],
    rng: np.random.Generator,
) -> NDArray[np.float32]:
    """The weights of a logistic regression of targets in [0, 1], from earlier weights on, by Adam."""
    num, weights = len(targets), weights.copy()
    penalty = np.full(terms.size, PENALTY / num, np.float32)
    penalty[terms.of_squares] = SQUARE_PENALTY / num
    mean, square = np.zeros(terms.size, np.float32), np.zeros(terms.size, np.float32)
    num_steps, step = EPOCHS * -(-num // BATCH_SIZE), 0
    for _ in range(EPOCHS):
        order = rng.permutation(num)
        for start in range(0, num, BATCH_SIZE):
            batch, step = order[start : start + BATCH_SIZE], step + 1
            inputs = terms.inputs(Samples(samples.squares[batch], samples.numbers[batch]))
            predicted = 1 / (1 + np.exp(-np.clip(inputs @ weights, -30, 30)))
            gradient = inputs.T @ (predicted - targets[batch]) / len(batch) + penalty * weights
            mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
            rate = LEARNING_RATE * (1 - step / (num_steps + 1))
            corrected = mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-6)
            weights = (weights - rate * corrected).astype(np.float32)
    return weights


def _spread(terms: PieceTerms, samples: Samples, weights: NDArray[np.float32]) -> float:
    """The standard deviation of the evaluation over some of the samples."""
    few = Samples(samples.squares[-SPREAD_SAMPLES:], samples.numbers[-SPREAD_SAMPLES:])
    return float(np.std(terms.inputs(few) @ weights))
