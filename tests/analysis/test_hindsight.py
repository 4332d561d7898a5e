"""What a review found later in a game, held against the moves before it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews_for_tests import moves
from zerosum.analysis.analyst import Analyst
from zerosum.analysis.hindsight import in_hindsight
from zerosum.analysis.review import review
from zerosum.analysis.reviewed import ReviewedMove, ReviewedPosition, Thresholds
from zerosum.games import State, make
from zerosum.notation import Record
from zerosum.play.analysis import Analysis
from zerosum.play.driver import Task
from zerosum.play.player import load_player

NINTH = "rn2kb1r/pp2qppp/2p2n2/4p1B1/2B1P3/1QN5/PPP2PPP/R3K2R b KQkq - 1 9"
"""Morphy against the Duke of Brunswick and Count Isouard, Paris 1858, after 9. Bg5."""
STATE = make("tictactoe").initial_state()
PLAYED, OTHER = 0, 1


def report(played: float, other: float | None, player: int) -> Analysis:
    """A search that knows the chances of the mover by two moves; None where it knows one alone."""
    rates = [(PLAYED, played)] + ([] if other is None else [(OTHER, other)])
    lines = tuple(SimpleNamespace(actions=(action,), win_rate=rate) for action, rate in rates)
    value = 2 * max(rate for _, rate in rates) - 1
    return cast(Analysis, SimpleNamespace(lines=lines, player=player, value=value, proven=None))


def position(rate: float, found: Analysis | None) -> ReviewedPosition:
    return ReviewedPosition(cast(State, STATE), found, 2 * rate - 1)


def game(*rates: float, others: list[float | None], marks: list[str] | None = None, longer: float = 0.0):
    """Moves in turn, and the plies asked about. `rates`: the first player's, `others`: the mover's by another move."""
    asked: list[int] = []
    played, positions = [], []
    for ply, other in enumerate(others):
        player = ply % 2
        rate = rates[ply] if player == 0 else 1 - rates[ply]
        positions.append(position(rates[ply], report(rate, other, player)))
        played.append(ReviewedMove("a1", PLAYED, player, 0.0, (marks or [""] * len(others))[ply]))

    def look_longer(ply: int) -> Analysis:
        asked.append(ply)
        return report(0.0, longer, ply % 2)

    positions.append(position(rates[-1], None))
    return in_hindsight(played, positions, Thresholds(), look_longer), asked


def test_a_later_fall_is_a_doubt_about_the_latest_move_that_had_a_better_one() -> None:
    """The first player wins after the third move; the second one had as bad a move at the other place."""
    found, asked = game(0.5, 0.5, 0.5, 0.9, others=[0.4, 0.5, 0.4], longer=0.45)
    assert asked == [1], "the second player's chances turned out worse; the first player's did not"
    assert [(move.unsure, round(move.hindsight, 3)) for move in found] == [("", 0), ("??", 0.35), ("", 0)]
    found, asked = game(0.5, 0.5, 0.5, 0.9, others=[0.4, 0.5, 0.4], longer=0.1)
    assert asked == [1] and not any(move.unsure for move in found), "by a longer search nothing else was better"


def test_a_fall_goes_back_where_nothing_else_was_better() -> None:
    """The fourth move had no better one, the second one had."""
    found, asked = game(0.5, 0.5, 0.5, 0.5, 0.5, 0.9, others=[0.4, 0.45, 0.4, 0.1, 0.4], longer=0.1)
    assert asked == [3, 1] and not any(move.unsure for move in found)


def test_a_marked_move_has_its_verdict() -> None:
    found, asked = game(0.5, 0.5, 0.9, 0.9, others=[0.4, 0.5, 0.4], marks=["", "??", ""])
    assert asked == [] and [(move.mark, move.unsure) for move in found] == [("", ""), ("??", ""), ("", "")]


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=9), st.floats(0.0, 1.0))
def test_values_that_agree_with_each_other_raise_no_doubt(others: list[float], last: float) -> None:
    """Each position is worth the best of its two moves, as in an exact search."""
    rates, later = [last], last
    for ply in reversed(range(len(others))):
        mine = max(later if ply % 2 == 0 else 1 - later, others[ply])
        later = mine if ply % 2 == 0 else 1 - mine
        rates.insert(0, later)
    marks = [
        "?" if others[ply] > (rates[ply + 1] if ply % 2 == 0 else 1 - rates[ply + 1]) else ""
        for ply in range(len(others))
    ]
    found, asked = game(*rates, others=list(others), marks=marks)
    assert asked == [] and not any(move.unsure for move in found)


@pytest.mark.parametrize("lines", [1, 2])
def test_the_ninth_move_of_morphys_opponents_is_not_called_fine(lines: int) -> None:
    """Each search thinks the move best; what follows it shows more. White's moves have no fault."""
    player = load_player("bundled/chess-alphabeta", num_simulations=40_000)
    played = "b5 Nxb5 cxb5 Bxb5+ Nbd7 O-O-O Rd8 Rxd7 Rxd7 Rd1 Qe6 Bxd7+ Nxd7 Qb8+ Nxb8 Rd8#"
    found = review(
        Record("chess", moves(played), start=NINTH), Analyst(player), Task(num_visits=40_000, num_lines=lines)
    )
    ninth = found.moves[0]
    assert ninth.mark == "" and ninth.unsure and ninth.hindsight >= 0.05
    assert not any(move.mark or move.unsure for move in found.moves if move.player == 0)
