"""A run from elsewhere causes nothing that its user has not allowed: each row of the table in docs/run-directory.md.

The files of a run name programs, commands, hosts, processes and other files. Here each names a victim, and every
command that reads runs is tried. An audit hook hears what the interpreter opens and starts, a socket who connects.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
import shlex
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from commands_for_tests import Answer, Command
from runs_for_tests import train_a_little
from zerosum.base import consent
from zerosum.base.errors import GameError, SettingsError
from zerosum.network.checkpoint import _body_checksum
from zerosum.play.player import load_player
from zerosum.run.game_import import rules_of_records
from zerosum.run.record_index import RecordIndex
from zerosum.run.run_directory import RECORDS_INDEX
from zerosum.run.training import train
from zerosum.web import runs as web_runs

PROGRAM = """
from pathlib import Path
import games_for_tests
Path({marker!r}).write_text("it ran")
class Stolen(games_for_tests.DoubleMove):
    name = "stolen"
"""


@dataclass
class Victim:
    """A user's machine: files that no run may touch, and a server that none may reach."""

    home: Path
    port: int
    bystander: subprocess.Popen[bytes]
    heard: list[str] = field(default_factory=list)
    """What was opened, started, ended or connected to."""

    @property
    def marker(self) -> Path:
        """The file that a planted program writes."""
        return self.home / "stolen"

    def program(self, path: Path) -> str:
        """A planted program, as the name of a game."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PROGRAM.format(marker=str(self.marker)))
        return f"{path}:Stolen"

    def is_untouched(self) -> bool:
        return not self.heard and not self.marker.exists() and self.bystander.poll() is None


_listening: list[Victim] = []


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    for victim in _listening:
        if event == "open" and isinstance(arguments[0], str | bytes) and str(victim.home) in os.fsdecode(arguments[0]):
            victim.heard.append(f"opened {arguments[0]!r}")
        elif event == "socket.connect" and str(victim.port) in repr(arguments[1]):
            victim.heard.append(f"connected to {arguments[1]!r}")
        elif event == "subprocess.Popen" and "stolen" in repr(arguments[:2]):
            victim.heard.append(f"started {arguments[1]!r}")
        elif event in ("os.system", "os.exec", "os.posix_spawn") or (
            event == "os.kill" and arguments[0] == victim.bystander.pid
        ):
            victim.heard.append(f"{event} {arguments!r}")


sys.addaudithook(_hear)


@pytest.fixture
def victim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Victim]:
    """A machine whose user has allowed nothing."""
    monkeypatch.setenv(consent.VARIABLE, str(tmp_path / "configuration"))
    monkeypatch.setattr(consent, "_unwritten", {})
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "a-key-of-the-user")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    (tmp_path / "victim").mkdir()
    listener = socket.create_server(("127.0.0.1", 0))
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "train"])
    found = Victim(tmp_path / "victim", listener.getsockname()[1], bystander)

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            found.heard.append(f"received {connection.recv(100)!r}")
            connection.close()

    threading.Thread(target=accept, daemon=True).start()
    _listening.append(found)
    yield found
    _listening.remove(found)
    listener.close()
    bystander.kill()
    bystander.wait()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("elsewhere") / "run"
    train_a_little("tictactoe", run)
    return run


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    """A run from elsewhere."""
    shutil.copytree(trained, tmp_path / "runs" / "run")
    return tmp_path / "runs" / "run"


@pytest.fixture
def every_command(
    zero: Command, victim: Victim, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Path], dict[str, Answer]]:
    """Every command that reads a run, with its answer."""
    houses: list[Any] = []
    monkeypatch.setattr("zerosum.web.server.serve", lambda house, **_: houses.append(house))

    commands: dict[str, list[Any]] = {
        "info": [],
        "play": [],
        "evaluate": ["--games", 2, "--positions", 0, "-n", 2],
        "report": ["--out", tmp_path / "report.html", "--quick"],
        "web": [],
        "export": [tmp_path / "net.onnx"],
        "uci": [],
        "train": ["--steps", 3],
        "tune": ["--trials", 1, "--games", 2, "-n", 2],
    }
    typed = {"play": "quit\n", "uci": "uci\nisready\nposition startpos\ngo nodes 2\nquit\n"}

    def tried(run: Path) -> dict[str, Answer]:
        answers = {name: zero(name, run, *words, typed=typed.get(name, "")) for name, words in commands.items()}
        answers["cluster status"] = zero("cluster", "status", run)
        house = houses[-1]
        found = house.library.run_directories()
        web_runs.overview(found)
        for name, directory in found.items():
            try:
                web_runs.curves(name, directory)
                house.library.player(name, house.library.game("tictactoe"))
            except (SettingsError, GameError, ValueError):
                pass
        return answers

    return tried


def set_in(run: Path, name: str, value: str) -> None:
    """Change a line of the settings, as a stranger's editor does."""
    path = run / "config.toml"
    text, count = re.subn(rf"(?m)^{name} = .*$", lambda _: f"{name} = {json.dumps(value)}", path.read_text("utf-8"))
    assert count == 1
    path.write_text(text, "utf-8")


