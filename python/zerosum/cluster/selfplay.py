"""Self-play on a cluster: actors on all nodes that are there, and one ingest, beside the learner.

    zerosum train --cluster ──┬── Ray actor on node 1 ── SelfplayActor: evaluator, threads, games in flight
      learner, ingest, store  └── Ray actor on node 2 …

It is a `zerosum.selfplay.Selfplay`, so the schedule of a training does not know where games are played. Each actor has
one call under way at a time. Its answer, plain bytes, holds finished games and what the actor says of itself; the next
call acknowledges the games. Networks travel by Ray's object store, once to each node. Nodes and actors come and go at
any time: each second the nodes are counted, and missing actors are started. Only this side writes games.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import secrets
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from zerosum._core import __version__
from zerosum.base import errors
from zerosum.base.errors import RunError, ZerosumError
from zerosum.cluster.actor import ActorTask, Orders, Report, SelfplayActor, num_ids_wanted, unpack_reply
from zerosum.cluster.config import ClusterConfig
from zerosum.cluster.connection import Connection, Node, first_line
from zerosum.cluster.ingest import Ingest, Reason
from zerosum.cluster.status import ActorStatus, ClusterStatus, StatusFiles
from zerosum.cluster.verification import SearchCheck, Verifier
from zerosum.evaluators import EvaluatorConfig
from zerosum.network import Checkpoint
from zerosum.replay import GameRecord
from zerosum.replay.game_store import GameStore
from zerosum.replay.journal import game_entries
from zerosum.selfplay import SelfplayCounts, SelfplayTask
from zerosum.selfplay.worker import num_trees
from zerosum.selfplay.worker_process import pack_weights

WAIT_S = 0.2
"""Longest time between two looks at the training's state."""
NODES_S = 1.0
"""Time between two counts of the nodes."""
STATUS_S = 5.0
"""Time between two writes of the status."""
ROW_S = 10.0
"""Time between two rows of the events."""
RATE_S = 60.0
"""Time over which rates are means."""
FAREWELL_S = 20.0
"""Longest time for the last blocks of all actors at the end."""
MOST_FAILURES = 3
"""Actors of a node that fail in a row, without playing, after which the node gets no others."""


@dataclass
class _Actor:
    """An actor, as this side sees it."""

    name: str
    node: Node
    threads: int
    gpus: float
    task: ActorTask
    handle: Any
    call: Any
    """Ray's reference to the answer that is awaited."""
    called_at: float
    step_sent: int
    report: Report = field(default_factory=Report)
    has_answered: bool = False
    is_leaving: bool = False
    played_at: float = 0.0
    """When it was last seen to play, or had a reason not to."""
    history: deque[tuple[float, int, int]] = field(default_factory=deque)
    """(time, evaluations, games) over the last `RATE_S`."""


