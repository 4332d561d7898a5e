"""Self-play by worker processes, for games written in Python: their rules share one interpreter lock in a process.

    zerosum train ──┬── python -m zerosum.selfplay_processes    a worker with its own evaluator, on one core
      (the parent)  └── python -m zerosum.selfplay_processes    …

The parent alone writes games. Each worker is a `SelfplayWorker` whose log is the pipe to the parent. Both directions of
a pipe carry frames, `payload length u32 | kind u8 | payload`, little-endian:

    to a worker    TASK     a `_Task` as JSON; this and the next two come first, once each and in this order
                   GAMES    journal entries of the games under way that it goes on with
                   WEIGHTS  learner's step u64, then the network's weights as safetensors; from now on this network
                   PAUSE, RESUME    wait without using a core; go on
    to the parent  PLAYED   its counts so far, 4 x u64, then the journal entries of what one batch decided
                   FAILED   the class of a `ZerosumError` and its message, as JSON: what the user can mend

A worker whose input ends finishes its batch and ends: so it does when the parent is told to stop, and when it is
killed. What a user's game prints goes to the parent's standard error. No process is forked and none runs the user's
program: a script that trains at its top level is not run once more.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from typing import IO, Any

from zerosum import errors
from zerosum.checkpoint import Checkpoint, CheckpointInfo
from zerosum.errors import RunError, ZerosumError
from zerosum.evaluator import NetworkEvaluator, make_evaluator
from zerosum.files import write_all
from zerosum.games import Rules, make
from zerosum.journal import (
    EndEntry,
    Entry,
    GameHeader,
    GameRecord,
    PlyEntry,
    PlyRecord,
    RunningGame,
    end_entry,
    game_entries,
    ply_entry,
    read_entries,
    start_entry,
)
from zerosum.network import NetworkConfig
from zerosum.search import SearchConfig
from zerosum.selfplay import SelfplayConfig, SelfplayCounts, SelfplayTask, SelfplayWorker
from zerosum.settings import from_mapping

GRACE_S = 10.0
"""How long a worker that was told to end may take for its batch."""
LAST_WORDS = 20
"""Lines of a worker's standard error that are told when it dies."""

_FRAME = struct.Struct("<IB")
_COUNTS = struct.Struct("<QQQQ")  # the fields of `SelfplayCounts`
_STEP = struct.Struct("<Q")


class _Kind(enum.IntEnum):
    TASK = 1
    GAMES = 2
    WEIGHTS = 3
    PAUSE = 4
    RESUME = 5
    PLAYED = 6
    FAILED = 7


def _frame(kind: _Kind, payload: bytes = b"") -> bytes:
    return _FRAME.pack(len(payload), kind) + payload


def _read_frame(file: IO[bytes]) -> tuple[_Kind, bytes] | None:
    """The next frame; None where the other side has ended, in the middle of a frame or between two."""
    head = file.read(_FRAME.size)
    if len(head) < _FRAME.size:
        return None
    size, kind = _FRAME.unpack(head)
    payload = file.read(size)
    return (_Kind(kind), payload) if len(payload) == size else None


@dataclass(frozen=True)
class _Task:
    """What a worker process is told first."""

    game: str
    """As `zerosum.games.make` takes it, with an absolute path."""
    search: SearchConfig
    selfplay: SelfplayConfig
    network: NetworkConfig
    backend: str
    device: str
    seed: int
    settings_hash: str
    first_game_id: int
    game_id_step: int
    """Its games are numbered first_game_id, first_game_id + game_id_step, ...: each process has its own numbers."""

    def to_json(self) -> bytes:
        return json.dumps(dataclasses.asdict(self)).encode()

    @staticmethod
    def from_json(text: bytes) -> _Task:
        values: dict[str, Any] = json.loads(text)
        sections = {"search": SearchConfig, "selfplay": SelfplayConfig, "network": NetworkConfig}
        for section, config_type in sections.items():
            values[section] = from_mapping(config_type, values[section], section)
        return _Task(**values)


