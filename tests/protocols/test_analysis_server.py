"""The JSON analysis engine: what it answers and refuses, what it searches first, and a KaTrain that plays with it."""

from __future__ import annotations

import json
import queue
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zerosum.analysis import go_query
from zerosum.analysis.server import AnalysisServer
from zerosum.evaluators import Evaluations, RolloutEvaluator, UniformEvaluator
from zerosum.games import make, state_after
from zerosum.games.rules import Leaves
from zerosum.play.choice import Players
from zerosum.play.player import Player
from zerosum.search import SearchConfig

GO = {"rules": "tromp-taylor", "boardXSize": 9, "boardYSize": 9, "maxVisits": 40}


class FakePlayers(Players):
    """No opinion on any game, or random games."""

    def __init__(self, evaluator: Any = None) -> None:
        super().__init__()
        self.evaluator = evaluator or UniformEvaluator()

    def of(self, game: Any) -> Player:
        return Player(game, self.evaluator, SearchConfig(num_simulations=20), name="fake")


class Server:
    """A server, and what it said."""

    def __init__(self, *, game: str = "", evaluator: Any = None, parallel: int = 1) -> None:
        self.said: queue.Queue[dict[str, Any]] = queue.Queue()
        self.server = AnalysisServer(
            FakePlayers(evaluator),
            write=lambda line: self.said.put(strict(line)),
            default_game=make(game) if game else None,
            parallel=parallel,
        )

    def ask(self, **values: Any) -> None:
        self.server.receive(json.dumps({"id": "q", **values}))

    def end(self) -> list[dict[str, Any]]:
        self.server.finish()
        return list(self.said.queue)


def strict(line: str) -> dict[str, Any]:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    assert line.endswith("\n") and line.count("\n") == 1 and line.isascii()
    found = json.loads(line, parse_constant=refuse)
    assert isinstance(found, dict)
    return found


def answers(*queries: dict[str, Any], **settings: Any) -> list[dict[str, Any]]:
    server = Server(**settings)
    for query in queries:
        server.ask(**query)
    return server.end()


def answer(**query: Any) -> dict[str, Any]:
    *_, found = answers(query)
    return found


# ---- answers


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
    leads = [go_query.lead(value, 19) for value in values]
    assert leads == sorted(leads) and np.allclose(leads, [-lead for lead in leads[::-1]])


def test_hashes_tell_positions_apart_and_symmetric_ones_not() -> None:
    game = make("go(size=9)")
    names = {text: go_query.hashes(game, state_after(game, text)) for text in ("C3", "G7", "E5", "C3 pass")}
    assert len({this for this, _ in names.values()}) == 4
    assert names["C3"][1] == names["G7"][1] != names["E5"][1]


# ---- Go's questions


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


# ---- order and ends


class Gate:
    """Random games, but only once the gate is open."""

    def __init__(self) -> None:
        self.entered, self.opened = threading.Event(), threading.Event()
        self.inner = RolloutEvaluator()

    def evaluate(self, leaves: Leaves) -> Evaluations:
        self.entered.set()
        assert self.opened.wait()
        return self.inner.evaluate(leaves)


def test_the_highest_priority_goes_first_and_none_is_lost() -> None:
    gate = Gate()
    server = Server(evaluator=gate, game="connect4")
    server.ask(id="first", moves=[])
    assert gate.entered.wait()
    server.ask(id="low", moves=[], priority=-5)
    server.ask(id="turns", moves=["4"], analyzeTurns=[0, 1], priorities=[1, 7])
    server.ask(id="early", moves=[])
    server.ask(id="late", moves=[])
    gate.opened.set()
    order = [(one["id"], one["turnNumber"]) for one in server.end()]
    assert order == [("first", 0), ("turns", 1), ("turns", 0), ("early", 0), ("late", 0), ("low", 0)]


def test_a_search_is_ended_in_its_midst_or_before_it_begins() -> None:
    gate = Gate()
    server = Server(evaluator=gate, game="connect4")
    server.ask(id="endless", moves=[], maxVisits=1 << 40)
    assert gate.entered.wait()
    server.ask(id="waits", moves=["4"], analyzeTurns=[0, 1])
    server.ask(id="t", action="terminate", terminateId="waits", turnNumbers=[1])
    assert server.said.get() == {"id": "waits", "turnNumber": 1, "isDuringSearch": False, "noResults": True}
    assert server.said.get()["terminateId"] == "waits"
    gate.opened.set()
    server.ask(id="t2", action="terminate", terminateId="endless")
    server.ask(id="t3", action="terminate", terminateId="nobody")
    said = server.end()
    assert [one["id"] for one in said if "action" not in one] == ["endless", "waits"]
    assert next(one for one in said if one["id"] == "endless")["moveInfos"]


def test_reports_come_during_the_search() -> None:
    server = Server(evaluator=RolloutEvaluator(), game="connect4")
    server.ask(id="ponder", moves=[], maxVisits=1 << 40, reportDuringSearchEvery=0.01)
    reports = [server.said.get() for _ in range(3)]
    server.ask(id="t", action="terminate_all")
    assert all(report["isDuringSearch"] for report in reports)
    visits = [report["rootInfo"]["visits"] for report in reports]
    assert visits == sorted(visits)
    finals = [one for one in server.end() if one.get("isDuringSearch") is False]
    assert len(finals) == 1


