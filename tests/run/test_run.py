"""A run from end to end: it learns, stops, resumes, survives kills and damage, and says so in sentences."""

from __future__ import annotations

import contextlib
import json
import math
import os
import pkgutil
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, STDOUT
from types import SimpleNamespace
from typing import Any

import filelock
import numpy as np
import pytest

from zerosum.base import holding
from zerosum.base.errors import DataError, RunError, SettingsError
from zerosum.base.files import replace_durably
from zerosum.network import load_checkpoint
from zerosum.network.checkpoint import list_checkpoints
from zerosum.network.evaluators import Evaluator
from zerosum.play.player import load_player
from zerosum.replay.game_store import GameStore
from zerosum.run import run_directory
from zerosum.run.measures import progress_line
from zerosum.run.metrics import MetricsRow, read_metrics
from zerosum.run.strength import Strength
from zerosum.run.training import train

TINY = [
    "network.num_blocks=1",
    "network.num_filters=8",
    "search.cache_positions=20",
    "strength.budget_share=0.02",  # rating games take most of the time of a run as short as these
    "search.num_simulations=8",
    "learner.batch_size=32",
    "selfplay.games_per_worker=4",
    "selfplay.num_workers=1",
    "training.min_positions=50",
    "training.steps_per_phase=4",
    "training.num_checkpoints=3",
    "learner.samples_per_position=4",
]


def run_steps(
    directory: Path, steps: int, *overrides: str, game: str = "tictactoe", seed: int | None = None
) -> list[str]:
    """Train a tiny network to a number of learner steps; answers what was said."""
    said: list[str] = []
    fresh = TINY if not (directory / "config.toml").exists() else []
    train(game, directory, seed=seed, overrides=[*fresh, f"training.steps={steps}", *overrides], report=said.append)
    return said


def games_of(directory: Path) -> dict[int, tuple[int, ...]]:
    """The finished games of a run by id; each must be there once."""
    messages: list[str] = []
    store = GameStore(directory / "games", report=messages.append)
    records = list(store.recent(1 << 60))
    store.close()
    games = {record.game_id: tuple(record.plies["action"].tolist()) for record in records}
    assert len(games) == len(records), "a game is there twice"
    return games


def test_a_run_writes_what_it_promises(tmp_path: Path) -> None:
    run = tmp_path / "run"
    said = run_steps(run, 24, "strength.budget_share=0.5")  # of the evaluations, which are few
    assert "Learning tictactoe" in said[0]
    strength = r"The network of step 24 \w+ .*(rollouts@\d+|random): "
    # On a machine that does other work a sentence about its cores stands before it.
    assert re.search(rf"^Done\. To measure it: .*\nTo play it: .*\n{strength}", said[-1], re.MULTILINE)
    files = {"config.toml", "games", "checkpoints", "metrics.csv", "tensorboard", "strength.jsonl"}
    assert {path.name for path in run.iterdir()} >= files
    newest = load_checkpoint(run)
    assert newest.info.step == 24
    assert len(list_checkpoints(run / "checkpoints")) == 4, "the untrained one and three"
    assert len(games_of(run)) == newest.info.training["games"]
    assert read_metrics(run / "metrics.csv")[-1].step == 24


