"""Random positions of endings with exact results, from Syzygy tables or others, to probe networks by them.

An ending has the name of its table: `KRvK` is a king and a rook against a king, with either colour.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable, Sequence

from zerosum.base.errors import GameError, SettingsError, shown
from zerosum.games import Rules, State
from zerosum.search.syzygy import Syzygy, describe_syzygy, open_syzygy

Results = dict[int, float]
"""The result of each legal action for the player to move, in [-1, 1]."""
USUAL_ENDINGS = ("KQvK", "KRvK", "KPvK", "KBNvK")
POSITIONS = 500
"""Positions of each ending."""
MOST_DRAWS = 10_000
"""Placements that are drawn for a position; about two are needed."""
MOST_REPEATS = 20
"""Positions that are drawn for one that has not been drawn before."""
WIN = 2
"""The table's word for a win under the fifty-move rule; -2 is a loss, and all between count as draws."""


def ending_positions(
    game: Rules, path: str, names: Sequence[str] = USUAL_ENDINGS, *, number: int = POSITIONS, seed: int = 0
) -> list[tuple[State, Results]]:
    """Random positions of endings with the results of all moves: so many different ones of each ending.

    Either colour has the first side's men, either side is to move, nobody may castle, and the fifty-move rule begins to
    count. A move that only the 100th ply of this rule would turn into a draw counts as what the table says.

    Args:
        game: Chess or Chess960.
        path: The folder of Syzygy tables, or several, as `open_syzygy` takes them.
        names: The endings, such as `KRPvKR`.
        number: Positions of each ending.
        seed: Key of the draws.

    Raises:
        SettingsError: the game is not chess, a name is not an ending, it has not so many positions, or the tables lack
        a result of one.
    """
    if game.spec.name != "chess":
        raise SettingsError(f"Syzygy tables are of chess, not of {game.spec.full_name}: probe it without them.")
    tables = open_syzygy(path)
    found = list[tuple[State, Results]]()
    for name in names:
        require_ending(name)
        if len(name) - 1 > tables.max_men:
            raise SettingsError(
                f"{name} has {len(name) - 1} men, and the tables have endings of {tables.max_men} at the most. Name a"
                " smaller ending, or get the tables."
            )
        known = functools.partial(_result, game, tables, name)
        found += random_endings(game, name, known, number=number, seed=seed)
    return found


def require_ending(name: str) -> None:
    """Refuse what is not the name of an ending. Raises SettingsError."""
    if not re.fullmatch(r"K[QRBNP]*vK[QRBNP]*", name):
        raise SettingsError(f"{shown(name)} is not an ending: write the men of both sides, such as KQvK or KRPvKR.")


def random_endings(
    game: Rules, name: str, known: Callable[[State], float], *, number: int, seed: int
) -> list[tuple[State, Results]]:
    """Random different positions of an ending, and the results of the moves of each, as `results_of_moves`.

    Raises:
        SettingsError: the name is not an ending, or it has not so many positions that are not over.
    """
    require_ending(name)
    rng, found = random.Random(f"{seed} {name}"), dict[str | None, tuple[State, Results]]()
    for _ in range(MOST_REPEATS * number):
        if len(found) == number:
            return list(found.values())
        state = random_position(game, name, rng)
        text = game.position_text(state)
        if text not in found:
            found[text] = state, results_of_moves(game, state, known)
    raise SettingsError(f"{name} has hardly {number:,} positions: {len(found):,} were found.")


def random_position(game: Rules, name: str, rng: random.Random) -> State:
    """A legal position that is not over, either colour having the first side's men, either side to move."""
    rows, columns = game.spec.board_shape
    first, second = name.split("v")
    for _ in range(MOST_DRAWS):
        sides = (first, second.lower()) if rng.random() < 0.5 else (first.lower(), second)
        men = "".join(sides)
        cells = dict(zip(rng.sample(range(rows * columns), len(men)), men, strict=True))
        lines = ("".join(cells.get(row * columns + column, "1") for column in range(columns)) for row in range(rows))
        placement = re.sub("1+", lambda ones: str(len(ones[0])), "/".join(lines))
        try:
            state = game.parse_position(f"{placement} {rng.choice('wb')} - - 0 1")
        except GameError:
            continue  # kings beside each other, a pawn on the last rank, a king that could be taken
        if game.outcome(state) is None:
            return state
    raise SettingsError(
        f"every position of {name} is a draw by the rules of {game.spec.full_name}: name another ending."
    )


def results_of_moves(game: Rules, state: State, known: Callable[[State], float]) -> Results:
    """The results of the moves of a position: by the rules where they end the game, else by `known`.

    `known` is called with the position after a move, and returns the result in [-1, 1] for the player to move there.
    """
    mover, results = game.player(state), Results()
    for action in game.legal_actions(state):
        after = game.play(state, action)
        outcome = game.outcome(after)
        if outcome is not None:
            results[action] = outcome if mover == 0 else -outcome
        else:
            results[action] = known(after) if game.player(after) == mover else -known(after)
    return results


def _result(game: Rules, tables: Syzygy, name: str, state: State) -> float:
    """The result for the player to move. Raises SettingsError if the tables lack the position."""
    if (known := tables.wdl(game, state)) is None:
        raise SettingsError(
            f"The tables have no result of {game.position_text(state)}, which is a move after a position of {name}."
            f" {describe_syzygy(tables)} Name other endings by --ending, or get the tables."
        )
    return float((known == WIN) - (known == -WIN))
