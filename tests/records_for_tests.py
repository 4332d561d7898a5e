"""Game records from texts and files of people's formats, for tests."""

from __future__ import annotations

from pathlib import Path

from fuzz_notation import parsed
from zerosum.notation import Move, Record


def one(format: str, text: str) -> Record:
    (record,) = parsed(format, text)
    return record


def texts(line: tuple[Move, ...]) -> str:
    return " ".join(move.text for move in line)


def pgn_moves(text: str) -> Record:
    return one("pgn", text)


def read_raw(path: Path) -> list[Record]:
    return parsed("kif" if path.suffix.startswith(".kif") else path.suffix[1:], path.read_text(encoding="utf-8-sig"))
