"""The network alone: at several batch sizes, on all cores, and beside what its device can do at best."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from zerosum.bench.figure import ROUNDS, Figure, median_ratio
from zerosum.bench.roofline import multiplying
from zerosum.bench.untrained import network_settings, on_gpu, untrained_evaluator
from zerosum.games import Rules
from zerosum.games.random_play import random_leaves
from zerosum.network import NetworkShape
from zerosum.network.weights import num_operations
from zerosum.run.config import configured_game, new_config
from zerosum.run.workers import num_selfplay_workers
from zerosum.selfplay.calibration import Busy, batch_sizes, evaluating


def bench_evaluator(game: Rules, name: str, seconds: float, overrides: Sequence[str]) -> Iterator[Figure]:
    """The network alone, one thread a core, at several batch sizes; its share of the device's roofline.

    And what all cores give over one. The roofline is a large matrix product (`zerosum.bench.roofline`), timed in turns
    with the network at its best batch size, over the operations of one evaluation (`num_operations`).
    """
    config = new_config(game, name, overrides=overrides)
    game = configured_game(game, config)
    sizes = batch_sizes(on_gpu=on_gpu(config))
    threads, slice_s = num_selfplay_workers(config), seconds / (2 * ROUNDS * len(sizes))
    evaluators = {size: untrained_evaluator(game, config, batch_size=size) for size in sizes}
    work = {size: evaluating(evaluators[size], random_leaves(game, size)) for size in sizes}
    settings = {**network_settings(config), "evaluator": evaluators[sizes[0]].description, "threads": threads}
    with Busy(threads) as all_cores, Busy(1) as one_core:
        for size in sizes:
            all_cores.rate(work[size], seconds=0)  # the first evaluation of a thread makes what it needs
        rounds = [{size: all_cores.rate(work[size], seconds=slice_s) for size in sizes} for _ in range(ROUNDS)]
        per_second = {size: statistics.median(rates[size].per_second for rates in rounds) for size in sizes}
        best = max(per_second, key=per_second.__getitem__)
        for size in sizes:
            at = {**settings, "batch_size": size, "is_best": size == best}
            per_cpu_second = statistics.median(rates[size].per_cpu_second for rates in rounds)
            yield Figure("evaluator", name, "evaluations_per_second", per_second[size], "1/s", at)
            yield Figure("evaluator", name, "evaluations_per_cpu_second", per_cpu_second, "1/s", at)
        settings["batch_size"], slice_s = best, seconds / (8 * ROUNDS)
        product = multiplying(settings["evaluator"], all_cores, num_threads=threads)
        operations = num_operations(config.network, NetworkShape.of(game.spec))
        slices = [[all_cores.rate(one, seconds=slice_s) for one in (work[best], product)] for _ in range(ROUNDS)]
        one_core.rate(work[best], seconds=0)
        efficiency = median_ratio(
            (busy.rate(work[best], seconds=slice_s).per_cpu_second for busy in (all_cores, one_core))
            for _ in range(ROUNDS)
        )
    roofline = statistics.median(product.per_second for _, product in slices)
    about = {**settings, "gflop_per_evaluation": operations / 1e9, "gflop_per_second": roofline / 1e9}
    yield Figure("evaluator", name, "roofline_evaluations_per_second", roofline / operations, "1/s", about)
    share = operations * median_ratio((alone.per_second, product.per_second) for alone, product in slices)
    about["per_cpu_second"] = operations * median_ratio((r.per_cpu_second, p.per_cpu_second) for r, p in slices)
    yield Figure("evaluator", name, "share_of_roofline", share, "", about)
    yield Figure("evaluator", name, "core_efficiency", efficiency, "", settings)
