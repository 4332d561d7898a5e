"""The games of a run on disk: a journal of games in flight, shards of finished games, and recovery from any kill.

    games/
      manifest.jsonl                      one line per commit, each with its checksum; it alone decides what counts
      games-000001-5d41402abc4b.parquet   sealed games (`zerosum.replay.shards`)
      journal-000002.bin                  games since the last seal, finished and in flight (`zerosum.replay.journal`)
      *.damaged                           set aside: named in a message, never read again

Seal number n writes shard n, writes journal n + 1 with the remaining games, appends the manifest's line (the commit),
and removes journal n. A file that no line names is left over from an interrupted seal, and is removed when the store is
opened. No file is overwritten, except a manifest that is rebuilt from the files. A journal's first entry has its
number, so that an emptied journal is distinguished from a new one.

Start with `GameStore`. This file does not depend on the window or on self-play.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from zerosum.base.errors import DataError, RunError, printable
from zerosum.base.files import UNFINISHED, copy_aside, read_bytes, require_own_files, synced, write_all, write_durably
from zerosum.replay.journal import (
    Journal,
    JournalContents,
    begin_entry,
    end_entry,
    game_entries,
    parse_journal,
    ply_entries,
    record_entries,
    start_entry,
)
from zerosum.replay.records import GameHeader, GameRecord, PackedPly, RunningGame
from zerosum.replay.shards import (
    FORMAT,
    JOURNAL_NAME,
    MANIFEST,
    MOST_BYTES,
    SHARD_NAME,
    Manifest,
    Seal,
    decode_shard,
    encode_shard,
    is_named_by,
    journal_name,
    manifest_line,
    read_manifest,
    seal_of,
)


class GameStore:
    """The games of a run, for one process at a time and any number of its threads.

    Opening recovers the store: incomplete writes are removed, damaged files are set aside, and each is reported in a
    sentence. All finished games are there once, and games in flight can be continued. A missing shard does not count
    until it is back.

    Methods that write raise `RunError` if the disk is full or the directory is not writable. After that the store
    refuses further writes; it is complete on disk, and opening it again continues.
    """

    def __init__(
        self,
        directory: Path,
        *,
        report: Callable[[str], None],
        games_per_shard: int = 1024,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open the store in `directory`, which is made if it does not exist.

        Args:
            directory: The store's directory, without other files.
            report: Gets a sentence for each action of recovery, now and when a shard is read.
            games_per_shard: Finished games that are sealed into one shard.
            clock: Returns seconds, for the journal's syncs.

        Raises:
            DataError: the directory has a newer format, or a link that leads outside; nothing is changed.
            RunError: the directory, or a shard in it, cannot be read or written.
        """
        require_own_files(directory)
        self._directory = directory
        self._report: Callable[[str], None] = lambda done: report(printable(done))
        self._games_per_shard = games_per_shard
        self._clock = clock
        self._failure = ""
        self._missing: set[str] = set()  # shards that count but are missing
        self._lock = threading.RLock()  # guards all attributes below
        self._sealing = threading.Lock()  # taken before `_lock`: one seal at a time
        with self._disk():
            directory.mkdir(parents=True, exist_ok=True)
            self._manifest = self._open_manifest()
            self._remove_strays()
            for seal in self._manifest.shards:
                self._has_size(seal)
            contents = self._read_journal()
            self._running, self._finished = contents.running, contents.finished
            ids = [*self._running, *(record.game_id for record in self._finished), *contents.lost_games]
            self._next_game_id = max([0, *(seal.next_game_id for seal in self._manifest.seals), *(i + 1 for i in ids)])
            self._first_new_id = self._next_game_id
            self._journal = Journal(self._path(self._manifest.journal), clock=clock)
            self._recorded: dict[int, GameRecord] = {}  # finished games that are to be played again
            self._replayed: dict[int, RunningGame] = {}  # those of them that are being played
            # Now: a damaged journal, and games that a kill prevented from being sealed.
            is_damaged = bool(contents.holes) or contents.number is None
            self._seal(at_least=0 if is_damaged else games_per_shard)

    @property
    def next_game_id(self) -> int:
        """The next unused game_id, above all of this and earlier processes."""
        return self._next_game_id

    @property
    def num_games(self) -> int:
        """Finished games, except those of missing or set aside shards, and those to be played again."""
        with self._lock:
            sealed = sum(seal.num_games for seal in self._shards_there)
            return sealed + len(self._finished) - len(self._recorded)

    @property
    def num_positions(self) -> int:
        """Plies with a policy target, of the same games."""
        with self._lock:
            sealed = sum(seal.num_positions for seal in self._shards_there)
            return sealed + _num_positions(self._finished) - _num_positions(self._recorded.values())

    @property
    def running(self) -> dict[int, RunningGame]:
        """The games in flight, by game_id. The last ply of one may have ended it."""
        with self._lock:
            return {game_id: game.copy() for game_id, game in self._running.items()}

    def start_game(self, header: GameHeader, opening: Sequence[PackedPly] = ()) -> None:
        """Start a game with its first plies. Starting a game in flight again removes its plies."""
        with self._lock, self._disk():
            assert header.game_id in self._running or header.game_id >= self._first_new_id, header.game_id
            game = RunningGame(header=header)
            if header.game_id in self._recorded:
                self._replayed[header.game_id] = game
            else:
                self._journal.append(start_entry(header) + ply_entries(opening))
                self._running[header.game_id] = game
                self._next_game_id = max(self._next_game_id, header.game_id + 1)
            game.plies.packed += opening

    def add_plies(self, game_ids: Sequence[int], plies: Sequence[PackedPly]) -> None:
        """Record the next plies of games in flight, a game for each, with one write."""
        with self._lock, self._disk():
            new, games = plies, self._running
            if self._replayed:
                new = [ply for game_id, ply in zip(game_ids, plies, strict=True) if game_id not in self._replayed]
                games = self._running | self._replayed
            if new:
                self._journal.append(ply_entries(new))
            for game_id, ply in zip(game_ids, plies, strict=True):
                games[game_id].plies.packed.append(ply)

    def finish_game(self, game_id: int, *, outcome: float, ending: str) -> GameRecord:
        """Record the end of a game in flight, and seal if there are `games_per_shard` games.

        `outcome` is the first player's, in [-1, 1]. The game counts from the moment it is written.

        Raises:
            RunError: the disk cannot be written, or the game was played again (`replay_from`) and differs.
        """
        with self._lock:
            if game_id in self._replayed:
                return self._confirm(self._replayed.pop(game_id), outcome=outcome, ending=ending)
        with self._lock, self._disk():
            game = self._running[game_id]
            record = GameRecord.from_plies(game.header, game.plies, outcome=outcome, ending=ending)
            self._journal.append(end_entry(game_id, len(game.plies), outcome=outcome, ending=ending))
            del self._running[game_id]
            self._finished.append(record)
        self._seal(at_least=self._games_per_shard)
        return record

    def add_games(self, records: Sequence[GameRecord]) -> None:
        """Add finished games as one shard. After a kill either all of them count or none.

        Their numbers are `next_game_id` and the following ones.
        """
        with self._lock:
            for number, record in enumerate(records, start=self._next_game_id):
                assert record.game_id == number, (record.game_id, number)
            self._finished += records
            self._next_game_id += len(records)
        self._seal(at_least=1)

    def add_game(self, record: GameRecord) -> None:
        """Add a finished game with the number `next_game_id`. It counts from the moment it is written.

        A kill meanwhile can leave a game in flight, which `forget_running` removes.
        """
        with self._lock, self._disk():
            assert record.game_id == self._next_game_id, (record.game_id, self._next_game_id)
            for entry in record_entries(record):
                self._journal.append(entry)
            self._finished.append(record)
            self._next_game_id += 1
        self._seal(at_least=self._games_per_shard)

    def take_games(self, records: Sequence[GameRecord], entries: Sequence[bytes]) -> None:
        """Add finished games that were played elsewhere, with one write; `entries` are each game's (`record_entries`).

        Their numbers are new to the store, or those of games in flight, which have ended with them. They count when
        this returns. A kill meanwhile leaves the first of them finished, and of the next one the plies in flight.
        """
        with self._lock, self._disk():
            for record in records:
                assert record.game_id in self._running or record.game_id >= self._first_new_id, record.game_id
            self._journal.append(b"".join(entries))
            for record in records:
                self._running.pop(record.game_id, None)
                self._finished.append(record)
                self._next_game_id = max(self._next_game_id, record.game_id + 1)
        self._seal(at_least=self._games_per_shard)

    def forget_running(self) -> None:
        """Remove the games in flight, with the next seal."""
        with self._lock:
            self._running = {}

    def replay_from(self, first_game_id: int) -> None:
        """Prepare to play all games from this number on again, those after a deterministic run's last checkpoint.

        Finished games stay on disk but do not count until they have ended again. Their records are then compared with
        those on disk, and nothing is written. Games in flight begin anew.

        Raises:
            RunError: a shard cannot be read.
        """
        with self._lock:
            later = [seal for seal in self._manifest.shards if seal.last_game_id >= first_game_id]
            shards = [(data, self._path(seal.name)) for seal in later if (data := self._read_shard(seal)) is not None]
            records = self._decoded(shards, self._finished)
            self._recorded = {record.game_id: record for record in records if record.game_id >= first_game_id}
            self._first_new_id = min(self._first_new_id, first_game_id)

    def _confirm(self, game: RunningGame, *, outcome: float, ending: str) -> GameRecord:
        record = GameRecord.from_plies(game.header, game.plies, outcome=outcome, ending=ending)
        recorded = self._recorded.pop(game.header.game_id)
        if list(record_entries(record)) != list(record_entries(recorded)):
            raise RunError(
                f"Game {record.game_id} was played again and is not the game recorded in {self._directory}: the "
                "machine, a version or a file has changed. Nothing was overwritten. Go on as it was then, or "
                "without repeating: --set training.deterministic=false."
            )
        return record

    def sync(self) -> None:
        """Wait until everything recorded so far is on the disk."""
        with self._lock, self._disk():
            self._journal.sync()

    def seal(self) -> None:
        """Write the finished games of the journal into a shard, if there are any."""
        self._seal(at_least=1)

    def recent(self, num_positions: int = 0, *, num_games: int = 0) -> Iterator[GameRecord]:
        """The newest finished games, oldest first: at least `num_games` with `num_positions` positions, or all.

        The shards are checked before this returns. A damaged one is set aside and older games take its place, so
        `num_games` and `num_positions` are right afterwards.

        Raises:
            RunError: a shard exists but cannot be read.
            DataError: a shard with the right checksum holds no games; raised during the iteration.
        """
        with self._lock:
            unsealed = list(self._finished)
            shards: list[tuple[bytes, Path]] = []  # the newest first
            positions = num_positions + _num_positions(self._recorded.values()) - _num_positions(unsealed)
            games = num_games + len(self._recorded) - len(unsealed)
            for seal in reversed(self._manifest.shards):
                if (positions > 0 or games > 0) and (data := self._read_shard(seal)) is not None:
                    shards.append((data, self._path(seal.name)))
                    positions -= seal.num_positions
                    games -= seal.num_games
        replayed = set(self._recorded)
        return (record for record in self._decoded(shards, unsealed) if record.game_id not in replayed)

    @staticmethod
    def _decoded(shards: list[tuple[bytes, Path]], unsealed: list[GameRecord]) -> Iterator[GameRecord]:
        while shards:
            yield from decode_shard(*shards.pop())
        yield from unsealed

    @property
    def _shards_there(self) -> list[Seal]:
        return [seal for seal in self._manifest.shards if seal.shard not in self._missing]

    def close(self) -> None:
        """Write everything to disk and close. Finished games stay in the journal until the next seal."""
        with self._sealing, self._lock:
            if not self._failure:
                with self._disk():
                    self._journal.close()
                self._failure = f"The store in {self._directory} is closed."

    def _seal(self, *, at_least: int) -> None:
        with self._sealing:
            sealed = tuple(self._finished)  # other threads may add to it, but not remove from it
            if len(sealed) < at_least:
                return
            with self._disk():
                number = self._manifest.seals[-1].number + 1 if self._manifest.seals else 1
                shard, data = None, b""
                if sealed:
                    data = encode_shard(sealed)
                    shard = f"games-{number:06d}-{hashlib.sha256(data).hexdigest()[:12]}.parquet"
                    self._write(shard, data)
                with self._lock:
                    self._commit(seal_of(sealed, number, shard, data, self._next_game_id))

    def _commit(self, seal: Seal) -> None:
        """The second half of a seal, after the shard (if any) is written."""
        unsealed = self._finished[seal.num_games :]
        entries = [_journal_begin(seal.number + 1)]
        entries += [entry for record in unsealed for entry in record_entries(record)]
        entries += [entry for game in self._running.values() for entry in game_entries(game)]
        self._write(seal.journal, b"".join(entries))
        self._append_line("seal", vars(seal))
        replaced = self._manifest.journal
        self._manifest.seals.append(seal)
        self._finished = unsealed
        self._journal.close()
        self._journal = Journal(self._path(seal.journal), clock=self._clock)
        os.unlink(self._path(replaced))

    # -- opening

    def _open_manifest(self) -> Manifest:
        manifest = read_manifest(self._directory)
        path, journal = self._path(MANIFEST), self._path(manifest.journal)
        has_entries = journal.exists() and journal.stat().st_size > len(_journal_begin(1))
        has_games = self._numbered(SHARD_NAME) or has_entries
        if not manifest.whole_size and not has_games:  # a new directory, or one whose making was cut off
            self._write(manifest.journal, _journal_begin(1))
            self._write(MANIFEST, manifest_line("format", {"format": FORMAT}))
            manifest.has_format = True
        elif manifest.damaged_lines or not manifest.has_format or not journal.exists():
            manifest = self._rebuild_manifest(manifest)
        elif manifest.whole_size < path.stat().st_size:
            _truncate(path, manifest.whole_size)
            self._report(f"The last line of {path} was cut off while it was written; that change is taken back.")
        return manifest

    def _rebuild_manifest(self, found: Manifest) -> Manifest:
        """Rebuild the manifest from its undamaged lines and from the files.

        A seal ends with the removal of its predecessor's journal. Therefore the oldest journal counts that no readable
        line makes obsolete, and all shards with a lower number are complete. Their names hold their checksums.
        """
        path = self._path(MANIFEST)
        kept = ""
        if path.exists():
            kept = f" It is kept as {copy_aside(path, _read_file(path)).name}."
        damage = f"is damaged in line {', '.join(map(str, found.damaged_lines))}" if found.damaged_lines else ""
        reason = damage or ("does not fit the files beside it" if kept else "is missing")
        self._report(f"{path} {reason}: it is rebuilt from the games' files.{kept}")
        last = found.seals[-1].number if found.seals else 0
        shards = self._numbered(SHARD_NAME)
        journals = [number for number, _ in self._numbered(JOURNAL_NAME) if number > last]
        current = min(journals) if journals else max([last, *(number for number, _ in shards)]) + 1
        if not journals:
            self._write(journal_name(current), _journal_begin(current))
            self._report(f"The journal in {self._directory} is missing: games that were not sealed are lost.")
        named = {seal.shard for seal in found.seals}
        for number, name in shards:
            if name not in named and number < current:
                found.seals += self._adopted(number, name)
        next_game_id = max([0, *(seal.next_game_id for seal in found.seals)])
        found.seals.sort(key=lambda seal: seal.number)
        if current > 1 and found.journal != journal_name(current):
            found.seals.append(seal_of((), current - 1, None, b"", next_game_id))
        lines: list[tuple[str, dict[str, Any]]] = [
            ("format", {"format": FORMAT}),
            *(("seal", vars(seal)) for seal in found.seals),
        ]
        lines += [("aside", {"shard": name, "reason": "damaged"}) for name in sorted(found.aside)]
        self._write(MANIFEST, b"".join(manifest_line(kind, entry) for kind, entry in lines))
        return found

    def _adopted(self, number: int, name: str) -> list[Seal]:
        """The seal of a committed shard whose line is lost; none if the shard is damaged too."""
        data = _read_file(self._path(name))
        if not is_named_by(name, data):
            os.replace(self._path(name), self._path(f"{name}.damaged"))
            self._report(
                f"{self._path(name)} is damaged. It is set aside as {name}.damaged and its games are left out."
            )
            return []
        records = decode_shard(data, self._path(name))
        next_game_id = 1 + max(record.game_id for record in records)
        return [seal_of(records, number, name, data, next_game_id)]

    def _remove_strays(self) -> None:
        named = {seal.shard for seal in self._manifest.seals} | {self._manifest.journal}
        on_disk = [name for _, name in self._numbered(SHARD_NAME) + self._numbered(JOURNAL_NAME)]
        for name in sorted(set(on_disk) - named):
            os.unlink(self._path(name))
            self._report(f"{self._path(name)} is left over from an interrupted seal, and is removed.")
        for name in os.listdir(self._directory):
            if name.startswith(".") and name.endswith(UNFINISHED):  # never a complete file of the store
                os.unlink(self._path(name))

    def _read_shard(self, seal: Seal) -> bytes | None:
        """The content of a shard, checked; None if it is missing, or damaged and therefore set aside."""
        if not self._has_size(seal):
            return None
        data = _read_file(self._path(seal.name))
        if hashlib.sha256(data).hexdigest() == seal.sha256:
            return data
        self._set_aside(seal, "does not match its checksum")
        return None

    def _has_size(self, seal: Seal) -> bool:
        """Whether a shard exists with the right size. One of another size is set aside; a missing one may return."""
        path, name = self._path(seal.name), seal.name
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            if name not in self._missing:
                self._missing.add(name)
                self._report(
                    f"{path} is missing: its {seal.num_games} games are left out, and the run resumes with the others. "
                    "Put it back and start again to include them."
                )
            return False
        except OSError as error:
            raise _unreadable(path, error) from error
        self._missing.discard(name)
        if size != seal.num_bytes:
            self._set_aside(seal, f"has {size} bytes instead of {seal.num_bytes}")
        return size == seal.num_bytes

    def _set_aside(self, seal: Seal, reason: str) -> None:
        path = self._path(seal.name)
        with self._disk():
            os.replace(path, f"{path}.damaged")
            self._append_line("aside", {"shard": path.name, "reason": reason})
        self._manifest.aside.add(path.name)
        self._report(
            f"{path} {reason}: its {seal.num_games} games are left out, and the run resumes with the others. "
            f"It is kept as {path.name}.damaged."
        )

    def _read_journal(self) -> JournalContents:
        path = self._path(self._manifest.journal)
        data = _read_file(path)
        contents = parse_journal(data)
        if (contents.format_version or FORMAT) > FORMAT:
            raise DataError(
                f"{path} has format {contents.format_version}, and this version of zerosum reads up to {FORMAT}. "
                "Install a newer zerosum to resume this run."
            )
        if contents.number is not None and path.name != journal_name(contents.number):
            contents = _of_another_journal(contents)
        if contents.holes or contents.number is None:
            aside = copy_aside(path, data)
            self._report(
                f"{path} is damaged{_damage(contents)}. It is kept as {aside.name}, and the run resumes with the rest."
            )
        elif contents.whole_size < len(data):
            _truncate(path, contents.whole_size)
            self._report(
                f"The last entry of {path} was cut off while it was written: {len(data) - contents.whole_size} bytes "
                "are removed, and their ply or result is played again."
            )
        return contents

    # -- the disk

    @contextlib.contextmanager
    def _disk(self) -> Iterator[None]:
        if self._failure:
            raise RunError(self._failure)
        try:
            yield
        except OSError as error:
            self._failure = (
                f"The games in {self._directory} cannot be written: {error.strerror or error}. Earlier records "
                "are complete. Free space there or make it writable, then start the run again to resume."
            )
            raise RunError(self._failure) from error
        except BaseException:  # after Ctrl-C between writing and remembering a ply, memory and disk may differ
            self._failure = f"A write to the games in {self._directory} was interrupted. Start the run again to resume."
            raise

    def _path(self, name: str) -> Path:
        return self._directory / name

    def _numbered(self, pattern: re.Pattern[str]) -> list[tuple[int, str]]:
        matches = [pattern.fullmatch(name) for name in os.listdir(self._directory)]
        return sorted((int(match[1]), match[0]) for match in matches if match)

    def _write(self, name: str, data: bytes) -> None:
        """Write a complete file to disk."""
        write_durably(self._path(name), data)

    def _append_line(self, kind: str, entry: dict[str, Any]) -> None:
        with synced(self._path(MANIFEST), os.O_WRONLY | os.O_APPEND) as file:
            write_all(file, manifest_line(kind, entry))


