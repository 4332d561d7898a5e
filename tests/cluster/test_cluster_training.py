"""Trainings on a real Ray cluster of this machine."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import zerosum
from commands_for_tests import Command
from web_for_tests import own_game
from zerosum.base.errors import SettingsError
from zerosum.cluster import read_events, read_status, status_text
from zerosum.replay.game_store import GameStore
from zerosum.replay.shards import read_manifest
from zerosum.run.storage import fetch_run

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None, reason="Ray is missing: pip install 'zerosum[cluster]'"
    ),
    pytest.mark.skipif(os.name == "nt", reason="POSIX only: Ray's clusters on Windows are experimental"),
]

SETTINGS = (
    "network.num_blocks=1",
    "network.num_filters=8",
    "search.num_simulations=8",
    "learner.batch_size=16",
    "learner.samples_per_position=1",
    "selfplay.games_per_worker=4",
    "replay.games_per_shard=16",
    "training.min_positions=50",
    "training.steps_per_phase=2",
    "strength.rollout_simulations=2",
)


def train(run: Path, *words: str) -> subprocess.CompletedProcess[str]:
    settings = [word for setting in SETTINGS for word in ("--set", setting)]
    command = [sys.executable, "-m", "zerosum", "train", "tictactoe", "--run", str(run), *settings, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_training_on_a_local_cluster(tmp_path: Path) -> None:
    run = tmp_path / "run"
    url = (tmp_path / "store").as_uri()
    words = ["--cluster", "local", "--verify", "--set", "cluster.cpus_per_actor=1", "--store", url]
    done = train(run, "--steps", "20", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Stored in {url}" in done.stdout
    fetch_run(url, tmp_path / "fetched", report=lambda _: None)
    assert read_manifest_games(tmp_path / "fetched") == read_manifest_games(run)
    assert "Done." in done.stdout and "plays on" in done.stdout and not done.stderr
    status = read_status(run)
    assert (
        status.is_over and status.games == read_manifest_games(run) and not status.refused and not status.num_failures
    )
    assert status.verified is not None and status.verified >= status.games
    told = f"{status.verified} games replayed through the rules, 0 against them"
    assert told in done.stdout and told in status_text(status, [], now=status.unix_s)
    words = [event["event"] for event in read_events(run)]
    assert words.count("joined") == words.count("left") >= 1
    assert "ended" in status_text(status, read_events(run), now=status.unix_s)
    # The run goes on without the cluster, with the games that were in flight.
    done = train(run, "--steps", "24")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 games under way" not in done.stdout and "games under way" in done.stdout


def test_a_node_whose_actors_die_at_their_start_is_refused(tmp_path: Path) -> None:
    """The training ends with the reason when no node is left."""
    game = own_game(tmp_path)
    source = tmp_path / "breakthrough.py"
    source.write_text(source.read_text(encoding="utf-8") + DIES_IN_AN_ACTOR, encoding="utf-8")
    run, settings = tmp_path / "run", [word for setting in SETTINGS for word in ("--set", setting)]
    command = [sys.executable, "-m", "zerosum", "train", game, "--run", str(run), *settings, "--steps", "20"]
    done = subprocess.run([*command, "--cluster", "local"], capture_output=True, text=True, check=False)
    assert done.returncode and "Traceback" not in done.stdout + done.stderr
    assert "No node of the cluster can play any more" in done.stderr
    assert "3 actors in a row failed there" in done.stderr
    events = read_events(run)
    words = [event["event"] for event in events if event["event"] in ("failed", "node refused")]
    assert words[:4] == ["failed", "failed", "failed", "node refused"] and words.count("node refused") == 1


DIES_IN_AN_ACTOR = """
import os, sys

if "default_worker" in sys.argv[0]:  # Ray's worker process
    os._exit(3)
"""


def read_manifest_games(run: Path) -> int:
    """The finished games of a run that no process has open."""
    store = GameStore(run / "games", report=lambda _: None)
    try:
        assert read_manifest(run / "games").shards
        return store.num_games
    finally:
        store.close()


LISTENERS = """
import contextlib, json, os, re
from pathlib import Path
from zerosum.cluster.connection import connected

# Threads and processes may end at any moment of the walk.
def entries(directory):
    with contextlib.suppress(OSError):
        return sorted(Path(directory).iterdir())
    return []

def tree(pid):
    yield pid
    for task in entries(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError):
            for child in (task / "children").read_text().split():
                yield from tree(int(child))

with connected("local"):
    pass  # a second cluster of the same process works, too
with connected("local") as connection:
    inodes = set()
    for pid in tree(os.getpid()):
        for link in entries(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                inodes.update(re.findall(r"socket:\\[(\\d+)\\]", os.readlink(link)))
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            cells = line.split()
            if cells[3] == "0A" and cells[9] in inodes:
                found.append(cells[1].rpartition(":")[0])
    print(json.dumps(found))
"""


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="Linux only: sockets are read from /proc")
def test_a_local_cluster_listens_on_the_loopback_interface_alone() -> None:
    answer = subprocess.run([sys.executable, "-c", LISTENERS], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    addresses = json.loads(answer.stdout)
    assert len(addresses) > 3
    assert set(addresses) <= {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


def test_no_cluster_at_the_address_is_a_sentence(tmp_path: Path) -> None:
    done = train(tmp_path / "run", "--steps", "20", "--cluster", "127.0.0.1:1")
    assert done.returncode == 2 and "Traceback" not in done.stdout + done.stderr
    assert "ray start --head" in done.stderr


def test_a_deterministic_run_refuses_a_cluster(tmp_path: Path, zero: Command) -> None:
    words = ("--run", tmp_path / "run", "--steps", 20, "--deterministic", "--cluster", "local")
    answer = zero("train", "tictactoe", *words)
    assert answer.status == 2 and "leave out --cluster" in answer.err
    assert not (tmp_path / "run").exists()


def test_without_ray_a_sentence_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ray" else found(name))
    with pytest.raises(SettingsError, match=r"pip install 'zerosum\[cluster\]'"):
        zerosum.train("tictactoe", tmp_path / "run", steps=1, cluster="local")
    assert not (tmp_path / "run").exists()


def test_verification_without_a_cluster_is_refused(tmp_path: Path, zero: Command) -> None:
    answer = zero("train", "tictactoe", "--run", tmp_path / "run", "--steps", 20, "--verify")
    assert answer.status == 2 and "--verify" in answer.err
    assert not (tmp_path / "run").exists()
