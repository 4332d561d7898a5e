"""Worker processes: they play the games that one thread plays, and nothing of theirs is lost or left behind."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from games_for_tests import DoubleMove
from logs_for_tests import FinishedLog
from networks_for_tests import BF16_TOLERANCE, error_of_recorded_values, with_opinions
from runs_for_tests import SETTINGS
from zerosum.base.errors import GameError, RunError, SettingsError, ZerosumError
from zerosum.games import make
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig, NetworkShape, initial_weights
from zerosum.network.evaluators import EvaluatorConfig, UniformEvaluator
from zerosum.replay import GameRecord
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import PLY_NAMES
from zerosum.run.metrics import read_metrics
from zerosum.run.training import train
from zerosum.search import SearchConfig
from zerosum.selfplay import SelfplayConfig, SelfplayTask, processes
from zerosum.selfplay.playing_network import PROGRESS, PlayingNetwork
from zerosum.selfplay.processes import SelfplayProcesses
from zerosum.selfplay.resignation import RESIGNATION, Resignation
from zerosum.selfplay.worker import SelfplayWorker
from zerosum.selfplay.worker_process import checkpoint_of, pack_weights

NETWORK = NetworkConfig(num_blocks=0, num_filters=4)


def test_a_network_arrives_as_it_was_sent() -> None:
    """With what a worker plays by: the learner's step, and the progress of the training."""
    game = make("connect4")
    sent = Checkpoint(
        info=CheckpointInfo.describe(game.spec, NETWORK, step=70, training={PROGRESS: 0.25}),
        weights=initial_weights(NETWORK, NetworkShape.of(game.spec), seed=1),
    )
    arrived = checkpoint_of(pack_weights(sent), game)
    assert PlayingNetwork.of(arrived.info) == PlayingNetwork(70, 0.25)
    assert arrived.info.network == NETWORK and arrived.weights.keys() == sent.weights.keys()
    assert all(np.array_equal(arrived.weights[name], weight) for name, weight in sent.weights.items())


@pytest.fixture
def game(tmp_path: Path) -> str:
    """A game in a file of its own, with a neighbour that it imports."""
    neighbour = Path(__file__).parents[1] / "games_for_tests.py"
    (tmp_path / "games_for_workers.py").write_text(neighbour.read_text(encoding="utf-8"), encoding="utf-8")
    return write_game(tmp_path, "")


def write_game(directory: Path, play: str) -> str:
    """DoubleMove, with statements before each `play`."""
    (directory / "mygame.py").write_text(
        "import os\nimport sys\nimport time\nfrom games_for_workers import DoubleMove\n\n"
        "class MyGame(DoubleMove):\n    def play(self, state, action):\n"
        + textwrap.indent(f"{textwrap.dedent(play)}\nreturn super().play(state, action)\n", 8 * " "),
        encoding="utf-8",
    )
    return f"{directory / 'mygame.py'}:MyGame"


def new_task(game: str, log: FinishedLog, first_game_id: int = 0) -> SelfplayTask:
    return SelfplayTask(
        game=make(game),
        search=SearchConfig(num_simulations=6, root_noise_alpha=1.0),
        config=SelfplayConfig(games_per_worker=3, temperature_plies=6, full_search_share=0.5, fast_simulations=2),
        evaluator=UniformEvaluator(),
        log=log,
        seed=7,
        settings_hash="abc",
        game_ids=itertools.count(first_game_id),
    )


def test_workers_make_the_game_with_the_planes_of_the_network(tmp_path: Path) -> None:
    """By default a run of Go adds planes to it; a run of its name alone is refused here and not by torch over there."""
    settings = [*SETTINGS, "training.workers=processes", "selfplay.num_workers=2", "training.steps=1"]
    train("go(size=5)", tmp_path / "run", overrides=settings, report=lambda _: None)
    assert read_metrics(tmp_path / "run" / "metrics.csv")[-1].step == 1
    with pytest.raises(AssertionError, match=r"go\(size=5\) is not go\(size=5, liberties=3\)"):
        new_selfplay("go(size=5, liberties=3)", FinishedLog(), named="go(size=5)")


def new_selfplay(
    game: str, log: FinishedLog, first_game_id: int = 0, *, named: str = "", **changes: Any
) -> SelfplayProcesses:
    task, spec = new_task(game, log, first_game_id), make(game).spec
    info = CheckpointInfo.describe(spec, NETWORK, step=5)
    checkpoint = Checkpoint(info, initial_weights(NETWORK, info.shape, seed=0))
    return SelfplayProcesses(task, checkpoint, game=named or game, num_workers=2, **changes)


