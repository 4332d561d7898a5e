"""The result of a tournament: points and a rating with an error bar for each player, and points by opponent.

Ratings are fitted to all results together by `zerosum.contest.ratings.fit_ratings`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zerosum.arena.result import MatchResult
from zerosum.contest.elo import Rating
from zerosum.contest.ratings import connected, fit_ratings


@dataclass(frozen=True)
class Standing:
    """The row of a player."""

    name: str
    rating: Rating | None
    """None while no chain of results connects all players."""
    points: float
    """1 for a win, half for a draw."""
    num_games: int
    against: dict[str, tuple[float, int]]
    """(points, games) by opponent."""


@dataclass(frozen=True)
class Standings:
    """The results of all pairings."""

    results: tuple[MatchResult, ...]

    @property
    def names(self) -> list[str]:
        """All players, in the order of entry."""
        return list(dict.fromkeys(name for result in self.results for name in (result.first, result.second)))

    def ratings(self) -> dict[str, Rating]:
        """Ratings by name, with a mean of 0; empty while no chain of results connects all players."""
        scores = [result.pair_score for result in self.results]
        if connected(scores, self.names[:1]) != set(self.names):
            return {}
        return fit_ratings(scores, zero=None).by_name

    def table(self) -> list[Standing]:
        """The players, the best first: by rating, or else by the share of their points."""
        ratings = self.ratings()
        rows = [self._standing(name, ratings.get(name)) for name in self.names]
        return sorted(rows, key=lambda row: (-row.rating.elo if row.rating else 0.0, -_share(row)))

    def _standing(self, name: str, rating: Rating | None) -> Standing:
        against: dict[str, tuple[float, int]] = {}
        for result in self.results:
            points, num_games = sum(result.points), len(result.games)
            if result.first == name:
                against[result.second] = (points, num_games)
            elif result.second == name:
                against[result.first] = (num_games - points, num_games)
        points, num_games = (sum(values) for values in zip(*against.values(), strict=True))
        return Standing(name, rating, points, int(num_games), against)

    def numbers(self) -> dict[str, Any]:
        """Everything for JSON: players from the top, then the statistics of each pairing."""
        players = [
            {
                "name": row.name,
                "elo": None if row.rating is None else row.rating.elo,
                "error": None if row.rating is None else row.rating.error,
                "points": row.points,
                "games": row.num_games,
            }
            for row in self.table()
        ]
        pairings = [
            {
                "first": result.first,
                "second": result.second,
                "score": result.score if result.games else None,
                **result.statistics.numbers(),
            }
            for result in self.results
        ]
        return {"players": players, "pairings": pairings}

    def __str__(self) -> str:
        rows = self.table()
        order = [row.name for row in rows]
        head = ["", "player", "Elo", "points", "games", *(str(place) for place in range(1, len(rows) + 1))]
        cells = [
            [
                str(place),
                row.name,
                "unknown" if row.rating is None else str(row.rating),
                f"{row.points:g}",
                str(row.num_games),
                *("-" if other == row.name else _cell(row.against.get(other)) for other in order),
            ]
            for place, row in enumerate(rows, start=1)
        ]
        widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(width) if column == 1 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in (head, *cells)
        ]
        lines.append("points of games against each; the players' mean rating is 0, bars are 95 %")
        failures = [failure for result in self.results for failure in result.failures()]
        lines += [f"failures: {'; '.join(failures)}"] if failures else []
        if num_others := sum(result.num_others for result in self.results):
            lines.append(f"not counted: {num_others} games begun after the first pair that is not complete")
        return "\n".join(lines)


def _cell(score: tuple[float, int] | None) -> str:
    return "" if score is None or not score[1] else f"{score[0]:g}/{score[1]}"


def _share(row: Standing) -> float:
    return row.points / row.num_games if row.num_games else 0.0
