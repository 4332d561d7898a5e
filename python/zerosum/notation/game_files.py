"""Files of game records: PGN, SGF, KIF and CSA, read one game at a time and written; zerosum's own files are read.

Start with `read_games` and `write_game`: they find the format, the encoding of characters and the rules. The format
itself is in its own module.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from zerosum.base.errors import DataError
from zerosum.base.files import UNFINISHED
from zerosum.games import Rules
from zerosum.games.rules import options_of
from zerosum.notation import csa, ki2, kif, legality, own_files, pgn, sgf
from zerosum.notation.character_sets import SHIFT_JIS
from zerosum.notation.decoding import CHUNK, Decoder
from zerosum.notation.record import Record, RecordError

SUFFIXES = {".pgn": "pgn", ".sgf": "sgf", ".kif": "kif", ".kifu": "kif", ".csa": "csa"}
READ_SUFFIXES = SUFFIXES | {".ki2": "kif", ".ki2u": "kif"}
"""KI2 is read as KIF, and not written."""
GAMES = {"pgn": ("chess", "chess960"), "sgf": ("go",), "kif": ("shogi",), "csa": ("shogi",)}
"""The games, without their options, whose records each format holds."""

COUNTED = ("two passes", "ply cap")
"""Endings of Go after which the score decides."""

Source = str | os.PathLike[str] | IO[Any]
"""A path, or a stream of bytes or of text."""


class UnknownFormatError(DataError):
    """A file begins like none of the formats."""


def read_games(source: Source, *, format: str | None = None, game: Rules | None = None) -> Iterator[Record]:
    """The games of a file, one at a time, with their moves in the game's own notation.

    Errors of a game are in its `errors`: its moves end before the first illegal one, and reading continues with the
    next game. `record.checked()` raises instead. Faults that do not affect the moves are in `warnings`.

    The files of `zerosum match` (.jsonl) are read as well, and with `game` lines of moves (.txt), as `zerosum play`
    writes them.

    Args:
        source: A path, or a stream of bytes or of text. It is read lazily.
        format: "pgn", "sgf", "kif" or "csa"; None detects it by the path's suffix or the file's beginning.
        game: The game of lines of moves, or of a match whose game is not found by its name.

    Raises:
        DataError: the file cannot be read, or its format or encoding is unknown.
    """
    for record in read_raw_games(source, format=format, game=game):
        yield legality.check_record(record, game)


def read_raw_games(source: Source, *, format: str | None = None, game: Rules | None = None) -> Iterator[Record]:
    """As `read_games`, with the moves as in the file, not checked by any rules."""
    _check_format(format)
    if isinstance(source, str | os.PathLike):
        path = _path(source)
        try:
            with path.open("rb") as stream:
                suffixes = READ_SUFFIXES | {own_files.MATCH_SUFFIX: own_files.MATCH}
                yield from _read(stream, str(path), format or suffixes.get(path.suffix.lower()), game)
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
    else:
        yield from _read(source, "", format, game)


def _path(source: str | os.PathLike[str]) -> Path:
    path = Path(source)
    try:
        is_name = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        is_name = False
    if not is_name:
        raise DataError(f"{str(path)!r} is not a valid name of a file.")
    return path


def _read(stream: IO[Any], name: str, format: str | None, game: Rules | None) -> Iterator[Record]:
    place = f"{name}, " if name else ""
    chunks = _chunks(stream)
    head = next(chunks, b"")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{place}the text is UTF-16: save it as UTF-8.")
    format = format or _format_of(head, name, game)
    decoder = Decoder(format, head, chunks, game)
    try:
        for record in decoder.records():
            errors = tuple(f"{place}{error}" for error in record.errors)
            warnings = tuple(f"{place}{warning}" for warning in (*decoder.take_warnings(), *record.warnings))
            yield dataclasses.replace(record, errors=errors, warnings=warnings, file=name)
    except DataError as error:
        raise DataError(f"{place}{error}") from error


def _chunks(stream: IO[Any]) -> Iterator[bytes]:
    """The pieces of a stream; text is encoded as UTF-8 with a byte order mark."""
    mark = b"\xef\xbb\xbf"
    while piece := stream.read(CHUNK):
        if isinstance(piece, str):
            yield mark + piece.encode("utf-8", errors="replace")
            mark = b""
        else:
            yield piece


def _format_of(head: bytes, name: str, game: Rules | None) -> str:
    """The format of a file by its beginning; with a game, lines of moves if it has no format of that game."""
    format = _begun_format(head)
    if game is not None and (format is None or game.spec.name not in GAMES.get(format, (game.spec.name,))):
        return own_files.MOVES
    if format is None:
        where = f"{name} " if name else "the stream "
        raise UnknownFormatError(f"{where}begins like no known game record: name its format, {', '.join(GAMES)}.")
    return format


def _begun_format(head: bytes) -> str | None:
    """The format that begins like this."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    japanese = ("手合割", "手数--", "開始日時", "先手：", "後手：", "棋戦：", "後手の持駒")
    starts = [word.encode(encoding) for word in japanese for encoding in ("utf-8", SHIFT_JIS, "euc_jp")]
    starts += [mark.encode("utf-8") for mark in ki2.MARKS] + [
        mark.encode(encoding) for mark in "▲△▼▽" for encoding in (SHIFT_JIS, "euc_jp")
    ]
    if text.startswith(own_files.MATCH_BEGINNING):
        return own_files.MATCH
    if re.match(rb"\(\s*;", text):
        return "sgf"
    if text.startswith((b"#", *starts)):
        return "kif"
    if re.match(rb"('|V\d|N[+-]|P[I1+-]|\$[A-Z_]+:)", text):
        return "csa"
    if re.match(rb'\[\s*\w+\s+"|1\s*\.|[{;%]', text):
        return "pgn"
    return None