def same(record: GameRecord, other: GameRecord, *, apart_from: str = "") -> bool:
    columns = [name for name in PLY_NAMES if name != apart_from]
    names = {field.name for field in dataclasses.fields(GameRecord)} - {"plies"}
    return np.array_equal(record.plies[columns], other.plies[columns]) and all(
        np.array_equal(getattr(record, name), getattr(other, name)) for name in names
    )


def test_processes_play_the_games_that_a_thread_plays(game: str) -> None:
    """An untrained network has no opinion, and a game depends on its number alone."""
    log, taken = FinishedLog(), list[GameRecord]()
    selfplay = new_selfplay(game, log, first_game_id=10)
    selfplay.play(lambda: len(taken) >= 30 and {number % 2 for number in list(log.finished)} == {0, 1}, taken.append)
    assert {record.game_id for record in taken} == log.finished.keys()
    assert len(taken) == len(log.finished) == selfplay.counts.games
    numbers = [*log.finished, *log.running]
    assert min(numbers) == 10 and len(numbers) == len(set(numbers))
    running = sum(len(running.plies) for running in log.running.values())
    assert selfplay.counts.plies == running + sum(record.num_plies for record in taken)
    assert selfplay.counts.evaluations > 0
    assert all((record.plies["checkpoint_step"] == 5).all() for record in taken)

    alone = FinishedLog()
    worker = SelfplayWorker(new_task(game, alone, first_game_id=10))
    worker.play_until(lambda: log.finished.keys() <= alone.finished.keys(), lambda _: None)
    for number, record in log.finished.items():
        assert same(record, alone.finished[number], apart_from="checkpoint_step")


def test_processes_resign_by_the_threshold_of_the_run(game: str) -> None:
    """They would have none before many games of their own were played out."""
    config = SelfplayConfig(games_per_worker=3, resign_false_positives=0.05, resign_played_out_share=0.5)
    resignation = Resignation(config, seed=7)
    task = dataclasses.replace(new_task(game, FinishedLog()), config=config, resignation=resignation)
    info = CheckpointInfo.describe(make(game).spec, NETWORK, step=5)
    checkpoint = Checkpoint(info, initial_weights(NETWORK, info.shape, seed=0))
    selfplay, taken = SelfplayProcesses(task, checkpoint, game=game, num_workers=1), list[GameRecord]()

    def take(record: GameRecord) -> None:
        assert len(taken) >= 10 or record.ending != RESIGNATION
        taken.append(record)
        if len(taken) == 10:
            resignation.threshold = 0.9

    selfplay.play(lambda: len(taken) > 2000 or any(record.ending == RESIGNATION for record in taken), take)
    assert 10 < len(taken) < 2000


def test_running_games_are_dealt_out_and_go_on(game: str) -> None:
    before = FinishedLog()
    worker = SelfplayWorker(new_task(game, before))
    while sum(len(running.plies) for running in before.running.values()) < 6:
        worker.play_batch()
    log = FinishedLog(before.running)
    plies = {number: [ply.action for ply in running.plies] for number, running in log.running.items()}
    selfplay = new_selfplay(game, log, first_game_id=100, running=list(log.running.values()))
    selfplay.play(lambda: plies.keys() <= log.finished.keys(), lambda _: None)
    for number, actions in plies.items():
        assert log.finished[number].plies["action"][: len(actions)].tolist() == actions


def test_a_new_network_reaches_every_worker_and_a_pause_holds_them(game: str) -> None:
    log, spec = FinishedLog(), make(game).spec
    selfplay, is_paused = new_selfplay(game, log), False
    larger = dataclasses.replace(NETWORK, num_blocks=1, num_filters=6)
    info = CheckpointInfo.describe(spec, larger, step=6)
    newer = with_opinions(Checkpoint(info, initial_weights(larger, info.shape, seed=1)), seed=1)

    def has_newer(worker: int) -> bool:
        records = [record for number, record in list(log.finished.items()) if number % 2 == worker]
        return bool(records) and (records[-1].plies["checkpoint_step"] == 6).all()

    def steps() -> Any:
        """The steps of the scenario, one after the other, while the processes play."""
        nonlocal is_paused
        while len(log.finished) < 10:
            yield
        selfplay.update(newer)
        while not (has_newer(0) and has_newer(1)):
            yield
        is_paused, counts = True, None
        while counts != selfplay.counts:  # whatever was under way has arrived when it stays the same
            counts, looked_at = selfplay.counts, time.monotonic()
            while time.monotonic() < looked_at + 0.3:
                yield
        is_paused = False
        while selfplay.counts == counts:
            yield

    course = steps()
    selfplay.play(lambda: next(course, "over") is not None, lambda _: None, is_paused=lambda: is_paused)
    later = [record for record in log.finished.values() if (record.plies["checkpoint_step"] == 6).all()]
    assert later and error_of_recorded_values(later, make(game), newer) < BF16_TOLERANCE


