"""A run's copy in object storage: on a shared disk, and on a real S3 server that fails."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import zerosum
from runs_for_tests import train_a_little
from s3_for_tests import KEY, MISSING, SECRET, Proxy, s3_server, serving
from zerosum.base.errors import DataError, RunError, SettingsError
from zerosum.network.checkpoint import list_checkpoints, load_newest
from zerosum.replay.game_store import GameStore
from zerosum.run.storage import fetch_run
from zerosum.run.storage.manifests import Part, decode_manifest, manifest_key, read_manifests
from zerosum.run.storage.mirror import Mirror, StoreNote, mirrored
from zerosum.run.storage.object_store import ObjectStore, StoreFailure

GO_ON = (
    "training.steps=4",
    "training.min_positions=20",
    "strength.rollout_simulations=1",
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("trained") / "run"
    train_a_little("tictactoe", run)
    return run


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    """A copy of a trained run whose games are sealed."""
    copy = tmp_path / "run"
    for path in sorted(trained.rglob("*")):
        if path.is_file():
            (copy / path.relative_to(trained)).parent.mkdir(parents=True, exist_ok=True)
            (copy / path.relative_to(trained)).write_bytes(path.read_bytes())
    store = GameStore(copy / "games", report=lambda _: None)
    store.forget_running()
    store.seal()
    store.close()
    return copy


@pytest.fixture
def proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    if s3_server() is None:
        pytest.skip(MISSING)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with serving(tmp_path / "server") as port:
        proxy = Proxy(port)
        yield proxy
        proxy.close()


def game_ids(run: Path) -> list[int]:
    reports: list[str] = []
    store = GameStore(run / "games", report=reports.append)
    try:
        assert not reports
        return [record.game_id for record in store.recent(num_games=store.num_games)]
    finally:
        store.close()


def copied(run: Path, note: StoreNote, *, patience_s: float = 60.0) -> tuple[Mirror, list[str]]:
    """Copy everything, as a training's end does."""
    reports: list[str] = []
    mirror = Mirror(run, note, report=reports.append, pause_s=0.01, patience_s=patience_s)
    mirror.start()
    mirror.close()
    return mirror, reports


def assert_same_run(run: Path, fetched: Path) -> None:
    assert game_ids(fetched) == game_ids(run) != []
    newest, damage = load_newest(fetched / "checkpoints")
    assert not damage and newest is not None
    assert [path.name for path in list_checkpoints(fetched / "checkpoints")] == [
        path.name for path in list_checkpoints(run / "checkpoints")
    ]
    for name in ("config.toml", "metrics.csv"):
        assert (fetched / name).read_bytes() == (run / name).read_bytes()


