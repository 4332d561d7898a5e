"""Ratings are what results say, bars hold the truth as often as they promise, and the next game tells most."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerosum.base.errors import SettingsError
from zerosum.contest.elo import Rating, win_probability
from zerosum.contest.ratings import (
    VIRTUAL_GAMES,
    PairScore,
    Prior,
    Ratings,
    explained_variance,
    fit_ratings,
    game_information,
    most_telling_pair,
    outcome_probabilities,
)


def chances(difference: float, nu: float) -> tuple[float, float, float]:
    """Davidson's model in its plainest form: the twin of `outcome_probabilities`."""
    strength = 10 ** (difference * (2 + nu) / 2 / 400)
    total = strength + 1 + nu * math.sqrt(strength)
    return strength / total, nu * math.sqrt(strength) / total, 1 / total


# ---- the model


@pytest.mark.parametrize("nu", [0.003, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("difference", [-700.0, -30.0, 0.0, 200.0, 3000.0])
def test_the_model_is_davidsons(difference: float, nu: float) -> None:
    assert np.allclose(outcome_probabilities(np.array(difference), nu), chances(difference, nu))


def test_an_elo_means_what_it_means_everywhere() -> None:
    win, draw, _ = chances(200, 1e-9)
    assert win + draw / 2 == pytest.approx(win_probability(200), abs=1e-6)
    assert round(win, 3) == 0.760
    for nu in (0.01, 0.3, 1.0, 3.0):
        # At equal strength the score rises as the logistic curve does, however many games are drawn.
        (win, draw, _), (low_win, low_draw, _) = chances(1, nu), chances(-1, nu)
        slope = (win + draw / 2 - low_win - low_draw / 2) / 2
        assert slope == pytest.approx((win_probability(1) - win_probability(-1)) / 2, rel=1e-5)
    win, draw, _ = chances(200, 1.0)
    assert win + draw / 2 == pytest.approx(0.757, abs=5e-4)  # as the head of ratings.py says


def twin_log_density(elos: dict[str, float], scores: list[PairScore], priors: dict[str, Prior], nu: float) -> float:
    total = 0.0
    for score in scores:
        win, draw, loss = chances(elos[score.first] - elos[score.second], nu)
        total += score.wins * math.log(win) + score.draws * math.log(draw) + score.losses * math.log(loss)
    for name, prior in priors.items():
        total -= ((elos[name] - prior.elo) / prior.deviation) ** 2 / 2
    return total


SCORES = [
    PairScore("a", "zero", 7, 2, 3),
    PairScore("b", "a", 9, 1, 2),
    PairScore("a", "b", 3, 1, 4),
    PairScore("c", "b", 12, 0, 0),
    PairScore("c", "a", 0, 0, 0),
]
PRIORS = {"a": Prior(), "b": Prior(500, 200), "c": Prior(900, 300), "d": Prior(-100, 50)}


def test_ratings_are_at_the_peak_and_bars_are_its_curvature() -> None:
    ratings = fit_ratings(SCORES, PRIORS, zero="zero")
    assert ratings.names == ("zero", "a", "b", "c", "d")
    elos = {name: ratings.rating(name).elo for name in ratings.names}
    names = ratings.names[1:]

    def density(**moves: float) -> float:
        moved = {name: elo + moves.get(name, 0.0) for name, elo in elos.items()}
        return twin_log_density(moved, SCORES, PRIORS, ratings.nu)

    peak = density()
    for name in names:
        assert density(**{name: 2.0}) < peak and density(**{name: -2.0}) < peak

    def curvature(one: str, other: str, step: float = 1.0) -> float:
        def both(a: float, b: float) -> float:
            return density(**({one: a + b} if one == other else {one: a, other: b}))

        return -(both(step, step) - both(step, -step) - both(-step, step) + both(-step, -step)) / (4 * step**2)

    precision = np.array([[curvature(one, other) for other in names] for one in names])
    assert np.allclose(np.linalg.inv(precision), ratings.covariance[1:, 1:], rtol=1e-2, atol=1.0)
    assert ratings.rating("zero").elo == ratings.rating("zero").error == 0
    assert ratings.rating("d").elo == pytest.approx(-100) and ratings.rating("d").error == pytest.approx(98, abs=0.1)


def test_the_order_of_results_and_of_names_in_them_says_nothing() -> None:
    once = fit_ratings(SCORES, PRIORS, zero="zero")
    turned = [PairScore(score.second, score.first, score.losses, score.draws, score.wins) for score in reversed(SCORES)]
    again = fit_ratings(turned, PRIORS, zero="zero")
    assert np.allclose(once.elos, again.elos, atol=1e-3) and once.nu == again.nu


def test_draws_are_learned() -> None:
    some = fit_ratings([PairScore("a", "zero", 30, 40, 30)], {}, zero="zero")
    assert some.nu / (2 + some.nu) == pytest.approx(0.4, abs=0.03) and abs(some.rating("a").elo) < 10
    none = fit_ratings([PairScore("a", "zero", 50, 0, 50)], {}, zero="zero")
    assert none.nu / (2 + none.nu) < 0.02
    # Draws leave less room for chance, so the bar is shorter, but a short one takes games.
    assert some.rating("a").error < none.rating("a").error


def test_without_results_there_are_priors_alone() -> None:
    ratings = fit_ratings([], {"a": Prior(300, 100)}, zero="zero")
    assert ratings.rating("a").elo == 300 and ratings.rating("a").error == pytest.approx(196, abs=0.01)


def test_only_wins_have_a_finite_rating() -> None:
    few, many = (
        fit_ratings([PairScore("a", "zero", n, 0, 0)], {"a": Prior()}, zero="zero").rating("a") for n in (4, 400)
    )
    assert 1000 < few.elo < many.elo < 3000 and few.error > many.error > 500


# ---- what a game tells


def test_a_game_tells_as_much_of_a_known_difference_as_fisher_says() -> None:
    means, variances = np.array([0.0, 150.0, -400.0]), np.array([4.0, 4.0, 4.0])
    for nu in (0.01, 0.5):
        told = explained_variance(means, variances, nu)
        assert np.allclose(told, game_information(means, nu) * variances**2, rtol=1e-3)


@pytest.mark.parametrize(("mean", "deviation"), [(0.0, 1000.0), (500.0, 800.0), (-300.0, 150.0)])
def test_what_a_game_is_expected_to_tell_by_simulation(mean: float, deviation: float) -> None:
    nu, generator = 0.3, np.random.default_rng(1)
    differences = generator.normal(mean, deviation, size=400_000)
    win, draw, _ = outcome_probabilities(differences, nu)
    drawn = generator.random(differences.size)
    results = np.where(drawn < win, 1, np.where(drawn < win + draw, 0, -1))
    left = sum((results == result).mean() * differences[results == result].var() for result in (1, 0, -1))
    told = explained_variance(np.array(mean), np.array(deviation**2), nu)
    assert told == pytest.approx(deviation**2 - left, rel=0.03)


PLAYERS = ("p", "low", "middle", "high", "zero")
LADDERS = {
    "known": fit_ratings(
        [],
        {"p": Prior(700, 600), "low": Prior(300, 60), "middle": Prior(800, 50), "high": Prior(1400, 80)},
        zero="zero",
    ),
    "met": fit_ratings(
        [PairScore("p", "low", 9, 1, 0), PairScore("low", "zero", 5, 2, 3), PairScore("p", "middle", 4, 1, 3)],
        dict.fromkeys(PLAYERS[:-1], Prior(800, 400)),
        zero="zero",
    ),
}


def expected_gain(ratings: Ratings, pair: tuple[str, str], targets: Sequence[str]) -> float:
    """The reduction of the targets' variances by a game, from weighted samples of ratings (slow)."""
    elos = np.random.default_rng(7).multivariate_normal(ratings.elos, ratings.covariance, size=50_000)
    column = {name: elos[:, index] for index, name in enumerate(ratings.names)}
    gain = sum(column[name].var() for name in targets)
    # The result itself need not be drawn: each draw of the ratings counts by how likely it makes each result.
    for likelihood in outcome_probabilities(column[pair[0]] - column[pair[1]], ratings.nu):
        for name in targets:
            mean = np.average(column[name], weights=likelihood)
            gain -= likelihood.mean() * np.average((column[name] - mean) ** 2, weights=likelihood)
    return float(gain)


@pytest.mark.parametrize("ladder", LADDERS)
@pytest.mark.parametrize("targets", [("p",), PLAYERS[:-1]], ids=["one", "all"])
def test_the_chosen_pair_is_the_best_of_all(ladder: str, targets: tuple[str, ...]) -> None:
    ratings = LADDERS[ladder]
    pairs = list(itertools.combinations(PLAYERS, 2))
    expected = {pair: expected_gain(ratings, pair, targets) for pair in pairs}
    largest = max(expected.values())
    gains = ratings.gains(pairs, targets=targets)
    assert np.allclose(gains, list(expected.values()), rtol=0.04, atol=0.02 * largest)
    assert expected[most_telling_pair(ratings, PLAYERS, targets=targets)] >= 0.97 * largest


def test_who_is_about_as_strong_tells_most_and_who_is_unknown_less() -> None:
    priors = {"p": Prior(800, 100), "near": Prior(780, 30), "far": Prior(1600, 30), "unknown": Prior(800, 500)}
    ratings = fit_ratings([], priors, zero="zero")
    pairs = [("p", name) for name in ("near", "unknown", "far", "zero")]
    near, unknown, far, zero = ratings.gains(pairs, targets=["p"])
    assert near > 4 * far and near > 4 * zero and near > 4 * unknown


def test_a_game_between_opponents_may_tell_most() -> None:
    """The player met only `middle`, whose rating is unknown."""
    scores = [PairScore("p", "middle", 50, 0, 50)]
    ratings = fit_ratings(scores, {"p": Prior(), "middle": Prior(500, 400), "low": Prior(300, 20)}, zero="zero")
    pairs = list(itertools.combinations(["p", "middle", "low"], 2))
    gains = dict(zip(pairs, ratings.gains(pairs, targets=["p"]).tolist(), strict=True))
    assert gains["middle", "low"] > 3 * gains["p", "middle"]


# ---- ratings by results alone


def fitted(scores: Iterable[PairScore], zero: str | None = "random") -> dict[str, Rating]:
    return fit_ratings(scores, zero=zero).by_name


@given(st.integers(0, 900), st.integers(0, 900), st.integers(1, 900))
def test_two_players_are_rated_by_their_score_and_a_virtual_game(wins: int, draws: int, losses: int) -> None:
    """The maximum and the Hessian have closed forms for one parameter."""
    num_games = wins + draws + losses + VIRTUAL_GAMES
    ratings = fit_ratings([PairScore("a", "random", wins, draws, losses)], zero="random")
    score = (wins + draws / 2 + VIRTUAL_GAMES / 2) / num_games
    assert ratings.expected_score("a", "random") == pytest.approx(score, abs=1e-6)
    information = num_games * game_information(np.array(ratings.rating("a").elo), ratings.nu)
    assert ratings.rating("a").error == pytest.approx(1.959964 / math.sqrt(information), rel=1e-3)


def test_a_chain_of_players_adds_up() -> None:
    """On a tree of matches each link is fitted alone, except for the tendency to draw, and variances add."""
    links = [
        PairScore.of_points("a", "random", 30, 40),
        PairScore.of_points("b", "a", 70, 100),
        PairScore.of_points("c", "b", 5, 50),
    ]
    ratings = fitted(links)
    alone = [fitted([link], zero=link.second)[link.first] for link in links]
    assert ratings["c"].elo == pytest.approx(sum(link.elo for link in alone), abs=3)
    assert ratings["c"].error == pytest.approx(math.hypot(*(link.error for link in alone)), rel=0.01)
    assert ratings["random"].elo == ratings["random"].error == 0


results_of_four = st.lists(
    st.tuples(st.sampled_from(list(combinations("abcd", 2))), st.integers(0, 60), st.integers(0, 60)), min_size=6
).map(lambda rows: [PairScore.of_points(one, other, wins, wins + losses) for (one, other), wins, losses in rows])


@given(results_of_four)
def test_only_the_sum_of_results_counts_in_whatever_order(results: list[PairScore]) -> None:
    chain = [PairScore.of_points(one, other, 1, 2) for one, other in ("ab", "bc", "cd")]
    ratings = fitted([*results, *chain], zero="a")
    mirrored = [row.reversed for row in results]
    assert set(ratings) == set("abcd")
    for name, rating in fitted([*chain, *reversed(mirrored)], zero="a").items():
        assert rating.elo == pytest.approx(ratings[name].elo, abs=1e-3)
        assert rating.error == pytest.approx(ratings[name].error, abs=1e-3)
    moved = fitted([*results, *chain], zero="c")
    assert moved["d"].elo - moved["b"].elo == pytest.approx(ratings["d"].elo - ratings["b"].elo, abs=1e-3)


@given(results_of_four)
def test_the_fit_is_where_expected_and_real_points_agree(results: list[PairScore]) -> None:
    """At the maximum of the likelihood each player's expected points equal its points, virtual games included."""
    chain = [PairScore(one, other, 1, 2, 1) for one, other in ("ab", "bc", "cd")]
    ratings = fit_ratings([*results, *chain], zero="a")
    met = {frozenset((row.first, row.second)) for row in [*results, *chain] if row.num_games}
    virtual = [PairScore.of_points(*sorted(pair), VIRTUAL_GAMES / 2, VIRTUAL_GAMES) for pair in met]
    for name in "abcd":
        surplus = 0.0
        for row in [*results, *chain, *virtual]:
            expected = row.num_games * ratings.expected_score(row.first, row.second)
            surplus += (row.points - expected) * ((row.first == name) - (row.second == name))
        assert surplus == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("nu", [1e-9, 0.8])
def test_known_ratings_are_recovered_within_their_error_bars(nu: float) -> None:
    """95 % of the intervals contain the truth. Errors within a tournament are correlated, hence the margin."""
    truth = {"random": 0.0, "a": 150.0, "b": 300.0, "c": 420.0, "d": 700.0, "e": 500.0}
    generator = np.random.default_rng(1)
    errors, num_held = [], 0
    for _ in range(100):
        results = [
            PairScore(one, other, *generator.multinomial(40, chances(truth[one] - truth[other], nu)).tolist())
            for one, other in combinations(truth, 2)
        ]
        ratings = fitted(results)
        errors += [ratings[name].elo - elo for name, elo in truth.items() if elo]
        num_held += sum(abs(ratings[name].elo - elo) <= ratings[name].error for name, elo in truth.items() if elo)
    assert 0.9 <= num_held / len(errors) <= 0.99
    assert abs(np.mean(errors)) < 15


def test_one_sided_results_stay_finite() -> None:
    scores = [PairScore("a", "random", 100, 0, 0), PairScore("b", "random", 0, 0, 100), PairScore("c", "a", 9, 0, 0)]
    found = fit_ratings(scores, zero="random")
    ratings = found.by_name
    score = (100 + VIRTUAL_GAMES / 2) / (100 + VIRTUAL_GAMES)
    assert found.expected_score("a", "random") == pytest.approx(score, abs=1e-6)
    assert ratings["b"].elo == pytest.approx(-ratings["a"].elo, abs=1e-3)
    assert ratings["c"].elo > ratings["a"].elo
    assert all(math.isfinite(rating.error) for rating in ratings.values())
    assert ratings["a"].error > 300
    assert fitted([PairScore("a", "random", 10**9, 0, 0)])["a"].elo > 3000


def test_players_without_a_link_to_the_anchor_are_named() -> None:
    results = [PairScore.of_points("a", "random", 3, 4), PairScore.of_points("b", "c", 3, 4)]
    with pytest.raises(SettingsError, match="No chain of matches connects b, c with random"):
        fitted(results)
    with pytest.raises(SettingsError, match="connects a, b, c, random with rollouts"):
        fitted(results, zero="rollouts")
    with pytest.raises(SettingsError, match="connects b with random"):
        fitted([PairScore.of_points("b", "random", 0, 0), PairScore.of_points("b", "b", 1, 2)])
    assert fitted([]) == fitted([PairScore.of_points("b", "random", 0, 0)])


def test_is_stronger_by_hand() -> None:
    """Two coins, 40 tosses each: the likelihood ratio in closed form."""

    def ratio(one: int, other: int) -> float:
        def log_likelihood(points: int, games: int, p: float) -> float:
            return points * math.log(p or 1) + (games - points) * math.log(1 - p or 1)

        apart = log_likelihood(one, 40, one / 40) + log_likelihood(other, 40, other / 40)
        return 2 * (apart - log_likelihood(one + other, 80, (one + other) / 80))

    for one, other in ((30, 20), (28, 20), (40, 35), (40, 38), (25, 15), (22, 20)):
        results = [PairScore.of_points("one", "anchor", one, 40), PairScore.of_points("other", "anchor", other, 40)]
        assert abs(ratio(one, other) - 3.84) > 0.3, "too close to call, with the prior's share of a draw"
        assert fit_ratings(results, zero="anchor").is_stronger("one", "other") == (ratio(one, other) > 3.84)
        assert not fit_ratings(results, zero="anchor").is_stronger("other", "one")


def test_is_stronger_counts_their_own_games() -> None:
    results = [PairScore.of_points("one", "random", 20, 20), PairScore.of_points("other", "random", 20, 20)]
    assert not fit_ratings(results, zero="random").is_stronger("one", "other")
    for own in (PairScore("one", "other", 18, 0, 2), PairScore("other", "one", 2, 0, 18)):
        assert fit_ratings([*results, own], zero="random").is_stronger("one", "other")


def test_is_stronger_asks_about_the_zero_and_with_priors() -> None:
    scores = [PairScore("one", "random", 9, 0, 1), PairScore("other", "random", 5, 0, 5)]
    for priors in ({}, {"one": Prior(), "other": Prior()}, {"one": Prior(0, 1)}):
        ratings = fit_ratings(scores, priors, zero="random")
        is_known = priors == {"one": Prior(0, 1)}
        assert ratings.is_stronger("one", "random") == (not is_known)
        assert not ratings.is_stronger("random", "one") and not ratings.is_stronger("other", "random")


def test_without_a_zero_the_mean_is_zero() -> None:
    scores = [PairScore("a", "b", 10, 4, 6), PairScore("b", "c", 15, 0, 5), PairScore("a", "c", 12, 8, 0)]
    anchored, centred = fitted(scores, zero="c"), fitted(scores, zero=None)
    mean = sum(rating.elo for rating in anchored.values()) / 3
    for name, rating in centred.items():
        assert rating.elo == pytest.approx(anchored[name].elo - mean, abs=1e-3)
    for name, rating in fitted(scores[::-1], zero=None).items():
        assert rating.error == pytest.approx(centred[name].error, rel=1e-6)
    # Each of two players is half of their difference away from the mean, and so is its bar.
    (one, other), apart = fitted(scores[:1], zero=None).values(), fitted(scores[:1], zero="b")["a"]
    assert (one.elo, one.error) == pytest.approx((apart.elo / 2, apart.error / 2))
    assert other.elo == pytest.approx(-one.elo)


def test_results_between_a_draw_and_a_win_are_fractions_of_both() -> None:
    score = PairScore.of_results("a", "b", [1, 0.5, 0, -0.25, -1])
    assert (score.wins, score.draws, score.losses) == (1.5, 2.25, 1.25)
    assert score.points == sum((result + 1) / 2 for result in [1, 0.5, 0, -0.25, -1])
    assert score.reversed.points == score.num_games - score.points
