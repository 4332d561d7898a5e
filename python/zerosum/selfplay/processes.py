"""Self-play by worker processes, which share no interpreter lock: for games written in Python, and others on demand.

    zerosum train ──┬── python -m zerosum.selfplay.worker_process    a worker with its own evaluator, on one core
      (this side)   └── python -m zerosum.selfplay.worker_process    …

Only this side writes games. A worker that does not answer (it was stopped, or a method of the game hangs) or that
SIGTERM ends is reported and replaced, and its games continue. No process is forked and none runs the user's program, so
a script that trains at its top level does not run again. `zerosum.selfplay.worker_process` is the other side and
describes the protocol.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace

from zerosum.base import errors
from zerosum.base.child import Child
from zerosum.base.errors import RunError, ZerosumError
from zerosum.base.files import write_all
from zerosum.games.rules import is_named
from zerosum.network import Checkpoint
from zerosum.network.evaluators import EvaluatorConfig
from zerosum.network.evaluators.backends import AUTO
from zerosum.network.evaluators.device import torch_devices
from zerosum.replay import GameHeader, GameRecord
from zerosum.replay.journal import EndEntry, Entry, PlyEntry, game_entries, read_entries
from zerosum.replay.records import RunningGame, packed_ply
from zerosum.selfplay import worker_process
from zerosum.selfplay.worker import SelfplayCounts, SelfplayTask
from zerosum.selfplay.worker_process import (
    COUNTS,
    GRACE_S,
    Kind,
    WorkerTask,
    frame_of,
    pack_threshold,
    pack_weights,
    read_frame,
)

SILENCE_S = 300.0
"""A worker is replaced after this silence, if it is also `SILENCE_FACTOR` times as long as any earlier one."""
SILENCE_FACTOR = 10.0
NOTICE_SHARE = 0.1
"""Share of that time after which the silence is reported."""
MOST_REPLACEMENTS = 2
"""Largest number of consecutive replacements of a worker without a batch played in between."""


class SelfplayProcesses:
    """All workers of a run, a process each. See `zerosum.selfplay.Selfplay`; `play` may be called only once."""

    def __init__(
        self,
        task: SelfplayTask,
        checkpoint: Checkpoint,
        *,
        game: str,
        num_workers: int,
        running: Iterable[RunningGame] = (),
        evaluator: EvaluatorConfig = AUTO,
        report: Callable[[str], None] = print,
    ) -> None:
        """Games in flight are distributed among the workers, which begin with the network of `checkpoint`.

        `game` is how a worker finds the game, as `zerosum.games.make` takes it, with an absolute path. Of `task` the
        evaluator and the network's step stay unused: each worker makes its own evaluator, as backend, device and
        precision say; of several GPUs each worker takes one, in turn. `report` gets a sentence for each worker that is
        replaced.
        """
        assert is_named(task.game, game), f"{game} is not {task.game.spec.full_name}, which the network has learned"
        self._log, self._report, self._resignation = task.log, report, task.resignation
        self._threshold = None if task.resignation is None else task.resignation.threshold
        first_game_id = next(task.game_ids)
        devices = (
            [str(device) for device in torch_devices(evaluator.device)] if evaluator.on_gpu else [evaluator.device]
        )
        self._tasks = [
            WorkerTask(
                game=game,
                search=task.search,
                selfplay=task.config,
                evaluator=replace(evaluator, device=devices[number % len(devices)]),
                seed=task.seed,
                settings_hash=task.settings_hash,
                num_staggered=task.num_staggered,
                evaluation=task.evaluation,
                first_game_id=first_game_id + number,
                game_id_step=num_workers,
            )
            for number in range(num_workers)
        ]
        # By worker and game_id. Only the thread that follows a worker touches its games.
        self._running: list[dict[int, RunningGame]] = [{} for _ in range(num_workers)]
        for place, game_of_log in enumerate(running):
            self._running[place % num_workers][game_of_log.header.game_id] = game_of_log.copy()
        self._lock = threading.Lock()  # guards all that follows
        self._workers: list[_Process] = []
        self._replaced: list[_Process] = []
        self._is_paused = False
        self._weights = pack_weights(checkpoint)

    @property
    def counts(self) -> SelfplayCounts:
        """The work of all workers so far."""
        return sum((worker.counts for worker in self._all_workers()), SelfplayCounts())

    @property
    def cpu_s(self) -> float:
        """CPU-seconds that the workers have used so far."""
        return sum(worker.cpu_s for worker in self._all_workers())

    def _all_workers(self) -> list[_Process]:
        with self._lock:
            return [*self._replaced, *self._workers]

    def update(self, checkpoint: Checkpoint) -> None:
        """Send the network of `checkpoint` to the workers; each uses it as soon as it is compiled."""
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
            The first error: one of the game as if it had been played here, or `RunError` for a process that died. All
            have ended then. KeyboardInterrupt ends them, too.
        """
        failures: list[BaseException] = []
        is_over, is_stopping = threading.Event(), threading.Event()

        def follow(number: int) -> None:
            worker, num_idle = self._workers[number], 0
            try:
                while True:
                    worker.follow(lambda entry: self._take_in(number, entry, take))
                    if is_stopping.is_set():
                        return
                    num_idle = 0 if worker.counts.plies else num_idle + 1
                    # A scheduler's SIGTERM reaches this process, too, which is stopping then.
                    if not worker.is_replaceable() or num_idle > MOST_REPLACEMENTS or is_stopping.wait(0.5):
                        break
                    self._report(f"{worker.how_it_ended()}: another one replaces it and continues its games.")
                    worker = self._replace(number)
                if not is_stopping.is_set():
                    raise worker.death()
            except BaseException as failure:  # handed to the caller's thread below
                failures.append(failure)
                worker.kill()
            finally:
                is_over.set()

        followers: list[threading.Thread] = []
        try:
            self._start()
            for number in range(len(self._workers)):
                followers.append(threading.Thread(target=follow, args=(number,), name="selfplay"))
                followers[-1].start()
            looked_at = time.monotonic()
            while not is_enough() and not is_over.wait(0.02):
                self._pause(is_paused())
                self._send_threshold()
                before, looked_at = looked_at, time.monotonic()
                # At most a second, as this process may have been stopped itself, and the workers with it.
                self._watch(min(looked_at - before, 1.0))
        finally:
            # Ctrl-C arrives here: every worker ends its batch, then the exception goes on.
            is_stopping.set()
            with self._lock:
                workers = list(self._workers)
            for worker in workers:
                worker.tell_to_end()
            for worker in workers:
                worker.wait()
            for follower in followers:
                follower.join()
        if failures:
            raise failures[0]

    def _start(self) -> None:
        with self._lock:
            assert not self._workers, "play may be called only once"
            for number in range(len(self._tasks)):
                self._workers.append(self._begun(number))

    def _begun(self, number: int) -> _Process:
        """A new process for the worker of this number."""
        worker = _Process(f"{number + 1} of {len(self._tasks)}")
        games = self._running[number].values()
        worker.send(Kind.TASK, self._tasks[number].to_json())
        worker.send(Kind.GAMES, b"".join(entry for game in games for entry in game_entries(game)))
        worker.send(Kind.WEIGHTS, self._weights)
        if self._threshold is not None:
            worker.send(Kind.THRESHOLD, pack_threshold(self._threshold))
        if self._is_paused:
            worker.send(Kind.PAUSE)
        return worker

    def _replace(self, number: int) -> _Process:
        """Start another process that continues the games and game numbers of one that has ended."""
        with self._lock:
            self._replaced.append(self._workers[number])
            self._workers[number] = worker = self._begun(number)
            return worker

    def _pause(self, is_paused: bool) -> None:
        with self._lock:
            if is_paused == self._is_paused:
                return
            self._is_paused = is_paused
            for worker in self._workers:
                worker.send(Kind.PAUSE if is_paused else Kind.RESUME)

    def _send_threshold(self) -> None:
        """Send the run's threshold of resignations to the workers, if it has changed."""
        if self._resignation is None or (threshold := self._resignation.threshold) == self._threshold:
            return
        with self._lock:
            self._threshold = threshold
            for worker in self._workers:
                worker.send(Kind.THRESHOLD, pack_threshold(threshold))

    def _watch(self, seconds: float) -> None:
        """Count the silence of each worker: a long one is reported, one that is too long ends the worker."""
        with self._lock:
            notices = [worker.wait_for(0.0 if self._is_paused else seconds) for worker in self._workers]
        for notice in filter(None, notices):
            self._report(notice)

    def _take_in(self, number: int, entry: Entry, take: Callable[[GameRecord], None]) -> None:
        """Process an entry of a worker's log."""
        running = self._running[number]
        if isinstance(entry, GameHeader):
            self._log.start_game(entry)
            running[entry.game_id] = RunningGame(header=entry)
            task = self._tasks[number]
            if entry.game_id >= task.first_game_id:
                self._tasks[number] = replace(task, first_game_id=entry.game_id + task.game_id_step)
        elif isinstance(entry, PlyEntry):
            ply = packed_ply(entry.game_id, entry.index, entry.ply)
            self._log.add_plies([entry.game_id], [ply])
            running[entry.game_id].plies.packed.append(ply)
        elif isinstance(entry, EndEntry):
            del running[entry.game_id]
            take(self._log.finish_game(entry.game_id, outcome=entry.outcome, ending=entry.ending))


