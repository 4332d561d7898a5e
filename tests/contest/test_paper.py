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
    assert [match.time_divisor for match in chess] == [1, 1, 1, 3, 10, 30, 100, 1, 1]
    assert [match.sampled_plies for match in chess] == [0] * 8 + [30]
    assert [match.sampled_within for match in chess] == [None] * 8 + [0.01]
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


def test_every_match_of_figure_2_is_there() -> None:
    """Figure 2: the matches, ten time odds in two games, the latest and the book-playing opponents, openings."""
    assert [match.title for match in paper_matches("paper")] == [
        "chess against Stockfish 8",
        "chess against Stockfish 8, chess-human openings",
        "chess against Stockfish 8, TCEC openings",
        *(f"chess against Stockfish 8, 1/{odds} of the time" for odds in (3, 10, 30, 100)),
        "chess against Stockfish 9, development version of 2018-01-13",
        "chess against Brainfish, Stockfish with the opening book Cerebellum, moves of the first 30 plies drawn",
        "shogi against Elmo WCSC27",
        "shogi against Elmo WCSC27, shogi-human openings",
        *(f"shogi against Elmo WCSC27, 1/{odds} of the time" for odds in (3, 10, 30, 100)),
        "shogi against Aperyqhapaq",
        "shogi against Elmo WCSC27, clock of 600 + 10 s",
        "go against AlphaGo Zero after 3 days",
    ]


def test_the_sides_of_a_match_add_up_to_its_result() -> None:
    first = paper_matches("paper")[0]
    assert first.as_first is not None and first.as_second is not None and first.tally is not None
    of_500 = [round(5 * (one + other)) for one, other in zip(first.as_first, first.as_second, strict=True)]
    assert of_500 == [first.tally.wins, first.tally.draws, first.tally.losses]
    for match in MATCHES:
        for side in (match.as_first, match.as_second):
            assert side is None or sum(side) == pytest.approx(100)
        if match.as_first and match.as_second and match.won_share:
            assert (match.as_first[0] + match.as_second[0]) / 200 == pytest.approx(match.won_share, abs=0.0005)


def test_the_speeds_of_tables_s4() -> None:
    """The tables name some opponents; the later ones have no speeds."""
    speeds = {
        (match.suite, match.game, match.opponent.name): (
            match.positions_per_second,
            match.opponent.positions_per_second,
        )
        for match in MATCHES
        if match.opponent.positions_per_second
    }
    assert speeds == {
        ("paper", "chess", "Stockfish 8"): (60_000, 60_000_000),
        ("paper", "shogi", "Elmo WCSC27"): (60_000, 25_000_000),
        ("paper-2017", "chess", "Stockfish 8"): (80_000, 70_000_000),
        ("paper-2017", "shogi", "Elmo WCSC27"): (40_000, 35_000_000),
    }


def test_an_unknown_suite() -> None:
    with pytest.raises(SettingsError, match=r"unknown suite 'papr': did you mean 'paper'"):
        paper_matches("papr")
