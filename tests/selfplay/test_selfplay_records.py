"""Self-play's records are legal games and tell what the searches found; each game has the memory for its search."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from logs_for_tests import FinishedLog
from selfplay_for_tests import CONFIG, GAMES, SEARCH, CountingEvaluator, new_task, play
from zerosum.games import Rules, make
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations, UniformEvaluator
from zerosum.replay.records import GameHeader, GameRecord, PlyFlag
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer
from zerosum.search.config import with_room
from zerosum.selfplay.playing_network import PlayingNetwork
from zerosum.selfplay.worker import SelfplayWorker


def assert_legal_game(game: Rules, record: GameRecord) -> None:
    """Replays the record and holds each column against the rules."""
    state = game.initial_state()
    for index in range(record.num_plies):
        ply, legal = record.ply(index), game.legal_actions(state)
        assert ply.action in legal and ply.player == game.player(state)
        assert len(ply.target) > 0 and set(ply.target["action"].tolist()) <= set(legal)
        assert ply.target["probability"].astype(float).sum() == pytest.approx(1, abs=0.002)
        assert (ply.target["probability"] > 0).all() and ply.target["visits"].sum() <= ply.num_simulations
        assert ply.net_value == 0.0, "the uniform evaluator's"
        assert bool(ply.flags & PlyFlag.SAMPLED) == (index < CONFIG.temperature_plies)
        assert ply.flags & PlyFlag.FULL_SEARCH and ply.flags & PlyFlag.NOISE
        if ply.flags & PlyFlag.SAMPLED:
            assert ply.action in ply.target["action"]
        state = game.play(state, ply.action)
    assert (record.outcome, record.ending) == (game.outcome(state), game.ending(state))


@pytest.mark.parametrize("name", GAMES)
def test_records_are_legal_games(name: str) -> None:
    task = new_task(name)
    _, records = play(task, 30)
    for record in records.values():
        assert_legal_game(GAMES[name], record)
        expected = GameHeader(
            game_id=record.game_id, game=name, game_version=1, options="", start="", settings_hash="abc", seed=7
        )
        assert record.header.__dict__ == expected.__dict__
    log: Any = task.log
    assert sorted([*records, *log.running]) == list(range(len(records) + CONFIG.games_per_worker)), "ids are counted up"
    assert len({tuple(record.plies["action"]) for record in records.values()}) > 5, "games differ"


def test_the_record_is_what_the_searches_found() -> None:
    """Each search of a game made again by hand, with the noise of its seed, game and ply."""
    task = new_task(search=replace(SEARCH, reuse_tree=False))
    game_id, record = play(task, 6)[1].popitem()
    search = new_search(task.game, task.search)
    for index in range(record.num_plies):
        search.begin(0, SEARCH.num_simulations, noise=(task.seed, game_id, index))
        while answer(search, task.evaluator, 1):
            pass
        root, ply = search.root(0), record.ply(index)
        target = root.policy_target()
        assert ply.target["action"].tolist() == root.actions[target > 0].tolist()
        assert ply.target["visits"].tolist() == root.visits[target > 0].tolist()
        np.testing.assert_allclose(ply.target["probability"], target[target > 0], atol=1e-3)
        assert (ply.search_value, ply.num_simulations) == (root.value, root.num_simulations)
        assert bool(ply.flags & PlyFlag.PROVEN) == (root.proven is not None)
        search.advance(0, ply.action, keep=False)
    assert (record.plies["flags"] & PlyFlag.PROVEN).any()


@pytest.mark.parametrize("name", GAMES)
def test_everything_is_counted(name: str) -> None:
    evaluator, log = CountingEvaluator(), FinishedLog()
    search = replace(SEARCH, reuse_tree=False)
    worker, _ = play(new_task(name, evaluator=evaluator, search=search, log=log), 10)
    plies = [ply for game in log.running.values() for ply in game.plies]
    plies += [record.ply(index) for record in log.finished.values() for index in range(record.num_plies)]
    assert worker.counts.evaluations == sum(evaluator.sizes)
    assert (worker.counts.games, worker.counts.plies) == (len(log.finished), len(plies))
    assert worker.counts.simulations == sum(ply.num_simulations for ply in plies)


def test_reuse_saves_evaluations() -> None:
    evaluations, simulations = [], []
    for reuse_tree in (False, True):
        worker, _ = play(new_task(search=replace(SEARCH, reuse_tree=reuse_tree, exact_bounds=False)), 8)
        evaluations.append(worker.counts.evaluations / worker.counts.plies)
        simulations.append(worker.counts.simulations / worker.counts.plies)
    assert simulations[0] == SEARCH.num_simulations > simulations[1] > 0
    assert evaluations[0] > evaluations[1]


def test_searches_that_memory_cuts_short_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory does not grow with the number of games here, unlike in self-play by default."""
    monkeypatch.setattr("zerosum.search.config.tree_mib", lambda *_: 0)
    search = replace(SEARCH, num_simulations=4000, memory_mib=1, exact_bounds=False)
    worker = SelfplayWorker(new_task(search=search, config=replace(CONFIG, games_per_worker=12)))
    while worker.counts.plies < 12:
        worker.play_batch()
    assert worker.counts.short_searches == worker.counts.plies
    plenty, _ = play(new_task(), 2)
    assert plenty.counts.short_searches == 0