def broken(game: str) -> str:
    """The message of a failure of self-play."""
    selfplay = new_selfplay(game, FinishedLog())
    with pytest.raises(ZerosumError) as caught:
        selfplay.play(lambda: False, lambda _: None)
    assert type(caught.value) in (GameError, RunError)
    return f"{type(caught.value).__name__}: {caught.value}"


def test_a_mistake_in_the_game_is_told_as_if_it_had_been_played_here(game: str) -> None:
    directory = Path(game.rpartition(":")[0]).parent
    name = write_game(directory, "if state[0] == 7:\n    raise KeyError('seven')")
    with pytest.raises(GameError) as caught:
        SelfplayWorker(new_task(name, FinishedLog())).play_until(lambda: False, lambda _: None)
    said = broken(name)
    assert said == f"GameError: {caught.value}"
    assert "KeyError: 'seven' (mygame.py, line 9, in play)" in said and "7 of 12" in said


def test_a_worker_that_dies_is_named_with_its_last_words(game: str, capfd: pytest.CaptureFixture[str]) -> None:
    directory = Path(game.rpartition(":")[0]).parent
    death = "if state[0] == 7:\n    print('farewell', flush=True)\n    os._exit(3)"
    said = broken(write_game(directory, death))
    assert said.startswith("RunError: self-play's process ")
    assert " of 2 ended with exit status 3. The games are saved: " in said
    assert said.endswith("Its last words:\n  farewell")
    assert "farewell" in capfd.readouterr().err, "what a game prints is not lost"


@pytest.mark.skipif(os.name == "nt", reason="POSIX only: Windows has no signals")
def test_a_worker_that_is_killed_is_named_with_its_signal(game: str) -> None:
    directory = Path(game.rpartition(":")[0]).parent
    said = broken(write_game(directory, "if state[0] == 7:\n    os.kill(os.getpid(), 9)"))
    assert " of 2 was ended by SIGKILL (the system does so when memory is short). " in said


@pytest.fixture
def silence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder for the numbers of the processes that fell silent: for them time runs fast, for others it stands."""
    folder, wait_for = tmp_path / "silent", processes._Process.wait_for
    folder.mkdir()

    def soon(worker: processes._Process, seconds: float) -> str:
        return wait_for(worker, 0.6 * processes.SILENCE_S if (folder / str(worker._child.pid)).exists() else 0.0)

    monkeypatch.setattr(processes._Process, "wait_for", soon)
    return folder


ONCE = """
if state[0] == 7:
    try:
        os.mkdir({folder!r} + "-taken")  # of two processes that come here at the same time, one
    except FileExistsError:
        pass
    else:
        open(os.path.join({folder!r}, {marker}), "w").close()
        {end}
