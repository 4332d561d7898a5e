"""One self-play worker as a process of its own, with an interpreter lock of its own.

`zerosum.selfplay.processes` starts one process per worker and is the only one to write games: a worker's log is the
pipe to its parent. Both directions of a pipe carry frames,
`payload length u32 | kind u8 | payload`, little-endian; `Kind` lists them.

A worker whose input ends finishes its batch and ends: so it does when the parent is told to stop, and when it is
killed. What a user's game prints goes to standard error, which the parent passes on.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import os
import signal
import struct
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import IO, Any, TypeVar

from zerosum.base import errors
from zerosum.base.arrays import pack_arrays
from zerosum.base.errors import ZerosumError
from zerosum.base.files import write_all
from zerosum.base.settings import from_mapping, to_mapping
from zerosum.games import Rules, make
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig
from zerosum.network.evaluators import EvaluatorConfig, NetworkEvaluator, make_evaluator
from zerosum.replay import GameHeader, GameRecord
from zerosum.replay.journal import end_entry, parse_journal, ply_entries, start_entry
from zerosum.replay.records import PackedPly, RunningGame
from zerosum.search import SearchConfig
from zerosum.selfplay.config import SelfplayConfig
from zerosum.selfplay.piece_terms import LearnedWeights
from zerosum.selfplay.playing_network import PROGRESS, PlayingNetwork
from zerosum.selfplay.resignation import SentThreshold, sent_threshold
from zerosum.selfplay.worker import MemoryLog, SelfplayTask, SelfplayWorker

GRACE_S = 10.0
"""Longest time that a worker may take for its last batch after its input has ended."""

COUNTS = struct.Struct("<QQQQQd")
"""The fields of `SelfplayCounts`, and CPU-seconds: what PLAYED begins with."""
_FRAME = struct.Struct("<IB")
_HEAD = struct.Struct("<QdI")
_THRESHOLD = struct.Struct("<d")


class Kind(enum.IntEnum):
    """The kind of a frame. A worker first receives TASK, GAMES and WEIGHTS, once each and in this order."""

    TASK = 1
    """To a worker: a `WorkerTask` as JSON."""
    GAMES = 2
    """To a worker: journal entries of the games under way that it goes on with."""
    WEIGHTS = 3
    """To a worker: the network to search with from now on (`pack_weights`)."""
    PAUSE = 4
    """To a worker: wait, without using a core."""
    RESUME = 5
    """To a worker: go on."""
    PLAYED = 6
    """From a worker: what it has done so far (`COUNTS`), then journal entries of what one batch decided."""
    THRESHOLD = 8
    """To a worker: the run's threshold of resignations, f64; not a number for none."""
    FAILED = 7
    """From a worker: the class of a `ZerosumError` and its message, as JSON; it ends."""


def frame_of(kind: Kind, payload: bytes = b"") -> bytes:
    """A frame as it is written."""
    return _FRAME.pack(len(payload), kind) + payload


def read_frame(file: IO[bytes]) -> tuple[Kind, bytes] | None:
    """The next frame; None if the other side has ended, even within a frame."""
    head = file.read(_FRAME.size)
    if len(head) < _FRAME.size:
        return None
    size, kind = _FRAME.unpack(head)
    payload = file.read(size)
    return (Kind(kind), payload) if len(payload) == size else None


TaskT = TypeVar("TaskT", bound="PlayTask")


@dataclass(frozen=True, kw_only=True)
class PlayTask:
    """The settings of self-play in another process."""

    game: str
    """The game's name as `zerosum.games.make` takes it, with an absolute path."""
    search: SearchConfig
    selfplay: SelfplayConfig
    evaluator: EvaluatorConfig
    seed: int
    """The run's seed."""
    settings_hash: str
    num_staggered: int
    """See `SelfplayTask.num_staggered`."""
    evaluation: LearnedWeights | None = None
    """See `SelfplayTask.evaluation`."""

    def to_json(self) -> bytes:
        """The task as text."""
        return json.dumps(dataclasses.asdict(self)).encode()

    @classmethod
    def from_json(cls: type[TaskT], text: bytes) -> TaskT:
        """The inverse of `to_json`."""
        values: dict[str, Any] = json.loads(text)
        sections = {"search": SearchConfig, "selfplay": SelfplayConfig, "evaluator": EvaluatorConfig}
        for section, config_type in sections.items():
            values[section] = from_mapping(config_type, values[section], section)
        if values["evaluation"] is not None:
            values["evaluation"] = LearnedWeights.of(values["evaluation"])
        return cls(**values)


@dataclass(frozen=True, kw_only=True)
class WorkerTask(PlayTask):
    """The task of a worker process: the payload of TASK."""

    first_game_id: int
    game_id_step: int
    """The worker's games have the numbers first_game_id, first_game_id + game_id_step, and so on."""


def pack_weights(checkpoint: Checkpoint) -> bytes:
    """A network, whose size may differ from that of the one before: the payload of WEIGHTS.

    It is `learner's step u64 | progress f64 | length of the JSON u32 | NetworkConfig as JSON | weights as safetensors`,
    little-endian.
    """
    network, playing = json.dumps(to_mapping(checkpoint.info.network)).encode(), PlayingNetwork.of(checkpoint.info)
    head = _HEAD.pack(playing.step, playing.progress, len(network))
    return head + network + pack_arrays(checkpoint.weights)


def pack_threshold(threshold: float | None) -> bytes:
    """The payload of THRESHOLD."""
    return _THRESHOLD.pack(math.nan if threshold is None else threshold)


