"""Matches are fair and repeatable."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import games_for_tests
from programs_for_tests import begin
from zerosum._core import Leaves
from zerosum.arena import MatchResult, PlayedGame, play_match
from zerosum.base.errors import SettingsError
from zerosum.contest.ratings import PairScore
from zerosum.contest.sprt import Tally
from zerosum.games import Rules, adopt, make
from zerosum.games.random_play import random_opening
from zerosum.network.evaluators import Evaluations, UniformEvaluator
from zerosum.play.contestant import RANDOM, Contestant, SearchContestant, rollouts
from zerosum.search import SearchConfig

CONNECT4, TICTACTOE, DOUBLE_MOVE = make("connect4"), make("tictactoe"), adopt(games_for_tests.DoubleMove())


class CountingEvaluator(UniformEvaluator):
    """Counts the positions that it is asked about, and remembers the largest batch."""

    def __init__(self) -> None:
        self.num_leaves = self.largest = 0

    def evaluate(self, leaves: Leaves) -> Evaluations:
        self.num_leaves += len(leaves)
        self.largest = max(self.largest, len(leaves))
        return super().evaluate(leaves)


def replay(game: Rules, played: PlayedGame) -> list[int]:
    """Check a game's result and ending by the rules. Returns the player of each ply."""
    state, movers = game.initial_state(), []
    for action in played.actions:
        assert game.outcome(state) is None
        movers.append(game.player(state))
        state = game.play(state, action)
    outcome = game.outcome(state)
    assert outcome is not None
    assert played.result == (outcome if played.first_is_player == 0 else -outcome)
    assert played.ending == game.ending(state)
    return movers


@pytest.mark.parametrize("game", [CONNECT4, TICTACTOE, DOUBLE_MOVE], ids=lambda game: game.spec.name)
def test_colours_are_balanced_and_pairs_share_their_opening(game: Rules) -> None:
    result = play_match(
        game, rollouts(game, 20, seed=1), RANDOM, num_games=30, opening_plies=2, seed=5, max_games_at_once=7
    )
    assert [played.index for played in result.games] == list(range(30))
    assert [played.first_is_player for played in result.games] == [0, 1] * 15
    for played in result.games:
        replay(game, played)
    openings = [played.actions[: played.opening_plies] for played in result.games]
    assert openings[0::2] == openings[1::2]
    assert len(set(openings)) > 1
    assert {len(opening) for opening in openings} == {2}


def test_each_contestant_moves_for_its_side_even_twice_in_a_row() -> None:
    """The lazy one always plays the first legal action, +1; random play would not."""
    lazy = SearchContestant("lazy", UniformEvaluator(), SearchConfig(num_simulations=1, exact_bounds=False))
    result = play_match(DOUBLE_MOVE, lazy, RANDOM, num_games=20, opening_plies=1, seed=2)
    num_doubled = 0
    for played in result.games:
        movers = replay(DOUBLE_MOVE, played)[played.opening_plies :]
        actions = played.actions[played.opening_plies :]
        num_doubled += sum(one == other for one, other in pairwise(movers))
        assert {action for action, mover in zip(actions, movers, strict=True) if mover == played.first_is_player} == {0}
    assert num_doubled > 20


def strong_and_weak(game: Rules) -> tuple[Contestant, Contestant]:
    search = SearchConfig(num_simulations=400)
    return SearchContestant("strong", UniformEvaluator(), search), RANDOM


@pytest.mark.parametrize("game", [DOUBLE_MOVE, TICTACTOE], ids=lambda game: game.spec.name)
def test_the_result_is_of_the_contestant_named_first(game: Rules) -> None:
    strong, weak = strong_and_weak(game)
    forwards = play_match(game, strong, weak, num_games=40, opening_plies=0, seed=3)
    backwards = play_match(game, weak, strong, num_games=40, opening_plies=0, seed=3)
    assert forwards.score > 0.7 and backwards.score < 0.3
    for player in (0, 1):
        assert forwards.tally(player=player).wins > forwards.tally(player=player).losses


@pytest.mark.parametrize(("game", "score"), [(TICTACTOE, 0.85), (CONNECT4, 0.95)], ids=["tictactoe", "connect4"])
def test_rollouts_beat_random_play(game: Rules, score: float) -> None:
    result = play_match(game, rollouts(game, 200, seed=1), RANDOM, num_games=40, opening_plies=1, seed=4)
    assert result.score >= score
    assert result.num_distinct > 30


def test_more_rollouts_beat_fewer() -> None:
    first, second = rollouts(CONNECT4, 300, seed=1), rollouts(CONNECT4, 20, seed=2)
    assert play_match(CONNECT4, first, second, num_games=40, opening_plies=2, seed=4).score > 0.75


def test_same_seed_same_games() -> None:
    def games(seed: int) -> tuple[PlayedGame, ...]:
        contestants = rollouts(CONNECT4, 30, seed=1), SearchContestant("search", UniformEvaluator(), SearchConfig())
        return play_match(CONNECT4, *contestants, num_games=10, opening_plies=2, seed=seed).games

    assert games(1) == games(1)
    assert games(1) != games(2)


def test_the_games_do_not_depend_on_how_many_are_played_at_once() -> None:
    def games(max_games_at_once: int) -> tuple[PlayedGame, ...]:
        contestant = SearchContestant("search", UniformEvaluator(), SearchConfig(num_simulations=50))
        return play_match(
            CONNECT4, contestant, RANDOM, num_games=12, opening_plies=2, seed=1, max_games_at_once=max_games_at_once
        ).games

    assert games(1) == games(5) == games(64)


