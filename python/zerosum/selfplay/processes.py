"""Self-play by worker processes, for games written in Python: their rules share one interpreter lock in a process.

    zerosum train ──┬── python -m zerosum.selfplay.worker_process    a worker with its own evaluator, on one core
      (this side)   └── python -m zerosum.selfplay.worker_process    …

This side alone writes games. No process is forked and none runs the user's program: a script that trains at its top
level is not run once more. `zerosum.selfplay.worker_process` is the other side, and says how the two talk.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable

from zerosum.base import errors
from zerosum.base.errors import RunError, ZerosumError
from zerosum.base.files import write_all
from zerosum.network import Checkpoint
from zerosum.replay import GameHeader, GameRecord
from zerosum.replay.journal import EndEntry, Entry, PlyEntry, RunningGame, game_entries, read_entries
from zerosum.selfplay import worker_process
from zerosum.selfplay.worker import SelfplayCounts, SelfplayTask
from zerosum.selfplay.worker_process import COUNTS, GRACE_S, Kind, WorkerTask, frame_of, pack_weights, read_frame

LAST_WORDS = 20
"""Lines of a worker's standard error that are told when it dies."""


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
        precision: str = "auto",
    ) -> None:
        """Games under way are dealt out among the workers; they search with the network of `checkpoint` at first.

        `game` is how a worker finds the game, as `zerosum.games.make` takes it, with an absolute path. Of `task` the
        evaluator and the network's step stay unused: each worker makes its own evaluator, as the last three say.
        """
        self._log = task.log
        first_game_id = next(task.game_ids)
        self._tasks = [
            WorkerTask(
                game=game,
                search=task.search,
                selfplay=task.config,
                network=checkpoint.info.network,
                backend=backend,
                device=device,
                precision=precision,
                seed=task.seed,
                settings_hash=task.settings_hash,
                num_staggered=task.num_staggered,
                first_game_id=first_game_id + number,
                game_id_step=num_workers,
            )
            for number in range(num_workers)
        ]
        games = list(running)
        self._running = [games[number::num_workers] for number in range(num_workers)]
        self._lock = threading.Lock()  # guards the next two
        self._workers: list[_Process] = []
        self._weights = pack_weights(checkpoint)

    @property
    def counts(self) -> SelfplayCounts:
        """What all workers have done so far."""
        return sum((worker.counts for worker in self._workers), SelfplayCounts())

    @property
    def cpu_s(self) -> float:
        """CPU-seconds that the workers have used so far."""
        return sum(worker.cpu_s for worker in self._workers)

    def update(self, checkpoint: Checkpoint) -> None:
        """Let the workers go over to the network of `checkpoint`, each as soon as it has made it ready."""
        with self._lock:
            self._weights = pack_weights(checkpoint)
            for worker in self._workers:
                worker.send(Kind.WEIGHTS, self._weights)

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
                        worker.send(Kind.PAUSE if paused else Kind.RESUME)
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
                worker.send(Kind.TASK, task.to_json())
                worker.send(Kind.GAMES, b"".join(entry for game in games for entry in game_entries(game)))
                worker.send(Kind.WEIGHTS, self._weights)

    def _take_in(self, entry: Entry, take: Callable[[GameRecord], None]) -> None:
        """What a worker's log was told."""
        if isinstance(entry, GameHeader):
            self._log.start_game(entry)
        elif isinstance(entry, PlyEntry):
            self._log.add_ply(entry.game_id, entry.ply)
        elif isinstance(entry, EndEntry):
            take(self._log.finish_game(entry.game_id, outcome=entry.outcome, ending=entry.ending))


class _Process:
    """One worker, as the parent sees it."""

    def __init__(self, name: str) -> None:
        self.counts, self.cpu_s = SelfplayCounts(), 0.0
        self._name = name
        self._last_words: deque[str] = deque(maxlen=LAST_WORDS)
        self._lock = threading.Lock()  # one frame at a time
        # The worker finds modules where this process does, and not first in the directory it was started from.
        # One thread each: OMP_NUM_THREADS is obeyed by torch, and by the libraries that NumPy is built on.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
        pipe = subprocess.PIPE
        command = [sys.executable, "-P", "-m", worker_process.__name__]
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)
        self._listener = threading.Thread(target=self._listen, name="selfplay's words", daemon=True)
        self._listener.start()

    def send(self, kind: Kind, payload: bytes = b"") -> None:
        """Send a frame. To a worker that is dead nothing is sent: whoever follows it tells."""
        assert self._process.stdin is not None
        with self._lock, contextlib.suppress(OSError):
            if not self._process.stdin.closed:
                write_all(self._process.stdin.fileno(), frame_of(kind, payload))

    def follow(self, take_in: Callable[[Entry], None]) -> None:
        """Take in what it plays until it ends. Raises the `ZerosumError` that it failed with."""
        assert self._process.stdout is not None
        with self._process.stdout as answers:
            while (frame := read_frame(answers)) is not None:
                kind, payload = frame
                if kind == Kind.FAILED:
                    name, message = json.loads(payload)
                    error: ZerosumError = getattr(errors, name)(message)
                    raise error
                for entry in read_entries(payload[COUNTS.size :]):
                    take_in(entry)
                *counts, self.cpu_s = COUNTS.unpack_from(payload)
                self.counts = SelfplayCounts(*counts)

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
