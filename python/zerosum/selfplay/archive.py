"""Starts elsewhere: games that begin at a position of an earlier game of the run.

Go-Exploit (Trudeau and Bowling, arXiv 2302.12359) begins games at positions of an archive of those that self-play has
visited. Late positions are then learned from without playing up to them, and many continuations of one position are
seen. Here the archive is the newest finished games: one of them is drawn, then one of its positions before the last.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from zerosum._core import uniform
from zerosum.base.errors import SettingsError
from zerosum.replay.records import GameRecord

ARCHIVED_GAMES = 1000
"""Number of the newest finished games in the archive."""


@dataclass(frozen=True)
class ArchivedPosition:
    """A position of an earlier game."""

    start: str
    """The start of the game, as in `GameHeader.start`."""
    actions: tuple[int, ...]
    """The moves from there."""


class Archive:
    """The newest finished games of a run. Threads may share it."""

    def __init__(self, records: Iterable[GameRecord] = ()) -> None:
        """The archive of these games, oldest first."""
        self._games: deque[tuple[str, list[int]]] = deque(maxlen=ARCHIVED_GAMES)
        for record in records:
            self.add(record)

    def add(self, record: GameRecord) -> None:
        """Add a finished game; a game of one ply has no position between its start and its end."""
        if record.num_plies > 1:
            self._games.append((record.start, record.plies["action"].tolist()))

    def draw(self, *, seed: int, game_id: int) -> ArchivedPosition | None:
        """A position after the first move and before the last one; None if the archive is empty.

        The draw is a pure function of `seed`, `game_id` and the games in the archive.
        """
        if not self._games:
            return None
        start, actions = self._games[int(uniform(seed, game_id, 0, "archived game") * len(self._games))]
        num_plies = 1 + int(uniform(seed, game_id, 0, "archived ply") * (len(actions) - 1))
        return ArchivedPosition(start, tuple(actions[:num_plies]))


def begins_in_archive(share: float, *, seed: int, game_id: int) -> bool:
    """Whether a game begins at an archived position, if the archive has one and so large a share of the games does."""
    return share > 0 and uniform(seed, game_id, 0, "from archive") < share


def require_no_archive(share: float) -> None:
    """Refuse starts in the archive where workers are in other processes. Raises SettingsError."""
    if share > 0:
        raise SettingsError(
            f"selfplay.archive_share is {share:g}, but workers in other processes do not have the run's newest games:"
            " leave it 0, or play with threads of this process (training.workers=threads, without --cluster)."
        )
