"""Placing a player: play the most informative pair, fit the ratings, repeat until the bar is short or the budget used.

    placement = Placement(play, name="runs/demo@800", rungs=rungs, results=results, settings=settings)
    while not placement.is_over:
        print(placement.step())
    print(placement.table())

A game between two opponents may say more about a player than one of its own: results against opponents of unknown
strength say little. Therefore pairs of opponents are among the choices. Without a player all opponents are the target,
and the ratings of the ladder itself get more precise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from zerosum.arena import PlayedGame, play_match
from zerosum.arena.ladder.results import PlayedPair, Results
from zerosum.arena.ladder.rungs import Rung
from zerosum.base.errors import SettingsError
from zerosum.contest.elo import Rating
from zerosum.contest.ratings import DRAWS, PairScore, Prior, Ratings, fit_ratings, most_telling_pair
from zerosum.contest.sprt import Tally
from zerosum.games import Rules
from zerosum.play.contestant import RANDOM, Contestant

MOST_AT_ONCE = 16
"""Most games of one pair before the next pair is chosen."""

PlayFn = Callable[[str, str, int, int, Callable[[PlayedGame], None]], None]
"""Plays a match: (first, second, number of games, seed, callback for each game as it ends)."""


@dataclass(frozen=True)
class LadderSettings:
    """Budget and openings of a placement."""

    num_games: int = 200
    """Budget, earlier calls with the same results included; even. 0 shows what is known."""
    within_elo: float = 0.0
    """The placement ends once half of the 95 % interval is at most this."""
    opening_plies: int = 4
    """Random moves that begin each pair of games."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.num_games < 0 or self.num_games % 2:
            raise SettingsError(f"--games is {self.num_games}, expected an even number of at least 0.")
        if not self.within_elo >= 0:
            raise SettingsError(f"--within is {self.within_elo:g}, expected a number of Elo of at least 0.")
        if self.opening_plies < 0:
            raise SettingsError(f"--opening-plies is {self.opening_plies}, but must be at least 0.")


@dataclass(frozen=True)
class PlacementMatch:
    """One match of a placement, and the rating after it."""

    first: str
    second: str
    tally: Tally
    """Results of `first`."""
    faults: tuple[str, ...]
    """A sentence for each game that was lost by a fault, which does not count."""
    rating: Rating | None
    """Rating afterwards of the player that is placed."""

    def __str__(self) -> str:
        rating = "" if self.rating is None else f"; {self.rating}"
        return "\n".join([f"{self.first} against {self.second}: {self.tally}{rating}", *self.faults])

    def numbers(self) -> dict[str, Any]:
        """As JSON takes it."""
        own = {} if self.rating is None else {"elo": self.rating.elo, "error": self.rating.error}
        return {"first": self.first, "second": self.second, **asdict(self.tally), "faults": list(self.faults), **own}


@dataclass(frozen=True)
class Row:
    """An opponent of the ladder, with the player's results against it."""

    opponent: str
    rating: Rating
    num_games: int = 0
    points: float = 0.0
    expected: float = 0.0
    """Points that the ratings predict for these games."""


