"""Durable writes: a file is there completely or as it was before, wherever the writing of it stops."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from zerosum.base.errors import DataError, RunError
from zerosum.base.files import append_line, copy_aside, read_lines, replace_durably, write_durably, writing


class Killed(BaseException):
    """Ends the process as far as the writer can tell."""


@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
def test_a_file_is_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    path = tmp_path / "file"
    write_durably(path, b"before")

    def killed(*arguments: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(os, call, killed)
        with pytest.raises(Killed):
            write_durably(path, b"after")
    assert path.read_bytes() == b"before"
    write_durably(path, b"after")
    assert path.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_is_on_the_disk_before_the_writer_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut keeps what was synced: first the whole content, then its name, which belongs to the directory."""
    events: list[tuple[str, int, int]] = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(file: int) -> None:
        found = os.fstat(file)
        events.append(("sync", found.st_ino, 0 if stat.S_ISDIR(found.st_mode) else found.st_size))
        real_fsync(file)

    def replace(source: Path, target: Path) -> None:
        events.append(("rename", os.stat(source).st_ino, 0))
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    for path, content in ((tmp_path / "new", b"first"), (tmp_path / "new", b"second of all")):
        events.clear()
        write_durably(path, content)
        file, directory = path.stat().st_ino, tmp_path.stat().st_ino
        names = [] if os.name == "nt" else [("sync", directory, 0)]
        assert events == [("sync", file, len(content)), ("rename", file, 0), *names]


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_durably(tmp_path / "folder", b"content")
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_text_is_written_as_it_is(tmp_path: Path) -> None:
    replace_durably(tmp_path / "file", "ä\n")
    append_line(tmp_path / "file", "ö")
    assert (tmp_path / "file").read_bytes() == "ä\nö\n".encode()


def test_copies_of_different_damage_stand_side_by_side(tmp_path: Path) -> None:
    names = {copy_aside(tmp_path / "file", content).name for content in (b"one", b"two", b"one")}
    assert names == {path.name for path in tmp_path.iterdir()}
    assert len(names) == 2
    assert all(name.startswith("file.") and name.endswith(".damaged") for name in names)


def test_what_is_no_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"{tmp_path.name} cannot be read"):
        read_lines(tmp_path, str)
    said = "somewhere cannot be written: No space left on device. What was saved is whole"
    with pytest.raises(RunError, match=said), writing(Path("somewhere")):
        raise OSError(28, "No space left on device")