"""
SILENT = "did not answer for 360 seconds (it was stopped, or a method of the game hangs): another one replaces it"
PID = "str(os.getpid())"
ENDS = {
    "stops": (PID, "os.kill(os.getpid(), 19)", SILENT),
    "hangs": (PID, "time.sleep(10_000)", SILENT),
    "hangs busily": (PID, "while True: pass", SILENT),
    "is ended": (
        "'ended'",
        "os.kill(os.getpid(), 15)",
        "was ended by SIGTERM: another one replaces it and continues its games.",
    ),
}


@pytest.mark.skipif(os.name == "nt", reason="POSIX only: Windows has no signals")
@pytest.mark.parametrize(("marker", "end", "how"), ENDS.values(), ids=ENDS)
def test_a_worker_that_falls_silent_is_replaced(game: str, silence: Path, marker: str, end: str, how: str) -> None:
    directory, said = Path(game.rpartition(":")[0]).parent, list[str]()
    name = write_game(directory, ONCE.format(folder=str(silence), marker=marker, end=end))
    log, spec = FinishedLog(), make(game).spec
    selfplay = new_selfplay(name, log, report=said.append)
    under_way = dict[int, int]()

    def is_replaced() -> bool:
        return bool(said) and how in said[-1]

    def is_enough() -> bool:
        """Weights for a process that does not read fill its pipe, which must not block the others."""
        if list(silence.iterdir()) and not (is_replaced() and under_way):
            info = CheckpointInfo.describe(spec, NETWORK, step=6)
            selfplay.update(Checkpoint(info, initial_weights(NETWORK, info.shape, seed=1)))
            under_way.update({number: len(running.plies) for number, running in dict(log.running).items()})
        return is_replaced() and bool(under_way) and under_way.keys() <= log.finished.keys()

    selfplay.play(is_enough, lambda _: None)
    if how == SILENT:
        notice = "has not answered for 180 seconds. After 300 seconds another one replaces it and continues its games."
        assert said.pop(0).endswith(notice)
    assert len(said) == 1 and is_replaced()
    assert under_way and selfplay.counts.games == len(log.finished)
    alone = FinishedLog()
    worker = SelfplayWorker(new_task(game, alone))
    worker.play_until(lambda: log.finished.keys() <= alone.finished.keys(), lambda _: None)
    for number, record in log.finished.items():
        assert same(record, alone.finished[number], apart_from="checkpoint_step"), "as if nothing had happened"


@pytest.mark.skipif(os.name == "nt", reason="POSIX only: Windows has no signals")
def test_workers_that_are_ended_again_and_again_end_the_run(game: str) -> None:
    directory, said = Path(game.rpartition(":")[0]).parent, list[str]()
    name = write_game(directory, "if 'zerosum.selfplay.worker_process' in sys.orig_argv:\n    os.kill(os.getpid(), 15)")
    with pytest.raises(RunError, match=r"self-play's process . of 2 was ended by SIGTERM. The games are saved"):
        new_selfplay(name, FinishedLog(), report=said.append).play(lambda: False, lambda _: None)
    assert processes.MOST_REPLACEMENTS <= len(said) <= 2 * processes.MOST_REPLACEMENTS


def test_an_error_of_who_takes_the_games_ends_all(game: str) -> None:
    def take(record: GameRecord) -> None:
        raise RunError("no room for games")

    with pytest.raises(RunError, match="no room for games"):
        new_selfplay(game, FinishedLog()).play(lambda: False, take)


def test_each_worker_takes_one_of_several_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    devices = [torch.device("cuda", number) for number in range(2)]
    monkeypatch.setattr(EvaluatorConfig, "on_gpu", True)
    monkeypatch.setattr(processes, "torch_devices", lambda _: devices)
    evaluator = EvaluatorConfig(backend="torch", device="cuda")
    info = CheckpointInfo.describe(make("tictactoe").spec, NETWORK, step=0)
    checkpoint = Checkpoint(info, initial_weights(NETWORK, info.shape, seed=0))
    task = new_task("tictactoe", FinishedLog())
    selfplay = SelfplayProcesses(task, checkpoint, game="tictactoe", num_workers=4, evaluator=evaluator)
    assert [one.evaluator.device for one in selfplay._tasks] == ["cuda:0", "cuda:1", "cuda:0", "cuda:1"]


# ---- in a run


@pytest.mark.parametrize(("workers", "kind"), [("processes", "process"), ("auto", "thread"), ("threads", "thread")])
def test_a_game_of_the_core_plays_in_the_workers_asked_for(workers: str, kind: str, tmp_path: Path) -> None:
    said: list[str] = []
    overrides = [*SETTINGS, "selfplay.num_workers=2", f"training.workers={workers}"]
    train("tictactoe", tmp_path / "run", overrides=overrides, report=said.append)
    assert any(f"games a {kind}; workers: 2" in line for line in said)
    assert read_metrics(tmp_path / "run" / "metrics.csv")[-1].step == 2


def test_a_game_in_python_plays_in_threads_if_asked_to(game: str, tmp_path: Path) -> None:
    said: list[str] = []
    overrides = [*SETTINGS, "selfplay.num_workers=2", "training.workers=threads"]
    train(game, tmp_path / "run", overrides=overrides, report=said.append)
    assert any("games a thread; workers: 2" in line for line in said)


def test_processes_that_cannot_be_are_refused(tmp_path: Path) -> None:
    overrides = [*SETTINGS, "training.workers=processes"]
    with pytest.raises(SettingsError, match="a deterministic run plays on one thread"):
        train("tictactoe", tmp_path / "run", overrides=[*overrides, "training.deterministic=true"])

    class Here(DoubleMove):
        """A class that no other process can load."""

    with pytest.raises(SettingsError, match="no other process can load double-move"):
        train(Here(), tmp_path / "mine", overrides=overrides, report=lambda _: None)


def test_cpu_minutes_include_those_of_worker_processes(
    game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workers report three thousand seconds each second: an hour is over in little more than one."""
    monkeypatch.setattr(SelfplayProcesses, "cpu_s", property(lambda _: 3000 * time.monotonic()))
    changes = ["selfplay.num_workers=2", "strength.budget_share=0", "training.clock=cpu"]
    overrides = [*(text for text in SETTINGS if not text.startswith("training.steps=")), *changes]
    train(game, tmp_path / "run", minutes=60, overrides=overrides, report=lambda _: None)
    assert read_metrics(tmp_path / "run" / "metrics.csv")[-1].minutes >= 57


