"""Tables of exact results from the command line: made, written, and described in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zerosum.games import Rules
from zerosum.search.result_tables import MEMORY_MIB, ResultTable, make_table, write_table


def make_table_file(game: Rules, path: Path, *, endings: Sequence[str] = (), memory_mib: int = MEMORY_MIB) -> str:
    """Make the table of a game, or of endings, and write it. Returns a sentence about it.

    Raises:
        SettingsError: as for `make_table`.
        DataError: the file cannot be written.
    """
    table = make_table(game, endings=endings, memory_mib=memory_mib)
    write_table(path, game, table, endings=endings)
    return f"{path}: {table_words(table)}"


def table_words(table: ResultTable) -> str:
    """A sentence about the positions of a table, without its subject.

    >>> from zerosum.games import make
    >>> table_words(make_table(make("tictactoe"), memory_mib=16))
    '4,520 positions: 2,836 won for the player to move, 1,052 drawn, 632 lost; the longest win takes 5 plies.'
    """
    plies = table.plies
    won, drawn, lost = int((plies > 0).sum()), int((plies == 0).sum()), int((plies < 0).sum())
    return (
        f"{len(table):,} positions: {won:,} won for the player to move, {drawn:,} drawn, {lost:,} lost;"
        f" the longest win takes {int(plies.max(initial=0))} plies."
    )
