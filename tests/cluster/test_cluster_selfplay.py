"""The learner's side of self-play on a cluster, with actors that are not there: who is started, heard and ended."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from cluster_for_tests import block_of, checkpoint_of, game_of, task_of
from ray_for_tests import FakeActor, FakeConnection, RayError, node_of, selfplay_on
from zerosum.base.errors import GameError, RunError
from zerosum.cluster import read_events, read_status
from zerosum.cluster import selfplay as selfplay_module
from zerosum.cluster.actor import Report
from zerosum.cluster.config import ClusterConfig
from zerosum.cluster.remote_actor import RemoteActor
from zerosum.cluster.rooms import room_of
from zerosum.games import make
from zerosum.network.evaluators import EvaluatorConfig
from zerosum.selfplay import SelfplayConfig, SelfplayCounts, worker_process
from zerosum.selfplay.resignation import Resignation
from zerosum.selfplay.worker import num_trees
from zerosum.selfplay.worker_process import pack_weights


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfplay_module, "NODES_S", 0.05)


def events_of(directory: Path, *words: str) -> list[tuple[str, str]]:
    return [(event["event"], event["node"]) for event in read_events(directory) if event["event"] in words]


def test_an_actor_with_all_cpus_of_a_node_leaves_room_for_a_learner_that_lost_its_own(tmp_path: Path) -> None:
    connection = FakeConnection(node_of("a", cpus=4), node_of("b", cpus=4))
    played = selfplay_on(connection, tmp_path)
    learner = connection.reserve("the learner", cpus=1, gpus=0.0)
    again, there = [], list[tuple[str, int]]()

    def look(passed: float) -> None:
        if passed > 0.3 and not again:  # the learner's node is gone
            connection.alive = [node for node in connection.alive if node.node_id != learner.node.node_id]
            connection.places.remove(learner)
            again.append(connection.reserve("the learner", cpus=1, gpus=0.0))
        there[:] = [(actor.node.host, actor.threads) for actor in played.selfplay._actors.values()]

    played.play(0.8, look)
    assert (again[0].node.host, 3) in there and (again[0].node.host, 4) not in there
    assert any("has ended for the learner. Its unfinished games are lost." in text for text in played.said)


def test_a_refused_node_gives_room_too(tmp_path: Path) -> None:
    connection = FakeConnection(node_of("a", cpus=4), node_of("b", cpus=4))
    played, kept = selfplay_on(connection, tmp_path), []

    def look(passed: float) -> None:
        if passed > 0.2 and not kept:
            played.selfplay._refuse_node(connection.alive[0], "its games differ")
            connection.alive[1] = node_of("b", cpus=3)
            kept.append(connection.reserve("the learner", cpus=2, gpus=0.0))

    played.play(0.5, look)
    assert kept[0].node.host == "a" and ("left", "a:aaaaaa") in events_of(tmp_path, "left")


@pytest.mark.parametrize(
    ("cpus", "gpus", "config", "number", "each"),
    [
        (8, 0.0, ClusterConfig(), 1, (8, 0.0)),
        (8, 2.0, ClusterConfig(), 2, (4, 1.0)),
        (7, 2.0, ClusterConfig(), 2, (3, 1.0)),
        (8, 0.0, ClusterConfig(cpus_per_actor=3), 2, (3, 0.0)),
        (8, 0.3, ClusterConfig(gpus_per_actor=0.1), 3, (2, 0.1)),
        (0, 0.0, ClusterConfig(), 0, (1, 0.0)),
        (-1, 0.0, ClusterConfig(), 0, (1, 0.0)),
    ],
)
def test_rooms(cpus: int, gpus: float, config: ClusterConfig, number: int, each: tuple[int, float]) -> None:
    room = room_of(cpus, gpus, config, is_python=False)
    assert (room.num_in(cpus, gpus), (room.cpus, room.gpus)) == (number, each)


def test_a_game_in_python_has_an_actor_for_each_core() -> None:
    """Its rules hold the interpreter's lock, so a process uses one core."""
    assert room_of(8, 0.0, ClusterConfig(), is_python=True).num_in(8, 0.0) == 8
    assert room_of(8, 0.0, ClusterConfig(cpus_per_actor=4), is_python=True).num_in(8, 0.0) == 2