# ---- writing


def game_text(record: Record, *, format: str) -> str:
    """A record as the text of a file.

    Raises:
        RecordError: the record has errors, or the format cannot express it.
    """
    _check_format(format)
    return _write(record, format, {"pgn": pgn.write, "sgf": _write_sgf, "kif": kif.write, "csa": csa.write}[format])


def _write_sgf(record: Record) -> str:
    # SGF expresses Go's options by properties.
    game = legality.game_of(record.game)
    start = record.start or game.position_text(game.initial_state()) or ""
    ending = record.ending if record.format else _margin(record) or record.ending
    return sgf.write(dataclasses.replace(record, start=start, ending=ending), options=options_of(game))


def _margin(record: Record) -> str:
    """The margin of a game that ended by counting, such as "3.5 points", else "".

    It is right for games of this program. Records of people do not tell which stones they agreed to be dead.
    """
    if not record.result or record.ending not in ("", *COUNTED):
        return ""
    game, last = legality.game_of(record.game), legality.states_of(record)[-1]
    score = game.score(last)
    if game.ending(last) not in COUNTED or score is None or score * record.result <= 0:
        return ""
    return f"{abs(score):g} points"


def write_game(record: Record, target: Source, *, format: str | None = None) -> None:
    """Write a record as a file: see `write_games`."""
    write_games([record], target, format=format)


