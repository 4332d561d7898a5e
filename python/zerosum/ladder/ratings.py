"""Ratings of many players from their results and from what was known before, and which games would tell most next.

The model is Davidson's (Journal of the American Statistical Association 65, 1970): with x the difference of two ratings
in natural units, win : draw : loss = exp(x / 2) : nu : exp(-x / 2). Without draws (nu = 0) that is BayesElo's logistic,
200 Elo are 76.0 %. With draws the unit is stretched by (2 + nu) / 2, as BayesElo stretches its own, so that a small
difference means the same score in every game: 200 Elo are 75.7 % where equal players draw a third of their games.

Who moves first is no part of it: games come in pairs with changed sides. The posterior is normal, by Laplace's
approximation at its peak, so it knows that errors of players who met the same opponents go together.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerosum.contest.elo import ELO_PER_LOGIT, NORMAL_95, Rating
from zerosum.contest.sprt import Tally

_Array = NDArray[np.float64]

DRAWS = "Davidson"
"""The model of draws, as the output names it."""
TYPICAL_NU = 0.3
"""Before there are games: equal players draw 0.3 / 2.3 = 13 % of them."""
NU_SPREAD = 1.5
"""The standard deviation of ln nu, before there are games."""
NUS = np.geomspace(0.003, 12.0, 80)
"""Of these the likeliest one is taken: equal players draw between 0.15 % and 86 % of their games."""
SPREAD = np.linspace(-5, 5, 201)
"""Standard deviations at which a normal distribution is looked at for an average."""


@dataclass(frozen=True)
class Prior:
    """What is known of a player's rating before any of the games: a normal distribution."""

    elo: float = 1000.0
    deviation: float = 1000.0
    """Standard deviation. By default next to nothing is known: 95 % between -960 and 2960 above random play."""


@dataclass(frozen=True)
class Score:
    """Games of two players, each with both sides equally often."""

    first: str
    second: str
    tally: Tally
    """From the view of `first`."""

    @property
    def num_games(self) -> int:
        """All of them."""
        return self.tally.wins + self.tally.draws + self.tally.losses

    @property
    def turned(self) -> Score:
        """The same from the view of `second`."""
        return Score(self.second, self.first, Tally(self.tally.losses, self.tally.draws, self.tally.wins))


@dataclass(frozen=True, eq=False)
class Ratings:
    """Normal distribution of the ratings of K players, the first of which is the zero of the scale."""

    names: tuple[str, ...]
    elos: _Array
    """[K], the means."""
    covariance: _Array
    """[K, K], in Elo squared; the row and the column of the zero are 0."""
    nu: float
    """Davidson's parameter: equal players draw nu / (2 + nu) of their games."""

    def rating(self, name: str) -> Rating:
        """A player's rating with half the width of its 95 % interval."""
        index = self.names.index(name)
        return Rating(float(self.elos[index]), NORMAL_95 * math.sqrt(self.covariance[index, index]))

    def expected_score(self, first: str, second: str) -> float:
        """Share of the points that `first` is expected to make, in [0, 1], if the ratings are as their means say."""
        difference = self.elos[self.names.index(first)] - self.elos[self.names.index(second)]
        win, draw, _ = outcome_probabilities(np.array(difference), self.nu)
        return float(win + draw / 2)

    def gains(self, pairs: Sequence[tuple[str, str]], *, targets: Sequence[str]) -> _Array:
        """By how much one game of each of P pairs is expected to reduce the targets' summed variance: [P], Elo squared.

        A game tells of the difference d of its two players; of a target t it tells what the two have in common,
        cov(t, d)^2 / var(d)^2 of what it takes off the variance of d.
        """
        index = {name: number for number, name in enumerate(self.names)}
        firsts, seconds = (np.array([index[pair[side]] for pair in pairs]) for side in (0, 1))
        of_targets = self.covariance[[index[target] for target in targets]]
        shared = of_targets[:, firsts] - of_targets[:, seconds]  # [T, P], cov(t, d)
        diagonal = np.diag(self.covariance)
        variances = diagonal[firsts] + diagonal[seconds] - 2 * self.covariance[firsts, seconds]
        told = explained_variance(self.elos[firsts] - self.elos[seconds], variances, self.nu)
        gains: _Array = (shared**2).sum(axis=0) / variances**2 * told
        return gains


def outcome_probabilities(difference: _Array, nu: float) -> tuple[_Array, _Array, _Array]:
    """Of a win, a draw and a loss against a player so much weaker, in Elo."""
    x = difference * _stretch(nu)
    logits = np.stack([x / 2, np.full_like(x, math.log(nu)), -x / 2])
    weights = np.exp(logits - logits.max(axis=0))
    win, draw, loss = weights / weights.sum(axis=0)
    return win, draw, loss


def game_information(difference: _Array, nu: float) -> _Array:
    """Fisher's information of one game about the difference of two ratings, in 1 / Elo squared."""
    win, _, loss = outcome_probabilities(difference, nu)
    information: _Array = _stretch(nu) ** 2 * ((win + loss) / 4 - ((win - loss) / 2) ** 2)
    return information


def explained_variance(means: _Array, variances: _Array, nu: float) -> _Array:
    """What one game is expected to take off the variance of its players' difference, in Elo squared; of any shape.

    That is the variance of E[difference | result], by the law of total variance, for a difference that is normally
    distributed. Of a difference that is known well a game tells `game_information` times the squared variance; where
    next to nothing is known of it, a game that may go either way tells most.
    """
    deviations = np.sqrt(variances)[..., None] * SPREAD
    weights = np.exp(-(SPREAD**2) / 2) / np.exp(-(SPREAD**2) / 2).sum()
    joint = np.stack(outcome_probabilities(means[..., None] + deviations, nu)) * weights  # [3, ..., points]
    explained: _Array = ((joint * deviations).sum(axis=-1) ** 2 / joint.sum(axis=-1)).sum(axis=0)
    return explained