def test_actors_that_have_answered_are_not_silent_while_a_pass_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the disk is slow, or when many games are checked."""
    monkeypatch.setattr(selfplay_module, "PASS_S", 0.1)
    played = selfplay_on(FakeConnection(node_of("a", cpus=1), node_of("b", cpus=1)), tmp_path, silence_seconds=1.0)
    take, slow = played.selfplay._take_answer, list[float]()

    def take_slowly(actor: RemoteActor) -> bool:
        if len(slow) < 2 and actor.has_answered:
            slow.append(time.monotonic())
            time.sleep(1.3)
        return take(actor)

    monkeypatch.setattr(played.selfplay, "_take_answer", take_slowly)
    played.play(3.2)
    assert len(slow) == 2 and not events_of(tmp_path, "failed")


def test_an_actor_that_does_not_answer_is_ended_and_replaced(tmp_path: Path) -> None:
    connection = FakeConnection(node_of("a", cpus=1))

    def look(passed: float) -> None:
        if connection.actors:
            connection.actors[0].pause_s = 1e6

    played = selfplay_on(connection, tmp_path, silence_seconds=1.0)
    played.play(1.6, look)
    assert connection.actors[0] in connection.ray.killed and len(connection.actors) == 2
    assert "has failed: it has not answered for 1 seconds" in "".join(played.said)


def test_an_actor_that_answers_and_does_not_play_is_silent() -> None:
    """Even if an answer is always there, because each pass is slow."""
    now, task, node = 100.0, task_of("a/1"), node_of("a", cpus=1)
    actor = RemoteActor("a/1", node, 1, 0.0, task, None, None, now, 0, range(0), played_at=now)
    there: dict[str, Any] = {"limit": 10.0, "is_paused": False, "has_answer": lambda: True}
    assert actor.silence(now + 1e6, **there) == "", "its start may take any time"
    assert actor.take(Report(counts=SelfplayCounts(evaluations=1), num_free_ids=5), now)
    assert not actor.silence(now + 10, **there)
    assert "has not played for 11 seconds" in actor.silence(now + 11, **there)
    assert "has not answered for 11 seconds" in actor.silence(now + 11, **{**there, "has_answer": lambda: False})
    actor.excuse(5.0, now + 11)
    assert not actor.silence(now + 11, **there) and actor.silence(now + 16, **there)
    actor.excuse(1e6, now + 16)
    assert actor.called_at == actor.played_at == now + 16, "no time lies ahead"
    assert not actor.take(actor.report, now + 17) and actor.played_at == now + 16
    plays = Report(counts=SelfplayCounts(evaluations=1, plies=1), num_free_ids=5)
    assert actor.take(plays, now + 18) and actor.played_at == now + 18, "an alpha-beta search evaluates nothing"


def test_a_training_whose_nodes_are_all_refused_ends_although_the_head_could_never_play(tmp_path: Path) -> None:
    connection = FakeConnection(
        node_of("h", cpus=0), node_of("a", cpus=1), failure=("", "it has zerosum 0.1: install the same version")
    )
    with pytest.raises(RunError, match="No node of the cluster can play any more: a:aaaaaa"):
        selfplay_on(connection, tmp_path).play(3.0)


def test_who_does_not_hand_over_the_last_games_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfplay_module, "FAREWELL_S", 0.3)
    connection = FakeConnection(node_of("a", cpus=1), node_of("b", cpus=1))
    played = selfplay_on(connection, tmp_path)

    def look(passed: float) -> None:
        if passed > 0.3:
            connection.actors[1].pause_s = 1e6

    started = time.monotonic()
    played.play(0.4, look)
    assert time.monotonic() - started < 5
    assert events_of(tmp_path, "failed", "left") == [("left", "a:aaaaaa"), ("failed", "b:bbbbbb")]
    assert "b/2 has failed: it has not handed over its last games" in "".join(played.said)


def test_a_farewell_that_goes_on_and_on_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The patience with an actor begins anew with each answer."""
    monkeypatch.setattr(selfplay_module, "FAREWELL_S", 0.3)
    monkeypatch.setattr(selfplay_module, "MOST_FAREWELL_S", 1.0)
    connection = FakeConnection(node_of("a", cpus=1))
    played = selfplay_on(connection, tmp_path)
    monkeypatch.setattr(played.selfplay, "_take_last_answer", lambda actor: played.selfplay._ask(actor, is_over=True))
    started = time.monotonic()
    played.play(0.2)
    assert 1.0 < time.monotonic() - started < 2.0 and len(events_of(tmp_path, "failed")) == 1