class StepEvaluator(UniformEvaluator):
    """Values that tell the step of the network that gave them, and how often each position was asked about."""

    def __init__(self) -> None:
        self.step, self.asked = 0, Counter[tuple[int, bytes]]()

    def evaluate(self, leaves: Leaves) -> Evaluations:
        self.asked.update((self.step, planes.tobytes()) for planes in leaves.packed_planes)
        answers = super().evaluate(leaves)
        return Evaluations(leaves, answers.logits, np.full_like(answers.values, self.step / 1000))


def test_what_another_network_said_is_forgotten() -> None:
    evaluator = StepEvaluator()
    search = replace(SEARCH, cache_positions=100_000, reuse_tree=False)
    task = new_task(search=search, evaluator=evaluator, network=lambda: PlayingNetwork(evaluator.step))
    worker, records = SelfplayWorker(task), list[GameRecord]()
    for batch in range(300):
        evaluator.step = batch // 30
        records += worker.play_batch()
    for record in records:
        later = np.round(record.plies["net_value"] * 1000) - record.plies["checkpoint_step"]
        assert ((later == 0) | (later == 1)).all(), "a network that came between a search's begin and its root, at most"
    assert len({step for record in records for step in record.plies["checkpoint_step"].tolist()}) > 3
    # Of one network only what several trees ask in one batch is asked twice.
    assert max(evaluator.asked.values()) <= CONFIG.games_per_worker


def test_the_networks_step_is_recorded_when_the_search_begins() -> None:
    networks = map(PlayingNetwork, itertools.count(100))
    _, records = play(new_task(network=lambda: next(networks), config=replace(CONFIG, games_per_worker=1)), 3)
    played = np.concatenate([records[number].plies["checkpoint_step"] for number in range(3)])
    np.testing.assert_array_equal(played, np.arange(100, 100 + len(played)))


@pytest.mark.parametrize(
    ("name", "num_simulations", "leaves_in_flight"), [("go19", 300, 1), ("othello", 800, 1), ("tictactoe", 100, 8)]
)
def test_each_of_many_games_has_the_memory_for_its_simulations(
    name: str, num_simulations: int, leaves_in_flight: int
) -> None:
    """The memory of one position, divided by hundreds of games, grows until each game has its simulations."""
    game = make(name)
    search = SearchConfig(num_simulations=num_simulations, memory_mib=1, leaves_in_flight=leaves_in_flight)
    num_trees = 8
    grown = with_room(game, search, num_trees)
    trees = new_search(game, grown, num_trees=num_trees)
    for ply in range(4):
        for tree in range(num_trees):
            trees.begin(tree, num_simulations, noise=(1, tree, ply))
        while answer(trees, UniformEvaluator(), num_trees):
            pass
        for tree in range(num_trees):
            root = trees.root(tree)
            assert root.stop_reason in ("simulations", "proven")
            assert root.best_action is not None
            trees.advance(tree, root.best_action, keep=True)
    assert trees.num_bytes <= grown.memory_mib << 20