class SelfplayProcesses:
    """All workers of a run, a process each. As `zerosum.selfplay.Selfplay`, but `play` is for once."""

    def __init__(
        self,
        task: SelfplayTask,
        checkpoint: Checkpoint,
        *,
        game: str,
        num_workers: int,
        running: Iterable[RunningGame] = (),
        backend: str = "auto",
        device: str = "auto",
    ) -> None:
        """Games under way are dealt out among the workers; they search with the network of `checkpoint` at first.

        `game` is how a worker finds the game, as `zerosum.games.make` takes it, with an absolute path. Of `task` the
        evaluator and the network's step stay unused: each worker makes its own evaluator for `backend` and `device`.
        """
        self._log = task.log
        first_game_id = next(task.game_ids)
        self._tasks = [
            _Task(
                game=game,
                search=task.search,
                selfplay=task.config,
                network=checkpoint.info.network,
                backend=backend,
                device=device,
                seed=task.seed,
                settings_hash=task.settings_hash,
                first_game_id=first_game_id + number,
                game_id_step=num_workers,
            )
            for number in range(num_workers)
        ]
        games = list(running)
        self._running = [games[number::num_workers] for number in range(num_workers)]
        self._lock = threading.Lock()  # guards the next two
        self._workers: list[_Process] = []
        self._weights = _weights_payload(checkpoint)

    @property
    def counts(self) -> SelfplayCounts:
        """What all workers have done so far."""
        return sum((worker.counts for worker in self._workers), SelfplayCounts())

    def update(self, checkpoint: Checkpoint) -> None:
        """Let the workers go over to the network of `checkpoint`, each as soon as it has made it ready."""
        with self._lock:
            self._weights = _weights_payload(checkpoint)
            for worker in self._workers:
                worker.send(_Kind.WEIGHTS, self._weights)

    def play(
        self,
        is_enough: Callable[[], bool],
        take: Callable[[GameRecord], None],
        *,
        is_paused: Callable[[], bool] = lambda: False,
    ) -> None:
        """Play until `is_enough`, which is asked some fifty times a second; `take` gets each finished game.

        While `is_paused` the workers wait, without using a core.

        Raises:
            Whatever went wrong first: an error of the game as if it had been played here, `RunError` for a process that
            died. All have ended then. KeyboardInterrupt ends them, too.
        """
        failures: list[BaseException] = []
        is_over, is_stopping = threading.Event(), threading.Event()

        def follow(worker: _Process) -> None:
            try:
                worker.follow(lambda entry: self._take_in(entry, take))
                if not is_stopping.is_set():
                    raise worker.death()
            except BaseException as failure:  # handed to the caller's thread below
                failures.append(failure)
                worker.kill()
            finally:
                is_over.set()

        followers: list[threading.Thread] = []
        was_paused = False
        try:
            self._start()
            for worker in self._workers:
                followers.append(threading.Thread(target=follow, args=(worker,), name="selfplay"))
                followers[-1].start()
            while not is_enough() and not is_over.wait(0.02):
                if (paused := is_paused()) != was_paused:
                    was_paused = paused
                    for worker in self._workers:
                        worker.send(_Kind.PAUSE if paused else _Kind.RESUME)
        finally:
            # Ctrl-C arrives here: every worker ends its batch, then the exception goes on.
            is_stopping.set()
            for worker in self._workers:
                worker.tell_to_end()
            for worker in self._workers:
                worker.wait()
            for follower in followers:
                follower.join()
        if failures:
            raise failures[0]

    def _start(self) -> None:
        with self._lock:
            assert not self._workers, "play is for once"
            for number in range(len(self._tasks)):
                self._workers.append(_Process(f"{number + 1} of {len(self._tasks)}"))
            for worker, task, games in zip(self._workers, self._tasks, self._running, strict=True):
                worker.send(_Kind.TASK, task.to_json())
                worker.send(_Kind.GAMES, b"".join(entry for game in games for entry in game_entries(game)))
                worker.send(_Kind.WEIGHTS, self._weights)

    def _take_in(self, entry: Entry, take: Callable[[GameRecord], None]) -> None:
        """What a worker's log was told."""
        if isinstance(entry, GameHeader):
            self._log.start_game(entry)
        elif isinstance(entry, PlyEntry):
            self._log.add_ply(entry.game_id, entry.ply)
        elif isinstance(entry, EndEntry):
            take(self._log.finish_game(entry.game_id, outcome=entry.outcome, ending=entry.ending))


