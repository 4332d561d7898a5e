"""Self-play of small games with few simulations, and the games that it gives."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from games_for_tests import DoubleMove
from logs_for_tests import FinishedLog
from zerosum.games import adopt, make
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations, UniformEvaluator
from zerosum.replay.records import GameRecord
from zerosum.search import SearchConfig
from zerosum.selfplay import SelfplayConfig, SelfplayTask
from zerosum.selfplay.worker import SelfplayWorker

GAMES = {"tictactoe": make("tictactoe"), "connect4": make("connect4"), "double-move": adopt(DoubleMove())}
SEARCH = SearchConfig(num_simulations=12, root_noise_alpha=1.0)
CONFIG = SelfplayConfig(games_per_worker=4, temperature_plies=6, full_search_share=1.0)


class CountingEvaluator(UniformEvaluator):
    """Counts what it is asked, by the size of each batch."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def evaluate(self, leaves: Leaves) -> Evaluations:
        self.sizes.append(len(leaves))
        return super().evaluate(leaves)


def new_task(game: str = "connect4", **changes: Any) -> SelfplayTask:
    values: dict[str, Any] = {
        "game": GAMES[game],
        "search": SEARCH,
        "config": CONFIG,
        "evaluator": UniformEvaluator(),
        "log": FinishedLog(),
        "seed": 7,
        "settings_hash": "abc",
    }
    return SelfplayTask(**values | changes)


def play(task: SelfplayTask, num_games: int, **running: Any) -> tuple[SelfplayWorker, dict[int, GameRecord]]:
    """Play until so many games have ended; they are given by id."""
    worker, records = SelfplayWorker(task, **running), []
    worker.play_until(lambda: len(records) >= num_games, records.append)
    assert len({record.game_id for record in records}) == len(records), "no game ends twice"
    return worker, {record.game_id: record for record in records}


def same(record: GameRecord, other: GameRecord) -> bool:
    return all(np.array_equal(getattr(record, f.name), getattr(other, f.name)) for f in dataclasses.fields(GameRecord))