# ---- programs

PLACES: dict[str, Callable[[Path, Victim], str]] = {
    "beside the run": lambda run, victim: victim.program(run.parent / "stolen.py"),
    "in its copy": lambda run, victim: victim.program(run / "game" / "stolen.py"),
    "as a moved file": lambda run, victim: victim.program(run / "game" / "moved.py") and "/nowhere/moved.py:Stolen",
    "elsewhere in the run": lambda run, victim: victim.program(run / "checkpoints" / "stolen.py"),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_program_that_a_run_names_does_not_run(
    run: Path, victim: Victim, every_command: Callable[[Path], dict[str, Answer]], place: str
) -> None:
    set_in(run, "game", PLACES[place](run, victim))
    answers = every_command(run)
    assert victim.is_untouched(), victim.heard
    for command in ("play", "evaluate", "uci", "train", "tune"):
        assert answers[command].status == 2, command
        assert "Traceback" not in answers[command].err
        if place != "elsewhere in the run":
            assert "have not allowed to run" in answers[command].err and "trust" in answers[command].err
    assert answers["info"].status == answers["export"].status == answers["report"].status == 0


def test_to_name_another_game_is_no_yes_to_the_program_of_a_run(run: Path, victim: Victim, zero: Command) -> None:
    set_in(run, "game", victim.program(run / "game" / "stolen.py"))
    set_in(run, "planes", "liberties=3")
    for words in (["train", "tictactoe"], ["train", "go9", "--dry-run"], ["import", run / "store.json"]):
        assert zero(*words, "--run", run).status == 2
    assert victim.is_untouched(), victim.heard


def test_a_program_runs_after_the_users_yes(run: Path, victim: Victim, zero: Command) -> None:
    """To this program alone, wherever its run lies; one that differs in a compiled file needs another yes."""
    set_in(run, "game", victim.program(run / "game" / "stolen.py"))
    answer = zero("trust", run, typed="n\n")
    assert answer.status != 0 and "Its rules are the program" in answer.out
    with pytest.raises(GameError, match="have not allowed"):
        load_player(run)
    assert zero("trust", run, "--yes").status == 0 and victim.is_untouched()
    moved = shutil.move(run, run.with_name("moved"))
    set_in(moved, "game", f"{moved}/game/stolen.py:Stolen")
    with pytest.raises(ValueError, match="network"):  # it is one for another game
        load_player(moved)
    assert victim.marker.exists() and not (moved / "game" / "__pycache__").exists()
    assert "needs your permission" in zero("trust", moved).out
    (moved / "game" / "__pycache__").mkdir()
    (moved / "game" / "__pycache__" / "stolen.cpython-311.pyc").write_bytes(b"another program")
    with pytest.raises(GameError, match="have not allowed"):
        load_player(moved)


def test_a_program_that_the_user_trains_runs_without_a_question(victim: Victim, tmp_path: Path) -> None:
    """And so does the run's copy, unless there is something in it that the program has not."""
    name = victim.program(tmp_path / "mine.py")
    _listening.clear()
    train_a_little(name, tmp_path / "own")
    victim.marker.unlink()
    assert load_player(tmp_path / "own").game.spec.name == "stolen"
    (tmp_path / "mine.py").rename(tmp_path / "moved.py")
    assert load_player(tmp_path / "own").game.spec.name == "stolen"
    (tmp_path / "own" / "game" / "numpy.py").write_text("raise SystemExit")
    with pytest.raises(GameError, match="have not allowed"):
        load_player(tmp_path / "own")
    (tmp_path / "moved.py").rename(tmp_path / "mine.py")
    train(name, tmp_path / "own", steps=3, report=lambda _: None)
    (tmp_path / "mine.py").rename(tmp_path / "moved.py")
    with pytest.raises(GameError, match="have not allowed"):
        load_player(tmp_path / "own")
    _listening.append(victim)


def test_records_name_no_program(run: Path, victim: Victim) -> None:
    set_in(run, "game", victim.program(run / "game" / "stolen.py"))
    for named in ("", "tictactoe"):
        with pytest.raises(GameError, match="have not allowed"):
            rules_of_records(run, named)
    assert victim.is_untouched()


@pytest.mark.parametrize("name", ["openspiel:efg_game(filename={})", "openspiel:misere(game=nfg_game(filename={}))"])
def test_openspiel_reads_no_file_that_a_run_names(
    run: Path, victim: Victim, every_command: Callable[[Path], dict[str, Answer]], name: str
) -> None:
    set_in(run, "game", name.format(victim.home / "thesis"))
    answers = every_command(run)
    assert "a game that reads a file" in answers["play"].err and victim.is_untouched()


def test_a_checkpoint_names_no_program(
    run: Path, victim: Victim, every_command: Callable[[Path], dict[str, Answer]]
) -> None:
    """Neither within its run nor without one."""
    name = victim.program(run / "stolen.py")
    for path in (run / "checkpoints").glob("step-*.json"):
        body = json.loads(path.read_text())
        body |= {"game": name, "game_options": ""}
        path.write_text(json.dumps({**body, "sha256": _body_checksum(body)}))
    every_command(run)
    assert victim.is_untouched(), victim.heard


def test_a_network_that_is_a_program_does_not_run(
    run: Path, victim: Victim, every_command: Callable[[Path], dict[str, Answer]]
) -> None:
    name = victim.program(run.parent / "stolen.py")
    set_in(run, "module", name)
    for path in (run / "checkpoints").glob("step-*.json"):
        body = json.loads(path.read_text())
        body["network"]["module"] = name
        path.write_text(json.dumps({**body, "sha256": _body_checksum(body)}))
    answers = every_command(run)
    assert victim.is_untouched(), victim.heard
    assert {name for name, answer in answers.items() if answer.status == 0} <= {"info", "report", "web"}
    assert all("Traceback" not in answer.err for answer in answers.values())


# ---- places


@pytest.mark.parametrize("address", ["s3://bucket/x?endpoint_override=127.0.0.1:{port}&scheme=http", "file://{home}/x"])
def test_a_store_that_a_run_names_is_not_used(
    run: Path, victim: Victim, zero: Command, every_command: Callable[[Path], dict[str, Answer]], address: str
) -> None:
    url = address.format(port=victim.port, home=victim.home)
    (run / "store.json").write_text(json.dumps({"url": url, "writer": "x", "after": 0}))
    answers = every_command(run)
    assert victim.is_untouched() and not list(victim.home.iterdir())
    assert answers["train"].status == 0 and f"--store {shlex.quote(url)}; to forget" in answers["train"].out
    assert f"copied to {url}" in answers["info"].out
    # A yes to another address is none to this one, and one for another run is none for this one.
    consent.allow("store", consent.run_subject(run), "file:///elsewhere")
    consent.allow("store", consent.run_subject(run.parent), url)
    assert "nothing is sent there" in zero("train", run, "--steps", 5).out and victim.is_untouched()
    assert zero("train", run, "--steps", 5, "--store", "none").status == 0
    assert not (run / "store.json").exists() and victim.is_untouched()


def test_the_hosts_that_get_signed_requests_are_said_before_the_first(run: Path, victim: Victim, zero: Command) -> None:
    url = f"s3://bucket/x?endpoint_override=127.0.0.1:{victim.port}&scheme=http"
    answer = zero("train", run, "--steps", 3, "--store", url)
    assert answer.status == 2 and "cannot be used" in answer.err and victim.heard
    assert f"is at 127.0.0.1:{victim.port}, not at Amazon" in answer.out and "without encryption" in answer.out


def test_an_initial_network_that_a_run_names_is_not_read(
    run: Path, trained: Path, victim: Victim, zero: Command, every_command: Callable[[Path], dict[str, Answer]]
) -> None:
    shutil.copytree(trained, victim.home / "network")
    victim.heard.clear()
    shutil.rmtree(run / "checkpoints")
    set_in(run, "initial_network", str(victim.home / "network"))
    answers = every_command(run)
    assert victim.is_untouched(), victim.heard
    assert answers["train"].status == 2 and "you have not named that file on this machine" in answers["train"].err
    assert zero("trust", run, "--yes").status == 0
    assert zero("train", run, "--steps", 3).status == 0 and victim.heard


def test_a_run_of_ones_own_goes_on_with_its_initial_network(trained: Path, tmp_path: Path, victim: Victim) -> None:
    """After a kill before the first checkpoint, without naming it again."""
    own = tmp_path / "own"
    settings = {"training.initial_network": str(trained), "training.min_positions": 20, "strength.budget_share": 0}
    train("tictactoe", own, steps=1, settings=settings, report=lambda _: None)
    shutil.rmtree(own / "checkpoints")
    train("tictactoe", own, steps=1, report=lambda _: None)


# ---- all that is only shown or compared


def _plant_everything(run: Path, victim: Victim) -> None:
    """Names of victims in every other file that names something."""
    command = f"uci:touch {victim.marker}"
    (run / "holder.json").write_text(json.dumps({"pid": victim.bystander.pid, "host": "here", "since": "now"}))
    (run / "holder.lock").write_text("")
    status = {"time": "now", "unix_s": 0, "address": f"127.0.0.1:{victim.port}", "nodes": 1, "step": 1, "games": 1}
    actor = {"name": "1", "node": "here", "state": "playing", "threads": 1, "pid": victim.bystander.pid}
    (run / "cluster.json").write_text(json.dumps({**status, "actors": [actor]}))
    (run / "cluster.jsonl").write_text(json.dumps({"event": "joined", "actor": command, "node": "here"}) + "\n")
    match = {"player": "step 2", "opponent": command, "points": 1.0, "num_games": 2, "evaluations": 1, "seconds": 1.0}
    (run / "strength.jsonl").write_text(json.dumps(match) + "\n")
    (run / "gate.jsonl").write_text(json.dumps({"step": 2, "best": str(victim.home)}) + "\n")
    (run / "checkpoints" / "best").write_text(f"../../{victim.home}/thesis\n")
    levels = [{"skill": skill, "elo": 1.0, "error": 1.0, "games": 2} for skill in (1, 2)]
    game = victim.program(victim.home.with_name("levels.py"))
    (run / "levels.json").write_text(json.dumps({"game": game, "player": command, "levels": levels}))
    setup = {"host": socket.gethostname(), "num_cores": 1, "num_threads": 1, "backend": command, "device": "auto"}
    (run / "calibration.json").write_text(json.dumps({"setup": setup, "rates": {"1000000000": 1.0}}))
    (run / "tuning").mkdir()
    engine = {"name": "engine", "program": command, "network": "", "search": {}, "terms": ""}
    header = {"format": "zerosum match 1", "game": game, "first": engine, "second": engine}
    (run / "tuning" / "trial-001.jsonl").write_text(json.dumps(header) + "\n")
    (run / "mistakes.jsonl").write_text(json.dumps({"step": 1, "set": str(victim.home / "thesis")}) + "\n")
    (run / "held-out.jsonl").write_text(json.dumps({"step": 1, "split": str(victim.home / "thesis")}) + "\n")
    with (run / "metrics.csv").open("a", encoding="utf-8") as file:
        file.write(f"{victim.home},{command}\n")


def test_files_that_are_shown_or_compared_cause_nothing(
    run: Path, victim: Victim, every_command: Callable[[Path], dict[str, Answer]]
) -> None:
    _plant_everything(run, victim)
    answers = every_command(run)
    assert victim.is_untouched(), victim.heard
    assert all("Traceback" not in answer.err for answer in answers.values())
    assert answers["train"].status == 0 and "damaged" in answers["train"].out


@pytest.mark.skipif(os.name == "nt", reason="a user of Windows may not make links")
@pytest.mark.parametrize("name", ["checkpoints/best", "levels.json", "metrics.csv", "holder.lock", "cluster.json"])
def test_links_lead_nowhere(
    run: Path, victim: Victim, every_command: Callable[[Path], dict[str, Answer]], name: str
) -> None:
    (victim.home / "thesis").write_text("ten years of work")
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(victim.home / "thesis")
    answers = every_command(run)
    assert all("ten years" not in answer.out + answer.err for answer in answers.values())
    assert (victim.home / "thesis").read_text() == "ten years of work" and os.listdir(victim.home) == ["thesis"]


def test_an_index_with_a_journal_removes_no_other_file(run: Path, victim: Victim) -> None:
    """SQLite removes the file that a journal names as its super-journal."""
    thesis = victim.home / "thesis"
    thesis.write_text("ten years of work")
    index = run / RECORDS_INDEX
    with sqlite3.connect(index) as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    content = bytearray(index.read_bytes())
    page, name = len(content) // 2, str(thesis).encode()
    header = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"".join(
        number.to_bytes(4, "big") for number in (1, 0, len(content) // page, 512, page)
    )
    first = bytes(content[:page])
    total = sum(first[place] for place in range(page - 200, 0, -200))
    record = (1).to_bytes(4, "big") + first + total.to_bytes(4, "big")
    pointer = (0x40000000 // page + 1).to_bytes(4, "big") + name + len(name).to_bytes(4, "big")
    pointer += sum(name).to_bytes(4, "big") + header[:8]
    Path(f"{index}-journal").write_bytes(header.ljust(512, b"\0") + record + pointer)
    _listening.clear()
    RecordIndex(index, run / "records").close()
    assert thesis.read_text() == "ten years of work"
    _listening.append(victim)


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE VIEW games AS SELECT 1 AS digest, 2 AS game_id, 'x' AS origin",
        "CREATE TABLE games (digest, game_id, origin);"
        "CREATE TRIGGER t AFTER INSERT ON games BEGIN DELETE FROM games; END",
    ],
)
def test_an_index_with_a_program_in_it_is_made_anew(run: Path, schema: str) -> None:
    with sqlite3.connect(run / RECORDS_INDEX) as connection:
        connection.executescript(schema)
    connection.close()
    RecordIndex(run / RECORDS_INDEX, run / "records").close()
    with sqlite3.connect(run / RECORDS_INDEX) as connection:
        kinds = {kind for (kind,) in connection.execute("SELECT type FROM sqlite_master")}
    connection.close()
    assert kinds == {"table", "index"}


# ---- what the user has allowed


def test_answers_are_kept_outside_of_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(consent.VARIABLE, str(tmp_path / "mine"))
    monkeypatch.setattr(consent, "_unwritten", {})
    assert consent.allowed("store", "a") is None and not (tmp_path / "mine").exists()
    assert consent.allow("store", "a", "s3://x/y") == ""
    assert consent.allowed("store", "a") == "s3://x/y"
    assert consent.allowed("program", "a") is None
    assert consent.withdraw("store", "a") == "" and consent.allowed("store", "a") is None
    file = tmp_path / "mine" / "allowed.json"
    file.write_text("[")
    with pytest.raises(ValueError, match=r"allowed.json cannot be read .*: remove it"):
        consent.allowed("store", "a")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(consent.VARIABLE, str(tmp_path / "file"))
    note = consent.allow("network", "b")
    assert "cannot be written" in note and consent.VARIABLE in note
    assert consent.allowed("network", "b") == "", "this process knows it"


def test_the_usual_place_is_the_systems(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(consent.VARIABLE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    place = consent.configuration_directory()
    assert place.name == "zerosum"
    if sys.platform == "linux":
        assert place == tmp_path / "zerosum"


def test_a_digest_tells_names_from_contents(tmp_path: Path) -> None:
    from zerosum.games.permission import _digest

    assert _digest({"a": b"bc"}) != _digest({"ab": b"c"}) != _digest({"a": b"b", "c": b""})
    assert re.fullmatch("sha256:[0-9a-f]{64}", _digest({})) and hashlib.sha256().hexdigest() in _digest({})


# ---- the table

TESTS: dict[str, list[Callable[..., None]]] = {
    "`config.toml`: `game`: a program, `path.py:Class`": [test_a_program_that_a_run_names_does_not_run],
    "`config.toml`: `game`: a game of OpenSpiel that reads a file": [test_openspiel_reads_no_file_that_a_run_names],
    "`config.toml`: `network.module`, and the same in `checkpoints/step-*.json`": [
        test_a_network_that_is_a_program_does_not_run
    ],
    "`game/`": [test_a_program_runs_after_the_users_yes, test_a_program_that_the_user_trains_runs_without_a_question],
    "`config.toml`: `training.initial_network`": [test_an_initial_network_that_a_run_names_is_not_read],
    "`store.json`": [test_a_store_that_a_run_names_is_not_used],
    "`checkpoints/step-*.json`": [test_a_checkpoint_names_no_program],
    "`records-index.sqlite` and a journal of SQLite beside it": [
        test_an_index_with_a_journal_removes_no_other_file,
        test_an_index_with_a_program_in_it_is_made_anew,
    ],
}
"""The tests of rows of the table, by their first cell, and the second one where two rows share it."""
PLANTED = [
    "holder.json", "holder.lock", "cluster.json", "cluster.jsonl", "strength.jsonl", "gate.jsonl", "tuning/*.jsonl",
    "levels.json", "calibration.json", "checkpoints/best", "metrics.csv", "mistakes.jsonl", "held-out.jsonl",
]  # fmt: skip
"""Files that `_plant_everything` writes."""
ELSEWHERE = {"games/manifest.jsonl": "test_a_manifest_names_files_of_its_run_alone", "tensorboard/": "LINKS"}
"""Files that `test_strangers.py` tests."""


def test_each_row_of_the_table_has_a_test() -> None:
    page = (Path(__file__).parents[2] / "docs" / "run-directory.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| (.+?) \| (.+?) \|", page.partition("| file | what it can name |")[2])
    planted = inspect.getsource(_plant_everything)
    strangers = Path(__file__).with_name("test_strangers.py").read_text(encoding="utf-8")
    assert len(rows) >= 16
    for file, named in rows:
        if file in TESTS or f"{file}: {named}" in TESTS:
            continue
        for name in re.findall(r"`([^`]+)`", file):
            if name in ELSEWHERE:
                assert ELSEWHERE[name] in strangers, name
            else:
                assert name in PLANTED and f'"{Path(name).name.replace("*", "trial-001")}"' in planted, name