def test_games_of_all_actors_begin_at_any_stage(tmp_path: Path) -> None:
    """Only actors that play are counted, and each begins with its part of the lowest numbers."""
    connection = FakeConnection(node_of("a", cpus=2), node_of("b", cpus=3), node_of("c", cpus=7))
    connection.reserve("the learner", cpus=7, gpus=0.0)
    selfplay_on(connection, tmp_path, cpus_per_actor=1, num_actors=4).play(0.3)
    trees = num_trees(4)
    assert {actor.task["num_staggered"] for actor in connection.actors} == {4 * trees}
    first = [actor.orders[0] for actor in connection.actors]
    assert sorted((orders.first_id, orders.num_ids) for orders in first) == [(trees * i, trees) for i in range(4)]


def test_no_game_is_staggered_in_a_run_without(tmp_path: Path) -> None:
    connection = FakeConnection(node_of("a", cpus=2))
    selfplay_on(connection, tmp_path, task={"num_staggered": 0}).play(0.2)
    assert connection.actors[0].task["num_staggered"] == 0


def test_a_network_of_a_step_that_was_sent_before_is_sent_too(tmp_path: Path) -> None:
    """A learner that was lost goes on from its checkpoint, and makes another network of the same step."""
    connection = FakeConnection(node_of("a", cpus=1))
    played = selfplay_on(connection, tmp_path)
    sent = [checkpoint_of(20, seed=1), checkpoint_of(20, seed=2), checkpoint_of(10)]
    left = list(sent)

    def look(passed: float) -> None:
        if left and passed > 0.2 * (len(sent) - len(left) + 1):
            played.selfplay.update(left.pop(0))

    played.play(1.0, look)
    (actor,) = connection.actors
    game = make("tictactoe")
    steps = [worker_process.checkpoint_of(packed, game).info.step for packed in actor.weights]
    assert steps == [0, 20, 20, 10]
    assert actor.weights[1:] == [pack_weights(checkpoint) for checkpoint in sent]
    assert played.selfplay._ingest._highest_step() == 20 and played.selfplay._ingest._learner_step() == 10


def test_actors_are_told_when_to_resign(tmp_path: Path) -> None:
    config = SelfplayConfig(games_per_worker=4, resign_false_positives=0.05)
    resignation = Resignation(config, seed=0)
    resignation.threshold = -0.75
    connection = FakeConnection(node_of("a", cpus=1))
    selfplay_on(connection, tmp_path, task={"config": config, "resignation": resignation}).play(0.2)
    assert {orders.resigns_below for orders in connection.actors[0].orders} == {-0.75}


def test_a_fake_actor_is_asked_again_and_again(tmp_path: Path) -> None:
    connection = FakeConnection(node_of("a", cpus=1))
    selfplay_on(connection, tmp_path).play(1.5)
    (actor,) = connection.actors
    assert isinstance(actor, FakeActor) and len(actor.orders) > 3 and actor.orders[-1].is_over


# ---- actors that fail, and games that do not count


