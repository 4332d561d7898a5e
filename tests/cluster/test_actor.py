"""An actor without Ray: it plays, keeps its games until they are taken, and ends with all of them handed over."""

from __future__ import annotations

import dataclasses
import itertools
import json
import time
from pathlib import Path
from typing import Any

import pytest

from cluster_for_tests import GAME, NETWORK, Learner, checkpoint_of, learner_in, task_of
from networks_for_tests import BF16_TOLERANCE, error_of_recorded_values, with_opinions
from zerosum.cluster import actor as actor_module
from zerosum.cluster.actor import Orders, Report, SelfplayActor, num_ids_wanted, unpack_reply
from zerosum.cluster.blocks import opened
from zerosum.cluster.ingest import Receipt
from zerosum.network import NetworkConfig
from zerosum.search import SearchConfig
from zerosum.selfplay import SelfplayConfig
from zerosum.selfplay.resignation import RESIGNATION
from zerosum.selfplay.worker import num_trees
from zerosum.selfplay.worker_process import pack_weights


class Remote:
    """The learner's side of an actor."""

    def __init__(
        self, learner: Learner, name: str = "host/1", *, network: NetworkConfig = NETWORK, **changes: Any
    ) -> None:
        self.learner, self.name, self.task = learner, name, task_of(name, **changes)
        self.actor, self.acknowledged = SelfplayActor(), 0
        learner.ingest.register(name)
        self.report, _ = unpack_reply(
            self.actor.begin(self.task.to_json(), b"", pack_weights(checkpoint_of(0, network=network)))
        )

    def call(self, weights: bytes | None = None, *, is_lost: bool = False, **orders: Any) -> Report:
        """One call; the answer to a lost one does not arrive."""
        lease = self.learner.ingest.lease(self.name, max(0, num_ids_wanted(self.task) - self.report.num_free_ids))
        given = Orders(acknowledged=self.acknowledged, first_id=lease.start, num_ids=len(lease), **orders)
        reply = self.actor.deliver(json.dumps(dataclasses.asdict(given)).encode(), weights)
        self.report, block = unpack_reply(reply)
        assert self.report.failure is None
        if block and not is_lost:
            self.acknowledged = self.learner.ingest.offer(self.name, block).acknowledged
        return self.report


def test_every_game_arrives_once_although_answers_are_lost(tmp_path: Path) -> None:
    with learner_in(tmp_path) as learner:
        remote = Remote(learner)
        for number in itertools.count():
            if remote.call(is_lost=number % 3 == 0).counts.games > 20:
                break
        remote.call(is_over=True)
        while remote.report.num_waiting:
            remote.call(is_over=True)
        records = list(learner.store.recent(1 << 40))
        assert len(records) == len({record.game_id for record in records}) == remote.report.counts.games > 20
        assert not learner.ingest.refused
        ids = {record.game_id for record in records} | learner.store.running.keys()
        assert ids == set(range(len(ids))), "of the games that began none is missing"


def test_a_new_network_is_named_by_later_searches(tmp_path: Path) -> None:
    with learner_in(tmp_path) as learner:
        remote = Remote(learner)
        remote.call()
        larger = dataclasses.replace(NETWORK, num_blocks=2, num_filters=12)
        newer = with_opinions(checkpoint_of(10, seed=1, network=larger), seed=1)
        remote.call(pack_weights(newer))
        while remote.report.step != 10 or not learner.taken or learner.taken[-1].plies["checkpoint_step"].min() < 10:
            remote.call()
        assert learner.taken[0].plies["checkpoint_step"].max() == 0
        assert error_of_recorded_values(learner.taken[-1:], GAME, newer) < BF16_TOLERANCE
        remote.call(is_over=True)


