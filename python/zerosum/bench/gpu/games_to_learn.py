"""Positions to learn from, for measurements of the learner: games without a network, cut off where they are."""

from __future__ import annotations

import time
from dataclasses import replace

from zerosum.games import Rules
from zerosum.network.evaluators import UniformEvaluator
from zerosum.replay import ReplayWindow
from zerosum.replay.records import RunningGame
from zerosum.run.config import RunConfig
from zerosum.run.learning import new_window
from zerosum.selfplay import SelfplayTask
from zerosum.selfplay.worker import MemoryLog, SelfplayWorker

NUM_GAMES = 256
NUM_SIMULATIONS = 8


def window_of_games(game: Rules, config: RunConfig, *, seconds: float) -> ReplayWindow:
    """A window with the positions of games at all stages, played for about `seconds` seconds and for one move each."""
    running = dict[int, RunningGame]()
    log = MemoryLog(running)
    task = SelfplayTask(
        game=game,
        search=replace(config.search, num_simulations=NUM_SIMULATIONS, cache_positions=0),
        config=replace(config.selfplay, games_per_worker=NUM_GAMES, full_search_share=1.0, alphabeta_depth=0),
        evaluator=UniformEvaluator(),
        log=log,
        seed=config.training.seed,
        settings_hash="",
        num_staggered=NUM_GAMES,
    )
    worker, window, until = SelfplayWorker(task), new_window(config), time.perf_counter() + seconds
    while time.perf_counter() < until or worker.counts.plies < NUM_GAMES:
        for record in worker.play_batch():
            window.add(record)
    for number in list(running):
        record = log.finish_game(number, outcome=0.0, ending="cut off")
        if record.num_plies:
            window.add(record)
    return window
