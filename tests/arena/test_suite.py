"""The paper's matches played here: what each says of its players, sides and time odds."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import zerosum
from commands_for_tests import Command
from engines_for_tests import fake_word
from zerosum.arena import suite as suites
from zerosum.arena.played import PlayedGame
from zerosum.arena.suite import SuiteResult, SuiteWords, mean_nodes, play_suite, speeds
from zerosum.arena.suite_page import suite_page
from zerosum.base.errors import SettingsError
from zerosum.contest.mover import EngineFailure, Thought
from zerosum.games import make

CHESS = make("chess")


CHEAT = fake_word(go=["bestmove a1a8"])
"""An engine whose first move is illegal."""
WORDS = SuiteWords("paper", 2, 0.01, "chess", "rollouts@1", CHEAT)


def played(**fields: Any) -> tuple[list[SuiteResult], list[str]]:
    """The results of a suite with other words, and what it said."""
    said: list[str] = []
    return list(play_suite(replace(WORDS, **fields), say=said.append)), said


@pytest.fixture(scope="module")
def results() -> list[SuiteResult]:
    """All matches of chess whose openings the package has, in very short times."""
    return played(player="rollouts", time_scale=0.0002)[0]


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The name of a program that is there, though nothing starts it."""
    monkeypatch.setattr("zerosum.play.engines.engine.DEBIAN_GAMES", str(tmp_path / "games"))
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "mogo").touch(mode=0o755)
    return "gtp:mogo"


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


def test_speeds_are_those_of_each_players_moves() -> None:
    """Moves without a number or a time do not count; the opening has no thoughts."""
    told = [(1000, 2.0), (30, 1.5), (None, 9.0), (60, 0.5), (500, 1.0), (7, None)]
    thoughts = tuple(Thought(nodes=nodes, seconds=seconds) for nodes, seconds in told)
    moves = [0, 1, 2, 3, 4, 5, 6]
    connect4 = make("connect4")
    game = PlayedGame(0, tuple(moves), 1, first_is_player=1, result=0.0, ending="", thoughts=thoughts)
    assert speeds(connect4, [game]) == (1500 / 3, 90 / 2)
    swapped = replace(game, first_is_player=0)
    assert speeds(connect4, [swapped]) == (90 / 2, 1500 / 3)
    assert speeds(connect4, [game, swapped]) == (1590 / 5, 1590 / 5)
    assert all(math.isnan(speed) for speed in speeds(connect4, []))


def test_speeds_stand_beside_the_papers(results: list[SuiteResult]) -> None:
    first, second = results[0].speeds
    assert first > 0 and math.isnan(second), "the cheat tells nothing"
    words = f"{first:,.0f} and unknown positions a second; paper 60,000 and 60,000,000"
    assert f"speed          {words}" in str(results[0]) and words in suite_page(results, title="Suite")
    assert "paper 60,000" not in results[-1].speed_words, "the table has no later opponents"
    assert replace(results[0], speeds=(math.nan, math.nan)).speed_words == ""


def test_an_engine_that_cannot_begin_has_not_lost(tmp_path: Path) -> None:
    """Its games would be wins that nobody played."""
    words = replace(WORDS, time_scale=0.0002, opponent=fake_word(ucinewgame=["!close"]))
    with pytest.raises(EngineFailure):
        list(play_suite(words, directory=tmp_path, say=lambda _: None))


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


def test_the_page_has_the_games_of_the_papers_rules(results: list[SuiteResult]) -> None:
    """The cheat loses before it moves: one game for each side, both openings different."""
    text = suite_page(results[:1], title="Suite")
    assert "<summary>2 of 2 games: one for each opening of 15 moves, and all losses</summary>" in text
    (rows,) = re.findall(r"<details>.*</details>", text)
    assert re.findall(r"<td>(\d)</td><td>(\w+)</td><td>([^<]*)</td>", rows) == [
        ("1", "first", "won, illegal move"),
        ("2", "second", "won, illegal move"),
    ]
    first, second = results[0].played.result.games
    lost = replace(results[0].played.result, games=(first, replace(first, index=1, result=1.0)))
    again = replace(results[0], played=replace(results[0].played, results=(lost,)))
    assert "<summary>1 of 2 games" in suite_page([again], title="Suite") and second.actions != first.actions


