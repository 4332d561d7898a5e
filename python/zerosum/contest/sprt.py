"""Statistics of a match: counts of games and pairs, Elo, normalised Elo, and the sequential test.

Each opening is played from both sides, and the two games of a pair depend on each other: an opening that favours one
side gives a win and a loss, not two independent results. A *pair* is therefore the unit of counting, in five numbers:
the pairs with 0, 1/2, 1, 1 1/2 and 2 points of the first player. Without a complete pair, games are the unit.

The test is the generalised SPRT of fishtest and fastchess: a hypothesis is represented by the distribution of a unit's
points that has the hypothesis' strength and makes the results most likely. Sources: M. Van den
Bergh, https://www.cantate.be/Fishtest/support_MLE_multinomial.pdf (proposition 1.1) and normalized_elo_practical.pdf
beside it (section 4.1). Our tests compare the results with the output of those programs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import SettingsError, shown
from zerosum.contest.elo import ELO_PER_LOGIT, NORMAL_95, EloDifference, elo_of_points, win_probability

_Array = NDArray[np.float64]

Model = Literal["normalized", "logistic", "bayesian"]
Decision = Literal["H0", "H1"]
FiveCounts = tuple[int, int, int, int, int]

_PAIR_POINTS = ("0", "½", "1", "1½", "2")

NELO_PER_DEVIATION = 2 * ELO_PER_LOGIT
"""nElo of a score that is one standard deviation of a game above 1/2: 800 / ln 10, by which small differences in a game
without draws are the same in Elo and in nElo."""

FARTHEST_ELO = 4000
"""Largest Elo of a hypothesis: about one win in 10^10 games; beyond it, scores round to 0 and 1."""

EMPTY_CELL = 1e-3
"""Replacement of a count of 0, whose likelihood would vanish; as in fishtest (`LLRcalc.regularize`) and fastchess."""


@dataclass(frozen=True)
class Tally:
    """Games counted by result: a positive one is a win, 0 a draw, a negative one a loss."""

    wins: int
    draws: int
    losses: int

    @classmethod
    def of(cls, results: Iterable[float]) -> Tally:
        """Count results, each in [-1, 1]."""
        signs = [(result > 0) - (result < 0) for result in results]
        return cls(wins=signs.count(1), draws=signs.count(0), losses=signs.count(-1))

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    def __str__(self) -> str:
        return f"{self.wins} won, {self.draws} drawn, {self.losses} lost"


@dataclass(frozen=True)
class MatchCounts:
    """Counts of a match, from the perspective of the player named first.

    Raises:
        SettingsError: a count is negative, or the pairs have more games than there are.
    """

    games: Tally
    """All games that have ended."""
    pairs: FiveCounts = (0, 0, 0, 0, 0)
    """Complete pairs with 0, 1/2, 1, 1 1/2 and 2 points."""
    num_repeated: int = 0
    """Complete pairs that equal an earlier one move for move, as deterministic players play an opening once more."""

    def __post_init__(self) -> None:
        if min(*self._three, *self.pairs) < 0:
            raise SettingsError(
                f"The counts {self._three} and {self.pairs} have a negative one: they are numbers of games."
            )
        if not 0 <= self.num_repeated <= sum(self.pairs):
            raise SettingsError(
                f"{self.num_repeated} pairs repeat an earlier one, expected a number from 0 to {sum(self.pairs)}, the "
                "number of complete pairs."
            )
        if 2 * sum(self.pairs) > self.num_games:
            raise SettingsError(
                f"{sum(self.pairs)} pairs are {2 * sum(self.pairs)} games, but the wins, draws and losses are only "
                f"{self.num_games}: count the games of complete pairs among them, too."
            )

    def __add__(self, other: MatchCounts) -> MatchCounts:
        pairs = [sum(counts) for counts in zip(self.pairs, other.pairs, strict=True)]
        return MatchCounts(
            self.games + other.games,
            (pairs[0], pairs[1], pairs[2], pairs[3], pairs[4]),
            self.num_repeated + other.num_repeated,
        )

    @property
    def num_games(self) -> int:
        """All games that have ended."""
        return sum(self._three)

    @property
    def units(self) -> tuple[int, ...]:
        """Counts of the independent units by their points, ascending: five counts of pairs, or three of games."""
        return self.pairs if any(self.pairs) else self._three

    @property
    def information(self) -> float:
        """Share of `units` that are new information, in [0, 1]: those that do not repeat an earlier one.

        Means take all units, because an opening that came up more often weighs more; the sample size of intervals and
        tests is this share of their number.
        """
        num_pairs = sum(self.pairs)
        return (num_pairs - self.num_repeated) / num_pairs if num_pairs else 1.0

    @property
    def _three(self) -> tuple[int, int, int]:
        return self.games.losses, self.games.draws, self.games.wins


def count_results(results: Mapping[int, float]) -> MatchCounts:
    """Count a match.

    Args:
        results: Results of the player named first, in [-1, 1], by game number; 2k and 2k + 1 are a pair.

    >>> count_results({0: 1, 1: 0, 2: -1, 3: 1, 4: 1})
    MatchCounts(games=Tally(wins=3, draws=1, losses=1), pairs=(0, 0, 1, 1, 0), num_repeated=0)
    """
    pairs = [0] * 5
    for number, result in results.items():
        if number % 2 == 0 and number + 1 in results:
            pair = Tally.of([result, results[number + 1]])
            pairs[2 + pair.wins - pair.losses] += 1
    return MatchCounts(Tally.of(results.values()), (pairs[0], pairs[1], pairs[2], pairs[3], pairs[4]))


@dataclass(frozen=True)
class MatchStatistics:
    """The strength of the player named first, estimated from the counts of a match."""

    counts: MatchCounts
    elo: EloDifference | None
    """None without games."""
    nelo: EloDifference | None
    """Normalised Elo: the score above 1/2 in standard deviations of a game, by `NELO_PER_DEVIATION`. How many games it
    takes to tell two players apart depends on this alone, whatever the openings and draws. None while all units ended
    alike: there is no deviation yet."""
    los: float
    """Likelihood of superiority, in [0, 1]: the probability that an equal player scores less (normal approximation)."""
    sprt: SprtResult | None = None
    """The result of the sequential test, if there is one."""

    @property
    def draw_ratio(self) -> float | None:
        """Share of the games that were drawn; None without games."""
        return self.counts.games.draws / self.counts.num_games if self.counts.num_games else None

    @property
    def level_ratio(self) -> float | None:
        """Share of the pairs with one point for each, fastchess' DrawRatio. None without pairs."""
        return self.counts.pairs[2] / sum(self.counts.pairs) if any(self.counts.pairs) else None

    def numbers(self) -> dict[str, Any]:
        """All values by name, ready for JSON: None for what is unknown and for an infinite end of an interval."""
        named: dict[str, Any] = {
            **asdict(self.counts.games),
            "pairs": list(self.counts.pairs),
            "repeated_pairs": self.counts.num_repeated,
        }
        for name, found in (("elo", self.elo), ("nelo", self.nelo)):
            ends = (found.elo, found.low, found.high) if found else (None, None, None)
            named |= {
                f"{name}{end}": value if value is not None and math.isfinite(value) else None
                for end, value in zip(("", "_low", "_high"), ends, strict=True)
            }
        named |= {"los": self.los, "draw_ratio": self.draw_ratio, "level_ratio": self.level_ratio}
        return named | (self.sprt.numbers() if self.sprt else {})

    def __str__(self) -> str:
        pairs = ", ".join(
            f"{count} with {points}" for count, points in zip(self.counts.pairs, _PAIR_POINTS, strict=True)
        )
        rows: dict[str, object] = {
            "Elo": self.elo or "unknown",
            "nElo": self.nelo or "unknown",
            "LOS": f"{self.los:.2%}",
            "games": f"{self.counts.games}; {_percent(self.draw_ratio)} drawn",
            "pairs": f"{pairs} points; {_percent(self.level_ratio)} level",
        }
        if repeated := self.counts.num_repeated:
            rows["repeated"] = (
                f"{repeated} of {sum(self.counts.pairs)} pairs equal an earlier one move for move; they do not narrow "
                "the intervals"
            )
        if self.sprt:
            rows["LLR"] = self.sprt
        return "\n".join(f"{name:<14} {row}" for name, row in rows.items())


