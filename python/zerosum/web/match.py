"""A match of two players that is watched: pairs of games from the same opening, each player first once.

    match = WatchedMatch(library.game("connect4"), ("mine step 400", "mine step 100"), num_games=20)
    table = match.next_table()  # a game without people, to be played to its end
    match.finish()

It does not search: `match_requests.py` asks players for the moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zerosum.base.errors import SettingsError
from zerosum.contest.elo import elo_of_points
from zerosum.games import Rules
from zerosum.games.random_play import random_opening
from zerosum.games.short_names import short_name
from zerosum.web.boards import draw_board
from zerosum.web.table import Table

MOST_GAMES = 200
OPENING_PLIES = 4
"""Random plies before the players' own, so that games differ."""


@dataclass(frozen=True)
class Finished:
    """A finished game."""

    first: int
    """The player that had the first move: 0 or 1, the place in the match's names."""
    points: float
    """Points of player 0: 1 for a win, half for a draw."""
    sentence: str
    plies: int
    link: dict[str, Any]
    """The arguments that open the game for analysis."""


class WatchedMatch:
    """The games of two players so far, and the one in progress."""

    def __init__(
        self, game: Rules, names: tuple[str, str], *, num_games: int, seed: int = 0, most_plies: int = 2000
    ) -> None:
        """Begin a match.

        Raises:
            SettingsError: the number of games is odd or out of range.
        """
        if num_games % 2 or not 2 <= num_games <= MOST_GAMES:
            raise SettingsError(f"{num_games} games: expected an even number from 2 to {MOST_GAMES}.")
        self.game, self.names, self.num_games = game, names, num_games
        self._seed, self._most_plies = seed, most_plies
        self.finished: list[Finished] = []
        self.table = self._new_table()

    @property
    def is_over(self) -> bool:
        """Whether all games are finished."""
        return len(self.finished) == self.num_games

    @property
    def first(self) -> int:
        """The player with the first move in the game in progress, 0 or 1."""
        return len(self.finished) % 2

    def finish(self) -> None:
        """Count the game in progress, which has ended, and set up the next one."""
        outcome = self.table.outcome
        assert outcome is not None, "the game goes on"
        # Points do not depend on the margin of a game that has one.
        won = (outcome > 0) - (outcome < 0)
        points = 0.5 + 0.5 * (won if self.first == 0 else -won)
        link = {"game": short_name(self.game), "moves": " ".join(self.table.own_texts())}
        self.finished.append(Finished(self.first, points, self.table.sentence(), len(self.table.so_far.actions), link))
        if not self.is_over:
            self.table = self._new_table()

    def view(self) -> dict[str, Any]:
        """The match as JSON for the page."""
        points, table = [one.points for one in self.finished], self.table
        state = table.state
        so_far = table.so_far
        last = (so_far.states[-2], so_far.actions[-1]) if so_far.actions else None
        return {
            "game": short_name(self.game),
            "names": self.names,
            "total": self.num_games,
            "over": self.is_over,
            "wins": points.count(1.0),
            "draws": points.count(0.5),
            "losses": points.count(0.0),
            "elo": str(elo_of_points(points)) if points else "",
            "board": draw_board(self.game, state, last=last),
            "first": table.computers[0],
            "second": table.computers[1],
            "says": table.sentence(),
            "games": [vars(one) | {"first": self.names[one.first]} for one in self.finished],
        }

    def _new_table(self) -> Table:
        number = len(self.finished)
        actions = random_opening(self.game, num_plies=OPENING_PLIES, seed=self._seed, pair=number // 2)
        names = self.names if number % 2 == 0 else self.names[::-1]
        table = Table(
            self.game,
            people=frozenset(),
            computer=names[0],
            second_computer=names[1],
            most_plies=self._most_plies,
            number=number,
        )
        for action in actions:
            table.play(action)
        return table
