"""Self-play that a teacher begins: whose games they are, when the network takes over, and games in flight."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from updatable_for_tests import random_updatable
from zerosum.games import make
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations
from zerosum.network.evaluators.updatable import UpdatableEvaluator
from zerosum.replay.records import GameRecord, PlyFlag
from zerosum.search import SearchConfig
from zerosum.selfplay import SelfplayConfig, SelfplayThreads
from zerosum.selfplay.alpha_beta_worker import AlphaBetaWorker
from zerosum.selfplay.playing_network import PlayingNetwork
from zerosum.selfplay.taught_worker import TaughtWorker
from zerosum.selfplay.worker import MemoryLog, SelfplayTask

GAME = make("minichess(history=1)")
TEACHER = UpdatableEvaluator(random_updatable(GAME, seed=3), GAME)


class Uniform:
    """An evaluator without an opinion, which counts its batches."""

    def __init__(self) -> None:
        self.num_batches = 0

    def evaluate(self, leaves: Leaves) -> Evaluations:
        self.num_batches += 1
        return Evaluations(
            leaves, np.zeros(int(leaves.legal_offsets[-1]), np.float32), np.zeros(len(leaves), np.float32)
        )


def task_of(progress: Callable[[], float] = lambda: 0.0, evaluator: Uniform | None = None) -> SelfplayTask:
    return SelfplayTask(
        game=GAME,
        search=SearchConfig(num_simulations=4, root_noise_alpha=1.0),
        config=SelfplayConfig(games_per_worker=4, teacher_share=0.2, alphabeta_share=0.5, alphabeta_nodes=30),
        evaluator=evaluator or Uniform(),
        log=MemoryLog(),
        seed=5,
        settings_hash="",
        game_ids=itertools.count(),
        network=lambda: PlayingNetwork(3, progress()),
        teacher=TEACHER,
    )


def is_taught(record: GameRecord) -> bool:
    return bool((record.plies["flags"] & int(PlyFlag.RECORDED)).any())


def test_the_teacher_s_games_are_those_of_its_search() -> None:
    """As an updatable run with this network plays them, each from an opening."""
    games: list[GameRecord] = []
    TaughtWorker(task_of()).play_until(lambda: len(games) >= 6, games.append)
    alone: list[GameRecord] = []
    openings = replace(task_of().config, opening_share=1.0)
    worker = AlphaBetaWorker(replace(task_of(), evaluator=TEACHER, teacher=None, config=openings))
    worker.play_until(lambda: len(alone) >= 6, alone.append)
    assert [game.plies["action"].tolist() for game in games] == [game.plies["action"].tolist() for game in alone]
    for game in games:
        assert is_taught(game)
        assert game.ply(0).flags & PlyFlag.OPENING
        assert set(game.plies["checkpoint_step"].tolist()) <= {0, 3}


def test_the_network_takes_over_after_the_teacher_s_game() -> None:
    progress, evaluator, games = [0.0], Uniform(), list[GameRecord]()
    worker = TaughtWorker(task_of(lambda: progress[0], evaluator))
    worker.play_until(lambda: len(games) >= 3, games.append)
    worker.play_batch()
    progress[0] = 0.5
    worker.play_until(lambda: len(games) >= 8, games.append)
    assert evaluator.num_batches
    assert [is_taught(game) for game in games[:8]] == [True] * 4 + [False] * 4
    assert sorted(game.game_id for game in games)[:4] == [0, 1, 2, 3]
    assert worker.counts.games == len(games)
    assert worker.counts.evaluations > worker.counts.simulations > 0


def test_games_in_flight_go_on() -> None:
    """Those of a teacher by the teacher, or by the network if its turn has come."""
    interrupted = task_of()
    worker, games = TaughtWorker(interrupted), list[GameRecord]()
    worker.play_until(lambda: len(games) >= 2, games.append)
    worker.play_batch()
    assert isinstance(interrupted.log, MemoryLog)
    assert list(interrupted.log._running) == [2]
    num_plies = len(interrupted.log._running[2].plies)
    for progress in (0.0, 0.9):
        running = copy.deepcopy(interrupted.log._running)
        task = replace(task_of(lambda progress=progress: progress), game_ids=itertools.count(3))
        task = replace(task, log=MemoryLog(running))
        found: list[GameRecord] = []
        again = TaughtWorker(task, running=list(running.values()))
        again.play_until(lambda found=found: any(game.game_id == 2 for game in found), found.append)
        (game,) = (game for game in found if game.game_id == 2)
        searched = game.plies["num_simulations"][num_plies:]
        assert searched.any() == (progress == 0.9)


def test_games_are_played_out() -> None:
    games: list[GameRecord] = []
    threads = SelfplayThreads(task_of(), num_workers=1)
    threads.play(lambda: len(games) >= 2, games.append)
    threads.play_out(lambda: False, games.append)
    assert [game.game_id for game in games] in ([0, 1], [0, 1, 2])
    assert threads.counts.games == len(games)
