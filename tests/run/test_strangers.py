"""Runs and checkpoints from strangers: no outside file is touched, and malformed content is refused with a message."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import random
import shutil
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fuzz_for_tests import rounds
from networks_for_tests import make_checkpoint, make_info
from stores_for_tests import FILLED, filled, games_in, header_of, names_in, opened, ply_entry, ply_of
from zerosum.base.errors import DataError, ZerosumError, printable
from zerosum.base.files import read_bytes, require_own_files
from zerosum.cli import application
from zerosum.games import make
from zerosum.network import NetworkConfig
from zerosum.network.checkpoint import (
    DamagedCheckpointError,
    load_checkpoint,
    load_learner_state,
    load_newest,
    save_checkpoint,
)
from zerosum.replay.game_store import GameStore
from zerosum.replay.journal import MAGIC, end_entry, start_entry
from zerosum.replay.shards import MANIFEST, manifest_line
from zerosum.run.config import RunConfig, dump_config, load_config, new_config
from zerosum.run.metrics import HEADER, Metrics, MetricsRow, read_metrics
from zerosum.run.run_directory import hold
from zerosum.run.training import train

ESCAPE = "\x1b[2J\x1b]0;title\x07\u202etxt.exe"


def with_links(test: Callable[..., None]) -> Callable[..., None]:
    return pytest.mark.skipif(os.name == "nt", reason="a user of Windows may not make links")(test)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    (tmp_path / "victims").mkdir()
    thesis = tmp_path / "victims" / "thesis.txt"
    thesis.write_text("ten years of work")
    return thesis


def lines_of(directory: Path) -> list[dict[str, Any]]:
    entries = [json.loads(line) for line in (directory / MANIFEST).read_text().splitlines()]
    return [{name: value for name, value in entry.items() if name != "crc"} for entry in entries]


def write_lines(directory: Path, lines: list[dict[str, Any]]) -> None:
    rest = [(line["kind"], {name: value for name, value in line.items() if name != "kind"}) for line in lines]
    (directory / MANIFEST).write_bytes(b"".join(manifest_line(kind, entry) for kind, entry in rest))


# ---- the manifest

ELSEWHERE = ["../../victims/thesis.txt", "{victim}", "/dev/zero", "..", "", ".", "games-000001-5d41402abc4b.parquet\0"]


@pytest.mark.parametrize("field", ["shard", "journal"])
@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_manifest_names_files_of_its_run_alone(tmp_path: Path, victim: Path, field: str, name: str) -> None:
    games = tmp_path / "run" / "games"
    filled(games)
    lines = lines_of(games)
    seal = next(line for line in lines if line["kind"] == "seal")
    seal[field] = name.replace("{victim}", str(victim))
    seal["num_bytes"] = victim.stat().st_size
    write_lines(games, lines)
    with opened(games) as (store, messages):
        assert games_in(store) == FILLED[0], "the files beside it still say what there is"
        assert any("manifest.jsonl is damaged in line 2: it is rebuilt" in message for message in messages)
    assert victim.read_text() == "ten years of work" and names_in(victim.parent) == ["thesis.txt"]


NONSENSE: list[Any] = [None, "text", "\0", -1, 2**63, 10**30, 1.5, True, [], {}, float("nan"), ESCAPE]


def test_nonsense_in_a_manifest_with_right_checksums_is_damage(tmp_path: Path) -> None:
    """Each field of each line in turn: missing, surplus, and of another type."""
    whole = tmp_path / "whole"
    filled(whole)
    generator, lines = random.Random(0), lines_of(whole)
    changes = [(number, name) for number, line in enumerate(lines) for name in (*line, "surplus")]
    for case, (number, name) in enumerate(changes):
        for value in ("missing", *generator.sample(NONSENSE, 3)):
            directory = tmp_path / f"{case} {value!r:.9}".replace("/", "")
            shutil.copytree(whole, directory)
            changed = [dict(line) for line in lines]
            changed[number][name] = value
            if value == "missing":
                del changed[number][name]
            texts = []
            for line in changed:
                text = json.dumps(line)[:-1].encode()
                texts.append(text + b',"crc":"%08x"}\n' % zlib.crc32(text))
            (directory / MANIFEST).write_bytes(b"".join(texts))
            if name == "format" and type(value) is int and value > 1:
                with pytest.raises(DataError, match=f"has format {value}, and this version of zerosum reads up to 1"):
                    GameStore(directory, report=pytest.fail)
                continue
            with opened(directory) as (store, messages):
                assert games_in(store) == FILLED[0], (name, value)
            assert all(message.isprintable() for message in messages)


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"kind":' + b"[" * 100_000, b'{"kind":"seal"', b"7", b"{\xff"])
def test_lines_that_are_hardly_json_are_damage(tmp_path: Path, text: bytes) -> None:
    filled(tmp_path)
    with (tmp_path / MANIFEST).open("ab") as file:
        file.write(text + b',"crc":"%08x"}\n' % zlib.crc32(text))
    with opened(tmp_path) as (store, messages):
        assert games_in(store) == FILLED[0]
        assert "manifest.jsonl is damaged in line 4" in messages[0]


# ---- shards and journals


def test_a_shard_of_nonsense_with_the_right_name_is_told(tmp_path: Path) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"game_id": [1, 2]}), sink)
    for content in (b"no parquet", bytes(sink.getvalue())):
        directory = tmp_path / hashlib.sha256(content).hexdigest()
        filled(directory)
        lines, sha256 = lines_of(directory), hashlib.sha256(content).hexdigest()
        seal = lines[1]
        (directory / seal["shard"]).unlink()
        seal |= {"shard": f"games-000001-{sha256[:12]}.parquet", "sha256": sha256, "num_bytes": len(content)}
        write_lines(directory, lines)
        (directory / seal["shard"]).write_bytes(content)
        with opened(directory) as (store, _), pytest.raises(DataError, match="does not hold games of zerosum"):
            list(store.recent(1000))


def entry_of(kind: int, payload: bytes) -> bytes:
    head = struct.pack("<IB", len(payload), kind)
    return MAGIC + head + struct.pack("<I", zlib.crc32(payload, zlib.crc32(head))) + payload


START, PLY, END, BEGIN = 1, 2, 3, 4
HEADER_OF_NEW = vars(header_of(9))
WHOLE_PLY = ply_entry(9, 0, ply_of(9, 0))[13:]
JOURNAL_NONSENSE = {
    "END in bad UTF-8": entry_of(END, struct.pack("<QIf", 4, 2, 1.0) + b"\xff\xfe"),
    "END with NaN": end_entry(4, 2, outcome=float("nan"), ending="draw"),
    "END with 7": end_entry(4, 2, outcome=7.0, ending="draw"),
    "END cut": entry_of(END, b"123"),
    "no kind": entry_of(99, struct.pack("<QIf", 4, 2, 1.0)),
    "BEGIN cut": entry_of(BEGIN, b"1"),
    "START with a list": entry_of(START, b"[]"),
    "START deep": entry_of(START, b"[" * 100_000),
    "START with a field less": entry_of(START, json.dumps({"game_id": 9}).encode()),
    "START with a field more": entry_of(START, json.dumps({**HEADER_OF_NEW, "more": 1}).encode()),
    "START with a text for a number": entry_of(START, json.dumps({**HEADER_OF_NEW, "game_id": "9"}).encode()),
    "START with a number for a text": entry_of(START, json.dumps({**HEADER_OF_NEW, "game": 9}).encode()),
    "START with 2**63": entry_of(START, json.dumps({**HEADER_OF_NEW, "game_id": 2**63}).encode()),
    "START with a negative seed": entry_of(START, json.dumps({**HEADER_OF_NEW, "seed": -1}).encode()),
    "PLY cut": start_entry(header_of(9)) + entry_of(PLY, WHOLE_PLY[:-3]),
    "PLY too long": start_entry(header_of(9)) + entry_of(PLY, WHOLE_PLY + b"more"),
    "PLY of player 7": start_entry(header_of(9)) + entry_of(PLY, WHOLE_PLY[:14] + b"\x07" + WHOLE_PLY[15:]),
    "PLY with NaN": start_entry(header_of(9)) + entry_of(PLY, WHOLE_PLY[:19] + b"\xff" * 8 + WHOLE_PLY[27:]),
}


@pytest.mark.parametrize("nonsense", JOURNAL_NONSENSE.values(), ids=JOURNAL_NONSENSE)
def test_nonsense_in_a_journal_with_right_checksums_is_damage(tmp_path: Path, nonsense: bytes) -> None:
    filled(tmp_path)
    with (tmp_path / "journal-000003.bin").open("ab") as file:
        file.write(nonsense)
    with opened(tmp_path) as (store, messages):
        assert games_in(store) == FILLED[0]
        assert {number: len(game.plies) for number, game in store.running.items() if game.plies} == FILLED[1]
        assert len(messages) == 1 and "journal-000003.bin is damaged at bytes" in messages[0]
    with opened(tmp_path) as (store, messages):
        assert games_in(store) == FILLED[0]
        assert not messages


# ---- checkpoints


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    whole = make_checkpoint(make_info(NetworkConfig(num_blocks=0, num_filters=4)))
    for step in (0, 5):
        path = save_checkpoint(
            tmp_path / "checkpoints",
            dataclasses.replace(whole, info=dataclasses.replace(whole.info, step=step)),
            learner_state={"momentum": np.ones(3, np.float32)},
            learner_info={"games": 3},
        )
    return path


def reseal(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change a checkpoint's JSON and make its checksum right."""
    body = json.loads(path.read_text())
    del body["sha256"]
    change(body)
    body["sha256"] = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(body))


