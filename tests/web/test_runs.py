"""Runs as a page shows them: figures, games, and that nothing in a run's directory changes."""

from __future__ import annotations

import hashlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from web_for_tests import record_games, untrained_run
from zerosum.base.errors import GameError, SettingsError
from zerosum.contest.elo import TOO_FEW_GAMES
from zerosum.games import make
from zerosum.replay.records import PlyFlag
from zerosum.run.metrics import HEADER
from zerosum.run.run_directory import hold
from zerosum.web import runs
from zerosum.web.library import Library
from zerosum.web.trainings import Trainings


def files(directory: Path) -> dict[str, str]:
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def run(tmp_path: Path) -> Path:
    made = untrained_run(tmp_path / "runs" / "tiny")
    record_games(made)
    columns = HEADER.split(",")
    rows = []
    for number in range(1, 500):
        values = dict.fromkeys(columns, "")
        values |= {"minutes": f"{number / 10}", "step": str(number), "games": str(number), "positions": "9"}
        values |= {"evaluations": "100", "evaluations_per_second": "5.5", "policy_loss": f"{2 - number / 500}"}
        rows.append(",".join(values[column] for column in columns))
    (made / "metrics.csv").write_text("\n".join([HEADER, *rows, "12,cut sh"]), encoding="utf-8")
    return made


def test_a_run_is_read_and_nothing_in_it_changes(run: Path) -> None:
    before, game = files(run), make("connect4")
    (line,) = runs.overview({"tiny": run})
    assert line["step"] == 499 and line["game"] == "connect4" and not line["live"]
    found = runs.curves("tiny", run)
    assert 200 < len(found["rows"]) <= runs.MOST_POINTS + 1 and found["rows"][-1]["step"] == 499
    assert [one["step"] for one in found["checkpoints"]] == [0, 2] and found["verdict"] and found["command"]
    games = runs.newest_games(run)
    assert [one["id"] for one in games] == [4, 3, 2, 1, 0]
    openings = runs.openings(game, run)
    # Three games are sealed, the two newest are not.
    assert [number for number, _ in openings["points"]] == [2, 4] and set(openings["moves"]) <= set("1234567")
    assert [sum(shares) for _, shares in openings["points"]] == pytest.approx([1, 1], abs=0.01)
    for one in games:
        for ply in (0, 3, one["plies"], one["plies"] + 5):
            seen = runs.one_game(game, run, one["id"], ply)
            assert len(seen["history"]) == one["plies"] == len(seen["values"])
            assert (seen["thought"] is None) == (ply >= one["plies"])
    thought = runs.one_game(game, run, 0, 0)["thought"]
    assert thought["rate"] == 0.625 and thought["net"] == 0.25 and len(thought["moves"]) == 5
    assert files(run) == before


def test_openings_of_a_small_network_are_those_of_its_alpha_beta_search(tmp_path: Path) -> None:
    made = untrained_run(tmp_path / "runs" / "small")
    record_games(made, flags=PlyFlag.RECORDED)
    assert runs.openings(make("connect4"), made) == {"moves": [], "points": []}, "another player's games"
    own = runs.openings(make("connect4"), made, is_updatable=True)
    assert [number for number, _ in own["points"]] == [2, 4]


@pytest.mark.parametrize(("error", "words"), [(120.0, "+250 ± 120"), (1485.0, TOO_FEW_GAMES)])
def test_a_rating_is_told_with_its_interval_or_not_at_all(run: Path, error: float, words: str) -> None:
    assert runs.overview({"tiny": run})[0]["elo"] is None
    columns = HEADER.split(",")
    values = dict.fromkeys(columns, "") | dict.fromkeys(columns[:6], "1") | {"elo": "250", "elo_error": str(error)}
    (run / "metrics.csv").write_text("\n".join([HEADER, ",".join(values.values()), ""]), encoding="utf-8")
    assert runs.overview({"tiny": run})[0]["elo"] == words


def test_what_is_damaged_or_missing_is_said(run: Path) -> None:
    with pytest.raises(SettingsError, match="not among the newest"):
        runs.one_game(make("connect4"), run, 99, 0)
    (run / "config.toml").write_text("nonsense = [", encoding="utf-8")
    (line,) = runs.overview({"tiny": run})
    assert "trouble" in line
    assert runs.newest_games(run.parent / "nowhere") == []


