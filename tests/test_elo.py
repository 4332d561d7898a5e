"""Ratings are what the results say, and their error bars hold the truth as often as they promise."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerosum.base.errors import SettingsError
from zerosum.contest.elo import VIRTUAL_DRAWS, PairScore, elo_of_points, fit_elo, is_stronger, win_probability


def elo_of_score(score: float) -> float:
    return -400 * math.log10(1 / score - 1)


def test_200_elo_are_76_per_cent() -> None:
    assert win_probability(200) == pytest.approx(0.760, abs=5e-4)
    assert win_probability(0) == 0.5
    assert win_probability(-200) == pytest.approx(1 - win_probability(200))


@given(st.integers(1, 2000), st.floats(0, 1))
def test_two_players_are_rated_by_their_score_and_a_virtual_game(num_games: int, share: float) -> None:
    """With one parameter the maximum and the Hessian have closed forms."""
    points = share * num_games
    score = (points + VIRTUAL_DRAWS / 2) / (num_games + VIRTUAL_DRAWS)
    rating = fit_elo([PairScore("a", "random", points, num_games)])["a"]
    assert rating.elo == pytest.approx(elo_of_score(score), abs=1e-3)
    information = (num_games + VIRTUAL_DRAWS) * score * (1 - score) * (math.log(10) / 400) ** 2
    assert rating.error == pytest.approx(1.959964 / math.sqrt(information), rel=1e-3)


def test_a_chain_of_players_adds_up() -> None:
    """On a tree of matches each link is fitted alone, and variances add."""
    links = [PairScore("a", "random", 30, 40), PairScore("b", "a", 70, 100), PairScore("c", "b", 5, 50)]
    ratings = fit_elo(links)
    alone = [fit_elo([link], anchor=link.second)[link.first] for link in links]
    assert ratings["c"].elo == pytest.approx(sum(link.elo for link in alone))
    assert ratings["c"].error == pytest.approx(math.hypot(*(link.error for link in alone)), rel=1e-4)
    assert ratings["random"].elo == ratings["random"].error == 0


results_of_four = st.lists(
    st.tuples(st.sampled_from(list(combinations("abcd", 2))), st.integers(0, 60), st.integers(0, 60)), min_size=6
).map(lambda rows: [PairScore(one, other, wins, wins + losses) for (one, other), wins, losses in rows])


@given(results_of_four)
def test_only_the_sum_of_results_counts_in_whatever_order(results: list[PairScore]) -> None:
    chain = [PairScore(one, other, 1, 2) for one, other in ("ab", "bc", "cd")]
    ratings = fit_elo([*results, *chain], anchor="a")
    mirrored = [PairScore(row.second, row.first, row.num_games - row.points, row.num_games) for row in results]
    assert set(ratings) == set("abcd")
    for name, rating in fit_elo([*chain, *reversed(mirrored)], anchor="a").items():
        assert rating.elo == pytest.approx(ratings[name].elo, abs=1e-3)
        assert rating.error == pytest.approx(ratings[name].error, abs=1e-3)
    moved = fit_elo([*results, *chain], anchor="c")
    assert moved["d"].elo - moved["b"].elo == pytest.approx(ratings["d"].elo - ratings["b"].elo, abs=1e-3)


@given(results_of_four)
def test_the_fit_is_where_expected_and_real_points_agree(results: list[PairScore]) -> None:
    """What a maximum of the likelihood means: each player's expected points, virtual draws included, are its points."""
    chain = [PairScore(one, other, 1, 2) for one, other in ("ab", "bc", "cd")]
    ratings = fit_elo([*results, *chain], anchor="a")
    met = {frozenset((row.first, row.second)) for row in [*results, *chain] if row.num_games}
    virtual = [PairScore(*sorted(pair), VIRTUAL_DRAWS / 2, VIRTUAL_DRAWS) for pair in met]
    for name in "abcd":
        surplus = 0.0
        for row in [*results, *chain, *virtual]:
            expected = row.num_games * win_probability(ratings[row.first].elo - ratings[row.second].elo)
            surplus += (row.points - expected) * ((row.first == name) - (row.second == name))
        assert surplus == pytest.approx(0, abs=1e-3)


def test_known_ratings_are_recovered_within_their_error_bars() -> None:
    """Of 95 % intervals, 95 % hold the truth; errors within a tournament go together, hence the margin."""
    truth = {"random": 0.0, "a": 150.0, "b": 300.0, "c": 420.0, "d": 700.0, "e": 500.0}
    generator = np.random.default_rng(1)
    errors, num_held = [], 0
    for _ in range(100):
        results = [
            PairScore(one, other, generator.binomial(40, win_probability(truth[one] - truth[other])), 40)
            for one, other in combinations(truth, 2)
        ]
        ratings = fit_elo(results)
        errors += [ratings[name].elo - elo for name, elo in truth.items() if elo]
        num_held += sum(abs(ratings[name].elo - elo) <= ratings[name].error for name, elo in truth.items() if elo)
    assert 0.9 <= num_held / len(errors) <= 0.99
    assert abs(np.mean(errors)) < 15