def test_evaluations_are_counted_and_share_batches() -> None:
    first, second = CountingEvaluator(), CountingEvaluator()
    config = SearchConfig(num_simulations=25, reuse_tree=False, exact_bounds=False)
    result = play_match(
        CONNECT4,
        SearchContestant("first", first, config),
        SearchContestant("second", second, config),
        num_games=16,
        opening_plies=2,
        seed=1,
    )
    assert result.evaluations == (first.num_leaves, second.num_leaves)
    assert 8 <= first.largest <= 16
    num_searches = sum(len(game.actions) - game.opening_plies for game in result.games)
    assert sum(result.evaluations) <= 26 * num_searches
    assert play_match(CONNECT4, RANDOM, RANDOM, num_games=4, opening_plies=0, seed=1).evaluations == (0, 0)


def test_a_kept_tree_saves_evaluations() -> None:
    def evaluations(reuse_tree: bool) -> int:
        config = SearchConfig(num_simulations=100, reuse_tree=reuse_tree)
        contestant = SearchContestant("search", UniformEvaluator(), config)
        return sum(play_match(CONNECT4, contestant, RANDOM, num_games=8, opening_plies=2, seed=1).evaluations)

    assert evaluations(True) < evaluations(False)


def test_a_match_can_be_watched_and_left() -> None:
    contestant = SearchContestant("search", UniformEvaluator(), SearchConfig(num_simulations=10))
    result = play_match(CONNECT4, contestant, RANDOM, num_games=6, opening_plies=2, seed=1)
    watched = begin(CONNECT4, contestant, RANDOM, num_games=6, opening_plies=2, seed=1)
    seen: list[PlayedGame] = []
    while not watched.is_over:
        seen += watched.play_batch()
    assert sorted(seen, key=lambda game: game.index) == list(result.games)
    match = begin(CONNECT4, contestant, RANDOM, num_games=6, opening_plies=2, seed=1, max_games_at_once=2)
    assert match.result.games == () and math.isnan(match.result.score)
    while not match.result.games:
        match.play_batch()
    assert not match.is_over
    assert set(match.result.games) < set(result.games)


@given(st.integers(0, 10), st.integers(0, 2**40), st.integers(0, 50))
def test_openings_are_legal_and_leave_the_game_open(num_plies: int, seed: int, pair: int) -> None:
    for game in (TICTACTOE, CONNECT4, DOUBLE_MOVE):
        opening = random_opening(game, num_plies=num_plies, seed=seed, pair=pair)
        assert opening == random_opening(game, num_plies=num_plies, seed=seed, pair=pair)
        state = game.initial_state()
        for action in opening:
            state = game.play(state, action)
        assert game.outcome(state) is None
        ahead = [game.outcome(game.play(state, action)) for action in game.legal_actions(state)]
        assert len(opening) == num_plies or all(outcome is not None for outcome in ahead)


def test_openings_are_spread_evenly() -> None:
    openings = [random_opening(TICTACTOE, num_plies=1, seed=1, pair=pair)[0] for pair in range(900)]
    counts = np.bincount(openings, minlength=9)
    assert ((counts - 100) ** 2 / 100).sum() < 26  # chi squared, 8 degrees of freedom: 0.1 % of seeds fail


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"num_games": 5}, "num_games is 5, expected an even number: each opening"),
        ({"num_games": 0}, "num_games is 0, but must be at least 2"),
        ({"opening_plies": -1}, "opening_plies is -1, but must be at least 0"),
        ({"max_games_at_once": 0}, "max_games_at_once is 0, but must be at least 1"),
    ],
)
def test_numbers_out_of_range(changed: dict[str, int], message: str) -> None:
    numbers = {"num_games": 2, "opening_plies": 0, "seed": 1, **changed}
    with pytest.raises(SettingsError, match=message):
        play_match(TICTACTOE, RANDOM, RANDOM, **numbers)  # type: ignore[arg-type]


def played(index: int, result: float, actions: tuple[int, ...] = (1, 2)) -> PlayedGame:
    return PlayedGame(index, actions, 0, index % 2, result, "some way")


def test_a_result_by_hand() -> None:
    """Six games: as player 0 a win, a draw and a loss, as player 1 two wins and half a win."""
    results = [1, 1, 0, 1, -1, 0.5]
    games = tuple(played(index, result, (index % 3,)) for index, result in enumerate(results))
    result = MatchResult("me", "you", games, (1234, 0))
    assert (result.tally(), result.tally(player=1)) == (Tally(4, 1, 1), Tally(3, 0, 0))
    assert result.points == [1, 1, 0.5, 1, 0, 0.75]
    assert result.score == 4.25 / 6
    assert result.pair_score == PairScore("me", "you", wins=3.5, draws=1.5, losses=1)
    assert str(result) == (
        "me against you: 70.8% of 6 games\n"
        "  Elo            +190.8 (95 %: -67.3 to +449.0)\n"
        "  nElo           +300.9 (95 %: +22.9 to +578.9)\n"
        "  LOS            98.31%\n"
        "  games          4 won, 1 drawn, 1 lost; 16.7% drawn\n"
        "  pairs          0 with 0, 0 with ½, 1 with 1, 1 with 1½, 1 with 2 points; 33.3% level\n"
        "  moving first   1 won, 1 drawn, 1 lost\n"
        "  moving second  3 won, 0 drawn, 0 lost\n"
        "  3 different games of 1.0 plies, 1,234 and 0 evaluations"
    )
