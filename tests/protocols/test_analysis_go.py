"""The JSON analysis engine's questions of Go: turns, komi, rules, handicaps, ko, and moves to avoid or allow."""

from __future__ import annotations

from typing import Any

import pytest

from analysis_client import GO, answer, answers


def test_turns_are_analysed_each_with_its_answer() -> None:
    found = answers({**GO, "moves": [["b", "c3"], ["w", "(6,2)"]], "analyzeTurns": [2, 0, 0, 1]})
    assert sorted(one["turnNumber"] for one in found) == [0, 1, 2]


@pytest.mark.parametrize(
    ("query", "komi"),
    [
        ({"rules": "chinese"}, 7.5),
        ({"rules": "japanese"}, 6.5),
        ({"rules": "chinese", "komi": 0.5, "initialStones": [["B", "C3"], ["B", "G7"]]}, 2.5),
        ({"rules": "aga", "komi": 0.5, "initialStones": [["B", "C3"], ["B", "G7"]]}, 1.5),
        ({"rules": "tromp-taylor", "komi": 0.5, "initialStones": [["B", "C3"], ["B", "G7"]]}, 0.5),
        (
            {"rules": "chinese", "komi": 0.5, "whiteHandicapBonus": "0", "initialStones": [["B", "C3"], ["B", "G7"]]},
            0.5,
        ),
        ({"rules": {"ko": "SITUATIONAL", "scoring": "AREA", "suicide": True}, "komi": -3}, -3),
        ({"rules": '{"ko":"SIMPLE"}', "komi": 5}, 5),
    ],
)
def test_komi_is_the_rules_and_the_handicaps(query: dict[str, Any], komi: float) -> None:
    """Both pass; the stones own the board, or it is neutral."""
    moves = [["W", "pass"], ["B", "pass"]] if "initialStones" in query else [["B", "pass"], ["W", "pass"]]
    *_, found = answers({**GO, **query, "moves": moves})
    assert found["rootInfo"]["scoreLead"] == (81 if "initialStones" in query else 0) - komi


def test_rules_that_are_not_played_here_are_a_warning() -> None:
    for rules, missing in (
        ("stone-scoring", "a group tax"),
        ("aga-button", "a button"),
        ({"scoring": "TERRITORY"}, "territory in seki"),
    ):
        warning, found = answers({**GO, "rules": rules, "moves": []})
        assert warning["field"] == "rules" and warning["warning"].endswith(f"{missing}: the game is played without it")
        assert found["moveInfos"]
    for name in ("chinese", "aga", "new-zealand", "tromp-taylor", "japanese", "korean"):
        assert len(answers({**GO, "rules": name, "moves": []})) == 1


DEAD_STONE = [["B", f"D{row}"] for row in range(1, 8)] + [["W", f"E{row}"] for row in range(1, 8)] + [["W", "B3"]]


@pytest.mark.parametrize(
    ("rules", "lead"),
    [
        ("tromp-taylor", 7 - (14 + 7 + 1)),  # no stone is dead, so nobody owns the left side
        ("chinese", 28 - 21),
        ("japanese", 21 + 1 - 14),
    ],
)
def test_the_score_after_two_passes_is_without_dead_stones_by_rules_for_people(rules: str, lead: float) -> None:
    (found,) = answers(
        {
            **{"rules": rules, "komi": 0, "boardXSize": 7, "boardYSize": 7, "maxVisits": 2},
            **{"initialStones": DEAD_STONE, "moves": [["B", "pass"], ["W", "pass"]], "includeOwnership": True},
        }
    )
    assert found["rootInfo"]["scoreLead"] == lead
    assert found["ownership"][4 * 7 + 1] > 0.2, "whose the dead stone is"


def test_prisoners_count_though_a_colour_moves_twice() -> None:
    moves = [["B", "A2"], ["W", "A1"], ["B", "B1"], ["B", "C3"], ["W", "pass"], ["B", "pass"], ["W", "pass"]]
    found = answer(**{**GO, "rules": "japanese"}, komi=0, moves=moves)
    assert found["rootInfo"]["scoreLead"] == 81 - 3 + 1


def test_who_moves_twice_begins_anew() -> None:
    found = answer(**GO, moves=[["B", "C3"], ["B", "G7"]], includePolicy=True)
    assert found["rootInfo"]["currentPlayer"] == "W"
    assert found["policy"].count(-1.0) == 2
    assert answer(**GO, moves=[], initialPlayer="w")["rootInfo"]["currentPlayer"] == "W"
    stones = [["B", "C3"], ["B", "G7"]]
    assert answer(**GO, moves=[], initialStones=stones)["rootInfo"]["currentPlayer"] == "W"


def test_a_move_against_ko_is_let_pass_with_a_warning() -> None:
    taken = [["B", "D4"], ["W", "E4"], ["B", "C3"], ["W", "F3"], ["B", "D2"], ["W", "E2"], ["B", "E3"], ["W", "D3"]]
    warning, found = answers({**GO, "moves": [*taken, ["B", "E3"]]})
    assert warning["field"] == "moves" and "Move 8, E3, is against ko" in warning["warning"]
    assert found["turnNumber"] == 9 and found["rootInfo"]["currentPlayer"] == "W"
    (error,) = answers({**GO, "moves": [*taken, ["B", "D3"]]})
    assert error == {"error": "Illegal move 8: D3", "field": "moves", "id": "q"}


def test_moves_can_be_avoided_or_allowed() -> None:
    everywhere = [f"{column}{row}" for column in "ABCDEFGHJ" for row in range(1, 10)]
    entry = {"player": "B", "untilDepth": 1}
    corner = [vertex for vertex in everywhere if vertex not in ("A1", "B1")]
    # As KaTrain does for a region: both players, occupied points, too.
    both = [{**entry, "moves": [*corner, "pass"]}, {**entry, "player": "W", "moves": corner}]
    found = answer(**GO, moves=[["B", "C3"], ["W", "G7"]], avoidMoves=both)
    assert {move["move"] for move in found["moveInfos"]} == {"A1", "B1"}
    found = answer(**GO, moves=[], allowMoves=[{**entry, "moves": ["E5", "pass"]}])
    assert {move["move"] for move in found["moveInfos"]} == {"E5", "pass"}
    warning, found = answers({**GO, "moves": [], "avoidMoves": [{**entry, "moves": [*everywhere, "pass"]}]})
    assert warning["warning"] == "No legal move is left" and found["noResults"]
    deep = answers({**GO, "moves": [], "avoidMoves": [{**entry, "untilDepth": 9, "moves": ["E5"]}]})[0]
    assert deep["field"] == "avoidMoves" and "only at the root" in deep["warning"]
    (found,) = answers(
        {"game": "chess", "moves": [], "allowMoves": [{"player": "first", "moves": ["e4"], "untilDepth": 1}]}
    )
    assert [move["move"] for move in found["moveInfos"]] == ["e2e4"]
