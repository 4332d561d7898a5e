"""Files of a run that are endless, hang or are far too large: kind and size are looked at before they are read."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from runs_for_tests import train_a_little
from zerosum.arena.store import parse_game
from zerosum.base.errors import DataError, ZerosumError, near
from zerosum.base.files import MOST_LINE_BYTES, read_bytes, read_lines
from zerosum.cluster import read_status
from zerosum.games import make
from zerosum.network.checkpoint import load_newest
from zerosum.play.player import load_player
from zerosum.play.runs import newest_checkpoint
from zerosum.play.skill import LEVELS_FILE, read_levels
from zerosum.replay import shards
from zerosum.replay.game_store import GameStore
from zerosum.replay.shards import (
    FORMAT,
    MANIFEST,
    decode_shard,
    encode_shard,
    manifest_line,
    read_manifest,
    seal_of,
)
from zerosum.report.page import write_page
from zerosum.report.run_data import read_run
from zerosum.run.info import describe
from zerosum.run.run_directory import hold
from zerosum.run.storage.mirror import StoreNote
from zerosum.web import runs as web_runs

TERABYTE = 1 << 40


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("elsewhere") / "run"
    train_a_little("tictactoe", run)
    return run


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    shutil.copytree(trained, tmp_path / "run")
    return tmp_path / "run"


def make_large(path: Path) -> None:
    """A file of a terabyte that takes no room on the disk, as an archive can hold it."""
    path.parent.mkdir(exist_ok=True)
    path.touch()
    try:
        os.truncate(path, TERABYTE)
    except OSError:
        pytest.skip("the disk has no sparse files of a terabyte")


def read_everything(run: Path) -> None:
    """Whatever reads a run, with or without a refusal."""
    for read in (
        lambda: describe(run, write=lambda _: None),
        lambda: load_player(run),
        lambda: newest_checkpoint(run / "checkpoints"),
        lambda: list(read_run(run).game_blocks()),
        lambda: web_runs.curves("run", run),
        lambda: web_runs.newest_games(run),
        lambda: read_levels(run / LEVELS_FILE),
        lambda: StoreNote.read(run),
        lambda: read_status(run),
        lambda: load_newest(run / "checkpoints"),
    ):
        with contextlib.suppress(ZerosumError):
            read()
    with contextlib.suppress(ZerosumError), hold(run), hold(run):
        pass


def test_no_file_of_a_run_is_read_if_it_is_too_large(run: Path, tmp_path: Path) -> None:
    """Each file in turn: those that a training has written, and the others of docs/run-directory.md."""
    others = ["checkpoints/best", "levels.json", "store.json", "cluster.json", "holder.json", "strength.jsonl"]
    others += ["gate.jsonl", "mistakes.jsonl", "held-out.jsonl", "records/manifest.jsonl", "game/tictactoe.py"]
    written = [path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()]
    assert {"config.toml", "metrics.csv", "games/manifest.jsonl", "checkpoints/step-00000002.json"} < set(written)
    for number, name in enumerate([*written, *others]):
        copy = tmp_path / str(number)
        shutil.copytree(run, copy)
        make_large(copy / name)
        read_everything(copy)
        shutil.rmtree(copy)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.parametrize("name", ["checkpoints/best", "config.toml", "levels.json", "checkpoints/step-00000002.json"])
def test_endless_devices_and_pipes_are_not_read(run: Path, name: str) -> None:
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to("/dev/zero")
    read_everything(run)
    (run / name).unlink()
    os.mkfifo(run / name)  # nobody writes to it, so opening it would hang
    read_everything(run)


def test_the_limit_is_the_last_size_that_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    assert read_bytes(tmp_path / "file", most_bytes=5) == b"12345"
    with pytest.raises(OSError, match="5 bytes, at most 4") as refused:
        read_bytes(tmp_path / "file", most_bytes=4)
    assert refused.value.filename == str(tmp_path / "file")
    with pytest.raises(OSError, match="not a regular file|directory"):
        read_bytes(tmp_path, most_bytes=5)


def test_a_line_that_is_too_long_is_damaged_and_not_parsed(tmp_path: Path) -> None:
    (tmp_path / "table").write_bytes(b"one\n" + b"x" * (MOST_LINE_BYTES + 1) + b"\ntwo\n")
    found = read_lines(tmp_path / "table", str)
    assert found.entries == ["one", "two"] and found.damaged == [2]


def test_a_small_shard_with_a_large_content_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": pa.array([0] * 1_000_000, pa.int8())}), sink)
    data = bytes(sink.getvalue())
    assert len(data) < 5000
    for name, most in (("MOST_ROWS", 999_999), ("MOST_VALUES", 999_999)):
        with monkeypatch.context() as patched:
            patched.setattr(shards, name, most)
            with pytest.raises(DataError, match="1,000,000 games or"):
                decode_shard(data, Path("games.parquet"))


# ---- long texts, and texts where numbers are expected


@pytest.mark.parametrize("value", ["0." + "5" * 100_000, "x" * 1_000_000, [0.5], True, None, 10**400])
@pytest.mark.parametrize("name", ["win_rate", "centipawns", "seconds", "depth"])
def test_a_thought_of_a_match_file_has_numbers(name: str, value: object) -> None:
    thought = {"score": {name: value}} if name in ("win_rate", "centipawns") else {name: value}
    line = {"game": 0, "result": 0, "ending": "agreement", "moves": [], "thoughts": [thought]}
    with pytest.raises((ValueError, TypeError, OverflowError)):
        parse_game(make("tictactoe"), json.dumps(line))


def test_a_long_name_is_compared_with_no_known_one() -> None:
    """The comparison takes time with the square of the length: minutes for a megabyte."""
    assert near("connect4" * 1_000_000, ["connect4"]) == []
    assert near("conect4", ["connect4"]) == ["connect4"]


@pytest.mark.parametrize("texts", [{"settings_hash": ""}, {"settings_hash": "x" * 1_000_000}, {"start": "x" * 1000}])
def test_a_report_of_games_with_odd_texts_ends(run: Path, tmp_path: Path, texts: dict[str, str]) -> None:
    rewrite_games(run, **texts)
    write_page([run], tmp_path / "page.html", has_probes=False, say=lambda _: None)


def test_a_report_of_a_shard_without_games_ends(run: Path, tmp_path: Path) -> None:
    rewrite_games(run, num_games=0)
    findings = write_page([run], tmp_path / "page.html", has_probes=True, say=lambda _: None)
    assert findings and (tmp_path / "page.html").is_file()


def rewrite_games(run: Path, *, num_games: int | None = None, **texts: str) -> None:
    """Replace the played games by a shard with right checksums: so many of them, with other texts."""
    store = GameStore(run / "games", report=lambda _: None)
    records = [dataclasses.replace(record, **texts) for record in store.recent(num_games=store.num_games)]  # type: ignore[arg-type]
    store.close()
    shutil.rmtree(run / "games")
    (run / "games").mkdir()
    sink = pa.BufferOutputStream()
    pq.write_table(pq.read_table(pa.BufferReader(encode_shard(records))).slice(0, num_games), sink)
    data = bytes(sink.getvalue())
    name = f"games-000001-{hashlib.sha256(data).hexdigest()[:12]}.parquet"
    (run / "games" / name).write_bytes(data)
    seal = dataclasses.asdict(seal_of(records, 1, name, data, records[-1].game_id + 1))
    lines = manifest_line("format", {"format": FORMAT}) + manifest_line("seal", seal)
    (run / "games" / MANIFEST).write_bytes(lines)
    assert len(read_manifest(run / "games").shards) == 1
