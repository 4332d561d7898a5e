"""The games of a match that are shown: by the rules of table S5 of the AlphaZero paper, and those worth a look.

The paper shows one game for each opening of 15 moves of each side, and all games that AlphaZero lost.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerosum.arena.played import PlayedGame, value_of_score
from zerosum.contest.turning_points import Sacrifice, sacrifice, sharpest_change
from zerosum.games import Rules
from zerosum.games.piece_kinds import has_piece_values
from zerosum.games.playthrough import Playthrough
from zerosum.notation.centipawns import coefficient_of

OPENING_PLIES = 30
"""Plies of an opening, 15 moves of each side."""
SHOWN = 2
"""Games of a match with sacrifices, and with sharp changes."""
LEAST_CHANGE = 0.3
"""Least change of the value between two moves of a player that counts as sharp."""


def sample_games(games: Sequence[PlayedGame]) -> list[PlayedGame]:
    """One game for each opening of `OPENING_PLIES`, and every game that the contestant named first lost, in order."""
    seen, found = set[tuple[str, tuple[int, ...]]](), list[PlayedGame]()
    for game in games:
        opening = (game.start, game.actions[:OPENING_PLIES])
        if opening not in seen or game.result < 0:
            found.append(game)
        seen.add(opening)
    return found


@dataclass(frozen=True)
class Notable:
    """A game worth a look."""

    game: PlayedGame
    so_far: Playthrough
    """The whole game."""
    ply: int
    """Number of moves before the position that is drawn."""
    sentence: str


def notable_games(rules: Rules, games: Sequence[PlayedGame]) -> Iterator[Notable]:
    """The largest sacrifices of the contestant named first, then the sharpest changes of its value.

    Only sacrifices in games with kinds of pieces count, and only the contestant's own scores.
    """
    walked = [(game, Playthrough.of(rules, game.start, game.actions)) for game in games if game.actions]
    valued = [(game, so_far, own_values(so_far, game)) for game, so_far in walked]
    if has_piece_values(rules):
        sacrifices = [
            (found, game, so_far)
            for game, so_far, values in valued
            if (found := _own_sacrifice(so_far, values, game.first_is_player)) is not None
        ]
        for found, game, so_far in sorted(sacrifices, key=lambda one: -one[0].deficit)[:SHOWN]:
            yield Notable(game, so_far, found.first_ply, found.words)
    changes = []
    for game, so_far, values in valued:
        plies = np.flatnonzero(np.isfinite(values))
        change = sharpest_change(values[plies])
        if change is not None and abs(change.after - change.before) >= LEAST_CHANGE:
            changes.append((change, int(plies[change.index]), int(plies[change.index + 1]), game, so_far))
    changes.sort(key=lambda one: -abs(one[0].after - one[0].before))
    for change, before, after, game, so_far in changes[:SHOWN]:
        words = f"its value was {change.before:+.2f} at move {before + 1} and {change.after:+.2f} at move {after + 1}"
        yield Notable(game, so_far, after, words)


def own_values(so_far: Playthrough, game: PlayedGame) -> NDArray[np.float64]:
    """[plies], values in [-1, 1] of the contestant named first, for itself; NaN at moves without its own score."""
    values, players = np.full(len(so_far.actions), math.nan), so_far.players
    for ply, thought in enumerate(game.thoughts[: len(values) - game.opening_plies], start=game.opening_plies):
        if thought is not None and thought.score is not None and players[ply] == game.first_is_player:
            values[ply] = value_of_score(thought.score, coefficient_of(so_far.game.spec.name))
    return values


def _own_sacrifice(so_far: Playthrough, values: NDArray[np.float64], player: int) -> Sacrifice | None:
    """The largest sacrifice of the player with these values; at the opponent's moves its last value holds."""
    held = np.array(list(itertools.accumulate(values.tolist(), lambda last, new: last if math.isnan(new) else new)))
    materials = np.array([so_far.game.material(state) for state in so_far.states[:-1]], float)
    return sacrifice(held if player == 0 else -held, materials, player=player)
