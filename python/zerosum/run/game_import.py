"""Import of games of people and programs from files into a run, to learn from them.

    records/                 a `GameStore` like the one of played games in `games/`
    records-index.sqlite     the games in it, to find duplicates (`record_index.py`)

Imported games have their own store, because the numbers of played games key random draws, and a deterministic run plays
its newest games again. Files are read game by game and games are written by the thousand, so the memory does not grow
with their number. A kill loses the games since the last shard; the same command reads them again and skips the others.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, cast

from zerosum.base.errors import DataError, GameError, SettingsError, counted
from zerosum.base.holding import LOCK
from zerosum.games import Rules, make
from zerosum.games.names import GameName
from zerosum.games.permission import require_allowed
from zerosum.games.rules import names_planes, with_planes_of
from zerosum.notation import Record
from zerosum.notation.game_files import READ_SUFFIXES, read_raw_games
from zerosum.notation.legality import game_of
from zerosum.notation.sgf_root import MOVE_OPTIONS
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import GameRecord
from zerosum.replay.shards import read_manifest, read_shard
from zerosum.run import hcpe3
from zerosum.run.config import load_config
from zerosum.run.imported_game import ILLEGAL, ImportedGame, RefusedGameError, imported
from zerosum.run.record_index import RecordIndex, digest_of
from zerosum.run.run_directory import RECORDS, RECORDS_INDEX, hold

SUFFIXES = READ_SUFFIXES | {f".{hcpe3.FORMAT}": hcpe3.FORMAT}
STDIN = "-"
GAMES_PER_SHARD = 10_000
"""Games in a file of records, as in the report that the preset `stanford` follows."""
DOUBLE = "double"
CUT_OFF = "cut off"
TAIL_SIZE = 4096
CHUNK = 1 << 16
PGN_END = re.compile(rb"(?:1-0|0-1|1/2-1/2|\*)\s*(?:\{[^{}]*\}\s*|;[^\n]*\s*)*\Z")
"""The result after the last moves, and comments."""
MOST_WARNINGS = 20
"""Warnings that are reported per file; further ones are counted."""


@dataclass
class ImportCounts:
    """The counts of an import."""

    num_games: int = 0
    """Imported games."""
    num_positions: int = 0
    """Positions of these games that can be learned from, one per move."""
    num_evaluated: int = 0
    """Positions among them with an evaluation."""
    num_known: int = 0
    """Games that an earlier import read from the same place."""
    refused: Counter[str] = field(default_factory=Counter)
    """Games that were not imported, by the kind of reason."""
    num_files: int = 0
    """Files that were read to their end."""
    num_failed_files: int = 0
    """Files that could not be read to their end."""

    def __str__(self) -> str:
        known = f", {self.num_known:,} {'was' if self.num_known == 1 else 'were'} there" if self.num_known else ""
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.refused.most_common())
        refused = f"; refused {kinds}" if kinds else ""
        failed = f" ({self.num_failed_files:,} more could not be read)" if self.num_failed_files else ""
        return (
            f"{counted(self.num_games, 'game')} imported from {counted(self.num_files, 'file')}{failed},"
            f" {counted(self.num_positions, 'position')}, {self.num_evaluated:,} of them evaluated{known}{refused}."
        )


def import_games(
    files: Sequence[str | Path],
    run: str | Path,
    *,
    game: str = "",
    format: str | None = None,
    complain: Callable[[str], None] = lambda _: None,
    report: Callable[[str], None] = lambda _: None,
    progress: Callable[[str], None] = lambda _: None,
) -> ImportCounts:
    """Read games from files into a run's records.

    Variations are left out. A game is refused, with its file, line and the reason, if it is damaged or illegal by the
    run's rules, is of another game or has other options, has no move, or no result by the record or the rules, is cut
    off by the end of its file, or is a double: another game of the run has the same start, moves and result.

    Args:
        files: PGN, SGF, KIF, KI2, CSA or HCPE3 files; a directory stands for all of them in its tree, "-" for standard
            input.
        run: The run directory; made if it does not exist and a game is imported.
        game: The game of a new run; that of the first record if not given.
        format: "pgn", "sgf", "kif", "csa" or "hcpe3"; detected for each file if None.
        complain: Gets a sentence for each refused game or file, and for each warning.
        report: Gets a line about the work.
        progress: Gets the progress.

    Raises:
        ZerosumError: the run cannot be used, or is one of another game.
    """
    directory = Path(run)
    counts = ImportCounts()
    if not any(map(_can_be_read, map(str, files))):
        for file in _expanded(files, complain, counts):
            counts.num_failed_files += 1
            complain(_cannot_be_read(file, os.strerror(errno.EACCES if Path(file).exists() else errno.ENOENT)))
        return counts
    with _held(directory, counts):
        store, index = open_records(directory, complain)
        try:
            rules = rules_of_records(directory, game)
            importer = _Importer(store, index, rules, counts, complain, report, progress)
            try:
                for file in _expanded(files, complain, counts):
                    importer.read(file, format)
            finally:
                importer.write()  # also after Ctrl-C
        finally:
            index.close()
            store.close()
    return counts


@contextlib.contextmanager
def _held(directory: Path, counts: ImportCounts) -> Iterator[None]:
    """Hold the run; if no game was imported, remove the files and directories that were not there before."""
    made = [path for path in (directory, *directory.parents) if not path.exists()]
    is_new, is_held = not (directory / LOCK).exists(), False
    try:
        with hold(directory):
            is_held = True
            had_records = (directory / RECORDS).exists()
            try:
                yield
            finally:
                if not had_records and not counts.num_games:
                    shutil.rmtree(directory / RECORDS, ignore_errors=True)
                    (directory / RECORDS_INDEX).unlink(missing_ok=True)
                if is_new and not counts.num_games:
                    with contextlib.suppress(OSError):  # Windows keeps a file that is open
                        (directory / LOCK).unlink()  # before the lock is released, or another process may hold it
    finally:
        if is_held and not counts.num_games:  # the directory of another process stays
            for path in made:
                with contextlib.suppress(OSError):  # another program has put something into it
                    path.rmdir()


def open_records(directory: Path, complain: Callable[[str], None]) -> tuple[GameStore, RecordIndex]:
    """The imported and generated games of a run that this process holds, and the index of all of them.

    Raises:
        RunError: they cannot be written.
        DataError: they are of a newer format.
    """
    store = GameStore(directory / RECORDS, report=complain, games_per_shard=GAMES_PER_SHARD)
    try:
        store.forget_running()  # a kill can leave a partly written game
        store.seal()  # the index reads shards
        return store, RecordIndex(directory / RECORDS_INDEX, directory / RECORDS)
    except BaseException:
        store.close()
        raise


def rules_of_records(directory: Path, named: str) -> Rules | None:
    """The game of the run, of its records, or the named one; None if the first record decides.

    Raises:
        SettingsError: the run has games of another game than the named one.
        GameError: the game is unknown, or the run names a program that the user has not allowed to run.
    """
    if (directory / "config.toml").exists():
        known: GameName | None = load_config(directory / "config.toml").game
    else:
        recorded = game_of_records(directory)
        known = GameName.parse(recorded) if recorded else None
    if named:
        name = GameName.parse(named).absolute()
        rules = make(name)
        if known in (None, name, GameName.of_core(rules.spec)):
            return rules
        assert known is not None
        require_allowed(directory, known)
        if not names_planes(rules):
            rules = with_planes_of(rules, make(known))
        if make(known).spec.full_name != rules.spec.full_name:
            raise SettingsError(f"{directory} has games of {known}, not of {named}: name another directory with --run.")
        return rules
    if known is None:
        return None
    require_allowed(directory, known)
    return make(known)


def game_of_records(directory: Path) -> str:
    """The full name of the game of a run's records; "" if there are none that can be read.

    Raises:
        DataError: they are of a newer format.
    """
    store = directory / RECORDS
    for seal in read_manifest(store).shards:
        with contextlib.suppress(DataError):
            for record in read_shard(store / (seal.shard or "")):
                return record.full_name
    return ""


def _expanded(files: Sequence[str | Path], complain: Callable[[str], None], counts: ImportCounts) -> Iterator[str]:
    """The files, and for a directory its files in the order of their names."""
    for file in map(str, files):
        if file == STDIN or not Path(file).is_dir():
            yield file
            continue
        found = sorted(_game_files(file))
        if not found:
            counts.num_failed_files += 1
            complain(f"{file} contains no game files: expected {', '.join(SUFFIXES)}.")
        yield from map(str, found)


def _game_files(directory: str) -> Iterator[Path]:
    return (path for path in Path(directory).rglob("*") if path.suffix.lower() in SUFFIXES)


def _can_be_read(file: str) -> bool:
    """Whether a file, or one of a directory's, can be opened. It is not opened: a pipe can be read only once."""
    found = _game_files(file) if Path(file).is_dir() else (file,)
    return file == STDIN or any(os.access(path, os.R_OK) for path in found)


