"""Self-play beside the evaluator alone, and what a second core gives."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from zerosum.bench.figure import ROUNDS, Figure, median_ratio
from zerosum.bench.selfplay_slices import Playing
from zerosum.bench.speed_up import speed_ups
from zerosum.bench.untrained import evaluator_alone, network_settings, on_gpu, untrained_checkpoint
from zerosum.games import Rules, measure_game
from zerosum.run.config import configured_game, new_config
from zerosum.run.run_plan import RunPlan
from zerosum.run.workers import measured, num_selfplay_workers, plays_in_processes
from zerosum.selfplay.calibration import Busy

SIMULATIONS_A_MOVE = 800
"""Simulations per move for the calculated seconds of a game (as in the paper)."""


def bench_selfplay(game: Rules, name: str, seconds: float, overrides: Sequence[str]) -> Iterator[Figure]:
    """Self-play with an untrained network, in turns with the evaluator alone, at its best batch size on the same cores.

    Only positions that the network evaluates count, without empty rows of a batch and without results of the rules. The
    seconds of a game are calculated for all workers together, with 800 simulations per move, each with an evaluation
    (caches save some), and with the length of random games. Then, on a CPU with several cores, the speed-up of several
    cores over one is measured.
    """
    config = new_config(game, name, overrides=overrides)
    game = configured_game(game, config)
    with tempfile.TemporaryDirectory() as directory:
        config, _ = measured(RunPlan(Path(directory), game, config), untrained_checkpoint(game, config), report=print)
    workers, in_processes = num_selfplay_workers(config), plays_in_processes(config, game)
    num_games = config.selfplay.games_per_worker
    best, alone = evaluator_alone(game, config)
    slice_s = seconds / (6 * ROUNDS)
    settings = {
        **network_settings(config),
        "workers": f"{workers} {'processes' if in_processes else 'threads'}",
        "games_per_worker": num_games,
        "num_simulations": config.search.num_simulations,
        "full_search_share": config.selfplay.full_search_share,
    }
    with Busy(workers) as busy, Playing(game, config) as playing:
        busy.rate(alone, seconds=0)
        playing.warm_up()
        slices = [(busy.rate(alone, seconds=slice_s), playing.rates(seconds=slice_s)) for _ in range(ROUNDS)]
        per_second = statistics.median(played.evaluations.per_second for _, played in slices)
        for metric, value in (
            ("evaluations_per_second", per_second),
            ("evaluations_per_cpu_second", statistics.median(p.evaluations.per_cpu_second for _, p in slices)),
            ("positions_per_second", statistics.median(played.plies.per_second for _, played in slices)),
        ):
            yield Figure("selfplay", name, metric, value, "1/s", settings)
        about = {
            "evaluator_batch_size": best,
            "per_cpu_second": median_ratio((p.evaluations.per_cpu_second, rate.per_cpu_second) for rate, p in slices),
        }
        share = median_ratio((played.evaluations.per_second, rate.per_second) for rate, played in slices)
        yield Figure("selfplay", name, "share_of_evaluator", share, "", settings | about)
        plies = measure_game(game).plies
        about = {"simulations_a_move": SIMULATIONS_A_MOVE, "plies": plies}
        seconds_per_game = SIMULATIONS_A_MOVE * plies / per_second
        yield Figure("selfplay", name, "seconds_per_game", seconds_per_game, "s", settings | about)
        if not in_processes:
            yield _swap_stall(playing.stalls(seconds=seconds / 6), name, settings)
        if workers > 1 and not on_gpu(config):
            for metric, value in speed_ups(game, config, overrides, playing, slice_s=slice_s):
                yield Figure("selfplay", name, metric, value, "", settings)


def _swap_stall(stalls: list[tuple[float, float]], name: str, settings: dict[str, Any]) -> Figure:
    """The time that a change of networks delays a thread."""
    with_update, without = (sorted(1000 * seconds for seconds in column) for column in zip(*stalls, strict=True))
    about = {"updates": len(stalls), "worst": with_update[-1], "without_an_update": statistics.median(without)}
    return Figure("selfplay", name, "swap_stall_ms", statistics.median(with_update), "ms", settings | about)
