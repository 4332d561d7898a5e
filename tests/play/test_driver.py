"""Leaves in flight of a search by time: as many as the device needs, and a small share of the visits. Its progress."""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from zerosum.contest.time_manager import Progress
from zerosum.games import make
from zerosum.games.rules import Leaves
from zerosum.network import Checkpoint
from zerosum.network.evaluators import Evaluations, NetworkEvaluator, UniformEvaluator
from zerosum.network.evaluators.evaluator import CPU_FULL_BATCH
from zerosum.play.contestant import SearchContestant
from zerosum.play.driver import IN_FLIGHT_SHARE, SearchDriver, Task, batch_size, progress_of
from zerosum.play.player import BATCHES_ON_GPU, Player
from zerosum.play.search_mover import SearchMover
from zerosum.search import SearchConfig, new_search

SEARCH = SearchConfig(root_noise_alpha=1.0)


class Device(NetworkEvaluator):
    """A device that is full at some batch, and records the sizes that it is asked for."""

    def __init__(self, full_batch: int, *, most_useful: int = 1 << 20) -> None:
        self._full_batch, self._most_useful = full_batch, most_useful
        self.sizes, self._lock = list[int](), threading.Lock()

    @property
    @override
    def full_batch(self) -> int:
        return self._full_batch

    @property
    @override
    def description(self) -> str:
        return "a device, of no hardware, f32"

    @override
    def batch_sizes(self, most: int) -> list[int]:
        return [1 << power for power in range(most.bit_length())]

    @override
    def update(self, checkpoint: Checkpoint, *, planes_BCHW: object = None) -> None:
        raise AssertionError("no network is replaced here")

    @override
    def evaluate(self, leaves: Leaves) -> Evaluations:
        with self._lock:
            self.sizes.append(len(leaves))
        generator = np.random.default_rng(len(self.sizes))
        num_logits = int(leaves.legal_offsets[-1])
        logits = generator.normal(size=num_logits).astype(np.float32)
        return Evaluations(leaves, logits, generator.uniform(-0.3, 0.3, len(leaves)).astype(np.float32))


@given(st.integers(1, 4096), st.integers(1, 16), st.integers(0, 10**7))
def test_a_batch_is_a_share_of_the_tree(leaves: int, batches: int, visits: int) -> None:
    config = SearchConfig(leaves_in_flight=leaves, batches_in_flight=batches)
    size = batch_size(config, visits)
    assert 1 <= size <= config.leaves_a_batch
    assert size <= CPU_FULL_BATCH or size * config.num_batches <= IN_FLIGHT_SHARE * visits
    assert batch_size(config, visits + 1) >= size
    if config.leaves_a_batch <= CPU_FULL_BATCH:
        assert size == config.leaves_a_batch  # a CPU's batches are always the same


def test_a_gpus_search_grows_its_batches_with_its_tree() -> None:
    game, device = make("chess"), Device(256)
    player = Player(game, device, replace(SEARCH, cache_positions=1000), name="x", num_batches=8)
    config = player.config_by_time()
    assert (config.num_batches, config.leaves_a_batch) == (BATCHES_ON_GPU, 256)
    assert config.cache_positions == 0
    search = new_search(game, config)
    found = SearchDriver(search, device, config).run(Task(num_visits=12_000))
    visits = 0
    for size in device.sizes:
        assert size <= max(CPU_FULL_BATCH, visits * IN_FLIGHT_SHARE / BATCHES_ON_GPU)
        visits += size
    assert found.num_leaves == visits and max(device.sizes) == 256
    # A tree that was kept from an earlier search has large batches at once.
    device.sizes.clear()
    SearchDriver(search, device, config).run(Task(num_visits=found.num_visits + 1_000))
    assert max(device.sizes[:2]) > 128


def test_a_cpus_search_is_as_it_was() -> None:
    game, device = make("connect4"), Device(CPU_FULL_BATCH)
    player = Player(game, device, replace(SEARCH, cache_positions=1000), name="x", num_batches=3)
    config = player.config_by_time()
    assert (config.num_batches, config.leaves_a_batch, config.cache_positions) == (3, CPU_FULL_BATCH, 1000)
    player.make_ready()
    assert sorted(device.sizes) == [size for size in (1, 2, 4, 8, 16) for _ in range(3)]


def test_everyone_who_searches_has_the_devices_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    game, device, now = make("chess"), Device(512), itertools.count()
    monkeypatch.setattr("zerosum.play.player.time.perf_counter", lambda: next(now))  # all batches take equally long
    mover = SearchMover(game, SearchContestant("x", device, SEARCH), num_boards=2)
    assert mover._config.leaves_in_flight == BATCHES_ON_GPU * 512
    # All sizes up to the largest were evaluated before the clock ran.
    assert {1 << power for power in range(10)} <= set(device.sizes)
    player = Player(game, device, SEARCH, name="x")
    assert player.judged_by(device, SEARCH).config_by_time().leaves_in_flight == 1024
    assert player.judged_by(UniformEvaluator(), SEARCH).config_by_time().leaves_in_flight == 16


def test_a_batch_is_no_larger_than_the_device_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that runs by the sizes evaluated: this device is full at 128 leaves."""
    device, passed = Device(1024), [0.0]

    class Clocked(Device):
        @override
        def evaluate(self, leaves: Leaves) -> Evaluations:
            with self._lock:
                passed[0] += 1e-3 + max(len(leaves) - 128, 0) * 1e-3
            return super().evaluate(leaves)

    monkeypatch.setattr("zerosum.play.player.time.perf_counter", lambda: passed[0])
    device = Clocked(1024)
    player = Player(make("connect4"), device, SEARCH, name="x")
    player.make_ready()
    assert player.config_by_time().leaves_a_batch == 128
    assert max(device.sizes) == 256  # larger ones were not even tried
    assert player.judged_by(device, SEARCH).config_by_time().leaves_a_batch == 128


def test_progress_is_read_from_the_root_of_a_search() -> None:
    """The best move need not be the one with the best value, and visits of a reused tree are no simulations of now."""
    root: Any = SimpleNamespace(
        actions=np.array([2, 5, 9]), visits=np.array([4, 7, 6]), q=np.array([0.1, 0.3, np.nan]), best_action=5
    )
    root.num_simulations, root.num_reused = 17, 5
    expected = Progress(
        best_action=5, best_visits=7, second_visits=6, is_best_by_value=True, num_moves=3, num_simulations=12
    )
    assert progress_of(root) == expected
    root.q[0] = 0.4
    assert progress_of(root) == replace(expected, is_best_by_value=False)
    root.actions, root.visits, root.q = np.array([5]), np.array([17]), np.array([-0.2])
    assert progress_of(root) == replace(expected, best_visits=17, second_visits=0, num_moves=1)