def _percent(ratio: float | None) -> str:
    return "unknown" if ratio is None else f"{ratio:.1%}"


def match_statistics(counts: MatchCounts, *, sprt: Sprt | None = None) -> MatchStatistics:
    """Elo, normalised Elo, likelihood of superiority and the sequential test, by pairs if there are any.

    Elo's interval is that of `elo_of_points`: it equals fastchess' normal approximation in long matches, and stays
    valid in short and one-sided ones. nElo's is the normal approximation for players of similar strength. Pairs that
    repeat an earlier one do not narrow an interval (`MatchCounts.information`).
    """
    units = counts.information * np.array(counts.units, float)
    num_units = float(units.sum())
    if not num_units:
        return MatchStatistics(counts, None, None, 0.5, sprt.test(counts) if sprt else None)
    points, games_each = _points(len(units)), (len(units) - 1) // 2
    mean = float(points @ units) / num_units
    deviation = math.sqrt(float((points - mean) ** 2 @ units) / num_units)
    nelo = None
    if deviation > 0:
        found = NELO_PER_DEVIATION * (mean - 0.5) / (deviation * math.sqrt(games_each))
        error = NELO_PER_DEVIATION * NORMAL_95 / math.sqrt(games_each * num_units)
        nelo = EloDifference(found, found - error, found + error)
    # If all units ended alike, the deviation is at least their distance from 1/2.
    doubt = (deviation or abs(mean - 0.5) or 1) / math.sqrt(num_units)
    return MatchStatistics(
        counts,
        elo=elo_of_points(points.tolist(), counts=units.tolist(), games_each=games_each),
        nelo=nelo,
        los=(1 + math.erf((mean - 0.5) / doubt / math.sqrt(2))) / 2,
        sprt=sprt.test(counts) if sprt else None,
    )