def test_an_alpha_beta_search_plays_in_alphazeros_place() -> None:
    """It has no rule of time of the paper, and no visits to draw moves by."""
    (*_, last), said = played(time_scale=0.0001, player="bundled/chess-alphabeta")
    assert last.match.sampled_plies == 30 and last.played.result.score == 1
    assert "divides its time by its own rule, and it does not draw its moves of the first 30 plies." in " ".join(said)


def test_the_command_writes_the_page(zero: Command, tmp_path: Path) -> None:
    words = ["match", "--suite", "paper-2017", "chess", "rollouts", CHEAT]
    told = zero(*words, "--games", "2", "--time-scale", "0.002", "--out", tmp_path / "suite")
    assert told.status == 0, told.err
    assert "shows the results beside the paper's" in told.err + told.out
    assert "28 won, 72 drawn, 0 lost" in told.out
    assert "in the paper: 28.0 % won" in (tmp_path / "suite" / "index.html").read_text(encoding="utf-8")


def test_the_papers_matches_of_chess(tmp_path: Path) -> None:
    """A game against a program that cheats at once."""
    positions = tmp_path / "superfinals.epd"
    positions.write_text("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3\n")
    results, said = played()
    assert len(results) == 8 and "Left out: the package does not contain the openings TCEC" in " ".join(said)
    assert len(played(positions=str(positions))[0]) == 9
    clocks = [result.played.result.first.rpartition("(")[2].split(",")[0] for result in results]
    assert clocks == [
        "108+0.15",
        "108+0.15",
        "36+0.05",
        "10.8+0.015",
        "3.6+0.005",
        "1.08+0.002",
        "108+0.15",
        "108+0.15",
    ]
    assert all("108+0.15" in result.played.result.second for result in results)
    openings = [game.opening.split()[0] for game in results[1].played.result.games]
    assert openings == ["A10", "A10"]
    assert str(results[0]).startswith(
        "chess against Stockfish 8\n"
        "  paper          155 won, 839 drawn, 6 lost of 1,000 games\n"
        "  here           2 won, 0 drawn, 0 lost of 2 games\n"
        "  moving first   1 won, 0 drawn, 0 lost; paper 29.0 %, 70.6 %, 0.4 %\n"
        "  moving second  1 won, 0 drawn, 0 lost; paper 2.0 %, 97.2 %, 0.8 %\n"
        "  nodes          1 a move\n"
        "  speed          "
    )


def test_the_preprints_matches(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (result,), _ = played(suite="paper-2017")
    assert (
        "(st=0.6, 1 nodes, manager paper, overhead 0.02 s)" in result.played.result.first
        and "28 won, 72 drawn, 0 lost of 100 games" in str(result)
    )
    results, said = played(suite="paper-2017", game="go(size=9)", opponent=program)
    assert not results and "Left out: GTP counts in whole seconds" in said[-1]
    results, said = played(time_scale=1e-7)
    assert not results and "its clocks would show" in " ".join(said)
    monkeypatch.setattr(suites, "known_engines", lambda _game: [])
    results, said = played(opponent="")
    assert not results and "no known engine for chess is installed" in " ".join(said)


def test_who_plays_where_nobody_is_named(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = {"suite": "paper-2017", "player": "", "game": "go(size=9)", "opponent": program}
    assert "Nobody here has learned go9: rollouts play." in played(**words)[1]
    networks = Path(zerosum.__file__).parent / "data" / "networks"
    monkeypatch.setattr("zerosum.play.bundled.DIRECTORY", networks)
    assert f"{networks / 'go9'}, the bundled network for go9, plays." in played(**words)[1]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"suite": "papr"}, "unknown suite 'papr'"),
        ({"game": "connect4"}, "suite 'paper' has matches of chess, shogi, go, not of connect4"),
        ({"game": ""}, "name the game first"),
        ({"time_scale": 0.0}, "--time-scale is 0"),
        ({"num_games": 3}, "num_games is 3, expected an even number"),
    ],
)
def test_suites_that_cannot_be_played(fields: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        played(**fields)
