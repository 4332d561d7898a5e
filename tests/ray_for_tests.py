"""A cluster without Ray: actors are objects of the test that answer at once or never."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from cluster_for_tests import GAME, SEED, SETTINGS_HASH, checkpoint_of
from zerosum.cluster.actor import Orders, Report, pack_reply
from zerosum.cluster.config import ClusterConfig
from zerosum.cluster.connection import Connection, Node
from zerosum.cluster.selfplay import ClusterSelfplay
from zerosum.network.evaluators import EvaluatorConfig, UniformEvaluator
from zerosum.replay.game_store import GameStore
from zerosum.search import SearchConfig
from zerosum.selfplay import SelfplayConfig, SelfplayCounts, SelfplayTask


class RayError(Exception):
    """As Ray's errors."""


@dataclass(eq=False)
class Answer:
    """A reference to an answer."""

    value: Any
    ready_at: float = 0.0


class FakeRay:
    """The functions of Ray that the cluster uses."""

    exceptions = SimpleNamespace(RayError=RayError)

    def __init__(self) -> None:
        self.killed: list[object] = []

    def wait(self, calls: list[Answer], *, num_returns: int, timeout: float) -> tuple[list[Answer], list[Answer]]:
        until = time.monotonic() + timeout
        while True:
            ready = [call for call in calls if call.ready_at <= time.monotonic()]
            if len(ready) >= num_returns or time.monotonic() >= until:
                return ready, [call for call in calls if call not in ready]
            time.sleep(0.005)

    def get(self, call: Answer) -> Any:
        if isinstance(call.value, Exception):
            raise call.value
        return call.value

    def put(self, value: object) -> object:
        return value

    def kill(self, actor: object) -> None:
        self.killed.append(actor)


@dataclass(eq=False)
class FakeActor:
    """A self-play actor that evaluates and has no games."""

    node: Node
    cpus: int
    gpus: float
    task: dict[str, Any] = field(default_factory=dict)
    orders: list[Orders] = field(default_factory=list)
    weights: list[bytes] = field(default_factory=list)
    failure: tuple[str, str] | None = None
    pause_s: float = 0.02
    """Seconds to an answer."""
    evaluations: int = 0
    each_time: int = 100
    """Evaluations from answer to answer."""
    broken: Exception | bytes | None = None
    """What the next answers are in place of reports, if anything."""
    blocks: list[bytes] = field(default_factory=list)
    """Blocks of the next answers, one in each."""

    @property
    def begin(self) -> Any:
        return SimpleNamespace(remote=self._begin)

    @property
    def deliver(self) -> Any:
        return SimpleNamespace(remote=self._deliver)

    def _begin(self, task: bytes, running: bytes, weights: bytes) -> Answer:
        self.task = json.loads(task)
        self.weights.append(weights)
        return self._answer()

    def _deliver(self, orders: bytes, weights: bytes | None) -> Answer:
        self.orders.append(Orders(**json.loads(orders)))
        if weights is not None:
            self.weights.append(weights)
        return self._answer()

    def _answer(self) -> Answer:
        self.evaluations += self.each_time
        counts = SelfplayCounts(evaluations=self.evaluations)
        free = 10_000 if self.orders else 0
        report = Report(counts=counts, cpu_s=self.evaluations / 100, num_free_ids=free, failure=self.failure)
        reply = pack_reply(report, self.blocks.pop(0) if self.blocks else b"")
        return Answer(reply if self.broken is None else self.broken, time.monotonic() + self.pause_s)


class FakeConnection(Connection):
    """A connection to nodes of the test."""

    ray: FakeRay

    def __init__(self, *nodes: Node, failure: tuple[str, str] | None = None, each_time: int = 100) -> None:
        super().__init__(FakeRay(), "fake")
        self.alive, self.actors, self._failure, self._each_time = list(nodes), list[FakeActor](), failure, each_time

    def nodes(self) -> list[Node]:
        return self.alive

    def new_actor(self, actor: type, *, node: Node, cpus: int, gpus: float, num_calls: int = 1) -> FakeActor:
        self.actors.append(FakeActor(node, cpus, gpus, failure=self._failure, each_time=self._each_time))
        return self.actors[-1]


def node_of(host: str, *, cpus: int, gpus: float = 0.0) -> Node:
    return Node(host * 8, host, "127.0.0.1", cpus, gpus)


@dataclass
class Played:
    """Self-play on a fake cluster, and what it said."""

    selfplay: ClusterSelfplay
    directory: Path
    said: list[str]
    store: GameStore

    def play(self, seconds: float, look: Callable[[float], None] = lambda _passed: None) -> None:
        """Play for so long; `look` is called in each pass with the seconds since the beginning."""
        started = time.monotonic()

        def is_enough() -> bool:
            look(time.monotonic() - started)
            return time.monotonic() > started + seconds

        self.play_until(is_enough)

    def play_until(self, is_enough: Callable[[], bool], *, is_paused: Callable[[], bool] = lambda: False) -> None:
        """Play until the test has seen what it waits for."""
        try:
            self.selfplay.play(is_enough, lambda _record: None, is_paused=is_paused)
        finally:
            self.store.close()


def selfplay_on(
    connection: FakeConnection, directory: Path, *, task: dict[str, Any] | None = None, **config: Any
) -> Played:
    """Self-play of tic-tac-toe; `task` changes the task, `config` are settings of the cluster."""
    store, said = GameStore(directory / "games", report=print), list[str]()
    values: dict[str, Any] = {
        "game": GAME,
        "search": SearchConfig(num_simulations=8),
        "config": SelfplayConfig(games_per_worker=4),
        "evaluator": UniformEvaluator(),
        "log": store,
        "seed": SEED,
        "settings_hash": SETTINGS_HASH,
        "num_staggered": 1,
    }
    selfplay = ClusterSelfplay(
        SelfplayTask(**{**values, **(task or {})}),
        checkpoint_of(0),
        connection=connection,
        config=ClusterConfig(**config),
        game="tictactoe",
        store=store,
        directory=directory,
        evaluator=EvaluatorConfig(),
        report=said.append,
    )
    return Played(selfplay, directory, said, store)
