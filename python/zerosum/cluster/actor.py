"""One self-play actor: plays games on a node of a cluster and hands them over in sealed blocks.

The learner's process calls `begin` once and then `deliver` again and again. Games wait here until the block that holds
them is acknowledged. If too many wait, because the learner's side is slow, the actor stops playing until they are
taken. Calls and answers are plain bytes, and this file does not know Ray; `zerosum.cluster.selfplay` is the other side.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import platform
import struct
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from zerosum.base.errors import ZerosumError
from zerosum.base.version import __version__
from zerosum.cluster.blocks import FULL_BYTES, Block, seal, size_of
from zerosum.games import Rules, make
from zerosum.network import Checkpoint
from zerosum.network.evaluators import NetworkEvaluator, make_evaluator
from zerosum.replay import GameRecord
from zerosum.replay.journal import parse_journal
from zerosum.replay.records import RunningGame
from zerosum.selfplay import MemoryLog, SelfplayCounts, SelfplayTask, SelfplayThreads
from zerosum.selfplay.playing_network import PlayingNetwork
from zerosum.selfplay.resignation import sent_threshold
from zerosum.selfplay.worker import num_trees
from zerosum.selfplay.worker_process import PlayTask, checkpoint_of, public_class

BLOCK_S = 1.0
"""Time in which `deliver` collects games: a call for each game would cost more than the games' transport."""
MOST_GAMES = 256
"""Largest number of games in a block."""
MOST_WAITING = 1024
"""Finished games that wait for the learner's side at which an actor stops playing."""
GRACE_S = 10.0
"""Longest time that the last batch may take."""
_SIZE = struct.Struct("<I")


@dataclass(frozen=True, kw_only=True)
class ActorTask(PlayTask):
    """The task of an actor."""

    version: str
    """Version of zerosum on the learner's side."""
    training: str
    """Key of the training process."""
    name: str
    """The actor's name, unique in the training."""
    num_threads: int


@dataclass(frozen=True, kw_only=True)
class Orders:
    """The learner's side of one `deliver`."""

    acknowledged: int = 0
    """Number of the actor's last block that was taken."""
    first_id: int = 0
    num_ids: int = 0
    """Numbers for new games: `num_ids` from `first_id`."""
    is_paused: bool = False
    is_over: bool = False
    """Whether to stop playing and hand over what is left."""
    resigns_below: float | None = None
    """The run's threshold of resignations."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What an actor says of itself. Failure excepted, all numbers are totals since its begin."""

    counts: SelfplayCounts = dataclasses.field(default_factory=SelfplayCounts)
    cpu_s: float = 0.0
    step: int = 0
    """Learner step of its network."""
    num_free_ids: int = 0
    """Numbers of games that it has not begun."""
    num_waiting: int = 0
    """Finished games that are not acknowledged, and at the end those in flight that are in no block yet."""
    host: str = ""
    pid: int = 0
    evaluator: str = ""
    """Library, device and precision."""
    failure: tuple[str, str] | None = None
    """Class and message of the error that ended it; the class is "" for errors that are not the user's."""


def pack_reply(report: Report, block: bytes = b"") -> bytes:
    """The answer to a call: a report and a block, or no block."""
    text = json.dumps(dataclasses.asdict(report)).encode()
    return _SIZE.pack(len(text)) + text + block


def unpack_reply(reply: bytes) -> tuple[Report, bytes]:
    """The inverse of `pack_reply`. Raises ValueError, KeyError, TypeError or struct.error for other bytes."""
    (size,) = _SIZE.unpack_from(reply)
    values = json.loads(reply[_SIZE.size : _SIZE.size + size])
    values["counts"] = SelfplayCounts(**values["counts"])
    values["failure"] = tuple(values["failure"]) if values["failure"] else None
    return Report(**values), reply[_SIZE.size + size :]


