"""Keys of opening books as the format's page publishes them, and books as files."""

from __future__ import annotations

import struct
from pathlib import Path

PUBLISHED = {
    "": 0x463B96181691FC9C,
    "e2e4": 0x823C9B50FD114196,
    "e2e4 d7d5": 0x0756B94461C50FB0,
    "e2e4 d7d5 e4e5": 0x662FAFB965DB29D4,
    "e2e4 d7d5 e4e5 f7f5": 0x22A48B5A8E47FF78,
    "e2e4 d7d5 e4e5 f7f5 e1e2": 0x652A607CA3F242C1,
    "e2e4 d7d5 e4e5 f7f5 e1e2 e8f7": 0x00FDD303C946BDD9,
    "a2a4 b7b5 h2h4 b5b4 c2c4": 0x3C8123EA7B067637,
    "a2a4 b7b5 h2h4 b5b4 c2c4 b4c3 a1a3": 0x5C3F9B829B279560,
}


def book_file(path: Path, *entries: tuple[int, str, int]) -> Path:
    """A book of (key, move, weight), in this order."""

    def code(move: str) -> int:
        file, rank, to_file, to_rank = ("abcdefgh".find(move[0]), int(move[1]) - 1, ord(move[2]) - 97, int(move[3]) - 1)
        return to_file | to_rank << 3 | file << 6 | rank << 9 | " nbrq".index(move[4:] or " ") << 12

    path.write_bytes(b"".join(struct.pack(">QHHI", key, code(move), weight, 0) for key, move, weight in entries))
    return path