BROKEN = [RayError("the actor died\n\nits node is gone\nand more"), b"\0\0", b"\x02\0\0\0{}", b"\x02\0\0\0[]"]


@pytest.mark.parametrize("broken", BROKEN, ids=["an error", "too short", "no counts", "no report"])
def test_a_node_whose_actors_fail_without_playing_gets_no_others(broken: Exception | bytes, tmp_path: Path) -> None:
    connection = FakeConnection(node_of("a", cpus=1), node_of("b", cpus=1), each_time=0)
    played = selfplay_on(connection, tmp_path)
    num_passes_later = 0

    def is_enough() -> bool:
        nonlocal num_passes_later
        for actor in connection.actors:
            if actor.node.host == "a":
                actor.broken = broken
        num_passes_later += bool(events_of(tmp_path, "node refused"))
        return num_passes_later > 10

    played.play_until(is_enough)
    refused = [*[("failed", "a:aaaaaa")] * 3, ("node refused", "a:aaaaaa")]
    assert events_of(tmp_path, "failed", "node refused") == refused
    assert [actor.node.host for actor in connection.actors].count("a") == 3
    said = "\n".join(played.said)
    expected = "the actor died its node is gone" if isinstance(broken, Exception) else "its answer cannot be read"
    assert said.count(f"has failed: {expected}") == 3 and "3 actors in a row failed there" in said
    status = read_status(tmp_path)
    assert status.is_over and status.num_failures == 3 and list(status.refused_nodes) == ["a:aaaaaa"]
    assert status.nodes == 2 and not status.actors


def test_a_node_whose_actors_play_before_they_fail_gets_others(tmp_path: Path) -> None:
    connection = FakeConnection(node_of("a", cpus=1))
    played = selfplay_on(connection, tmp_path)

    def is_enough() -> bool:
        if connection.actors and len(connection.actors[-1].orders) > 1:
            connection.actors[-1].broken = RayError("gone")
        return len(events_of(tmp_path, "failed")) > 3

    played.play_until(is_enough)
    assert not events_of(tmp_path, "node refused")
    assert played.selfplay.counts.evaluations > 300, "the work of those that have ended counts"
    assert played.selfplay.cpu_s == pytest.approx(played.selfplay.counts.evaluations / 100)


def test_an_error_of_the_rules_ends_the_training_with_its_message(tmp_path: Path) -> None:
    connection = FakeConnection(node_of("a", cpus=1))
    played = selfplay_on(connection, tmp_path)

    def is_enough() -> bool:
        if connection.actors and connection.actors[0].orders:
            connection.actors[0].failure = ("GameError", "move 9 is none")
        return False

    with pytest.raises(GameError, match="move 9 is none"):
        played.play_until(is_enough)
    assert connection.ray.killed == [connection.actors[0]]


def test_another_error_is_told_by_its_last_line(tmp_path: Path) -> None:
    connection = FakeConnection(node_of("a", cpus=1))
    played = selfplay_on(connection, tmp_path)

    def is_enough() -> bool:
        if connection.actors and len(connection.actors[0].orders) > 1:
            connection.actors[0].failure = ("", "Traceback:\n  a line\nValueError: 3\n")
        return len(connection.actors) > 1

    played.play_until(is_enough)
    assert any(text.endswith("has failed: ValueError: 3. Its unfinished games are lost.") for text in played.said)
    assert not events_of(tmp_path, "node refused")


def test_games_that_are_refused_are_told_once_and_counted(tmp_path: Path) -> None:
    connection = FakeConnection(node_of("a", cpus=1))
    played = selfplay_on(connection, tmp_path)
    about = {"training": played.selfplay._training}
    blocks = [
        block_of("a/1", number, [game_of(number - 1, step=0), game_of(5000 + number)], **about) for number in (1, 2, 3)
    ]

    def is_enough() -> bool:
        if not connection.actors:
            return False
        actor = connection.actors[0]
        if actor.orders and blocks:
            actor.blocks, blocks[:] = list(blocks), []
        return bool(actor.orders) and actor.orders[-1].acknowledged == 3

    played.play_until(is_enough)
    refused = [event for event in read_events(tmp_path) if event["event"] == "refused"]
    assert [event["why"].partition(":")[0] for event in refused] == ["1 foreign"] * 3
    assert sum(text.startswith("Games are refused: ") for text in played.said) == 1
    status = read_status(tmp_path)
    assert (status.games, status.refused, status.verified) == (3, {"foreign": 3}, None)