def write_games(records: Iterable[Record], target: Source, *, format: str | None = None) -> None:
    """Write records into a file, one after the other.

    A file is written completely or not at all, in UTF-8, or in Shift-JIS for a path that ends in .kif.

    Args:
        records: Records without errors; any number for SGF, PGN and CSA, one for KIF.
        target: A path, or a stream of bytes or of text.
        format: "pgn", "sgf", "kif" or "csa"; None takes it from the path's suffix.

    Raises:
        RecordError: a record has errors, or the format cannot express it.
        DataError: the file cannot be written, or its format is unknown.
    """
    _check_format(format)
    if not isinstance(target, str | os.PathLike):
        is_text = hasattr(target, "encoding")  # a temporary file, too, which is not a TextIOBase
        for text in _texts(records, _require_format(format, "the stream")):
            target.write(text if is_text else _encoded(text, "utf-8"))
        return
    path = _path(target)
    if not path.name:
        raise DataError(f"{str(target)!r} is not a file that can be written: name one.")
    _refuse_ki2(path)
    format = _require_format(format or SUFFIXES.get(path.suffix.lower()), str(path))
    encoding = SHIFT_JIS if path.suffix.lower() == ".kif" else "utf-8"
    unfinished = path.with_name(f".{path.name}{UNFINISHED}")
    try:
        with unfinished.open("wb") as stream:
            if format == "kif":
                named = "Shift_JIS" if encoding == SHIFT_JIS else "UTF-8"
                stream.write(f"#KIF version=2.0 encoding={named}\n".encode())
            for text in _texts(records, format):
                stream.write(_encoded(text, encoding))
        os.replace(unfinished, path)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        unfinished.unlink(missing_ok=True)


def append_game(record: Record, path: str | os.PathLike[str]) -> None:
    """Append a record to a PGN, SGF or CSA file, or begin one.

    Raises:
        RecordError: the record has errors, or the format cannot express it.
        DataError: the file cannot be written, or its suffix is another one.
    """
    path = Path(path)
    _refuse_ki2(path)
    format = _require_format(SUFFIXES.get(path.suffix.lower()), str(path))
    if format == "kif":
        raise DataError(f"{path}: a KIF file holds one game. Name a .csa file.")
    try:
        with path.open("ab") as stream:
            if format == "csa":  # its version is written once, for all games
                is_first = stream.tell() == 0
                text = _write(record, format, functools.partial(csa.write, version="V3.0" if is_first else ""))
                text = text if is_first else f"/\n{text}"
            else:
                text = game_text(record, format=format)
            stream.write(_encoded(text, "utf-8"))
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error


def _refuse_ki2(path: Path) -> None:
    if path.suffix.lower() in READ_SUFFIXES.keys() - SUFFIXES.keys():
        raise DataError(f"{path}: KI2 is read, but not written. Name a .kif, .kifu or .csa file.")


def _encoded(text: str, encoding: str) -> bytes:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        character = error.object[error.start : error.start + 1]
        if encoding == SHIFT_JIS:
            raise RecordError(f"Shift-JIS has no {character!r}: write to a path that ends in .kifu.") from error
        raise RecordError(f"{character!r} in a text of the record is not a character.") from error


def _texts(records: Iterable[Record], format: str) -> Iterator[str]:
    ahead = iter(records)
    record, following = next(ahead, None), next(ahead, None)
    if record is None:
        return
    if following is None or format not in ("kif", "csa"):
        yield game_text(record, format=format)
    elif format == "kif":
        raise RecordError("a KIF file holds one game: write each record into a file of its own.", record=following)
    else:  # CSA has one version for all games: the one that can express everything.
        yield _write(record, format, functools.partial(csa.write, version="V3.0"))
    for record in itertools.chain([following] if following else [], ahead):
        if format == "csa":
            yield "/\n" + _write(record, format, functools.partial(csa.write, version=""))
        else:
            yield game_text(record, format=format)


def _write(record: Record, format: str, write: Callable[[Record], str]) -> str:
    name = record.game.partition("(")[0]
    if name not in GAMES[format]:
        raise RecordError(
            f"a record of {name or 'no game'} cannot be written as {format.upper()}: expected one of"
            f" {', '.join(GAMES[format])}.",
            record=record,
        )
    return write(legality.in_notation(record, format))


def _check_format(format: str | None) -> None:
    if format is not None and format not in GAMES:
        raise DataError(f"unknown format {format!r}: expected one of {', '.join(GAMES)}.")


def _require_format(format: str | None, where: str) -> str:
    if format is None:
        raise DataError(f"{where} does not tell its format: name it, {', '.join(GAMES)}.")
    return format
