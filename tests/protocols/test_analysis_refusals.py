"""The JSON analysis engine names what is wrong, unknown or without effect in a query."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

from analysis_client import GO, Server, answers
from fuzz_for_tests import rounds
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations


@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        ({"boardXSize": None}, "boardXSize", "Must be an integer from 5 to 25"),
        ({"boardYSize": 13}, "boardYSize", "only square boards"),
        ({"boardXSize": 99}, "boardXSize", "Must be an integer"),
        ({"boardXSize": True}, "boardXSize", "Must be an integer"),
        ({"moves": "C3"}, "moves", "Must be an array of pairs"),
        ({"moves": [["X", "C3"]]}, "moves", "Could not parse player: 'X'"),
        ({"moves": [["B", "I5"]]}, "moves", "Could not parse board location: 'I5'"),
        ({"moves": [["B", "C10"]]}, "moves", "Could not parse board location"),
        ({"moves": [["B", "(9,0)"]]}, "moves", "Could not parse board location"),
        ({"moves": [["B", "C3"], ["W", "C3"]]}, "moves", "Illegal move 1: C3"),
        ({"rules": "martian"}, "rules", "Could not parse rules: 'martian'"),
        ({"rules": 7}, "rules", "Must specify rules string"),
        ({"rules": {"ko": "BAD"}}, "rules", "ko must be one of"),
        ({"rules": "{"}, "rules", "Could not parse rules"),
        ({"komi": 0.3}, "komi", "half-integer"),
        ({"komi": 1e9}, "komi", "Must be a number from -150 to 150"),
        ({"whiteHandicapBonus": "M"}, "whiteHandicapBonus", 'Must be "0"'),
        ({"initialStones": [["B", "pass"]]}, "initialStones", "Could not parse board location"),
        ({"initialPlayer": "x"}, "initialPlayer", 'Must be "b" or "w"'),
        ({"analyzeTurns": [1]}, "analyzeTurns", "Invalid turn number: 1"),
        ({"analyzeTurns": [0.5]}, "analyzeTurns", "Must be an array of integers"),
        ({"analyzeTurns": [0], "priorities": [1, 2]}, "priorities", "matching length"),
        ({"priorities": [1]}, "priorities", "Can only specify when"),
        ({"analyzeTurns": [0], "priorities": [1], "priority": 1}, "priority", "Cannot specify both"),
        ({"priority": "high"}, "priority", "Must be an integer"),
        ({"maxVisits": 0}, "maxVisits", "Must be an integer from 1"),
        ({"analysisPVLen": 0}, "analysisPVLen", "Must be an integer"),
        ({"includePolicy": 1}, "includePolicy", "Must be a boolean"),
        ({"reportDuringSearchEvery": 0}, "reportDuringSearchEvery", "Must be a number from 0.001"),
        ({"rootFpuReductionMax": 3}, "rootFpuReductionMax", "Must be a number from 0 to 2"),
        ({"overrideSettings": []}, "overrideSettings", "Must be an object"),
        ({"overrideSettings": {"maxTime": "x"}}, "overrideSettings", "Could not set maxTime"),
        ({"overrideSettings": {"reportAnalysisWinratesAs": "X"}}, "overrideSettings", "reportAnalysisWinratesAs"),
        ({"avoidMoves": [{"player": "B"}]}, "avoidMoves", "Must be a list of dicts"),
        ({"avoidMoves": [{"player": "B", "moves": ["Z1"], "untilDepth": 1}]}, "avoidMoves", "board location"),
        ({"allowMoves": [], "avoidMoves": []}, "allowMoves", "Cannot specify both"),
        ({"game": "conect4"}, "game", "did you mean 'connect4'"),
        ({"game": "connect4", "moves": [["B", "4"]]}, "moves", "Must be an array of moves as the game writes them"),
        ({"game": "connect4", "moves": ["9"]}, "moves", "Illegal move 0: '9'"),
        ({"game": "connect4", "initialPosition": "x"}, "initialPosition", "x"),
    ],
)
def test_what_is_wrong_is_said_of_its_field(change: dict[str, Any], field: str, sentence: str) -> None:
    (error,) = answers({**GO, "moves": [], **change})
    assert (error["id"], error["field"]) == ("q", field)
    assert sentence in error["error"]


def test_settings_of_the_search_act_or_are_refused_by_name() -> None:
    def shares(**settings: Any) -> list[float]:
        *_, found = answers({**GO, "moves": [], "includePolicy": True, **settings}, evaluator=Sharp())
        return [max(found["policy"]), *(move["visits"] for move in found["moveInfos"])]

    usual = shares()
    assert shares(rootPolicyTemperature=4.0) == shares(overrideSettings={"rootPolicyTemperature": "4"})
    assert shares(rootPolicyTemperature=4.0)[0] < usual[0] == shares(rootPolicyTemperature=1.0)[0]
    assert shares(overrideSettings={"wideRootNoise": 0.75}) == shares(rootPolicyTemperature=4.0)
    for name, value in (("cpuctExploration", 0), ("fpuReductionMax", 2), ("cpuctExplorationBase", 1)):
        assert shares(overrideSettings={name: value}) != usual, name
    for name in ("winLossUtilityFactor", "numSearchThreads", "hop"):
        (error,) = answers({**GO, "moves": [], "overrideSettings": {name: 1}})
        assert error["field"] == "overrideSettings" and f"'{name}' has no effect" in error["error"]
    (error,) = answers({**GO, "moves": [], "overrideSettings": {"cpuctExploration": 1e9}})
    assert "Could not set cpuctExploration: " in error["error"]


class Sharp:
    """Priors that fall from the first action to the last, and values that differ."""

    def evaluate(self, leaves: Leaves) -> Evaluations:
        logits = -0.1 * leaves.legal_actions.astype(np.float32)
        values = np.tanh(leaves.planes().reshape(len(leaves), -1)[:, :81] @ np.linspace(-1, 1, 81)).astype(np.float32)
        return Evaluations(leaves, logits, values)


def test_fields_that_nobody_knows_are_a_warning() -> None:
    *warnings, found = answers({**GO, "moves": [], "maxvisits": 3, "hop": [], "priority": 1, "analysisPVLen": 3})
    assert [one["field"] for one in warnings] == ["hop", "maxvisits"] and found["moveInfos"]
    assert {one["warning"] for one in warnings} == {"Unexpected or unused field, do you have a typo?"}
    (warning, _) = answers({"game": "connect4", "moves": [], "rules": "chinese", "maxVisits": 3})
    assert warning["field"] == "rules", "other games have none"


def test_a_question_without_turns_is_answered() -> None:
    (error,) = answers({**GO, "moves": [], "analyzeTurns": []})
    assert (error["id"], error["field"]) == ("q", "analyzeTurns")


def test_what_acts_on_nothing_is_a_warning() -> None:
    (warning, _) = answers({**GO, "moves": [], "rootFpuReductionMax": 0.5})
    assert warning["field"] == "rootFpuReductionMax"
    warning, found = answers({**GO, "moves": [], "includePVVisits": True})
    assert warning["field"] == "includePVVisits" and found["moveInfos"][0]["pvVisits"] == [
        found["moveInfos"][0]["visits"]
    ]


def test_lines_that_are_no_query() -> None:
    server = Server()
    for line in (
        b"",
        b"  \n",
        b"nonsense",
        b"[1]",
        b"{}",
        b'{"id": 3}',
        b'{"id": "a", "x": NaN}',
        b"\xff\xfe",
        b"[" * 99999,
    ):
        server.server.receive(line)
    server.ask(id="b", action="dance")
    server.ask(id="c", action="terminate")
    server.ask(id="d", action="terminate_all", turnNumbers="x")
    said = server.end()
    assert all("error" in one for one in said) and len(said) == 10
    assert [one.get("field") for one in said[-3:]] == ["action", "terminateId", "turnNumbers"]


def test_lines_of_fuzz() -> None:
    """Each query is answered to its end or refused, and every line that is written is JSON."""
    rng = random.Random(5)
    good = [
        {"id": "a", "game": "tictactoe", "moves": ["b2"], "maxVisits": 3, "includePolicy": True},
        {"id": "b", "rules": "japanese", "moves": [["B", "C3"]], "boardXSize": 5, "boardYSize": 5, "maxVisits": 3},
        {"id": "c", "action": "terminate", "terminateId": "a"},
        {"id": "d", "game": "connect4", "moves": [], "maxVisits": 2, "analyzeTurns": [0], "priorities": [1]},
        {"id": "e", "action": "query_version"},
    ]
    odd = [
        None,
        True,
        -1,
        0,
        7,
        1e400,
        "",
        "x",
        "B",
        "é\ud800",
        [],
        [[]],
        {},
        [["B", 3]],
        {"a": 1},
        1 << 70,
        [1, "2"],
        0.5,
    ]
    names = [*{name for query in good for name in query}, "overrideSettings", "avoidMoves", "komi", "initialStones"]
    server = Server(parallel=2)
    for _ in range(rounds(10_000)):
        query = dict(rng.choice(good))
        for _ in range(rng.choice((0, 1, 1, 2, 4))):
            if rng.random() < 0.3:
                query.pop(rng.choice(names), None)
            else:
                query[rng.choice(names)] = rng.choice(odd)
        line = json.dumps(query)
        if rng.random() < 0.2:
            start = rng.randrange(len(line))
            line = line[:start] + rng.choice(("", "\0", '"', "}", "é", "[" * 50)) + line[start + rng.randrange(5) :]
        server.server.receive(line.encode("utf-8", "surrogatepass"))
    server.ask(id="after", game="tictactoe", moves=[], maxVisits=5)
    said = server.end()
    assert said and all(isinstance(one, dict) for one in said)
    assert not any("Traceback" in str(one) for one in said)
    assert sum(one.get("id") == "after" and one.get("isDuringSearch") is False for one in said) == 1
