"""`zerosum clean` removes what a run does not need and nothing else; `metrics.prom` is read by Prometheus's rules."""

from __future__ import annotations

import re
import shutil
import signal
from dataclasses import asdict, fields
from pathlib import Path

import pytest

import zerosum
from commands_for_tests import Command
from runs_for_tests import SETTINGS
from zerosum.base.errors import DataError, RunError
from zerosum.network import load_checkpoint
from zerosum.network.checkpoint import list_checkpoints, mark_best
from zerosum.run.cleaning import clean
from zerosum.run.metrics import MetricsRow, read_metrics
from zerosum.run.prometheus import METRICS, lines
from zerosum.run.run_directory import hold
from zerosum.run.training import train


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with several checkpoints."""
    run = tmp_path_factory.mktemp("old") / "run"
    settings = [*SETTINGS, "training.steps=8", "training.num_checkpoints=8", "replay.games_per_shard=5"]
    train("tictactoe", run, overrides=settings, report=lambda _: None)
    return run


@pytest.fixture
def run(old: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(old, tmp_path / "run"))


def names(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}


def test_old_checkpoints_go_and_the_newest_stay(run: Path) -> None:
    checkpoints = list_checkpoints(run / "checkpoints")
    assert len(checkpoints) > 3
    before, said = names(run), list[str]()
    listed = clean(run, num_checkpoints=2, is_dry=True, write=said.append)
    assert names(run) == before and said[-1].startswith(f"{len(listed)} files would be removed, ")
    removed = clean(run, num_checkpoints=2, write=said.append)
    assert [file.path for file in removed] == [file.path for file in listed]
    assert before - names(run) == {str(file.path.relative_to(run)) for file in removed}
    assert list_checkpoints(run / "checkpoints") == checkpoints[-2:]
    assert all(name.startswith("checkpoints/step-") for name in before - names(run))
    assert load_checkpoint(run).info.step == 8
    train("tictactoe", run, steps=9, report=lambda _: None)
    assert load_checkpoint(run).info.step == 9, "it goes on"
    assert clean(run, num_checkpoints=5, write=said.append) == [] and said[-1] == "0 files removed, 0.0 MB."


def test_the_checkpoint_that_plays_stays(run: Path) -> None:
    first = list_checkpoints(run / "checkpoints")[0]
    mark_best(run / "checkpoints", int(first.stem.partition("-")[2]))
    clean(run, num_checkpoints=1, write=lambda _: None)
    assert list_checkpoints(run / "checkpoints")[0] == first and len(list_checkpoints(run / "checkpoints")) == 2


def test_what_kills_and_damage_have_left_goes(run: Path) -> None:
    needless = (
        run / "games" / "journal-000000.bin",
        run / "games" / "games-000001-abc.parquet.damaged",
        run / "checkpoints" / ".step-00000009.json.unfinished",
        run / "metrics.csv.damaged",
    )
    before = names(run)
    for path in needless:
        path.write_bytes(b"x")
    (run / "notes.txt").write_text("mine")
    clean(run, num_checkpoints=100, write=lambda _: None)
    assert names(run) == before | {"notes.txt"}


def test_only_a_run_that_nobody_trains_is_cleaned(run: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a run"):
        clean(tmp_path / "nowhere", write=lambda _: None)
    with hold(run), pytest.raises(RunError, match="is held by process"):
        clean(run, num_checkpoints=1, write=lambda _: None)
    assert len(list_checkpoints(run / "checkpoints")) > 3


def test_the_command_takes_a_name(zero: Command, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZEROSUM_RUNS", str(run.parent))
    answer = zero("clean", "run", "--checkpoints", "1", "--dry-run")
    assert answer.status == 0 and "would be removed" in answer.out
    assert zero("clean", "run", "--checkpoints", "1").status == 0
    assert len(list_checkpoints(run / "checkpoints")) == 1


# ---- Prometheus

SAMPLE = re.compile(r'zerosum_[a-z_]+\{run="(?:[^"\\\n]|\\["\\n])*"\} -?[0-9.]+(?:e[+-][0-9]+)?')
"""A line with a value: https://prometheus.io/docs/instrumenting/exposition_formats."""


def test_every_column_is_a_metric() -> None:
    assert list(METRICS) == [field.name for field in fields(MetricsRow)]
    assert len({metric.name for metric in METRICS.values()}) == len(METRICS)


def test_the_file_has_the_newest_row(run: Path) -> None:
    text = (run / "metrics.prom").read_text(encoding="utf-8")
    row = read_metrics(run / "metrics.csv")[-1]
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            assert re.fullmatch(r"# (HELP zerosum_[a-z_]+ .+|TYPE zerosum_[a-z_]+ (counter|gauge))", line)
        else:
            assert SAMPLE.fullmatch(line), line
            found[line.partition("{")[0].removeprefix("zerosum_")] = float(line.rpartition(" ")[2])
    for column, value in asdict(row).items():
        metric = METRICS[column]
        if value is None:
            assert metric.name not in found
        else:
            assert found[metric.name] == pytest.approx(metric.scale * value, rel=1e-4)
    assert text.endswith("\n")


def test_a_name_of_a_run_is_quoted() -> None:
    row = MetricsRow(1.0, 2, 3, 4, 5, 6.0)
    assert all(line.startswith("#") or SAMPLE.fullmatch(line) for line in lines(asdict(row), run='a "b"\\\n'))


# ---- exit statuses


def test_a_training_says_what_stopped_it(tmp_path: Path, zero: Command) -> None:
    run = tmp_path / "run"

    def stop(line: str) -> None:
        if line.startswith("  self-play: "):
            signal.raise_signal(signal.SIGTERM)

    stopped = zerosum.train("tictactoe", run, overrides=[*SETTINGS, "training.steps=100000"], report=stop)
    assert stopped == signal.SIGTERM
    assert zerosum.train("tictactoe", run, steps=2, report=lambda _: None) is None
    assert zero("train", "tictactoe", "--run", run, "--steps", "2").status == 0, "the budget is used up"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_status_of_a_stopped_training(
    number: signal.Signals, status: int, tmp_path: Path, zero: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of several runs, of which the later ones do not begin."""
    monkeypatch.setattr("zerosum.run.training.train", lambda *_, **__: number)
    for more in ((), ("--repeat", "3")):
        answer = zero("train", "tictactoe", "--run", tmp_path / "run", *more)
        assert (answer.status, "All 3 runs" in answer.out) == (status, False)