class SelfplayActor:
    """Plays games for a learner in another process. `begin` comes first; later calls come one after the other."""

    def begin(self, task: bytes, running: bytes, weights: bytes) -> bytes:
        """Start to play.

        Args:
            task: An `ActorTask` as JSON.
            running: Journal entries of games in flight that this actor continues.
            weights: A network, packed by `pack_weights`.

        Returns:
            A report without a block; an error of the user's is in it.
        """
        if (version := json.loads(task)["version"]) != __version__:
            text = f"it has zerosum {__version__}, and the learner has {version}: install the same version on all nodes"
            return pack_reply(Report(host=platform.node(), failure=("", text)))
        try:
            self._player = _Player(ActorTask.from_json(task), running, weights)
        except ZerosumError as error:
            return pack_reply(Report(host=platform.node(), failure=(public_class(error), str(error))))
        return self._player.deliver(Orders(), b"")

    def deliver(self, orders: bytes, weights: bytes | None) -> bytes:
        """Obey orders, collect games for `BLOCK_S`, and return a report and a block.

        Args:
            orders: `Orders` as JSON.
            weights: A new network, or None.
        """
        return self._player.deliver(Orders(**json.loads(orders)), weights or b"")


class _Ended(Exception):  # noqa: N818 - not an error: it ends a thread that waits
    """The actor is over while a thread waits for the number of a new game."""


class _Player:
    """The games of an actor, on threads of its own."""

    def __init__(self, task: ActorTask, running: bytes, weights: bytes) -> None:
        self._task = task
        self._game = make(task.game)
        checkpoint = checkpoint_of(weights, self._game)
        num_games = task.selfplay.games_per_worker
        assert num_games is not None, "the run has measured it"
        self._evaluator = make_evaluator(
            checkpoint, task.evaluator, num_threads=task.num_threads, batch_size=num_games, game=self._game
        )
        self._updates = _Updates(self._game, self._evaluator, checkpoint)
        self._games = parse_journal(running).running
        self._ids = _Ids()
        self._has_games = threading.Condition()  # guards the next three
        self._finished: deque[GameRecord] = deque()
        self._unacknowledged: tuple[int, int, bytes] = (0, 0, b"")  # number, games, bytes of the last block
        self._num_blocks = 0
        self._is_paused, self._is_over = False, False
        self._resignation = sent_threshold(task.selfplay)
        self._failure: tuple[str, str] | None = None
        self._selfplay = SelfplayThreads(
            SelfplayTask(
                game=self._game,
                search=task.search,
                config=task.selfplay,
                evaluator=self._evaluator,
                log=_QueueLog(self._games, self._take),
                seed=task.seed,
                settings_hash=task.settings_hash,
                game_ids=self._ids,
                num_staggered=task.num_staggered,
                network=lambda: self._updates.network,
                evaluation=task.evaluation,
                resignation=self._resignation,
            ),
            num_workers=task.num_threads,
            running=list(self._games.values()),
        )
        self._thread = threading.Thread(target=self._play, name="self-play", daemon=True)
        self._thread.start()

    def deliver(self, orders: Orders, weights: bytes) -> bytes:
        """See `SelfplayActor.deliver`."""
        self._is_paused = orders.is_paused
        if self._resignation is not None:
            self._resignation.threshold = orders.resigns_below
        self._ids.add(range(orders.first_id, orders.first_id + orders.num_ids))
        if weights:
            self._updates.ask(weights)
        if orders.is_over:
            self._end()
        with self._has_games:
            if orders.acknowledged >= self._unacknowledged[0]:
                self._unacknowledged = (0, 0, b"")
            if not self._unacknowledged[0]:
                self._has_games.wait_for(self._is_block_ready, BLOCK_S)
                self._seal_block()
            _, num_games, block = self._unacknowledged
            num_left = len(self._games) if self._has_ended else 0
            num_waiting = len(self._finished) + num_games + num_left
        return pack_reply(self._report(num_waiting), block)

    def _is_block_ready(self) -> bool:
        needs_ids = self._ids.num_free <= num_ids_wanted(self._task) // 2
        return needs_ids or len(self._finished) >= MOST_GAMES or self._failure is not None or self._is_over

    @property
    def _has_ended(self) -> bool:
        """Whether nothing is played any more."""
        return self._is_over and not self._thread.is_alive()

    def _seal_block(self) -> None:
        """Seal the next block, if there are games; after the finished ones, at the end, those in flight."""
        games, running, size = list[GameRecord](), list[RunningGame](), 0
        while self._finished and len(games) < MOST_GAMES and (not games or size < FULL_BYTES):
            games.append(self._finished.popleft())
            size += size_of(games[-1])
        if self._has_ended and not self._finished:
            while self._games and (not running or size < FULL_BYTES):
                running.append(self._games.pop(next(iter(self._games))))
                size += size_of(running[-1])
        if games or running:
            self._num_blocks += 1
            about = {"training": self._task.training, "sender": self._task.name, "number": self._num_blocks}
            data = seal(Block(**about, games=games, running=running))  # type: ignore[arg-type]
            self._unacknowledged = (self._num_blocks, len(games), data)

    def _report(self, num_waiting: int) -> Report:
        return Report(
            counts=self._selfplay.counts,
            cpu_s=time.process_time(),
            step=self._updates.network.step,
            num_free_ids=self._ids.num_free,
            num_waiting=num_waiting,
            host=platform.node(),
            pid=os.getpid(),
            evaluator=self._evaluator.description,
            failure=self._failure or self._updates.failure,
        )

    def _play(self) -> None:
        try:
            with contextlib.suppress(_Ended):
                self._selfplay.play(lambda: self._is_over, lambda _record: None, is_paused=self._is_waiting)
        except ZerosumError as error:
            self._failure = (public_class(error), str(error))
        except Exception:  # the learner's side shows it
            self._failure = ("", traceback.format_exc())
        with self._has_games:
            self._has_games.notify_all()

    def _take(self, record: GameRecord) -> None:
        with self._has_games:
            self._finished.append(record)
            self._has_games.notify_all()

    def _is_waiting(self) -> bool:
        """Whether to wait: the learner is behind, or does not take the games."""
        return self._is_paused or len(self._finished) >= MOST_WAITING

    def _end(self) -> None:
        self._is_over = True
        self._ids.close()
        self._thread.join(GRACE_S)