def test_only_given_runs_can_be_named(run: Path, tmp_path: Path) -> None:
    other = untrained_run(tmp_path / "secret")
    library = Library([run.parent])
    assert list(library.run_directories()) == ["tiny"]
    for name in ("secret", str(other), "../secret", "runs/../secret", str(run), ""):
        with pytest.raises(SettingsError, match="unknown run"):
            library.run_directory(name)
        with pytest.raises(SettingsError):
            library.player(name or " ", make("connect4"))


PROGRAM = """
import json, pathlib, sys, threading
from zerosum.run.run_directory import hold, stopped_by_request
arguments = sys.argv[1:]
run = pathlib.Path(arguments[arguments.index("--run") + 1] if "--run" in arguments else arguments[1])
stop = threading.Event()
with hold(run), stopped_by_request(run, stop):
    (run / "words.json").write_text(json.dumps(arguments))
    stop.wait(600)
"""


def wait_for(is_so: Callable[[], bool]) -> None:
    """However slow the machine is; what never happens is ended by the test's own time limit."""
    while not is_so():
        time.sleep(0.05)


def test_trainings_are_begun_and_stopped_where_that_is_allowed(run: Path) -> None:
    library = Library([run.parent])
    with pytest.raises(SettingsError, match="--train"):
        Trainings(library).start("new", "connect4", 1)
    trainings = Trainings(library, is_allowed=True, program=(sys.executable, "-c", PROGRAM))
    for name in ("../x", "", "a b", "/tmp/x", "x" * 50, "-rf"):
        with pytest.raises(SettingsError, match="letters, digits"):
            trainings.start(name, "connect4", 1)
    with pytest.raises(GameError, match="unknown game"):
        trainings.start("new", "path.py:Game", 1)
    command = trainings.start("new", "connect4", 1.5)
    new = run.parent / "new"
    assert command.endswith(f"train connect4 --run {new} --minutes 1.5")
    wait_for((new / "words.json").exists)
    assert json.loads((new / "words.json").read_text()) == ["train", "connect4", "--run", str(new), "--minutes", "1.5"]
    assert trainings.is_running(new)
    (new / "config.toml").write_text((run / "config.toml").read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(SettingsError, match="already"):
        trainings.start("new", "connect4", 1)
    (line,) = (line for line in runs.overview({"new": new}))
    assert line["live"], "its lock is held"
    assert trainings.stop("new") == f"touch {new / 'stop'}"
    wait_for(lambda: not trainings.is_running(new))
    assert not {"holder.json", "stop"} & {path.name for path in new.iterdir()}, "it has ended by itself"
    with pytest.raises(SettingsError, match="not learning"):
        trainings.stop("new")
    (new / "words.json").unlink()
    command = trainings.start("new", "connect4", 1.5)
    assert command.endswith(f"train {new} --minutes 1.5"), "the run, and not the game that it names"
    wait_for((new / "words.json").exists)
    trainings.stop("new")
    wait_for(lambda: not trainings.is_running(new))


def test_a_training_stops_that_has_only_begun(tmp_path: Path) -> None:
    """Before it holds its run, and has a directory."""
    slow = "import time; time.sleep(600)"
    trainings = Trainings(Library([tmp_path]), is_allowed=True, program=(sys.executable, "-c", slow))
    command = trainings.start("new", "connect4", 1)
    assert str(tmp_path / "new") in command
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "config.toml").write_text("", encoding="utf-8")
    assert trainings.stop("new").startswith("kill ")
    wait_for(lambda: not trainings.is_running(tmp_path / "new"))
    assert not (tmp_path / "new" / "stop").exists()


def test_no_process_is_ended_by_a_number_in_a_file(run: Path) -> None:
    """The holder was killed, and its number is another training's now, or a stranger has written it there."""
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "train.py"])
    try:
        (run / "holder.json").write_text(json.dumps({"pid": bystander.pid, "host": socket.gethostname(), "since": ""}))
        (run / "holder.lock").write_text("")
        trainings = Trainings(Library([run.parent]), is_allowed=True)
        assert not trainings.is_running(run)
        (line,) = runs.overview({"tiny": run})
        assert not line["live"], "a killed training is not learning for ever"
        with pytest.raises(SettingsError, match="not learning"):
            trainings.stop("tiny")
        with hold(run):  # another process may have taken the run since
            (run / "holder.json").write_text(json.dumps({"pid": bystander.pid, "host": "here", "since": ""}))
            trainings.stop("tiny")
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()
