"""A GPU of no hardware: an evaluator that takes as long as a device would, and no CPU time.

With it the scheduling around a GPU (workers, batches in flight, one tree's leaves) is measured on any machine, and the
CPU time that remains is the program's own. `simulated:h100-chess-20x256` names a preset,
`simulated:latency=0.8,rate=140000,streams=2` a device of one's own.

The model is a queue. A batch of n waits for the first free stream, stays there for the latency, then takes n / rate of
the device's arithmetic, which all streams share. So one stream evaluates n / (latency + n / rate) positions a second,
and several hide the latency behind the arithmetic of others.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from zerosum._core import Leaves
from zerosum.base.errors import SettingsError, nearest, shown
from zerosum.bench.trained_like import TOP_PRIORS, VALUE_SPREAD
from zerosum.network import Checkpoint
from zerosum.network.evaluators import Evaluations, NetworkEvaluator

PREFIX = "simulated:"
MOST_STREAMS = 64
MOST_FULL_BATCH = 1024


@dataclass(frozen=True)
class SimulatedDevice:
    """The speed of a device with a network."""

    latency_s: float
    """Seconds of a batch besides its arithmetic, in its stream."""
    per_second: float
    """Positions a second at infinite batch size."""
    num_streams: int = 1

    def rate(self, batch_size: int) -> float:
        """Positions a second with every stream busy with batches of this size.

        >>> round(PRESETS["h100-chess-20x256"].rate(4096), -3)
        136000.0
        """
        of_streams = self.num_streams * batch_size / (self.latency_s + batch_size / self.per_second)
        return min(of_streams, self.per_second)

    @property
    def full_batch(self) -> int:
        """The smallest power of 2 with nine tenths of the best rate, at most `MOST_FULL_BATCH`."""
        sizes = (1 << power for power in range(MOST_FULL_BATCH.bit_length()))
        return next((size for size in sizes if self.rate(size) >= 0.9 * self.per_second), MOST_FULL_BATCH)


PRESETS = {
    # Fitted to the rates of 16 threads at batches of 64 to 4,096, within 6 % at each (benches/RESULTS.md). The latency
    # of the large networks for shogi and Go is that of chess.
    "h100-chess-20x256": SimulatedDevice(latency_s=0.76e-3, per_second=139_000),
    "h100-shogi-20x256": SimulatedDevice(latency_s=0.76e-3, per_second=109_200),
    "h100-go19-20x256": SimulatedDevice(latency_s=0.76e-3, per_second=26_000),
    "h100-go9-6x96": SimulatedDevice(latency_s=0.62e-3, per_second=923_000),
}
"""Measured devices: GPU, game, blocks x filters."""


def simulated_device(text: str) -> SimulatedDevice:
    """The device of `simulated:NAME` or `simulated:latency=MILLISECONDS,rate=PER_SECOND[,streams=NUMBER]`.

    >>> simulated_device("simulated:latency=0.5,rate=100000").rate(50)
    50000.0

    Raises:
        SettingsError: no such preset, or a number is missing or out of range.
    """
    words = text.removeprefix(PREFIX)
    if "=" not in words:
        if words not in PRESETS:
            raise SettingsError(
                f"unknown simulated device {shown(words)}{nearest(words, PRESETS)}. A device of your own:"
                f" {PREFIX}latency=MILLISECONDS,rate=PER_SECOND,streams=NUMBER."
            )
        return PRESETS[words]
    values = {"latency": math.nan, "rate": math.nan, "streams": 1.0}
    for pair in words.split(","):
        name, _, number = pair.partition("=")
        if name not in values:
            raise SettingsError(f"unknown part {shown(name)} of a simulated device{nearest(name, values)}.")
        try:
            values[name] = float(number)
        except ValueError:
            values[name] = math.nan
    for name, low, high, unit in (
        ("latency", 0.0, 1e4, "milliseconds from 0 to 10,000"),
        ("rate", 1.0, 1e12, "positions a second from 1 to 10^12"),
        ("streams", 1.0, float(MOST_STREAMS), f"a whole number from 1 to {MOST_STREAMS}"),
    ):
        if not low <= values[name] <= high or (name == "streams" and values[name] % 1):
            raise SettingsError(f"{name} of {shown(text)} must be {unit}.")
    return SimulatedDevice(values["latency"] / 1000, values["rate"], int(values["streams"]))


class SimulatedQueue:
    """The times at which a device completes its batches."""

    def __init__(self, device: SimulatedDevice) -> None:
        self._device, self._lock = device, threading.Lock()
        self._stream_free = [0.0] * device.num_streams
        self._arithmetic_free = 0.0

    def completed(self, size: int, *, now: float) -> float:
        """When a batch of `size` that arrives now is complete, in seconds of the caller's clock."""
        with self._lock:
            stream = min(range(len(self._stream_free)), key=self._stream_free.__getitem__)
            begun = max(now, self._stream_free[stream]) + self._device.latency_s
            done = max(begun, self._arithmetic_free) + size / self._device.per_second
            self._arithmetic_free = self._stream_free[stream] = done
            return done


class SimulatedEvaluator(NetworkEvaluator):
    """Answers as sure as a trained network's (`trained_like`), drawn at random, when the device would have them.

    The thread that waits holds no lock. Equal positions get different answers.
    """

    _NUM_LOGITS, _NUM_VALUES, _RANKED = 1 << 20, 1 << 16, 32

    def __init__(
        self,
        device: SimulatedDevice,
        *,
        seed: int = 0,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`clock` and `sleep` are those of the machine; tests have their own."""
        generator = np.random.default_rng(seed)
        num_groups = self._NUM_LOGITS // self._RANKED
        ranks = generator.permuted(np.tile(np.arange(self._RANKED), (num_groups, 1)), axis=1)
        shares = generator.uniform(*TOP_PRIORS, size=(num_groups, 1))
        self._logits = (ranks * np.log1p(-shares)).astype(np.float32).ravel()
        values = generator.normal(scale=VALUE_SPREAD, size=self._NUM_VALUES)
        self._values = np.clip(values, -1, 1).astype(np.float32)
        self._queue, self._clock, self._sleep = SimulatedQueue(device), clock, sleep
        self._device, self._drawn = device, 0

    @property
    @override
    def description(self) -> str:
        return f"simulated, {self._device.num_streams} streams, {self._device.per_second:,.0f}/s"

    @property
    @override
    def full_batch(self) -> int:
        return self._device.full_batch

    @override
    def update(self, checkpoint: Checkpoint, *, planes_BCHW: object = None) -> None:
        """Do nothing: there is no network."""

    @override
    def evaluate(self, leaves: Leaves) -> Evaluations:
        arrived, size, num_logits = self._clock(), len(leaves), int(leaves.legal_offsets[-1])
        done = self._queue.completed(size, now=arrived)
        self._drawn = drawn = (self._drawn + 0x9E3779B1) % (1 << 32)
        logits = _drawn(self._logits, num_logits, drawn)
        evaluations = Evaluations(leaves, logits, _drawn(self._values, size, drawn))
        self._sleep(max(done - self._clock(), 0.0))
        return evaluations


def _drawn(pool: NDArray[np.float32], number: int, at: int) -> NDArray[np.float32]:
    """`number` of the pool's elements in a row, from a place that depends on `at`."""
    if number >= len(pool):
        return np.resize(pool, number)
    start = at % (len(pool) - number)
    return pool[start : start + number]
