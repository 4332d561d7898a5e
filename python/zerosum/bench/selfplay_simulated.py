"""Self-play with a simulated device: how busy it keeps a GPU, and what it costs the CPU beside one."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from zerosum.bench.figure import ROUNDS, Figure
from zerosum.bench.selfplay_slices import Playing
from zerosum.bench.simulated import SimulatedEvaluator, simulated_device
from zerosum.games import Rules, measure_game
from zerosum.run.config import changed, configured_game, new_config
from zerosum.run.defaults import default_cache
from zerosum.run.workers import num_selfplay_workers

GAMES = 512
"""Games of a worker, unless set."""
LARGEST_BATCH = 4096
"""The batch at which the device's best rate is taken."""


def bench_simulated_selfplay(
    game: Rules, name: str, seconds: float, overrides: Sequence[str], *, evaluator: str
) -> Iterator[Figure]:
    """Self-play of threads that wait for a simulated device, at all stages of a game.

    Workers and games are those of the settings, by default one a core with 512 games; the cache is that of a run on a
    GPU. The CPU time is the program's alone.

    Raises:
        SettingsError: there is no such device.
    """
    device = simulated_device(evaluator)
    as_on_gpu = [
        f"search.cache_positions={default_cache(measure_game(game).plies, on_gpu=True)}",
        "training.workers=threads",
    ]
    config = new_config(game, name, overrides=[*as_on_gpu, *overrides])
    game = configured_game(game, config)
    games = config.selfplay.games_per_worker or GAMES
    config = changed(config, {"selfplay": {"games_per_worker": games}})
    settings = {"evaluator": evaluator, "workers": num_selfplay_workers(config), "games_per_worker": games}
    settings |= {
        "num_simulations": config.search.num_simulations,
        "full_search_share": config.selfplay.full_search_share,
        "cache_positions": config.search.cache_positions,
    }
    with Playing(game, config, evaluator=SimulatedEvaluator(device), is_staggered=True) as play:
        play.evaluation_rate(seconds=seconds / 4)
        rates = [play.evaluation_rate(seconds=0.75 * seconds / ROUNDS) for _ in range(ROUNDS)]
    per_second = statistics.median(rate.per_second for rate in rates)
    per_cpu_second = statistics.median(rate.per_cpu_second for rate in rates)
    yield Figure("selfplay", name, "evaluations_per_second", per_second, "1/s", settings)
    yield Figure("selfplay", name, "evaluations_per_cpu_second", per_cpu_second, "1/s", settings)
    yield Figure("selfplay", name, "share_of_evaluator", per_second / device.rate(LARGEST_BATCH), "", settings)
