"""How many games a self-play worker plays at a time: the fewest that keep the evaluator busy, quickly measured.

A batch has one position of each game that a worker plays, so games at a time are the batch size. Small batches are
evaluated slowly, and each batch costs the search something; beyond some size nothing is gained, while every game takes
longer and learning hears of it later. So the smallest size is taken that is within 5 % of the best one's rate. The
answer is kept in the run's directory, `calibration.json`, for the machine that it was measured on.
"""

from __future__ import annotations

import json
import socket
import statistics
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path

from zerosum.base.files import replace_durably, writing
from zerosum.base.settings import num_cores
from zerosum.evaluators import Evaluator, EvaluatorConfig, make_evaluator
from zerosum.evaluators.backends import AUTO
from zerosum.games import Rules
from zerosum.games.rules import Leaves
from zerosum.network import Checkpoint
from zerosum.search import SearchConfig
from zerosum.selfplay.worker import MemoryLog, SelfplayConfig, SelfplayTask, SelfplayWorker

BATCH_SIZES = (16, 32, 64, 128, 256)
GPU_BATCH_SIZES = (64, 128, 256, 512, 1024, 2048, 4096)
Work = Callable[[int], int]
"""What a thread does once; it is given the thread's number and answers how much it did."""

NEARLY = 0.95
"""The share of the best rate that is as good."""

_SLICE_S, _NUM_ROUNDS = 0.04, 5
_MOST_S, _MOST_S_ON_GPU = 1.5, 20.0  # then no other round begins; no larger size is tried after half of it


@dataclass(frozen=True)
class Setup:
    """What a calibration holds for."""

    host: str
    num_cores: int
    num_threads: int
    backend: str
    device: str
    precision: str = "auto"
    """The fields of the evaluator's `EvaluatorConfig`, as asked for."""


@dataclass(frozen=True)
class Calibration:
    """What was measured."""

    setup: Setup
    rates: dict[int, float]
    """By batch size, as `measure_rates` has them."""

    @property
    def batch_size(self) -> int:
        """The smallest with nearly the best rate."""
        return smallest_full(self.rates)

    def __str__(self) -> str:
        share = self.rates[self.batch_size] / max(self.rates.values())
        return f"the fewest that keep the evaluator busy ({share:.0%} of its best rate)"


def batch_sizes(*, on_gpu: bool) -> tuple[int, ...]:
    """Those that are tried, ascending."""
    return GPU_BATCH_SIZES if on_gpu else BATCH_SIZES


def smallest_full(rates: Mapping[int, float]) -> int:
    """Of rates by batch size, the smallest size with nearly the best rate.

    >>> smallest_full({16: 100.0, 32: 150.0, 64: 190.0, 128: 200.0})
    64
    """
    return min(size for size, rate in rates.items() if rate >= NEARLY * max(rates.values()))


def calibrate(
    path: Path,
    game: Rules,
    checkpoint: Checkpoint,
    search: SearchConfig,
    config: SelfplayConfig,
    *,
    num_threads: int,
    evaluator: EvaluatorConfig = AUTO,
    report: Callable[[str], None],
) -> Calibration:
    """The calibration in the file `path` if it holds for this machine, or a new one, which is written there.

    Args:
        path: The file; it need not be there.
        game: The game that is played.
        checkpoint: The network.
        search: How each move is searched.
        config: How games are played.
        num_threads: Threads of this process that play at a time: one, where workers are processes.
        evaluator: How the network is evaluated.
        report: Gets a sentence if the file is damaged.

    Raises:
        RunError: the file cannot be written.
        SettingsError: a backend, device or precision that cannot be used.
    """
    setup = Setup(socket.gethostname(), num_cores(), num_threads, *astuple(evaluator))
    try:
        known = _read(path)
    except FileNotFoundError:
        known = None
    except (ValueError, TypeError, KeyError):
        report(f"{path} is damaged, and what it said is measured anew.")
        known = None
    if known is not None and known.setup == setup:
        return known

    def new_work(size: int) -> Work:
        network = make_evaluator(checkpoint, evaluator, num_threads=num_threads, batch_size=size)
        return playing(game, search, config, network, num_games=size, num_threads=num_threads)

    measured = Calibration(setup, measure_rates(new_work, num_threads=num_threads, on_gpu=evaluator.on_gpu))
    with writing(path.parent):
        replace_durably(path, json.dumps(asdict(measured), indent=2))
    return measured


