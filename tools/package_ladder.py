"""Results of ladders' opponents against each other, in the format of `python/zerosum/data/ladders.toml`.

    zerosum ladder connect4 --games 600 --results connect4.jsonl
    python tools/package_ladder.py connect4.jsonl chess.jsonl

The tool prints a table `[[results]]` for each game in the files. Paste it below the rungs, in place of the older one of
the game. Games of other players are left out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from zerosum.arena.ladder.results import PlayedPair, read_pairs
from zerosum.arena.ladder.rungs import rungs_of
from zerosum.contest.ratings import summed
from zerosum.games import make


def tables(pairs: Sequence[PlayedPair]) -> Iterator[str]:
    """A table for each game, by name."""
    for game in sorted({pair.game for pair in pairs}):
        order = [rung.name for rung in rungs_of(make(game))]
        played = (pair.score for pair in pairs if pair.game == game and {pair.first, pair.second} <= set(order))
        scores = [
            score if order.index(score.first) < order.index(score.second) else score.reversed
            for score in summed(played)
        ]
        yield f'[[results]]\ngame = "{game}"\nscores = ['
        for score in sorted(scores, key=lambda score: (order.index(score.first), order.index(score.second))):
            counts = map(round, (score.wins, score.draws, score.losses))
            yield f"    {json.dumps([score.first, score.second, *counts], ensure_ascii=False)},"
        yield "]\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables of the files that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    files = parser.parse_args(arguments).files
    for line in tables([pair for file in files for pair in read_pairs(file).entries]):
        print(line)


if __name__ == "__main__":
    main()
