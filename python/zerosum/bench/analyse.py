"""The analysis of one position at a time."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from zerosum.bench.figure import ROUNDS, Figure, median_ratio
from zerosum.bench.one_core import replayed, stamped_search
from zerosum.bench.simulated import SimulatedDevice, SimulatedEvaluator, simulated_device
from zerosum.bench.untrained import evaluator_alone, network_settings, untrained_evaluator
from zerosum.games import Rules, State
from zerosum.games.random_play import random_lines, state_of
from zerosum.games.rules import Leaves
from zerosum.network import Checkpoint
from zerosum.network.evaluators import Evaluations, NetworkEvaluator
from zerosum.network.evaluators.evaluator import CPU_FULL_BATCH
from zerosum.play.analysis import Analysis
from zerosum.play.driver import IN_FLIGHT_SHARE
from zerosum.play.player import Player
from zerosum.run.config import configured_game, new_config
from zerosum.run.workers import num_selfplay_workers
from zerosum.selfplay.calibration import Busy, Rate

LARGEST_BATCH = 4096
"""The batch at which a simulated device is compared."""
NUM_VISITS = 150_000
"""Visits of a search whose thread is timed by itself: about a second of an H100."""


def bench_analyse(
    game: Rules, name: str, seconds: float, overrides: Sequence[str], *, evaluator: str = ""
) -> Iterator[Figure]:
    """`Player.analyse` by time, of the start position and four of random games, in turns with the evaluator alone.

    The player has the batches of any search by time, and is ready before. An evaluation is distinct if the analysis has
    not evaluated the position before, as another leaf or after another order of moves. A search that ends before its
    time (it has proven the position) counts for as long as it took. With a simulated `evaluator` there are no turns:
    its best rate is known.
    """
    config = new_config(game, name, overrides=overrides)
    game = configured_game(game, config)
    workers, device = num_selfplay_workers(config), simulated_device(evaluator) if evaluator else None
    if device is None:
        best, alone = evaluator_alone(game, config)
        asked = _Asked(untrained_evaluator(game, config, batch_size=CPU_FULL_BATCH))
    else:
        best, alone = LARGEST_BATCH, None
        asked = _Asked(SimulatedEvaluator(device))
    player = Player(game, asked, config.search, name="untrained", num_batches=workers)
    states = [state_of(game, line) for line in ([], *random_lines(game, num=ROUNDS - 1, seed=0))]
    slice_s, analyses, rates = seconds / ((2 if alone else 1) * ROUNDS), list[_Analysed](), list[Rate]()
    with Busy(workers) as busy:
        player.make_ready()
        player.analyse(seconds=slice_s / 2)
        if alone:
            busy.rate(alone, seconds=0)
        for state in states:
            if alone:
                rates.append(busy.rate(alone, seconds=slice_s))
            analyses.append(_analyse(player, asked, state, slice_s))
    search = player.config_by_time()
    about = {} if device is None else {"evaluator": evaluator}
    settings = {**network_settings(config), **about, "positions": len(states), "evaluator_batch_size": best}
    settings |= {"batches_in_flight": search.num_batches, "leaves_a_batch": search.leaves_a_batch}
    evaluations = [analysis.evaluations for analysis in analyses]
    if device is None:
        pairs = list(zip(evaluations, rates, strict=True))
        share = median_ratio((ours.per_second, rate.per_second) for ours, rate in pairs)
        per_cpu = median_ratio((ours.per_cpu_second, rate.per_cpu_second) for ours, rate in pairs)
        settings["share_per_cpu_second"] = per_cpu
    else:
        share = statistics.median(ours.per_second for ours in evaluations) / device.rate(best)
    per_second = statistics.median(analysis.simulations.per_second for analysis in analyses)
    per_cpu_second = statistics.median(analysis.simulations.per_cpu_second for analysis in analyses)
    for metric, value, unit in (
        ("seconds_per_1000_simulations", 1000 / per_second, "s"),
        ("simulations_per_second", per_second, "1/s"),
        ("simulations_per_cpu_second", per_cpu_second, "1/s"),
        ("evaluations_per_second", statistics.median(ours.per_second for ours in evaluations), "1/s"),
        ("share_of_evaluator", share, ""),
        ("distinct_share", statistics.median(analysis.distinct_share for analysis in analyses), ""),
        ("collisions_per_leaf", statistics.median(analysis.collisions_per_leaf for analysis in analyses), ""),
        ("mean_batch", statistics.median(analysis.mean_batch for analysis in analyses), ""),
    ):
        yield Figure("analyse", name, metric, value, unit, settings)
    if device is not None:
        yield from _on_one_core(player, name, states, device, settings)


def _on_one_core(
    player: Player, name: str, states: list[State], device: SimulatedDevice, settings: dict[str, Any]
) -> Iterator[Figure]:
    """The share of a simulated device that a search on a core of its own uses, from the first leaf and once warm."""
    stamps = [stamped_search(player, state, num_visits=NUM_VISITS) for state in states]
    search, best = player.config_by_time(), device.rate(LARGEST_BATCH)
    warm = int(search.num_batches * search.leaves_a_batch / IN_FLIGHT_SHARE)
    about = {**settings, "num_visits": NUM_VISITS}
    for metric, leaves in (("share_on_one_core", 0), ("warm_share_on_one_core", warm)):
        share = statistics.median(replayed(each, device, warm_leaves=leaves) for each in stamps) / best
        yield Figure("analyse", name, metric, share, "", about | {"warm_leaves": leaves})


@dataclass(frozen=True)
class _Analysed:
    """The measurements of one analysis."""

    found: Analysis
    simulations: Rate
    evaluations: Rate
    distinct_share: float
    """Share of distinct evaluations."""
    mean_batch: float
    """Leaves of a batch."""

    @property
    def collisions_per_leaf(self) -> float:
        return self.found.num_collisions / self.found.num_leaves


class _Asked(NetworkEvaluator):
    """An evaluator that records the evaluated positions."""

    def __init__(self, evaluator: NetworkEvaluator) -> None:
        self._evaluator = evaluator
        self.leaves: list[Leaves] = []

    @property
    def full_batch(self) -> int:
        """As the evaluator's own; so are the others."""
        return self._evaluator.full_batch

    @property
    def description(self) -> str:
        return self._evaluator.description

    def batch_sizes(self, most: int) -> list[int]:
        return self._evaluator.batch_sizes(most)

    def update(self, checkpoint: Checkpoint, *, planes_BCHW: object = None) -> None:
        self._evaluator.update(checkpoint)

    def evaluate(self, leaves: Leaves) -> Evaluations:
        self.leaves.append(leaves)
        return self._evaluator.evaluate(leaves)


def _analyse(player: Player, asked: _Asked, state: State, seconds: float) -> _Analysed:
    asked.leaves.clear()
    started, cpu_started = time.perf_counter(), time.process_time()
    found = player.analyse(state, seconds=seconds)
    elapsed, cpu_s = time.perf_counter() - started, time.process_time() - cpu_started
    planes = (zip(leaves.packed_planes, leaves.constant_planes, strict=True) for leaves in asked.leaves)
    positions = [(bits.tobytes(), numbers.tobytes()) for rows in planes for bits, numbers in rows]
    return _Analysed(
        found=found,
        simulations=Rate(found.num_simulations / elapsed, found.num_simulations / cpu_s),
        evaluations=Rate(len(positions) / elapsed, len(positions) / cpu_s),
        distinct_share=len(set(positions)) / len(positions),
        mean_batch=len(positions) / len(asked.leaves),
    )
