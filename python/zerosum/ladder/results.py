"""The file of a ladder's results: a line a pair of games, written as they end. It is all that has to be kept.

What stands there serves every player that is placed with the same file: results between opponents make them better
known, and players that were placed before may be met again by their names.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from zerosum.base.errors import DataError
from zerosum.base.files import Lines, append_line, read_lines, repair_lines
from zerosum.contest.ratings import PairScore


@dataclass(frozen=True)
class PlayedPair:
    """One line: two games with the same opening, or what is left of them without those that a fault decided."""

    game: str
    """With its options: results of another variant are none of this one."""
    placed: str
    """Whose place they were played for; "" for the opponents' own."""
    first: str
    second: str
    wins: int
    """Of `first`; so are the draws and losses."""
    draws: int
    losses: int
    faults: int = 0
    """Games that were lost by a fault (time, an illegal move, a crash): they say nothing of strength."""

    def __post_init__(self) -> None:
        counts = (self.wins, self.draws, self.losses, self.faults)
        if not all(isinstance(count, int) and count >= 0 for count in counts) or sum(counts) > 2:
            raise ValueError("no results of two games")
        if not all(isinstance(text, str) for text in (self.game, self.placed, self.first, self.second)):
            raise ValueError("names are texts")
        if not self.first or not self.second or self.first == self.second:
            raise ValueError("no two players")

    @property
    def score(self) -> PairScore:
        """The results as `fit_ratings` takes them."""
        return PairScore(self.first, self.second, self.wins, self.draws, self.losses)


class Results:
    """Results of a game, kept in a file if one is named."""

    def __init__(self, path: Path | None, *, game: str, report: Callable[[str], None]) -> None:
        """Read what is there; damaged lines are taken out, and `report` gets a sentence of it.

        Raises:
            DataError: the file is none of a ladder, or cannot be read.
            RunError: it cannot be mended.
        """
        self._path, self.game = path, game
        self.pairs: list[PlayedPair] = []
        """Of this game, in the order they were played."""
        self.num_lines = 0
        """In the file, of all games."""
        if path is not None:
            found = read_pairs(path)
            repair_lines(path, found, report=report)
            self.pairs = [pair for pair in found.entries if pair.game == game]
            self.num_lines = len(found.entries)

    def add(self, pair: PlayedPair) -> None:
        """Keep a pair of games. Raises RunError if the file cannot be written."""
        if self._path is not None:
            append_line(self._path, json.dumps(asdict(pair), ensure_ascii=False))
        self.pairs.append(pair)
        self.num_lines += 1

    def num_games_for(self, placed: str) -> int:
        """That were played to place somebody, faults included."""
        return 2 * sum(pair.placed == placed for pair in self.pairs)


def read_pairs(path: Path) -> Lines[PlayedPair]:
    """All lines of a file; none if it is not there.

    Raises:
        DataError: it cannot be read, or not one of its lines is a ladder's.
    """
    found = read_lines(path, _parse)
    if found.damaged and not found.entries:
        raise DataError(f"{path} has no line that is a ladder's result: name its file, or one that is not there.")
    return found


def _parse(line: str) -> PlayedPair:
    return PlayedPair(**json.loads(line))
