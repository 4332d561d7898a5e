"""The analysis of one position at a time."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from zerosum.bench.figure import ROUNDS, Figure, median_ratio
from zerosum.bench.untrained import evaluator_alone, network_settings, untrained_evaluator
from zerosum.evaluators import Evaluations, Evaluator
from zerosum.games import Rules, State
from zerosum.games.random_play import random_lines, state_of
from zerosum.games.rules import Leaves
from zerosum.play.analysis import Analysis
from zerosum.play.player import LEAVES_A_BATCH, Player
from zerosum.run.config import configured_game, new_config
from zerosum.run.workers import num_selfplay_workers
from zerosum.selfplay.calibration import Busy, Rate


def bench_analyse(game: Rules, name: str, seconds: float, overrides: Sequence[str]) -> Iterator[Figure]:
    """`Player.analyse` by time, of the start position and four of random games, in turns with the evaluator alone.

    An evaluation is distinct if the analysis has not evaluated the position before, as another leaf or after another
    order of moves. A search that ends before its time (it has proven the
    position) counts for as long as it took.
    """
    config = new_config(game, name, overrides=overrides)
    game = configured_game(game, config)
    best, alone = evaluator_alone(game, config)
    workers = num_selfplay_workers(config)
    asked = _Asked(untrained_evaluator(game, config, batch_size=LEAVES_A_BATCH))
    player = Player(game, asked, config.search, name="untrained", num_batches=workers)
    states = [state_of(game, line) for line in ([], *random_lines(game, num=ROUNDS - 1, seed=0))]
    slice_s = seconds / (2 * ROUNDS)
    with Busy(workers) as busy:
        busy.rate(alone, seconds=0)
        player.analyse(num_simulations=100)
        rates, analyses = zip(
            *((busy.rate(alone, seconds=slice_s), _analyse(player, asked, state, slice_s)) for state in states),
            strict=True,
        )
    settings = {**network_settings(config), "positions": len(states), "evaluator_batch_size": best}
    settings |= {"batches_in_flight": workers, "leaves_a_batch": LEAVES_A_BATCH}
    per_second = statistics.median(analysis.simulations.per_second for analysis in analyses)
    per_cpu_second = statistics.median(analysis.simulations.per_cpu_second for analysis in analyses)
    evaluations = statistics.median(analysis.evaluations.per_second for analysis in analyses)
    pairs = [(analysis.evaluations, rate) for rate, analysis in zip(rates, analyses, strict=True)]
    share = median_ratio((ours.per_second, rate.per_second) for ours, rate in pairs)
    settings["share_per_cpu_second"] = median_ratio((ours.per_cpu_second, rate.per_cpu_second) for ours, rate in pairs)
    distinct = statistics.median(analysis.distinct_share for analysis in analyses)
    collisions = statistics.median(found.num_collisions / found.num_leaves for found in (a.found for a in analyses))
    for metric, value, unit in (
        ("seconds_per_1000_simulations", 1000 / per_second, "s"),
        ("simulations_per_second", per_second, "1/s"),
        ("simulations_per_cpu_second", per_cpu_second, "1/s"),
        ("evaluations_per_second", evaluations, "1/s"),
        ("share_of_evaluator", share, ""),
        ("distinct_share", distinct, ""),
        ("collisions_per_leaf", collisions, ""),
    ):
        yield Figure("analyse", name, metric, value, unit, settings)


@dataclass(frozen=True)
class _Analysed:
    """The measurements of one analysis."""

    found: Analysis
    simulations: Rate
    evaluations: Rate
    distinct_share: float
    """Share of distinct evaluations."""


class _Asked:
    """An evaluator that records the evaluated positions."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self.leaves: list[Leaves] = []

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """As the evaluator's own."""
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
    )