def test_nonsense_in_a_checkpoint_with_right_checksums_is_damage(saved: Path) -> None:
    generator, whole, sentences = random.Random(1), saved.read_text(), list[str]()
    names = [name for name in json.loads(whole) if name != "sha256"]
    for name in (*names, "surplus"):
        for value in ("missing", *NONSENSE):
            if generator.random() < 0.5 and name in ("training", "game_options", "code_version", "created_at"):
                continue
            saved.write_text(whole)

            def change(body: dict[str, Any], name: str = name, value: Any = value) -> None:
                body[name] = value
                if value == "missing":
                    del body[name]

            reseal(saved, change)
            try:  # a name may be any text, and what was trained anything
                load_checkpoint(saved)
                load_learner_state(saved)
            except DataError as error:
                sentences.append(str(error))
    assert len(sentences) > 100 and all("\x1b" not in sentence and str(saved) in sentence for sentence in sentences)


def safetensors_of(header: bytes, data: bytes = b"") -> bytes:
    return struct.pack("<Q", len(header)) + header + data


def tensor(dtype: str, shape: list[Any], offsets: list[Any]) -> bytes:
    return json.dumps({f"weight{ESCAPE}": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}).encode()


ARRAYS = {
    "empty": b"",
    "no header": struct.pack("<Q", 0),
    "a header too large": struct.pack("<Q", 2**63) + b"{}",
    "a header larger than the file": struct.pack("<Q", 1 << 40) + b"{}",
    "no JSON": safetensors_of(b"nonsense"),
    "bad UTF-8": safetensors_of(b"\xff\xfe"),
    "deep JSON": safetensors_of(b'{"a":' * 50_000),
    "a list": safetensors_of(b"[]"),
    "no arrays": safetensors_of(b"{}"),
    "shapes that overflow": safetensors_of(tensor("F32", [2**62, 2**62], [0, 16]), bytes(16)),
    "offsets that overflow": safetensors_of(tensor("F32", [4], [2**64 - 16, 2**64]), bytes(16)),
    "negative offsets": safetensors_of(tensor("F32", [4], [-16, 0]), bytes(16)),
    "bfloat16": safetensors_of(tensor("BF16", [8], [0, 16]), bytes(16)),
    "8-bit floats": safetensors_of(tensor("F8_E4M3", [16], [0, 16]), bytes(16)),
    "other 8-bit floats": safetensors_of(tensor("F8_E5M2", [16], [0, 16]), bytes(16)),
    "an unknown type": safetensors_of(tensor("F7", [4], [0, 16]), bytes(16)),
    "names that steer a terminal": safetensors_of(tensor("F32", [4], [0, 16]), bytes(16)),
}


