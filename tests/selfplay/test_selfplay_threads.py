"""Self-play in threads, stopped and gone on with: no game is lost, none ends twice, and errors stop all threads."""

from __future__ import annotations

import itertools
import shutil
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from logs_for_tests import FinishedLog
from selfplay_for_tests import CONFIG, GAMES, SEARCH, new_task, play, same
from zerosum.base.errors import RunError
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations, UniformEvaluator
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import GameRecord, RunningGame
from zerosum.selfplay import SelfplayTask, SelfplayThreads
from zerosum.selfplay.worker import SelfplayWorker


def open_store(directory: Path) -> GameStore:
    return GameStore(directory, report=pytest.fail, games_per_shard=5)


MIXED = replace(CONFIG, full_search_share=0.5, fast_simulations=3)


def task_of(store: GameStore, name: str) -> SelfplayTask:
    ids, search = itertools.count(store.next_game_id), replace(SEARCH, reuse_tree=False)
    return new_task(name, log=store, game_ids=ids, search=search, config=MIXED)


@pytest.mark.parametrize("name", GAMES)
def test_running_games_go_on_after_a_kill(tmp_path: Path, name: str) -> None:
    """Killed after any batch and reopened, with fewer trees than running games: every game ends as if nothing was."""
    whole = play(task_of(open_store(tmp_path / "whole"), name), 40)[1]
    directory, records = tmp_path / "0", {}
    for part in range(4):
        store = open_store(directory)
        running = store.running
        kept = {game_id: [ply.action for ply in game.plies] for game_id, game in running.items()}
        task = task_of(store, name)
        if part == 2:
            task = replace(task, config=replace(MIXED, games_per_worker=2))
        worker = SelfplayWorker(task, running=running.values())
        for _ in range(200 + 37 * part):
            for record in worker.play_batch():
                assert record.game_id not in records, "no game ends twice"
                records[record.game_id] = record
                moves = kept.pop(record.game_id, [])
                assert record.plies["action"][: len(moves)].tolist() == moves
        directory = tmp_path / str(part + 1)
        shutil.copytree(tmp_path / str(part), directory)  # what a kill leaves: the store was not closed
    store = open_store(directory)
    assert {record.game_id for record in store.recent(10**6)} == records.keys()
    assert sorted([*records, *store.running]) == list(range(store.next_game_id)), "no game is lost"
    for game_id in records.keys() & whole.keys():
        assert same(records[game_id], whole[game_id])
    assert len(records.keys() & whole.keys()) > 5


def test_a_game_that_had_just_ended_is_finished(tmp_path: Path) -> None:
    """The process was killed between the last ply and the note of the game's end."""
    log = FinishedLog()
    record = next(iter(play(new_task("tictactoe", log=log), 1)[1].values()))
    ended = RunningGame(header=record.header, plies=[record.ply(index) for index in range(record.num_plies)])
    again = FinishedLog()
    again.running[record.game_id] = ended
    worker = SelfplayWorker(new_task("tictactoe", log=again, game_ids=itertools.count(50)), running=[ended])
    assert same(again.finished[record.game_id], record)
    assert [finished.game_id for finished in worker.play_batch()] == [record.game_id]
    assert sorted(again.running) == [50, 51, 52, 53]
    assert worker.counts.games == 1


def test_two_threads_play_the_games_that_one_plays() -> None:
    task, lock, records, names = new_task(), threading.Lock(), {}, set()

    def take(record: GameRecord) -> None:
        with lock:
            assert record.game_id not in records
            records[record.game_id] = record
            names.add(threading.current_thread().name)

    selfplay = SelfplayThreads(task, num_workers=2)
    for goal in (10, 30):
        selfplay.play(lambda goal=goal: len(records) >= goal, take)  # type: ignore[misc]
    log: Any = task.log
    assert selfplay.counts.games == len(records) == len(log.finished)
    assert len(log.running) == 2 * CONFIG.games_per_worker
    alone = play(new_task(), 30)[1]
    assert all(same(records[i], alone[i]) for i in records.keys() & alone.keys())
    assert names == {"selfplay"}


def test_games_are_played_out() -> None:
    """No game is left under way, none is begun, and play goes on as in a new process."""
    log, records = FinishedLog(), list[GameRecord]()
    selfplay = SelfplayThreads(new_task(log=log), num_workers=2)
    for goal in (5, 15):
        selfplay.play(lambda goal=goal: len(records) >= goal, records.append)  # type: ignore[misc]
        under_way = set(log.running)
        assert len(under_way) == 2 * CONFIG.games_per_worker
        selfplay.play_out(lambda: False, records.append)
        assert not log.running and under_way <= log.finished.keys()
        assert sorted(record.game_id for record in records) == sorted(log.finished) == list(range(len(records)))
        assert selfplay.counts.games == len(records)


def test_running_games_are_dealt_out() -> None:
    log = FinishedLog()
    play(new_task(log=log, config=replace(CONFIG, games_per_worker=5)), 2)
    running, again = list(log.running.values()), FinishedLog(log.running)
    task = new_task(log=again, game_ids=itertools.count(1000), config=replace(CONFIG, games_per_worker=2))
    records: list[GameRecord] = []
    waited_for = {game.header.game_id for game in running}
    selfplay = SelfplayThreads(task, num_workers=2, running=running)
    selfplay.play(lambda: waited_for <= {record.game_id for record in list(records)}, records.append)
    assert len(records) == len({record.game_id for record in records}), "a game was dealt out twice"


class Failing(UniformEvaluator):
    """Fails at its hundredth batch."""

    def __init__(self, error: BaseException) -> None:
        self.error, self.calls = error, itertools.count()

    def evaluate(self, leaves: Leaves) -> Evaluations:
        if next(self.calls) == 100:
            raise self.error
        return super().evaluate(leaves)


@pytest.mark.parametrize("error", [RunError("the disk is full"), RuntimeError("out of memory"), KeyboardInterrupt()])
def test_one_workers_error_stops_all_and_is_told(error: BaseException) -> None:
    before = threading.active_count()
    selfplay = SelfplayThreads(new_task(evaluator=Failing(error)), num_workers=2)
    with pytest.raises(type(error), match=str(error) or None):
        selfplay.play(lambda: False, lambda record: None)
    assert threading.active_count() == before


def test_an_error_of_who_takes_the_games_stops_all() -> None:
    def take(record: GameRecord) -> None:
        raise RunError("no room for games")

    with pytest.raises(RunError, match="no room for games"):
        SelfplayThreads(new_task(), num_workers=2).play(lambda: False, take)
