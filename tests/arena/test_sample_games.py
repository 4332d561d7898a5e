"""The games of a match that a page shows: the paper's rules, and a player's own sacrifices and changes of mind."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from zerosum.arena.played import PlayedGame
from zerosum.arena.sample_games import OPENING_PLIES, notable_games, own_values, sample_games
from zerosum.contest.adjudication import Score
from zerosum.contest.mover import Thought
from zerosum.games import make
from zerosum.games.playthrough import Playthrough

CHESS = make("chess")
QUEEN_GIVEN = [
    *("e2e4", "e7e5", "d1h5", "b8c6", "h5h7", "h8h7", "a2a3"),
    *("a7a6", "b2b3", "b7b6", "c2c3", "g7g6", "d2d3", "d7d6"),
]
"""White takes a pawn with its queen and loses it: eight behind after six plies."""


def played(actions: tuple[int, ...], result: float, *, index: int = 0, start: str = "") -> PlayedGame:
    return PlayedGame(index, actions, 0, index % 2, result, "checkmate", start=start)


def with_scores(moves: list[str], white: list[Score | None], black: Score | None, *, first: int) -> PlayedGame:
    """A game of chess with a score for each move of White, and one for all of Black."""
    scores = [white[ply // 2] if ply % 2 == 0 else black for ply in range(len(moves))]
    actions = Playthrough.read(CHESS, moves).actions
    return PlayedGame(0, actions, 0, first, 1.0, "checkmate", thoughts=tuple(Thought(score=one) for one in scores))


def test_one_game_for_each_opening_and_all_losses() -> None:
    """Openings are equal if their first 30 plies and their starts are."""
    opening, other = tuple(range(OPENING_PLIES)), (9, *range(1, OPENING_PLIES))
    games = [
        played((*opening, 1), 1.0),
        played((*opening, 2), 0.0, index=1),
        played((*opening, 3), -1.0, index=2),
        played((*opening, 4), -1.0, index=3),
        played(other, 1.0, index=4),
        played(opening, 1.0, index=5, start="elsewhere"),
        played((*other, 5), 0.0, index=6),
    ]
    assert [game.index for game in sample_games(games)] == [0, 2, 3, 4, 5]
    assert sample_games([games[2], games[0]]) == [games[2]], "a loss stands for its opening, too"


@pytest.mark.parametrize(
    ("score", "value"),
    [
        (Score(win_rate=0.75), 0.5),
        (Score(centipawns=299), 0.5),
        (Score(centipawns=-299), -0.5),
        (Score(mate=3), 1.0),
        (Score(mate=0), -1.0),
        (None, math.nan),
    ],
)
def test_scores_are_values(score: Score | None, value: float) -> None:
    game = with_scores(["e2e4", "e7e5"], [score], Score(win_rate=1.0), first=0)
    found = own_values(Playthrough.of(CHESS, "", game.actions), game)
    assert found == pytest.approx([value, math.nan], nan_ok=True, abs=1e-3)


def test_a_queen_that_is_given_away_with_confidence() -> None:
    confident, anxious = Score(win_rate=0.8), Score(win_rate=0.3)
    (found,) = notable_games(CHESS, [with_scores(QUEEN_GIVEN, [confident] * 7, anxious, first=0)])
    assert found.ply == 6
    assert (
        found.sentence == "from move 6 to 13 the first player was behind by 8 or more in material, with a value above 0"
    )
    assert not list(notable_games(CHESS, [with_scores(QUEEN_GIVEN, [anxious] * 7, confident, first=0)]))
    black = with_scores(QUEEN_GIVEN, [confident] * 7, confident, first=1)
    assert not list(notable_games(CHESS, [black])), "the sacrifice is its opponent's"
    without = replace(black, first_is_player=0, actions=black.actions[:12], thoughts=black.thoughts[:12])
    assert not list(notable_games(CHESS, [without])), "six positions: it might be an exchange"


def test_a_change_of_mind_is_at_the_players_next_move() -> None:
    steady = [Score(win_rate=0.6)] * 2
    games = [
        with_scores(QUEEN_GIVEN[:8], [*steady, Score(win_rate=0.1), Score(win_rate=0.3)], Score(mate=1), first=0),
        with_scores(QUEEN_GIVEN[:4], steady, Score(mate=1), first=0),
    ]
    (found,) = notable_games(CHESS, games)
    assert found.game is games[0] and found.ply == 4
    assert found.sentence == "its value was +0.20 at move 3 and -0.80 at move 5"


def test_a_game_without_kinds_of_pieces_has_no_sacrifices() -> None:
    """Material is the score in Go, and that of Black falls here with every stone of White."""
    go = make("go9")
    actions = (*[81, 0, 81, 1, 81, 2, 81, 3, 81, 4, 81, 5, 81, 6],)
    game = PlayedGame(0, actions, 0, 0, 1.0, "", thoughts=(Thought(score=Score(win_rate=0.9)),) * len(actions))
    assert not list(notable_games(go, [game]))
