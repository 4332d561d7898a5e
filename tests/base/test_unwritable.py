"""Files that cannot be written or read, or have wrong content: each is refused with a message, and nothing changes."""

from __future__ import annotations

import ctypes
import io
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import zerosum
from runs_for_tests import train_a_little
from zerosum.base.errors import RunError
from zerosum.cli import main
from zerosum.network import Checkpoint, load_checkpoint, save_checkpoint
from zerosum.network.checkpoint import list_checkpoints

READERS = (
    ("info", "{run}"),
    ("evaluate", "{run}", "--games", "2", "--simulations", "2"),
    ("play", "{run}"),
    ("match", "tictactoe", "{run}", "random", "--games", "2"),
)
TRAIN = ("train", "tictactoe", "--run", "{run}", "--steps", "4")

Command = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("runs") / "learned"
    train_a_little("tictactoe", directory)
    (directory / "strength.jsonl").touch()
    return directory


@pytest.fixture
def run(learned: Path, tmp_path: Path) -> Iterator[Path]:
    """A run of one's own, which can be deleted whatever was done to it."""
    directory = shutil.copytree(learned, tmp_path / "run")
    yield directory
    for path in (directory, *(directory / name for name in ("games", "checkpoints", "tensorboard"))):
        if path.is_dir():
            path.chmod(0o755)


@pytest.fixture
def zero(run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """`zerosum` with these words: its status, and what it says to be wrong."""

    def command(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["zerosum", *(word.format(run=run) for word in words)])
        monkeypatch.setattr(sys, "stdin", io.StringIO("quit\n"))
        with pytest.raises(SystemExit) as stop:
            main()
        assert isinstance(stop.value.code, int | None)
        said = capsys.readouterr().err
        assert (said.startswith("zerosum: ") and said.count("\n") == 1) if stop.value.code else not said, said
        return stop.value.code or 0, said

    return command


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Capabilities(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


@pytest.fixture
def modes_count() -> Iterator[None]:
    """Root may do everything: for this thread it gives up reading and writing what modes forbid (man capabilities)."""
    if os.name == "nt" or (os.geteuid() == 0 and not sys.platform.startswith("linux")):
        pytest.skip("directories cannot be made read-only here")
    if os.geteuid() != 0:
        yield
        return
    libc, header, sets = ctypes.CDLL(None), _Header(0x20080522, 0), (_Capabilities * 2)()
    assert libc.capget(ctypes.byref(header), sets) == 0
    before = sets[0].effective
    sets[0].effective &= ~(1 << 1 | 1 << 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    assert libc.capset(ctypes.byref(header), sets) == 0
    yield
    sets[0].effective = before
    assert libc.capset(ctypes.byref(header), sets) == 0


def content(run: Path) -> dict[Path, bytes]:
    """Every file, but for the empty one that is locked."""
    return {path: path.read_bytes() for path in run.rglob("*") if path.is_file() and path.name != "holder.lock"}


@pytest.mark.usefixtures("modes_count")
def test_a_read_only_run_can_be_read(run: Path, zero: Command) -> None:
    before = content(run)
    for path in (run, *run.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    for words in READERS:
        assert zero(*words) == (0, "")
    status, said = zero(*TRAIN)
    assert status == 2
    assert said == f"zerosum: {run} cannot be written (Permission denied): name another directory with --run.\n"
    assert content(run) == before


@pytest.mark.usefixtures("modes_count")
@pytest.mark.parametrize("part", ["games", "checkpoints", "tensorboard"])
def test_a_read_only_part_is_told_at_once(run: Path, zero: Command, part: str) -> None:
    before = content(run)
    (run / part).chmod(0o555)
    status, said = zero(*TRAIN)
    assert status == 2
    assert f"{run / part} cannot be written (Permission denied): make it writable, or name another run" in said
    assert content(run) == before
    (run / part).chmod(0o755)
    assert zero(*TRAIN) == (0, "")


@pytest.mark.usefixtures("modes_count")
@pytest.mark.parametrize("part", ["games", "checkpoints"])
def test_what_becomes_read_only_ends_a_training_that_goes_on_later(run: Path, part: str) -> None:
    """The fault is found when the next shard is sealed, or the next checkpoint saved."""

    def take(line: str) -> None:
        if "self-play: " in line:
            (run / part).chmod(0o555)

    overrides = ("training.steps=400", "training.num_checkpoints=20", "replay.games_per_shard=20")
    with pytest.raises(
        RunError, match="cannot be written: Permission denied. (What was .* is whole|Earlier records are complete)"
    ):
        zerosum.train("tictactoe", run, overrides=overrides, report=take)
    (run / part).chmod(0o755)
    said, steps = list[str](), load_checkpoint(run).info.step + 2
    zerosum.train("tictactoe", run, overrides=[f"training.steps={steps}"], report=said.append)
    assert said[-1].startswith("Done.") and not any("damaged" in line for line in said)
    assert load_checkpoint(run).info.step == steps


@pytest.mark.usefixtures("modes_count")
@pytest.mark.parametrize("name", ["config.toml", "checkpoints", "games/manifest.jsonl", "."])
def test_what_cannot_be_read_is_told(run: Path, zero: Command, name: str) -> None:
    (run / name).chmod(0)
    for words in (*READERS, TRAIN) if name in (".", "config.toml") else (TRAIN,):
        status, said = zero(*words)
        assert status == 2 and "Permission denied" in said and str(run / name) in said


@pytest.mark.parametrize(
    "name", ["games", "checkpoints", "tensorboard", "metrics.csv", "strength.jsonl", "config.toml", "holder.lock"]
)
def test_what_is_no_file_or_no_directory_is_told(run: Path, zero: Command, name: str) -> None:
    path = run / name
    if path.is_dir():
        shutil.rmtree(path)
        path.write_text("a file")
    else:
        path.unlink()
        path.mkdir()
    before = content(run)
    status, said = zero(*TRAIN[:-2])
    assert status == 2 and str(run) in said and ("cannot be written" in said or "cannot be read" in said)
    assert content(run) == before


def test_a_network_that_has_diverged_is_told(run: Path, zero: Command) -> None:
    """Weights with a NaN: play is refused, and a training reports it."""
    whole = load_checkpoint(run)
    for path in run.glob("checkpoints/step-00000002.*"):
        path.unlink()
    weights = {name: np.full_like(weight, np.nan) for name, weight in whole.weights.items()}
    save_checkpoint(run / "checkpoints", Checkpoint(whole.info, weights), learner_state={}, learner_info={})
    for words in (*READERS[1:], TRAIN):
        status, said = zero(*words) if words[0] != "play" else zero(*words, "--second")
        assert status == 2 and re.search("weights have diverged or are damaged: go back|loss is not finite", said)
    assert len(list_checkpoints(run / "checkpoints")) == 3
