"""The number of games that a self-play worker plays at a time, and on a GPU the number of workers, by measurement.

They are the fewest that keep the evaluator busy. A batch has one position of each of a worker's games, so the number of
games is the batch size. Small batches are evaluated slowly, and each batch has a fixed cost in the search; beyond some
size there is no gain, while every game takes longer and reaches the learner later. The smallest size within 5 % of the
best rate is chosen. On a CPU there is a worker for each core; on a GPU some workers walk their trees while the batches
of others are evaluated. The result is kept in the run's directory, `calibration.json`, for the machine that it was
measured on.
"""

from __future__ import annotations

import json
import socket
import statistics
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, astuple, dataclass, field, replace
from pathlib import Path

from zerosum.base.files import MOST_NOTE_BYTES, read_text, replace_durably, writing
from zerosum.base.settings import num_cores
from zerosum.games import Rules
from zerosum.games.rules import Leaves
from zerosum.network import Checkpoint
from zerosum.network.evaluators import Evaluator, EvaluatorConfig, make_evaluator
from zerosum.network.evaluators.backends import AUTO
from zerosum.search import SearchConfig
from zerosum.selfplay.config import SelfplayConfig
from zerosum.selfplay.worker import MemoryLog, SelfplayTask, SelfplayWorker

BATCH_SIZES = (16, 32, 64, 128, 256)
GPU_BATCH_SIZES = (64, 128, 256, 512, 1024, 2048, 4096)
MOST_WORKERS_FOR_SIZES = 8
"""Workers with which the batch sizes are measured on a GPU, if there are as many cores; then follow their numbers."""
Work = Callable[[int], int]
"""One unit of a thread's work; takes the thread's number and returns how much was done."""

NEARLY = 0.95
"""The share of the best rate that counts as equally good."""

_SLICE_S, _NUM_ROUNDS = 0.04, 5
_MOST_S, _MOST_S_ON_GPU = 1.5, 20.0  # then no other round begins; no larger size is tried after half of it
_GPU_SLICE_S, _NUM_GPU_SLICES = 0.15, 3


@dataclass(frozen=True)
class Setup:
    """The machine and the settings that a calibration is valid for."""

    host: str
    num_cores: int
    num_threads: int | None
    """Workers in one process; None if their number is measured, too."""
    num_games: int | None
    """Games of a worker, if they are set."""
    backend: str
    device: str
    precision: str = "auto"
    symmetry_seed: int | None = None
    leaf_values: str = "network"
    rollout_seed: int = 0
    """The fields of the evaluator's `EvaluatorConfig`, as asked for."""


@dataclass(frozen=True)
class Calibration:
    """The measured rates of a setup."""

    setup: Setup
    rates: dict[int, float]
    """Evaluations per second by batch size (`measure_rates`)."""
    worker_rates: dict[int, float] = field(default_factory=dict)
    """Evaluations per second by number of workers, with this batch size; empty if the number was given."""

    @property
    def batch_size(self) -> int:
        """The smallest batch size with nearly the best rate."""
        return smallest_full(self.rates)

    @property
    def num_workers(self) -> int | None:
        """The smallest number of workers with nearly the best rate, if it was measured."""
        return smallest_full(self.worker_rates) if self.worker_rates else None

    @property
    def pair_rates(self) -> dict[tuple[int, int], float]:
        """Evaluations per second on a GPU of each measured pair: the number of workers, and of games of each."""
        num_threads = workers_for_sizes(self.setup)
        by_size = {(num_threads, size): rate for size, rate in self.rates.items()}
        return by_size | {(workers, self.batch_size): rate for workers, rate in self.worker_rates.items()}

    def __str__(self) -> str:
        rates = self.worker_rates or self.rates
        share = rates[smallest_full(rates)] / max(rates.values())
        return f"the fewest that keep the evaluator busy ({share:.0%} of its best rate)"


def batch_sizes(*, on_gpu: bool) -> tuple[int, ...]:
    """The batch sizes that are tried, ascending."""
    return GPU_BATCH_SIZES if on_gpu else BATCH_SIZES