class _Process:
    """One worker, as the parent sees it."""

    def __init__(self, name: str) -> None:
        self.counts, self.cpu_s = SelfplayCounts(), 0.0
        self._name = name
        self.is_silent = False
        """Whether it was ended because it did not answer."""
        self._num_answers = self._num_answers_seen = 0
        self._silent_s = self._longest_s = 0.0
        self._frames: deque[tuple[Kind, bytes]] = deque()  # waiting to be sent
        self._is_told_to_end = False
        self._has_frames = threading.Condition()  # guards the two
        # One thread each: OMP_NUM_THREADS is obeyed by torch, and by the libraries that NumPy is built on.
        self._child = Child.of_module(worker_process.__name__, hear=_print_error, environment={"OMP_NUM_THREADS": "1"})
        threading.Thread(target=self._talk, name="selfplay's commands", daemon=True).start()

    def send(self, kind: Kind, payload: bytes = b"") -> None:
        """Queue a frame, since a pipe may be full. New weights replace queued ones."""
        with self._has_frames:
            places = [place for place, (other, _) in enumerate(self._frames) if kind == other == Kind.WEIGHTS]
            if places:
                self._frames[places[0]] = (kind, payload)
            else:
                self._frames.append((kind, payload))
            self._has_frames.notify()

    def _talk(self) -> None:
        """Send all queued frames, then close the worker's input. A dead worker gets nothing."""
        with contextlib.suppress(OSError), self._child.input:
            while True:
                with self._has_frames:
                    self._has_frames.wait_for(lambda: self._frames or self._is_told_to_end)
                    if self._is_told_to_end:
                        return
                    kind, payload = self._frames.popleft()
                write_all(self._child.input.fileno(), frame_of(kind, payload))

    def wait_for(self, seconds: float) -> str:
        """Count the time since its last answer; kill it if that is too long.

        The answer is a sentence about a silence that became long with these seconds, else "".
        """
        if self.is_silent:
            return ""
        if self._num_answers != self._num_answers_seen:
            # The first answer includes imports, so it does not measure a batch.
            is_batch = self._num_answers_seen > 0
            self._longest_s = max(self._longest_s, self._silent_s) if is_batch else 0.0
            self._num_answers_seen, self._silent_s = self._num_answers, 0.0
        before, self._silent_s = self._silent_s, self._silent_s + seconds
        most_s = max(SILENCE_S, SILENCE_FACTOR * self._longest_s)
        if self._silent_s > most_s:
            self.is_silent = True
            self._child.kill()
        elif before <= NOTICE_SHARE * most_s < self._silent_s:
            return (
                f"self-play's process {self._name} has not answered for {self._silent_s:.0f} seconds. After"
                f" {most_s:.0f} seconds another one replaces it and continues its games."
            )
        return ""

    def is_replaceable(self) -> bool:
        """Whether it ended without a fault that another process would repeat."""
        return self.is_silent or self._child.status() == -signal.SIGTERM

    def follow(self, take_in: Callable[[Entry], None]) -> None:
        """Process its entries until it ends. Raises the `ZerosumError` that it failed with."""
        with self._child.output as answers:
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
                self._num_answers += 1

    def how_it_ended(self) -> str:
        """The reason for its unexpected end, without a full stop."""
        how = self._child.how_it_ended()
        if self.is_silent:
            how = f"did not answer for {self._silent_s:.0f} seconds (it was stopped, or a method of the game hangs)"
        elif how.endswith("SIGKILL"):
            how += " (the system does so when memory is short)"
        return f"self-play's process {self._name} {how}"

    def death(self) -> RunError:
        """The error of a worker that ended unexpectedly and is not replaced."""
        return RunError(
            f"{self.how_it_ended()}. The games are saved: remove the cause and continue, or use fewer processes"
            " (selfplay.num_workers) or fewer games at a time (selfplay.games_per_worker)."
            f"{self._child.quoted_words}"
        )

    def tell_to_end(self) -> None:
        """End its input."""
        with self._has_frames:
            self._is_told_to_end = True
            self._has_frames.notify()

    def wait(self) -> None:
        """Wait until it has ended; kill it if a game hangs."""
        self._child.end(GRACE_S)

    def kill(self) -> None:
        """End it at once."""
        self._child.end(0)


def _print_error(line: str) -> None:
    """Repeat a worker's line on this process's standard error."""
    print(line, file=sys.stderr)
