"""One search beside a device, on a core of its own, by CPU time: a shared machine gives the figures of a free one.

The search runs with an evaluator that answers at once. Each `gather` and `apply` is stamped with the CPU time that the
calling thread has used, and the stamps are replayed against the queue of a simulated device: the thread advances by the
CPU time that it needed, a batch arrives when it is gathered, and its `apply` waits until the device has completed it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, cast

from zerosum._core import Leaves, Search
from zerosum.bench.simulated import SimulatedDevice, SimulatedEvaluator, SimulatedQueue
from zerosum.games import State
from zerosum.play.driver import SearchDriver, Task
from zerosum.play.player import Player
from zerosum.search import new_search

INSTANT = SimulatedDevice(latency_s=0.0, per_second=1e12)


@dataclass(frozen=True)
class Stamp:
    """A moment in the work of a search's thread."""

    cpu_s: float
    """CPU time of the thread so far."""
    ticket: int
    size: int
    """Leaves of the batch that has just been gathered; 0 if the batch is about to be applied."""


def replayed(stamps: list[Stamp], device: SimulatedDevice, *, warm_leaves: int = 0) -> float:
    """Evaluations per second of a search that waits for a device.

    The first `warm_leaves` leaves are left out, at most half of all.

    >>> device = SimulatedDevice(latency_s=1.0, per_second=10)
    >>> replayed([Stamp(0.0, 0, 10), Stamp(0.5, 0, 0), Stamp(2.0, 1, 10), Stamp(2.0, 1, 0)], device)  # 2 s, 1.5 s, 2 s
    3.6363636363636362
    """
    queue, under_way = SimulatedQueue(device), dict[int, tuple[float, int]]()
    now, cpu_s, leaves, warm = 0.0, stamps[0].cpu_s, 0, (0, 0.0)
    warm_leaves = min(warm_leaves, sum(stamp.size for stamp in stamps) // 2)
    for stamp in stamps:
        now, cpu_s = now + stamp.cpu_s - cpu_s, stamp.cpu_s
        if stamp.size:
            under_way[stamp.ticket] = queue.completed(stamp.size, now=now), stamp.size
            continue
        completed, size = under_way.pop(stamp.ticket)
        now, leaves = max(now, completed), leaves + size
        if leaves <= warm_leaves:
            warm = leaves, now
    return (leaves - warm[0]) / (now - warm[1])


def stamped_search(player: Player, state: State, *, num_visits: int) -> list[Stamp]:
    """The stamps of a search by the player's settings of a search by time."""
    config = player.config_by_time()
    search = new_search(player.game, config)
    search.reset(0, state)
    stamped = _Stamped(search)
    SearchDriver(cast(Search, stamped), SimulatedEvaluator(INSTANT), config).run(Task(num_visits=num_visits))
    return stamped.stamps


class _Stamped:
    """A search that stamps its batches."""

    def __init__(self, search: Search) -> None:
        self._search, self.stamps = search, list[Stamp]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._search, name)

    def gather(self, max_leaves: int) -> Leaves:
        leaves = self._search.gather(max_leaves)
        if len(leaves):
            assert leaves.ticket is not None
            self.stamps.append(Stamp(time.thread_time(), leaves.ticket, len(leaves)))
        return leaves

    def apply(self, ticket: int, *answers: Any, **named: Any) -> None:
        self.stamps.append(Stamp(time.thread_time(), ticket, 0))
        self._search.apply(ticket, *answers, **named)