def _num_positions(records: Iterable[GameRecord]) -> int:
    return sum(record.num_positions for record in records)


def _journal_begin(number: int) -> bytes:
    return begin_entry(number, format_version=FORMAT)


def _of_another_journal(contents: JournalContents) -> JournalContents:
    """The contents that count of a journal with a wrong name: only its game_ids, as shards may have its games."""
    ids = {*contents.running, *(record.game_id for record in contents.finished), *contents.lost_games}
    return JournalContents(lost_games=ids)


def _damage(contents: JournalContents) -> str:
    """The damage of a journal and its consequences, to follow "is damaged"."""
    places = ", ".join(f"{start} to {end}" for start, end in contents.holes)
    clauses = []
    if contents.number is None:
        clauses.append(
            f"its first entry, with its number, is missing, so unsealed games may be lost; "
            f"{len(contents.finished)} finished and {len(contents.running)} running ones are left in it"
        )
    if contents.lost_games:
        games = ", ".join(map(str, sorted(contents.lost_games)))
        clauses.append(f"games {games} have lost an entry and are left out")
    return (
        (f" at bytes {places}" if places else "")
        + ": "
        + ("; ".join(clauses) or "its game resumes from its last complete ply")
    )


def _read_file(path: Path) -> bytes:
    try:
        return read_bytes(path, most_bytes=MOST_BYTES)
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> RunError:
    return RunError(
        f"{path} cannot be read: {error.strerror or error}. Nothing was changed. Check the disk and the "
        "file's permissions, then start the run again to resume."
    )


def _truncate(path: Path, size: int) -> None:
    with synced(path, os.O_RDWR) as file:
        os.ftruncate(file, size)