@dataclass(frozen=True)
class Sprt:
    """A sequential probability ratio test of H0, a difference of `elo0`, against H1, one of `elo1`.

    Raises:
        SettingsError: a number is out of range, or the model is unknown.
    """

    elo0: float
    elo1: float
    """The difference under H1; greater than `elo0`."""
    alpha: float = 0.05
    """Approximate upper bound of the probability to accept H1 if H0 is true."""
    beta: float = 0.05
    """Approximate upper bound of the probability to accept H0 if H1 is true."""
    model: Model = "normalized"
    """The unit of `elo0` and `elo1`: normalised Elo, Elo (logistic), or BayesElo at the match's draw rate."""

    def __post_init__(self) -> None:
        if self.model not in get_args(Model):
            raise SettingsError(f"model is {self.model!r}; available: {', '.join(get_args(Model))}.")
        if not -FARTHEST_ELO <= self.elo0 < self.elo1 <= FARTHEST_ELO:
            raise SettingsError(
                f"elo0 is {self.elo0} and elo1 {self.elo1}, expected elo0 below elo1, both from {-FARTHEST_ELO} to "
                f"{FARTHEST_ELO}."
            )
        for name, rate in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < rate < 0.5:
                raise SettingsError(f"{name} is {rate}, but must be more than 0 and less than 0.5: a rate of errors.")

    @classmethod
    def parse(cls, text: str, *, model: str = "normalized", alpha: float = 0.05, beta: float = 0.05) -> Sprt:
        """Parse the two hypotheses from a text such as "0,5".

        Raises:
            SettingsError: the text is not two numbers, or they are out of range.
        """
        try:
            elo0, elo1 = map(float, text.split(","))
        except ValueError:
            raise SettingsError(f"the hypotheses {shown(text)} are not two numbers: write them as 0,5.") from None
        return cls(elo0, elo1, alpha=alpha, beta=beta, model=cast(Model, model))

    @property
    def lower(self) -> float:
        """Lower bound: H0 is accepted at this log-likelihood ratio or less (Wald 1945)."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """Upper bound: H1 is accepted at this log-likelihood ratio or more."""
        return math.log((1 - self.beta) / self.alpha)

    def test(self, counts: MatchCounts) -> SprtResult:
        """The result of the test for the counts so far."""
        size, shares = _shares(counts.units)
        distance0, distance1 = (self._distance(shares, elo, counts.games) for elo in (self.elo0, self.elo1))
        return SprtResult(self, counts.information * size * (distance0 - distance1))

    def _distance(self, shares: _Array, elo: float, games: Tally) -> float:
        """Log-likelihood per unit of `shares`, minus that of the nearest distribution with the strength `elo`."""
        if self.model == "normalized":
            games_each = (len(shares) - 1) / 2
            return _distance_of_deviations(shares, elo / NELO_PER_DEVIATION * math.sqrt(games_each))
        score = win_probability(elo) if self.model == "logistic" else _score_of_bayes_elo(elo, games)
        return float(_distance(shares, _points(len(shares)) - score))


@dataclass(frozen=True)
class SprtResult:
    """The state of a sequential test."""

    sprt: Sprt
    llr: float
    """Logarithm of the likelihood ratio of H1 to H0."""

    @property
    def decision(self) -> Decision | None:
        """The accepted hypothesis; None while the match has to go on."""
        if self.llr >= self.sprt.upper:
            return "H1"
        return "H0" if self.llr <= self.sprt.lower else None

    def numbers(self) -> dict[str, Any]:
        """All values by name, ready for JSON."""
        return {
            **asdict(self.sprt),
            "llr": self.llr,
            "lower": self.sprt.lower,
            "upper": self.sprt.upper,
            "decision": self.decision,
        }

    def __str__(self) -> str:
        sprt = self.sprt
        verdict = f"{self.decision} accepted" if self.decision else "undecided"
        return (
            f"{self.llr:z.2f} ({sprt.lower:.2f}, {sprt.upper:.2f}): {verdict}; "
            f"H0 {sprt.elo0:g}, H1 {sprt.elo1:g}, {sprt.model}"
        )


def _points(num_cells: int) -> _Array:
    """[num_cells] from 0 to 1: the points of each cell as a share of a unit's points."""
    return np.linspace(0, 1, num_cells)