class Placement:
    """A placement under way. `step` until `is_over`."""

    def __init__(
        self,
        play: PlayFn,
        *,
        name: str,
        rungs: Sequence[Rung],
        opponents: Sequence[str] | None = None,
        known: Sequence[PairScore] = (),
        results: Results,
        settings: LadderSettings,
    ) -> None:
        """Begin, or continue where `results` end.

        Args:
            play: Plays the games; see `arena_play`.
            name: The player's name in results, which may be an opponent's; "" places the opponents themselves.
            rungs: All opponents of the ladder.
            opponents: Names of the opponents that can play, which may be others than the ladder's; all of the
                ladder's by default.
            known: Packaged results.
            results: Results of this and earlier placements; new ones are added.
            settings: Budget and openings.

        Raises:
            SettingsError: there is no player to place.
        """
        self._play, self.name, self._settings, self._rungs = play, name, settings, rungs
        named = [rung.name for rung in rungs] if opponents is None else opponents
        present = [other for other in named if other != RANDOM.name]
        if name == RANDOM.name or not (name or present):
            raise SettingsError(f"{RANDOM.name} play is the zero of the ladder: place another player.")
        self._targets = [name] if name else present
        # The player stands first, and so it does in its matches.
        self._players = list(dict.fromkeys([*self._targets, RANDOM.name, *present]))
        self._known, self._results = known, results
        self.ratings = self._fit()

    @property
    def num_games(self) -> int:
        """Games played so far to place this player."""
        return self._results.num_games_for(self.name)

    @property
    def rating(self) -> Rating | None:
        """Rating of the player; None without a player."""
        return self.ratings.rating(self.name) if self.name else None

    @property
    def is_over(self) -> bool:
        """Whether the bar is short enough, or the budget is used."""
        worst = max(self.ratings.rating(target).error for target in self._targets)
        return worst <= self._settings.within_elo or self.num_games >= self._settings.num_games

    def step(self) -> PlacementMatch:
        """Choose the most informative pair, play a match of it, and fit the ratings."""
        num_games = min(self._num_at_once(), self._settings.num_games - self.num_games)
        first, second = most_telling_pair(self.ratings, self._players, targets=self._targets)
        halves: dict[int, PlayedGame] = {}
        tallies, faults = list[Tally](), list[str]()

        def take(game: PlayedGame) -> None:
            if game.has_failure:
                faults.append(" ".join(game.notes) or f"A game ended by {game.ending}.")
            other = halves.pop(game.index ^ 1, None)
            if other is None:
                halves[game.index] = game
                return
            sound = [half for half in (other, game) if not half.has_failure]
            tallies.append(Tally.of(half.result for half in sound))
            tally = tallies[-1]
            self._results.add(
                PlayedPair(
                    game=self._results.game,
                    placed=self.name,
                    first=first,
                    second=second,
                    wins=tally.wins,
                    draws=tally.draws,
                    losses=tally.losses,
                    faults=2 - len(sound),
                )
            )

        # The number of lines moves the seed on, so that openings do not repeat.
        self._play(first, second, num_games, self._settings.seed + self._results.num_lines, take)
        self.ratings = self._fit()
        return PlacementMatch(first, second, sum(tallies, Tally(0, 0, 0)), tuple(faults), self.rating)

    def rows(self) -> list[Row]:
        """The ladder from the top: all opponents, and the player's games against each."""
        met: dict[str, list[PairScore]] = {}
        for pair in self._results.pairs:
            if self.name and self.name in (pair.first, pair.second):
                own = pair.score if pair.first == self.name else pair.score.reversed
                met.setdefault(own.second, []).append(own)
        rows = [self._row(name, met.get(name, [])) for name in self.ratings.names if name != self.name]
        return sorted(rows, key=lambda row: -row.rating.elo)

    def _row(self, opponent: str, scores: Sequence[PairScore]) -> Row:
        num_games, points = (round(sum(score.num_games for score in scores)), sum(score.points for score in scores))
        expected = num_games * self.ratings.expected_score(self.name, opponent) if self.name else 0.0
        return Row(opponent, self.ratings.rating(opponent), num_games, points, expected)

    def table(self) -> str:
        """The ladder from the top with the player in its place, as text."""
        rows = self.rows()
        width = max(len(name) for name in ("opponent", self.name, *(row.opponent for row in rows)))
        lines = [f"{'opponent':<{width}}  {'Elo':>13}" + ("  games  points  expected" if self.name else "")]
        for row in rows:
            games = f"{row.num_games:7}{row.points:8g}{row.expected:10.1f}" if row.num_games else ""
            lines.append(f"{row.opponent:<{width}}  {row.rating!s:>13}{games}")
        if self.rating is not None:
            place = 1 + sum(row.rating.elo > self.rating.elo for row in rows)
            lines.insert(place, f"{self.name:<{width}}  {self.rating!s:>13}  <-")
        draws = self.ratings.nu / (2 + self.ratings.nu)
        lines.append(
            f"{self.num_games} games; {RANDOM.name} play is 0, bars are 95 %; equal players draw {draws:.0%} of their"
            f" games"
            f" ({DRAWS}'s model)"
        )
        return "\n".join(lines)

    def numbers(self) -> dict[str, Any]:
        """All of `table`, as JSON takes it."""
        own = {} if self.rating is None else {"elo": self.rating.elo, "error": self.rating.error}
        opponents = [
            {
                "name": row.opponent,
                "elo": row.rating.elo,
                "error": row.rating.error,
                "games": row.num_games,
                "points": row.points,
                "expected": row.expected,
            }
            for row in self.rows()
        ]
        model = {"draws": DRAWS, "nu": self.ratings.nu}
        return {"player": self.name, **own, "games": self.num_games, **model, "opponents": opponents}

    def _num_at_once(self) -> int:
        """Number of games of the next match: few at first, later a quarter of those played."""
        return max(2, min(MOST_AT_ONCE, self.num_games // 8 * 2))

    def _fit(self) -> Ratings:
        scores = [*self._known, *(pair.score for pair in self._results.pairs)]
        return ladder_ratings(self._rungs, scores, others=self._players)


def ladder_ratings(rungs: Iterable[Rung], scores: Sequence[PairScore], *, others: Iterable[str] = ()) -> Ratings:
    """Ratings of a ladder's opponents, of all players that have results, and of others; random play is 0."""
    # A prior rates those, too, that no results connect with random play.
    names = {name for score in scores for name in (score.first, score.second)} | {*others}
    priors = {name: Prior() for name in names} | {rung.name: rung.prior for rung in rungs}
    priors.pop(RANDOM.name, None)
    return fit_ratings(scores, priors, zero=RANDOM.name)


def arena_play(game: Rules, rungs: Sequence[Rung], players: Mapping[str, Contestant], *, opening_plies: int) -> PlayFn:
    """Plays games in the arena between the opponents of a ladder and other players, by their names in results."""
    by_name = {rung.name: rung for rung in rungs}

    def contestant(who: str, seed: int) -> Contestant:
        if who in players:
            return players[who]
        # A new player for each match: rollouts draw with every call, and earlier matches must have no influence.
        return by_name[who].contestant(game, seed=seed)

    def play(first: str, second: str, num_games: int, seed: int, on_game: Callable[[PlayedGame], None]) -> None:
        play_match(
            game,
            contestant(first, seed),
            contestant(second, seed),
            num_games=num_games,
            opening_plies=opening_plies,
            seed=seed,
            on_game=on_game,
        )

    return play
