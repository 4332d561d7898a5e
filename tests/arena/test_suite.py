"""The paper's matches played here: what each says of its players, sides and time odds."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from commands_for_tests import Command
from engines_for_tests import fake_word
from zerosum.arena.played import PlayedGame, Thought
from zerosum.arena.suite import SuiteResult, SuiteWords, mean_nodes, play_suite
from zerosum.arena.suite_page import suite_page
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


def test_the_page_has_bars_by_side_and_the_papers(results: list[SuiteResult]) -> None:
    text = suite_page(results, title="<Suite>")
    assert "&lt;Suite&gt;" in text and "<script" not in text and "http" not in text
    assert text.count("<h2>") == len(results)
    first, *_ = text.split("<h2>")[1:]
    rows = re.findall(r'aria-label="([^"]*)"', first)
    assert rows == [
        "all games: 100.0 % won, 0.0 % drawn, 0.0 % lost",
        "in the paper: 15.5 % won, 83.9 % drawn, 0.6 % lost",
        "moving first: 100.0 % won, 0.0 % drawn, 0.0 % lost",
        "in the paper: 29.0 % won, 70.6 % drawn, 0.4 % lost",
        "moving second: 100.0 % won, 0.0 % drawn, 0.0 % lost",
        "in the paper: 2.0 % won, 97.2 % drawn, 0.8 % lost",
    ]
    openings = next(part for part in text.split("<h2>") if part.startswith("chess against Stockfish 8, chess-human"))
    assert (
        "<tr><td>A10 English Opening</td><td>1 won, 0 drawn, 0 lost</td><td>1 won, 0 drawn, 0 lost</td></tr>"
        in openings
    )


def test_an_alpha_beta_search_plays_in_alphazeros_place() -> None:
    """It has no rule of time of the paper, and no visits to draw moves by."""
    said = list[str]()
    suite = SuiteWords("paper", 2, 0.0001, "chess", "bundled/chess-alphabeta", fake_word(go=["bestmove a1a8"]))
    last = list(play_suite(suite, say=said.append))[-1]
    assert last.match.sampled_plies == 30 and last.played.result.score == 1
    assert "divides its time by its own rule, and it does not draw its first 30 moves." in " ".join(said)


def test_the_command_writes_the_page(zero: Command, tmp_path: Path) -> None:
    words = ["match", "--suite", "paper-2017", "chess", "rollouts", fake_word(go=["bestmove a1a8"])]
    told = zero(*words, "--games", "2", "--time-scale", "0.002", "--out", tmp_path / "suite")
    assert told.status == 0, told.err
    assert "shows the results beside the paper's" in told.err + told.out
    assert "28 won, 72 drawn, 0 lost" in told.out
    assert "in the paper: 28.0 % won" in (tmp_path / "suite" / "index.html").read_text(encoding="utf-8")
