"""The paper's matches played here: what each says of its players, sides and time odds."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from engines_for_tests import fake_word
from zerosum.arena.played import PlayedGame, Thought
from zerosum.arena.suite import SuiteResult, SuiteWords, mean_nodes, play_suite
from zerosum.contest.mover import EngineFailure
from zerosum.games import make

CHESS = make("chess")


def words(opponent: str, scale: float) -> SuiteWords:
    return SuiteWords("paper", 2, scale, "chess", "rollouts", opponent)


@pytest.fixture(scope="module")
def results() -> list[SuiteResult]:
    """All matches of chess whose openings the package has, against an engine whose first move is illegal."""
    opponent = fake_word(go=["bestmove a1a8"])
    return list(play_suite(words(opponent, 0.0002), say=lambda _: None))


def test_matches_are_told_by_side(results: list[SuiteResult]) -> None:
    assert [result.match.time_divisor for result in results] == [1, 1, 3, 10, 30, 100, 1, 1]
    text = str(results[0])
    assert re.search(r"moving first +1 won, 0 drawn, 0 lost; paper 29\.0 %, 70\.6 %, 0\.4 %", text)
    assert re.search(r"moving second +1 won, 0 drawn, 0 lost; paper 2\.0 %, 97\.2 %, 0\.8 %", text)
    assert f"{results[0].nodes:,.0f} a move" in text


def test_odds_that_the_time_does_not_allow_are_told(results: list[SuiteResult]) -> None:
    whole = results[0].nodes
    for result in results:
        if result.match.time_divisor == 1:
            assert math.isnan(result.whole_nodes)
            continue
        assert result.whole_nodes == whole
        is_kept = result.nodes <= 1.5 * whole / result.match.time_divisor
        assert ("use a larger --time-scale" in str(result)) == (not is_kept)


def test_mean_simulations_are_those_of_the_first_player() -> None:
    moves = [CHESS.parse_action(CHESS.initial_state(), "e2e4")]
    state = CHESS.play(CHESS.initial_state(), moves[0])
    for text in ("e7e5", "g1f3", "b8c6"):
        moves.append(CHESS.parse_action(state, text))
        state = CHESS.play(state, moves[-1])
    thoughts = tuple(Thought(nodes=count) for count in (7, 100, 9))
    game = PlayedGame(0, tuple(moves), 1, first_is_player=1, result=0.0, ending="", thoughts=thoughts)
    assert mean_nodes(CHESS, [game]) == 8
    assert math.isnan(mean_nodes(CHESS, []))


def test_an_engine_that_cannot_begin_has_not_lost(tmp_path: Path) -> None:
    """Its games would be wins that nobody played."""
    opponent = fake_word(ucinewgame=["!close"])
    with pytest.raises(EngineFailure):
        list(play_suite(words(opponent, 0.0002), directory=tmp_path, say=lambda _: None))