def _read(path: Path) -> Calibration:
    values = json.loads(path.read_text(encoding="utf-8"))
    rates = {int(size): float(rate) for size, rate in values["rates"].items()}
    if not rates or min(rates.values()) <= 0:
        raise ValueError
    return Calibration(Setup(**values["setup"]), rates)


def measure_rates(new_work: Callable[[int], Work], *, num_threads: int, on_gpu: bool = False) -> dict[int, float]:
    """Evaluations a second by batch size, all threads busy: the median of short slices that alternate.

    Of all threads together on a GPU, else a CPU-second: whatever else runs on the machine does not disturb that much.
    For a network so slow that it would take longer than a second or two, or twenty on a GPU, which gets ready for each
    size, the larger ones are left out.

    Args:
        new_work: For a batch size, work for `Busy` that answers how many positions it evaluated.
        num_threads: Threads that work at a time.
        on_gpu: Whether a GPU evaluates.
    """
    started, most_s = time.perf_counter(), _MOST_S_ON_GPU if on_gpu else _MOST_S
    work: dict[int, Work] = {}
    with Busy(num_threads) as busy:
        for size in batch_sizes(on_gpu=on_gpu):
            if work and time.perf_counter() - started > most_s / 2:
                break
            work[size] = new_work(size)
            busy.rate(work[size], seconds=0)  # the first evaluation of a thread makes what it needs
        slices: dict[int, list[float]] = {size: [] for size in work}
        for number in range(_NUM_ROUNDS):
            if number and time.perf_counter() - started > most_s:
                break
            for size, rates in slices.items():
                rate = busy.rate(work[size], seconds=_SLICE_S)
                rates.append(rate.per_second if on_gpu else rate.per_cpu_second)
    return {size: statistics.median(rates) for size, rates in slices.items()}


@dataclass(frozen=True)
class Rate:
    """How much several threads got done together."""

    per_second: float
    per_cpu_second: float
    """A second of any thread of the process."""


class Busy:
    """Threads that work at the same time, as self-play's do; they stay the same from one measurement to the next."""

    def __init__(self, num_threads: int) -> None:
        self._num_threads = num_threads
        self._pool = ThreadPoolExecutor(num_threads)

    def __enter__(self) -> Busy:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def rate(self, work: Work, *, seconds: float) -> Rate:
        """How much all threads get done; each does its work once or more."""
        start, cpu_started = threading.Barrier(self._num_threads), time.process_time()

        def loop(thread: int) -> tuple[int, float]:
            start.wait()
            done, started = 0, time.perf_counter()
            while True:
                done += work(thread)
                if (elapsed := time.perf_counter() - started) >= seconds:
                    return done, elapsed

        results = list(self._pool.map(loop, range(self._num_threads)))
        cpu_s = time.process_time() - cpu_started
        return Rate(sum(done / elapsed for done, elapsed in results), sum(done for done, _ in results) / cpu_s)


def playing(
    game: Rules, search: SearchConfig, config: SelfplayConfig, evaluator: Evaluator, *, num_games: int, num_threads: int
) -> Work:
    """Work for `Busy`: one batch of self-play of so many games, each thread its own, which nobody keeps.

    Nothing is remembered of the network's answers, so that all work is the same. Answers how many positions were
    evaluated.
    """
    task = SelfplayTask(
        game=game,
        search=replace(search, cache_positions=0),
        config=replace(config, games_per_worker=num_games),
        evaluator=evaluator,
        log=MemoryLog(),
        seed=0,
        settings_hash="",
    )
    workers = [SelfplayWorker(task) for _ in range(num_threads)]

    def work(thread: int) -> int:
        before = workers[thread].counts.evaluations
        workers[thread].play_batch()
        return workers[thread].counts.evaluations - before

    return work


def evaluating(evaluator: Evaluator, leaves: Leaves) -> Work:
    """Work for `Busy`: evaluate the same positions, and answer how many they are."""

    def work(_: int) -> int:
        evaluator.evaluate(leaves)
        return len(leaves)

    return work
