"""What a cluster says of itself: rates of an actor, the two files of a run, and the table for people."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path

import pytest

from cluster_for_tests import task_of
from ray_for_tests import node_of
from zerosum.base.errors import DataError, RunError
from zerosum.cluster import read_events, read_status, status_text
from zerosum.cluster.actor import Report
from zerosum.cluster.ingest import Sender
from zerosum.cluster.remote_actor import RATE_S, RemoteActor
from zerosum.cluster.status import OLD_S, STATUS_S, ActorStatus, ClusterStatus, StatusFiles
from zerosum.selfplay import SelfplayCounts


def actor_at(now: float) -> RemoteActor:
    return RemoteActor("a/1", node_of("a", cpus=2), 2, 0.5, task_of("a/1"), None, None, now, 0, range(0), played_at=now)


# ---- one actor


def test_rates_are_means_over_the_last_minute() -> None:
    """An actor that plays for ten minutes, twice as fast in the last two."""
    actor, sender, evaluations, games = actor_at(0.0), Sender("a/1"), 0, 0
    for second in range(0, 601, 5):
        speed = 2 if second > 480 else 1
        evaluations, games = evaluations + 500 * speed, games + 5 * speed
        actor.take(Report(counts=SelfplayCounts(evaluations=evaluations), evaluator="torch", pid=7), float(second))
        actor.note(float(second), games)
        if second == 0:
            status = actor.status(sender, newest_step=0, now=0.0)
            assert (status.evaluations_per_minute, status.games_per_minute) == (0, 0)
        if second == 480:
            status = actor.status(sender, newest_step=0, now=480.0)
            assert (status.evaluations_per_minute, status.games_per_minute) == (6000, 60)
    status = actor.status(sender, newest_step=0, now=600.0)
    assert (status.evaluations_per_minute, status.games_per_minute) == (12_000, 120)
    assert len(actor.history) <= RATE_S / 5 + 2, "what is older is forgotten"


def test_a_status_says_what_an_actor_does() -> None:
    actor, sender = actor_at(100.0), Sender("a/1", num_games=12, refused_games=Counter({"stale": 2}))
    actor.note(100.0, 0)
    starting = actor.status(sender, newest_step=9, now=1e6)
    assert (starting.state, starting.steps_behind, starting.games) == ("starting", 0, 12)
    actor.take(Report(counts=SelfplayCounts(plies=1), step=30, evaluator="torch, cpu", pid=7), 200.0)
    playing = actor.status(sender, newest_step=34, now=200 + 2.9 * STATUS_S)
    assert (playing.state, playing.step, playing.steps_behind) == ("playing", 30, 4)
    assert (playing.name, playing.node, playing.threads, playing.gpus) == ("a/1", "a:aaaaaa", 2, 0.5)
    assert (playing.evaluator, playing.pid, playing.refused) == ("torch, cpu", 7, {"stale": 2})
    later = actor.status(sender, newest_step=20, now=200 + 3.1 * STATUS_S)
    assert (later.state, later.steps_behind) == ("silent", 0)


def test_games_that_wait_to_be_taken_are_play() -> None:
    """The learner's side is slow: an actor with finished games does not count as silent."""
    actor = actor_at(0.0)
    assert actor.take(Report(num_waiting=1), 5.0) and actor.played_at == 5.0
    assert not actor.take(Report(), 6.0)


# ---- the files


ACTORS = [
    ActorStatus(
        name=f"host/{number}",
        node="host:abcdef",
        state=state,
        threads=4,
        evaluations_per_minute=60_000.0,
        games_per_minute=12.4,
        games=1234,
        step=10,
        steps_behind=3 * number,
        refused={"stale": 2, "foreign": 1} if number else {},
    )
    for number, state in enumerate(("playing", "silent", "playing"))
]
STATUS = ClusterStatus(
    time="2026-11-28 12:00:00",
    unix_s=1000.0,
    address="10.0.0.1:6379",
    nodes=2,
    step=1600,
    games=3702,
    actors=ACTORS,
    others=["the learner on host:abcdef"],
    refused={"stale": 4},
    refused_nodes={"other:123456": "it has zerosum 0.1"},
    num_failures=1,
)


def test_the_newest_status_is_read(tmp_path: Path) -> None:
    files = StatusFiles(tmp_path)
    for status in (dataclasses.replace(STATUS, games=1, verified=2), STATUS):
        files.write(status)
        assert read_status(tmp_path) == status


def test_a_row_has_the_totals(tmp_path: Path) -> None:
    files = StatusFiles(tmp_path)
    files.add_row(STATUS)
    files.add_row(dataclasses.replace(STATUS, actors=[], verified=5))
    first, second = [json.loads(line) for line in (tmp_path / "cluster.jsonl").read_text().splitlines()]
    assert (first["actors"], first["games_per_minute"], first["evaluations_per_minute"]) == (3, 37.2, 180_000)
    assert (first["mean_steps_behind"], first["most_steps_behind"], first["verified"]) == (3.0, 6, None)
    assert (first["step"], first["nodes"], first["games"], first["failures"]) == (1600, 2, 3702, 1)
    assert (second["actors"], second["mean_steps_behind"], second["most_steps_behind"]) == (0, 0, 0)
    assert (second["games_per_minute"], second["verified"], second["refused"]) == (0, 5, {"stale": 4})