def smallest_full(rates: Mapping[int, float]) -> int:
    """The smallest batch size with nearly the best rate.

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
    num_threads: int | None,
    evaluator: EvaluatorConfig = AUTO,
    report: Callable[[str], None],
) -> Calibration:
    """The calibration in the file `path` if it is valid here, or a new one, which is written there.

    Args:
        path: The file; it need not exist.
        game: The game that is played.
        checkpoint: The network.
        search: How each move is searched.
        config: How games are played; the number of games of a worker is measured unless it is set.
        num_threads: Threads of this process that play at a time; one if workers are processes. None measures their
            number, too, on a GPU.
        evaluator: How the network is evaluated.
        report: Receives a message if the file is damaged.

    Raises:
        RunError: the file cannot be written.
        SettingsError: the backend, device or precision cannot be used.
    """
    setup = Setup(socket.gethostname(), num_cores(), num_threads, config.games_per_worker, *astuple(evaluator))
    try:
        known = _read(path)
    except FileNotFoundError:
        known = None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        report(f"{path} is damaged, and is measured again.")
        known = None
    if known is not None and known.setup == setup:
        return known

    if evaluator.on_gpu:
        measured = _measured_on_gpu(setup, game, checkpoint, search, config, evaluator)
    else:
        assert num_threads is not None

        def new_work(size: int) -> Work:
            network = make_evaluator(checkpoint, evaluator, num_threads=num_threads, batch_size=size, game=game)
            return playing(game, search, config, network, num_games=size, num_threads=num_threads)

        measured = Calibration(setup, measure_rates(new_work, num_threads=num_threads))
    with writing(path.parent):
        replace_durably(path, json.dumps(asdict(measured), indent=2))
    return measured


def _measured_on_gpu(
    setup: Setup,
    game: Rules,
    checkpoint: Checkpoint,
    search: SearchConfig,
    config: SelfplayConfig,
    evaluator: EvaluatorConfig,
) -> Calibration:
    """Rates by batch size, then, with the best one, by number of workers, as far as they are not set."""
    num_threads = workers_for_sizes(setup)
    # Each of several workers has a batch: none needs the largest one.
    sizes = GPU_BATCH_SIZES[:-1] if setup.num_games is None else (setup.num_games,)
    # All share one evaluator, as they will, and so the graphs that it has captured.
    network = make_evaluator(checkpoint, evaluator, num_threads=num_threads, batch_size=max(sizes), game=game)

    def new_work(size: int, threads: int) -> Work:
        return playing(game, search, config, network, num_games=size, num_threads=threads)

    rates = rates_one_by_one(sizes, lambda size: (new_work(size, num_threads), num_threads))
    if setup.num_threads is not None:
        return Calibration(setup, rates)
    size = smallest_full(rates)
    return Calibration(setup, rates, rates_one_by_one(worker_counts(num_cores()), lambda n: (new_work(size, n), n)))


def workers_for_sizes(setup: Setup) -> int:
    """The number of workers with which batch sizes are measured on a GPU."""
    return setup.num_threads or min(setup.num_cores, MOST_WORKERS_FOR_SIZES)


def worker_counts(num_cores: int) -> list[int]:
    """The numbers of workers that are tried on a GPU, ascending: up to two a core, since one of them waits.

    >>> worker_counts(1), worker_counts(2), worker_counts(16)
    ([1, 2], [2, 3, 4], [2, 4, 8, 12, 16, 24, 32])
    """
    shares = (num_cores * eighths // 8 for eighths in (1, 2, 4, 6, 8, 12, 16))
    return sorted({max(number, min(num_cores, 2)) for number in shares})


def rates_one_by_one(
    candidates: Sequence[int], new_work: Callable[[int], tuple[Work, int]], *, most_s: float = _MOST_S_ON_GPU / 2
) -> dict[int, float]:
    """Evaluations per second of each candidate, in ascending order, each for half a second.

    It ends with the first one that is clearly slower than the best before it, and after `most_s` seconds.

    Args:
        candidates: Numbers, ascending.
        new_work: Returns, for a candidate, work for `Busy` and its number of threads. Only one has memory at a time.
        most_s: No further candidate is begun later.
    """
    started, rates = time.perf_counter(), dict[int, float]()
    for candidate in candidates:
        if rates and (
            time.perf_counter() - started > most_s or list(rates.values())[-1] < NEARLY * max(rates.values())
        ):
            break
        work, num_threads = new_work(candidate)
        with Busy(num_threads) as busy:
            for _ in range(2):
                busy.rate(work, seconds=0)  # a thread's first evaluation captures a graph
            slices = [busy.rate(work, seconds=_GPU_SLICE_S).per_second for _ in range(_NUM_GPU_SLICES)]
        rates[candidate] = statistics.median(slices)
    return rates


def _read(path: Path) -> Calibration:
    values = json.loads(read_text(path, most_bytes=MOST_NOTE_BYTES))
    setup = Setup(**values["setup"])
    rates, worker_rates = (
        {int(number): float(rate) for number, rate in values[name].items()} for name in ("rates", "worker_rates")
    )
    known = {*BATCH_SIZES, *GPU_BATCH_SIZES, setup.num_games}
    if not rates or min([*rates.values(), *worker_rates.values()]) <= 0 or not rates.keys() <= known:
        raise ValueError
    if not worker_rates.keys() <= set(worker_counts(setup.num_cores)):
        raise ValueError
    return Calibration(setup, rates, worker_rates)


def measure_rates(new_work: Callable[[int], Work], *, num_threads: int, on_gpu: bool = False) -> dict[int, float]:
    """Evaluations per second by batch size with all threads busy: the median of short alternating slices.

    The rate is per second on a GPU, else per CPU-second, which other programs disturb less. For a network so slow that
    measuring would take longer than a second or two (twenty on a GPU, which prepares for each size), larger sizes are
    left out.

    Args:
        new_work: Returns, for a batch size, work for `Busy` that counts evaluated positions.
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
            busy.rate(work[size], seconds=0)  # a thread's first evaluation allocates its buffers
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
    """The rate of several threads together."""

    per_second: float
    per_cpu_second: float
    """The rate per CPU-second of the process."""


class Busy:
    """Threads that work at the same time, like self-play's, and are reused for all measurements."""

    def __init__(self, num_threads: int) -> None:
        self._num_threads = num_threads
        self._pool = ThreadPoolExecutor(num_threads)

    def __enter__(self) -> Busy:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def rate(self, work: Work, *, seconds: float) -> Rate:
        """The rate of all threads; each does its work at least once."""
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
    """Work for `Busy`: one batch of self-play with `num_games` games per thread, which are not kept.

    The evaluation cache is off, so that all work is the same, and the network plays from the beginning. Returns the
    number of positions evaluated.
    """
    task = SelfplayTask(
        game=game,
        search=replace(search, cache_positions=0),
        config=replace(config, games_per_worker=num_games, alphabeta_depth=0),
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
    """Work for `Busy`: evaluate the same positions and return their number."""

    def work(_: int) -> int:
        evaluator.evaluate(leaves)
        return len(leaves)

    return work