def test_a_training_is_stored_and_goes_on_elsewhere(tmp_path: Path) -> None:
    """Through the commands, with a directory as the store."""
    first, second = tmp_path / "first", tmp_path / "second"
    train_a_little("tictactoe", first)
    url = (tmp_path / "store" / "mine").as_uri()
    reports: list[str] = []
    zerosum.train("tictactoe", first, overrides=GO_ON, store=url, report=reports.append)
    assert any(line.startswith(f"Stored in {url}: ") for line in reports)
    words = ["train", url, "--run", str(second), "--steps", "6"]
    done = subprocess.run([sys.executable, "-m", "zerosum", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Fetched" in done.stdout and "Stored in" in done.stdout
    newest, _ = load_newest(second / "checkpoints")
    assert newest is not None and newest.info.step == 6
    assert set(game_ids(first)) <= set(game_ids(second)) and game_ids(first)
    # The run remembers its store, so the copy has these steps, too.
    third = tmp_path / "third"
    fetch_run(url, third, report=lambda _: None)
    assert_same_run(second, third)
    # The first machine notices that another one has gone on, and the store stays as it is.
    reports.clear()
    zerosum.train("tictactoe", first, steps=5, report=reports.append)
    assert any("was continued by another machine" in line and "--store" in line for line in reports)
    assert any(line.startswith("Not everything is stored") for line in reports)
    newest, _ = load_newest(first / "checkpoints")
    assert newest is not None and newest.info.step == 5


def test_only_what_was_appended_is_stored_again(run: Path, tmp_path: Path) -> None:
    note = StoreNote((tmp_path / "store").as_uri(), "me")
    copied(run, note)
    mirror, reports = copied(run, note)
    assert "0 files" in reports[-1]
    assert mirror.num_failures == 0 and "failed" not in reports[-1]
    size = (run / "metrics.csv").stat().st_size
    with (run / "metrics.csv").open("ab") as file:
        file.write(b"more\n")
    copied(run, note)
    last = read_manifests(ObjectStore(note.url))[-1]
    digest = hashlib.sha256((run / "metrics.csv").read_bytes()).hexdigest()
    assert last.parts == (Part(path="metrics.csv", offset=size, num_bytes=5, sha256=digest),)
    fetch_run(note.url, tmp_path / "fetched", report=lambda _: None)
    assert_same_run(run, tmp_path / "fetched")


def test_a_kill_between_any_two_writes_loses_nothing_stored(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy after each write is a run without damage, or none, and the next process completes it."""
    write = ObjectStore.write

    class Killed(BaseException):
        pass

    def killed_after(most: int) -> Callable[[ObjectStore, str, bytes], None]:
        numbers = itertools.count()

        def write_or_die(store: ObjectStore, key: str, content: bytes) -> None:
            if next(numbers) >= most:
                raise Killed
            write(store, key, content)

        return write_or_die

    for most in itertools.count():
        note = StoreNote((tmp_path / f"store-{most}").as_uri(), "me")
        monkeypatch.setattr(ObjectStore, "write", killed_after(most))
        mirror = Mirror(run, note, report=lambda _: None)
        is_killed = False
        try:
            mirror.begin()
            mirror._copy()
        except Killed:
            is_killed = True
        monkeypatch.setattr(ObjectStore, "write", write)
        fetched = tmp_path / f"fetched-{most}"
        if is_killed:
            with pytest.raises(DataError, match="holds no run"):
                fetch_run(note.url, fetched, report=lambda _: None)
        copied(run, note)
        fetch_run(note.url, fetched, report=lambda _: None)
        assert_same_run(run, fetched)
        if not is_killed:
            break
    assert most > 8


def test_an_interrupted_fetch_goes_on(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are there are not read again, and count among the bytes of the run."""
    note, fetched = StoreNote((tmp_path / "store").as_uri(), "me"), tmp_path / "fetched"
    copied(run, note)
    whole, again = list[str](), list[str]()
    fetch_run(note.url, tmp_path / "whole", report=whole.append)
    read, keys = ObjectStore.read, list[str]()

    class Killed(BaseException):
        pass

    def read_until(most: int, store: ObjectStore, key: str) -> bytes | None:
        if key.startswith("files/"):
            if len(keys) == most:
                raise Killed
            keys.append(key)
        return read(store, key)

    num_parts = sum(len(manifest.parts) for manifest in read_manifests(ObjectStore(note.url)))
    for most in (num_parts - 1, num_parts):
        monkeypatch.setattr(ObjectStore, "read", lambda *words, most=most: read_until(most, *words))
        with contextlib.suppress(Killed):
            fetch_run(note.url, fetched, report=again.append)
        assert fetched.exists() == (most == num_parts)
    assert len(set(keys)) == len(keys), "no part is read twice"
    assert_same_run(run, fetched)
    assert whole[-1].partition(": ")[2] == again[-1].partition(": ")[2]


def test_reads_that_fail_are_repeated_after_longer_and_longer_pauses(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = StoreNote((tmp_path / "store").as_uri(), "me")
    copied(run, note)
    read, pauses = ObjectStore.read, list[float]()

    def failing(num_failures: int) -> Callable[[ObjectStore, str], bytes | None]:
        def read_at_last(store: ObjectStore, key: str) -> bytes | None:
            if len(pauses) < num_failures:
                raise StoreFailure("out of order")
            return read(store, key)

        return read_at_last

    monkeypatch.setattr("zerosum.run.storage.fetching.time", SimpleNamespace(sleep=pauses.append))
    monkeypatch.setattr(ObjectStore, "read", failing(100))
    with pytest.raises(RunError, match=r"000001.json in .* cannot be read: out of order. .* repeat the command"):
        fetch_run(note.url, tmp_path / "fetched", report=lambda _: None, pause_s=0.5)
    assert pauses == [0.5, 1, 2, 4, 8]
    pauses.clear()
    monkeypatch.setattr(ObjectStore, "read", failing(5))
    fetch_run(note.url, tmp_path / "fetched", report=lambda _: None, pause_s=0.5)
    assert_same_run(run, tmp_path / "fetched")


def test_a_store_that_fails_is_reported_and_catches_up(run: Path, tmp_path: Path) -> None:
    """The store's directory is a file at first, and cannot be written."""
    place = tmp_path / "store"
    place.write_text("not a directory")
    note = StoreNote(place.as_uri(), "me")
    reports: list[str] = []
    is_reported = threading.Event()

    def report(line: str) -> None:
        reports.append(line)
        is_reported.set()

    mirror = Mirror(run, note, report=report, pause_s=0.01)
    mirror.start()
    assert is_reported.wait(60)
    assert "fails" in reports[0] and "continues" in reports[0]
    place.unlink()
    mirror.close()
    assert "works again" in reports[1] and reports[2].startswith("Stored in")
    assert mirror.num_failures >= 1 and "attempts failed" in reports[2]
    fetch_run(note.url, tmp_path / "fetched", report=lambda _: None)
    assert_same_run(run, tmp_path / "fetched")


def test_a_store_that_stays_away_ends_with_a_sentence(run: Path, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("not a directory")
    note = StoreNote((tmp_path / "store").as_uri(), "me")
    mirror, reports = copied(run, note, patience_s=0.2)
    assert reports[-1].startswith("Not everything is stored") and mirror.num_failures
    with pytest.raises(RunError, match="cannot be used"), mirrored(run, note.url, report=reports.append):
        pass
    assert StoreNote.read(run) is None


def test_many_manifests_that_are_read_slowly_are_progress(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = StoreNote((tmp_path / "store").as_uri(), "me")
    for number in range(8):
        (run / "metrics.csv").write_text((run / "metrics.csv").read_text(encoding="utf-8") + f"{number}\n", "utf-8")
        copied(run, note)
    assert len(read_manifests(ObjectStore(note.url))) >= 8
    read = ObjectStore.read

    def read_slowly(store: ObjectStore, key: str) -> bytes | None:
        time.sleep(0.15)
        return read(store, key)

    monkeypatch.setattr(ObjectStore, "read", read_slowly)
    _, reports = copied(run, note, patience_s=0.6)
    assert reports[-1].startswith("Stored in ")


def test_many_files_that_are_written_slowly_are_progress(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock of its own: each write takes two thirds of the patience, and `close` looks at the clock after it."""
    note, write = StoreNote((tmp_path / "store").as_uri(), "me"), ObjectStore.write
    now, num_looks, has_ended = 0.0, 0, threading.Event()

    def monotonic() -> float:
        nonlocal num_looks
        num_looks += threading.current_thread() is threading.main_thread()
        return now

    def write_slowly(store: ObjectStore, key: str, content: bytes) -> None:
        nonlocal now
        write(store, key, content)
        now += 40.0
        seen = num_looks
        while num_looks < seen + 2 and not has_ended.wait(0.01):
            pass

    mirror = Mirror(run, note, report=(reports := list[str]()).append, patience_s=60.0)
    mirror.begin()
    monkeypatch.setattr("zerosum.run.storage.mirror.time", SimpleNamespace(monotonic=monotonic, sleep=lambda _: None))
    monkeypatch.setattr(ObjectStore, "write", write_slowly)
    mirror.start()
    mirror.close()
    has_ended.set()
    assert reports[-1].startswith("Stored in ")


def test_two_machines_do_not_write_one_copy(run: Path, tmp_path: Path) -> None:
    url = (tmp_path / "store").as_uri()
    copied(run, StoreNote(url, "one"))
    numbers = len(read_manifests(ObjectStore(url)))
    _, reports = copied(run, StoreNote(url, "two"))
    assert "holds another run" in reports[0] and reports[-1].startswith("Not everything")
    assert len(read_manifests(ObjectStore(url))) == numbers
    with pytest.raises(RunError, match="holds another run"), mirrored(run, url, report=reports.append):
        pass


def test_damaged_objects_are_left_out_with_a_sentence(run: Path, tmp_path: Path) -> None:
    note = StoreNote((tmp_path / "store").as_uri(), "me")
    copied(run, note)
    (shard,) = (tmp_path / "store").glob("files/*/games/*.parquet")
    shard.write_bytes(b"x" + shard.read_bytes()[1:])
    reports: list[str] = []
    fetch_run(note.url, tmp_path / "fetched", report=reports.append)
    assert "does not match its checksum" in reports[0] and "left out" in reports[0]
    manifest = tmp_path / "store" / manifest_key(1)
    manifest.write_bytes(manifest.read_bytes().replace(b"me", b"us"))
    with pytest.raises(DataError, match="000001.json .* is damaged"):
        fetch_run(note.url, tmp_path / "again", report=reports.append)


@pytest.mark.parametrize("path", ["../up", "/root", "games/../../up", ".hidden", "a\\b", "c:x", "games//x", ""])
def test_a_manifest_names_no_file_outside_of_the_run(path: str) -> None:
    with pytest.raises(ValueError, match="path is"):
        Part(path=path, offset=0, num_bytes=0, sha256="0" * 64)


def test_a_newer_format_is_refused() -> None:
    with pytest.raises(DataError, match="newer zerosum"):
        decode_manifest(json.dumps({"format": 2}).encode(), 1, "s3://games/run")


@pytest.mark.parametrize(
    "url", ["s3://games", "s3://key:secret@games/run", "ftp://games/run", "s3://games/run?acl=all", "file://host/run"]
)
def test_malformed_addresses_are_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refusal:
        zerosum.train("tictactoe", tmp_path / "run", steps=1, store=url)
    assert "secret@" not in str(refusal.value)
    assert not (tmp_path / "run").exists()


# ---- a real S3 server


def test_s3_has_the_run(run: Path, tmp_path: Path, proxy: Proxy) -> None:
    """Every listing is empty, as one that lags behind is."""
    proxy.fault = lambda method, path: "empty" if method == "GET" and "list-type" in path else None
    note = StoreNote(proxy.url("a/run"), "me")
    _, reports = copied(run, note)
    assert reports[-1].startswith("Stored in") and "failed" not in reports[-1]
    fetch_run(note.url, tmp_path / "fetched", report=lambda _: None)
    assert_same_run(run, tmp_path / "fetched")
    words = {request.split()[0] for request in proxy.requests}
    assert words <= {"GET", "HEAD", "PUT"}, "no rename, no removal, no copy"


@pytest.mark.parametrize("fault", [500, 503, "cut", "slow"])
def test_s3_that_fails_loses_nothing(run: Path, tmp_path: Path, proxy: Proxy, fault: int | str) -> None:
    """Three of ten requests fail or are slow, while storing and while fetching."""
    chance = np.random.default_rng(1)
    proxy.fault = lambda method, path: fault if chance.random() < 0.3 else None
    note = StoreNote(proxy.url("run"), "me")
    _, reports = copied(run, note, patience_s=300)
    assert reports[-1].startswith("Stored in") and proxy.num_faults >= 3
    fetch_run(note.url, tmp_path / "fetched", report=lambda _: None, pause_s=0.01)
    assert_same_run(run, tmp_path / "fetched")


def test_s3_that_refuses_the_keys_for_a_while_is_made_up_for(run: Path, tmp_path: Path, proxy: Proxy) -> None:
    """Its client does not repeat a request that is answered with 403, so the mirror does."""
    numbers = itertools.count()
    proxy.fault = lambda method, path: 403 if next(numbers) < 4 else None
    note = StoreNote(proxy.url("run"), "me")
    mirror, reports = copied(run, note, patience_s=300)
    assert "fails" in reports[0] and "works again" in reports[1] and mirror.num_failures >= 1
    parts = [part for manifest in read_manifests(ObjectStore(note.url)) for part in manifest.parts]
    assert len(parts) == len({(part.path, part.offset) for part in parts})


def test_s3_that_refuses_the_keys_is_a_sentence(run: Path, proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    url, reports = proxy.url("run"), list[str]()
    with pytest.raises(RunError, match="cannot be used"), mirrored(run, url, report=reports.append):
        pass
    assert StoreNote.read(run) is None
    with pytest.raises(StoreFailure):
        ObjectStore(url).write("x", b"x")
