"""The JSON analysis engine's order of searches, their ends, reports during them, and questions of the engine itself."""

from __future__ import annotations

import threading

from analysis_client import Server
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations, RolloutEvaluator


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
