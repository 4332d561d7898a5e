"""Games from machines that others control: what is against the rules does not count."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cluster_for_tests import GAME, block_of, game_of, header_of, learner_in
from zerosum.cluster.verification import fault_by_rules
from zerosum.games import make
from zerosum.network.evaluators import UniformEvaluator
from zerosum.replay import GameRecord
from zerosum.replay.records import RunningGame
from zerosum.search import SearchConfig
from zerosum.selfplay import MemoryLog, SelfplayConfig, SelfplayTask, SelfplayWorker
from zerosum.selfplay.resignation import RESIGNATION


def changed(game: GameRecord, place: int, name: str, value: object) -> GameRecord:
    plies = game.plies.copy()
    plies[name][place] = value
    return replace(game, plies=plies)


def without_its_end(game: GameRecord) -> GameRecord:
    offsets = game.target_offsets[:-1]
    return replace(game, plies=game.plies[:-1], target_offsets=offsets, targets=game.targets[: offsets[-1]])


def with_targets_of_the_first_move(game: GameRecord) -> GameRecord:
    targets = game.targets.copy()
    targets["action"][game.target_offsets[1] :] = game.plies["action"][0]
    return replace(game, targets=targets)


def with_a_move_after_its_end(game: GameRecord) -> GameRecord:
    played = set(game.plies["action"].tolist())
    last = game.plies[-1:].copy()
    last["action"], last["player"] = min(set(range(9)) - played), 1 - last["player"]
    offsets = np.append(game.target_offsets, game.target_offsets[-1])
    return replace(game, plies=np.concatenate([game.plies, last]), target_offsets=offsets)


def with_a_target_twice(game: GameRecord) -> GameRecord:
    targets = game.targets.copy()
    targets["action"][1] = targets["action"][0]
    return replace(game, targets=targets)


SHORT = replace(next(game for number in range(99) if len((game := game_of(number)).plies) < 9), game_id=3)
"""A game that was won before the board was full."""

BROKEN = {
    "occupied square": changed(game_of(3), 2, "action", int(game_of(3).plies["action"][0])),
    "no such square": changed(game_of(3), 2, "action", 400),
    "other side": changed(game_of(3), 2, "player", 1),
    "another result": replace(game_of(3), outcome=-game_of(3).outcome if game_of(3).outcome else 1.0),
    "another ending": replace(game_of(3), ending="resignation"),
    "no end": without_its_end(game_of(3)),
    "after its end": with_a_move_after_its_end(SHORT),
    "target": with_targets_of_the_first_move(game_of(3)),
    "target twice": with_a_target_twice(game_of(3)),
    "start": replace(game_of(3), start="nonsense"),
}


@pytest.mark.parametrize("game", list(BROKEN.values()), ids=list(BROKEN))
def test_what_is_against_the_rules_is_noticed(game: GameRecord, tmp_path: Path) -> None:
    assert fault_by_rules(GAME, game_of(3)) == ""
    assert fault_by_rules(GAME, game)
    with learner_in(tmp_path, verify=True) as learner:
        for name in ("bad/1", "good/1"):
            learner.ingest.register(name)
            learner.ingest.lease(name, 4)
        receipt = learner.ingest.offer("bad/1", block_of("bad/1", 1, [game_of(2), game]))
        assert dict(receipt.refused) == {"differs": 1, "refused sender": 1} and not receipt.num_games
        assert learner.ingest.senders["bad/1"].refusal == receipt.why != ""
        later = learner.ingest.offer("bad/1", block_of("bad/1", 2, [game_of(0)]))
        assert dict(later.refused) == {"refused sender": 1}
        assert learner.ingest.offer("good/1", block_of("good/1", 1, [game_of(5)])).num_games == 1
        assert [record.game_id for record in learner.taken] == [5] and learner.store.num_games == 1
        assert learner.ingest.num_verified == 3, "the block of a refused sender is not looked at"


def test_games_of_other_games_are_checked_by_their_rules() -> None:
    game = make("connect4")
    task = SelfplayTask(
        game=game,
        search=SearchConfig(num_simulations=4),
        config=SelfplayConfig(games_per_worker=4),
        evaluator=UniformEvaluator(),
        log=MemoryLog(),
        seed=1,
        settings_hash="",
    )
    worker, games = SelfplayWorker(task), list[GameRecord]()
    while len(games) < 4:
        games += worker.play_batch()
    assert [fault_by_rules(game, record) for record in games] == [""] * len(games)


def test_a_game_in_flight_against_the_rules_is_noticed(tmp_path: Path) -> None:
    """The next process would continue it, and could not open the run."""
    first = game_of(0).ply(0)
    bad, good = (RunningGame(header=header_of(1), plies=[first] * number) for number in (2, 1))
    with learner_in(tmp_path, verify=True) as learner:
        for name in ("bad/1", "good/1"):
            learner.ingest.register(name)
            learner.ingest.lease(name, 4)
        receipt = learner.ingest.offer("bad/1", block_of("bad/1", 1, [game_of(2)], running=[bad]))
        assert dict(receipt.refused) == {"differs": 1, "refused sender": 1}
        assert receipt.why == "game 1 of bad/1 has an illegal move at ply 1"
        assert not learner.store.running and not learner.taken and learner.ingest.senders["bad/1"].refusal
        game = RunningGame(header=header_of(4), plies=good.plies)
        assert not learner.ingest.offer("good/1", block_of("good/1", 1, [], running=[game])).refused
        assert [len(game.plies) for game in learner.store.running.values()] == [1]


def resigned(game: GameRecord, num_plies: int, outcome: float) -> GameRecord:
    """The first moves of a game, and a resignation."""
    offsets = game.target_offsets[: num_plies + 1]
    parts = {"plies": game.plies[:num_plies], "target_offsets": offsets, "targets": game.targets[: offsets[-1]]}
    return replace(game, **parts, outcome=outcome, ending=RESIGNATION)


@pytest.mark.parametrize("num_plies", [0, 1, 2, 3])
def test_only_the_side_to_move_resigns_and_only_where_it_may(num_plies: int, tmp_path: Path) -> None:
    game, lost_by_mover = game_of(3), -1.0 if num_plies % 2 == 0 else 1.0
    for outcome in (-1.0, 0.0, 1.0):
        record = resigned(game, num_plies, outcome)
        assert (fault_by_rules(GAME, record, can_resign=True) == "") == (outcome == lost_by_mover)
        assert fault_by_rules(GAME, record)
    whole = resigned(game, len(game.plies), lost_by_mover)
    assert fault_by_rules(GAME, whole, can_resign=True), "a game that is over is not resigned"
    assert fault_by_rules(GAME, game, can_resign=True) == "" != fault_by_rules(GAME, BROKEN["no end"], can_resign=True)
    with learner_in(tmp_path, verify=True, can_resign=True) as learner:
        learner.ingest.register("good/1")
        learner.ingest.lease("good/1", 8)
        block = block_of("good/1", 1, [resigned(game, num_plies, lost_by_mover)])
        assert learner.ingest.offer("good/1", block).num_games == 1
