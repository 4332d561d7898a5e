"""A run directory made from its copy in a store."""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from zerosum.base.errors import DataError, RunError
from zerosum.base.files import require_own_files, write_durably, writing
from zerosum.replay.journal import begin_entry
from zerosum.replay.shards import FORMAT, JOURNAL_NAME, read_manifest
from zerosum.run.storage.manifests import Part, read_manifests
from zerosum.run.storage.mirror import StoreNote, allow_store
from zerosum.run.storage.object_store import ObjectStore, StoreFailure
from zerosum.run.storage.run_files import STORES

NUM_ATTEMPTS = 6
"""Attempts to read an object."""


def fetch_run(url: str, run: Path, *, report: Callable[[str], None], pause_s: float = 1.0) -> None:
    """Make a run directory from the copy at `url`; a run that was fetched from there before stays as it is.

    An interrupted fetch goes on when it is repeated. `pause_s` is the pause before the first repetition of a failed
    read, in seconds; each is twice the one before.

    Raises:
        RunError: the directory exists, cannot be written, or the store cannot be read.
        DataError: the store has no run, its manifests are damaged, or it has a newer format.
        SettingsError: the address is malformed.
    """
    store = ObjectStore(url)
    if run.exists():
        note = StoreNote.read(run)
        if note is None or note.url != url:
            raise RunError(f"{run} exists and is not the run of {url}: name another directory with --run.")
        _remember(run, url, report)
        return
    for remark in store.remarks:
        report(remark)
    fetching = run.with_name(f".{run.name}.fetching")
    require_own_files(fetching)

    def read(key: str) -> bytes | None:
        return _read(store, key, pause_s=pause_s)

    manifests = read_manifests(store, read=read)
    parts: dict[str, list[Part]] = {}
    for manifest in manifests:
        for part in manifest.parts:
            if part.offset == 0:
                parts[part.path] = []
            parts.setdefault(part.path, []).append(part)
    if "config.toml" not in parts:
        raise DataError(f"{url} holds no run: check the address. A training with --store {url} would begin one.")
    with writing(run):
        fetching.mkdir(parents=True, exist_ok=True)
        num_bytes = sum(_fetch_file(fetching, file, read, url=url, report=report) for file in parts.values())
        for name in STORES:
            _begin_journal(fetching / name)
        StoreNote(url, uuid.uuid4().hex, after=manifests[-1].number).write(fetching)
        os.replace(fetching, run)
    _remember(run, url, report)
    report(f"Fetched {url} into {run}: {len(parts)} files, {num_bytes / 1e6:,.1f} MB.")


def _remember(run: Path, url: str, report: Callable[[str], None]) -> None:
    """The run's training may go on storing it there, because the user has named the address."""
    if note := allow_store(run, url):
        report(note)


def _fetch_file(
    run: Path, parts: list[Part], read: Callable[[str], bytes | None], *, url: str, report: Callable[[str], None]
) -> int:
    """Write a file from its parts, and return its bytes. A damaged file is left out, with a report."""
    path, last = run / parts[0].path, parts[-1]
    if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == last.sha256:
        return last.offset + last.num_bytes
    content = b""
    for part in parts:
        found = read(part.key)
        content = content[: part.offset] + (found or b"")
        whole = part.offset + part.num_bytes
        if found is None or len(content) != whole or hashlib.sha256(content).hexdigest() != part.sha256:
            reason = "is missing" if found is None else "does not match its checksum"
            if part.path == "config.toml":
                raise DataError(f"{part.key} in {url} {reason}: restore it from a copy.")
            report(f"{part.key} in {url} {reason}: {part.path} is left out.")
            return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    write_durably(path, content)
    return len(content)


def _begin_journal(games: Path) -> None:
    """Write the empty journal that follows the last seal, because games in flight are not stored."""
    manifest = read_manifest(games)
    match = JOURNAL_NAME.fullmatch(manifest.journal)
    if manifest.whole_size and match:
        write_durably(games / manifest.journal, begin_entry(int(match[1]), format_version=FORMAT))


def _read(store: ObjectStore, key: str, *, pause_s: float) -> bytes | None:
    for attempt in range(1, NUM_ATTEMPTS + 1):
        try:
            return store.read(key)
        except StoreFailure as error:
            if attempt == NUM_ATTEMPTS:
                raise RunError(
                    f"{key} in {store.url} cannot be read: {error}. Check the network and the keys, then repeat the"
                    " command: it fetches what is missing."
                ) from error
            time.sleep(pause_s * 2 ** (attempt - 1))
    raise AssertionError(key)