def _shares(counts: Sequence[int]) -> tuple[float, _Array]:
    """The number of units and the share of each cell, with `EMPTY_CELL` in empty ones."""
    filled = np.array([count or EMPTY_CELL for count in counts])
    return float(filled.sum()), filled / filled.sum()


def _score_of_bayes_elo(elo: float, games: Tally) -> float:
    """The expected score of a BayesElo difference, at the match's own rate of draws.

    BayesElo (R. Coulom) has P(win) = 1 / (1 + 10^((draw_elo - elo) / 400)), P(loss) the same with -elo. Here draw_elo
    follows from the shares of wins and losses, as in fishtest (`draw_elo_calc`).
    """
    _, (losses, _, wins) = _shares((games.losses, games.draws, games.wins))
    draw_elo = ELO_PER_LOGIT / 2 * math.log((1 - losses) / losses * (1 - wins) / wins)
    return (1 + win_probability(elo - draw_elo) - win_probability(-elo - draw_elo)) / 2


def _distance(shares: _Array, values: _Array) -> _Array:
    """The least sum of shares * log(shares / p) over distributions p under which `values` have the mean 0.

    The p is shares / (1 + x values) with the x that maximises sum(shares * log(1 + x values)), which is the answer; x
    is found between the poles by Newton's steps, or by halves where those lead out.

    Args:
        shares: [cells], positive, of sum 1.
        values: [..., cells], some negative and some positive in each row.
    """
    low, high, x = -1 / values.max(-1), -1 / values.min(-1), np.zeros(values.shape[:-1])
    for _ in range(100):
        ratios = values / (1 + x[..., None] * values)
        slope, curvature = (shares * ratios).sum(-1), (shares * ratios**2).sum(-1)
        # Twice the remaining gain by Newton's model.
        if (slope**2 < 1e-18 * curvature).all():
            break
        low, high = np.where(slope > 0, x, low), np.where(slope > 0, high, x)
        newton = x + slope / curvature
        x = np.where((low < newton) & (newton < high), newton, (low + high) / 2)
    return np.asarray((shares * np.log1p(x[..., None] * values)).sum(-1))


def _distance_of_deviations(shares: _Array, deviations: float) -> float:
    """The same over distributions whose mean is `deviations` of their standard deviations above 1/2.

    With b = points - 1/2 that is E[b] = c sqrt(E[b^2]), c = t / sqrt(1 + t^2), t the deviations; let c > 0. As
    2 sqrt(E[b^2]) is the least of r + E[b^2] / r over r > 0, distributions with E[b] >= c sqrt(E[b^2]) are those that
    for some r have E[b - c / 2 (r + b^2 / r)] >= 0: a half-space for each r. If the shares are in none of them, the
    nearest distribution lies on the nearest of their planes. Else it lies in the convex set of what is in none of
    them, and, by duality, on the farthest of the planes that have the shares on their other side. So one number, r, is
    left to be found: on finer and finer grids, as there may be several local minima. The iterations of section 4.1
    need not end (fastchess's issues 877 and 879).
    """
    if deviations < 0:
        return _distance_of_deviations(shares[::-1], -deviations)
    b = _points(len(shares)) - 0.5
    if deviations < 1e-9:
        return float(_distance(shares, b))
    c = deviations / math.hypot(1, deviations)
    is_less = shares @ b < c * math.sqrt(shares @ b**2)
    # No b has b - c / 2 (r + b^2 / r) > 0 below the first r; the last is the most that sqrt(E[b^2]) can be.
    low, high = b[b > 0].min() * c / (1 + math.sqrt(1 - c**2)), 0.5
    best = 0.0
    for _ in range(4):
        grid = np.geomspace(low, high, 32)
        inner = grid[1:-1, None]
        values = b - c / 2 * (inner + b**2 / inner)
        is_fit = values.max(-1) > 0 if is_less else values @ shares > 0
        distances = np.full(len(inner), math.inf if is_less else 0.0)
        distances[is_fit] = (1 if is_less else -1) * _distance(shares, values[is_fit])
        nearest = int(distances.argmin())
        low, high, best = grid[nearest], grid[nearest + 2], float(distances[nearest])
    return abs(best)
