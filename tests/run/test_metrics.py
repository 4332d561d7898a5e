"""The table of a run's metrics: damaged lines are lost and reported, and only a training repairs the file."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event

from zerosum.base.errors import DataError, RunError
from zerosum.run.metrics import HEADER, Metrics, MetricsRow, read_metrics

ROWS = [MetricsRow(0.5 * step, step, 2, 3, 4, 5.0, elo=1.5 if step else None) for step in range(4)]


def filled(directory: Path) -> Path:
    metrics = Metrics(directory)
    for row in ROWS:
        metrics.add(row)
    metrics.close()
    return directory / "metrics.csv"


def test_rows_come_back(tmp_path: Path) -> None:
    path = filled(tmp_path)
    assert path.read_text().splitlines()[0] == HEADER
    assert read_metrics(path) == ROWS
    messages: list[str] = []
    assert Metrics(tmp_path, report=messages.append).last == ROWS[-1]
    assert messages == []
    assert read_metrics(tmp_path / "nowhere.csv") == []


def test_tensorboard_reads_the_same(tmp_path: Path) -> None:
    filled(tmp_path)
    (path,) = (tmp_path / "tensorboard").iterdir()
    assert path.name.startswith("events.out.tfevents.")
    version, *events = RawEventFileLoader(str(path)).Load()
    assert Event.FromString(version).file_version == "brain.Event:2"
    assert [Event.FromString(event).step for event in events] == [row.step for row in ROWS]
    told = [{value.tag: value.simple_value for value in Event.FromString(event).summary.value} for event in events]
    assert told == [{name: value for name, value in asdict(row).items() if value is not None} for row in ROWS]


@pytest.mark.parametrize("damage", [b"\xff\xfe\x00", b"", b"0.5,two,2,3,4,5.0,,,,,,,", b"1,2", HEADER.encode()])
def test_a_damaged_line_costs_itself(tmp_path: Path, damage: bytes) -> None:
    path = filled(tmp_path)
    before = path.read_bytes()
    lines = before.split(b"\n")
    lines[2] = damage
    path.write_bytes(damaged := b"\n".join(lines))
    kept = [ROWS[0], *ROWS[2:]]
    assert read_metrics(path) == kept
    assert path.read_bytes() == damaged, "who only reads writes nothing"
    messages: list[str] = []
    assert Metrics(tmp_path, report=messages.append).last == kept[-1]
    (aside,) = tmp_path.glob("metrics.csv.*.damaged")
    assert aside.read_bytes() == damaged
    assert messages == [
        f"{path} is damaged in line 3: it is removed, and the other lines count. The old file is kept as {aside.name}."
    ]
    lines = before.split(b"\n")
    assert path.read_bytes() == b"\n".join(lines[:2] + lines[3:])


@pytest.mark.parametrize("damage", [b"\xff", HEADER.replace("games", "gamer").encode()])
def test_a_damaged_first_line_costs_no_row(tmp_path: Path, damage: bytes) -> None:
    path = filled(tmp_path)
    before = path.read_bytes()
    path.write_bytes(damage + before[len(HEADER) :])
    assert read_metrics(path) == ROWS
    messages: list[str] = []
    assert Metrics(tmp_path, report=messages.append).last == ROWS[-1]
    assert "is damaged in line 1" in messages[0]
    assert path.read_bytes() == before


@pytest.mark.parametrize("size", [3, -5])
def test_a_torn_line_is_taken_out_and_told(tmp_path: Path, size: int) -> None:
    path = filled(tmp_path)
    path.write_bytes(path.read_bytes()[:size])
    messages: list[str] = []
    metrics = Metrics(tmp_path, report=messages.append)
    assert metrics.last == (None if size > 0 else ROWS[-2])
    assert messages == [f"The last line of {path} was cut off while it was written, and is removed."]
    metrics.add(ROWS[3])
    metrics.close()
    assert read_metrics(path)[-1] == ROWS[3]


def test_other_columns_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text("minutes,apples,pears\n")
    for read in (read_metrics, lambda path: Metrics(path.parent)):
        with pytest.raises(DataError, match=r"has the columns \['minutes', 'apples', 'pears'\], expected"):
            read(path)
    assert path.read_text() == "minutes,apples,pears\n"


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = Metrics(tmp_path)

    def full(*arguments: object, **named: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        with pytest.raises(RunError, match=f"{tmp_path.name} cannot be written: No space left on device"):
            metrics.add(ROWS[0])
    (tmp_path / "metrics.csv").write_bytes(b"torn")
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(RunError, match=f"{tmp_path.name} cannot be written: No space left on device"):
            Metrics(tmp_path)
    assert (tmp_path / "metrics.csv").read_bytes() == b"torn", "as it was"