class ClusterSelfplay:
    """All self-play actors of a run. See `zerosum.selfplay.Selfplay`; `play` may be called only once."""

    def __init__(
        self,
        task: SelfplayTask,
        checkpoint: Checkpoint,
        *,
        connection: Connection,
        config: ClusterConfig,
        game: str,
        store: GameStore,
        directory: Path,
        evaluator: EvaluatorConfig,
        report: Callable[[str], None] = print,
    ) -> None:
        """Self-play that begins with the network of `checkpoint`; no actor is started before `play`.

        Args:
            task: What to play. Its log, its evaluator and its numbers of games stay unused.
            checkpoint: The first network.
            connection: To the cluster. Actors get the room that its places leave.
            config: The settings.
            game: How an actor finds the game, as `zerosum.games.make` takes it, with an absolute path.
            store: Takes the games; the games in flight in it are continued.
            directory: The run directory, for the files of the status.
            evaluator: How an actor evaluates the network, on the devices that Ray gives to it.
            report: Gets a sentence about each event.
        """
        self._task, self._config, self._connection, self._game = task, config, connection, game
        self._store, self._evaluator, self._say = store, evaluator, report
        self._training = secrets.token_hex(8)
        self._files = StatusFiles(directory)
        self._lock = threading.Lock()  # guards the next three: the learner's thread changes them
        self._weights, self._step = pack_weights(checkpoint), checkpoint.info.step
        self._verifier: Verifier | None = None
        self._sent: tuple[int, Any] | None = None  # step, and Ray's reference to the packed weights
        self._actors: dict[str, _Actor] = {}
        self._num_started = 0
        self._ended = SelfplayCounts()  # of actors that have ended
        self._ended_cpu_s = 0.0
        self._failures: Counter[str] = Counter()  # by node, in a row
        self._refused_nodes: dict[str, tuple[str, str]] = {}  # node's number to its name and the reason
        self._num_failures, self._num_lost = 0, 0  # actors of self-play; others that the events have
        self._nodes: list[Node] = []
        self._said: set[str] = set()
        self._due = dict.fromkeys(("nodes", "status", "row"), 0.0)

    @property
    def counts(self) -> SelfplayCounts:
        """The work of all actors so far."""
        return sum((actor.report.counts for actor in list(self._actors.values())), self._ended)

    @property
    def cpu_s(self) -> float:
        """CPU-seconds that the actors have used so far."""
        return self._ended_cpu_s + sum(actor.report.cpu_s for actor in list(self._actors.values()))

    def update(self, checkpoint: Checkpoint) -> None:
        """Send the network of `checkpoint` to the actors; each uses it as soon as it is compiled."""
        packed = pack_weights(checkpoint)
        with self._lock:
            self._weights, self._step = packed, checkpoint.info.step

    def play(
        self,
        is_enough: Callable[[], bool],
        take: Callable[[GameRecord], None],
        *,
        is_paused: Callable[[], bool] = lambda: False,
    ) -> None:
        """Play until `is_enough`; `take` gets each game that counts. While `is_paused` the actors wait.

        Raises:
            RunError: no node can play, or the store cannot be written.
            ZerosumError: the game's rules failed on an actor, with the message that they would have here.
        """
        with contextlib.ExitStack() as stack:
            self._verifier = self._new_verifier()
            if self._verifier is not None:
                stack.callback(self._verifier.searches.close)
            self._ingest = Ingest(
                self._store,
                self._task.game,
                training=self._training,
                settings_hash=self._task.settings_hash,
                seed=self._task.seed,
                max_staleness=self._config.max_staleness,
                learner_step=lambda: self._step,
                take=take,
                verifier=self._verifier,
            )
            try:
                while not is_enough():
                    self._look_at_nodes()
                    self._take_answers(is_paused=is_paused())
                    self._write_status()
                self._say_farewell()
            finally:
                for name in list(self._actors):
                    self._end(name)
                self._sent = None  # before Ray is shut down
                with contextlib.suppress(RunError):  # the store's error is the one to show
                    self._write_status(is_over=True)

    def _new_verifier(self) -> Verifier | None:
        share, task = self._config.verify_share, self._task
        if share is None:
            return None
        searches = SearchCheck(task.game, task.search, task.config, self._evaluator, seed=task.seed)
        return Verifier(task.game, searches, share=share, generator=np.random.default_rng(secrets.randbits(64)))

    # -- who is there

    def _look_at_nodes(self) -> None:
        """Start the actors that are missing, wherever there is room."""
        if not self._is_due("nodes", NODES_S):
            return
        self._nodes = self._connection.nodes()
        room = 0
        for node in self._nodes:
            cpus, gpus, most = self._room(node)
            if node.node_id in self._refused_nodes:
                continue
            room += most
            here = [name for name, actor in self._actors.items() if actor.node.node_id == node.node_id]
            for name in here[most:]:  # their room was given to a learner or rater that has lost its node
                self._files.add("left", actor=name, node=node.name)
                self._say(f"{name} has ended for {self._others_on(node)}. Its unfinished games are lost.")
                self._end(name)
            for _ in range(most - len(here)):
                if self._config.num_actors is None or len(self._actors) < self._config.num_actors:
                    self._start(node, cpus=cpus, gpus=gpus)
        if not room:
            self._say_once(self._why_no_room())

    def _why_no_room(self) -> str:
        """Why nobody can play. Raises RunError if only refused nodes are there."""
        refused = [f"{name} ({why})" for name, why in self._refused_nodes.values()]
        if refused and all(node.node_id in self._refused_nodes for node in self._nodes):
            raise RunError(
                f"No node of the cluster can play any more: {'; '.join(refused)}. The games are saved: remove the cause"
                " and continue."
            )
        beside = " and ".join(place.role for place in list(self._connection.places))
        return (
            f"No node of the cluster has room for an actor of {self._config.cpus_per_actor or 1} CPUs and"
            f" {self._config.gpus_per_actor or 0:g} GPUs (cluster.cpus_per_actor, cluster.gpus_per_actor)"
            + (f" beside {beside}" if beside else "")
            + ": waiting for one."
        )

    def _others_on(self, node: Node) -> str:
        return " and ".join(place.role for place in self._connection.places if place.node.node_id == node.node_id)

    def _room(self, node: Node) -> tuple[int, float, int]:
        """CPUs and GPUs of an actor on a node, and the number of actors that it has room for."""
        free_cpus, free_gpus = self._connection.free(node)
        gpus = self._config.gpus_per_actor
        if gpus is None:
            gpus = 1.0 if free_gpus >= 1 else 0.0
        most_by_gpu = int(free_gpus / gpus) if gpus else None
        cpus = self._config.cpus_per_actor
        if cpus is None:
            cpus = 1 if self._task.game.is_python else max(1, free_cpus // max(1, most_by_gpu or 1))
        most = free_cpus // cpus
        return cpus, gpus, most if most_by_gpu is None else min(most, most_by_gpu)

    def _start(self, node: Node, *, cpus: int, gpus: float) -> None:
        self._num_started += 1
        name = f"{node.host}/{self._num_started}"
        device = self._evaluator.device
        if gpus == 0:
            device = "cpu"
        elif device.startswith("cuda"):
            device = "cuda"  # the learner's numbers of GPUs are not the actor's: Ray shows it its own alone
        num_games = self._task.config.games_per_worker or 1
        all_threads = sum(other.cpus for other in self._nodes)
        task = ActorTask(
            version=__version__,
            training=self._training,
            name=name,
            num_threads=cpus,
            game=self._game,
            search=self._task.search,
            selfplay=self._task.config,
            evaluator=dataclasses.replace(self._evaluator, device=device),
            seed=self._task.seed,
            settings_hash=self._task.settings_hash,
            num_staggered=all_threads * num_trees(num_games) if self._task.num_staggered else 0,
        )
        running = self._ingest.register(name, num_games=cpus * num_trees(num_games))
        step, weights = self._weights_reference()
        handle = self._connection.new_actor(SelfplayActor, node=node, cpus=cpus, gpus=gpus)
        entries = b"".join(entry for game in running for entry in game_entries(game))
        call = handle.begin.remote(task.to_json(), entries, weights)
        now = time.monotonic()
        self._actors[name] = _Actor(name, node, cpus, gpus, task, handle, call, now, step, played_at=now)

    def _weights_reference(self) -> tuple[int, Any]:
        """The newest network in Ray's object store, and its step. It is put there once."""
        with self._lock:
            weights, step = self._weights, self._step
        if self._sent is None or self._sent[0] != step:
            if self._verifier is not None:
                self._verifier.searches.add_network(step, weights, oldest=step - self._config.max_staleness)
            self._sent = (step, self._connection.ray.put(weights))
        return self._sent

    # -- answers

    def _take_answers(self, *, is_paused: bool) -> None:
        """Process the answers that are there, and ask these actors again; end those that are silent."""
        waiting = {actor.call: actor for actor in self._actors.values()}
        if not waiting:
            time.sleep(WAIT_S)
            return
        calls, _ = self._connection.ray.wait(list(waiting), num_returns=len(waiting), timeout=0)
        if not calls:
            calls, _ = self._connection.ray.wait(list(waiting), num_returns=1, timeout=WAIT_S)
        for call in calls:
            actor = waiting[call]
            if self._take_answer(actor):
                self._ask(actor, Orders(is_paused=is_paused))
        for actor in list(self._actors.values()):
            if why := self._silence(actor, is_paused=is_paused):
                self._fail(actor, why)

    def _take_answer(self, actor: _Actor) -> bool:
        """Process an actor's answer. Returns whether the actor goes on; raises the error of a game's rules."""
        try:
            report, block = unpack_reply(self._connection.ray.get(actor.call))
        except self._connection.ray.exceptions.RayError as error:
            self._fail(actor, first_line(error))
            return False
        except (ValueError, KeyError, TypeError, struct.error) as error:
            self._fail(actor, f"its answer cannot be read ({error})")
            return False
        is_first, actor.has_answered = not actor.has_answered, True
        if report.counts.evaluations > actor.report.counts.evaluations or report.num_waiting:
            actor.played_at = time.monotonic()
            self._failures.pop(actor.node.node_id, None)
        actor.report = report
        if report.failure is not None:
            self._fail_by_report(actor, is_first=is_first)
            return False
        if is_first:
            self._files.add("joined", actor=actor.name, node=actor.node.name, evaluator=report.evaluator)
            self._say(f"  {actor.name} plays on {actor.node.name}: {actor.threads} threads, {report.evaluator}.")
        return not block or self._take_block(actor, block)

    def _take_block(self, actor: _Actor, block: bytes) -> bool:
        """Offer a block to the ingest. Returns whether its sender goes on."""
        receipt = self._ingest.offer(actor.name, block)
        if receipt.refused:
            counts = ", ".join(f"{count} {reason}" for reason, count in receipt.refused.items())
            self._files.add("refused", actor=actor.name, node=actor.node.name, why=f"{counts}: {receipt.why}")
            for reason in receipt.refused:
                self._say_once(f"Games are refused: {receipt.why}. Further ones are counted.", key=reason)
        if refusal := self._ingest.senders[actor.name].refusal:
            self._refuse_node(actor.node, refusal)
            self._fail(actor, refusal)
            return False
        return True

    def _ask(self, actor: _Actor, orders: Orders) -> None:
        """Call an actor again: acknowledge its games, lease numbers, send a new network."""
        sender, wanted = self._ingest.senders[actor.name], num_ids_wanted(actor.task)
        if actor.report.num_free_ids <= wanted // 2 and not orders.is_over:
            lease = self._ingest.lease(actor.name, wanted - actor.report.num_free_ids)
            orders = dataclasses.replace(orders, first_id=lease.start, num_ids=len(lease))
        orders = dataclasses.replace(orders, acknowledged=sender.acknowledged)
        weights = None
        if actor.step_sent != self._step and not orders.is_over:
            actor.step_sent, weights = self._weights_reference()
        actor.is_leaving = orders.is_over
        text = json.dumps(dataclasses.asdict(orders)).encode()
        actor.call, actor.called_at = actor.handle.deliver.remote(text, weights), time.monotonic()

    def _silence(self, actor: _Actor, *, is_paused: bool) -> str:
        """Why an actor counts as silent, in words; "" if it does not. Its start may take any time."""
        if not actor.has_answered:
            return ""
        now = time.monotonic()
        if is_paused or not actor.report.num_free_ids:
            actor.played_at = now
        limit = self._config.silence_seconds
        if now - actor.called_at > limit:
            return f"it has not answered for {now - actor.called_at:.0f} seconds"
        if now - actor.played_at > limit:
            return f"it has not played for {now - actor.played_at:.0f} seconds (a method of the game may hang)"
        return ""

    # -- ends

    def _fail_by_report(self, actor: _Actor, *, is_first: bool) -> None:
        assert actor.report.failure is not None
        name, message = actor.report.failure
        if name and not is_first:
            error: ZerosumError = getattr(errors, name)(message)
            raise error
        # An error at the begin is the node's: another version, a device that it does not have.
        if is_first:
            self._refuse_node(actor.node, message)
        self._fail(actor, message.strip().splitlines()[-1])

    def _fail(self, actor: _Actor, why: str) -> None:
        """End an actor that failed. Another one takes its place, unless its node fails again and again."""
        self._num_failures += 1
        self._files.add("failed", actor=actor.name, node=actor.node.name, why=why)
        self._say(f"{actor.name} has failed: {why}. Its unfinished games are lost.")
        node_id = actor.node.node_id
        self._failures[node_id] += 1
        if self._failures[node_id] >= MOST_FAILURES:
            self._refuse_node(actor.node, f"{MOST_FAILURES} actors in a row failed there, the last one: {why}")
        self._end(actor.name)

    def _refuse_node(self, node: Node, why: str) -> None:
        if node.node_id not in self._refused_nodes:
            self._refused_nodes[node.node_id] = (node.name, why)
            self._files.add("node refused", node=node.name, why=why)
            self._say(f"{node.name} gets no actors any more: {why}.")

    def _end(self, name: str) -> None:
        actor = self._actors.pop(name)
        self._ended += actor.report.counts
        self._ended_cpu_s += actor.report.cpu_s
        self._ingest.dismiss(name)
        self._connection.ray.kill(actor.handle)

    def _say_farewell(self) -> None:
        """Take the last blocks of all actors, with their games in flight, which the next process continues."""
        until = time.monotonic() + FAREWELL_S
        while self._actors and time.monotonic() < until:
            waiting = {actor.call: actor for actor in self._actors.values()}
            calls, _ = self._connection.ray.wait(list(waiting), num_returns=1, timeout=WAIT_S)
            for call in calls:
                actor = waiting[call]
                if not self._take_answer(actor):
                    continue
                if actor.is_leaving and not actor.report.num_waiting:
                    self._files.add("left", actor=actor.name, node=actor.node.name)
                    self._end(actor.name)
                else:
                    self._ask(actor, Orders(is_over=True))
            for actor in list(self._actors.values()):
                if not actor.has_answered:  # it has not begun, so it has nothing
                    self._end(actor.name)

    # -- the status

    def _write_status(self, *, is_over: bool = False) -> None:
        now = time.monotonic()
        for place, why in self._connection.lost[self._num_lost :]:
            self._num_lost += 1
            self._files.add("failed", actor=place.role, node=place.node.name, why=why)
        if not is_over and not self._is_due("status", STATUS_S):
            return
        for actor in self._actors.values():
            actor.history.append((now, actor.report.counts.evaluations, self._ingest.senders[actor.name].num_games))
            while len(actor.history) > 2 and now - actor.history[0][0] > RATE_S:
                actor.history.popleft()
        actors = [self._status_of(actor) for actor in self._actors.values()]
        status = ClusterStatus(
            time=time.strftime("%Y-%m-%d %H:%M:%S"),
            unix_s=time.time(),
            address=self._connection.address,
            nodes=len(self._nodes),
            step=self._step,
            games=self._ingest.num_games,
            actors=actors,
            others=[f"{place.role} on {place.node.name}" for place in list(self._connection.places)],
            refused=_by_word(self._ingest.refused),
            refused_nodes=dict(self._refused_nodes.values()),
            num_failures=self._num_failures + self._num_lost,
            is_over=is_over,
        )
        self._files.write(status)
        if is_over or self._is_due("row", ROW_S):
            behind = [actor.steps_behind for actor in actors]
            self._files.add(
                "row",
                step=status.step,
                nodes=status.nodes,
                actors=len(actors),
                games=status.games,
                games_per_minute=round(sum(actor.games_per_minute for actor in actors), 1),
                evaluations_per_minute=round(sum(actor.evaluations_per_minute for actor in actors)),
                mean_steps_behind=round(sum(behind) / len(behind), 1) if behind else 0,
                most_steps_behind=max(behind, default=0),
                refused=status.refused,
                failures=status.num_failures,
            )

    def _status_of(self, actor: _Actor) -> ActorStatus:
        sender, report = self._ingest.senders[actor.name], actor.report
        (then, evaluations, games), (now, evaluations_now, games_now) = actor.history[0], actor.history[-1]
        minutes = max((now - then) / 60, 1e-9)
        is_playing = time.monotonic() - actor.played_at < 3 * STATUS_S
        return ActorStatus(
            name=actor.name,
            node=actor.node.name,
            state="playing" if actor.has_answered and is_playing else "silent" if actor.has_answered else "starting",
            threads=actor.threads,
            gpus=actor.gpus,
            evaluator=report.evaluator,
            pid=report.pid,
            evaluations_per_minute=round((evaluations_now - evaluations) / minutes, 1),
            games_per_minute=round((games_now - games) / minutes, 2),
            games=sender.num_games,
            step=report.step,
            steps_behind=max(0, self._step - report.step) if actor.has_answered else 0,
            refused=_by_word(sender.refused_games),
        )

    def _is_due(self, what: str, seconds: float) -> bool:
        if time.monotonic() < self._due[what]:
            return False
        self._due[what] = time.monotonic() + seconds
        return True

    def _say_once(self, sentence: str, *, key: str = "") -> None:
        if (key or sentence) not in self._said:
            self._said.add(key or sentence)
            self._say(sentence)


def _by_word(refused: Counter[Reason]) -> dict[str, int]:
    return {str(reason): count for reason, count in refused.items()}