def _stretch(nu: float) -> float:
    """The natural unit's x of one Elo."""
    return (2 + nu) / 2 / ELO_PER_LOGIT


def fit_ratings(scores: Iterable[Score], priors: Mapping[str, Prior], *, zero: str) -> Ratings:
    """Ratings of all that have results or a prior; whoever has results alone gets the default prior.

    Args:
        scores: What was played; the same two may stand there several times.
        priors: By name. The zero needs none.
        zero: Whose rating is 0.
    """
    scores = _summed(scores)
    met = {name for score in scores for name in (score.first, score.second)}
    names = (zero, *sorted((met | set(priors)) - {zero}))
    known = [priors.get(name, Prior()) for name in names[1:]]
    means, precisions = np.array([prior.elo for prior in known]), np.array([prior.deviation**-2.0 for prior in known])
    # A row a pair that met: 1 for its first player and -1 for its second. The zero stays at 0 and has no column.
    design = np.zeros((len(scores), len(names)))
    for row, score in enumerate(scores):
        design[row, names.index(score.first)] += 1
        design[row, names.index(score.second)] -= 1
    counts = np.array([[score.tally.wins, score.tally.draws, score.tally.losses] for score in scores], float)
    posterior = _Posterior(design[:, 1:], counts.reshape(-1, 3), means, precisions)
    elos, nu = posterior.likeliest()
    covariance = np.zeros((len(names), len(names)))
    covariance[1:, 1:] = np.linalg.inv(posterior.precision(elos, nu))
    return Ratings(names, np.array([0.0, *elos]), covariance, nu)


def _summed(scores: Iterable[Score]) -> list[Score]:
    """One for each two players that have games, from the view of the one whose name comes first."""
    sums: dict[tuple[str, str], Tally] = {}
    for score in scores:
        ordered = score if score.first < score.second else score.turned
        names, tally = (ordered.first, ordered.second), ordered.tally
        before = sums.get(names, Tally(0, 0, 0))
        sums[names] = Tally(before.wins + tally.wins, before.draws + tally.draws, before.losses + tally.losses)
    return [score for (one, other), tally in sums.items() if (score := Score(one, other, tally)).num_games]


@dataclass(frozen=True, eq=False)
class _Posterior:
    """The density of the ratings given the results, up to a factor."""

    design: _Array
    """[M, K - 1]"""
    counts: _Array
    """[M, 3], wins, draws and losses of the first."""
    means: _Array
    precisions: _Array
    """[K - 1] both, of the prior."""

    def log_density(self, elos: _Array, nu: float) -> float:
        probabilities = np.stack(outcome_probabilities(self.design @ elos, nu), axis=1)
        log_likelihood = float((self.counts * np.log(np.maximum(probabilities, 1e-300))).sum())
        return log_likelihood - float(self.precisions @ (elos - self.means) ** 2) / 2

    def gradient(self, elos: _Array, nu: float) -> _Array:
        win, _, loss = outcome_probabilities(self.design @ elos, nu)
        surplus = (self.counts[:, 0] - self.counts[:, 2] - self.counts.sum(axis=1) * (win - loss)) / 2
        gradient: _Array = _stretch(nu) * self.design.T @ surplus - self.precisions * (elos - self.means)
        return gradient

    def precision(self, elos: _Array, nu: float) -> _Array:
        """The negative Hessian of the logarithm: the inverse of the covariance."""
        information = self.counts.sum(axis=1) * game_information(self.design @ elos, nu)
        precision: _Array = self.design.T @ (self.design * information[:, None]) + np.diag(self.precisions)
        return precision

    def likeliest(self) -> tuple[_Array, float]:
        """The ratings at the peak, and the nu there: of those in `NUS`, climbing with shorter and shorter steps."""

        @functools.cache
        def height(index: int) -> float:
            nu = float(NUS[index])
            return self.peak(self.means, nu)[1] - (math.log(nu / TYPICAL_NU) / NU_SPREAD) ** 2 / 2

        at = len(NUS) // 2
        for step in (16, 4, 1):
            while (ahead := max((at, max(at - step, 0), min(at + step, len(NUS) - 1)), key=height)) != at:
                at = ahead
        nu = float(NUS[at])
        return self.peak(self.means, nu)[0], nu

    def peak(self, elos: _Array, nu: float) -> tuple[_Array, float]:
        """Where the density is greatest, and its logarithm there; by Newton's iterations, for it is log-concave."""
        height = self.log_density(elos, nu)
        while True:
            gradient = self.gradient(elos, nu)
            step = np.linalg.solve(self.precision(elos, nu), gradient)
            # Twice what is left to gain, by Newton's model; what rounding hides is no gain.
            if gradient @ step < 1e-9 * (1 + abs(height)):
                return elos, height
            while (reached := self.log_density(elos + step, nu)) <= height:
                step = step / 2
                if np.abs(step).max() < 1e-9:
                    return elos, height
            elos, height = elos + step, reached


def most_telling_pair(ratings: Ratings, players: Sequence[str], *, targets: Sequence[str]) -> tuple[str, str]:
    """Of all pairs of these players the one whose next game tells most about the targets; of equals the first."""
    pairs = list(itertools.combinations(players, 2))
    return pairs[int(np.argmax(ratings.gains(pairs, targets=targets)))]
