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
import functools
import json
import secrets
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from zerosum.base import errors
from zerosum.base.errors import RunError, ZerosumError
from zerosum.base.version import __version__
from zerosum.cluster.actor import ActorTask, Orders, SelfplayActor, num_ids_wanted, unpack_reply
from zerosum.cluster.config import ClusterConfig
from zerosum.cluster.connection import Connection, Node, first_line
from zerosum.cluster.ingest import Ingest
from zerosum.cluster.remote_actor import RemoteActor
from zerosum.cluster.rooms import ROUNDING, Room, room_of
from zerosum.cluster.status import STATUS_S, ClusterStatus, StatusFiles, by_word, verified_words
from zerosum.games.rules import is_named
from zerosum.network import Checkpoint
from zerosum.network.evaluators import EvaluatorConfig
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
ROW_S = 10.0
"""Time between two rows of the events."""
PASS_S = 1.0
"""Time of one pass of the loop up to which actors may be heard late."""
FAREWELL_S = 20.0
"""Longest time for each of an actor's last answers at the end."""
MOST_FAREWELL_S = 300.0
"""Longest time for the last blocks of all actors together."""
MOST_FAILURES = 3
"""Actors of a node that fail in a row, without playing, after which the node gets no others."""


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
        assert is_named(task.game, game), f"{game} is not {task.game.spec.full_name}, which the network has learned"
        self._task, self._config, self._connection, self._game = task, config, connection, game
        self._store, self._evaluator, self._say = store, evaluator, report
        self._training = secrets.token_hex(8)
        self._files = StatusFiles(directory)
        self._lock = threading.Lock()  # guards the next four: the learner's thread changes them
        self._weights, self._step = pack_weights(checkpoint), checkpoint.info.step
        self._highest_step = self._step  # a learner that was lost goes on from an earlier step
        self._num_updates = 0
        self._sent: tuple[int, Any] | None = None  # number of the update, and Ray's reference to the packed weights
        self._actors: dict[str, RemoteActor] = {}
        self._num_started = 0
        self._num_staggered: int | None = None  # `SelfplayTask.num_staggered`, once there is room for actors
        self._listened_at = 0.0
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
            self._highest_step = max(self._highest_step, self._step)
            self._num_updates += 1

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
        self._ingest = Ingest(
            self._store,
            self._task.game,
            training=self._training,
            settings_hash=self._task.settings_hash,
            seed=self._task.seed,
            max_staleness=self._config.max_staleness,
            learner_step=lambda: self._step,
            highest_step=lambda: self._highest_step,
            take=take,
            verify=self._config.verify,
            can_resign=self._task.config.resign_false_positives is not None,
        )
        self._listened_at = time.monotonic()
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

    # -- who is there

    def _look_at_nodes(self) -> None:
        """Start the actors that are missing, wherever there is room."""
        if not self._is_due("nodes", NODES_S):
            return
        self._nodes = self._connection.nodes()
        rooms: list[tuple[Node, Room]] = []
        for node in self._nodes:
            self._clear(node)
            free = self._connection.free(node)
            room = room_of(*free, self._config, is_python=self._task.game.is_python)
            if room.num_in(*free) and node.node_id not in self._refused_nodes:
                rooms.append((node, room))
        if not rooms:
            self._say_once(self._why_no_room())
        elif self._num_staggered is None:
            self._num_staggered = self._num_first_games(rooms) if self._task.num_staggered else 0
        for node, room in rooms:
            for _ in range(room.num_in(*self._left(node))):
                if self._config.num_actors is None or len(self._actors) < self._config.num_actors:
                    self._start(node, room)

    def _clear(self, node: Node) -> None:
        """End actors whose CPUs or GPUs were given to a learner or rater that has lost its node."""
        for actor in reversed(self._actors_on(node)):
            cpus, gpus = self._left(node)
            if cpus >= 0 and gpus >= -ROUNDING:
                return
            self._files.add("left", actor=actor.name, node=node.name)
            self._say(f"{actor.name} has ended for {self._others_on(node)}. Its unfinished games are lost.")
            self._end(actor.name)

    def _actors_on(self, node: Node) -> list[RemoteActor]:
        return [actor for actor in self._actors.values() if actor.node.node_id == node.node_id]

    def _left(self, node: Node) -> tuple[int, float]:
        """CPUs and GPUs of a node that nobody has; less than 0 if actors have more than is theirs."""
        (cpus, gpus), here = self._connection.free(node), self._actors_on(node)
        return cpus - sum(actor.threads for actor in here), gpus - sum(actor.gpus for actor in here)

    def _num_first_games(self, rooms: list[tuple[Node, Room]]) -> int:
        """Games that all actors in these rooms begin first."""
        threads = [room.cpus for node, room in rooms for _ in range(room.num_in(*self._connection.free(node)))]
        return sum(threads[: self._config.num_actors]) * self._trees_a_thread

    @property
    def _trees_a_thread(self) -> int:
        return num_trees(self._task.config.games_per_worker or 1)

    def _why_no_room(self) -> str:
        """Why nobody can play. Raises RunError if nodes could, but all that have room are refused."""
        if any(node.node_id in self._refused_nodes for node in self._nodes):
            refused = [f"{name} ({why})" for name, why in self._refused_nodes.values()]
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

    def _start(self, node: Node, room: Room) -> None:
        self._num_started += 1
        name = f"{node.host}/{self._num_started}"
        device = self._evaluator.device
        if room.gpus == 0:
            device = "cpu"
        elif device.startswith("cuda"):
            device = "cuda"  # the learner's numbers of GPUs are not the actor's: Ray shows it its own alone
        task = ActorTask(
            version=__version__,
            training=self._training,
            name=name,
            num_threads=room.cpus,
            game=self._game,
            search=self._task.search,
            selfplay=self._task.config,
            evaluator=dataclasses.replace(self._evaluator, device=device),
            seed=self._task.seed,
            settings_hash=self._task.settings_hash,
            num_staggered=self._num_staggered or 0,
            evaluation=self._task.evaluation,
        )
        num_games = room.cpus * self._trees_a_thread
        running = self._ingest.register(name, num_games=num_games)
        # Leased before any actor asks for more: the lowest numbers, whose starts are staggered, are in all actors.
        first_ids = self._ingest.lease(name, num_games)
        number, weights = self._weights_reference()
        handle = self._connection.new_actor(SelfplayActor, node=node, cpus=room.cpus, gpus=room.gpus)
        entries = b"".join(entry for game in running for entry in game_entries(game))
        call = handle.begin.remote(task.to_json(), entries, weights)
        now = time.monotonic()
        self._actors[name] = RemoteActor(
            name, node, room.cpus, room.gpus, task, handle, call, now, number, first_ids, played_at=now
        )

    def _weights_reference(self) -> tuple[int, Any]:
        """Number of the newest network, and its reference in Ray's object store. It is put there once."""
        with self._lock:
            number, weights = self._num_updates, self._weights
        if self._sent is None or self._sent[0] != number:
            self._sent = (number, self._connection.ray.put(weights))
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
                self._ask(actor, is_paused=is_paused)
        self._end_silent_actors(is_paused=is_paused)

    def _end_silent_actors(self, *, is_paused: bool) -> None:
        now = time.monotonic()
        # A pass may take long by itself: a slow disk, or many games to check. Actors are not silent meanwhile.
        own_pause, self._listened_at = max(0.0, now - self._listened_at - PASS_S), now
        for actor in list(self._actors.values()):
            actor.excuse(own_pause, now)
            has_answer = functools.partial(self._has_answer, actor)
            limit = self._config.silence_seconds
            if why := actor.silence(now, limit=limit, is_paused=is_paused, has_answer=has_answer):
                self._fail(actor, why)

    def _has_answer(self, actor: RemoteActor) -> bool:
        """Whether an answer has arrived that is not processed yet."""
        calls, _ = self._connection.ray.wait([actor.call], num_returns=1, timeout=0)
        return bool(calls)

    def _take_answer(self, actor: RemoteActor) -> bool:
        """Process an actor's answer. Returns whether the actor goes on; raises the error of a game's rules."""
        try:
            report, block = unpack_reply(self._connection.ray.get(actor.call))
        except self._connection.ray.exceptions.RayError as error:
            self._fail(actor, first_line(error))
            return False
        except (ValueError, KeyError, TypeError, struct.error) as error:
            self._fail(actor, f"its answer cannot be read ({error})")
            return False
        is_first = not actor.has_answered
        if actor.take(report, time.monotonic()):
            self._failures.pop(actor.node.node_id, None)
        if report.failure is not None:
            self._fail_by_report(actor, is_first=is_first)
            return False
        if is_first:
            self._files.add("joined", actor=actor.name, node=actor.node.name, evaluator=report.evaluator)
            self._say(f"  {actor.name} plays on {actor.node.name}: {actor.threads} threads, {report.evaluator}.")
        return not block or self._take_block(actor, block)

    def _take_block(self, actor: RemoteActor, block: bytes) -> bool:
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

    def _ask(self, actor: RemoteActor, *, is_paused: bool = False, is_over: bool = False) -> None:
        """Call an actor again: acknowledge its games, lease numbers, send a new network and the threshold."""
        ids = range(0) if is_over else self._ids_for(actor)
        resignation = self._task.resignation
        orders = Orders(
            acknowledged=self._ingest.senders[actor.name].acknowledged,
            first_id=ids.start,
            num_ids=len(ids),
            is_paused=is_paused,
            is_over=is_over,
            resigns_below=None if resignation is None else resignation.threshold,
        )
        weights = None
        if actor.update_sent != self._num_updates and not is_over:
            actor.update_sent, weights = self._weights_reference()
        actor.is_leaving = is_over
        text = json.dumps(dataclasses.asdict(orders)).encode()
        actor.call, actor.called_at = actor.handle.deliver.remote(text, weights), time.monotonic()

    def _ids_for(self, actor: RemoteActor) -> range:
        """The numbers of games to send to an actor now."""
        ids, actor.first_ids = actor.first_ids, range(0)
        wanted, num_free = num_ids_wanted(actor.task), actor.report.num_free_ids
        return ids or (self._ingest.lease(actor.name, wanted - num_free) if num_free <= wanted // 2 else range(0))

    # -- ends

    def _fail_by_report(self, actor: RemoteActor, *, is_first: bool) -> None:
        assert actor.report.failure is not None
        name, message = actor.report.failure
        if name and not is_first:
            error: ZerosumError = getattr(errors, name)(message)
            raise error
        # An error at the begin is the node's: another version, a device that it does not have.
        if is_first:
            self._refuse_node(actor.node, message)
        self._fail(actor, message.strip().splitlines()[-1])

    def _fail(self, actor: RemoteActor, why: str) -> None:
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
        started = time.monotonic()
        for actor in list(self._actors.values()):
            if not actor.has_answered:  # it has not begun, so it has nothing
                self._end(actor.name)
        while self._actors:
            waiting = {actor.call: actor for actor in self._actors.values()}
            calls, _ = self._connection.ray.wait(list(waiting), num_returns=1, timeout=WAIT_S)
            for call in calls:
                self._take_last_answer(waiting[call])
            now = time.monotonic()
            for actor in list(self._actors.values()):
                is_late = now - max(actor.called_at, started) > FAREWELL_S and not self._has_answer(actor)
                if is_late or now - started > MOST_FAREWELL_S:
                    self._fail(actor, f"it has not handed over its last games in {now - started:.0f} seconds")

    def _take_last_answer(self, actor: RemoteActor) -> None:
        if not self._take_answer(actor):
            return
        if actor.is_leaving and not actor.report.num_waiting:
            self._files.add("left", actor=actor.name, node=actor.node.name)
            self._end(actor.name)
        else:
            self._ask(actor, is_over=True)

    # -- the status

    def _write_status(self, *, is_over: bool = False) -> None:
        now = time.monotonic()
        for place, why in self._connection.lost[self._num_lost :]:
            self._num_lost += 1
            self._files.add("failed", actor=place.role, node=place.node.name, why=why)
        if not is_over and not self._is_due("status", STATUS_S):
            return
        senders = self._ingest.senders
        for actor in self._actors.values():
            actor.note(now, senders[actor.name].num_games)
        actors = [actor.status(senders[actor.name], newest_step=self._step, now=now) for actor in self._actors.values()]
        status = ClusterStatus(
            time=time.strftime("%Y-%m-%d %H:%M:%S"),
            unix_s=time.time(),
            address=self._connection.address,
            nodes=len(self._nodes),
            step=self._step,
            games=self._ingest.num_games,
            actors=actors,
            others=[f"{place.role} on {place.node.name}" for place in list(self._connection.places)],
            refused=by_word(self._ingest.refused),
            verified=self._ingest.num_verified if self._config.verify else None,
            refused_nodes=dict(self._refused_nodes.values()),
            num_failures=self._num_failures + self._num_lost,
            is_over=is_over,
        )
        self._files.write(status)
        if is_over and status.verified is not None:
            self._say(f"  {verified_words(status)}.")
        if is_over or self._is_due("row", ROW_S):
            self._files.add_row(status)

    def _is_due(self, what: str, seconds: float) -> bool:
        if time.monotonic() < self._due[what]:
            return False
        self._due[what] = time.monotonic() + seconds
        return True

    def _say_once(self, sentence: str, *, key: str = "") -> None:
        if (key or sentence) not in self._said:
            self._said.add(key or sentence)
            self._say(sentence)