def test_questions_of_the_engine_itself() -> None:
    server = Server()
    server.ask(action="query_version", extra=[1])
    server.ask(action="query_models")
    server.ask(action="clear_cache")
    version, models, cache = server.end()
    assert version["extra"] == [1] and version["version"] and version["git_hash"] == "<omitted>"
    assert models["models"] == [] and cache == {"id": "q", "action": "clear_cache"}


def test_ten_thousand_lines_of_fuzz() -> None:
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
    for _ in range(10_000):
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


# ---- a whole client


class KaTrain:
    """A client with the habits of KaTrain's engine (katrain/core/engine.py): its threads, queries and readings."""

    def __init__(self, command: str) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, shell=True
        )
        self.counter = 0
        self.results: queue.Queue[dict[str, Any]] = queue.Queue()
        self.threads = [threading.Thread(target=target, daemon=True) for target in (self.read, self.read_errors)]
        for thread in self.threads:
            thread.start()

    def read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            assert b"Uncaught exception" not in line
            self.results.put(strict(line.decode()))

    def read_errors(self) -> None:
        assert self.process.stderr is not None
        self.errors = self.process.stderr.read().decode()

    def send(self, query: dict[str, Any]) -> str:
        assert self.process.stdin is not None
        self.counter += 1
        query["id"] = f"QUERY:{self.counter}"
        self.process.stdin.write((json.dumps(query) + "\n").encode())
        self.process.stdin.flush()
        return str(query["id"])

    def request(self, moves: list[list[str]], *, visits: int = 25, priority: int = 0, **more: Any) -> str:
        return self.send(
            {
                **{"rules": "japanese", "priority": priority, "analyzeTurns": [len(moves)], "maxVisits": visits},
                **{"komi": 6.5, "boardXSize": 9, "boardYSize": 9},
                **{"includeOwnership": True, "includeMovesOwnership": True, "includePolicy": True},
                **{"initialStones": [], "initialPlayer": "B", "moves": moves},
                "overrideSettings": {"reportAnalysisWinratesAs": "BLACK", "maxTime": 8.0, "wideRootNoise": 0.04},
                "reportDuringSearchEvery": 0.5,
                **more,
            }
        )

    def result(self, query: str) -> dict[str, Any]:
        """The final answer, read as KaTrain reads it; others' answers are dropped, warnings logged."""
        while True:
            found = self.results.get()
            assert "error" not in found, found
            if found.get("id") != query or "warning" in found or "terminateId" in found or found["isDuringSearch"]:
                continue
            if not found.get("noResults"):
                self.check(found)
            return found

    def check(self, analysis: dict[str, Any]) -> None:
        root = analysis["rootInfo"]
        sizes = (len(analysis["ownership"]), len(analysis["policy"]))
        assert sizes == (81, 82)
        assert root["visits"] > 0 and 0 <= root["winrate"] <= 1
        for move in analysis["moveInfos"]:
            points_lost = root["scoreLead"] - move["scoreLead"]
            assert isinstance(points_lost, float) and move["visits"] > 0 and len(move["ownership"]) == 81
            assert {"lcb", "prior", "order", "pv", "winrate", "scoreStdev"} <= move.keys()


def test_katrain_plays_a_game(tmp_path: Path) -> None:
    """A short game of 9×9 with rollouts, alternatives, a region, pondering that is broken off, and a new game."""
    client = KaTrain(f'cd "{tmp_path}" && exec "{sys.executable}" -m zerosum analyse --json-lines')
    moves: list[list[str]] = []
    for ply in range(8):
        found = client.result(client.request(moves))
        best = min(found["moveInfos"], key=lambda move: move["order"])["move"]
        # "Find alternatives": everything that is known is avoided.
        known = [move["move"] for move in found["moveInfos"]][:5]
        avoid = [{"moves": known, "player": "BW"[ply % 2], "untilDepth": 1}]
        others = client.result(client.request(moves, avoidMoves=avoid, priority=100))
        assert not {move["move"] for move in others["moveInfos"]} & set(known)
        moves.append(["BW"[ply % 2], best])
    ponder = client.request(moves, visits=10_000_000)
    while not (report := client.results.get()).get("isDuringSearch"):
        pass
    assert report["id"] == ponder
    waiting = [client.request(moves[:ply], priority=-100) for ply in range(3)]
    for query in (ponder, *waiting):
        client.send({"action": "terminate", "terminateId": query})
    assert client.result(ponder)["rootInfo"]["visits"] > 1
    last = client.result(client.request([*moves, ["B", "pass"], ["W", "pass"]], priority=1))
    game = make("go(size=9, komi=6.5, superko=simple)")
    played = state_after(game, " ".join(text for _, text in [*moves, ["B", "pass"], ["W", "pass"]]))
    assert last["rootInfo"]["scoreLead"] == game.score(played)
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait() == 0
    for thread in client.threads:
        thread.join(timeout=60)
    assert client.process.stdout is not None and client.process.stderr is not None
    client.process.stdout.close()
    client.process.stderr.close()
    assert "playing with uniform priors and rollouts" in client.errors
