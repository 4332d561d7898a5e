"""Games from machines that others control: what is against the rules does not count."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cluster_for_tests import GAME, block_of, game_of, header_of, learner_in
from zerosum.cluster.verification import fault_by_rules
from zerosum.games import make
from zerosum.network.evaluators import UniformEvaluator
from zerosum.replay import GameRecord
from zerosum.replay.records import RunningGame
from zerosum.search import SearchConfig
from zerosum.selfplay import MemoryLog, SelfplayConfig, SelfplayTask, SelfplayWorker


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


BROKEN = {
    "occupied square": changed(game_of(3), 2, "action", int(game_of(3).plies["action"][0])),
    "no such square": changed(game_of(3), 2, "action", 400),
    "other side": changed(game_of(3), 2, "player", 1),
    "another result": replace(game_of(3), outcome=-game_of(3).outcome if game_of(3).outcome else 1.0),
    "another ending": replace(game_of(3), ending="resignation"),
    "no end": without_its_end(game_of(3)),
    "target": with_targets_of_the_first_move(game_of(3)),
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
