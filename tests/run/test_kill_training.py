"""A training that is killed again and again: nothing is lost, and `tools/kill_training.py` would tell if it were."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kill_training import PHASES, Found, Marks, find_faults, kill_many, look
from runs_for_tests import train_a_little
from zerosum.games import make

GAME = make("tictactoe")


@pytest.mark.skipif(os.name == "nt", reason="POSIX only: Windows has no SIGKILL")
def test_five_kills_lose_nothing(tmp_path: Path) -> None:
    said: list[str] = []
    summary = kill_many(tmp_path / "run", kills=5, seed=4, after_s=0.3, write=said.append)
    assert summary.faults == [], said
    assert summary.num_kills == 5
    assert set(summary.under_way) <= set(PHASES)


@pytest.mark.skipif(os.name == "nt", reason="POSIX only: Windows has no SIGKILL")
def test_a_run_that_learns_the_rules_is_killed_and_repeats(tmp_path: Path) -> None:
    """Its old positions are searched anew by the network of each phase, also after a kill."""
    said: list[str] = []
    summary = kill_many(
        tmp_path / "run",
        kills=2,
        seed=1,
        deterministic=True,
        preset="muzero",
        after_s=0.3,
        steps_a_kill=20,
        write=said.append,
    )
    assert summary.faults == [], said
    assert summary.num_kills == 2


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("runs") / "run"
    train_a_little("tictactoe", directory)
    return directory


def faults_of(run: Path, before: Found, after: Found, marks: Marks) -> str:
    return "; ".join(find_faults(run, GAME, before, after, marks))


@pytest.fixture
def marks(tmp_path: Path) -> Marks:
    return Marks(tmp_path / "marks")


def test_a_whole_run_has_no_faults(run: Path, marks: Marks) -> None:
    found = look(run)
    assert found.records and found.running and found.rows and found.steps == [0, 1, 2]
    assert faults_of(run, Found(), found, marks) == faults_of(run, found, found, marks) == ""


def without_a_game(found: Found) -> Found:
    return replace(found, records=found.records[1:])


def twice(found: Found) -> Found:
    return replace(found, records=[*found.records, found.records[0]])


def altered(found: Found) -> Found:
    first = found.records[0]
    return replace(found, records=[replace(first, plies=first.plies[::-1].copy()), *found.records[1:]])


def shorter(found: Found) -> Found:
    return replace(found, running={game_id: moves[:-1] for game_id, moves in found.running.items()})


def without_running(found: Found) -> Found:
    return replace(found, running={})


def without_a_checkpoint(found: Found) -> Found:
    return replace(found, steps=found.steps[:-1])


def with_a_row(found: Found) -> Found:
    last = found.rows[-1]
    return replace(found, rows=[*found.rows, replace(last, minutes=last.minutes / 2, step=0)])


def with_a_message(found: Found) -> Found:
    return replace(found, messages=["journal-000001.bin is damaged at bytes 5 to 9."])


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (without_a_game, r"finished games are lost: \[\d+\].*games that began are lost"),
        (twice, "1 finished games are there twice"),
        (altered, "finished games have changed"),
        (shorter, r"had the moves \["),
        (without_running, "games that began are lost|had the moves"),
        (without_a_checkpoint, r"checkpoints are lost: \[2\]"),
        (with_a_row, "minutes went back from .* the learner was at step 0, before its last checkpoint"),
        (with_a_message, "is damaged at bytes"),
    ],
)
def test_each_fault_is_found(run: Path, marks: Marks, change: Callable[[Found], Found], fault: str) -> None:
    found = look(run)
    assert re.search(fault, faults_of(run, found, change(found), marks))


def test_what_the_training_took_for_done_must_be_there(run: Path, marks: Marks, tmp_path: Path) -> None:
    found = look(run)
    marks.add(Marks.GAMES, 3)
    marks.add(Marks.SAVED, 4)
    faults = faults_of(run, found, found, marks)
    assert "of 3 games that were finished 0 are there" in faults
    assert "the checkpoint of step 4 was saved and is lost" in faults
    copy = shutil.copytree(run, tmp_path / "copy")
    weights = copy / "checkpoints" / "step-00000002.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    assert "is damaged" in faults_of(copy, Found(), found, marks)
    for record in found.records:
        record.plies["action"] = 0
    assert "has an illegal move at ply 1" in faults_of(run, Found(), found, marks)
