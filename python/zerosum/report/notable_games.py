"""Games of self-play worth a look, as in table S5 of the AlphaZero paper: sharp changes of the value, sacrifices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerosum.contest.turning_points import Sacrifice, sacrifice, sharpest_change
from zerosum.games import Rules
from zerosum.games.game_card import game_card
from zerosum.games.piece_kinds import has_piece_values
from zerosum.games.playthrough import Playthrough
from zerosum.games.python_game import ENDING_OF_PYTHON_GAMES
from zerosum.replay.records import GameRecord, PlyFlag

SHOWN = 3
"""Games of each kind."""
MOST_GAMES = 300
"""Newest games that are played through for their material."""


@dataclass(frozen=True)
class Swing:
    """A game with a sharp change of the search's value."""

    record: GameRecord
    ply: int
    """The move after which the value changed."""
    before: float
    """The search's value for the first player, before the move."""
    after: float


def swings(
    records: Sequence[GameRecord], game: Rules, *, number: int = SHOWN, is_updatable: bool = False
) -> list[Swing]:
    """The games with the sharpest changes of the search's value between two moves, one change per game.

    `is_updatable` is as in `block_of`: games of an alpha-beta search count only where it is the player's.
    """
    found = [
        Swing(record, change.index, change.before, change.after)
        for record in _different(records)
        if (change := sharpest_change(_values(record, is_updatable=is_updatable))) is not None
    ]
    found.sort(key=lambda swing: -abs(swing.after - swing.before))
    return found[:number]


def sacrifices(
    records: Sequence[GameRecord], game: Rules, *, number: int = SHOWN, is_updatable: bool = False
) -> list[tuple[GameRecord, Sacrifice]]:
    """The newest games with the largest sacrifices; none in games without kinds of pieces. Arguments as in `swings`.

    Raises:
        GameError: a move is illegal.
    """
    if not has_piece_values(game):
        return []
    found: list[tuple[GameRecord, Sacrifice]] = []
    for record in _different(records[-MOST_GAMES:]):
        states = _playthrough(game, record).states[:-1]
        materials = np.array([game.material(state) for state in states], float)
        values = _values(record, is_updatable=is_updatable)
        both = [one for player in (0, 1) if (one := sacrifice(values, materials, player=player)) is not None]
        if both:
            found.append((record, max(both, key=lambda one: one.deficit)))
    found.sort(key=lambda pair: -pair[1].deficit)
    return found[:number]


def swing_card(game: Rules, swing: Swing) -> str:
    """A game with its board after the move that changed the value."""
    sentence = (
        f"Game {swing.record.game_id}: after move {swing.ply + 1} the value for the first player went from"
        f" {swing.before:+.2f} to {swing.after:+.2f}; {_result_words(swing.record)}."
    )
    return game_card(_playthrough(game, swing.record), swing.ply + 1, sentence)


def sacrifice_card(game: Rules, record: GameRecord, found: Sacrifice) -> str:
    """A game with its board at the beginning of a sacrifice."""
    sentence = f"Game {record.game_id}: {found.words}; {_result_words(record)}."
    return game_card(_playthrough(game, record), found.first_ply, sentence)


def _different(records: Sequence[GameRecord]) -> Iterator[GameRecord]:
    """The first of each game of equal moves."""
    seen = set[bytes]()
    for record in records:
        key = record.plies["action"].tobytes()
        if key not in seen:
            seen.add(key)
            yield record


def _values(record: GameRecord, *, is_updatable: bool) -> NDArray[np.float64]:
    """[plies], the search's values for the first player; NaN where the player made no search."""
    flags = record.plies["flags"]
    is_searched = (flags & int(PlyFlag.OPENING | PlyFlag.RECORDED)) == 0
    if is_updatable:
        is_searched |= (flags & int(PlyFlag.EVALUATED)) > 0
    values = np.where(record.plies["player"] == 0, 1.0, -1.0) * record.plies["search_value"]
    return np.where(is_searched, values, np.nan)


def _playthrough(game: Rules, record: GameRecord) -> Playthrough:
    return Playthrough.of(game, record.start, record.plies["action"].tolist())


def _result_words(record: GameRecord) -> str:
    word = "drawn" if record.outcome == 0 else "the first player won" if record.outcome > 0 else "the second player won"
    return word + ("" if record.ending in ("", ENDING_OF_PYTHON_GAMES) else f" ({record.ending})")