def _weights_payload(checkpoint: Checkpoint) -> bytes:
    import safetensors.numpy as safetensors

    return _STEP.pack(checkpoint.info.step) + safetensors.save(checkpoint.weights)


class _Process:
    """One worker, as the parent sees it."""

    def __init__(self, name: str) -> None:
        self.counts = SelfplayCounts()
        self._name = name
        self._last_words: deque[str] = deque(maxlen=LAST_WORDS)
        self._lock = threading.Lock()  # one frame at a time
        # The worker finds modules where this process does, and not first in the directory it was started from.
        # One thread each: OMP_NUM_THREADS is obeyed by torch, and by the libraries that NumPy is built on.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
        pipe = subprocess.PIPE
        command = [sys.executable, "-P", "-m", __name__]
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)
        self._listener = threading.Thread(target=self._listen, name="selfplay's words", daemon=True)
        self._listener.start()

    def send(self, kind: _Kind, payload: bytes = b"") -> None:
        """Send a frame. To a worker that is dead nothing is sent: whoever follows it tells."""
        assert self._process.stdin is not None
        with self._lock, contextlib.suppress(OSError):
            if not self._process.stdin.closed:
                write_all(self._process.stdin.fileno(), _frame(kind, payload))

    def follow(self, take_in: Callable[[Entry], None]) -> None:
        """Take in what it plays until it ends. Raises the `ZerosumError` that it failed with."""
        assert self._process.stdout is not None
        with self._process.stdout as answers:
            while (frame := _read_frame(answers)) is not None:
                kind, payload = frame
                if kind == _Kind.FAILED:
                    name, message = json.loads(payload)
                    error: ZerosumError = getattr(errors, name)(message)
                    raise error
                for entry in read_entries(payload[_COUNTS.size :]):
                    take_in(entry)
                self.counts = SelfplayCounts(*_COUNTS.unpack_from(payload))

    def death(self) -> RunError:
        """What there is to say of a worker that ended without being told to."""
        status = self._process.wait()
        self._listener.join()
        if status < 0 and os.name != "nt":
            how = f"was ended by {signal.Signals(-status).name}"
            how += " (the system does so when memory is short)" if -status == signal.SIGKILL else ""
        else:
            how = f"ended with exit status {status}"
        words = "".join(f"\n  {line}" for line in self._last_words)
        return RunError(
            f"self-play's process {self._name} {how}. What was played is saved: mend the reason and go on, or play with"
            " fewer processes (selfplay.num_workers)." + (f" Its last words:{words}" if words else "")
        )

    def tell_to_end(self) -> None:
        """End its input."""
        assert self._process.stdin is not None
        with self._lock, contextlib.suppress(OSError):
            self._process.stdin.close()

    def wait(self) -> None:
        """Until it has ended, which a game that hangs does not do by itself."""
        try:
            self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self._listener.join()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def _listen(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr:
            for line in self._process.stderr:
                text = line.decode(errors="replace").rstrip()
                self._last_words.append(text)
                print(text, file=sys.stderr)


# ---- the worker's side


class _PipeLog:
    """A `GameLog` that collects journal entries until they are sent."""

    def __init__(self, running: dict[int, RunningGame]) -> None:
        self._running = running
        self._entries: list[bytes] = []

    def start_game(self, header: GameHeader) -> None:
        self._running[header.game_id] = RunningGame(header=header)
        self._entries.append(start_entry(header))

    def add_ply(self, game_id: int, ply: PlyRecord) -> None:
        plies = self._running[game_id].plies
        self._entries.append(ply_entry(game_id, len(plies), ply))
        plies.append(ply)

    def finish_game(self, game_id: int, *, outcome: float, ending: str) -> GameRecord:
        game = self._running.pop(game_id)
        self._entries.append(end_entry(game_id, len(game.plies), outcome=outcome, ending=ending))
        return GameRecord.from_plies(game.header, game.plies, outcome=outcome, ending=ending)

    def take_entries(self) -> bytes:
        entries, self._entries = self._entries, []
        return b"".join(entries)


class _Commands:
    """What the parent says, obeyed by a thread of its own while the worker plays."""

    def __init__(self, file: IO[bytes]) -> None:
        self.is_over = False
        self.may_play = threading.Event()
        self.may_play.set()
        self.network_step = 0
        self._file = file

    def begin(self) -> tuple[_Task, Rules, dict[int, RunningGame], Checkpoint]:
        """The first three frames. Raises EOFError if the parent ends before."""
        task = _Task.from_json(self._payload())
        game = make(task.game)
        running: dict[int, RunningGame] = {}
        for entry in read_entries(self._payload()):
            if isinstance(entry, GameHeader):
                running[entry.game_id] = RunningGame(header=entry)
            elif isinstance(entry, PlyEntry):
                running[entry.game_id].plies.append(entry.ply)
        checkpoint = self._checkpoint(self._payload(), task, game)
        self.network_step = checkpoint.info.step
        return task, game, running, checkpoint

    def obey(self, task: _Task, game: Rules, evaluator: NetworkEvaluator) -> None:
        """Until the parent ends, and then see to it that this process does."""
        try:
            while (frame := _read_frame(self._file)) is not None:
                kind, payload = frame
                if kind == _Kind.WEIGHTS:
                    checkpoint = self._checkpoint(payload, task, game)
                    evaluator.update(checkpoint)
                    self.network_step = checkpoint.info.step
                elif kind == _Kind.PAUSE:
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
        frame = _read_frame(self._file)
        if frame is None:
            raise EOFError
        return frame[1]

    @staticmethod
    def _checkpoint(payload: bytes, task: _Task, game: Rules) -> Checkpoint:
        import safetensors.numpy as safetensors

        (step,) = _STEP.unpack_from(payload)
        info = CheckpointInfo.describe(game.spec, task.network, step=step)
        return Checkpoint(info=info, weights=safetensors.load(payload[_STEP.size :]))


def main() -> None:
    """The worker process: plays what standard input says, and tells it on standard output."""
    # Ctrl-C and a scheduler's signals reach every process of a group. The parent ends this one.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
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
        write_all(answers, _frame(_Kind.FAILED, json.dumps([_public_class(error), str(error)]).encode()))


def _play(commands: _Commands, answers: int) -> None:
    task, game, running, checkpoint = commands.begin()
    num_games = task.selfplay.games_per_worker
    evaluator = make_evaluator(checkpoint, backend=task.backend, device=task.device, batch_size=num_games)
    threading.Thread(target=commands.obey, args=(task, game, evaluator), name="commands", daemon=True).start()
    log = _PipeLog(running)
    selfplay = SelfplayTask(
        game=game,
        search=task.search,
        config=task.selfplay,
        evaluator=evaluator,
        log=log,
        seed=task.seed,
        settings_hash=task.settings_hash,
        game_ids=count(task.first_game_id, task.game_id_step),
        network_step=lambda: commands.network_step,
    )
    worker = SelfplayWorker(selfplay, running=list(running.values()))
    while not commands.is_over:
        commands.may_play.wait()
        worker.play_batch()
        counts = _COUNTS.pack(*dataclasses.astuple(worker.counts))
        write_all(answers, _frame(_Kind.PLAYED, counts + log.take_entries()))


def _public_class(error: ZerosumError) -> str:
    """The name of the nearest class of `zerosum.errors` that an error is."""
    return next(base.__name__ for base in type(error).__mro__ if base.__module__ == errors.__name__)


if __name__ == "__main__":
    main()