def unpack_threshold(packed: bytes) -> float | None:
    """The inverse of `pack_threshold`."""
    (threshold,) = _THRESHOLD.unpack(packed)
    return None if math.isnan(threshold) else threshold


def checkpoint_of(packed: bytes, game: Rules) -> Checkpoint:
    """The inverse of `pack_weights`."""
    import safetensors.numpy as safetensors

    step, progress, size = _HEAD.unpack_from(packed)
    end = _HEAD.size + size
    network = from_mapping(NetworkConfig, json.loads(packed[_HEAD.size : end]), "network")
    info = CheckpointInfo.describe(game.spec, network, step=step, training={PROGRESS: progress})
    return Checkpoint(info=info, weights=safetensors.load(packed[end:]))


class _PipeLog(MemoryLog):
    """A `GameLog` that collects journal entries until they are sent."""

    def __init__(self, running: dict[int, RunningGame]) -> None:
        super().__init__(running)
        self._entries: list[bytes] = []

    def start_game(self, header: GameHeader, opening: Sequence[PackedPly] = ()) -> None:
        super().start_game(header, opening)
        self._entries += [start_entry(header), ply_entries(opening)]

    def add_plies(self, game_ids: Sequence[int], plies: Sequence[PackedPly]) -> None:
        super().add_plies(game_ids, plies)
        self._entries.append(ply_entries(plies))

    def finish_game(self, game_id: int, *, outcome: float, ending: str) -> GameRecord:
        record = super().finish_game(game_id, outcome=outcome, ending=ending)
        self._entries.append(end_entry(game_id, record.num_plies, outcome=outcome, ending=ending))
        return record

    def take_entries(self) -> bytes:
        entries, self._entries = self._entries, []
        return b"".join(entries)


class _Commands:
    """The parent's commands, obeyed by a thread of its own while the worker plays."""

    def __init__(self, file: IO[bytes]) -> None:
        self.is_over = False
        self.may_play = threading.Event()
        self.may_play.set()
        self.network = PlayingNetwork()
        self.resignation: SentThreshold | None = None
        self._file = file

    def begin(self) -> tuple[WorkerTask, Rules, dict[int, RunningGame], Checkpoint]:
        """The first three frames. Raises EOFError if the parent ends before."""
        task = WorkerTask.from_json(self._payload())
        game = make(task.game)
        running = parse_journal(self._payload()).running
        checkpoint = checkpoint_of(self._payload(), game)
        self.network = PlayingNetwork.of(checkpoint.info)
        self.resignation = sent_threshold(task.selfplay)
        return task, game, running, checkpoint

    def obey(self, game: Rules, evaluator: NetworkEvaluator) -> None:
        """Obey until the parent ends, then make sure that this process ends."""
        try:
            while (frame := read_frame(self._file)) is not None:
                kind, payload = frame
                if kind == Kind.WEIGHTS:
                    checkpoint = checkpoint_of(payload, game)
                    evaluator.update(checkpoint)
                    self.network = PlayingNetwork.of(checkpoint.info)
                elif kind == Kind.THRESHOLD:
                    assert self.resignation is not None, "a run without resignation has no threshold"
                    self.resignation.threshold = unpack_threshold(payload)
                elif kind == Kind.PAUSE:
                    self.may_play.clear()
                else:
                    self.may_play.set()
        except BaseException:  # in a thread it would be lost
            traceback.print_exc()
            os._exit(1)
        self.is_over = True
        self.may_play.set()
        time.sleep(GRACE_S)  # the thread that plays ends the process before, unless the game hangs
        os._exit(1)

    def _payload(self) -> bytes:
        frame = read_frame(self._file)
        if frame is None:
            raise EOFError
        return frame[1]


def main() -> None:
    """Run a worker process: commands on standard input, entries of games on standard output."""
    # Ctrl-C reaches every process of a group. The parent ends this one; SIGTERM does, too, and the parent sees it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The pipes get numbers of their own: a game may print, and it may read.
    commands, answers = _Commands(os.fdopen(os.dup(0), "rb")), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    try:
        _play(commands, answers)
    except (EOFError, BrokenPipeError):
        pass  # the parent is gone
    except ZerosumError as error:
        write_all(answers, frame_of(Kind.FAILED, json.dumps([public_class(error), str(error)]).encode()))


def _play(commands: _Commands, answers: int) -> None:
    task, game, running, checkpoint = commands.begin()
    num_games = task.selfplay.games_per_worker
    assert num_games is not None, "the run has measured it"
    evaluator = make_evaluator(checkpoint, task.evaluator, batch_size=num_games, game=game)
    threading.Thread(target=commands.obey, args=(game, evaluator), name="commands", daemon=True).start()
    log = _PipeLog(running)
    selfplay = SelfplayTask(
        game=game,
        search=task.search,
        config=task.selfplay,
        evaluator=evaluator,
        log=log,
        seed=task.seed,
        settings_hash=task.settings_hash,
        num_staggered=task.num_staggered,
        game_ids=count(task.first_game_id, task.game_id_step),
        network=lambda: commands.network,
        evaluation=task.evaluation,
        resignation=commands.resignation,
    )
    worker = SelfplayWorker(selfplay, running=list(running.values()))
    while not commands.is_over:
        commands.may_play.wait()
        worker.play_batch()
        counts = COUNTS.pack(*dataclasses.astuple(worker.counts), time.process_time())
        write_all(answers, frame_of(Kind.PLAYED, counts + log.take_entries()))


def public_class(error: ZerosumError) -> str:
    """The name of an error's nearest public class in `zerosum.base.errors`."""
    return next(base.__name__ for base in type(error).__mro__ if base.__module__ == errors.__name__)


if __name__ == "__main__":
    main()
