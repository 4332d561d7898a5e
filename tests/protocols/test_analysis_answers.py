"""The JSON analysis engine's answers: visits, policy, ownership, scores and whose the win rates are."""

from __future__ import annotations

import numpy as np
import pytest

from analysis_client import GO, answer, answers
from zerosum.analysis import go_query, go_score
from zerosum.games import make, state_after


def test_an_answer_of_go() -> None:
    found = answer(
        **GO,
        moves=[["B", "C3"], ["W", "G7"]],
        includePolicy=True,
        includeOwnership=True,
        includeOwnershipStdev=True,
        includeMovesOwnership=True,
        includePVVisits=False,
    )
    assert (found["id"], found["turnNumber"], found["isDuringSearch"]) == ("q", 2, False)
    visits = [move["visits"] for move in found["moveInfos"]]
    assert [move["order"] for move in found["moveInfos"]] == list(range(len(visits)))
    assert found["rootInfo"]["visits"] == 40 == sum(visits) + 1
    move = found["moveInfos"][0]
    assert move["pv"][0] == move["move"] and 0 <= move["lcb"] <= move["winrate"] <= 1
    assert set(move) >= {"scoreLead", "scoreMean", "scoreStdev", "scoreSelfplay", "utility", "utilityLcb", "prior"}
    assert len(found["policy"]) == 82 and found["policy"][6 * 9 + 2] == -1.0  # C3, from the top left
    assert sum(prior for prior in found["policy"] if prior >= 0) == pytest.approx(1, abs=1e-5)
    assert len(found["ownership"]) == 81 == len(move["ownership"])
    assert found["ownership"][6 * 9 + 2] > 0.2 and found["ownership"][2 * 9 + 6] < -0.2
    squares = zip(found["ownership"], found["ownershipStdev"], strict=True)
    assert all(own**2 + deviation**2 == pytest.approx(1, abs=1e-5) for own, deviation in squares)
    assert found["rootInfo"]["currentPlayer"] == "B" and len(found["rootInfo"]["thisHash"]) == 32


def test_an_answer_of_another_game() -> None:
    (found,) = answers({"moves": ["4", "4"], "includePolicy": True, "maxVisits": 30}, game="connect4")
    assert found["policy"] == {str(column): 0.14285715 for column in range(1, 8)}
    assert set(found["moveInfos"][0]) == {
        *("move", "order", "prior", "pv", "winrate", "utility", "lcb", "utilityLcb", "visits"),
    }
    (won,) = answers({"game": "connect4", "moves": list("121217"), "maxVisits": 300})
    assert won["moveInfos"][0] | {"visits": 0, "prior": 0} == {
        **{"move": "1", "order": 0, "pv": ["1"], "visits": 0, "prior": 0, "proven": True},
        **{"winrate": 1.0, "utility": 1.0, "lcb": 1.0, "utilityLcb": 1.0},
    }
    assert won["rootInfo"]["winrate"] == 1.0
    (over,) = answers({"game": "connect4", "moves": list("1212121")})
    assert over["moveInfos"] == [] and (over["rootInfo"]["winrate"], over["rootInfo"]["visits"]) == (1.0, 0)
    (chess,) = answers({"game": "chess", "initialPosition": "7k/8/8/8/8/8/8/KR6 w - - 0 1", "moves": ["Rb2"]})
    assert chess["rootInfo"]["currentPlayer"] == "SECOND"


def test_win_rates_are_whose_the_query_says() -> None:
    moves = list("12121")  # the first player threatens to win, the second is to move
    rates = {}
    for side in ("FIRST", "SECOND", "SIDETOMOVE", None):
        settings = {} if side is None else {"overrideSettings": {"reportAnalysisWinratesAs": side}}
        (found,) = answers({"game": "connect4", "moves": moves, "maxVisits": 200, **settings})
        rates[side] = (found["rootInfo"]["winrate"], found["moveInfos"][0]["lcb"], found["moveInfos"][0]["utility"])
    assert rates["SIDETOMOVE"] == rates["SECOND"] and rates[None] == rates["FIRST"]
    assert rates["FIRST"][0] == pytest.approx(1 - rates["SECOND"][0])
    assert rates["FIRST"][1] == pytest.approx(1 - rates["SECOND"][1])
    assert rates["FIRST"][2] == pytest.approx(-rates["SECOND"][2])
    for colour, sign in (("BLACK", 1), ("WHITE", -1)):
        found = answer(
            **GO, moves=[["B", "E5"]], includeOwnership=True, overrideSettings={"reportAnalysisWinratesAs": colour}
        )
        assert found["ownership"][40] * sign > 0.3


def test_the_score_is_exact_once_both_have_passed() -> None:
    found = answer(**GO, komi=6.5, moves=[["B", "E5"], ["W", "pass"], ["B", "C3"], ["W", "pass"], ["B", "pass"]])
    assert found["rootInfo"]["scoreLead"] == 81 - 6.5 and found["rootInfo"]["scoreStdev"] == 0
    assert found["moveInfos"]


def test_the_surrogates_are_odd_and_grow() -> None:
    values = np.linspace(-1, 1, 41)
    leads = [go_score.lead(value, 19) for value in values]
    assert leads == sorted(leads) and np.allclose(leads, [-lead for lead in leads[::-1]])


def test_hashes_tell_positions_apart_and_symmetric_ones_not() -> None:
    game = make("go(size=9)")
    names = {text: go_query.hashes(game, state_after(game, text)) for text in ("C3", "G7", "E5", "C3 pass")}
    assert len({this for this, _ in names.values()}) == 4
    assert names["C3"][1] == names["G7"][1] != names["E5"][1]
