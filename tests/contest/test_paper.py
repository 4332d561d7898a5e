"""The paper's matches: the figures as the papers print them, and that what they name is there."""

from __future__ import annotations

import pytest

from zerosum.arena.openings import packaged_openings
from zerosum.base.errors import SettingsError
from zerosum.contest.adjudication import ResignRule
from zerosum.contest.paper import PaperMatch, paper_matches
from zerosum.games import make

MATCHES = [match for suite in ("paper", "paper-2017") for match in paper_matches(suite)]


def test_the_results() -> None:
    assert [str(match) for match in MATCHES if match.result] == [
        "chess against Stockfish 8: 155 won, 839 drawn, 6 lost",
        "shogi against Elmo WCSC27: 91.2% won",
        "go against AlphaGo Zero after 3 days: 61.0% won",
        "chess against Stockfish 8: 28 won, 72 drawn, 0 lost",
        "shogi against Elmo WCSC27: 90 won, 2 drawn, 8 lost",
        "go against AlphaGo Zero after 3 days: 60 won, 0 drawn, 40 lost",
    ]


@pytest.mark.parametrize("match", MATCHES, ids=str)
def test_games_add_up_and_openings_are_there(match: PaperMatch) -> None:
    game = make(match.game)
    if match.tally is not None:
        assert match.num_games == match.tally.wins + match.tally.draws + match.tally.losses
    if match.openings not in ("", "TCEC"):
        assert len(packaged_openings(match.openings, game)) == match.num_openings


def test_the_conditions() -> None:
    chess = [match for match in paper_matches("paper") if match.game == "chess"]
    assert [match.time_divisor for match in chess] == [1, 1, 1, 3, 10, 30, 100]
    assert [match.num_games for match in chess[:3]] == [1000, 12 * 400, 50 * 20]
    assert {(match.main_s, match.increment_s) for match in chess} == {(3 * 3600, 15)}
    assert {match.resign for match in chess} == {ResignRule(win_rate=0.05)}
    stockfish = chess[0].opponent
    assert (stockfish.threads, stockfish.hash_mb, stockfish.has_tablebases) == (44, 32 * 1024, True)
    assert stockfish.resign == ResignRule(centipawns=-650, num_moves=4)
    elmo = next(match.opponent for match in MATCHES if match.game == "shogi")
    assert elmo.resign == ResignRule(centipawns=-4500, num_moves=10)
    assert dict(elmo.options)["EnteringKingRule"] == "CSARule27"
    assert {(match.move_s, match.num_games) for match in paper_matches("paper-2017")} == {(60, 100)}


def test_an_unknown_suite() -> None:
    with pytest.raises(SettingsError, match=r"unknown suite 'papr': did you mean 'paper'"):
        paper_matches("papr")