def test_an_actor_searches_by_learned_rules(tmp_path: Path) -> None:
    """Each simulation is an evaluation there, also while a new network arrives."""
    network = NetworkConfig(kind="muzero", num_blocks=1, dynamics_blocks=1, num_filters=8)
    search = SearchConfig(num_simulations=8, rules="learned", exact_bounds=False, proof_nodes=0, reuse_tree=False)
    with learner_in(tmp_path) as learner:
        in_full = SelfplayConfig(games_per_worker=4, full_search_share=1.0)
        remote = Remote(learner, network=network, search=search, selfplay=in_full)
        while remote.report.counts.games < 4:
            remote.call()
        remote.call(pack_weights(with_opinions(checkpoint_of(10, seed=1, network=network), seed=1)))
        while not learner.taken or learner.taken[-1].plies["checkpoint_step"].min() < 10:
            remote.call()
        remote.call(is_over=True)
        assert not learner.ingest.refused
        assert {int(record.plies["num_simulations"].max()) for record in learner.taken} == {8}
        assert remote.report.counts.evaluations >= remote.report.counts.simulations > 0


def test_an_actor_waits_while_its_games_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actor_module, "MOST_WAITING", 10)
    with learner_in(tmp_path) as learner:
        remote = Remote(learner)
        while remote.call(is_lost=True).num_waiting < 10:
            pass
        time.sleep(0.2)
        games = remote.call(is_lost=True).counts.games
        for _ in range(5):
            remote.call(is_lost=True)
        assert remote.report.counts.games <= games + 4, "the games of one batch at the most"
        while remote.call().counts.games < games + 20:
            pass
        remote.call(is_over=True)
        while remote.report.num_waiting:
            remote.call(is_over=True)
        assert learner.store.num_games == remote.report.counts.games


def test_blocks_are_limited_by_their_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large games and many in flight come in several blocks, also at the end."""
    monkeypatch.setattr(actor_module, "FULL_BYTES", 4000)
    with learner_in(tmp_path) as learner:
        remote = Remote(learner, selfplay=SelfplayConfig(games_per_worker=32))
        while remote.call(is_lost=True).num_waiting < 20:
            pass
        sizes = list[int]()
        offer = learner.ingest.offer

        def counted(name: str, block: bytes) -> Receipt:
            sizes.append(len(opened(block).games) + len(opened(block).running))
            return offer(name, block)

        monkeypatch.setattr(learner.ingest, "offer", counted)
        remote.call(is_over=True)
        while remote.report.num_waiting:
            remote.call(is_over=True)
        assert 1 <= max(sizes) <= 4 and len(sizes) > 14
        assert learner.store.num_games == remote.report.counts.games >= 20
        # A game that ends when no number is given any more has no successor.
        assert num_trees(32) // 2 <= len(learner.store.running) <= num_trees(32), "all games in flight are handed over"


def test_an_actor_resigns_by_the_threshold_of_the_run(tmp_path: Path) -> None:
    resigning = SelfplayConfig(games_per_worker=8, resign_false_positives=0.05, resign_played_out_share=0.5)
    with learner_in(tmp_path) as learner:
        remote = Remote(learner, selfplay=resigning)
        for number in itertools.count():
            before = len(learner.taken)
            remote.call(resigns_below=0.9 if number > 3 else None)
            assert number > 3 or not {game.ending for game in learner.taken[before:]} & {RESIGNATION}
            if RESIGNATION in {game.ending for game in learner.taken}:
                break
            assert len(learner.taken) < 2000
        remote.call(is_over=True)


def test_an_actor_of_another_version_says_so() -> None:
    task = task_of("host/1", version="0.0.1").to_json()
    report, block = unpack_reply(SelfplayActor().begin(task, b"", b""))
    assert report.failure is not None and "0.0.1" in report.failure[1] and not block


def test_an_error_of_the_game_has_its_class_and_message() -> None:
    task = task_of("host/1", game="/nowhere/mine.py:Mine").to_json()
    report, _ = unpack_reply(SelfplayActor().begin(task, b"", pack_weights(checkpoint_of(0))))
    assert report.failure is not None and report.failure[0] == "GameError" and "mine.py" in report.failure[1]
