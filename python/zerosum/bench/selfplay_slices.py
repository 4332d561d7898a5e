"""Self-play only within slices of time, in this process or another one.

`python -m zerosum.bench.selfplay_slices` is the other side of `selfplay_process`; `OtherProcess` has the protocol.
"""

from __future__ import annotations

import contextlib
import itertools
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zerosum.base.errors import SettingsError
from zerosum.bench.other_process import OtherProcess, answer_with, open_module
from zerosum.bench.untrained import untrained_checkpoint, untrained_evaluator
from zerosum.games import Rules
from zerosum.games.names import GameName
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations, Evaluator, NetworkEvaluator
from zerosum.replay.game_store import GameStore
from zerosum.run.config import RunConfig
from zerosum.run.workers import new_selfplay, num_selfplay_workers, plays_in_processes
from zerosum.selfplay import SelfplayTask
from zerosum.selfplay.calibration import Rate


@dataclass(frozen=True)
class SliceRates:
    """The work of self-play in a slice of time."""

    evaluations: Rate
    plies: Rate


class Playing:
    """A run's self-play without learning, which waits except during slices of time."""

    def __init__(
        self,
        game: Rules,
        config: RunConfig,
        *,
        seed: int = 0,
        evaluator: NetworkEvaluator | None = None,
        is_staggered: bool = False,
    ) -> None:
        """Prepare the workers; they wait.

        Args:
            game: The game.
            config: The run's settings, with `selfplay.games_per_worker`.
            seed: The seed of the network.
            evaluator: What evaluates in place of an untrained network, if given.
            is_staggered: Whether games begin at any stage, as those of a new run do.
        """
        self._directory = tempfile.TemporaryDirectory()
        self._store = GameStore(Path(self._directory.name) / "games", report=lambda _: None)
        assert config.selfplay.games_per_worker is not None
        self._evaluator = evaluator or untrained_evaluator(
            game, config, batch_size=config.selfplay.games_per_worker, seed=seed
        )
        self._timed = _Timed(self._evaluator)
        self._num_workers, self._in_processes = num_selfplay_workers(config), plays_in_processes(config, game)
        self._num_games = config.selfplay.games_per_worker * self._num_workers
        self._checkpoints = itertools.cycle([untrained_checkpoint(game, config, seed=seed + n) for n in range(2)])
        task = SelfplayTask(
            game=game,
            search=config.search,
            config=config.selfplay,
            evaluator=self._timed,
            log=self._store,
            seed=seed,
            settings_hash=config.selfplay_hash,
            num_staggered=self._num_games if is_staggered else 0,
        )
        self._selfplay = new_selfplay(task, next(self._checkpoints), config)
        self._must_wait, self._is_over = True, threading.Event()
        self._waiting = set[int]()
        self._pool = ThreadPoolExecutor(1)
        self._playing = self._pool.submit(
            self._selfplay.play, self._is_over.is_set, lambda _: None, is_paused=self._is_paused
        )

    def __enter__(self) -> Playing:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._pool.shutdown()
        self._store.close()
        self._directory.cleanup()

    def warm_up(self) -> None:
        """Play until every worker has begun."""
        with self._let_go():
            while self._selfplay.counts.plies < self._num_games:
                self._wait(0.01)

    def rates(self, *, seconds: float) -> SliceRates:
        """Play for `seconds` seconds, and at least until a batch is evaluated and a ply is played, then wait.

        Raises:
            SettingsError: no positions are evaluated any more.
        """
        with self._let_go():
            before, cpu_before, started = self._selfplay.counts, self._cpu_s(), time.perf_counter()
            self._wait(seconds)
            while (after := self._selfplay.counts).evaluations == before.evaluations or after.plies == before.plies:
                if after.evaluations == before.evaluations and after.plies > before.plies + self._num_games:
                    raise SettingsError(
                        "self-play does not evaluate positions any more, because its cache has all positions of this"
                        " small game. Set search.cache_positions to 0."
                    )
                self._wait(0.005)
            after, cpu_s, elapsed = self._selfplay.counts, self._cpu_s() - cpu_before, time.perf_counter() - started
        evaluations, plies = after.evaluations - before.evaluations, after.plies - before.plies
        return SliceRates(Rate(evaluations / elapsed, evaluations / cpu_s), Rate(plies / elapsed, plies / cpu_s))

    def evaluation_rate(self, *, seconds: float) -> Rate:
        """Play for `seconds` seconds, whether or not a search ends in them, then wait; the rate of evaluations."""
        with self._let_go():
            before, cpu_before, started = self._selfplay.counts.evaluations, self._cpu_s(), time.perf_counter()
            self._wait(seconds)
            evaluations = self._selfplay.counts.evaluations - before
            cpu_s, elapsed = self._cpu_s() - cpu_before, time.perf_counter() - started
        return Rate(evaluations / elapsed, evaluations / cpu_s)

    def stalls(self, *, seconds: float) -> list[tuple[float, float]]:
        """Change networks repeatedly for `seconds` seconds, at least once.

        Returns, for each change, the excess of the longest time between two evaluations of a thread over the usual
        time, in seconds: around the change, and in an equal time without one.
        """
        spans, until = list[tuple[float, float]](), time.perf_counter() + seconds
        with self._let_go():
            while not spans or time.perf_counter() < until:
                begun = time.perf_counter()
                self._evaluator.update(next(self._checkpoints))
                spans.append((begun, time.perf_counter()))
                self._wait(0.1 + 2 * (spans[-1][1] - begun))
            self._wait(0.1)
        gaps = [gap for times in self._timed.times.values() for gap in itertools.pairwise(times)]
        usual = statistics.median(after - before for before, after in gaps)

        def longest(begin: float, end: float) -> float:
            """The longest time between two evaluations that overlaps this period."""
            return (
                max((after - before for before, after in gaps if before < end and after > begin), default=0.0) - usual
            )

        # A thread uses the new network from its next evaluation on.
        changes = [(begun, ended + 2 * usual) for begun, ended in spans]
        return [(longest(begin, end), longest(end, 2 * end - begin)) for begin, end in changes]

    def _is_paused(self) -> bool:
        """Whether workers wait. Each thread calls this between two batches; for processes, one thread does."""
        if self._must_wait:
            self._waiting.add(threading.get_ident())
        return self._must_wait

    @contextlib.contextmanager
    def _let_go(self) -> Iterator[None]:
        before, self._must_wait = self._selfplay.counts, False
        while self._selfplay.counts == before:
            self._wait(0.005)
        self._wait(0.02)  # longer than the interval of the workers' checks
        yield
        self._waiting.clear()
        self._must_wait = True
        if not self._in_processes:
            while len(self._waiting) < self._num_workers:
                self._wait(0.002)
            return
        while before != self._selfplay.counts:
            before = self._selfplay.counts
            self._wait(0.2)

    def _wait(self, seconds: float) -> None:
        """Sleep; raise the error of self-play if it has failed."""
        with contextlib.suppress(TimeoutError):
            self._playing.result(timeout=seconds)

    def _cpu_s(self) -> float:
        """CPU-seconds of this process and of worker processes."""
        return time.process_time() + self._selfplay.cpu_s


class _Timed:
    """An evaluator that records the times of each thread's answers."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self.times: defaultdict[int, list[float]] = defaultdict(list)

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """As the evaluator's own."""
        evaluations = self._evaluator.evaluate(leaves)
        self.times[threading.get_ident()].append(time.perf_counter())
        return evaluations


def selfplay_process(name: str, overrides: Sequence[str], *, seed: int) -> AbstractContextManager[OtherProcess]:
    """A process with the self-play of `Playing` with these settings."""
    request = {"game": str(GameName.parse(name).absolute()), "overrides": list(overrides), "seed": seed}
    return open_module("zerosum.bench.selfplay_slices", request)


@contextlib.contextmanager
def _begun(game: Rules, config: RunConfig, request: dict[str, Any]) -> Iterator[Callable[[float], Rate]]:
    """Self-play that is warm, as the other side measures it."""
    with Playing(game, config, seed=request["seed"]) as playing:
        playing.warm_up()
        yield lambda seconds: playing.rates(seconds=seconds).evaluations


if __name__ == "__main__":
    answer_with(_begun)
