"""Solved positions drawn from tables of exact results (`zerosum tables`), to count mistakes and to find blind spots."""

from __future__ import annotations

import functools
import os
import random
from collections.abc import Sequence
from pathlib import Path

from zerosum.base.errors import SettingsError
from zerosum.games import Rules, State
from zerosum.run.exact_endings import MOST_REPEATS, POSITIONS, Results, random_endings, results_of_moves
from zerosum.run.solved import SolvedPosition, SolvedSet
from zerosum.search.result_tables import ResultTable, open_tables, table_endings

RANDOM_LINES = "random lines"
"""The set of a table of a whole game."""


def table_sets(
    game: Rules, paths: str, names: Sequence[str] = (), *, number: int = POSITIONS, seed: int = 0
) -> list[SolvedSet]:
    """Random positions of tables with the results of all moves: a set for each ending, and one for a whole game.

    Positions of an ending are drawn as `random_endings` does. Those of a whole game are from lines of random moves, at
    a random ply of each; a game that has fewer than `number` gives those that were found.

    Args:
        game: The game of the tables.
        paths: Their files, as `open_tables` takes them.
        names: Endings, such as `KQvKR`; by default those that the tables were asked for.
        number: Positions of a set.
        seed: Key of the draws.

    Raises:
        DataError: a file cannot be used.
        SettingsError: a name is not an ending, it has not so many positions, or the tables lack a result.
    """
    tables = open_tables(paths, game)
    names = names or list(dict.fromkeys(name for path in paths.split(os.pathsep) if path for name in _named(path)))
    full_name, sets = game.spec.full_name, list[SolvedSet]()
    known = functools.partial(_result, game, tables)
    for name in names:
        drawn = random_endings(game, name, known, number=number, seed=seed)
        sets.append(SolvedSet(full_name, name, tuple(_solved(game, state, results) for state, results in drawn)))
    if any(not table.is_of_endings for table in tables):
        sets.append(SolvedSet(full_name, RANDOM_LINES, tuple(_of_lines(game, tables, number, seed))))
    return sets


def _named(path: str) -> list[str]:
    return table_endings(Path(path).expanduser())


def _of_lines(game: Rules, tables: Sequence[ResultTable], number: int, seed: int) -> list[SolvedPosition]:
    rng, found = random.Random(seed), dict[str, SolvedPosition]()
    for _ in range(MOST_REPEATS * number):
        if len(found) == number:
            break
        state, line = game.start(rng.randrange(game.num_starts)), list[tuple[State, str]]()
        start = "" if game.num_starts == 1 else game.position_text(state) or ""
        moves = list[str]()
        while game.outcome(state) is None:
            line.append((state, " ".join(moves)))
            action = rng.choice(game.legal_actions(state))
            moves.append(game.action_text(state, action))
            state = game.play(state, action)
        state, said = rng.choice(line)
        key = game.position_text(state) or f"{game.draw(state)} {game.player(state)}"
        if key not in found:
            results = results_of_moves(game, state, functools.partial(_result, game, tables))
            found[key] = SolvedPosition(said, tuple(map(int, results.values())), start=start)
    return list(found.values())


def _solved(game: Rules, state: State, results: Results) -> SolvedPosition:
    return SolvedPosition("", tuple(map(int, results.values())), start=game.position_text(state) or "")


def _result(game: Rules, tables: Sequence[ResultTable], state: State) -> float:
    """The result for the player to move. Raises SettingsError if the tables lack the position."""
    plies = next((plies for table in tables if (plies := table.get(game, state)) is not None), None)
    if plies is None:
        raise SettingsError(
            f"The tables have no result of {game.position_text(state)}: make one of its ending by `zerosum tables`."
        )
    return float((plies > 0) - (plies < 0))
