"""The replay of a search's CPU time against a device: thread and device wait for each other and for nothing else."""

from __future__ import annotations

import pytest

from zerosum.bench.one_core import Stamp, replayed, stamped_search
from zerosum.bench.simulated import SimulatedDevice, SimulatedEvaluator
from zerosum.games import make
from zerosum.play.player import Player
from zerosum.search import SearchConfig

DEVICE = SimulatedDevice(latency_s=1.0, per_second=10)  # a batch of 10 takes 2 seconds


def two_in_flight(cpu_s: float, num_batches: int) -> list[Stamp]:
    """Batches of 10, each gathered in this CPU time while the one before is evaluated; `apply` costs nothing."""
    stamps = [Stamp(0.0, 0, 10)]
    for number in range(1, num_batches):
        stamps += [Stamp(number * cpu_s, number, 10), Stamp(number * cpu_s, number - 1, 0)]
    return [*stamps, Stamp((num_batches - 1) * cpu_s, num_batches - 1, 0)]


@pytest.mark.parametrize(("cpu_s", "expected"), [(0.5, 5.0), (1.9, 5.0), (4.0, 2.5)])
def test_the_slower_of_thread_and_device_sets_the_rate(cpu_s: float, expected: float) -> None:
    assert replayed(two_in_flight(cpu_s, 400), DEVICE) == pytest.approx(expected, rel=0.01)


def test_the_first_leaves_can_be_left_out() -> None:
    slow_start = [Stamp(0.0, 0, 1), Stamp(100.0, 0, 0)]
    then = [Stamp(100 + stamp.cpu_s, stamp.ticket + 1, stamp.size) for stamp in two_in_flight(0.5, 100)]
    assert replayed(slow_start + then, DEVICE) < 4
    assert replayed(slow_start + then, DEVICE, warm_leaves=1) == pytest.approx(5.0, rel=0.01)


def test_a_search_is_stamped_batch_by_batch() -> None:
    game = make("connect4")
    evaluator = SimulatedEvaluator(SimulatedDevice(latency_s=1e-3, per_second=1e6))
    player = Player(game, evaluator, SearchConfig(root_noise_alpha=1.0), name="x")
    stamps = stamped_search(player, game.initial_state(), num_visits=3000)
    gathered = {stamp.ticket: stamp.size for stamp in stamps if stamp.size}
    assert [stamp.ticket for stamp in stamps if not stamp.size] == list(gathered)  # applied in their order
    assert sorted(stamp.cpu_s for stamp in stamps) == [stamp.cpu_s for stamp in stamps]
    assert 2000 < sum(gathered.values()) <= 3001
    assert max(gathered.values()) > 16  # the rule of the player