class _QueueLog(MemoryLog):
    """A `GameLog` that hands a game over when it ends, before its worker can be interrupted."""

    def __init__(self, running: dict[int, RunningGame], take: Callable[[GameRecord], None]) -> None:
        super().__init__(running)
        self._take = take

    def finish_game(self, game_id: int, *, outcome: float, ending: str) -> GameRecord:
        record = super().finish_game(game_id, outcome=outcome, ending=ending)
        self._take(record)
        return record


class _Ids:
    """Numbers of new games, given in leases; a thread that needs one waits until there is one."""

    def __init__(self) -> None:
        self._ranges: deque[Iterator[int]] = deque()
        self._changed = threading.Condition()  # guards the others
        self.num_free = 0
        self._is_over = False

    def __iter__(self) -> _Ids:
        return self

    def __next__(self) -> int:
        with self._changed:
            while not self._is_over:
                if self._ranges:
                    number = next(self._ranges[0], None)
                    if number is not None:
                        self.num_free -= 1
                        return number
                    self._ranges.popleft()
                else:
                    self._changed.wait()
        raise _Ended

    def add(self, numbers: range) -> None:
        if numbers:
            with self._changed:
                self._ranges.append(iter(numbers))
                self.num_free += len(numbers)
                self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify_all()


class _Updates:
    """New networks, each prepared on a thread beside self-play; of several that wait, only the newest."""

    def __init__(self, game: Rules, evaluator: NetworkEvaluator, first: Checkpoint) -> None:
        self.network = PlayingNetwork.of(first.info)
        """The newest network in use."""
        self.failure: tuple[str, str] | None = None
        self._game, self._evaluator = game, evaluator
        self._waiting = b""
        self._changed = threading.Condition()  # guards `_waiting`
        threading.Thread(target=self._work, name="updates", daemon=True).start()

    def ask(self, weights: bytes) -> None:
        with self._changed:
            self._waiting = weights
            self._changed.notify_all()

    def _work(self) -> None:
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._waiting)
                    weights, self._waiting = self._waiting, b""
                checkpoint = checkpoint_of(weights, self._game)
                self._evaluator.update(checkpoint)
                self.network = PlayingNetwork.of(checkpoint.info)
        except Exception:  # the learner's side shows it
            self.failure = ("", traceback.format_exc())


def num_ids_wanted(task: ActorTask) -> int:
    """Free numbers of games that an actor should have at any time: enough for several times the games in flight."""
    assert task.selfplay.games_per_worker is not None
    return max(64, 4 * task.num_threads * num_trees(task.selfplay.games_per_worker))
