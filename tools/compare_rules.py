"""Hold a game's rules against independent ones over many random positions; a maker's tool.

    python tools/compare_rules.py chess --positions 100000
    python tools/compare_rules.py chess shogi go --positions 100000 --seed 7

The comparison of a game is `compare(num_positions, seed)` in `tests/oracle_GAME.py`, which raises where the two differ
and answers how often each event of the rules came up; the tests run it on a sample. Random play hardly meets the rare
rules, so a game names its events in `EVENTS`, and one that came up fewer than 100 times is a failure, too. Some of the
libraries compared with are GPL: they are installed by whoever runs this, and never imported by the package.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests"
LEAST = 100
"""Times that each event must have come up."""


def main(words: Sequence[str] | None = None) -> None:
    """Run the comparisons that the command line names; exit status 1 if one fails."""
    names = oracles()
    parser = argparse.ArgumentParser(description="Hold a game's rules against independent ones.")
    parser.add_argument("games", nargs="+", choices=names, metavar="GAME", help=f"of {', '.join(names) or 'none'}")
    parser.add_argument("--positions", type=int, default=100_000, help="at least so many are compared")
    parser.add_argument("--seed", type=int, default=0, help="keys the positions")
    parser.add_argument("--least", type=int, default=LEAST, help="times that each event must have come up")
    asked = parser.parse_args(words)
    sys.path.insert(0, str(TESTS))
    faults = [
        fault
        for game in asked.games
        for fault in compared(game, num_positions=asked.positions, seed=asked.seed, least=asked.least)
    ]
    if faults:
        sys.exit("\n".join(faults))


def oracles() -> list[str]:
    """The games that have a comparison, ascending."""
    return sorted(path.stem.removeprefix("oracle_") for path in TESTS.glob("oracle_*.py"))


def compared(game: str, *, num_positions: int, seed: int, least: int) -> list[str]:
    """Compare one game and print what came up; answers what is wrong, in sentences."""
    try:
        oracle = importlib.import_module(f"oracle_{game}")
    except ModuleNotFoundError as error:
        return [f"{game}: {error.name} is missing: install it into this environment, or use one that has it."]
    print(f"{game}: {num_positions:,} positions, seed {seed}")
    started = time.process_time()
    try:
        events: Counter[str] = oracle.compare(num_positions, seed)
    except AssertionError as error:
        return [f"{game}: the rules differ: {error}"]
    wanted: list[str] = sorted(getattr(oracle, "EVENTS", ()))
    for event, count in sorted({**dict.fromkeys(wanted, 0), **events}.items()):
        print(f"  {count:>12,}  {event}")
    print(f"  {time.process_time() - started:,.0f} CPU-seconds")
    rare = [f"{event!r} ({events[event]} times)" for event in wanted if events[event] < least]
    return [f"{game}: too rare to say anything, fewer than {least} times: {', '.join(rare)}"] if rare else []


if __name__ == "__main__":
    main()
