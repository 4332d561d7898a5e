"""A client of the JSON analysis engine for tests: a server, its questions, and what it said."""

from __future__ import annotations

import json
import queue
from typing import Any

from zerosum.analysis.server import AnalysisServer
from zerosum.games import make
from zerosum.network.evaluators import UniformEvaluator
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
