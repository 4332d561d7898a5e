"""A client with KaTrain's habits plays a game with the JSON analysis engine."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from analysis_client import strict
from zerosum.games import make, state_after
from zerosum.notation.go_status import judge


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
    """A short game of 9×9 with the packaged network, alternatives, a region, broken-off pondering and a new game."""
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
    game = make("go(size=9, komi=6.5, superko=simple, scoring=territory)")
    played = state_after(game, " ".join(text for _, text in [*moves, ["B", "pass"], ["W", "pass"]]))
    assert last["rootInfo"]["scoreLead"] == judge(game, played).score()
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait() == 0
    for thread in client.threads:
        thread.join(timeout=60)
    assert client.process.stdout is not None and client.process.stderr is not None
    client.process.stdout.close()
    client.process.stderr.close()
    assert "Playing with the network go9 that comes with zerosum" in client.errors