def test_one_sided_results_stay_finite() -> None:
    ratings = fit_elo([PairScore("a", "random", 100, 100), PairScore("b", "random", 0, 100), PairScore("c", "a", 9, 9)])
    assert ratings["a"].elo == pytest.approx(elo_of_score((100 + VIRTUAL_DRAWS / 2) / (100 + VIRTUAL_DRAWS)), abs=1e-3)
    assert ratings["b"].elo == pytest.approx(-ratings["a"].elo, abs=1e-3)
    assert ratings["c"].elo > ratings["a"].elo
    assert all(math.isfinite(rating.error) for rating in ratings.values())
    assert ratings["a"].error > 300
    assert fit_elo([PairScore("a", "random", 10**9, 10**9)])["a"].elo > 3000


def test_players_without_a_link_to_the_anchor_are_named() -> None:
    results = [PairScore("a", "random", 3, 4), PairScore("b", "c", 3, 4)]
    with pytest.raises(SettingsError, match="No chain of matches connects b, c with random"):
        fit_elo(results)
    with pytest.raises(SettingsError, match="connects a, b, c, random with rollouts"):
        fit_elo(results, anchor="rollouts")
    with pytest.raises(SettingsError, match="connects b with random"):
        fit_elo([PairScore("b", "random", 0, 0), PairScore("b", "b", 1, 2)])
    assert fit_elo([]) == fit_elo([PairScore("b", "random", 0, 0)])


def test_the_interval_of_wins_and_losses_is_wilsons() -> None:
    """Its ends are the p that are 1.96 of their own standard errors away from the score."""
    for wins, losses in ((60, 40), (100, 0), (1, 9), (997, 3)):
        elo, size = elo_of_points([1.0] * wins + [0.0] * losses), wins + losses
        assert math.isinf(elo.elo) or elo.elo == pytest.approx(elo_of_score(wins / size))
        for end in (elo.low, elo.high):
            p = win_probability(end)
            # n is 1 % off where the added half win and half loss count.
            assert abs(wins / size - p) == pytest.approx(1.959964 * math.sqrt(p * (1 - p) / size), rel=0.01)
    clean = elo_of_points([1.0] * 100)
    assert clean.elo == clean.high == math.inf and 560 < clean.low < 570


def test_draws_are_surer_than_wins_and_losses() -> None:
    drawn, fought = elo_of_points([0.5] * 100), elo_of_points([0.0, 1.0] * 50)
    assert drawn.elo == fought.elo == 0
    assert 1 < drawn.high < 0.2 * fought.high
    assert drawn.low == pytest.approx(-drawn.high)


def test_of_intervals_of_matches_95_per_cent_hold_the_truth() -> None:
    generator = np.random.default_rng(1)
    for win, draw in ((0.4, 0.3), (0.8, 0.15), (0.97, 0.0)):
        truth = elo_of_score(win + draw / 2)
        num_held = 0
        for _ in range(400):
            elo = elo_of_points(generator.choice([1.0, 0.5, 0.0], size=100, p=[win, draw, 1 - win - draw]).tolist())
            num_held += elo.low <= truth <= elo.high
        assert 0.92 <= num_held / 400 <= 0.98


def test_is_stronger_by_hand() -> None:
    """Two coins, 40 tosses each: the likelihood ratio in closed form."""

    def ratio(one: int, other: int) -> float:
        def log_likelihood(points: int, games: int, p: float) -> float:
            return points * math.log(p or 1) + (games - points) * math.log(1 - p or 1)

        apart = log_likelihood(one, 40, one / 40) + log_likelihood(other, 40, other / 40)
        return 2 * (apart - log_likelihood(one + other, 80, (one + other) / 80))

    for one, other in ((30, 20), (28, 20), (40, 35), (40, 38), (25, 15), (22, 20)):
        results = [PairScore("one", "anchor", one, 40), PairScore("other", "anchor", other, 40)]
        assert abs(ratio(one, other) - 3.84) > 0.3, "too close to call, with the prior's share of a draw"
        assert is_stronger(results, "one", "other") == (ratio(one, other) > 3.84), (one, other)
        assert not is_stronger(results, "other", "one")


def test_is_stronger_counts_their_own_games() -> None:
    results = [PairScore("one", "random", 20, 20), PairScore("other", "random", 20, 20)]
    assert not is_stronger(results, "one", "other")
    assert is_stronger([*results, PairScore("one", "other", 18, 20)], "one", "other")
    assert is_stronger([*results, PairScore("other", "one", 2, 20)], "one", "other")
