"""The thread that copies a run: when it writes, how long it waits, and what it says of a store that fails."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from zerosum.base import consent
from zerosum.base.errors import DataError, RunError
from zerosum.run.storage import fetch_run, mirrored
from zerosum.run.storage import mirror as mirror_module
from zerosum.run.storage.manifests import manifest_key, read_manifests
from zerosum.run.storage.mirror import Mirror, StoreNote
from zerosum.run.storage.object_store import ObjectStore, StoreFailure
from zerosum.run.storage.run_files import RunFile, complete_files

LONG_S = 1e6
"""Longer than any test."""


def silent(_sentence: str) -> None:
    pass


def new_run(directory: Path) -> Path:
    """A run of settings and notes alone."""
    run = directory / "run"
    (run / "notes").mkdir(parents=True)
    (run / "config.toml").write_bytes(b"game = 'tictactoe'\n")
    (run / "notes" / "first.txt").write_bytes(b"it begins")
    return run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return new_run(tmp_path)


def note_in(directory: Path, writer: str = "me", *, after: int = 0) -> StoreNote:
    return StoreNote((directory / "store").as_uri(), writer, after)


def copied(run: Path, note: StoreNote, **arguments: float) -> list[str]:
    """Copy everything, as a training's end does. Returns the reports."""
    reports: list[str] = []
    mirror = Mirror(run, note, report=reports.append, pause_s=0.01, **arguments)
    mirror.start()
    mirror.close()
    return reports


def fetched(note: StoreNote, directory: Path) -> dict[str, bytes]:
    """The files of a copy, without the note of the store."""
    fetch_run(note.url, directory, report=silent)
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path.name != "store.json"
    }


def test_a_fetched_file_has_its_last_content(run: Path, tmp_path: Path) -> None:
    """Whether it was appended to, touched, rewritten, made shorter or emptied, in one process or in several."""
    note, other = note_in(tmp_path), StoreNote((tmp_path / "other").as_uri(), "me")
    lasting = Mirror(run, other, report=silent)
    for number, content in enumerate((b"", b"ab", b"abc", b"abc", b"xbcde", b"xb", b"yb", b"", b"z")):
        (run / "notes" / "first.txt").write_bytes(content)
        assert copied(run, note)[-1].startswith("Stored in")
        lasting._copy()
        for place, store in enumerate((note, other)):
            found = fetched(store, tmp_path / f"fetched-{number}-{place}")
            assert found["notes/first.txt"] == content and set(found) == {"config.toml", "notes/first.txt"}


def test_what_is_said_to_be_stored_is_what_is_fetched(run: Path, tmp_path: Path) -> None:
    large = "tuning/first/second/large.bin"
    (run / large).parent.mkdir(parents=True)
    (run / large).write_bytes(bytes(2_300_000))
    note, reports = note_in(tmp_path), list[str]()
    stored = copied(run, note)
    fetch_run(note.url, tmp_path / "fetched", report=reports.append)
    assert (tmp_path / "fetched" / large).read_bytes() == (run / large).read_bytes()
    counts = stored[-1].rpartition(": ")[2]
    assert counts == reports[-1].rpartition(": ")[2] == "3 files, 2.3 MB."


