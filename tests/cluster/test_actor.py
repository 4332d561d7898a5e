"""An actor without Ray: it plays, keeps its games until they are taken, and ends with all of them handed over."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import platform
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from cluster_for_tests import GAME, NETWORK, Learner, checkpoint_of, learner_in, task_of
from networks_for_tests import BF16_TOLERANCE, error_of_recorded_values, with_opinions
from zerosum.base.errors import GameError
from zerosum.cluster import actor as actor_module
from zerosum.cluster.actor import Orders, Report, SelfplayActor, num_ids_wanted, pack_reply, unpack_reply
from zerosum.cluster.blocks import opened
from zerosum.cluster.ingest import Receipt
from zerosum.network import NetworkConfig
from zerosum.replay.journal import game_entries
from zerosum.search import SearchConfig
from zerosum.selfplay import SelfplayConfig, SelfplayCounts
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


LONG_S = 1e6
"""Longer than any test."""


def test_a_full_block_is_handed_over_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actor_module, "BLOCK_S", LONG_S)
    monkeypatch.setattr(actor_module, "MOST_GAMES", 3)
    monkeypatch.setattr(actor_module, "num_ids_wanted", lambda _task: 64)
    with learner_in(tmp_path) as learner:
        remote = Remote(learner)
        for _ in range(4):
            before = learner.store.num_games
            remote.call()
            assert learner.store.num_games - before in (0, 3), "none while it needs numbers, or a whole block"
        assert learner.store.num_games >= 6
        remote.call(is_over=True)


def test_a_paused_actor_plays_no_further_game(tmp_path: Path) -> None:
    with learner_in(tmp_path) as learner:
        remote = Remote(learner)
        while not remote.call().counts.games:
            pass
        plies = [remote.call(is_paused=True).counts.plies for _ in range(2)]
        while plies[-1] != plies[-2]:
            plies.append(remote.call(is_paused=True).counts.plies)
            assert len(plies) < 20
        while remote.call().counts.plies == plies[-1]:
            pass
        remote.call(is_over=True)


def test_a_report_says_who_plays_and_how_much(tmp_path: Path) -> None:
    with learner_in(tmp_path) as learner:
        remote = Remote(learner)
        first = remote.report
        assert (first.host, first.pid, first.step, first.num_waiting) == (platform.node(), os.getpid(), 0, 0)
        assert "CPU" in first.evaluator
        while (report := remote.call()).counts.games < 8:
            assert 0 <= report.num_free_ids <= num_ids_wanted(remote.task)
        counts = report.counts
        assert counts.simulations >= counts.plies >= 5 * counts.games and counts.evaluations and report.cpu_s > 0
        remote.call(is_over=True)


@pytest.mark.parametrize(
    ("error", "name"), [(GameError("the rules failed"), "GameError"), (ZeroDivisionError("a fault"), "")]
)
def test_an_error_while_it_plays_is_reported_at_once(
    error: Exception, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_time = threading.Event()

    def play(*_words: object, **_options: object) -> None:
        is_time.wait()
        raise error

    monkeypatch.setattr(actor_module.SelfplayThreads, "play", play)
    with learner_in(tmp_path) as learner:
        remote = Remote(learner)
        remote.call()
        monkeypatch.setattr(actor_module, "BLOCK_S", LONG_S)
        threading.Timer(0.1, is_time.set).start()
        orders = json.dumps(dataclasses.asdict(Orders())).encode()
        failure = unpack_reply(remote.actor.deliver(orders, None))[0].failure
        assert failure is not None and failure[0] == name and str(error) in failure[1]
        assert name or "Traceback" in failure[1]


def test_a_network_that_cannot_be_used_is_reported(tmp_path: Path) -> None:
    with learner_in(tmp_path) as learner:
        remote = Remote(learner)
        remote.call()
        orders = json.dumps(dataclasses.asdict(Orders())).encode()
        for weights in itertools.chain([b"no network"], itertools.repeat(None)):
            report, _ = unpack_reply(remote.actor.deliver(orders, weights))
            if failure := report.failure:
                break
        assert failure[0] == "" and "Traceback" in failure[1]


def test_games_in_flight_are_continued_by_another_actor(tmp_path: Path) -> None:
    """The moves that were played before stay as they are."""
    with learner_in(tmp_path) as learner:
        remote = Remote(learner)
        remote.call()
        remote.call(is_over=True)
        while remote.report.num_waiting:
            remote.call(is_over=True)
        left = {number: [ply.action for ply in game.plies] for number, game in learner.store.running.items()}
    assert any(left.values())
    with learner_in(tmp_path) as learner:
        task, actor = task_of("host/2"), SelfplayActor()
        running = learner.ingest.register("host/2", num_games=100)
        assert {game.header.game_id for game in running} == left.keys()
        entries = b"".join(entry for game in running for entry in game_entries(game))
        actor.begin(task.to_json(), entries, pack_weights(checkpoint_of(0)))
        acknowledged = 0
        while not left.keys() <= {game.game_id for game in learner.taken}:
            ids = learner.ingest.lease("host/2", 64)
            orders = Orders(acknowledged=acknowledged, first_id=ids.start, num_ids=len(ids))
            _, block = unpack_reply(actor.deliver(json.dumps(dataclasses.asdict(orders)).encode(), None))
            if block:
                acknowledged = learner.ingest.offer("host/2", block).acknowledged
            assert not learner.ingest.refused
        for game in learner.taken:
            if game.game_id in left:
                assert game.plies["action"].tolist()[: len(left[game.game_id])] == left[game.game_id]
        actor.deliver(json.dumps(dataclasses.asdict(Orders(is_over=True))).encode(), None)


def test_reports_and_blocks_arrive_as_they_were_sent() -> None:
    report = Report(
        counts=SelfplayCounts(evaluations=5, games=2), step=3, num_free_ids=7, pid=9, failure=("GameError", "why")
    )
    for sent in (report, Report()):
        for block in (b"", b"a block"):
            assert unpack_reply(pack_reply(sent, block)) == (sent, block)
