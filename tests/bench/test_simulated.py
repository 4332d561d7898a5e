"""The simulated device: its queue takes the time that its model says, and its names are checked."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from zerosum.base.errors import SettingsError
from zerosum.bench.simulated import PRESETS, SimulatedDevice, SimulatedEvaluator, SimulatedQueue, simulated_device
from zerosum.games import make
from zerosum.games.random_play import random_leaves

H100 = {  # evaluations a second by batch size, of 16 threads; benches/RESULTS.md
    "h100-chess-20x256": dict(
        zip((64, 128, 256, 512, 1024, 2048, 4096), (50e3, 80e3, 102e3, 110e3, 121e3, 129e3, 134e3), strict=True)
    ),
    "h100-go9-6x96": dict(
        zip((64, 128, 256, 512, 1024, 2048, 4096), (98e3, 173e3, 271e3, 428e3, 620e3, 746e3, 828e3), strict=True)
    ),
    "h100-shogi-20x256": {4096: 107e3},
    "h100-go19-20x256": {4096: 25.9e3},
}


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_as_fast_as_what_they_were_fitted_to(name: str) -> None:
    for size, rate in H100[name].items():
        assert PRESETS[name].rate(size) == pytest.approx(rate, rel=0.06), size


def complete(device: SimulatedDevice, sizes: list[int], *, at: list[float] | None = None) -> list[float]:
    queue = SimulatedQueue(device)
    return [queue.completed(size, now=now) for size, now in zip(sizes, at or [0.0] * len(sizes), strict=True)]


def test_batches_wait_for_a_stream_and_for_the_arithmetic() -> None:
    one = SimulatedDevice(latency_s=2.0, per_second=10.0)
    assert complete(one, [10, 20]) == [3.0, 7.0]  # 2 + 1, then 2 + 2 after it
    assert complete(one, [10, 10], at=[0.0, 100.0]) == [3.0, 103.0]
    two = SimulatedDevice(latency_s=2.0, per_second=10.0, num_streams=2)
    # Both latencies pass at once; the second batch's arithmetic follows the first's; the third waits for a stream.
    assert complete(two, [10, 20, 10]) == [3.0, 5.0, 6.0]


@pytest.mark.parametrize("num_streams", [1, 2, 5])
@pytest.mark.parametrize("size", [1, 40, 1000])
def test_the_rate_is_that_of_the_queue_when_it_is_never_empty(num_streams: int, size: int) -> None:
    device = SimulatedDevice(latency_s=0.002, per_second=50_000, num_streams=num_streams)
    done = complete(device, [size] * 500)
    assert 500 * size / done[-1] == pytest.approx(device.rate(size), rel=0.05)


def test_the_evaluator_answers_when_the_device_would_have() -> None:
    now, slept = [100.0], list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    device = SimulatedDevice(latency_s=0.5, per_second=16)
    evaluator = SimulatedEvaluator(device, clock=lambda: now[0], sleep=sleep)
    leaves = random_leaves(make("chess"), 8)
    first, second = evaluator.evaluate(leaves), evaluator.evaluate(leaves)
    assert slept == [1.0, 1.0]
    assert (first.logits != second.logits).any() and (np.abs(first.values) <= 1).all()
    # As sure as a trained network: the best move of some 30 has about a fifth to two fifths.
    first_of_position = np.exp(first.logits[: leaves.legal_offsets[1]])
    assert 0.1 < first_of_position.max() / first_of_position.sum() < 0.6
    evaluator.evaluate(leaves)
    now[0] += 10  # an idle device does not save up
    evaluator.evaluate(leaves)
    assert slept[-1] == 1.0


def test_who_waits_holds_no_lock() -> None:
    evaluator = SimulatedEvaluator(SimulatedDevice(latency_s=0.2, per_second=1e9, num_streams=8))
    leaves = random_leaves(make("connect4"), 4)
    threads = [threading.Thread(target=evaluator.evaluate, args=(leaves,)) for _ in range(8)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.perf_counter() - started < 8 * 0.2  # eight latencies in turn would be more


def test_more_logits_than_the_pool_has_are_given_too() -> None:
    evaluator = SimulatedEvaluator(SimulatedDevice(latency_s=0.0, per_second=1e9))
    leaves = random_leaves(make("go19"), 1)
    many = make("go19").encode([make("go19").initial_state()] * 3000)
    assert many.legal_offsets[-1] > 1 << 20
    assert len(evaluator.evaluate(many).logits) == many.legal_offsets[-1]
    assert len(evaluator.evaluate(leaves).values) == 1


def test_devices_of_ones_own() -> None:
    device = simulated_device("simulated:latency=0.8,rate=140000,streams=3")
    assert device == SimulatedDevice(0.0008, 140_000, 3)
    assert simulated_device("simulated:h100-go9-6x96") == PRESETS["h100-go9-6x96"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("simulated:h100-chess", "unknown simulated device 'h100-chess': did you mean 'h100-chess-20x256'"),
        ("simulated:", "unknown simulated device ''"),
        ("simulated:latency=1", "rate of 'simulated:latency=1' must be positions a second from 1 to"),
        ("simulated:latency=1,rate=0", "must be positions a second from 1 to"),
        ("simulated:latency=1,rate=fast", "must be positions a second from 1 to"),
        ("simulated:latency=1,rate=nan", "must be positions a second from 1 to"),
        ("simulated:latency=-1,rate=5", "latency of .* must be milliseconds from 0 to"),
        ("simulated:latency=1,rate=5,streams=1.5", "streams of .* must be a whole number from 1 to 64"),
        ("simulated:latency=1,rate=5,streams=1000", "streams of .* must be a whole number from 1 to 64"),
        ("simulated:latency=1,speed=5", "unknown part 'speed' of a simulated device"),
    ],
)
def test_a_wrong_device_is_answered_in_a_sentence(text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        simulated_device(text)