def test_events_are_read_without_rows_and_damaged_lines(tmp_path: Path) -> None:
    files = StatusFiles(tmp_path)
    files.add("joined", actor="a/1", node="a")
    files.add_row(STATUS)
    with (tmp_path / "cluster.jsonl").open("a") as file:
        file.write('[1]\n{"event": 3}\n{"other": "x"}\nnonsense\n')
    files.add("failed", actor="a/1", node="a", why="it has ended")
    events = read_events(tmp_path)
    assert [(event["event"], event.get("why")) for event in events] == [("joined", None), ("failed", "it has ended")]
    assert all(len(event["time"]) == len("2026-11-28 12:00:00") for event in events)


def test_a_line_that_a_kill_cut_off_is_removed(tmp_path: Path) -> None:
    StatusFiles(tmp_path).add("joined", actor="a/1", node="a")
    with (tmp_path / "cluster.jsonl").open("a") as file:
        file.write('{"time": "2026')
    StatusFiles(tmp_path).add("left", actor="a/1", node="a")
    lines = (tmp_path / "cluster.jsonl").read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["joined", "left"]


def test_a_run_without_a_status_or_with_a_damaged_one_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="was not trained on a cluster"):
        read_status(tmp_path)
    for text in (
        "",
        "[]",
        "{}",
        json.dumps({**dataclasses.asdict(STATUS), "more": 1}),
        '{"actors": [3]}',
        "[" * 100_000,
    ):
        (tmp_path / "cluster.json").write_text(text)
        with pytest.raises(DataError, match="cannot be read"):
            read_status(tmp_path)


# ---- the table


@pytest.mark.parametrize(
    ("age", "is_over", "words"),
    [
        (0.0, False, ": running;"),
        (OLD_S - 1, False, ": running;"),
        (OLD_S, False, ": no word for 0 minutes;"),
        (600.0, False, ": no word for 10 minutes;"),
        (600.0, True, ": ended;"),
    ],
)
def test_a_status_that_is_old_says_so(age: float, is_over: bool, words: str) -> None:
    status = dataclasses.replace(STATUS, is_over=is_over)
    assert words in status_text(status, [], now=status.unix_s + age).splitlines()[0]


def test_the_table_has_the_totals_and_a_line_for_each_actor() -> None:
    lines = status_text(STATUS, [], now=STATUS.unix_s).splitlines()
    assert lines[0].endswith("running; 2 nodes, 2 of 3 actors playing, learner step 1,600")
    assert lines[1] == (
        "37 games and 180,000 evaluations a minute; 3,702 games taken; refused: 4 stale; 1 actors failed"
    )
    assert lines[2] == "" and lines[3].split()[:3] == ["actor", "node", "state"]
    columns = [lines[3].index(head) for head in ("node", "state", "threads", "games/min", "steps behind", "refused")]
    for actor, line in zip(ACTORS, lines[4:7], strict=True):
        cells = [line[start:stop].strip() for start, stop in zip(columns, [*columns[1:], None], strict=True)]
        refused = "2 stale, 1 foreign" if actor.refused else ""
        assert line.startswith(f"{actor.name} ") and line == line.rstrip()
        assert cells[:3] == [actor.node, actor.state, "4"] and cells[5] == refused
        assert cells[3].split() == ["12.4", "60,000", "1,234"] and cells[4] == str(actor.steps_behind)
    assert lines[7:] == [*STATUS.others, "node other:123456 gets no actors: it has zerosum 0.1"]


def test_a_status_without_actors_has_no_table_and_no_empty_counts() -> None:
    status = dataclasses.replace(STATUS, actors=[], others=[], refused={}, refused_nodes={}, num_failures=0, verified=7)
    lines = status_text(status, [], now=status.unix_s).splitlines()
    assert len(lines) == 2 and lines[1].endswith(
        "3,702 games taken; 7 games replayed through the rules, 0 against them"
    )


def test_the_last_events_follow() -> None:
    events = [
        {"event": "joined", "time": f"12:{number:02}", "actor": f"a/{number}", "node": "a"} for number in range(12)
    ]
    events.append({"event": "node refused", "time": "13:00", "node": "a", "why": "it fails"})
    lines = status_text(STATUS, events, now=STATUS.unix_s).splitlines()
    assert lines[-11] == "" and lines[-10] == "12:03  joined  a/3 a"
    assert lines[-1] == "13:00  node refused  a: it fails"
    assert status_text(STATUS, events, now=STATUS.unix_s, num_events=1).splitlines()[-2] == ""