def train_a_little(game: str, run: Path, *, steps: int) -> list[str]:
    changes = ["selfplay.num_workers=2", "learner.samples_per_position=1", "strength.budget_share=0"]
    overrides = [*SETTINGS, *changes, f"training.steps={steps}"]
    said: list[str] = []
    train(game, run, overrides=overrides, report=said.append)
    return said


def games_of(run: Path) -> dict[int, GameRecord]:
    store = GameStore(run / "games", report=pytest.fail)
    records = {record.game_id: record for record in store.recent(1 << 60)}
    assert len(records) == store.num_games, "no game is there twice"
    store.close()
    return records


def test_a_run_trains_in_processes_and_resumes(game: str, tmp_path: Path) -> None:
    run, rules = tmp_path / "run", make(game)
    said = train_a_little(game, run, steps=4)
    assert any("self-play: 4 games a process; workers: 2;" in line for line in said), said
    before = games_of(run)
    owed = sum(record.num_positions for record in before.values()) // 8  # steps, made before the processes have begun
    train_a_little(game, run, steps=owed + 20)
    after = games_of(run)
    assert before.keys() < after.keys() and all(same(before[number], after[number]) for number in before)
    for record in after.values():
        state = rules.initial_state()
        for action in record.plies["action"].tolist():
            state = rules.play(state, action)
        assert rules.outcome(state) == record.outcome


def test_a_mistake_in_the_game_ends_the_run_with_its_sentence(game: str, tmp_path: Path) -> None:
    """The fault is one that the check cannot find."""
    directory = Path(game.rpartition(":")[0]).parent
    name = write_game(directory, "if 'zerosum.selfplay.worker_process' in sys.orig_argv:\n    raise KeyError('late')")
    with pytest.raises(GameError, match=r"double-move: KeyError: 'late' \(mygame.py, line 9, in play\)\nat the"):
        train_a_little(name, tmp_path / "run", steps=100_000)


@pytest.mark.skipif(os.name == "nt", reason="POSIX only: locks tell who is alive")
@pytest.mark.parametrize("is_killed", [True, False])
def test_no_worker_outlives_the_run(game: str, tmp_path: Path, is_killed: bool) -> None:
    """A process that plays holds a lock on a file of its own, which the system lets go when the process ends."""
    import fcntl

    directory, locks = Path(game.rpartition(":")[0]).parent, tmp_path / "locks"
    locks.mkdir()
    name = write_game(
        directory,
        f"""
        if not hasattr(self, "lock"):
            import fcntl
            self.lock = open(f"{locks}/{{os.getpid()}}", "w")
            fcntl.flock(self.lock, fcntl.LOCK_EX)
        """,
    )

    def num_alive() -> int:
        alive = 0
        for path in locks.iterdir():
            with path.open() as file, contextlib.suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                alive -= 1
            alive += 1
        return alive

    settings = [*SETTINGS, "selfplay.num_workers=2", "training.steps=100000", "training.min_positions=1000000"]
    command = [sys.executable, "-m", "zerosum", "train", name, "--run", str(tmp_path / "run")]
    command += [word for setting in settings for word in ("--set", setting)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True) as process:
        wait_until(lambda: process.poll() is not None or num_alive() == 3)  # the parent plays to check the game
        assert process.poll() is None
        if is_killed:
            process.kill()
        else:  # Ctrl-C in a terminal reaches all processes
            os.killpg(process.pid, 2)
        process.wait()
        assert process.returncode == (-9 if is_killed else 128 + 2)
        wait_until(lambda: num_alive() == 0)


def wait_until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        time.sleep(0.02)
