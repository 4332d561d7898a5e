"""The file of a ladder's results: one line per pair of games, written as they end.

The results of a file count for every player that is placed with it: results between opponents make their ratings more
precise, and players that were placed before may be met again by their names.
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
    """One line: two games with the same opening, less those that a fault decided."""

    game: str
    """Name of the game with its options; a variant is another game."""
    placed: str
    """The player that was being placed; "" while the opponents were."""
    first: str
    second: str
    wins: int
    """Wins of `first`, as are draws and losses."""
    draws: int
    losses: int
    faults: int = 0
    """Games lost by a fault (time, an illegal move, a crash), which do not count for ratings."""

    def __post_init__(self) -> None:
        counts = (self.wins, self.draws, self.losses, self.faults)
        if not all(isinstance(count, int) and count >= 0 for count in counts) or sum(counts) > 2:
            raise ValueError("not the results of two games")
        if not all(isinstance(text, str) for text in (self.game, self.placed, self.first, self.second)):
            raise ValueError("a name is not a text")
        if not self.first or not self.second or self.first == self.second:
            raise ValueError("not two players")

    @property
    def score(self) -> PairScore:
        """The results as `fit_ratings` takes them."""
        return PairScore(self.first, self.second, self.wins, self.draws, self.losses)


class Results:
    """Results of a game, kept in a file if one is named."""

    def __init__(self, path: Path | None, *, game: str, report: Callable[[str], None]) -> None:
        """Read the file. Damaged lines are removed from it, and `report` gets a sentence about them.

        Raises:
            DataError: the file is not a ladder's, or cannot be read.
            RunError: it cannot be repaired.
        """
        self._path, self.game = path, game
        self.pairs: list[PlayedPair] = []
        """Pairs of this game, in the order in which they were played."""
        self.num_lines = 0
        """Lines of the file, of all games."""
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
        """Number of games that were played to place a player, faults included."""
        return 2 * sum(pair.placed == placed for pair in self.pairs)


def read_pairs(path: Path) -> Lines[PlayedPair]:
    """All lines of a file; none if it does not exist.

    Raises:
        DataError: it cannot be read, or none of its lines is a ladder's.
    """
    found = read_lines(path, _parse)
    if found.damaged and not found.entries:
        raise DataError(f"{path} has no line that is a ladder's result: name its file, or one that is not there.")
    return found


def _parse(line: str) -> PlayedPair:
    return PlayedPair(**json.loads(line))