def test_a_finished_run_says_so_and_goes_on_with_more(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run_steps(run, 8)
    before = games_of(run)
    assert "The budget is used up" in run_steps(run, 8)[-1]
    said = run_steps(run, 16)
    assert any(line.startswith("Resuming:") for line in said)
    assert load_checkpoint(run).info.step == 16
    after = games_of(run)
    assert all(after[game_id] == actions for game_id, actions in before.items())


@contextlib.contextmanager
def training(run: Path) -> Iterator[subprocess.Popen[str]]:
    """`zerosum train` without an end in a process of its own, which has just begun to speak."""
    fresh = [] if (run / "config.toml").exists() else [*TINY, "training.num_checkpoints=1000"]
    words = [word for text in (*fresh, "training.steps=100000") for word in ("--set", text)]
    command = [sys.executable, "-m", "zerosum", "train", "tictactoe", "--run", str(run), *words]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(command, stdout=PIPE, stderr=STDOUT, text=True, env=buffered) as process:
        try:
            assert process.stdout is not None
            assert "Learning tictactoe" in process.stdout.readline()
            yield process
        finally:
            process.kill()


def wait_until(process: subprocess.Popen[str], is_so: Callable[[], bool]) -> None:
    """Look again and again, as long as the process lives."""
    while not is_so():
        assert process.poll() is None, process.stdout.read() if process.stdout else ""
        time.sleep(0.02)


@pytest.mark.skipif(os.name == "nt", reason="POSIX only: Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    """Ctrl-C while it plays and learns, and what a job scheduler sends while it is being set up."""
    run = tmp_path / "run"
    with training(run) as process:
        if number == signal.SIGINT:
            wait_until(process, lambda: len(list_checkpoints(run / "checkpoints")) > 1)
        process.send_signal(number)
        rest, _ = process.communicate()
    assert process.returncode == 128 + number, rest
    assert rest.splitlines()[-1].startswith("Stopped. To resume from here: ")
    assert rest.splitlines()[-1].endswith(f"zerosum train tictactoe --run {run}")
    assert "Traceback" not in rest
    assert (load_checkpoint(run).info.step > 0) == (number == signal.SIGINT)


@pytest.mark.parametrize("moment", ["before the lock", "after the lock"])
def test_a_request_to_stop_in_the_first_moment_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """A request to an earlier training does not, which may have been killed before it saw it."""
    stop, older = threading.Event(), tmp_path / run_directory.STOP
    older.touch()
    os.utime(older, ns=(0, time.time_ns() - 10**9))
    with run_directory.hold(tmp_path), run_directory.stopped_by_request(tmp_path, stop):
        assert not older.exists()
    assert not stop.is_set()

    if moment == "before the lock":
        acquire = filelock.FileLock.acquire
        monkeypatch.setattr(
            filelock.FileLock, "acquire", lambda lock: (run_directory.ask_to_stop(tmp_path), acquire(lock))[1]
        )
    else:

        def replace_and_ask(path: Path, text: str) -> None:
            replace_durably(path, text)
            if path.name == "holder.json":
                run_directory.ask_to_stop(tmp_path)

        monkeypatch.setattr(holding, "replace_durably", replace_and_ask)
    with run_directory.hold(tmp_path), run_directory.stopped_by_request(tmp_path, stop):
        assert stop.wait(60)
    assert not older.exists()


def test_two_processes_on_one_run(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run_steps(run, 4)
    code = (
        "import sys, time; from pathlib import Path; from zerosum.run.run_directory import hold\n"
        f"with hold(Path({str(run)!r})):\n    print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(RunError, match=f"is held by process {holder.pid} on .* since"):
            run_steps(run, 8)
        holder.kill()


def written(run: Path) -> list[tuple[Path, int]]:
    """The modification times of a run's files, except for the lock files."""
    files = [path for path in run.rglob("*") if path.is_file() and "holder" not in path.name]
    return sorted((path, path.stat().st_mtime_ns) for path in files)


def test_a_run_of_another_game_is_left_alone(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run_steps(run, 4)
    before = written(run)
    with pytest.raises(RunError, match="is a run of tictactoe, not of connect4"):
        run_steps(run, 4, game="connect4")
    with pytest.raises(SettingsError, match="network.value_hidden was .* and cannot become 3"):
        run_steps(run, 4, "network.value_hidden=3")
    with pytest.raises(SettingsError, match="began without a preset, which cannot be changed"):
        train("tictactoe", run, preset="connect4", report=lambda _: None)
    assert written(run) == before


def test_a_run_of_go_adds_planes_and_goes_on_by_the_same_name(tmp_path: Path) -> None:
    run, go = tmp_path / "run", "go(size=5, max_plies=10)"
    lines = run_steps(run, 2, game=go)
    assert any("Learning go(size=5, liberties=3, max_plies=10)" in line for line in lines)
    assert "planes" in (run / "config.toml").read_text()
    for name in (go, "go(size=5, liberties=3, max_plies=10)"):
        assert run_steps(run, 4, game=name)
    before = written(run)
    for name in ("go(size=5, liberties=2, max_plies=10)", "go(size=5, komi=1, max_plies=10)"):
        with pytest.raises(RunError, match="is a run of go"):
            run_steps(run, 6, game=name)
    with pytest.raises(SettingsError, match="the planes and the seed of a run cannot be changed"):
        run_steps(run, 6, "training.planes=", game=go)
    assert written(run) == before
    assert load_player(run, game=go, backend="torch").game.spec.full_name == "go(size=5, liberties=3, max_plies=10)"


def test_a_directory_that_is_no_run_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("hello")
    with pytest.raises(RunError, match="exists and is not a run"):
        run_steps(tmp_path / "letters", 4)
    assert [path.name for path in (tmp_path / "letters").iterdir()] == ["dear.txt"]


def test_a_damaged_checkpoint_is_set_aside(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run_steps(run, 12)
    newest = list_checkpoints(run / "checkpoints")[-1]
    weights = newest.with_suffix(".safetensors")
    weights.write_bytes(weights.read_bytes()[:-7])
    said = run_steps(run, 16)
    assert any(newest.stem in line and "damaged" in line for line in said), said
    assert load_checkpoint(run).info.step == 16


def test_a_damaged_shard_is_set_aside(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run_steps(run, 12, "replay.games_per_shard=4")
    shard = sorted((run / "games").glob("*.parquet"))[0]
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 0xFF
    shard.write_bytes(bytes(content))
    said = run_steps(run, 16)
    assert any(shard.name in line for line in said), said
    assert load_checkpoint(run).info.step == 16


def test_newer_formats_are_refused_untouched(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run_steps(run, 4)
    config = run / "config.toml"
    text = config.read_text()
    config.write_text(text.replace("format_version = 1", "format_version = 2"))
    with pytest.raises(DataError, match="format version 2"):
        run_steps(run, 8)
    config.write_text(text)
    newest = list_checkpoints(run / "checkpoints")[-1]
    body = json.loads(newest.read_text())
    body["format_version"] = 99
    newest.write_text(json.dumps(body))
    with pytest.raises(DataError, match="99"):
        run_steps(run, 8)
    assert newest.exists()


def test_a_full_disk_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "run"
    run_steps(run, 4)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("zerosum.run.selfplay_training.save_checkpoint", full)
    with pytest.raises(RunError, match="No space left on device. What was saved is whole"):
        run_steps(run, 8)
    monkeypatch.undo()
    run_steps(run, 8)
    assert load_checkpoint(run).info.step == 8


def test_a_loss_that_is_not_finite_stops_before_it_is_saved(tmp_path: Path) -> None:
    """The learner (its loss) or self-play (the network's answer) reports the fault, whichever meets it first."""
    run = tmp_path / "run"
    run_steps(run, 4)
    reckless = {"learning_rate": 10.0, "optimizer": "sgd", "warmup_steps": 0, "momentum": 0.999}
    diverged = "the (loss is|weights are) not finite|weights have diverged"
    with pytest.raises((RunError, DataError), match=diverged):
        run_steps(run, 400, *(f"learner.{name}={value}" for name, value in reckless.items()))
    assert all(np.isfinite(weight).all() for weight in load_checkpoint(run).weights.values())


@pytest.mark.parametrize(("clock", "function"), [("cpu", "process_time"), ("wall", "monotonic")])
def test_minutes_are_those_of_the_clock_that_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: str, function: str
) -> None:
    """Time goes three thousand times as fast on one clock or the other: an hour is over in a second."""
    real = getattr(time, function)
    fast = SimpleNamespace(**vars(time) | {function: lambda: 3000 * real()})
    monkeypatch.setattr("zerosum.run.budget.time", fast)
    overrides = [*TINY, f"training.clock={clock}"]
    train("tictactoe", tmp_path / "run", minutes=60, overrides=overrides, report=lambda _: None)
    assert read_metrics(tmp_path / "run" / "metrics.csv")[-1].minutes >= 57


def test_equal_seeds_begin_alike_and_others_do_not(tmp_path: Path) -> None:
    """The first games come from the untrained network and one thread: they are the same for the same seed."""
    games = []
    for number, seed in enumerate((1, 1, 2)):
        run_steps(tmp_path / str(number), 4, seed=seed)
        games.append([games_of(tmp_path / str(number))[game_id] for game_id in range(4)])
    assert games[0] == games[1]
    assert games[0] != games[2]


def test_what_a_kill_leaves_at_the_very_start_is_no_obstacle(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for name in ("holder.lock", "holder.json", ".config.toml.unfinished"):
        (run / name).write_text("")
    run_steps(run, 4)
    assert load_checkpoint(run).info.step == 4


def test_what_is_refused_makes_no_directory(tmp_path: Path) -> None:
    lacking = ["training.backend=openvino", "training.precision=f16"]
    for overrides in (["serch.c_init=1"], ["training.device=abacus"], lacking):
        with pytest.raises(SettingsError):
            run_steps(tmp_path / "run", 4, *overrides)
    with pytest.raises((RunError, SettingsError)):  # nothing listens there, or Ray is not installed
        train("tictactoe", tmp_path / "run", steps=4, cluster="127.0.0.1:1", report=lambda _: None)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("failing", ["zerosum.run.playing.make_evaluator", "zerosum.replay.game_store.GameStore.close"])
def test_an_error_at_the_beginning_or_the_end_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    original = pkgutil.resolve_name(failing)

    def fail(*arguments: Any, **named: Any) -> None:
        original(*arguments, **named)
        raise RunError("it fails")

    monkeypatch.setattr(failing, fail)
    with pytest.raises(RunError, match="it fails"):
        run_steps(tmp_path / "run", 4, "learner.num_devices=2", "training.device=cpu")
    assert not [thread for thread in threading.enumerate() if thread.name == "learner's answers"]


def test_another_batch_size_goes_on_learning(tmp_path: Path) -> None:
    """The debt of steps is counted in samples, so training neither halts nor floods."""
    run = tmp_path / "run"
    run_steps(run, 8)
    run_steps(run, 10, "learner.batch_size=128")
    run_steps(run, 12, "learner.samples_per_position=2")
    assert load_checkpoint(run).info.step == 12


def test_another_optimiser_begins_afresh(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run_steps(run, 4)
    said = run_steps(run, 8, "learner.optimizer=sgd")
    assert any("The optimiser begins afresh: it was adamw, now it is sgd." in line for line in said)


def test_a_game_file_may_move_with_its_project(tmp_path: Path) -> None:
    source = (Path(__file__).parents[1] / "games_for_tests.py").read_text(encoding="utf-8")
    for folder in ("before", "after"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mygame.py").write_text(source)
    run = tmp_path / "run"
    run_steps(run, 4, game=f"{tmp_path}/before/mygame.py:DoubleMove")
    run_steps(run, 8, game=f"{tmp_path}/after/mygame.py:DoubleMove")
    assert str(tmp_path / "after") in (run / "config.toml").read_text()
    with pytest.raises(RunError, match="is a run of"):
        run_steps(run, 8, game=f"{tmp_path}/after/mygame.py:Loop")


def test_a_run_whose_games_all_go_on_says_how_far_they_are(tmp_path: Path) -> None:
    """No game of chess ends in 1.5 CPU-seconds of 5000 simulations a move."""
    said: list[str] = []
    overrides = [*TINY, "search.num_simulations=5000", "selfplay.full_search_share=1", "training.clock=cpu"]
    train("chess", tmp_path / "run", minutes=0.025, overrides=overrides, report=said.append)
    assert any(re.fullmatch(r" +no game has ended yet: 4 are under way, at move \d+ on average", line) for line in said)


def test_lines_fit_a_terminal() -> None:
    row = MetricsRow(
        minutes=123.4,
        step=1_234_567,
        games=1_234_567,
        positions=123_456_789,
        evaluations=10**10,
        evaluations_per_second=123_456.7,
        policy_loss=1.234,
        policy_entropy=1.123,
        value_error=0.1234,
        elo=1234.0,
        elo_error=123.0,
    )
    verdict = "yes, +1234 Elo since step 0"
    text = progress_line(row, progress=0.5, minutes_left=123.4, verdict=verdict, rated_step=1_234_567, unit="CPU-min")
    assert max(len(line) for line in text.splitlines()) <= 130, text
    assert "123.4 CPU-min (50%), 123.4 left" in text
    assert "Elo of step 1,234,567 1234 ± 123" in text


def test_a_run_without_a_step_does_not_offer_to_play(tmp_path: Path) -> None:
    """One game of 5000 simulations a move does not end within the budget."""
    said: list[str] = []
    overrides = [*TINY, "search.num_simulations=5000", "selfplay.full_search_share=1", "training.clock=cpu"]
    train("chess", tmp_path / "run", minutes=0.02, overrides=overrides, report=said.append)
    assert re.fullmatch(
        r"The budget is used up, and nothing was learned: learning begins at 8 positions, and 0 were recorded\."
        r" Go on with more time: .*zerosum train chess --run \S+ --minutes 0\.2",
        said[-1],
    )
    assert "learning begins at 8 positions (0 so far)" in "\n".join(said)


def test_learning_begins_early_in_a_small_budget(tmp_path: Path) -> None:
    """Neither `min_positions` nor a phase's steps keep a run of few positions from learning."""
    overrides = [*TINY, "training.min_positions=1000000", "training.steps_per_phase=1000000", "training.clock=cpu"]
    said: list[str] = []
    train("tictactoe", tmp_path / "run", minutes=0.05, overrides=overrides, report=said.append)
    assert load_checkpoint(tmp_path / "run").info.step > 0
    assert "for 0.05 CPU-minutes" in said[0]
    # Slow rules make the last games long: somebody who waits is told what goes on.
    step = load_checkpoint(tmp_path / "run").info.step
    assert f"      step {step:,} plays the last rating games" in said


@pytest.mark.parametrize("budget", ["minutes=0.05", "steps=4"])
def test_the_last_checkpoint_has_the_time_that_a_budget_in_minutes_sets_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: str
) -> None:
    """Few evaluations, as where rules are slow, do not end its games. A budget in steps sets no time aside."""
    limits: list[tuple[float, float]] = []
    rate_last = Strength.rate_last

    def spy(strength: Strength, step: int, evaluator: Evaluator, *, num_evaluations: float, seconds: float) -> None:
        limits.append((num_evaluations, seconds))
        rate_last(strength, step, evaluator, num_evaluations=num_evaluations, seconds=seconds)

    monkeypatch.setattr(Strength, "rate_last", spy)
    overrides = [
        *TINY,
        "training.clock=cpu",
        "strength.budget_share=0.3",
        "strength.rollout_simulations=1",
        f"training.{budget}",
    ]
    train("tictactoe", tmp_path / "run", overrides=overrides, report=lambda _: None)
    [(num_evaluations, seconds)] = limits
    assert math.isinf(num_evaluations) == budget.startswith("minutes") and seconds <= 0.3 * 3


def test_searches_that_memory_cuts_short_are_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory does not grow with the number of games here, unlike in self-play by default."""
    monkeypatch.setattr("zerosum.search.config.tree_mib", lambda *_: 0)
    short = ["search.memory_mib=1", "selfplay.games_per_worker=12", "search.num_simulations=2000"]
    short += ["search.exact_bounds=false", "selfplay.full_search_share=1", "selfplay.opening_share=1"]
    short += ["strength.budget_share=0", "strength.solved_positions=0"]  # whose searches want more memory
    told = [line for line in run_steps(tmp_path / "short", 4, *short, game="connect4") if "ended early" in line]
    assert len(told) == 1 and "their trees filled search.memory_mib = 1:" in told[0]
    assert not [line for line in run_steps(tmp_path / "whole", 4) if "ended early" in line]


def test_a_stop_while_the_evaluation_is_learned_plays_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its evaluation the alpha-beta search cannot play; the next process learns it from the beginning."""

    def stopped(directory: Path, *_: Any, **__: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    def play(*_: Any, **__: Any) -> None:
        raise AssertionError("self-play began")

    asked = ["selfplay.alphabeta_depth=2", "selfplay.alphabeta_share=1", "selfplay.alphabeta_learning_nodes=2000"]
    asked += ["training.steps=3", "network.num_blocks=1", "network.num_filters=8"]
    said = list[str]()
    with monkeypatch.context() as patched:
        patched.setattr("zerosum.run.selfplay_training.run_evaluation", stopped)
        patched.setattr("zerosum.selfplay.threads.SelfplayThreads.play", play)
        assert train("tictactoe", tmp_path / "run", overrides=asked, report=said.append) == signal.SIGINT
    assert "Stopped." in said[-1] and not (tmp_path / "run" / "evaluation.json").exists()
    assert train("tictactoe", tmp_path / "run") is None
    assert (tmp_path / "run" / "evaluation.json").exists()
