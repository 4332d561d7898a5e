"""A copy of a run in object storage, kept up to date by a thread while the run trains.

The run directory on the local disk is what counts for the training. The copy follows it: files that are complete are
copied, and a numbered manifest names them. A store that fails, is full or slow never stops the training; the local disk
holds what is not stored yet, and attempts are repeated with growing pauses.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shlex
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from zerosum.base.consent import allow, allowed, run_subject, withdraw
from zerosum.base.errors import DataError, RunError, command_text
from zerosum.base.files import MOST_NOTE_BYTES, read_text, replace_durably, writing
from zerosum.run.storage.manifests import Part, StoreManifest, encode_manifest, manifest_key, read_manifests
from zerosum.run.storage.object_store import ObjectStore, StoreFailure
from zerosum.run.storage.run_files import RunFile, complete_files

NOTE = "store.json"
"""The file of a run that names its store."""
NONE = "none"
"""The word that ends the storing of a run."""
PERIOD_S = 60.0
"""Seconds between two copies of what has changed."""
PATIENCE_S = 60.0
"""Seconds without progress after which the end of a training no longer waits for the store."""
LONGEST_PAUSE_S = 60.0
"""Longest pause after a failed attempt; the first is a second, and each is twice the one before."""


@dataclass(frozen=True)
class StoreNote:
    """What a run knows about its store."""

    url: str
    writer: str
    """This directory's name in the manifests that it writes."""
    after: int = 0
    """Number of the newest manifest that was there when the directory was fetched; 0 if it began the copy."""

    @staticmethod
    def read(run: Path) -> StoreNote | None:
        """The note in a run directory, if there is one.

        Raises:
            DataError: the note is damaged.
        """
        path = run / NOTE
        try:
            entries = json.loads(read_text(path, most_bytes=MOST_NOTE_BYTES))
            return StoreNote(str(entries["url"]), str(entries["writer"]), int(entries["after"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise DataError(
                f"{path} is damaged: remove it, then fetch the run again, or store it at another address."
            ) from error

    def write(self, run: Path) -> None:
        """Write the note. Raises RunError if the directory cannot be written."""
        with writing(run):
            replace_durably(run / NOTE, json.dumps(asdict(self)) + "\n")


class _Ended(Exception):  # noqa: N818 - no error: the copy belongs to another machine
    """The storing cannot go on; the message says why."""


class Mirror:
    """The copy of one run. One thread writes it; the methods are for the thread that trains."""

    def __init__(
        self,
        run: Path,
        note: StoreNote,
        *,
        report: Callable[[str], None],
        period_s: float = PERIOD_S,
        pause_s: float = 1.0,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """Prepare the copy; `start` begins it.

        Args:
            run: The run directory.
            note: Its store.
            report: Gets a sentence when the store fails, works again, or has to be given up, and at once what is unsafe
                about its address. Called by any thread.
            period_s: Seconds between two copies.
            pause_s: Seconds before the first repetition of a failed attempt.
            patience_s: Seconds without progress after which `close` no longer waits.
        """
        self._run, self._note, self._report = run, note, report
        self._period_s, self._pause_s, self._patience_s = period_s, pause_s, patience_s
        self._store = ObjectStore(note.url)
        for remark in self._store.remarks:
            report(remark)
        self._number = 0  # the newest manifest that was read or written
        self._stored: dict[str, Part] = {}  # the last stored part of each file
        self._changed_ns: dict[str, int] = {}  # of each file when it was stored
        self._unnamed: list[Part] = []  # stored, but not in a manifest yet
        self._num_files, self._num_bytes, self._num_failures = 0, 0, 0
        self._is_failing = False
        self._progress_s = 0.0  # counts from `close` on
        self._wake, self._is_closing, self._is_complete = threading.Event(), False, False
        self._thread = threading.Thread(target=self._copy_on, name="store", daemon=True)

    @property
    def num_failures(self) -> int:
        """Attempts that failed."""
        return self._num_failures

    def begin(self) -> None:
        """Read the store, and begin a new copy if it is empty.

        Raises:
            RunError: the store cannot be reached, or holds another run.
            DataError: the store is damaged, or has a newer format.
        """
        for is_last in (False, False, True):
            try:
                self._write_manifest()
                return
            except _Ended as error:
                raise RunError(str(error)) from None
            except StoreFailure as error:
                if is_last:
                    raise RunError(
                        f"{self._note.url} cannot be used: {error}. Check the address, the keys and the network."
                    ) from error
            time.sleep(self._pause_s)

    def start(self) -> None:
        """Copy from now on, in a thread."""
        self._thread.start()

    def wake(self) -> None:
        """Copy what is new soon."""
        self._wake.set()

    def close(self) -> None:
        """Copy what is left, as long as the store takes it, and report what is stored."""
        self._progress_s = time.monotonic()
        self._is_closing = True
        self._wake.set()
        while self._thread.is_alive() and time.monotonic() - self._progress_s < self._patience_s:
            self._thread.join(timeout=0.05)
        counts = f"{self._num_files} files, {self._num_bytes / 1e6:,.1f} MB" + (
            f"; {self._num_failures} attempts failed" if self._num_failures else ""
        )
        if self._is_complete:
            self._report(f"Stored in {self._note.url}: {counts}.")
        else:
            self._report(
                f"Not everything is stored in {self._note.url} (stored now: {counts}). {self._run} holds"
                " everything, and the rest is stored when it trains again."
            )

    # -- the thread

    def _copy_on(self) -> None:
        pause_s = self._pause_s
        while True:
            self._wake.clear()
            is_last = self._is_closing
            try:
                self._copy()
                pause_s = self._pause_s
                if is_last:
                    self._is_complete = True
                    return
                self._wake.wait(self._period_s)
            except (StoreFailure, OSError) as error:
                self._note_failure(error)
                if is_last and time.monotonic() - self._progress_s > self._patience_s:
                    return
                self._sleep(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            except (_Ended, DataError) as error:
                self._report(f"{error} The training continues, and nothing more is stored.")
                return

    def _sleep(self, pause_s: float) -> None:
        """Wait before a repetition: not long once the training has ended."""
        if self._is_closing:
            time.sleep(min(pause_s, self._pause_s))
            return
        self._wake.clear()
        until = time.monotonic() + pause_s
        while not self._is_closing and (left := until - time.monotonic()) > 0:
            self._wake.wait(min(left, 1.0))
            self._wake.clear()

    def _note_failure(self, error: Exception) -> None:
        self._num_failures += 1
        if not self._is_failing:
            self._is_failing = True
            self._report(
                f"The store {self._note.url} fails: {error}. The training continues, {self._run} holds everything, and"
                " storing is tried again."
            )

    def _note_progress(self) -> None:
        self._progress_s = time.monotonic()

    def _copy(self) -> None:
        """Copy everything that is new, and name it in a manifest."""
        if self._number == 0:
            self._open()
        files = [file for file in complete_files(self._run) if self._is_new(file)]
        for file in files:
            self._copy_file(file)
        if self._unnamed:
            self._write_manifest()
        if self._is_failing:
            self._is_failing = False
            self._report(f"The store {self._note.url} works again ({self._num_failures} attempts failed so far).")

    def _is_new(self, file: RunFile) -> bool:
        if file.path not in self._stored:
            return True
        return file.changed_ns != 0 and self._changed_ns.get(file.path) != file.changed_ns

    def _copy_file(self, file: RunFile) -> None:
        """Store a file, or what was appended to it."""
        try:
            content = (self._run / file.path).read_bytes()[: file.num_bytes]
        except OSError:  # moved or set aside meanwhile; recovery reports it
            return
        before, offset = self._stored.get(file.path), 0
        if before is not None:
            end = before.offset + before.num_bytes
            if len(content) >= end and hashlib.sha256(content[:end]).hexdigest() == before.sha256:
                offset = end
        if before is None or offset < len(content) or offset == 0:
            digest = hashlib.sha256(content).hexdigest()
            part = Part(path=file.path, offset=offset, num_bytes=len(content) - offset, sha256=digest)
            self._store.write(part.key, content[offset:])
            self._stored[file.path] = part
            self._unnamed.append(part)
            self._num_files += 1
            self._num_bytes += part.num_bytes
            self._note_progress()
        self._changed_ns[file.path] = file.changed_ns

    def _open(self) -> list[StoreManifest]:
        """Read the manifests after `_number`, and check that this directory may write the next one."""
        manifests = read_manifests(self._store, first=self._number + 1, read=self._read)
        for manifest in manifests:
            if manifest.number > self._note.after and manifest.writer != self._note.writer:
                raise _Ended(self._foreign(manifest))
            for part in manifest.parts:
                self._stored[part.path] = part
            self._number = manifest.number
        if self._number < self._note.after:
            raise _Ended(
                f"{self._note.url} has {self._number} manifests, but {self._run} was fetched from {self._note.after}:"
                " the store is incomplete or another one. Store the run at another address with --store."
            )
        return manifests

    def _read(self, key: str) -> bytes | None:
        """An object of the store. To read many manifests may take longer than the store's patience."""
        content = self._store.read(key)
        if content is not None:  # a store that can be read and not written would never be given up
            self._note_progress()
        return content

    def _foreign(self, manifest: StoreManifest) -> str:
        if not self._note.after and manifest.number == 1:
            return (
                f"{self._note.url} holds another run: name another address, or resume that run:"
                f" {command_text('train', self._note.url)}."
            )
        return (
            f"{self._note.url} was continued by another machine since {self._run} last wrote it (manifest"
            f" {manifest.number}). Go on from there in a new directory: {command_text('train', self._note.url)} --run"
            " DIRECTORY; or store this run at another address with --store."
        )

    def _write_manifest(self) -> None:
        """Name the stored parts. A number that exists is not overwritten."""
        # A write whose answer was lost has left a manifest of ours. Another machine's ends the storing.
        named = {part for manifest in self._open() for part in manifest.parts}
        self._unnamed = [part for part in self._unnamed if part not in named]
        if self._number and not self._unnamed:
            return
        manifest = StoreManifest(number=self._number + 1, writer=self._note.writer, parts=tuple(self._unnamed))
        self._store.write(manifest_key(manifest.number), encode_manifest(manifest))
        self._number, self._unnamed = manifest.number, []
        self._note_progress()


def require_store(url: str) -> None:
    """Check an address that `mirrored` may get. Raises SettingsError if it is malformed."""
    if url not in ("", NONE):
        ObjectStore(url)


def allow_store(run: Path, url: str) -> str:
    """Remember that the user has named this address for a run. Returns a note as `zerosum.base.consent.allow`."""
    return allow("store", run_subject(run), url)


def _tell(sentence: str, report: Callable[[str], None]) -> None:
    if sentence:
        report(sentence)


@contextlib.contextmanager
def mirrored(run: Path, url: str, *, report: Callable[[str], None]) -> Iterator[Mirror | None]:
    """Store a run while the block runs: at the address `url`, or if it is "" where the user has stored it before.

    The address "none" ends the storing. None if the run is not stored. The address in a run's `store.json` may be a
    stranger's: without `url` it is used only if the user named it for this run on this machine (`base/consent.py`).

    Raises:
        RunError: a new store cannot be reached, or holds another run.
        SettingsError: the address is malformed.
        DataError: the store is damaged, or has a newer format.
    """
    before = StoreNote.read(run)
    if url == NONE:
        with writing(run):
            (run / NOTE).unlink(missing_ok=True)
        _tell(withdraw("store", run_subject(run)), report)
    if not url and before and allowed("store", run_subject(run)) != before.url:
        report(
            f"{run} was copied to {before.url}, says its {NOTE}. You have not named this address for the run on this"
            f" machine, so nothing is sent there. To keep copying it there: --store {shlex.quote(before.url)}; to"
            f" forget the address: --store {NONE}."
        )
        before = None
    note = before if before and url in ("", before.url) else StoreNote(url, uuid.uuid4().hex)
    if url == NONE or not note.url:
        yield None
        return
    mirror = Mirror(run, note, report=report)
    if note is not before:
        mirror.begin()
        note.write(run)
    _tell(allow_store(run, note.url), report)
    mirror.start()
    try:
        yield mirror
    finally:
        mirror.close()
