"""The result of a match, from the view of the contestant named first."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace

from zerosum.arena.played import FAILURES, PlayedGame
from zerosum.base.errors import counted
from zerosum.contest.ratings import PairScore
from zerosum.contest.sprt import MatchCounts, MatchStatistics, Sprt, Tally, count_results, match_statistics


class PairCounter:
    """Counts complete pairs of a match one by one, and which of them repeat an earlier one move for move."""

    def __init__(self) -> None:
        self.counts = MatchCounts(Tally(0, 0, 0))
        self._seen: set[Hashable] = set()

    def add(self, even: PlayedGame, odd: PlayedGame) -> None:
        """Count the two games of an opening."""
        moves = (even.moves, odd.moves)
        self.counts += replace(count_results({0: even.result, 1: odd.result}), num_repeated=int(moves in self._seen))
        self._seen.add(moves)


@dataclass(frozen=True)
class MatchResult:
    """The games of a match that count, from the view of the contestant named first."""

    first: str
    second: str
    games: tuple[PlayedGame, ...]
    """The complete pairs in the order in which they were begun, up to the first incomplete one, by `index`.

    After an early stop the other finished games are mostly short, which would bias the result.
    """
    evaluations: tuple[int, int]
    """Positions that the evaluators of first and second evaluated, unfinished games included; 0 if that is not known of
    all games, as in a match that went on after a stop."""
    sprt: Sprt | None = None
    """The test that may end the match early."""
    num_others: int = 0
    """Finished games that do not count."""

    def tally(self, *, player: int | None = None) -> Tally:
        """Results of the games, or of those in which the contestant named first was player 0 or 1."""
        return Tally.of(game.result for game in self.games if player is None or game.first_is_player == player)

    @property
    def points(self) -> list[float]:
        """(result + 1) / 2 of each game: 1 for a win, half for a draw."""
        return [(game.result + 1) / 2 for game in self.games]

    @property
    def score(self) -> float:
        """Mean of `points`, in [0, 1]; NaN without games."""
        return sum(self.points) / len(self.games) if self.games else math.nan

    @property
    def num_distinct(self) -> int:
        """Number of different games; a repeated game is no new information."""
        return len({(game.start, game.actions) for game in self.games})

    @property
    def mean_plies(self) -> float:
        """Mean length of a game; NaN without games."""
        return sum(len(game.actions) for game in self.games) / len(self.games) if self.games else math.nan

    @property
    def counts(self) -> MatchCounts:
        """Counts of the games and of their pairs; a result above 0 is a win."""
        counter = PairCounter()
        for even, odd in zip(self.games[::2], self.games[1::2], strict=True):
            counter.add(even, odd)
        return counter.counts

    @property
    def pair_score(self) -> PairScore:
        """The results as `fit_ratings` takes them; repeated pairs do not add to the number of games."""
        score = PairScore.of_results(self.first, self.second, (game.result for game in self.games))
        return score.weighted(self.counts.information)

    @property
    def statistics(self) -> MatchStatistics:
        """Statistics of the results by complete pairs."""
        return match_statistics(self.counts, sprt=self.sprt)

    def num_failures(self, ending: str) -> tuple[int, int]:
        """Number of games that first and second lost by this fault, one of `FAILURES`."""
        results = [game.result for game in self.games if game.ending == ending]
        return sum(result < 0 for result in results), sum(result > 0 for result in results)

    def failures(self) -> list[str]:
        """Games lost by faults, as sentences."""
        found = [
            (name, count, ending)
            for ending in FAILURES
            for name, count in zip((self.first, self.second), self.num_failures(ending), strict=True)
        ]
        return [f"{name} lost {count} by {ending}" for name, count, ending in found if count]

    def _others(self) -> str:
        games = "1 game" if self.num_others == 1 else f"{self.num_others} games"
        return f"{games} begun after the first pair that is not complete, or after the test was decided"

    def __str__(self) -> str:
        lines = [
            *str(self.statistics).splitlines(),
            f"{'moving first':<14} {self.tally(player=0)}",
            f"{'moving second':<14} {self.tally(player=1)}",
            *([f"{'failures':<14} {'; '.join(found)}"] if (found := self.failures()) else []),
            *([f"{'not counted':<14} {self._others()}"] if self.num_others else []),
            f"{counted(self.num_distinct, 'different game')} of {self.mean_plies:.1f} plies"
            + (", {:,} and {:,} evaluations".format(*self.evaluations) if any(self.evaluations) else ""),
        ]
        title = f"{self.first} against {self.second}: {self.score:.1%} of {len(self.games)} games"
        return "\n  ".join([title, *lines])
