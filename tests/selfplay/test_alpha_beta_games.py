"""Games of an alpha-beta search, with which self-play begins: each move searched again; when the network takes over."""

import functools
import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from zerosum.games import make, start_state
from zerosum.network.evaluators import Evaluations
from zerosum.replay.records import PlyFlag
from zerosum.search import SearchConfig
from zerosum.selfplay import SelfplayConfig
from zerosum.selfplay.evaluation_learning import PLAYING_NOISE, learn_evaluation
from zerosum.selfplay.piece_terms import LearnedWeights
from zerosum.selfplay.playing_network import PlayingNetwork
from zerosum.selfplay.worker import MemoryLog, SelfplayTask, SelfplayWorker

SEED = 5


class Uniform:
    """An evaluator without an opinion, which counts its batches."""

    def __init__(self) -> None:
        self.num_batches = 0

    def evaluate(self, leaves):
        self.num_batches += 1
        logits = np.zeros(leaves.legal_offsets[-1], np.float32)
        return Evaluations(leaves, logits, np.zeros(len(leaves), np.float32))


def task_of(name: str, *, progress=lambda: 0.0, evaluator=None, **settings) -> SelfplayTask:
    config = SelfplayConfig(**{"games_per_worker": 4, "alphabeta_depth": 2, "opening_share": 0.5} | settings)
    return SelfplayTask(
        game=make(name),
        search=SearchConfig(num_simulations=4, root_noise_alpha=1.0),
        config=config,
        evaluator=evaluator or Uniform(),
        log=MemoryLog(),
        seed=SEED,
        settings_hash="",
        game_ids=itertools.count(),
        network=lambda: PlayingNetwork(3, progress()),
        evaluation=learned(name),
    )


@functools.cache
def learned(name: str) -> LearnedWeights:
    found = learn_evaluation(make(name), seed=SEED, num_nodes=20_000)
    assert found is not None
    return found


def played(task: SelfplayTask, number: int):
    worker, games = SelfplayWorker(task), []
    worker.play_until(lambda: len(games) >= number, games.append)
    return games


@pytest.mark.parametrize("name", ["minishogi", "gomoku(size=7)"])
def test_moves_values_and_targets_are_those_of_the_search(name: str):
    game = make(name)
    evaluation, noise = learned(name).evaluation(game), PLAYING_NOISE * learned(name).spread
    for record in played(task_of(name), 12):
        state = start_state(game, record.start)
        num_opening = int(np.count_nonzero(record.plies["flags"] & int(PlyFlag.OPENING)))
        for index in range(record.num_plies):
            ply = record.ply(index)
            assert ply.player == game.player(state)
            if index >= num_opening:
                assert (ply.checkpoint_step, ply.num_simulations, ply.net_value) == (3, 0, 0.0)
                found = game.alpha_beta(
                    state, depth=2, seed=SEED, game=record.game_id, evaluation=evaluation, noise=noise
                )
                assert ply.action == found.action
                assert (ply.target["action"].tolist(), ply.target["probability"].tolist()) == ([found.action], [1])
                assert ply.flags == PlyFlag.RECORDED | PlyFlag.EVALUATED
                assert ply.search_value == pytest.approx(found.result or math.tanh(found.evaluation / 2), abs=1e-6)
            state = game.play(state, ply.action)
        assert (record.outcome, record.ending) == (game.outcome(state), game.ending(state))


def test_games_are_functions_of_their_numbers():
    first, second = (played(task_of("minishogi"), 6) for _ in range(2))
    actions = [[record.plies["action"].tolist() for record in records] for records in (first, second)]
    assert actions[0] == actions[1]
    assert len({tuple(moves) for moves in actions[0]}) == 6


def test_the_network_takes_over_at_its_stage():
    progress, evaluator = [0.0], Uniform()
    task = task_of("minishogi", progress=lambda: progress[0], evaluator=evaluator)
    worker, games = SelfplayWorker(task), []
    worker.play_until(lambda: len(games) >= 3, games.append)
    assert evaluator.num_batches == 0
    assert worker.counts.games == 3 and worker.counts.plies == sum(
        np.count_nonzero((game.plies["flags"] & int(PlyFlag.OPENING)) == 0) for game in games
    )
    progress[0] = 0.5
    worker.play_until(lambda: len(games) >= 8, games.append)
    assert evaluator.num_batches > 0
    for game in games[3:]:
        assert not (game.plies["flags"] & int(PlyFlag.RECORDED)).any()
    assert [game.game_id for game in games[:3]] == [0, 1, 2]


def test_a_network_that_comes_while_a_game_begins_does_not_play_it():
    """On a cluster the number of a game may arrive late. Its record names the network of its depth."""
    now = [PlayingNetwork(3, 0.4)]

    def numbers():
        yield 0
        now[0] = PlayingNetwork(4, 0.6)
        yield 1

    task = replace(task_of("minishogi"), game_ids=numbers(), network=lambda: now[0])
    worker, games = SelfplayWorker(task), []
    worker.play_until(lambda: len(games) >= 2, games.append)
    assert [set(game.plies["checkpoint_step"][-3:].tolist()) for game in games] == [{3}, {3}]


def test_the_game_of_the_search_is_played_out_and_no_other_begins():
    worker, games = SelfplayWorker(task_of("minishogi")), []
    worker.play_until(lambda: len(games) >= 3, games.append)
    assert not worker.play_batch()
    worker.play_out(lambda: False, games.append)
    assert [game.game_id for game in games] == [0, 1, 2, 3]


def test_games_in_flight_wait_for_the_network():
    """A game that a kill has interrupted goes on when the network plays."""
    network = task_of("minishogi", alphabeta_depth=0)
    SelfplayWorker(network).play_batch()
    assert isinstance(network.log, MemoryLog)
    running, progress = dict(network.log._running), [0.0]
    task = task_of("minishogi", progress=lambda: progress[0])
    task = replace(task, game_ids=itertools.count(100), log=MemoryLog(dict(running)))
    worker, games = SelfplayWorker(task, running=list(running.values())), []
    worker.play_until(lambda: len(games) >= 2, games.append)
    assert [game.game_id for game in games] == [100, 101]
    progress[0] = 0.5
    worker.play_until(lambda: len(games) >= 12, games.append)
    assert running and set(running) <= {game.game_id for game in games[2:]}


def test_the_search_plays_until_its_share_is_used():
    config = SelfplayConfig(alphabeta_depth=3, alphabeta_share=0.2)
    assert [config.depth_at(progress) for progress in (0, 0.19, 0.2, 1)] == [3, 3, 0, 0]
    assert SelfplayConfig().depth_at(0) == 0