class _Importer:
    """Reads file after file, and writes the games by the thousand."""

    def __init__(
        self,
        store: GameStore,
        index: RecordIndex,
        rules: Rules | None,
        counts: ImportCounts,
        complain: Callable[[str], None],
        report: Callable[[str], None],
        progress: Callable[[str], None],
    ) -> None:
        self.store, self.index, self.rules, self.counts = store, index, rules, counts
        self.complain, self.report, self.progress = complain, report, progress
        self.waiting: list[GameRecord] = []
        self.origins: dict[bytes, str] = {}
        """Origins of the waiting games, by their digests."""

    def read(self, file: str, format: str | None) -> None:
        """Read all games of a file."""
        place = "standard input" if file == STDIN else file
        origin = STDIN if file == STDIN else str(Path(file).resolve())
        num_warnings = 0
        try:
            with _opened(file) as stream:
                tail = _Tail(stream)
                if format is None and file != STDIN:
                    format = SUFFIXES.get(Path(file).suffix.lower())
                for record, is_last in _with_last(self._records(cast("IO[bytes]", tail), format)):
                    for warning in record.warnings:
                        num_warnings += 1
                        if num_warnings <= MOST_WARNINGS:
                            self.complain(f"{place}, {warning}.")
                    self.take(record, place, f"{origin}:{record.line}", is_cut_off=is_last and tail.is_cut_off(record))
        except DataError as error:
            self.counts.num_failed_files += 1
            self.complain(f"{place}: {error}")
        except OSError as error:
            self.counts.num_failed_files += 1
            self.complain(_cannot_be_read(place, error.strerror or str(error)))
        else:
            self.counts.num_files += 1
        if num_warnings > MOST_WARNINGS:
            self.complain(f"{place}: {num_warnings - MOST_WARNINGS:,} further warnings are not shown.")

    def take(self, record: Record, place: str, origin: str, *, is_cut_off: bool) -> None:
        """Keep a game, or report the reason to refuse it."""
        try:
            if is_cut_off and not record.errors:
                raise RefusedGameError(CUT_OFF, "the file ends before the game: no result follows its moves")
            rules = self._require_rules(record)
            game = imported(record, rules)
            digest = digest_of(game.start, game.actions, game.outcome)
            known = self.origins.get(digest) or self.index.origin(digest)
            if known == origin:
                self.counts.num_known += 1
                return
            if known is not None:
                raise RefusedGameError(DOUBLE, f"its start, moves and result are those of the game at {known}")
        except RefusedGameError as error:
            self.counts.refused[error.kind] += 1
            unit = "game" if record.format == hcpe3.FORMAT else "line"
            line = "" if str(error).startswith("line ") else f"{unit} {record.line}: "
            self.complain(f"{place}, {line}{error}; the game is not imported.")
            return
        if game.warning:
            self.complain(f"{place}, {game.warning}.")
        self._keep(game, rules, digest, origin)

    def _require_rules(self, record: Record) -> Rules:
        if self.rules is None:
            if not record.game:
                raise RefusedGameError(ILLEGAL, record.errors[0] if record.errors else "the game is unknown")
            try:
                options = game_of(record.game).spec.options
            except GameError as error:
                raise RefusedGameError(ILLEGAL, str(error).rstrip(".")) from error
            kept = [option for option in options.split(", ") if option.partition("=")[0] not in (*MOVE_OPTIONS, "")]
            name = record.game.partition("(")[0]
            self.rules = make(f"{name}({', '.join(kept)})" if kept else name)
            self.report(f"The game is {self.rules.spec.full_name}, as the first record says.")
        return self.rules

    def _records(self, stream: IO[bytes], format: str | None) -> Iterator[Record]:
        """The games of a file, with the moves as in the file."""
        if format == hcpe3.FORMAT:
            return hcpe3.parse(iter(lambda: stream.read(CHUNK), b""))
        # A match names its game, but not where the rules of a user's game are.
        own = self.rules if self.rules is not None and self.rules.is_python else None
        return read_raw_games(stream, format=format, game=own)

    def _keep(self, game: ImportedGame, rules: Rules, digest: bytes, origin: str) -> None:
        game_id = self.store.next_game_id + len(self.waiting)
        self.waiting.append(game.record(rules, game_id=game_id, origin=origin))
        self.origins[digest] = origin
        counts = self.counts
        counts.num_games += 1
        counts.num_positions += len(game.actions) - game.opening_plies
        counts.num_evaluated += int((game.values == game.values).sum())  # NaN stands for no evaluation
        if len(self.waiting) >= GAMES_PER_SHARD:
            self.write()
            self.progress(f"{counts.num_games:,} games")

    def write(self) -> None:
        """Write the waiting games."""
        # Forgotten before they are written, so that a failure does not write them twice.
        waiting, self.waiting, self.origins = self.waiting, [], {}
        if waiting:
            self.store.add_games(waiting)
            self.index.add(waiting)


def _cannot_be_read(place: str, reason: str) -> str:
    return f"{place} cannot be read: {reason}."


def _opened(file: str) -> IO[bytes]:
    return sys.stdin.buffer if file == STDIN else Path(file).open("rb")


def _with_last(records: Iterator[Record]) -> Iterator[tuple[Record, bool]]:
    """Each record, and whether it is the last one."""
    before: Record | None = None
    for record in records:
        if before is not None:
            yield before, False
        before = replace(record, variations=())
    if before is not None:
        yield before, True


class _Tail:
    """A stream that remembers how it ended."""

    def __init__(self, stream: IO[Any]) -> None:
        self.stream, self.tail = stream, b""

    def read(self, size: int = -1) -> bytes:
        data: bytes = self.stream.read(size)
        self.tail = (self.tail + data)[-TAIL_SIZE:]
        return data

    def is_cut_off(self, record: Record) -> bool:
        """Whether a PGN file ended before its last game; the other formats mark the end of a game."""
        return record.format == "pgn" and PGN_END.search(self.tail) is None