@pytest.mark.parametrize("part", ["weights", "learner"])
@pytest.mark.parametrize("content", ARRAYS.values(), ids=ARRAYS)
def test_weights_of_nonsense_with_the_right_checksum_are_damage(saved: Path, part: str, content: bytes) -> None:
    file = saved.with_suffix(".safetensors" if part == "weights" else ".learner.safetensors")
    file.write_bytes(content)
    entry = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    reseal(saved, lambda body: body["files"].update({part: entry}))
    if part == "weights":
        with pytest.raises(DamagedCheckpointError) as raised:
            load_checkpoint(saved)
        assert "\x1b" not in str(raised.value) and "\u202e" not in str(raised.value)
        checkpoint, messages = load_newest(saved.parent)
        assert checkpoint is not None and checkpoint.info.step == 0 and "step-00000005.json.damaged" in messages[0]
    else:
        with contextlib.suppress(DamagedCheckpointError):  # any arrays are a state of some learner
            load_learner_state(saved)


@pytest.mark.parametrize(
    "name", ["step-00000005.json", "step-00000005.safetensors", "step-00000005.learner.safetensors"]
)
def test_a_read_error_that_comes_once_costs_nothing(saved: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    errors = [OSError(5, "Input/output error")]

    def failing(path: Path, *, most_bytes: int) -> bytes:
        if path.name == name and errors:
            raise errors.pop()
        return read_bytes(path, most_bytes=most_bytes)

    monkeypatch.setattr("zerosum.network.checkpoint.read_bytes", failing)
    checkpoint, messages = load_newest(saved.parent)
    assert not errors and checkpoint is not None and checkpoint.info.step == 5 and not messages
    errors += [OSError(5, "Input/output error")] * 9
    with pytest.raises(DataError, match=f"cannot be read: {name}: Input/output error"):
        load_newest(saved.parent)
    assert not list(saved.parent.glob("*.damaged"))


# ---- links and devices

LINKS = [
    "holder.json", "holder.lock", "config.toml", ".config.toml.unfinished", ".holder.json.unfinished", "metrics.csv",
    "strength.jsonl", "mistakes.jsonl", "calibration.json", "games", "checkpoints", "tensorboard",
    "games/manifest.jsonl", "games/journal-000001.bin", "games/.manifest.jsonl.unfinished",
    "checkpoints/step-00000000.json", "checkpoints/step-00000000.safetensors",
    "checkpoints/.step-00000000.json.unfinished",
]  # fmt: skip


@with_links
@pytest.mark.parametrize("name", LINKS)
def test_links_out_of_a_run_are_refused_and_not_written_through(tmp_path: Path, victim: Path, name: str) -> None:
    run = tmp_path / "run"
    link = run / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(victim if "." in name else victim.parent)
    with pytest.raises(DataError, match="is a link out of") as raised:
        train("tictactoe", run, report=pytest.fail)
    assert str(link) in str(raised.value) and str(victim.parent) in str(raised.value)
    assert victim.read_text() == "ten years of work" and names_in(victim.parent) == ["thesis.txt"]
    with pytest.raises(DataError, match="is a link out of"), hold(run):
        pass


@with_links
def test_links_within_a_run_and_runs_behind_links_are_used(tmp_path: Path, saved: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "runs").symlink_to(tmp_path / "disk")
    run = tmp_path / "runs" / "a"
    shutil.copytree(saved.parent, run / "checkpoints")
    (run / "newest.json").symlink_to("checkpoints/step-00000005.json")
    require_own_files(run)
    assert load_checkpoint(run).info.step == 5


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_among_the_files_is_refused(tmp_path: Path) -> None:
    filled(tmp_path)
    os.mkfifo(tmp_path / "games-000009-5d41402abc4b.parquet")
    with pytest.raises(DataError, match=r"games-000009-5d41402abc4b\.parquet is neither a file nor a folder"):
        GameStore(tmp_path, report=pytest.fail)


# ---- settings and metrics


def test_settings_cut_anywhere_are_read_or_refused_with_a_sentence(tmp_path: Path) -> None:
    text = dump_config(new_config(make("tictactoe"), "tictactoe"))
    path, outcomes = tmp_path / "config.toml", set()
    for end in range(0, len(text), len(text) // rounds(5500)):
        path.write_text(text[:end])
        try:
            outcomes.add(type(load_config(path)))
        except ZerosumError as error:
            outcomes.add(type(error) if str(path) in str(error) else str(error))
    assert outcomes == {RunConfig, DataError}
    path.write_text(text[: text.index("[learner]")])
    with pytest.raises(DataError, match=r"config.toml has no section \[learner\]: the file is cut off"):
        load_config(path)


@pytest.mark.parametrize("cell", ["9" * 400, "-1", "1e5", "nan", str(2**63), "9" * 5000])
def test_a_huge_step_is_a_damaged_line(tmp_path: Path, cell: str) -> None:
    metrics = Metrics(tmp_path)
    metrics.add(MetricsRow(minutes=1, step=2, games=3, positions=4, evaluations=5, evaluations_per_second=6))
    metrics.close()
    path = tmp_path / "metrics.csv"
    row = path.read_text().splitlines()[1]
    path.write_text(f"{HEADER}\n{row}\n{row.replace(',2,', f',{cell},', 1)}\n")
    assert [row.step for row in read_metrics(path)] == [2]
    messages: list[str] = []
    Metrics(tmp_path, report=messages.append).close()
    assert "damaged in line 3" in messages[0]


def test_metrics_that_were_deleted_meanwhile_begin_with_their_header(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path)
    row = MetricsRow(minutes=1, step=2, games=3, positions=4, evaluations=5, evaluations_per_second=6)
    metrics.add(row)
    (tmp_path / "metrics.csv").unlink()
    metrics.add(row)
    metrics.close()
    assert read_metrics(tmp_path / "metrics.csv") == [row]


def test_metrics_without_a_header_are_damaged_and_no_other_versions(tmp_path: Path) -> None:
    """A table without a header, as older versions wrote it after a deletion."""
    metrics = Metrics(tmp_path)
    for step in (1, 2):
        metrics.add(MetricsRow(minutes=step, step=step, games=3, positions=4, evaluations=5, evaluations_per_second=6))
    metrics.close()
    path = tmp_path / "metrics.csv"
    path.write_text("\n".join([*path.read_text().splitlines()[1:], ""]))
    assert [row.step for row in read_metrics(path)] == [2]
    messages: list[str] = []
    Metrics(tmp_path, report=messages.append).close()
    assert "damaged in line 1" in messages[0] and path.read_text().splitlines()[0] == HEADER


# ---- what is said


def test_what_is_said_of_files_steers_no_terminal(tmp_path: Path) -> None:
    said = str(DataError(f"the weights {ESCAPE}\nnext line"))
    assert said == "the weights \\x1b[2J\\x1b]0;title\\x07\\u202etxt.exe\nnext line"
    assert printable("入玉\tä 🙂\n") == "入玉\tä 🙂\n"
    name = f"run{ESCAPE}" if os.name != "nt" else "run"
    games = tmp_path / name / "games"
    filled(games)
    (games / "journal-000003.bin").write_bytes(b"")
    with opened(games) as (_, messages):
        assert messages and all(message.isprintable() for message in messages)


NOT_LOADED = "zerosum: a part of the program could not be loaded (libtorch_cpu.so: cannot map segment). Check that"
NO_MEMORY = "zerosum: there is not memory enough. End other programs,"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ImportError("libtorch_cpu.so: cannot map segment\nmore"), NOT_LOADED),
        (MemoryError(), NO_MEMORY),
        (RuntimeError("Exception from src/inference/src/dev/plugin.cpp:54:\nstd::bad_alloc\n\n"), NO_MEMORY),
        (RuntimeError('Cannot load library "x.so": x.so: failed to map segment from shared object'), NO_MEMORY),
    ],
)
def test_a_library_that_finds_no_memory_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, sentence: str
) -> None:
    def fails(**_: Any) -> None:
        raise error

    monkeypatch.setattr(application, "app", fails)
    with pytest.raises(SystemExit) as ended:
        application.main()
    said = capsys.readouterr().err
    assert ended.value.code == 2 and said.startswith(sentence) and said.count("\n") == 1


def test_another_error_of_a_library_is_a_mistake_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(**_: Any) -> None:
        raise RuntimeError("unexpected")

    monkeypatch.setattr(application, "app", fails)
    with pytest.raises(RuntimeError, match="unexpected"):
        application.main()
