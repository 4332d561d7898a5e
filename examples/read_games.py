"""Read the games of a run with polars (`pip install polars`): how they ended, how long they were, how they began.

    python examples/read_games.py runs/connect4

The games are Parquet files, described in docs/run-directory.md, so DuckDB, pandas or Spark read them as well:
`SELECT ending, count(*) FROM 'runs/connect4/games/*.parquet' GROUP BY ending` is the first table in DuckDB.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl


def games_of(run: Path) -> pl.DataFrame:
    """One row a game of the sealed shards, in order."""
    return pl.read_parquet(run / "games" / "*.parquet").sort("game_id")


def endings(games: pl.DataFrame) -> pl.DataFrame:
    """Number of games, mean plies and mean result of the first player, by the way the game ended."""
    plies, result = pl.col("actions").list.len().mean().alias("plies"), pl.col("outcome").mean()
    return games.group_by("ending").agg(pl.len().alias("games"), plies, result).sort("games", descending=True)


def first_moves(games: pl.DataFrame, *, parts: int = 6) -> pl.DataFrame:
    """How often each first move was played, by parts of the run: what self-play came to prefer."""
    part = (pl.int_range(pl.len()) * parts // pl.len()).alias("part")
    opened = games.filter(pl.col("actions").list.len() > 0).with_columns(part)
    return (
        opened.group_by("part", pl.col("actions").list.first().alias("first move"))
        .agg(pl.len().alias("games"))
        .pivot("part", index="first move", values="games", sort_columns=True)
        .fill_null(0)
        .sort("first move")
    )


if __name__ == "__main__":
    found = games_of(Path(sys.argv[1]))
    print(endings(found))
    print(first_moves(found))