def test_what_is_new_is_stored_soon_after_a_call_and_nothing_is_done_meanwhile(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    num_looks = 0

    def counted(run: Path) -> list[RunFile]:
        nonlocal num_looks
        num_looks += 1
        return complete_files(run)

    monkeypatch.setattr(mirror_module, "complete_files", counted)
    note, reports = note_in(tmp_path), list[str]()
    mirror = Mirror(run, note, report=reports.append, period_s=LONG_S)
    mirror.start()
    store = tmp_path / "store"
    while not list(store.glob("manifests/000001.json")):
        threading.Event().wait(0.01)
    (run / "notes" / "second.txt").write_bytes(b"it goes on")
    mirror.wake()
    while not list(store.glob("files/*/notes/second.txt")):
        threading.Event().wait(0.01)
    threading.Event().wait(0.3)
    assert num_looks <= 3, "a look for each reason: the beginning, the call, and perhaps a file that came in between"
    (run / "notes" / "third.txt").write_bytes(b"it ends")
    mirror.close()
    assert reports[-1].startswith("Stored in") and fetched(note, tmp_path / "fetched")["notes/third.txt"] == b"it ends"


def test_every_manifest_is_read_once(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note, read, found = note_in(tmp_path), ObjectStore.read, Counter[str]()
    for number in range(3):
        (run / "notes" / f"{number}.txt").write_bytes(b"more")
        copied(run, note)

    def counted(store: ObjectStore, key: str) -> bytes | None:
        content = read(store, key)
        if content is not None:
            found[key] += 1
        return content

    monkeypatch.setattr(ObjectStore, "read", counted)
    mirror = Mirror(run, note, report=silent)
    for number in range(3):
        mirror._copy()
        (run / "notes" / f"later {number}.txt").write_bytes(b"more")
    assert found == {manifest_key(number): 1 for number in (1, 2, 3)}


# ---- stores that fail


class Failing:
    """Writes of a store that fail as often as the test says, before or after they are done."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, is_done: bool = False) -> None:
        self.num_left, self.num_failed, self._is_done, self._write = 0, 0, is_done, ObjectStore.write
        monkeypatch.setattr(ObjectStore, "write", lambda *words: self.write(*words))

    def write(self, store: ObjectStore, key: str, content: bytes) -> None:
        if self.num_left == 0 or self._is_done:
            self._write(store, key, content)
        if self.num_left:
            self.num_left, self.num_failed = self.num_left - 1, self.num_failed + 1
            raise StoreFailure("out of order")


def test_writes_whose_answers_are_lost_count_once(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The manifest is there, although the store has said that it failed."""
    note, failing = note_in(tmp_path), Failing(monkeypatch, is_done=True)
    for number in range(6):
        (run / "notes" / "first.txt").write_bytes(b"it begins" + b"." * number)
        failing.num_left = number
        assert copied(run, note)[-1].startswith("Stored in")
    parts = [part for manifest in read_manifests(ObjectStore(note.url)) for part in manifest.parts]
    assert len(parts) == len(set(parts)) == 2 + 5
    assert fetched(note, tmp_path / "fetched")["notes/first.txt"] == b"it begins....."


def test_a_failure_is_said_once_and_each_attempt_is_counted(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing, reports = Failing(monkeypatch), list[str]()
    mirror = Mirror(run, note_in(tmp_path), report=reports.append, pause_s=0.01, period_s=0.01)
    failing.num_left = 4
    mirror.start()
    while len(reports) < 2:
        threading.Event().wait(0.01)
    threading.Event().wait(0.1)
    mirror.close()
    assert len(reports) == 3 and "fails" in reports[0] and "(4 attempts failed so far)" in reports[1]
    assert reports[2].endswith("; 4 attempts failed.") and mirror.num_failures == 4


def test_pauses_double_up_to_a_minute_and_begin_anew_after_a_success(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing, pauses, is_working = Failing(monkeypatch), list[float](), threading.Event()
    mirror = Mirror(run, note_in(tmp_path), report=silent, pause_s=10.0, period_s=0.0)
    copy = mirror._copy

    def copied() -> None:
        copy()
        is_working.set()
        if len(pauses) < 7:
            (run / "notes" / "first.txt").write_bytes(b"more" * len(pauses))
            failing.num_left = 1

    monkeypatch.setattr(mirror, "_sleep", pauses.append)
    monkeypatch.setattr(mirror, "_copy", copied)
    failing.num_left = 5
    mirror.start()
    while len(pauses) < 7:
        threading.Event().wait(0.01)
    mirror.close()
    assert pauses == [10, 20, 40, 60, 60, 10, 10]


def sleeping(mirror: Mirror, pause_s: float) -> threading.Thread:
    """A pause of the thread that copies, on another thread."""
    thread = threading.Thread(target=mirror._sleep, args=(pause_s,), daemon=True)
    thread.start()
    return thread


def test_a_pause_is_not_ended_by_a_call_but_by_the_end_of_the_training(run: Path, tmp_path: Path) -> None:
    mirror = Mirror(run, note_in(tmp_path), report=silent, pause_s=0.01)
    thread = sleeping(mirror, LONG_S)
    for _ in range(5):
        mirror.wake()
        thread.join(0.05)
    assert thread.is_alive()
    mirror.close()  # nothing has begun to copy
    thread.join(30)
    assert not thread.is_alive()
    later = sleeping(mirror, LONG_S)
    later.join(30)
    assert not later.is_alive(), "pauses are short once the training has ended"


def test_attempts_at_the_end_have_pauses_too(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = Failing(monkeypatch)
    failing.num_left = -1  # for ever
    mirror = Mirror(run, note_in(tmp_path), report=silent, pause_s=0.2, patience_s=0.5)
    mirror.start()
    mirror.close()
    assert 1 <= mirror.num_failures <= 5


def test_the_end_waits_for_a_store_that_works_again(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = Failing(monkeypatch)
    failing.num_left = 10
    assert copied(run, note_in(tmp_path))[-1].startswith("Stored in") and failing.num_failed == 10


def test_patience_is_for_the_end_alone(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it trains, a store may fail for hours: by a clock of its own."""
    failing, reports, now = Failing(monkeypatch), list[str](), 0.0
    failing.num_left = -1
    monkeypatch.setattr(mirror_module, "time", SimpleNamespace(monotonic=lambda: now, sleep=threading.Event().wait))
    mirror = Mirror(run, note_in(tmp_path), report=reports.append, patience_s=60.0)
    monkeypatch.setattr(mirror, "_sleep", lambda _pause_s: threading.Event().wait(0.01))
    mirror.start()
    while failing.num_failed < 2:
        threading.Event().wait(0.01)
    now = 10_000.0
    before = failing.num_failed
    while failing.num_failed < before + 3:
        assert mirror._thread.is_alive()
        threading.Event().wait(0.01)
    failing.num_left = 0
    mirror.close()
    assert "works again" in reports[1] and reports[-1].startswith("Stored in")


def test_a_store_that_does_not_answer_at_the_beginning_is_asked_three_times(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing, pauses, note = Failing(monkeypatch), list[float](), note_in(tmp_path)
    monkeypatch.setattr(mirror_module, "time", SimpleNamespace(monotonic=lambda: 0.0, sleep=pauses.append))
    mirror = Mirror(run, note, report=silent, pause_s=3.0)
    failing.num_left = 3
    with pytest.raises(RunError, match="cannot be used: out of order"):
        mirror.begin()
    assert failing.num_left == 0 and pauses == [3, 3]
    failing.num_left = 2
    mirror.begin()
    assert len(read_manifests(ObjectStore(note.url))) == 1


HUNG = """
import sys, threading
from pathlib import Path
from zerosum.run.storage.mirror import Mirror, StoreNote
from zerosum.run.storage.object_store import ObjectStore

ObjectStore.read = lambda self, key: threading.Event().wait()
mirror = Mirror(Path(sys.argv[1]), StoreNote(sys.argv[2], "me"), report=print, patience_s=0.1)
mirror.start()
mirror.close()
"""


def test_a_store_that_never_answers_does_not_keep_a_program_from_ending(run: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-c", HUNG, str(run), note_in(tmp_path).url]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("Not everything is stored")


def test_a_store_that_has_lost_manifests_is_not_written(run: Path, tmp_path: Path) -> None:
    """A run that was fetched from three manifests does not go on from two."""
    note = note_in(tmp_path)
    for number in range(3):
        (run / "notes" / f"{number}.txt").write_bytes(b"more")
        copied(run, note)
    fetch_run(note.url, tmp_path / "fetched", report=silent)
    found = StoreNote.read(tmp_path / "fetched")
    assert found is not None and found.after == 3 and found.writer != note.writer
    lost = tmp_path / "store" / manifest_key(3)
    content = lost.read_bytes()
    lost.unlink()
    reports = copied(tmp_path / "fetched", found)
    assert "has 2 manifests" in reports[0] and "fetched from 3" in reports[0] and not lost.exists()
    lost.write_bytes(content)
    (tmp_path / "fetched" / "more.txt").write_bytes(b"more")
    assert copied(tmp_path / "fetched", found)[-1].startswith("Stored in")
    # The first machine finds a manifest that is not its own, beyond those that it has written.
    assert "was continued by another machine" in copied(run, note)[0]


# ---- which store a run has


def test_a_run_keeps_its_store_until_another_or_none_is_named(run: Path, tmp_path: Path) -> None:
    url, other = note_in(tmp_path).url, (tmp_path / "other").as_uri()

    def train(url: str) -> str:
        reports: list[str] = []
        with mirrored(run, url, report=reports.append):
            pass
        return "\n".join(reports)

    assert train("") == ""
    assert f"Stored in {url}" in train(url)
    before = StoreNote.read(run)
    assert f"Stored in {url}" in train("") and f"Stored in {url}" in train(url)
    assert StoreNote.read(run) == before, "it writes on under its name"
    assert f"Stored in {other}" in train(other)
    after = StoreNote.read(run)
    assert before and after and after.url == other and after.writer != before.writer
    assert f"Stored in {other}" in train("")
    assert train("none") == "" and StoreNote.read(run) is None
    assert train("none") == "" and train("") == ""
    assert consent.allowed("store", consent.run_subject(run)) is None


def test_a_store_that_the_user_has_not_named_is_not_used(run: Path, tmp_path: Path) -> None:
    note, reports = note_in(tmp_path), list[str]()
    note.write(run)
    with mirrored(run, "", report=reports.append) as mirror:
        assert mirror is None
    assert len(reports) == 1 and "You have not named this address" in reports[0]
    assert not (tmp_path / "store").exists()


def test_what_cannot_be_remembered_is_said(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory of the user's answers is a file."""
    (tmp_path / "config").write_text("in the way")
    monkeypatch.setenv(consent.VARIABLE, str(tmp_path / "config" / "zerosum"))
    monkeypatch.setattr(consent, "_unwritten", {})
    monkeypatch.setattr(consent, "allowed", lambda kind, subject: consent._unwritten.get(kind, {}).get(subject))
    url, reports = note_in(tmp_path).url, list[str]()

    def num_notes() -> int:
        return sum("so the next command does not know" in report for report in reports)

    with mirrored(run, url, report=reports.append):
        pass
    assert num_notes() == 1
    fetch_run(url, tmp_path / "fetched", report=reports.append)
    assert num_notes() == 2
    with mirrored(run, "none", report=reports.append):
        pass
    assert num_notes() == 3


def test_a_fetched_run_may_be_stored_there_again(run: Path, tmp_path: Path) -> None:
    """A user who names the address of a run allows it, also when the run is there already."""
    note = note_in(tmp_path)
    copied(run, note)
    target = tmp_path / "runs" / "mine"
    for _ in range(2):
        fetch_run(note.url, target, report=silent)
        assert consent.allowed("store", consent.run_subject(target)) == note.url
        consent.withdraw("store", consent.run_subject(target))
    with pytest.raises(RunError, match="is not the run of"):
        fetch_run((tmp_path / "another").as_uri(), target, report=silent)
    with pytest.raises(RunError, match="is not the run of"):
        fetch_run(note.url, run, report=silent)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"url": "file:///x", "writer": "me", "after": "x"}', "[" * 100_000])
def test_a_damaged_note_is_a_sentence(run: Path, text: str) -> None:
    (run / "store.json").write_text(text)
    with pytest.raises(DataError, match=r"store\.json is damaged: remove it"):
        StoreNote.read(run)


def test_no_copy_without_its_settings(run: Path, tmp_path: Path) -> None:
    note, reports = note_in(tmp_path), list[str]()
    copied(run, note)
    (settings,) = (tmp_path / "store").glob("files/*/config.toml")
    content = settings.read_bytes()
    settings.write_bytes(b"x" + content[1:])
    with pytest.raises(DataError, match=r"config\.toml in .* does not match its checksum: restore it"):
        fetch_run(note.url, tmp_path / "fetched", report=reports.append)
    settings.unlink()
    with pytest.raises(DataError, match=r"config\.toml in .* is missing: restore it"):
        fetch_run(note.url, tmp_path / "fetched", report=reports.append)
    settings.write_bytes(content)
    (first,) = (tmp_path / "store").glob("files/*/notes/first.txt")
    first.unlink()
    fetch_run(note.url, tmp_path / "fetched", report=reports.append)
    assert any("first.txt in" in line and "is missing: notes/first.txt is left out" in line for line in reports)
    assert not (tmp_path / "fetched" / "notes" / "first.txt").exists()


def test_nothing_is_fetched_through_a_link(run: Path, tmp_path: Path) -> None:
    """A directory of an interrupted fetch may be a stranger's."""
    note = note_in(tmp_path)
    copied(run, note)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".fetched.fetching").mkdir()
    (tmp_path / ".fetched.fetching" / "notes").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="is a link out of"):
        fetch_run(note.url, tmp_path / "fetched", report=silent)
    assert not list((tmp_path / "elsewhere").iterdir())


def unsafe(directory: Path, report: Callable[[str], None]) -> list[Callable[[], object]]:
    """What begins to use a store at an address that is not Amazon's, in clear."""
    url = "s3://games/run?endpoint_override=127.0.0.1:1&scheme=http"
    return [
        lambda: fetch_run(url, directory / "fetched", report=report),
        lambda: Mirror(directory, StoreNote(url, "me"), report=report),
    ]


@pytest.mark.parametrize("place", [0, 1])
def test_what_is_unsafe_about_an_address_is_said_first(
    place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[str] = []

    def read(store: ObjectStore, key: str) -> None:
        assert len(reports) == 2, "before the store is asked"

    monkeypatch.setattr(ObjectStore, "read", read)
    use = unsafe(tmp_path, reports.append)[place]
    if place:
        use()
    else:
        with pytest.raises(DataError, match="holds no run"):
            use()
    assert "not at Amazon" in reports[0] and "without encryption" in reports[1]