def test_a_sender_that_is_refused_ends_and_so_does_its_node(tmp_path: Path) -> None:
    connection = FakeConnection(node_of("a", cpus=1), node_of("b", cpus=1))
    played = selfplay_on(connection, tmp_path)
    num_passes_later = 0

    def is_enough() -> bool:
        nonlocal num_passes_later
        if connection.actors and not connection.actors[0].blocks:
            connection.actors[0].blocks = [b"no block"] * 3
        num_passes_later += bool(events_of(tmp_path, "node refused"))
        return num_passes_later > 5

    played.play_until(is_enough)
    assert [name for name, _ in events_of(tmp_path, "node refused", "failed")] == ["node refused", "failed"]
    assert "3 blocks in a row were damaged" in "\n".join(played.said) and len(connection.actors) == 2


def test_a_cluster_without_room_waits_for_a_node(tmp_path: Path) -> None:
    connection = FakeConnection(node_of("h", cpus=2))
    connection.reserve("the learner", cpus=2, gpus=0.0)
    played = selfplay_on(connection, tmp_path)
    num_passes = 0

    def is_enough() -> bool:
        nonlocal num_passes
        num_passes += 1
        if num_passes > 3:
            connection.alive = [node_of("h", cpus=2), node_of("a", cpus=1)]
        return bool(connection.actors)

    played.play_until(is_enough)
    waiting = [text for text in played.said if "has room for an actor of 1 CPUs and 0 GPUs" in text]
    assert len(waiting) == 1 and "beside the learner: waiting for one" in waiting[0]
    assert [actor.node.host for actor in connection.actors] == ["a"]
    status = read_status(tmp_path)
    assert status.others == ["the learner on h:hhhhhh"] and status.address == "fake"


@pytest.mark.parametrize(
    ("gpus", "device", "expected"),
    [(0.0, "cuda:3", "cpu"), (1.0, "cuda:3", "cuda"), (1.0, "cpu", "cpu"), (1.0, "auto", "auto")],
)
def test_an_actor_has_the_devices_that_it_gets(gpus: float, device: str, expected: str, tmp_path: Path) -> None:
    connection = FakeConnection(node_of("a", cpus=2, gpus=gpus))
    played = selfplay_on(connection, tmp_path)
    played.selfplay._evaluator = EvaluatorConfig(device=device)
    played.play(0.1)
    (actor,) = connection.actors
    assert actor.task["evaluator"]["device"] == expected and (actor.cpus, actor.gpus) == (2, gpus)
    assert actor.task["num_threads"] == 2


def test_a_pause_is_passed_on(tmp_path: Path) -> None:
    connection = FakeConnection(node_of("a", cpus=1))

    def orders() -> list[bool]:
        return [one.is_paused for actor in connection.actors for one in actor.orders if not one.is_over]

    selfplay_on(connection, tmp_path).play_until(lambda: any(orders()), is_paused=lambda: len(orders()) > 2)
    assert orders() == sorted(orders()) and set(orders()) == {False, True}


def test_others_that_were_lost_are_events(tmp_path: Path) -> None:
    connection = FakeConnection(node_of("a", cpus=2))
    place = connection.reserve("rater 1", cpus=1, gpus=0.0)
    connection.lost.append((place, "its node is gone"))
    selfplay_on(connection, tmp_path).play(0.2)
    assert [event["actor"] for event in read_events(tmp_path) if event["event"] == "failed"] == ["rater 1"]
    assert read_status(tmp_path).num_failures == 1
